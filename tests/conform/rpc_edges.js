// Errors and values that cross, and calls that go wrong.
//// case: stack of a remote error
try { await methods(env, 'm() { throw new Error("here"); }').m(); } catch (e) { return [typeof e.stack, e.stack.split('\n')[0], e.stack.includes('main.js'), Object.getOwnPropertyNames(e).sort()]; }
//// => {"value":["string","Error: here",false,["message","remote","stack"]]}

//// case: error kinds thrown by the parent's function called by a child
const out = [];
for (const e of [new Error('e'), Object.assign(new TypeError('t'), { code: 1 }), 'str', null, undefined, { a: 1 }, new DOMException('d', 'NotFoundError')])
  out.push(await settled(methods(env, 'async m(f) { try { await f(); } catch (e) { return [typeof e, e instanceof Error, e?.name, e?.message, e?.remote, e?.code]; } }').m(() => { throw e; })));
return out;
//// => {"value":[{"value":["object",true,"Error","e",true,{"$":"undefined"}]},{"value":["object",true,"TypeError","t",true,1]},{"value":["object",true,"Error","str",true,{"$":"undefined"}]},{"value":["object",true,"Error","null",true,{"$":"undefined"}]},{"value":["object",true,"Error","undefined",true,{"$":"undefined"}]},{"value":["object",false,{"$":"undefined"},{"$":"undefined"},true,{"$":"undefined"}]},{"value":["object",true,"NotFoundError","d",true,8]}]}

//// case: an error returned rather than thrown
const e = await methods(env, 'm() { return Object.assign(new TypeError("ret"), { a: 1 }); }').m();
return [e, Object.keys(e), e instanceof TypeError];
//// => {"value":[{"$":"TypeError","name":"TypeError","message":"ret","a":1},["a"],true]}

//// case: too many and too few arguments
return await methods(env, 'm(...a) { return a.length; }').m(1, 2, undefined);
//// => {"value":3}

//// case: undefined arguments and results
return [await methods(env, 'm(a) { return [arguments.length, a === undefined]; }').m(undefined), await methods(env, 'm() {}').m(), await methods(env, 'async m() { return null; }').m()];
//// => {"value":[[1,true],{"$":"undefined"},null]}

//// case: pipelining
class C extends RpcTarget {}
const s = methods(env, 'm() { return new (class extends RpcTarget { x() { return { y: () => new (class extends RpcTarget { z() { return 9; } })() }; } })(); } n() { return { a: { b: 5 } }; } f() { return null; }');
return [await s.m().x().y().z(), await s.n().a.b, await settled(s.f().x), await settled(s.n().nope.x), await settled(s.n().a.b.c), await settled(s.n().a()), await settled(s.m().nope())];
//// => {"value":[9,5,{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"x\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"nope\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"b\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"\"a\" is not a function.","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"nope\".","remote":true}}]}

//// case: a stub used after its session
const s = methods(env, 'm() { return new (class extends RpcTarget { x() { return 5; } })(); }');
const t = await s.m();
const before = await t.x();
t[Symbol.dispose]();
return [before, await settled((async () => t.x())())];
//// => {"value":[5,{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}]}

//// case: an unreturned stub of a parameter after the call
let kept;
class T extends RpcTarget { keep(f) { kept = f; return 1; } async use() { return await kept(); } }
const t = new T();
await methods(env, 'async m(t) { return await t.keep(() => 5); }').m(t);
return await settled((async () => kept())());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}}

//// case: onRpcBroken of a stub
const s = methods(env, 'm() { return new (class extends RpcTarget { x() { return 5; } })(); }');
const t = await s.m();
return [typeof t.onRpcBroken, typeof t.dup];
//// => {"value":["function","function"]}

//// case: child aborts
return await methods(env, 'm() { this.ctx.abort(new RangeError("abort")); }').m();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"abort"}}

//// case: child aborts with nothing
return await methods(env, 'm() { this.ctx.abort(); }').m();
//// => {"error":{"$":"Error","name":"Error","message":"Worker execution was aborted due to call to ctx.abort()."}}

//// case: child hangs
return await methods(env, 'm() { return new Promise(() => {}); }').m();
//// => {"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"}}

//// case: child hangs in fetch
return await methods(env, 'fetch() { return new Promise(() => {}); }').fetch('http://x/');
//// => {"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/","remote":true}}

//// case: child hangs and the next call
const s = methods(env, 'n = 0; m(x) { globalThis.n = (globalThis.n ?? 0) + 1; return x ? globalThis.n : new Promise(() => {}); }');
return [await settled(s.m(0)), await settled(s.m(1))];
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"}},{"value":2}]}

//// case: child's unhandled rejection
return await methods(env, 'async m() { Promise.reject(new Error("u")); return 1; }').m();
//// => {"value":1}

//// case: child throws in a timer
return await methods(env, 'async m() { setTimeout(() => { throw new Error("t"); }, 0); await new Promise((r) => setTimeout(r, 10)); return 1; }').m();
//// => {"value":1}

//// case: child's waitUntil rejection
return await methods(env, 'async m() { this.ctx.waitUntil(Promise.reject(new Error("w"))); return 1; }').m();
//// => {"value":1}

//// case: abortIsolate by import
const s = env.LOADER.get('ai', () => worker('import { WorkerEntrypoint as W, abortIsolate } from "cloudflare:workers"; globalThis.n = 0; export default class extends W { m() { return ++globalThis.n; } a() { abortIsolate("why"); } k() { return typeof abortIsolate; } }')).getEntrypoint();
return [await settled(s.k()), await settled(s.m())];
//// => {"value":[{"value":"function"},{"value":1}]}

//// case: nested load through a service
return await env.SELF.nested?.();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"nested\".","remote":true}}

//// case: fetch results of a child
const s = env.LOADER.load(worker('export default { async fetch(r) { const u = new URL(r.url); if (u.pathname === "/h") return new Response([...r.headers].map(String).join(";")); if (u.pathname === "/m") return new Response(r.method + " " + r.redirect + " " + r.cf + " " + r.url); if (u.pathname === "/n") return null; if (u.pathname === "/u") return; if (u.pathname === "/e") return Response.error(); if (u.pathname === "/s") return new Response("x", { status: 299, statusText: "Odd", headers: { a: "b" } }); if (u.pathname === "/p") return Promise.resolve(new Response("p")); if (u.pathname === "/o") return { status: 200 }; if (u.pathname === "/used") { const q = new Response("x"); await q.text(); return q; } } }')).getEntrypoint();
const out = [];
for (const p of ['/h', '/m', '/n', '/u', '/e', '/s', '/p', '/o', '/used']) out.push([p, await settled((async () => { const r = await s.fetch('http://x' + p, { headers: { q: '1' } }); return [r.status, r.statusText, r.url, r.redirected, r.ok, r.type, [...r.headers], await r.text()]; })())]);
return out;
//// => {"value":[["/h",{"value":[200,"OK","http://x/h",false,true,"default",[["content-type","text/plain;charset=UTF-8"]],"q,1"]}],["/m",{"value":[200,"OK","http://x/m",false,true,"default",[["content-type","text/plain;charset=UTF-8"]],"GET manual undefined http://x/m"]}],["/n",{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for Promise: the Promise did not resolve to 'Response'.","remote":true}}],["/u",{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for Promise: the Promise did not resolve to 'Response'.","remote":true}}],["/e",{"error":{"$":"TypeError","name":"TypeError","message":"Return value from serve handler must not be an error response (like Response.error())","remote":true}}],["/s",{"value":[299,"Odd","http://x/s",false,true,"default",[["a","b"],["content-type","text/plain;charset=UTF-8"]],"x"]}],["/p",{"value":[200,"OK","http://x/p",false,true,"default",[["content-type","text/plain;charset=UTF-8"]],"p"]}],["/o",{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for Promise: the Promise did not resolve to 'Response'.","remote":true}}],["/used",{"error":{"$":"TypeError","name":"TypeError","message":"Body has already been used. It can only be used once. Use tee() first if you need to read it twice.","remote":true}}]]}

//// case: fetch arguments to a child
const s = env.LOADER.load(worker('export default { fetch(r) { return new Response(r.method + r.url); } }')).getEntrypoint();
const out = [];
for (const a of [[], [undefined], [null], [5], [''], ['x'], ['/p'], ['http://x'], [new URL('http://y/z')], [{}], [new Request('http://r/', { method: 'PUT' })], ['http://x', { method: 'bad method' }], ['http://x', { method: 'TRACE' }], ['http://x', { method: 'get' }], ['http://x', { method: 'patch' }], ['http://x', { body: 'b' }], ['http://u:p@x/'], ['http://x/#frag'], ['ftp://x/'], ['data:,x'], ['http://x', 5], ['http://x', null], ['http://x', { signal: AbortSignal.abort() }]]) out.push([a.map(String), await settled((async () => await (await s.fetch(...a)).text())())]);
return out;
//// => {"value":[[[],{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'fetch' on 'Fetcher': parameter 1 is not of type 'Request or string'."}}],[["undefined"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: undefined"}}],[["null"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: null"}}],[["5"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: 5"}}],[[""],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: "}}],[["x"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: x"}}],[["/p"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: /p"}}],[["http://x"],{"value":"GEThttp://x/"}],[["http://y/z"],{"value":"GEThttp://y/z"}],[["[object Object]"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: [object Object]"}}],[["[object Request]"],{"value":"PUThttp://r/"}],[["http://x","[object Object]"],{"error":{"$":"TypeError","name":"TypeError","message":"Invalid HTTP method string: bad method"}}],[["http://x","[object Object]"],{"value":"TRACEhttp://x/"}],[["http://x","[object Object]"],{"value":"GEThttp://x/"}],[["http://x","[object Object]"],{"value":"PATCHhttp://x/"}],[["http://x","[object Object]"],{"error":{"$":"TypeError","name":"TypeError","message":"Request with a GET or HEAD method cannot have a body."}}],[["http://u:p@x/"],{"value":"GEThttp://x/"}],[["http://x/#frag"],{"value":"GEThttp://x/"}],[["ftp://x/"],{"error":{"$":"TypeError","name":"TypeError","message":"Fetch API cannot load: ftp://x/"}}],[["data:,x"],{"value":"x"}],[["http://x","5"],{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'fetch' on 'Fetcher': parameter 2 is not of type 'RequestInitializerDict or Request'."}}],[["http://x","null"],{"value":"GEThttp://x/"}],[["http://x","[object Object]"],{"error":{"$":"DOMException","name":"AbortError","message":"The operation was aborted","code":20,"retryable":true}}]]}

//// case: entrypoint get and put helpers
const s = env.LOADER.load(worker('export default { fetch(r) { return new Response(r.method + r.url); } }')).getEntrypoint();
return [await settled((async () => s.get('http://x/'))()), await settled((async () => s.put('http://x/', 'b'))()), await settled((async () => s.delete('http://x/'))())];
//// => {"value":[{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"get\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"put\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"delete\".","remote":true}}]}

//// case: entrypoint get and put helpers of classes
const s = methods(env, 'get(a) { return ["get", a]; } put(a, b) { return ["put", a, b]; } delete(a) { return ["delete", a]; } list() { return "list"; } head() { return "head"; }');
return [await settled((async () => s.get('http://x/'))()), await settled((async () => s.put('http://x/', 'b'))()), await settled((async () => s.delete('http://x/'))()), await settled((async () => s.list('http://x/'))())];
//// => {"value":[{"value":["get","http://x/"]},{"value":["put","http://x/","b"]},{"value":["delete","http://x/"]},{"value":"list"}]}

//// case: scheduled and queue by stub
const s = env.LOADER.load(worker('export default { scheduled(c) { globalThis.c = [c.cron, c.scheduledTime]; }, queue(b) { globalThis.q = b.messages.length; }, m() { return [globalThis.c, globalThis.q]; } }')).getEntrypoint();
return [await settled((async () => s.scheduled({ cron: '* * * * *', scheduledTime: new Date(1000) }))()), await settled((async () => s.queue('q', [{ id: '1', timestamp: new Date(0), body: 'x', attempts: 1 }]))()), await settled(s.m(1))];
//// => {"value":[{"value":{"$":"undefined"}},{"error":{"$":"TypeError","name":"TypeError","message":"Attempted to call RPC function \"queue\" with the wrong number of arguments. When calling a top-level handler function that is not declared as part of a class, you must always send exactly one argument. In order to support variable numbers of arguments, the server must use class-based syntax (extending WorkerEntrypoint) instead.","remote":true}},{"value":[["* * * * *",{"$":"Date","value":1000}],{"$":"undefined"}]}]}

//// case: connect by stub
const s = env.LOADER.load(worker('export default { async connect(s) { const w = s.writable.getWriter(); await w.write(new TextEncoder().encode("hi")); await w.close(); } }')).getEntrypoint();
const c = s.connect('x:1');
return await settled((async () => new Response(c.readable).text())());
//// => {"value":{"value":"hi"}}

//// case: a loop of one call
const s = methods(env, 'async m(f, n) { return n === 0 ? 0 : 1 + await f(n - 1); }');
const f = (n) => s.m(f, n);
return await f(20);
//// => {"value":20}

//// case: deep values
let d = 1; for (let i = 0; i < 300; i++) d = [d];
const s = methods(env, 'm(x) { let n = 0; while (Array.isArray(x)) { x = x[0]; n++; } return n; }');
return await s.m(d);
//// => {"value":300}

//// case: error kinds thrown by a child
const out = [];
for (const e of ['new Error("e")', 'new TypeError("t")', 'new RangeError("r")', 'new SyntaxError("s")', 'new ReferenceError("f")', 'new EvalError("v")', 'new URIError("u")', 'new AggregateError([new Error("x")], "g")', 'new DOMException("d", "AbortError")', 'Object.assign(new Error("p"), { code: 5, nested: { a: [1] }, fn() {} })', 'Object.assign(new Error("p2"), { code: 5, nested: { a: [1] } })', 'new Error("c", { cause: new TypeError("why") })', '"str"', '5', 'null', 'undefined', '{ a: 1 }', '[1]', 'Symbol("s")', '1n', '() => 1', 'Object.assign(new Error("rem"), { remote: false, retryable: true, overloaded: true })', 'class extends Error {}', 'new (class MyError extends Error {})("mine")', 'new (class MyError extends Error { constructor(m) { super(m); this.name = "MyError"; } })("named")', 'Object.assign(new Error("n"), { name: "Custom" })', 'Object.assign(new Error("n"), { name: "TypeError" })', 'new Error("x".repeat(100000)).message.length > 5 ? new Error("long " + "x".repeat(3000)) : 0', 'Object.create(new Error("proto"))', 'new Error("")', 'Object.assign(new Error("m"), { message: "changed" })', 'new Date(0)', 'new Map([[1,2]])', 'new WebAssembly.CompileError("w")', 'Object.assign(new Error("d"), { durableObjectReset: true })'])
  out.push([e, await settled(methods(env, `async m() { throw (${e}); }`).m())]);
return out;
//// => {"value":[["new Error(\"e\")",{"error":{"$":"Error","name":"Error","message":"e","remote":true}}],["new TypeError(\"t\")",{"error":{"$":"TypeError","name":"TypeError","message":"t","remote":true}}],["new RangeError(\"r\")",{"error":{"$":"RangeError","name":"RangeError","message":"r","remote":true}}],["new SyntaxError(\"s\")",{"error":{"$":"SyntaxError","name":"SyntaxError","message":"s","remote":true}}],["new ReferenceError(\"f\")",{"error":{"$":"ReferenceError","name":"ReferenceError","message":"f","remote":true}}],["new EvalError(\"v\")",{"error":{"$":"EvalError","name":"EvalError","message":"v","remote":true}}],["new URIError(\"u\")",{"error":{"$":"URIError","name":"URIError","message":"u","remote":true}}],["new AggregateError([new Error(\"x\")], \"g\")",{"error":{"$":"AggregateError","name":"AggregateError","message":"g","errors":[{"$":"Error","name":"Error","message":"x"}],"remote":true}}],["new DOMException(\"d\", \"AbortError\")",{"error":{"$":"DOMException","name":"AbortError","message":"d","code":20,"remote":true}}],["Object.assign(new Error(\"p\"), { code: 5, nested: { a: [1] }, fn() {} })",{"error":{"$":"Error","name":"Error","message":"p","remote":true}}],["Object.assign(new Error(\"p2\"), { code: 5, nested: { a: [1] } })",{"error":{"$":"Error","name":"Error","message":"p2","code":5,"nested":{"a":[1]},"remote":true}}],["new Error(\"c\", { cause: new TypeError(\"why\") })",{"error":{"$":"Error","name":"Error","message":"c","cause":{"$":"TypeError","name":"TypeError","message":"why"},"remote":true}}],["\"str\"",{"error":{"$":"Error","name":"Error","message":"str","remote":true}}],["5",{"error":{"$":"Error","name":"Error","message":"5","remote":true}}],["null",{"error":{"$":"Error","name":"Error","message":"null","remote":true}}],["undefined",{"error":{"$":"Error","name":"Error","message":"undefined","remote":true}}],["{ a: 1 }",{"error":{"a":1,"remote":true}}],["[1]",{"error":[1]}],["Symbol(\"s\")",{"error":{"$":"Error","name":"Error","message":"Symbol(s)","remote":true}}],["1n",{"error":{"$":"Error","name":"Error","message":"1","remote":true}}],["() => 1",{"error":{"$":"Error","name":"Error","message":"() => 1","remote":true}}],["Object.assign(new Error(\"rem\"), { remote: false, retryable: true, overloaded: true })",{"error":{"$":"Error","name":"Error","message":"rem","overloaded":true,"remote":true,"retryable":true}}],["class extends Error {}",{"error":{"$":"Error","name":"Error","message":"class extends Error {}","remote":true}}],["new (class MyError extends Error {})(\"mine\")",{"error":{"$":"Error","name":"Error","message":"mine","remote":true}}],["new (class MyError extends Error { constructor(m) { super(m); this.name = \"MyError\"; } })(\"named\")",{"error":{"$":"Error","name":"MyError","message":"named","remote":true}}],["Object.assign(new Error(\"n\"), { name: \"Custom\" })",{"error":{"$":"Error","name":"Custom","message":"n","remote":true}}],["Object.assign(new Error(\"n\"), { name: \"TypeError\" })",{"error":{"$":"TypeError","name":"TypeError","message":"n","remote":true}}],["new Error(\"x\".repeat(100000)).message.length > 5 ? new Error(\"long \" + \"x\".repeat(3000)) : 0",{"error":{"$":"Error","name":"Error","message":"long xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","remote":true}}],["Object.create(new Error(\"proto\"))",{"error":{"remote":true}}],["new Error(\"\")",{"error":{"$":"Error","name":"Error","message":"","remote":true}}],["Object.assign(new Error(\"m\"), { message: \"changed\" })",{"error":{"$":"Error","name":"Error","message":"changed","remote":true}}],["new Date(0)",{"error":{"$":"Date","value":0}}],["new Map([[1,2]])",{"error":{"$":"Map","value":[[1,2]]}}],["new WebAssembly.CompileError(\"w\")",{"error":{"$":"Error","name":"CompileError","message":"w","remote":true}}],["Object.assign(new Error(\"d\"), { durableObjectReset: true })",{"error":{"$":"Error","name":"Error","message":"d","durableObjectReset":true,"remote":true}}]]}

//// case: return values that cannot be cloned
const out = [];
for (const v of ['Symbol("s")', 'new WeakMap()', 'Promise.resolve(5)', '() => 1', 'new RpcTarget()', 'new (class extends RpcTarget { x() { return 1; } })()', 'Math', 'new Proxy({ a: 1 }, {})', 'new (class A { a = 1 })()', 'this', 'this.ctx', 'this.env', 'new Request("http://x/")', 'new Response("b")', 'new Headers()', 'new URL("http://x")', 'new Blob(["x"])', 'new FormData()', 'new ReadableStream()', 'new AbortController().signal', 'new AbortController()', 'new Date(NaN)', 'Object.create(null)', 'Object.create({ x: 1 })', '{ get x() { throw new RangeError("g"); } }', '{ toJSON() { return 1; } }', '[() => 1]', '{ then: 5 }', '{ then() { return 1; } }', 'new String("s")', 'arguments', 'function* () {}', '(function* () {})()', 'new Uint8Array(3).subarray(1)', 'new Intl.NumberFormat()', 'import("cloudflare:workers")', 'crypto', 'new WebSocketPair()', 'new TransformStream()', 'new EventTarget()', 'new Event("x")', 'new URLSearchParams("a=1")', 'caches'])
  out.push([v, await settled((async () => { const r = await methods(env, `async m() { return (${v}); }`).m(); return [typeof r, Object.prototype.toString.call(r)]; })())]);
return out;
//// => {"value":[["Symbol(\"s\")",{"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(s) could not be cloned.","code":25,"remote":true}}],["new WeakMap()",{"error":{"$":"DOMException","name":"DataCloneError","message":"#<WeakMap> could not be cloned.","code":25,"remote":true}}],["Promise.resolve(5)",{"value":["number","[object Number]"]}],["() => 1",{"value":["function","[object JsRpcStub]"]}],["new RpcTarget()",{"value":["function","[object JsRpcStub]"]}],["new (class extends RpcTarget { x() { return 1; } })()",{"value":["function","[object JsRpcStub]"]}],["Math",{"value":["object","[object Object]"]}],["new Proxy({ a: 1 }, {})",{"value":["function","[object JsRpcStub]"]}],["new (class A { a = 1 })()",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"A\". This type does not support serialization.","code":25,"remote":true}}],["this",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"default\". This type does not support serialization.","code":25,"remote":true}}],["this.ctx",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"ExecutionContext\". This type does not support serialization.","code":25,"remote":true}}],["this.env",{"value":["object","[object Object]"]}],["new Request(\"http://x/\")",{"value":["object","[object Request]"]}],["new Response(\"b\")",{"value":["object","[object Response]"]}],["new Headers()",{"value":["object","[object Headers]"]}],["new URL(\"http://x\")",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"URL\". This type does not support serialization.","code":25,"remote":true}}],["new Blob([\"x\"])",{"value":["object","[object Blob]"]}],["new FormData()",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"FormData\". This type does not support serialization.","code":25,"remote":true}}],["new ReadableStream()",{"value":["object","[object ReadableStream]"]}],["new AbortController().signal",{"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal serialization is not enabled.","code":25,"remote":true}}],["new AbortController()",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"AbortController\". This type does not support serialization.","code":25,"remote":true}}],["new Date(NaN)",{"value":["object","[object Date]"]}],["Object.create(null)",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Object\". This type does not support serialization.","code":25,"remote":true}}],["Object.create({ x: 1 })",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Object\". This type does not support serialization.","code":25,"remote":true}}],["{ get x() { throw new RangeError(\"g\"); } }",{"error":{"$":"RangeError","name":"RangeError","message":"g","remote":true}}],["{ toJSON() { return 1; } }",{"value":["object","[object Object]"]}],["[() => 1]",{"value":["object","[object Array]"]}],["{ then: 5 }",{"value":["object","[object Object]"]}],["{ then() { return 1; } }",{"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"}}],["new String(\"s\")",{"value":["object","[object String]"]}],["arguments",{"error":{"$":"DOMException","name":"DataCloneError","message":"#<Object> could not be cloned.","code":25,"remote":true}}],["function* () {}",{"value":["function","[object JsRpcStub]"]}],["(function* () {})()",{"error":{"$":"DOMException","name":"DataCloneError","message":"[object Generator] could not be cloned.","code":25,"remote":true}}],["new Uint8Array(3).subarray(1)",{"value":["object","[object Uint8Array]"]}],["new Intl.NumberFormat()",{"error":{"$":"DOMException","name":"DataCloneError","message":"#<NumberFormat> could not be cloned.","code":25,"remote":true}}],["import(\"cloudflare:workers\")",{"error":{"$":"DOMException","name":"DataCloneError","message":"[object Module] could not be cloned.","code":25,"remote":true}}],["crypto",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Crypto\". This type does not support serialization.","code":25,"remote":true}}],["new WebSocketPair()",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WebSocketPair\". This type does not support serialization.","code":25,"remote":true}}],["new TransformStream()",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"TransformStream\". This type does not support serialization.","code":25,"remote":true}}],["new EventTarget()",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"EventTarget\". This type does not support serialization.","code":25,"remote":true}}],["new Event(\"x\")",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Event\". This type does not support serialization.","code":25,"remote":true}}],["new URLSearchParams(\"a=1\")",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"URLSearchParams\". This type does not support serialization.","code":25,"remote":true}}],["caches",{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"CacheStorage\". This type does not support serialization.","code":25,"remote":true}}]]}

//// case: parameters that cannot be cloned
const out = [];
const s = methods(env, 'm(v) { return [typeof v, Object.prototype.toString.call(v)]; }');
for (const v of [Symbol('s'), new WeakMap(), Promise.resolve(5), () => 1, new RpcTarget(), Math, new Proxy({ a: 1 }, {}), new (class A {})(), ctx, env, new Request('http://x/'), new Response('b'), new Headers(), new URL('http://x'), new Blob(['x']), new FormData(), new ReadableStream(), new AbortController().signal, new AbortController(), Object.create(null), { get x() { throw new RangeError('g'); } }, env.LOADER, s, class {}, async () => {}, function* () {}, new WritableStream(), new TransformStream(), new Event('x'), new URLSearchParams(), new WebSocketPair()[0], new TextEncoder(), new Intl.NumberFormat()])
  out.push(await settled((async () => s.m(v))()));
return out;
//// => {"value":[{"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(s) could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<WeakMap> could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<Promise> could not be cloned.","code":25}},{"value":["function","[object JsRpcStub]"]},{"value":["function","[object JsRpcStub]"]},{"value":["object","[object Object]"]},{"value":["function","[object JsRpcStub]"]},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"A\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"ExecutionContext\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}},{"value":["object","[object Request]"]},{"value":["object","[object Response]"]},{"value":["object","[object Headers]"]},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"URL\". This type does not support serialization.","code":25}},{"value":["object","[object Blob]"]},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"FormData\". This type does not support serialization.","code":25}},{"value":["object","[object ReadableStream]"]},{"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal serialization is not enabled.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"AbortController\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Object\". This type does not support serialization.","code":25}},{"error":{"$":"RangeError","name":"RangeError","message":"g"}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}},{"value":["function","[object JsRpcStub]"]},{"value":["function","[object JsRpcStub]"]},{"value":["function","[object JsRpcStub]"]},{"value":["object","[object WritableStream]"]},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"TransformStream\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Event\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"URLSearchParams\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WebSocket\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"TextEncoder\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<NumberFormat> could not be cloned.","code":25}}]}

//// case: dup of a function parameter, at once
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); return 1; } }
await methods(env, 'async m(t) { return await t.keep(() => 5); }').m(new T());
return await settled((async () => kept())());
//// => {"value":{"value":5}}

//// case: dup of a function parameter, later
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); return 1; } }
await methods(env, 'async m(t) { return await t.keep(() => 5); }').m(new T());
await scheduler.wait(300);
return [await settled((async () => kept())()), await settled((async () => kept())())];
//// => {"value":[{"value":5},{"value":5}]}

//// case: dup of a function parameter to a service
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); return 1; } }
using r = await methods(env, 'async m(t) { await t.keep(() => 5); return { f() { return 1; } }; }').m(new T());
await scheduler.wait(100);
return [await settled((async () => kept())()), await settled((async () => kept())())];
//// => {"value":[{"value":5},{"value":5}]}

//// case: dup of a function parameter after the result is disposed
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); return 1; } }
const r = await methods(env, 'async m(t) { await t.keep(() => 5); return { f() { return 1; } }; }').m(new T());
r[Symbol.dispose]();
await scheduler.wait(100);
return [await settled((async () => kept())()), await settled((async () => kept())())];
//// => {"value":[{"value":5},{"value":5}]}

//// case: dup of a target parameter
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); return 1; } }
await methods(env, 'async m(t) { return await t.keep(new (class extends RpcTarget { x() { return 7; } })()); }').m(new T());
await scheduler.wait(100);
return [await settled((async () => kept.x())())];
//// => {"value":[{"value":7}]}

//// case: dup and the child's io
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); return 1; } }
await methods(env, 'async m(t) { return await t.keep(async () => { await new Promise((r) => setTimeout(r, 20)); return (await fetch("http://x/").catch((e) => e.message)) }); }', { globalOutbound: ctx.exports.Outbound({}) }).m(new T());
await scheduler.wait(100);
return [await settled((async () => { const r = await kept(); return typeof r === 'string' ? r : await r.text(); })())];
//// => {"value":[{"value":"GET http://x/  {}"}]}

//// case: dup via a plain function parameter
let kept;
await methods(env, 'async m(keep) { return await keep(() => 5); }').m((f) => { kept = f.dup(); });
await scheduler.wait(100);
return [await settled((async () => kept())())];
//// => {"value":[{"value":5}]}

//// case: dup by service Echo call
let kept;
const r = await env.ECHO.call((f) => { kept = f.dup(); return 3; }, () => 9);
await scheduler.wait(100);
return [r, await settled((async () => kept())())];
//// => {"value":[3,{"value":9}]}

//// case: callback into a child after its own stubs were disposed
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); } }
await methods(env, 'async m(t) { let n = 0; await t.keep(() => ++n); return 1; }').m(new T());
const out = [await kept(), await kept()];
kept[Symbol.dispose]();
out.push(await settled((async () => kept())()));
return out;
//// => {"value":[1,2,{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}]}
