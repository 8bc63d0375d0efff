// Request, Response and fetches between Workers.
//// case: what a service sees of a request
const S = env.LOADER.load(worker("export default { async fetch(r) { return Response.json({ headers: [...r.headers], method: r.method, body: r.body === null ? null : await r.text(), url: r.url, redirect: r.redirect, cf: r.cf ?? null }); } }")).getEntrypoint();
const all = [];
for (const init of [
  undefined, { method: 'POST' }, { method: 'POST', body: 'abc' }, { method: 'POST', body: '' }, { method: 'DELETE' },
  { method: 'PUT', body: new ReadableStream({ start(c) { c.close(); } }) }, { method: 'POST', body: new Uint8Array(5) },
  { method: 'POST', body: 'abc', headers: { 'content-length': '3' } }, { method: 'PATCH', body: new URLSearchParams('a=b') },
  { redirect: 'manual' }, { headers: { 'user-agent': 'x', accept: 'y' } }, { cf: { cacheTtl: 5 } }, { cf: { cacheTtl: -1 } },
  { cache: 'no-store' }, { cache: 'no-cache' }, { cache: 'no-cache', headers: { pragma: 'p' } },
]) all.push(await (await S.fetch('http://u:p@h/h?q#frag', init)).json());
return all;
//// => {"value":[{"headers":[],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[],"method":"POST","body":null,"url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["content-length","3"],["content-type","text/plain;charset=UTF-8"]],"method":"POST","body":"abc","url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["content-length","0"],["content-type","text/plain;charset=UTF-8"]],"method":"POST","body":"","url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[],"method":"DELETE","body":null,"url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["transfer-encoding","chunked"]],"method":"PUT","body":"","url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["content-length","5"]],"method":"POST","body":"\u0000\u0000\u0000\u0000\u0000","url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["content-length","3"],["content-type","text/plain;charset=UTF-8"]],"method":"POST","body":"abc","url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["content-length","3"],["content-type","application/x-www-form-urlencoded;charset=UTF-8"]],"method":"PATCH","body":"a=b","url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[["accept","y"],["user-agent","x"]],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":null},{"headers":[],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":{"cacheTtl":5,"cacheControl":"max-age=5"}},{"headers":[],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":{"cacheTtl":-1,"cacheControl":"no-store"}},{"headers":[["cache-control","no-cache"],["pragma","no-cache"]],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":{"cacheTtl":-1,"cacheLevel":"bypass","cacheControl":"no-store"}},{"headers":[["cache-control","no-cache"],["pragma","no-cache"]],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":{"cacheForceRevalidate":true,"cacheControl":"no-cache"}},{"headers":[["cache-control","no-cache"],["pragma","p"]],"method":"GET","body":null,"url":"http://h/h?q","redirect":"manual","cf":{"cacheForceRevalidate":true,"cacheControl":"no-cache"}}]}

//// case: the headers of requests and responses that came are not the program's to change
const S = env.LOADER.load(worker("export default { fetch(r) { try { r.headers.set('a', 'b'); return new Response('set'); } catch (e) { return new Response(e.message); } } }")).getEntrypoint();
const r = await S.fetch('http://h/');
const all = [await r.text()];
try { r.headers.append('a', 'b'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
const mine = new Response(null, r);
mine.headers.set('a', 'b');
return [...all, [...mine.headers]];
//// => {"value":["Can't modify immutable headers.","TypeError: Can't modify immutable headers.",[["a","b"],["content-type","text/plain;charset=UTF-8"]]]}

//// case: redirects, by status and method
const S = env.LOADER.load(worker("export default { async fetch(r) { const u = new URL(r.url); if (u.pathname === '/r') return new Response('x', { status: +u.searchParams.get('s'), headers: { location: '/to?x#f' } }); return Response.json([r.method, await r.text(), [...r.headers.keys()]]); } }")).getEntrypoint();
const all = [];
for (const status of [300, 301, 302, 303, 307, 308]) {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT']) {
    const r = await S.fetch(`http://h/r?s=${status}`, { method, body: method[0] === 'P' ? 'body' : undefined, headers: { authorization: 'a' } });
    all.push([status, method, r.status, r.redirected, r.url, await r.text()]);
  }
}
return all;
//// => {"value":[[300,"GET",300,false,"http://h/r?s=300","x"],[300,"HEAD",300,false,"http://h/r?s=300",""],[300,"POST",300,false,"http://h/r?s=300","x"],[300,"PUT",300,false,"http://h/r?s=300","x"],[301,"GET",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\"]]"],[301,"HEAD",200,true,"http://h/to?x",""],[301,"POST",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\",\"content-type\"]]"],[301,"PUT",200,true,"http://h/to?x","[\"PUT\",\"body\",[\"authorization\",\"content-length\",\"content-type\"]]"],[302,"GET",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\"]]"],[302,"HEAD",200,true,"http://h/to?x",""],[302,"POST",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\",\"content-type\"]]"],[302,"PUT",200,true,"http://h/to?x","[\"PUT\",\"body\",[\"authorization\",\"content-length\",\"content-type\"]]"],[303,"GET",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\"]]"],[303,"HEAD",200,true,"http://h/to?x",""],[303,"POST",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\",\"content-type\"]]"],[303,"PUT",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\",\"content-type\"]]"],[307,"GET",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\"]]"],[307,"HEAD",200,true,"http://h/to?x",""],[307,"POST",200,true,"http://h/to?x","[\"POST\",\"body\",[\"authorization\",\"content-length\",\"content-type\"]]"],[307,"PUT",200,true,"http://h/to?x","[\"PUT\",\"body\",[\"authorization\",\"content-length\",\"content-type\"]]"],[308,"GET",200,true,"http://h/to?x","[\"GET\",\"\",[\"authorization\"]]"],[308,"HEAD",200,true,"http://h/to?x",""],[308,"POST",200,true,"http://h/to?x","[\"POST\",\"body\",[\"authorization\",\"content-length\",\"content-type\"]]"],[308,"PUT",200,true,"http://h/to?x","[\"PUT\",\"body\",[\"authorization\",\"content-length\",\"content-type\"]]"]]}

//// case: a redirect to another origin
const S = env.LOADER.load(worker("export default { fetch(r) { const u = new URL(r.url); if (u.host === 'h') return Response.redirect('http://other/'); return Response.json([...r.headers]); } }")).getEntrypoint();
const r = await S.fetch('http://h/', { headers: { authorization: 'a', cookie: 'c' } });
return [r.url, await r.json()];
//// => {"value":["http://other/",[["cookie","c"]]]}

//// case: redirects that lead nowhere
const S = env.LOADER.load(worker("export default { fetch(r) { const u = new URL(r.url); return new Response('x', { status: 307, headers: u.search === '' ? {} : { location: decodeURIComponent(u.search.slice(1)) } }); } }")).getEntrypoint();
const all = [];
for (const url of ['http://h/', 'http://h/?' + encodeURIComponent('http://['), 'http://h/?' + encodeURIComponent('?')]) {
  try { const r = await S.fetch(url); all.push([r.status, r.redirected, await r.text()]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
try { await S.fetch('http://h/?x', { method: 'POST', body: new ReadableStream({ start(c) { c.close(); } }) }); } catch (e) { all.push(`${e.name}: ${e.message}`); }
const r = await S.fetch('http://h/?x', { redirect: 'manual' });
return [...all, r.status, r.headers.get('location'), r.type];
//// => {"value":[[307,false,"x"],"TypeError: Invalid Location header; unable to follow redirect.",[307,true,"x"],"TypeError: A request with a one-time-use body (it was initialized from a stream, not a buffer) encountered a redirect requiring the body to be retransmitted. To avoid this error in the future, construct this request from a buffer-like body initializer.",307,"x","default"]}

//// case: bodies of answers that have none
const S = env.LOADER.load(worker("export default { fetch(r) { const s = +new URL(r.url).searchParams.get('s'); return new Response(s === 200 ? 'body' : null, { status: s, headers: { a: 'b' } }); } }")).getEntrypoint();
const all = [];
for (const [status, method] of [[200, 'HEAD'], [200, 'GET'], [201, 'GET'], [204, 'GET'], [205, 'GET'], [304, 'GET'], [404, 'GET']]) {
  const r = await S.fetch(`http://h/?s=${status}`, { method });
  all.push([r.status, r.statusText, r.body === null, await r.text()]);
}
return all;
//// => {"value":[[200,"OK",true,""],[200,"OK",false,"body"],[201,"Created",false,""],[204,"No Content",true,""],[205,"Reset Content",true,""],[304,"Not Modified",true,""],[404,"Not Found",false,""]]}

//// case: content codings
const S = env.LOADER.load(worker("export default { fetch(r) { const u = new URL(r.url); return new Response('hello hello hello', { headers: { 'content-encoding': u.searchParams.get('e') }, encodeBody: u.searchParams.get('m') ?? undefined }); } }")).getEntrypoint();
const all = [];
for (const [query, encodeResponseBody] of [['e=gzip'], ['e=gzip', 'manual'], ['e=br'], ['e=x'], ['e=gzip&m=manual'], ['e=gzip&m=manual', 'manual']]) {
  try {
    const r = await S.fetch(`http://h/?${query}`, { encodeResponseBody });
    const bytes = await r.bytes();
    all.push([r.headers.get('content-encoding'), bytes[0] === 0x1f, bytes[0] === 0x1f ? 'gzip' : new TextDecoder().decode(bytes)]);
  } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":[["gzip",false,"hello hello hello"],["gzip",true,"gzip"],["br",false,"hello hello hello"],["x",false,"hello hello hello"],"TypeError: Gzip decompression failed.",["gzip",false,"hello hello hello"]]}

//// case: an encoded answer passed on by another Worker
const inner = env.LOADER.load(worker("export default { fetch() { return new Response('hello', { headers: { 'content-encoding': 'gzip' } }); } }")).getEntrypoint();
const outer = env.LOADER.load(worker("export default { async fetch(r, env) { const a = await env.S.fetch(r); return new URL(r.url).pathname === '/new' ? new Response(a.body, a) : a; } }", { env: { S: inner } })).getEntrypoint();
return [await (await outer.fetch('http://h/')).text(), await (await outer.fetch('http://h/new')).text()];
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: URLs that cannot be fetched
const S = env.LOADER.load(worker("export default { fetch() { return new Response('x'); } }")).getEntrypoint();
const all = [];
for (const url of ['/h', 'ftp://x/h', 'x', '', 'http://[', 'blob:http://a/b', ' http://h/ \t']) {
  try { all.push((await S.fetch(url)).url); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
try { await S.fetch(); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":["TypeError: Invalid URL: /h","TypeError: Fetch API cannot load: ftp://x/h","TypeError: Invalid URL: x","TypeError: Invalid URL: ","TypeError: Invalid URL: http://[","TypeError: Fetch API cannot load: blob:http://a/b","http://h/","TypeError: Failed to execute 'fetch' on 'Fetcher': parameter 1 is not of type 'Request or string'."]}

//// case: Response.error() is no answer
const S = env.LOADER.load(worker("export default { fetch() { return Response.error(); } }")).getEntrypoint();
return await settled(S.fetch('http://h/'));
//// => {"value":{"error":{"$":"TypeError","name":"TypeError","message":"Return value from serve handler must not be an error response (like Response.error())","remote":true}}}

//// case: methods of requests
const all = [];
for (const method of ['get', 'Post', 'patch', 'FOO', null, '', 'connect', 'TRACE', undefined]) {
  try { all.push(new Request('http://a', { method }).method); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["GET","POST","PATCH","TypeError: Invalid HTTP method string: FOO","TypeError: Invalid HTTP method string: null","TypeError: Invalid HTTP method string: ","TypeError: Invalid HTTP method string: connect","TRACE","GET"]}

//// case: options of requests
const all = [];
for (const init of [
  { method: 'get', body: 'x' }, { redirect: 'error' }, { redirect: 'FOLLOW' }, { redirect: null }, { integrity: 'x' }, { integrity: '' },
  { signal: 1 }, { signal: null }, { cf: 1 }, { cf: null }, { cf: { a() {}, d: new Date(0), u: undefined } }, { headers: null },
  { encodeResponseBody: 'x' }, { cache: 'default' }, { cache: 'no-store' }, { cache: null }, { fetcher: 3 }, { body: null },
  { cf: { cacheControl: 'x', cacheTtl: 1 } }, { cf: { cacheControl: 'x' }, cache: 'no-store' }, { cf: { cacheControl: 'x', cacheTtl: undefined } },
]) {
  try { const r = new Request('http://a', init); all.push([r.redirect, r.cache ?? null, r.cf ?? null, r.body]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
for (const init of [5, 'x', null, () => {}]) {
  try { all.push(new Request('http://a', init).url); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: Request with a GET or HEAD method cannot have a body.","TypeError: Invalid redirect value, must be one of \"follow\" or \"manual\" (\"error\" won't be implemented since it does not make sense at the edge; use \"manual\" and check the response status code).",["follow",null,null,null],"TypeError: Invalid redirect value, must be one of \"follow\" or \"manual\" (\"error\" won't be implemented since it does not make sense at the edge; use \"manual\" and check the response status code).","TypeError: Subrequest integrity checking is not implemented. The integrity option must be either undefined or an empty string.",["follow",null,null,null],"TypeError: Incorrect type for the 'signal' field on 'RequestInitializerDict': the provided value is not of type 'AbortSignal'.",["follow",null,null,null],"TypeError: Incorrect type for the 'cf' field on 'RequestInitializerDict': the provided value is not of type 'Object'.","TypeError: Incorrect type for the 'cf' field on 'RequestInitializerDict': the provided value is not of type 'Object'.",["follow",null,{"d":"1970-01-01T00:00:00.000Z"},null],"TypeError: Incorrect type for the 'headers' field on 'RequestInitializerDict': the provided value is not of type 'Headers or Sequence or object'.","TypeError: encodeResponseBody: unexpected value: x","TypeError: Unsupported cache mode: default",["follow","no-store",null,null],"TypeError: Unsupported cache mode: null","TypeError: Incorrect type for the 'fetcher' field on 'RequestInitializerDict': the provided value is not of type 'Fetcher'.",["follow",null,null,null],"TypeError: The 'cacheControl' and 'cacheTtl' options on cf are mutually exclusive. Use 'cacheControl' for explicit Cache-Control header directives, or 'cacheTtl' for a simplified TTL, but not both.","TypeError: The 'cacheControl' option on cf cannot be used together with the 'cache' request option. The 'cache' option ('no-store'/'no-cache') maps to cache TTL behavior internally, which conflicts with explicit Cache-Control directives.",["follow",null,{"cacheControl":"x"},null],"TypeError: Failed to construct 'Request': constructor parameter 2 is not of type 'RequestInitializerDict or Request'.","TypeError: Failed to construct 'Request': constructor parameter 2 is not of type 'RequestInitializerDict or Request'.","http://a/","http://a/"]}

//// case: a request of a request
const all = [];
const make = (more) => new Request('http://a', { method: 'POST', body: 'b', headers: { z: '1' }, redirect: 'manual', ...more });
let q = make();
let r = new Request(q);
all.push([q.bodyUsed, r.bodyUsed, await r.text()]);
try { new Request(q); } catch (e) { all.push(`${e.name}: ${e.message}`); }
q = make();
r = new Request('http://b', q);
all.push([q.bodyUsed, r.method, r.redirect, r.url, [...r.headers], await r.text()]);
r = new Request(make(), { body: 'c' });
all.push([await r.text(), [...r.headers]]);
try { new Request(make(), { method: 'GET' }); } catch (e) { all.push(`${e.name}: ${e.message}`); }
r = new Request(make(), { headers: { y: '2' } });
all.push([[...r.headers], r.method]);
return all;
//// => {"value":[[true,false,"b"],"TypeError: Cannot reconstruct a Request with a used body.",[false,"POST","manual","http://b/",[["content-type","text/plain;charset=UTF-8"],["z","1"]],"b"],["c",[["content-type","text/plain;charset=UTF-8"],["z","1"]]],"TypeError: Request with a GET or HEAD method cannot have a body.",[[["y","2"]],"POST"]]}

//// case: statuses and texts of responses
const all = [];
for (const init of [
  undefined, { status: 404 }, { status: 599 }, { status: 600 }, { status: 199 }, { status: 101 }, { status: 'abc' }, { status: 200.9 }, { status: null },
  { statusText: 'a\tb' }, { statusText: 'a\nb' }, { statusText: '\u4e00' }, { statusText: null }, { headers: null }, { cf: null }, { encodeBody: 'x' }, 5, 'y', null,
]) {
  try { const r = new Response('x', init); all.push([r.status, r.statusText, r.ok]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
for (const [body, status] of [['', 204], ['x', 204], [null, 204], [new ReadableStream(), 304], ['', 205]]) {
  try { const r = new Response(body, { status }); all.push([r.body, [...r.headers]]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":[[200,"",true],[404,"",false],[599,"",false],"RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.","RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.","RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.","RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.",[200,"",true],"RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.","TypeError: Invalid statusText","TypeError: Invalid statusText",[200,"一",true],[200,"null",true],"TypeError: Incorrect type for the 'headers' field on 'InitializerDict': the provided value is not of type 'Headers or Sequence or object'.","TypeError: Incorrect type for the 'cf' field on 'InitializerDict': the provided value is not of type 'Object'.","TypeError: encodeBody: unexpected value: x","TypeError: Failed to construct 'Response': constructor parameter 2 is not of type 'InitializerDict or Response'.","TypeError: Failed to construct 'Response': constructor parameter 2 is not of type 'InitializerDict or Response'.",[200,"",true],[null,[]],"TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body.",[null,[]],"TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body.",[null,[]]]}

//// case: a response of a response
const r = new Response('a', new Response('b', { status: 404, statusText: 'zz', headers: { a: 'b' }, cf: { q: 1 } }));
const json = Response.json({ a: 1 }, new Response('', { headers: { q: '1' }, status: 201 }));
return [r.status, r.statusText, [...r.headers], r.cf, await r.text(), json.status, [...json.headers], await json.text()];
//// => {"value":[404,"zz",[["a","b"],["content-type","text/plain;charset=UTF-8"]],{"q":1},"a",201,[["content-type","text/plain;charset=UTF-8"],["q","1"]],"{\"a\":1}"]}

//// case: Response.json, redirect and error
const all = [];
for (const act of [
  () => Response.json({ a: 1 }, { headers: { 'content-type': 'x/y' } }), () => Response.json(undefined), () => Response.json(5n), () => Response.json(1, { status: 204 }),
  () => Response.redirect('http://a/b', 303), () => Response.redirect('/b'), () => Response.redirect('http://a', 304), () => Response.error(), () => Response.error().clone(),
]) {
  try { const r = act(); all.push([r.status, r.type, [...r.headers], r.body === null ? null : await r.text()]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
try { Response.redirect('http://a/').headers.set('a', 'b'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":[[200,"default",[["content-type","x/y"]],"{\"a\":1}"],[200,"default",[["content-type","application/json"]],"undefined"],"TypeError: Do not know how to serialize a BigInt","TypeError: Response with null body status (101, 204, 205, or 304) cannot have a body.",[303,"default",[["location","http://a/b"]],null],"TypeError: Unable to parse URL: /b","RangeError: 304 is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.",[0,"error",[],null],[0,"error",[],null],"TypeError: Can't modify immutable headers."]}

//// case: bodies that are iterated over, and ones that are texts
const bytes = (text) => new TextEncoder().encode(text);
const all = [];
for (const body of [
  [bytes('a'), bytes('b')], (async function* () { yield bytes('c'); })(), [1, 2], ['a'], new Set([bytes('d')]), new Map([['a', 'b']]), new Date(0), {}, 5, true,
  new String('s'), { [Symbol.iterator]: function* () { yield bytes('e'); } }, { [Symbol.iterator]: function* () {}, toString: () => 'text' },
  { async *[Symbol.asyncIterator]() { yield bytes('f'); }, toString: () => 'text' }, new Headers({ a: 'b' }), new ArrayBuffer(1), new DataView(new ArrayBuffer(2), 1),
  new URLSearchParams('a=b'), new Blob(['g'], { type: 'x/y' }), null, undefined,
]) {
  try { const r = new Response(body); all.push([r.headers.get('content-type'), await r.text()]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":[[null,"ab"],[null,"c"],"TypeError: This ReadableStream did not return bytes.","TypeError: This ReadableStream did not return bytes.",[null,"d"],"TypeError: This ReadableStream did not return bytes.",["text/plain;charset=UTF-8","Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"],["text/plain;charset=UTF-8","[object Object]"],["text/plain;charset=UTF-8","5"],["text/plain;charset=UTF-8","true"],["text/plain;charset=UTF-8","s"],[null,"e"],["text/plain;charset=UTF-8","text"],[null,"f"],"TypeError: This ReadableStream did not return bytes.",[null,"\u0000"],[null,"\u0000"],["application/x-www-form-urlencoded;charset=UTF-8","a=b"],["x/y","g"],[null,""],[null,""]]}

//// case: a body is used once
const all = [];
const r = new Response('x');
all.push(await r.text(), r.bodyUsed);
for (const act of [() => r.text(), () => r.json(), () => r.formData(), () => r.clone()]) {
  try { await act(); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
const locked = new Response('x');
locked.body.getReader();
try { await locked.text(); } catch (e) { all.push(`${e.name}: ${e.message}`); }
try { new Response(locked.body); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":["x",true,"TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.","TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.","TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.","TypeError: This ReadableStream is currently locked to a reader,","TypeError: This ReadableStream is currently locked to a reader.","TypeError: This ReadableStream is locked to a reader, and cannot be used as a body."]}

//// case: addresses that are not of HTTP, given to services and to the global function
const service = env.LOADER.load({
  compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': 'export default { fetch: () => new Response() }' },
}).getEntrypoint();
const all = [new Request('ws://x/a').url];
for (const url of ['ws://x/a', 'wss://x/a', 'ftp://x/a', 'foo:bar']) {
  for (const headers of [{}, { Upgrade: 'websocket' }]) {
    for (const send of [(...given) => service.fetch(...given), (...given) => fetch(...given)]) {
      try { all.push((await send(url, { headers })).status); } catch (e) { all.push(`${e.name}: ${e.message}`); }
    }
  }
}
return all;
//// => {"value":["ws://x/a","TypeError: Fetch API cannot load: ws://x/a","TypeError: Fetch API cannot load: ws://x/a","TypeError: Fetch API cannot load: ws://x/a","TypeError: Fetch API cannot load: ws://x/a","TypeError: Fetch API cannot load: wss://x/a","TypeError: Fetch API cannot load: wss://x/a","TypeError: Fetch API cannot load: wss://x/a","TypeError: Fetch API cannot load: wss://x/a","TypeError: Fetch API cannot load: ftp://x/a","TypeError: Fetch API cannot load: ftp://x/a","TypeError: Fetch API cannot load: ftp://x/a","TypeError: Fetch API cannot load: ftp://x/a","TypeError: Fetch API cannot load: foo:bar","TypeError: Fetch API cannot load: foo:bar","TypeError: Fetch API cannot load: foo:bar","TypeError: Fetch API cannot load: foo:bar"]}
