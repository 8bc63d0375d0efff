// get and its callback, entrypoints, props, env, outbound, tails and limits, with every kind of value.
//// case: get with a symbol
return env.LOADER.get(Symbol('x'), () => 1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a string"}}

//// case: get with an object whose toString throws
return env.LOADER.get({ toString() { throw new RangeError('ts'); } }, () => 1);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"ts"}}

//// case: order of name and callback conversions
const log = [];
try { env.LOADER.get({ toString() { log.push('toString'); return 'x'; } }, 5); } catch (e) { log.push(e.message); }
return log;
//// => {"value":["toString","Failed to execute 'get' on 'WorkerLoader': parameter 2 is not of type 'function'."]}

//// case: get with null callback
return env.LOADER.get('a', null);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'get' on 'WorkerLoader': parameter 2 is not of type 'function'."}}

//// case: get with undefined name and no callback
return env.LOADER.get(undefined);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'get' on 'WorkerLoader': parameter 2 is not of type 'function'."}}

//// case: get with a class as callback
return await env.LOADER.get('a', class {}).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Class constructors cannot be invoked without 'new'"}}

//// case: get with a generator callback
return await env.LOADER.get('a', function* () {}).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'modules' field on 'WorkerCode': the provided value is not of type 'object'."}}

//// case: get callback's this and arguments
let seen;
env.LOADER.get('a', function (...args) { seen = [this === undefined, typeof this, args.length]; return worker('export default {}'); });
await scheduler.wait(20);
return seen;
//// => {"value":[false,"object",0]}

//// case: callback returns a number
return await env.LOADER.get('a', () => 5).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Callback returned incorrect type; expected 'Promise'"}}

//// case: callback returns a string
return await env.LOADER.get('a', () => 'x').getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Callback returned incorrect type; expected 'Promise'"}}

//// case: callback returns null
return await env.LOADER.get('a', () => null).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot initialize N7workerd3api12WorkerLoader10WorkerCodeE with required members from an undefined or null value."}}

//// case: callback resolves to a number
return await env.LOADER.get('a', async () => 5).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for Promise: the Promise did not resolve to 'WorkerCode'."}}

//// case: callback resolves to a string
return await env.LOADER.get('a', async () => 'x').getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for Promise: the Promise did not resolve to 'WorkerCode'."}}

//// case: callback resolves to null
return await env.LOADER.get('a', async () => null).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot initialize N7workerd3api12WorkerLoader10WorkerCodeE with required members from an undefined or null value."}}

//// case: callback resolves to an array
return await env.LOADER.get('a', async () => []).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'modules' field on 'WorkerCode': the provided value is not of type 'object'."}}

//// case: callback resolves to a function
return await env.LOADER.get('a', async () => () => 1).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'modules' field on 'WorkerCode': the provided value is not of type 'object'."}}

//// case: callback returns a thenable
return await env.LOADER.get('a', () => ({ then(r) { r(worker('export default { m() { return 1; } }')); } })).getEntrypoint().m(1);
//// => {"value":1}

//// case: callback returns a code with an own then property
return await env.LOADER.get('a', () => ({ ...worker('export default { m() { return 1; } }'), then: 5 })).getEntrypoint().m(1);
//// => {"value":1}

//// case: callback rejects with a string
return await env.LOADER.get('a', async () => { throw 'text'; }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"text"}}

//// case: callback rejects with undefined
return await env.LOADER.get('a', async () => { throw undefined; }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"undefined"}}

//// case: callback rejects with null
return await env.LOADER.get('a', async () => { throw null; }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"null"}}

//// case: callback rejects with an object
return await env.LOADER.get('a', async () => { throw { a: 1 }; }).getEntrypoint().m(1);
//// => {"error":{"a":1}}

//// case: callback rejects with an error with properties
return await env.LOADER.get('a', async () => { throw Object.assign(new RangeError('x'), { code: 5, nested: { a: 1 } }); }).getEntrypoint().m(1);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"x","code":5,"nested":{"a":1}}}

//// case: callback rejects with an error with a cause
return await env.LOADER.get('a', async () => { throw new RangeError('x', { cause: new Error('why') }); }).getEntrypoint().m(1);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"x","cause":{"$":"Error","name":"Error","message":"why"}}}

//// case: callback rejects with a DOMException
return await env.LOADER.get('a', async () => { throw new DOMException('dom', 'AbortError'); }).getEntrypoint().m(1);
//// => {"error":{"$":"DOMException","name":"AbortError","message":"dom","code":20}}

//// case: callback rejects with a custom error
class MyError extends Error { constructor(m) { super(m); this.name = 'MyError'; } }
return await env.LOADER.get('a', async () => { throw new MyError('mine'); }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"MyError","message":"mine"}}

//// case: the very error of the callback
const error = new RangeError('same');
try { await env.LOADER.get('a', async () => { throw error; }).getEntrypoint().m(1); } catch (e) { return e === error; }
//// => {"value":false}

//// case: callback's error for two calls
const s = env.LOADER.get('a', async () => { throw new RangeError('both'); }).getEntrypoint();
return await Promise.all([settled(s.m(1)), settled(s.m(1)), settled(s.fetch('http://x/'))]);
//// => {"value":[{"error":{"$":"RangeError","name":"RangeError","message":"both"}},{"error":{"$":"RangeError","name":"RangeError","message":"both"}},{"error":{"$":"RangeError","name":"RangeError","message":"both"}}]}

//// case: callback gives bad code
return await env.LOADER.get('a', async () => worker('export default {}', { env: 5 })).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}}

//// case: callback gives bad flags
return await env.LOADER.get('a', async () => worker('export default {}', { compatibilityFlags: ['nope'] })).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"No such compatibility flag: nope"}}

//// case: callback gives code with a syntax error
return await env.LOADER.get('a', async () => worker('export default {')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Unexpected end of input\n  at main.js:1:16"}}

//// case: callback gives uncloneable env
return await env.LOADER.get('a', async () => worker('export default {}', { env: { f() {} } })).getEntrypoint().m(1);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"f() {} could not be cloned.","code":25}}

//// case: callback gives code with a throwing getter
return await env.LOADER.get('a', async () => ({ get compatibilityDate() { throw new RangeError('getter'); } })).getEntrypoint().m(1);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"getter"}}

//// case: a slow callback and calls meanwhile
let resolve;
const s = env.LOADER.get('a', () => new Promise((r) => { resolve = r; })).getEntrypoint();
const calls = [s.m(1), s.m(2), s.m(3)];
await scheduler.wait(10);
resolve(worker('let n = 0; export default { m(x) { return [x, ++n]; } }'));
return await Promise.all(calls);
//// => {"value":[[1,1],[2,2],[3,3]]}

//// case: a callback that uses the loader itself
return await env.LOADER.get('a', async () => { const source = await methods(env, 'm() { return "export default { m() { return 7; } }"; }').m(); return worker(source); }).getEntrypoint().m(1);
//// => {"value":7}

//// case: a callback that gets the same name
let inner;
const s = env.LOADER.get('a', async () => { inner = env.LOADER.get('a', () => worker('export default { m() { return "inner"; } }')); return worker('export default { m() { return "outer"; } }'); });
const outer = await s.getEntrypoint().m(1);
return [outer, await inner.getEntrypoint().m(1)];
//// => {"value":["outer","outer"]}

//// case: loadeds of one name and other code
const a = env.LOADER.get('n', () => worker('export default { m() { return "A"; } }'));
const b = env.LOADER.get('n', () => worker('export default { m() { return "B"; } }'));
return [await a.getEntrypoint().m(1), await b.getEntrypoint().m(1), a === b];
//// => {"value":["A","A",false]}

//// case: globals are shared between gets of one name
const code = () => worker('globalThis.n ??= 0; export default { m() { return ++globalThis.n; } }');
return [await env.LOADER.get('g', code).getEntrypoint().m(1), await env.LOADER.get('g', code).getEntrypoint().m(1)];
//// => {"value":[1,2]}

//// case: one stub, many entrypoints
const s = env.LOADER.load(worker('globalThis.n ??= 0; export default { m() { return ++globalThis.n; } }'));
return [await s.getEntrypoint().m(1), await s.getEntrypoint().m(1), await s.getEntrypoint('default').m(1), await s.getEntrypoint(null).m(1), await s.getEntrypoint(undefined).m(1)];
//// => {"value":[1,2,3,4,5]}

//// case: entrypoint names
const s = env.LOADER.load(worker('export default { m() { return 1; } }'));
const out = [];
for (const name of ['', 5, {}, true, 'toString', '__proto__', 'constructor', 'hasOwnProperty', 'then', 'Default']) out.push(await settled(s.getEntrypoint(name).m(1)));
return out;
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: "}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: 5"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: [object Object]"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: true"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: toString"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: __proto__"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: constructor"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: hasOwnProperty"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: then"}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: Default"}}]}

//// case: entrypoint symbol
return env.LOADER.load(worker('export default {}')).getEntrypoint(Symbol('x'));
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a string"}}

//// case: entrypoint options kinds
const s = env.LOADER.load(worker('export default { m() { return 1; } }'));
const out = [];
for (const options of [null, undefined, {}, 5, 'x', [], () => 1, true]) out.push(await settled((async () => s.getEntrypoint(null, options).m(1))()));
return out;
//// => {"value":[{"value":1},{"value":1},{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'getEntrypoint' on 'WorkerStub': parameter 2 is not of type 'EntrypointOptions'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'getEntrypoint' on 'WorkerStub': parameter 2 is not of type 'EntrypointOptions'."}},{"value":1},{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'getEntrypoint' on 'WorkerStub': parameter 2 is not of type 'EntrypointOptions'."}}]}

//// case: props kinds
const s = env.LOADER.load(worker('import { WorkerEntrypoint as W } from "cloudflare:workers"; export default class extends W { m() { return [this.ctx.props, Array.isArray(this.ctx.props)]; } }'));
const out = [];
for (const props of [null, undefined, {}, 5, 'x', [1], true, 1n, new Date(0), new Map([[1, 2]]), new Uint8Array(2), new Error('e'), new String('s'), /x/g, new Set([1]), new Blob(['x']), Promise.resolve(1), () => 1, class {}, Symbol('s')]) out.push(await settled((async () => s.getEntrypoint(null, { props }).m())()));
return out;
//// => {"value":[{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."}},{"value":[{},false]},{"value":[{},false]},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."}},{"value":[[1],true]},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."}},{"value":[{"$":"Date","value":0},false]},{"value":[{"$":"Map","value":[[1,2]]},false]},{"value":[{"$":"Uint8Array","value":[0,0]},false]},{"value":[{"$":"Error","name":"Error","message":"e"},false]},{"value":[{"$":"String"},false]},{"value":[{"$":"RegExp","value":"/x/g"},false]},{"value":[{"$":"Set","value":[1]},false]},{"value":[{"$":"Blob"},false]},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<Promise> could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"() => 1 could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"class {} could not be cloned.","code":25}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."}}]}

//// case: props cyclic
const s = env.LOADER.load(worker('import { WorkerEntrypoint as W } from "cloudflare:workers"; export default class extends W { m() { return this.ctx.props.self === this.ctx.props; } }'));
const props = {}; props.self = props;
return await s.getEntrypoint(null, { props }).m();
//// => {"value":true}

//// case: props shared references
const s = env.LOADER.load(worker('import { WorkerEntrypoint as W } from "cloudflare:workers"; export default class extends W { m() { return this.ctx.props.a === this.ctx.props.b; } }'));
const x = {};
return await s.getEntrypoint(null, { props: { a: x, b: x } }).m();
//// => {"value":true}

//// case: props changed by the child
const s = env.LOADER.load(worker('import { WorkerEntrypoint as W } from "cloudflare:workers"; export default class extends W { m() { this.ctx.props.n = (this.ctx.props.n ?? 0) + 1; return this.ctx.props.n; } }'));
const e = s.getEntrypoint(null, { props: {} });
return [await e.m(), await e.m()];
//// => {"value":[1,1]}

//// case: props with functions and targets
const s = env.LOADER.load(worker('import { WorkerEntrypoint as W } from "cloudflare:workers"; export default class extends W { m() { return 1; } }'));
const out = [];
for (const props of [{ f() {} }, { t: new RpcTarget() }, { s: new ReadableStream() }, { r: new Response('x') }, { q: new Request('http://x/') }, { a: new AbortController().signal }, { l: env.LOADER }, { w: s }, { e: s.getEntrypoint() }, { x: ctx.exports.Echo }, { h: new Headers() }, { u: new URL('http://x/') }]) out.push(await settled((async () => s.getEntrypoint(null, { props }).m())()));
return out;
//// => {"value":[{"error":{"$":"DOMException","name":"DataCloneError","message":"f() {} could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Remote RPC references can only be serialized for RPC.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"ReadableStream can only be serialized for RPC.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"ReadableStream can only be serialized for RPC.","code":25}},{"value":1},{"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal serialization is not enabled.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerStub\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.","code":25}},{"value":1},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"URL\". This type does not support serialization.","code":25}}]}

//// case: props of a plain handler
const s = env.LOADER.load(worker('export default { m(x, env, ctx) { return ctx.props; } }'));
return await s.getEntrypoint(null, { props: { a: 1 } }).m(1);
//// => {"value":{"a":1}}

//// case: env of a class instance
class E { a = 1; get b() { return 2; } m() {} }
return await methods(env, 'm() { return this.env; }', { env: new E() }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"E\". This type does not support serialization.","code":25}}

//// case: env with symbol keys and non-enumerables
const e = { a: 1, [Symbol('s')]: 2 };
Object.defineProperty(e, 'h', { value: 3 });
return await methods(env, 'm() { return this.env; }', { env: e }).m();
//// => {"value":{"a":1}}

//// case: env frozen or not
return await methods(env, 'm() { this.env.x = 5; return [Object.isFrozen(this.env), this.env.x]; }', { env: {} }).m();
//// => {"value":[false,5]}

//// case: env is one object for all invocations
const s = methods(env, 'm() { this.env.n = (this.env.n ?? 0) + 1; return this.env.n; }', { env: {} });
return [await s.m(), await s.m()];
//// => {"value":[1,2]}

//// case: outbound loaded entrypoint
const o = env.LOADER.load(worker('export default { fetch() { return new Response("o"); } }')).getEntrypoint();
return await env.LOADER.load(worker('export default {}', { globalOutbound: o })).getEntrypoint().m(1);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: tails kinds
const out = [];
for (const tails of [undefined, null, [], [env.SELF], [5], [null], env.SELF, 'x', {}, new Set(), [ctx.exports.Echo], [,]]) out.push(await settled((async () => methods(env, 'm() { return 1; }', { tails }).m())()));
return out;
//// => {"value":[{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'tails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"value":1},{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for array element 0: the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for array element 0: the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'tails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'tails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'tails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'tails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for array element 0: the provided value is not of type 'Fetcher'."}}]}

//// case: streaming tails kinds
const out = [];
for (const streamingTails of [undefined, null, [], [5], env.SELF, 'x']) out.push(await settled((async () => methods(env, 'm() { return 1; }', { streamingTails }).m())()));
return out;
//// => {"value":[{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'streamingTails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"error":{"$":"Error","name":"Error","message":"Streaming tail workers are experimental. You must pass the option 'allowExperimental: true' to the worker loader to use them"}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for array element 0: the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'streamingTails' field on 'WorkerCode': the provided value is not of type 'Array'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'streamingTails' field on 'WorkerCode': the provided value is not of type 'Array'."}}]}

//// case: tails loaded entrypoint
const o = env.LOADER.load(worker('export default { tail() {} }')).getEntrypoint();
return await methods(env, 'm() { return 1; }', { tails: [o] }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: limits of a class
const out = [];
const s = env.LOADER.load(worker('import { DurableObject } from "cloudflare:workers"; export class A extends DurableObject {} export default {}'));
for (const options of [undefined, null, {}, { props: 5 }, { props: null }, { limits: 5 }, { limits: { cpuMs: -1 } }, 5]) { try { out.push(show(s.getDurableObjectClass('A', options))); } catch (e) { out.push(show(e)); } }
return out;
//// => {"value":[{"$":"DurableObjectClass"},{"$":"DurableObjectClass"},{"$":"DurableObjectClass"},{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."},{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'props' field on 'EntrypointOptions': the provided value is not of type 'Object'."},{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'EntrypointOptions': the provided value is not of type 'ResourceLimits'."},{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."},{"$":"TypeError","name":"TypeError","message":"Failed to execute 'getDurableObjectClass' on 'WorkerStub': parameter 2 is not of type 'EntrypointOptions'."}]}

//// case: get names
const code = (n) => () => worker(`import { WorkerEntrypoint as W } from "cloudflare:workers"; export default class extends W { m() { return ${JSON.stringify(n)}; } }`);
const out = [];
for (const [name, tag] of [['', 'empty'], [5, 'five'], ['5', 'string five'], [true, 'true'], ['true', 'string true'], [{}, 'object'], ['[object Object]', 'string object'], [[], 'array'], [1n, 'bigint'], ['1', 'one'], [-0, 'minus zero'], ['0', 'zero'], [NaN, 'nan'], ['NaN', 'string nan'], ['a\0b', 'nul'], ['a', 'a'], ['\ufffd', 'replacement'], ['é', 'composed'], ['e\u0301', 'decomposed']]) {
  out.push([String(name) === '\ud800' ? 'lone' : String(name), await env.LOADER.get(name, code(tag)).getEntrypoint().m()]);
}
return out;
//// => {"value":[["","empty"],["5","five"],["5","five"],["true","true"],["true","true"],["[object Object]","object"],["[object Object]","object"],["","empty"],["1","bigint"],["1","bigint"],["0","minus zero"],["0","minus zero"],["NaN","nan"],["NaN","nan"],["a\u0000b","nul"],["a","a"],["�","replacement"],["é","composed"],["é","decomposed"]]}

//// case: env kinds at the top
const out = [];
for (const e of [undefined, null, 5, 'x', [1, 2], new Map([[1, 2]]), new Date(0), () => 1, class {}, new String('s'), Symbol('s'), 1n, true]) out.push(await settled((async () => methods(env, 'm() { return [this.env, Object.prototype.toString.call(this.env)]; }', { env: e }).m())()));
return out;
//// => {"value":[{"value":[{},"[object Object]"]},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}},{"value":[{"0":1,"1":2},"[object Object]"]},{"value":[{},"[object Object]"]},{"value":[{},"[object Object]"]},{"error":{"$":"DOMException","name":"DataCloneError","message":"() => 1 could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"class {} could not be cloned.","code":25}},{"value":[{"0":"s"},"[object Object]"]},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}}]}

//// case: env values
const out = [];
for (const v of [undefined, null, 1n, NaN, -0, new Date(NaN), /a/y, new Error('e'), new TypeError('t', { cause: 5 }), new Map([[{}, 1]]), new Set([[]]), new Uint8Array([1]), new ArrayBuffer(1), new DataView(new ArrayBuffer(1)), new Boolean(false), Object(1n), [,1], new Blob(['b']), new Headers({ a: 'b' }), new URL('http://x/'), new RpcTarget(), new ReadableStream(), new WritableStream(), new AbortController().signal, new Response('x'), new Request('http://x/'), Promise.resolve(1), new WeakMap(), new Proxy({}, {}), globalThis.crypto, new FormData(), new DOMException('d', 'AbortError'), new EventTarget(), Symbol.iterator, ctx, env, ctx.exports, ctx.exports.Echo, ctx.exports.default, env.SELF, env.ECHO, env.LOADER, Math, JSON, new TextEncoder()]) {
  out.push(await settled((async () => methods(env, 'm() { const v = this.env.v; return v !== null && typeof v === "object" && Object.getPrototypeOf(v) !== null && Object.getPrototypeOf(v).constructor.name.includes("etcher") ? "fetcher" : v; }', { env: { v } }).m())()));
}
return out;
//// => {"value":[{"value":{"$":"undefined"}},{"value":null},{"value":{"$":"bigint","value":"1"}},{"value":{"$":"number","value":"NaN"}},{"value":{"$":"number","value":"-0"}},{"value":{"$":"Date","value":{"$":"number","value":"NaN"}}},{"value":{"$":"RegExp","value":"/a/y"}},{"value":{"$":"Error","name":"Error","message":"e"}},{"value":{"$":"TypeError","name":"TypeError","message":"t","cause":5}},{"value":{"$":"Map","value":[[{},1]]}},{"value":{"$":"Set","value":[[]]}},{"value":{"$":"Uint8Array","value":[1]}},{"value":{"$":"ArrayBuffer","value":[0]}},{"value":{"$":"DataView","value":[0]}},{"value":{"$":"Boolean"}},{"value":{"$":"BigInt"}},{"value":[{"$":"undefined"},1]},{"value":{"$":"Blob"}},{"value":{"$":"Headers"}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"URL\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Remote RPC references can only be serialized for RPC.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"ReadableStream can only be serialized for RPC.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"WritableStream can only be serialized for RPC.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal serialization is not enabled.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"ReadableStream can only be serialized for RPC.","code":25}},{"value":{"$":"Request"}},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<Promise> could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<WeakMap> could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"#<Object> could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"Crypto\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"FormData\". This type does not support serialization.","code":25}},{"value":{"$":"DOMException","name":"AbortError","message":"d","code":20}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"EventTarget\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(Symbol.iterator) could not be cloned.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"ExecutionContext\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.","code":25}},{"value":"fetcher"},{"value":"fetcher"},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}},{"value":{}},{"value":{}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"TextEncoder\". This type does not support serialization.","code":25}}]}

//// case: outbound kinds
const out = [];
const code = 'export default { async m() { try { return await (await fetch("http://x/y")).text(); } catch (e) { return [e.name, e.message, Object.keys(e)]; } } }';
for (const globalOutbound of [null, env.SELF, env.ECHO, ctx.exports.Outbound, ctx.exports.Outbound({ props: { a: 1 } }), ctx.exports.default, {}, 5, 'x', () => 1, { fetch() {} }, env.LOADER]) out.push(await settled((async () => env.LOADER.load(worker(code, { globalOutbound })).getEntrypoint().m(1))()));
return out;
//// => {"value":[{"value":["Error","This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities (such as bindings in 'env') to talk to the outside world.",[]]},{"value":"parent http://x/y"},{"value":["Error","Handler does not export a fetch() function.",["remote"]]},{"value":"GET http://x/y  {}"},{"value":"GET http://x/y  {\"a\":1}"},{"value":"parent http://x/y"},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}}]}

//// case: limits conversion
const out = [];
for (const limits of [undefined, null, {}, [], 5, 'x', true, () => 1, { cpuMs: null }, { cpuMs: undefined }, { cpuMs: 1.9 * 1000 }, { cpuMs: '1000' }, { cpuMs: ' 1000 ' }, { cpuMs: '0x400' }, { cpuMs: '1e3' }, { cpuMs: [1000] }, { cpuMs: {} }, { cpuMs: -1 }, { cpuMs: NaN }, { cpuMs: Infinity }, { cpuMs: -Infinity }, { cpuMs: 2 ** 32 - 1 }, { cpuMs: 2 ** 32 }, { cpuMs: 2 ** 64 }, { cpuMs: 1000n }, { cpuMs: Symbol('s') }, { cpuMs: { valueOf() { return 1000; } } }, { cpuMs: { valueOf() { throw new RangeError('v'); } } }, { subRequests: -1 }, { subRequests: 'abc' }, { subRequests: 1e3 }, { subrequests: -1 }, { cpu_ms: -1 }, { cpuMs: new Date(1000) }, { cpuMs: 4294967295.5 }, { cpuMs: -4294967296 }])
  out.push([await settled((async () => methods(env, 'm() { return 1; }', { limits }).m())()), await settled((async () => env.LOADER.load(worker('export default { m() { return 1; } }')).getEntrypoint(null, { limits }).m(1))()), ]);
return out;
//// => {"value":[[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'WorkerCode': the provided value is not of type 'ResourceLimits'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'EntrypointOptions': the provided value is not of type 'ResourceLimits'."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'WorkerCode': the provided value is not of type 'ResourceLimits'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'EntrypointOptions': the provided value is not of type 'ResourceLimits'."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'WorkerCode': the provided value is not of type 'ResourceLimits'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'limits' field on 'EntrypointOptions': the provided value is not of type 'ResourceLimits'."}}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}],[{"value":1},{"value":1}],[{"error":{"$":"TypeError","name":"TypeError","message":"Value out of range. Must be less than or equal to 4294967295."}},{"error":{"$":"TypeError","name":"TypeError","message":"Value out of range. Must be less than or equal to 4294967295."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"Value out of range. Must be less than or equal to 4294967295."}},{"error":{"$":"TypeError","name":"TypeError","message":"Value out of range. Must be less than or equal to 4294967295."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a BigInt value to a number"}},{"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a BigInt value to a number"}}],[{"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a number"}},{"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a number"}}],[{"value":1},{"value":1}],[{"error":{"$":"RangeError","name":"RangeError","message":"v"}},{"error":{"$":"RangeError","name":"RangeError","message":"v"}}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"value":1},{"value":1}],[{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}},{"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}}]]}

//// case: names that are no Unicode text are names of their own
const code = (n) => () => worker(`export default { m() { return ${n}; } }`);
const out = [];
for (const [name, n] of [['\ud800', 1], ['\ud801', 2], ['\ufffd', 3], ['\0d800', 4], ['\ud800', 5]]) out.push(await env.LOADER.get(name, code(n)).getEntrypoint().m(1));
return out;
//// differs: workerd fails with an internal error
//// => {"value":[1,2,3,4,1]}

//// case: env is made of what an error has of its own that is enumerable
return await methods(env, 'm() { return this.env; }', { env: Object.assign(new Error('x'), { code: 5 }) }).m();
//// differs: workerd also shows the stack
//// => {"value":{"code":5}}
