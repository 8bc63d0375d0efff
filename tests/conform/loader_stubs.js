// What stubs and classes of loaded Workers are, and what may be done with them.
//// case: name nul
return [await env.LOADER.get('a\0b', () => worker('export default { m() { return 1; } }')).getEntrypoint().m(1), await env.LOADER.get('a', () => worker('export default { m() { return 2; } }')).getEntrypoint().m(1)];
//// => {"value":[1,2]}

//// case: export kinds named
const out = [];
for (const e of ['null', 'undefined', '5', '"x"', 'true', '1n', 'Symbol()', '[]', '{}', 'new Date(0)', '() => 1', 'function () {}', 'class {}', 'async () => 1', 'new Map()', 'Promise.resolve(1)', 'new Proxy({}, {})', 'Object.create(null)', 'Object.create({ m() { return 1; } })', '{ m: 5 }', 'globalThis'])
  out.push([e, await settled((async () => env.LOADER.load(worker('export default { m() { return "d"; } }; export const A = (' + e + ');')).getEntrypoint().m(1))())]);
return out;
//// => {"value":[["null",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}],["undefined",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}],["5",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'A': the provided value is not of type 'function or ExportedHandler'."}}],["\"x\"",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'A': the provided value is not of type 'function or ExportedHandler'."}}],["true",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'A': the provided value is not of type 'function or ExportedHandler'."}}],["1n",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'A': the provided value is not of type 'function or ExportedHandler'."}}],["Symbol()",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'A': the provided value is not of type 'function or ExportedHandler'."}}],["[]",{"value":"d"}],["{}",{"value":"d"}],["new Date(0)",{"value":"d"}],["() => 1",{"value":"d"}],["function () {}",{"value":"d"}],["class {}",{"value":"d"}],["async () => 1",{"value":"d"}],["new Map()",{"value":"d"}],["Promise.resolve(1)",{"value":"d"}],["new Proxy({}, {})",{"value":"d"}],["Object.create(null)",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nExported value's prototype chain does not end in Object."}}],["Object.create({ m() { return 1; } })",{"value":"d"}],["{ m: 5 }",{"value":"d"}],["globalThis",{"value":"d"}]]}

//// case: export let unset
return await env.LOADER.load(worker('export let a; export default { m() { return 1; } }')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}

//// case: exports in tdz by cycle
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'export * from "./b.js"; export default { m() { return 1; } }', 'b.js': 'export const a = 1, f = () => 1; export class C {}' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'a': the provided value is not of type 'function or ExportedHandler'."}}

//// case: own properties and fields of a class
const s = methods(env, 'f = 5; g = () => 6; get h() { return 7; } get k() { return () => 8; } constructor() { super(...arguments); this.own = () => 9; }');
const out = [];
for (const name of ['f', 'g', 'h', 'k', 'own', 'env', 'ctx']) { out.push([name, await settled((async () => s[name])()), await settled((async () => s[name]())())]); }
return out;
//// => {"value":[["f",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"f\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"f\".","remote":true}}],["g",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"g\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"g\".","remote":true}}],["h",{"value":7},{"error":{"$":"TypeError","name":"TypeError","message":"\"h\" is not a function.","remote":true}}],["k",{"value":{"$":"function"}},{"value":8}],["own",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"own\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"own\".","remote":true}}],["env",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"env\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"env\".","remote":true}}],["ctx",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"ctx\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"ctx\".","remote":true}}]]}

//// case: stub properties
const s = env.LOADER.load(worker('export default {}'));
const e = s.getEntrypoint();
return [Object.prototype.toString.call(e), typeof e, Object.keys(e), Object.getOwnPropertyNames(Object.getPrototypeOf(e)).sort(), e.constructor?.name, Symbol.dispose in s, Symbol.dispose in e, Symbol.asyncDispose in e, typeof e.fetch, typeof e.connect, typeof e.get, typeof e.put, typeof e.delete, typeof e.queue, typeof e.scheduled, typeof e.dup, typeof e.then, typeof e.anything, 'anything' in e, String(e.anything), typeof e.a.b.c];
//// => {"value":["[object Fetcher]","object",[],["connect","constructor","fetch","getRpcMethodForTestOnly"],"Fetcher",false,false,false,"function","function","function","function","function","function","function","function","undefined","function",true,"[object JsRpcProperty]","function"]}

//// case: detached methods
const out = [];
for (const f of [env.LOADER.get, env.LOADER.load, env.LOADER.load(worker('')).getEntrypoint]) { try { f.call({}, {}); } catch (e) { out.push(show(e)); } try { f(); } catch (e) { out.push(show(e)); } }
return out;
//// => {"value":[{"$":"TypeError","name":"TypeError","message":"Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."},{"$":"TypeError","name":"TypeError","message":"Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."},{"$":"TypeError","name":"TypeError","message":"Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."},{"$":"TypeError","name":"TypeError","message":"Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."},{"$":"TypeError","name":"TypeError","message":"Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."},{"$":"TypeError","name":"TypeError","message":"Illegal invocation: function called with incorrect `this` reference. See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details."}]}

//// case: class of an object
const s = env.LOADER.load(worker('import { DurableObject } from "cloudflare:workers"; export class A extends DurableObject {} export default {}'));
const c = s.getDurableObjectClass('A');
return [Object.prototype.toString.call(c), typeof c, Object.getOwnPropertyNames(Object.getPrototypeOf(c)), c.constructor.name];
//// => {"value":["[object DurableObjectClass]","object",["constructor"],"DurableObjectClass"]}

//// case: an object class as an rpc argument
const s = env.LOADER.load(worker('import { DurableObject } from "cloudflare:workers"; export class A extends DurableObject {} export default {}'));
return await env.ECHO.echo(s.getDurableObjectClass('A'));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: an object class in env of another
const s = env.LOADER.load(worker('import { DurableObject } from "cloudflare:workers"; export class A extends DurableObject {} export default {}'));
return await methods(env, 'm() { return 1; }', { env: { C: s.getDurableObjectClass('A') } }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: loopback uninvoked over rpc
return await env.ECHO.echo(ctx.exports.Echo);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.","code":25}}

//// case: loopback invoked over rpc
const e = await env.ECHO.echo(ctx.exports.Echo({ props: { a: 5 } }));
return await e.props();
//// => {"value":{"a":5}}

//// case: loopback invoked with bad options
const out = [];
for (const o of [undefined, null, 5, 'x', { props: 5 }, { props: null }, {}, { props: { f() {} } }]) { try { out.push(typeof ctx.exports.Echo(o)); } catch (e) { out.push(show(e)); } }
return out;
//// => {"value":["object","object",{"$":"TypeError","name":"TypeError","message":"Failed to execute '(called as function)' on 'LoopbackServiceStub': parameter 1 is not of type 'Options'."},{"$":"TypeError","name":"TypeError","message":"Failed to execute '(called as function)' on 'LoopbackServiceStub': parameter 1 is not of type 'Options'."},{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'Options': the provided value is not of type 'Object'."},{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'Options': the provided value is not of type 'Object'."},"object",{"$":"DOMException","name":"DataCloneError","message":"f() {} could not be cloned.","code":25}]}

//// case: JSON of stubs
const s = env.LOADER.load(worker('export default {}'));
return [JSON.stringify(s), JSON.stringify(env.LOADER), String(s), String(env.LOADER)];
//// => {"value":["{}","{}","[object WorkerStub]","[object WorkerLoader]"]}

//// case: child returns its env stubs
const s = methods(env, 'm() { return this.env.E; }', { env: { E: env.ECHO } });
using e = await s.m();
return await e.echo(5);
//// => {"value":5}

//// case: child returns itself by exports
const s = methods(env, 'm() { return this.ctx.exports.default; } n() { return this.ctx.exports.default({}); }');
return [await settled(s.m()), await settled(s.n())];
//// => {"value":[{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.","code":25,"remote":true}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25,"remote":true}}]}

//// case: child passes itself to the parent as a parameter
const s = methods(env, 'async m(t) { return await t.f(this.ctx.exports.default({})); }');
class T extends RpcTarget { async f(x) { return typeof x; } }
return await s.m(new T());
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25,"remote":true}}

//// case: child sends a loaded worker's entrypoint to itself
return await methods(env, 'm() { return 1; }').m(env.LOADER.load(worker('')).getEntrypoint());
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: nested loader by config id
return await methods(env, 'm() { return typeof this.env.L; }', { env: { L: env.SELF } }).m();
//// => {"value":"object"}

//// case: json import errors
const out = [];
for (const json of ['{', '', 'undefined', '{"a":1,}', '[1,\n2,\n,]', 'nul', '"a\nb"']) {
  out.push(await settled((async () => env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: { toJSON() { return undefined; } } } } }).getEntrypoint().m(1))()));
}
return out[0];
//// => {"value":{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: \"undefined\" is not valid JSON\n:1"}}}

//// case: startup frames of functions
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import { f } from "./b.js"; class A { static g() { return f(); } } [1].forEach(() => A.g()); export default {}', 'b.js': 'export function f() { structuredClone(() => 1); }' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught DOMException(DataCloneError): () => 1 could not be cloned.\n  at b.js:1:23 in f\n  at m.js:1:59 in g\n  at m.js:1:88\n  at m.js:1:72"}}

//// case: startup error of a url
return await env.LOADER.load(worker('function f() { new URL("nope"); }\nf();')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Invalid URL string.\n  at main.js:1:16 in f\n  at main.js:2:1"}}

//// case: startup error of a class constructor
return await env.LOADER.load(worker('new Response("x", { status: 1000 });')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught RangeError: Responses may only be constructed with status codes in the range 200 to 599, inclusive.\n  at main.js:1:1"}}

//// case: startup error in a promise
return await env.LOADER.load(worker('await (async () => { await null; new Headers({ "bad header": "x" }); })();')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Invalid header name.\n  at main.js:1:34"}}

//// case: startup error with a custom class
return await env.LOADER.load(worker('class MyError extends Error { name = "MyError" } throw new MyError("x");')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: MyError: x\n  at main.js:1:56"}}

//// case: startup DOMException
return await env.LOADER.load(worker('throw new DOMException("d", "AbortError");')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught DOMException(AbortError): d\n  at main.js:1:7"}}

//// case: startup error with a long message
return (await settled(env.LOADER.load(worker('throw new Error("x".repeat(20000));')).getEntrypoint().m(1))).error.message.length;
//// => {"value":20057}

//// case: startup error with lines in the message
return await env.LOADER.load(worker('throw new Error("a\\nb");')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: a\nb\n  at main.js:1:7"}}

//// case: startup stack overflow
return await env.LOADER.load(worker('function f() { f(); } f();')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught RangeError: Maximum call stack size exceeded\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f\n  at main.js:1:1 in f"}}

//// case: startup aggregate
return await env.LOADER.load(worker('await Promise.any([Promise.reject(new Error("x"))]);')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught AggregateError: All promises were rejected"}}

//// case: startup error with a cause
return await env.LOADER.load(worker('throw new Error("a", { cause: new Error("b") });')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: a\n  at main.js:1:7"}}

//// case: startup unhandled rejection
return await env.LOADER.load(worker('Promise.reject(new Error("u")); export default { m() { return 1; } }')).getEntrypoint().m(1);
//// => {"value":1}

//// case: startup wait for microtasks
return await env.LOADER.load(worker('let x = 0; (async () => { for (let i = 0; i < 1000; i++) await null; x = 1; })(); export default { m() { return x; } }')).getEntrypoint().m(1);
//// => {"value":1}

//// case: abort signal reasons
return [AbortSignal.abort().reason, AbortSignal.abort().reason.retryable, Object.keys(AbortSignal.abort().reason)];
//// => {"value":[{"$":"DOMException","name":"AbortError","message":"The operation was aborted","code":20,"retryable":true},true,["code","name","message","stack","retryable"]]}

//// case: loopback fetch with a bad second argument
return await settled((async () => fetch('http://x', 5))());
//// => {"value":{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'fetch' on 'ServiceWorkerGlobalScope': parameter 2 is not of type 'RequestInitializerDict or Request'."}}}

//// case: aborted signal across rpc
const c = new AbortController(); c.abort();
return await methods(env, 'm(s) { return [Object.keys(s.reason), s.reason.retryable, s.reason.name]; }').m(c.signal);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal serialization is not enabled.","code":25}}

//// case: aborting a fetch to a child
const c = new AbortController();
const p = settled(methods(env, 'async fetch() { await new Promise((r) => setTimeout(r, 500)); return new Response("x"); }').fetch('http://x/', { signal: c.signal }));
c.abort();
return await p;
//// => {"value":{"error":{"$":"DOMException","name":"AbortError","message":"The operation was aborted","code":20,"retryable":true}}}

//// case: aborting global fetch
const c = new AbortController();
c.abort();
return await settled(fetch('http://x/', { signal: c.signal }));
//// => {"value":{"error":{"$":"DOMException","name":"AbortError","message":"The operation was aborted","code":20,"retryable":true}}}

//// case: timeout fetch to a child
return await settled(methods(env, 'async fetch() { await new Promise((r) => setTimeout(r, 500)); return new Response("x"); }').fetch('http://x/', { signal: AbortSignal.timeout(5) }));
//// => {"value":{"error":{"$":"DOMException","name":"TimeoutError","message":"The operation was aborted due to timeout","code":23,"retryable":true}}}

//// case: arg to an env service, kept by it
const s = methods(env, 'async m() { return await this.env.E.call((f) => 1, 1); }', { env: { E: env.ECHO } });
return await settled(s.m());
//// => {"value":{"value":1}}

//// case: dup of an arg given by the child to a callback of the parent given to a service
let kept;
class T extends RpcTarget { keep(f) { kept = f.dup(); } }
const s = methods(env, 'async m(t) { const f = () => 5; await this.env.E.call(t.keep, f); return 1; }', { env: { E: env.ECHO } });
const r = await settled(s.m(new T()));
await scheduler.wait(50);
return [r, await settled((async () => kept())())];
//// => {"value":[{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"RpcProperty\". This type does not support serialization.","code":25,"remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"kept is not a function"}}]}

//// case: a result of a parent's callback kept by a child
const s = methods(env, 'async m(cb) { globalThis.kept = await cb(); return { use: async () => await globalThis.kept.x() }; }');
using r = await s.m(() => new (class extends RpcTarget { x() { return 7; } })());
await scheduler.wait(50);
return await settled(r.use());
//// => {"value":{"value":7}}

//// case: a callback given to a stub of a result
const s = methods(env, 'm() { let f; return new (class extends RpcTarget { keep(g) { f = g.dup(); } async use() { return await f(); } })(); }');
using r = await s.m();
await r.keep(() => 8);
await scheduler.wait(50);
return await settled(r.use());
//// => {"value":{"value":8}}

//// case: export kinds default
const out = [];
for (const e of ['null', 'undefined', '5', '"x"', 'true', '1n', 'Symbol()', '[]', '{}', 'new Date(0)', 'new Map()', 'Promise.resolve(1)', 'new Proxy({}, {})', 'Object.create(null)', 'Object.create({ m() { return 1; } })', '{ m: 5 }', 'globalThis'])
  out.push([e, await settled((async () => env.LOADER.load(worker('export default (' + e + ');')).getEntrypoint().m(1))())]);
return out;
//// => {"value":[["null",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}],["undefined",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}],["5",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'default': the provided value is not of type 'function or ExportedHandler'."}}],["\"x\"",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'default': the provided value is not of type 'function or ExportedHandler'."}}],["true",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'default': the provided value is not of type 'function or ExportedHandler'."}}],["1n",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'default': the provided value is not of type 'function or ExportedHandler'."}}],["Symbol()",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'default': the provided value is not of type 'function or ExportedHandler'."}}],["[]",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["{}",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["new Date(0)",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["new Map()",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["Promise.resolve(1)",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["new Proxy({}, {})",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["Object.create(null)",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nExported value's prototype chain does not end in Object."}}],["Object.create({ m() { return 1; } })",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["{ m: 5 }",{"error":{"$":"TypeError","name":"TypeError","message":"\"m\" is not a function.","remote":true}}],["globalThis",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}]]}

//// case: export kinds named called
const out = [];
for (const e of ['null', 'undefined', '[]', '{}', 'new Date(0)', 'new Map()', 'Object.create({ m() { return 1; } })', '{ m: 5 }', '{ m: () => 7 }', '{ get m() { return () => 8; } }', '{ get m() { throw new RangeError("g"); } }', '{ m() { return [arguments.length, typeof this]; } }'])
  out.push([e, await settled((async () => env.LOADER.load(worker('export default { m() { return "d"; } }; export const A = (' + e + ');')).getEntrypoint('A').m(1))())]);
return out;
//// => {"value":[["null",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}],["undefined",{"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}],["[]",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["{}",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["new Date(0)",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["new Map()",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["Object.create({ m() { return 1; } })",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}],["{ m: 5 }",{"error":{"$":"TypeError","name":"TypeError","message":"\"m\" is not a function.","remote":true}}],["{ m: () => 7 }",{"value":7}],["{ get m() { return () => 8; } }",{"value":8}],["{ get m() { throw new RangeError(\"g\"); } }",{"error":{"$":"RangeError","name":"RangeError","message":"g","remote":true}}],["{ m() { return [arguments.length, typeof this]; } }",{"value":[3,"object"]}]]}

//// case: WorkerEntrypoint constructor arguments
const { WorkerEntrypoint, DurableObject, WorkflowEntrypoint } = await import('cloudflare:workers');
const out = [];
for (const C of [WorkerEntrypoint, DurableObject, WorkflowEntrypoint]) {
  for (const a of [[], [undefined], [null], [5], [{}], [{}, undefined], [{}, null], [{}, 5], [{}, {}], ['x', {}], [ctx, env], [() => 1, {}]]) {
    try { const o = new (class X extends C {})(...a); out.push([C.name, Object.keys(o), o.env === a[1], o.ctx === a[0]]); } catch (e) { out.push([C.name, show(e)]); }
  }
  try { out.push(show(new C(ctx, env))); } catch (e) { out.push(show(e)); }
  out.push([C.length, Object.getOwnPropertyNames(C.prototype)]);
}
return out;
//// => {"value":[["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 1 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 1 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 1 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 1 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 2 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 2 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 2 is not of type 'Object'."}],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 2 is not of type 'Object'."}],["WorkerEntrypoint",["ctx","env"],true,true],["WorkerEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 1 is not of type 'Object'."}],["WorkerEntrypoint",["ctx","env"],true,true],["WorkerEntrypoint",["ctx","env"],true,true],{"$":"WorkerEntrypoint"},[0,["constructor"]],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],["DurableObject",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."}],{"$":"TypeError","name":"TypeError","message":"Failed to construct 'DurableObjectBase': constructor parameter 1 is not of type 'DurableObjectState'."},[0,["constructor"]],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],["WorkflowEntrypoint",["ctx","env"],true,true],["WorkflowEntrypoint",{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkflowEntrypoint': constructor parameter 1 is not of type 'ExecutionContext'."}],{"$":"WorkflowEntrypoint"},[0,["constructor"]]]}

//// case: eval and its kin in a loaded worker
const out = [];
for (const c of ['eval("1")', 'new Function("return 1")()', '(async () => {}).constructor("return 1")', 'new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0]))', 'await WebAssembly.compile(new Uint8Array([0,97,115,109,1,0,0,0]))', 'await WebAssembly.instantiate(new Uint8Array([0,97,115,109,1,0,0,0]))', 'await import("data:text/javascript,1")', 'new Worker("x")', 'importScripts("x")', 'WebAssembly.validate(new Uint8Array(1))', 'typeof SharedArrayBuffer', 'typeof Atomics', 'typeof process', 'typeof require', 'typeof Buffer', 'typeof global', 'typeof gc', 'typeof d8', 'typeof print'])
  out.push([c, await settled(methods(env, `async m() { const r = ${c}; return typeof r === "object" || typeof r === "function" ? Object.prototype.toString.call(r) : r; }`).m())]);
return out;
//// => {"value":[["eval(\"1\")",{"error":{"$":"EvalError","name":"EvalError","message":"Code generation from strings disallowed for this context","remote":true}}],["new Function(\"return 1\")()",{"error":{"$":"EvalError","name":"EvalError","message":"Code generation from strings disallowed for this context","remote":true}}],["(async () => {}).constructor(\"return 1\")",{"error":{"$":"EvalError","name":"EvalError","message":"Code generation from strings disallowed for this context","remote":true}}],["new WebAssembly.Module(new Uint8Array([0,97,115,109,1,0,0,0]))",{"error":{"$":"Error","name":"CompileError","message":"WebAssembly.Module(): Wasm code generation disallowed by embedder","remote":true}}],["await WebAssembly.compile(new Uint8Array([0,97,115,109,1,0,0,0]))",{"error":{"$":"Error","name":"CompileError","message":"WebAssembly.compile(): Wasm code generation disallowed by embedder","remote":true}}],["await WebAssembly.instantiate(new Uint8Array([0,97,115,109,1,0,0,0]))",{"error":{"$":"Error","name":"CompileError","message":"WebAssembly.instantiate(): Wasm code generation disallowed by embedder","remote":true}}],["await import(\"data:text/javascript,1\")",{"error":{"$":"Error","name":"Error","message":"No such module \"data:text/javascript,1\".","remote":true}}],["new Worker(\"x\")",{"error":{"$":"ReferenceError","name":"ReferenceError","message":"Worker is not defined","remote":true}}],["importScripts(\"x\")",{"error":{"$":"ReferenceError","name":"ReferenceError","message":"importScripts is not defined","remote":true}}],["WebAssembly.validate(new Uint8Array(1))",{"value":false}],["typeof SharedArrayBuffer",{"value":"function"}],["typeof Atomics",{"value":"object"}],["typeof process",{"value":"object"}],["typeof require",{"value":"undefined"}],["typeof Buffer",{"value":"function"}],["typeof global",{"value":"object"}],["typeof gc",{"value":"undefined"}],["typeof d8",{"value":"undefined"}],["typeof print",{"value":"undefined"}]]}

//// case: reserved rpc names on handlers
const s = env.LOADER.load(worker('export default { m() { return 1; }, fetch() { return new Response("f"); }, connect() { return "c"; }, dup() { return "d"; }, alarm() { return "a"; }, constructor() { return "k"; }, then() { return "t"; }, webSocketMessage() {}, scheduled() { return "s"; }, tail() { return 1; }, test() {return 2}, queue() {}, trace() {}, email() {}, tailStream() {} }')).getEntrypoint();
const out = [];
for (const name of ['fetch', 'connect', 'dup', 'alarm', 'webSocketMessage', 'scheduled', 'tail', 'test', 'queue', 'trace', 'email', 'tailStream', 'toString', '__proto__', 'hasOwnProperty', '', ' ', 'nope']) out.push([name, await settled((async () => s[name](1))())]);
return out;
//// => {"value":[["fetch",{"error":{"$":"TypeError","name":"TypeError","message":"Invalid URL: 1"}}],["connect",{"error":{"$":"TypeError","name":"TypeError","message":"Specified address is missing port."}}],["dup",{"error":{"$":"TypeError","name":"TypeError","message":"'dup' is a reserved method and cannot be called over RPC.","remote":true}}],["alarm",{"error":{"$":"TypeError","name":"TypeError","message":"'alarm' is a reserved method and cannot be called over RPC.","remote":true}}],["webSocketMessage",{"error":{"$":"TypeError","name":"TypeError","message":"'webSocketMessage' is a reserved method and cannot be called over RPC.","remote":true}}],["scheduled",{"value":"s"}],["tail",{"value":1}],["test",{"value":2}],["queue",{"value":{"$":"undefined"}}],["trace",{"value":{"$":"undefined"}}],["email",{"value":{"$":"undefined"}}],["tailStream",{"value":{"$":"undefined"}}],["toString",{"value":"[object Fetcher]"}],["__proto__",{"error":{"$":"TypeError","name":"TypeError","message":"s[name] is not a function"}}],["hasOwnProperty",{"value":false}],["",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"\".","remote":true}}],[" ",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \" \".","remote":true}}],["nope",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"nope\".","remote":true}}]]}

//// case: reserved rpc names on classes
const s = methods(env, 'm() { return 1; } fetch() { return new Response("f"); } connect() { return "c"; } dup() { return "d"; } alarm() { return "a"; } then() { return "t"; } webSocketMessage() {} scheduled() { return "s"; } tail() { return 1; } test() {return 2} queue() {} trace() {} email() {} tailStream() {} ["a b"]() { return "sp"; } static st() { return 1; } #p() {} ');
const out = [];
for (const name of ['connect', 'dup', 'alarm', 'webSocketMessage', 'scheduled', 'tail', 'test', 'queue', 'trace', 'email', 'tailStream', 'toString', '__proto__', 'hasOwnProperty', '', 'a b', 'nope', 'st', '#p', 'env', 'ctx']) out.push([name, await settled((async () => s[name](1))())]);
return out;
//// => {"value":[["connect",{"error":{"$":"TypeError","name":"TypeError","message":"Specified address is missing port."}}],["dup",{"error":{"$":"TypeError","name":"TypeError","message":"'dup' is a reserved method and cannot be called over RPC.","remote":true}}],["alarm",{"error":{"$":"TypeError","name":"TypeError","message":"'alarm' is a reserved method and cannot be called over RPC.","remote":true}}],["webSocketMessage",{"error":{"$":"TypeError","name":"TypeError","message":"'webSocketMessage' is a reserved method and cannot be called over RPC.","remote":true}}],["scheduled",{"value":"s"}],["tail",{"value":1}],["test",{"value":2}],["queue",{"value":{"$":"undefined"}}],["trace",{"value":{"$":"undefined"}}],["email",{"value":{"$":"undefined"}}],["tailStream",{"value":{"$":"undefined"}}],["toString",{"value":"[object Fetcher]"}],["__proto__",{"error":{"$":"TypeError","name":"TypeError","message":"s[name] is not a function"}}],["hasOwnProperty",{"value":false}],["",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"\".","remote":true}}],["a b",{"value":"sp"}],["nope",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"nope\".","remote":true}}],["st",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"st\".","remote":true}}],["#p",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"#p\".","remote":true}}],["env",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"env\".","remote":true}}],["ctx",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"ctx\".","remote":true}}]]}

//// case: structuredClone of stubs
const out = [];
const s = env.LOADER.load(worker('export default {}'));
for (const v of [s, s.getEntrypoint(), env.LOADER, env.SELF]) { try { out.push(show(structuredClone(v))); } catch (e) { out.push(show(e)); } }
return out;
//// => {"value":[{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerStub\". This type does not support serialization.","code":25},{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25},{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25},{"$":"DOMException","name":"DataCloneError","message":"ServiceStub cannot be serialized in this context.","code":25}]}
