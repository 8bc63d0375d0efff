// The Cache API where a service is configured for it: what that is asked, and what comes of its answers.
//// cache: CacheBackend
//// case: what a match asks
await caches.default.match('http://a/x?y#z');
await caches.default.match(new Request('https://a:81/', { method: 'POST', body: 'b', headers: { 'cache-control': 'no-store', 'x-a': 'b' }, cf: { a: 1 } }), { ignoreMethod: true });
await (await caches.open('a b/\u00fc')).match('ftp://a/');
await caches.default.match(new Request('http://a/', { method: 'HEAD' }));
return cache.seen;
//// => {"value":[{"method":"GET","url":"http://a/x?y#z","headers":{"cache-control":"only-if-cached"},"redirect":"manual","cf":{"$":"undefined"},"body":null},{"method":"GET","url":"https://a:81/","headers":{"cache-control":"only-if-cached","content-type":"text/plain;charset=UTF-8","x-a":"b"},"redirect":"manual","cf":{"a":1},"body":null},{"method":"GET","url":"ftp://a/","headers":{"cache-control":"only-if-cached","cf-cache-namespace":"a%20b%2F%C3%BC"},"redirect":"manual","cf":{"$":"undefined"},"body":null}]}

//// case: what a put asks, of responses of known length
cache.respond = () => new Response(null, { status: 204 });
await caches.default.put('http://a/x', new Response('hello', { status: 201, statusText: 'Made', headers: { 'content-length': '77', connection: 'close' } }));
await caches.default.put('http://a/x', new Response(null, { status: 204 }));
await caches.default.put('http://a/x', new Response(null));
await caches.default.put('http://a/x', new Response(new Uint8Array([1, 2])));
const { readable, writable } = new FixedLengthStream(3);
const writer = writable.getWriter();
writer.write(new TextEncoder().encode('abc'));
writer.close();
await caches.default.put('http://a/x', new Response(readable));
return cache.seen.map(({ method, headers, body }) => [method, headers, body.toLowerCase()]);
//// => {"value":[["PUT",{"content-length":"85"},"http/1.1 201 made\r\ncontent-length: 5\r\ncontent-type: text/plain;charset=utf-8\r\n\r\nhello"],["PUT",{"content-length":"46"},"http/1.1 204 no content\r\ncontent-length: 0\r\n\r\n"],["PUT",{"content-length":"38"},"http/1.1 200 ok\r\ncontent-length: 0\r\n\r\n"],["PUT",{"content-length":"40"},"http/1.1 200 ok\r\ncontent-length: 2\r\n\r\n\u0001\u0002"],["PUT",{"content-length":"41"},"http/1.1 200 ok\r\ncontent-length: 3\r\n\r\nabc"]]}

//// case: what a put asks, of responses of unknown length
cache.respond = () => new Response(null, { status: 204 });
const { readable, writable } = new TransformStream();
const writer = writable.getWriter();
const put = caches.default.put('http://a/x', new Response(readable, { headers: { 'x-a': 'b' } }));
await writer.write(new TextEncoder().encode('abc'));
await writer.close();
await put;
await caches.default.put('http://a/x', new Response('hello', { headers: { 'content-encoding': 'gzip', 'content-type': 'a/b' } }));
await caches.default.put('http://a/x', new Response('raw', { encodeBody: 'manual', headers: { 'content-encoding': 'gzip' } }));
return cache.seen.map(({ headers, body }, at) => [headers, at === 0 ? body.toLowerCase() : body.includes('hello')]);
//// => {"value":[[{"transfer-encoding":"chunked"},"http/1.1 200 ok\r\ntransfer-encoding: chunked\r\nx-a: b\r\n\r\nabc"],[{"transfer-encoding":"chunked"},false],[{"content-length":"105"},false]]}

//// case: what a delete asks
cache.respond = () => new Response(null, { status: 200 });
const all = [await caches.default.delete('http://a/x'), await caches.default.delete(new Request('http://a/x', { method: 'POST', headers: { 'x-real-ip': '::1' } }), { ignoreMethod: true })];
return [all, await caches.default.delete(new Request('http://a/x', { method: 'POST' })), cache.seen];
//// => {"value":[[true,true],false,[{"method":"PURGE","url":"http://a/x","headers":{"x-real-ip":"127.0.0.1"},"redirect":"manual","cf":{"$":"undefined"},"body":null},{"method":"PURGE","url":"http://a/x","headers":{"x-real-ip":"::1, 127.0.0.1"},"redirect":"manual","cf":{"$":"undefined"},"body":null}]]}

//// case: what answers to a match mean
const all = [];
for (const status of ['HIT', 'hit', 'EXPIRED', 'UPDATING', 'BYPASS', undefined]) {
  cache.respond = () => new Response('body', { status: 203, headers: status === undefined ? {} : { 'cf-cache-status': status } });
  const found = await caches.default.match('http://a/');
  all.push(found === undefined ? null : [found.status, found.statusText, found.url, found.type, found.redirected, await found.text(), [...found.headers]]);
}
return all;
//// => {"value":[[203,"Non-Authoritative Information","","default",false,"body",[["cf-cache-status","HIT"],["content-type","text/plain;charset=UTF-8"]]],null,null,null,null,null]}

//// case: a match that is found cannot be changed, and is decoded
cache.respond = () => new Response('body', { headers: { 'cf-cache-status': 'HIT', 'content-encoding': 'gzip', 'x-a': 'b' } });
const found = await caches.default.match('http://a/');
let refused;
try { found.headers.set('x-a', 'c'); } catch (e) { refused = e; }
return [refused, found.headers.get('content-encoding'), await found.text()];
//// => {"value":[{"$":"TypeError","name":"TypeError","message":"Can't modify immutable headers."},"gzip","body"]}

//// case: redirects are answers
cache.respond = () => new Response(null, { status: 301, headers: { 'cf-cache-status': 'HIT', location: '/y' } });
const found = await caches.default.match('http://a/');
return [found.status, found.headers.get('location'), found.redirected, cache.seen.length];
//// => {"value":[301,"/y",false,1]}

//// case: what answers to a put and a delete mean
const all = [];
for (const status of [200, 204, 404, 413, 429, 500]) {
  cache.respond = () => new Response(null, { status });
  all.push([status, await settled(caches.default.put('http://a/', new Response('x'))), await settled(caches.default.delete('http://a/'))]);
}
return all;
//// => {"value":[[200,{"value":{"$":"undefined"}},{"value":true}],[204,{"value":{"$":"undefined"}},{"error":{"$":"Error","name":"Error","message":"Unable to delete cached response."}}],[404,{"value":{"$":"undefined"}},{"value":false}],[413,{"value":{"$":"undefined"}},{"error":{"$":"Error","name":"Error","message":"Unable to delete cached response."}}],[429,{"value":{"$":"undefined"}},{"error":{"$":"Error","name":"Error","message":"Unable to delete cached response. Subrequests are being rate-limited."}}],[500,{"value":{"$":"undefined"}},{"error":{"$":"Error","name":"Error","message":"Unable to delete cached response."}}]]}

//// case: a service that throws
cache.respond = () => { throw new RangeError('boom'); };
return [await settled(caches.default.match('http://a/')), await settled(caches.default.put('http://a/', new Response('x'))), await settled(caches.default.delete('http://a/'))];
//// => {"value":[{"error":{"$":"RangeError","name":"RangeError","message":"boom","remote":true}},{"error":{"$":"RangeError","name":"RangeError","message":"boom","remote":true}},{"error":{"$":"RangeError","name":"RangeError","message":"boom","remote":true}}]}

//// case: a body that breaks
const body = new ReadableStream({ start(c) { c.enqueue(new Uint8Array(3)); }, pull(c) { c.error(new RangeError('broken')); } });
return [await settled(caches.default.put('http://a/', new Response(body))), cache.seen];
//// => {"value":[{"error":{"$":"RangeError","name":"RangeError","message":"broken"}},[]]}

//// case: a response is used as soon as it is put
cache.respond = () => new Response(null, { status: 204 });
const response = new Response('x');
const put = caches.default.put('http://a/', response);
const used = response.bodyUsed;
await put;
return [used, await settled(caches.default.put('http://a/', response)), cache.seen.length];
//// => {"value":[true,{"error":{"$":"TypeError","name":"TypeError","message":"Body has already been used. It can only be used once. Use tee() first if you need to read it twice."}},1]}

//// case: keys that cannot be sent
const all = [];
for (const url of ['http://u:p@a/x', 'data:,x', 'mailto:x', 'x', 'ftp://a', 'http://a#x']) all.push(await settled(caches.default.match(url)));
return [all, cache.seen.map((request) => request.url)];
//// => {"value":[[{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL. Cache API keys must be fully-qualified, valid URLs."}},{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL. Cache API keys must be fully-qualified, valid URLs."}},{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL. Cache API keys must be fully-qualified, valid URLs."}},{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: x"}},{"value":{"$":"undefined"}},{"value":{"$":"undefined"}}],["ftp://a/","http://a/#x"]]}

//// case: names and options
const all = [];
for (const act of [
  () => caches.open('a'.repeat(1024)), () => caches.open('a'.repeat(1023)).then((it) => it instanceof Cache), () => caches.open('\u00fc'.repeat(512)),
  () => caches.default.match('http://a/', 5), () => caches.default.match('http://a/', null), () => caches.default.delete('http://a/', 'x'),
  () => caches.default.put('http://a/', Response.error()), () => caches.default.put('http://a/', new Response(null, { status: 101, webSocket: new WebSocketPair()[0] })),
]) all.push(await settled((async () => act())()));
return [all, cache.seen.length];
//// => {"value":[[{"error":{"$":"TypeError","name":"TypeError","message":"Cache name is too long."}},{"value":true},{"error":{"$":"TypeError","name":"TypeError","message":"Cache name is too long."}},{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'match' on 'Cache': parameter 2 is not of type 'CacheQueryOptions'."}},{"value":{"$":"undefined"}},{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'delete' on 'Cache': parameter 2 is not of type 'CacheQueryOptions'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Cache is unable to store an error response"}},{"error":{"$":"TypeError","name":"TypeError","message":"Worker tried to return a WebSocket in a response to a request which did not contain the header \"Upgrade: websocket\"."}}],1]}

//// case: a Worker that is loaded has no cache of its parent's
const found = await methods(env, `async go() { try { return await caches.default.match('http://a/') === undefined; } catch { return true; } }`).go();
return [found, cache.seen.length];
//// => {"value":[true,0]}
