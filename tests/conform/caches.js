// The Cache API where no service is configured for it.
//// case: what is refused, and how
const all = [];
for (const act of [
  () => caches.open(), () => caches.default.put('http://a/'), () => caches.default.match(), () => caches.default.match('nope'),
  () => caches.default.match(new Request('http://a/', { method: 'POST' })), () => caches.default.delete(new Request('http://a/', { method: 'POST' })),
  () => caches.match('x'), () => caches.has('x'), () => caches.default.add('x'), () => caches.default.keys(), () => new Cache(),
]) {
  try { all.push(await act()); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return [all, caches.default === caches.default, Object.prototype.toString.call(caches)];
//// => {"value":[["TypeError: Failed to execute 'open' on 'CacheStorage': parameter 1 is not of type 'string'.","TypeError: Failed to execute 'put' on 'Cache': parameter 2 is not of type 'Response'.","TypeError: Failed to execute 'match' on 'Cache': parameter 1 is not of type 'Request or string'.","TypeError: Invalid URL: nope",{"$":"undefined"},false,"Error: Failed to execute 'match' on 'CacheStorage': the method is not implemented.","Error: Failed to execute 'has' on 'CacheStorage': the method is not implemented.","Error: Failed to execute 'add' on 'Cache': the method is not implemented.","Error: Failed to execute 'keys' on 'Cache': the method is not implemented.","TypeError: Illegal constructor"],true,"[object CacheStorage]"]}

//// case: responses that cannot be cached
const used = new Response('x');
await used.text();
const all = [];
for (const [request, response] of [
  [new Request('http://a/', { method: 'POST' }), new Response('x')], ['http://a/', new Response('x', { status: 206 })], ['http://a/', new Response('x', { headers: { vary: 'a, *' } })],
  ['http://a/', new Response(null, { status: 304 })], ['http://a/', used],
]) {
  try { all.push(await caches.default.put(request, response)); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: Cannot cache response to non-GET request.","TypeError: Cannot cache response to a range request (206 Partial Content).","TypeError: Cannot cache response with 'Vary: *' header.",{"$":"undefined"},"TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice."]}

//// case: a Worker without cacheApiOutbound
const all = [];
for (const act of [
  () => caches.default.match('http://a/'), () => caches.default.put('http://a/', new Response('x')), () => caches.default.delete('http://a/'),
  async () => (await caches.open('x')).match('http://a'),
]) {
  try { all.push(await act()); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// differs: workerd has no cache of its own; here a Worker that names no service for it has one in memory
//// => {"value":[{"$":"undefined"},{"$":"undefined"},true,{"$":"undefined"}]}
