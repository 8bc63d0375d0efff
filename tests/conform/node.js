// Node's modules, and what imports are.
//// case: bytes of text in every encoding
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { return ['utf8', 'ucs2', 'latin1', 'ascii', 'base64', 'base64url', 'hex'].map((name) => Buffer.from('fb+/ff', name).toString('hex')); } }`,  } }).getEntrypoint().x();
//// => {"value":["66622b2f6666","660062002b002f0066006600","66622b2f6666","66622b2f6666","7dbfbf7d","7dbfbf7d","fb"]}

//// case: text of bytes in every encoding
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { return ['utf8', 'ucs2', 'latin1', 'ascii', 'base64', 'base64url', 'hex'].map((name) => Buffer.from([251, 255, 97, 98]).toString(name)); } }`,  } }).getEntrypoint().x();
//// => {"value":["��ab","￻扡","ûÿab","{ab","+/9hYg==","-_9hYg","fbff6162"]}

//// case: an encoding that there is not
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { Buffer.from('a', 'utf-7'); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Unknown encoding: utf-7","remote":true}}

//// case: a Buffer from a number
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { Buffer.from(5); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The first argument must be of type string or an instance of Buffer, TypedArray, ArrayBuffer, SharedArrayBuffer, or Array or an Array-like Object. Received type number (5)","remote":true}}

//// case: numbers in a Buffer
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { const b = Buffer.alloc(8); b.writeInt32BE(-2, 0); b.writeUIntLE(0x010203, 4, 3); return [b.toString('hex'), b.readInt32BE(0), b.readUIntLE(4, 3), b.readDoubleLE(0)]; } }`,  } }).getEntrypoint().x();
//// => {"value":["fffffffe03020100",-2,66051,1.401620576957916e-309]}

//// case: a number too large for its place
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { Buffer.alloc(2).writeUInt16LE(65536, 0); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"The value of \"value\" is out of range. It must be >= 0 and <= 65535. Received 65536","code":"ERR_OUT_OF_RANGE","remote":true}}

//// case: a read past the end
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { Buffer.alloc(2).readUInt32LE(0); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"Attempt to access memory outside buffer bounds","remote":true}}

//// case: searching a Buffer
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { const b = Buffer.from('abcabc'); return [b.indexOf('c'), b.lastIndexOf('c'), b.indexOf('c', -2), b.includes('ca'), b.indexOf('x'), b.indexOf(Buffer.from('bc'), 2)]; } }`,  } }).getEntrypoint().x();
//// => {"value":[2,5,5,true,-1,4]}

//// case: a Buffer over RPC is bytes
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'node:buffer';
export default class extends WorkerEntrypoint { async x() { return Buffer.from('abc'); } }`,  } }).getEntrypoint().x();
//// => {"value":{"$":"Uint8Array","value":[97,98,99]}}

//// case: Buffer is a global of all of Node
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat', 'nodejs_compat_v2'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return [typeof Buffer, typeof global, typeof setImmediate, Buffer.from('a').length]; } }`,  } }).getEntrypoint().x();
//// => {"value":["function","object","function",1]}

//// case: Buffer is no global of some of Node
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat', 'no_nodejs_compat_v2'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return [typeof Buffer, typeof setImmediate]; } }`,  } }).getEntrypoint().x();
//// => {"value":["undefined","undefined"]}

//// case: a value follows through awaits and timers
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { AsyncLocalStorage } from 'node:async_hooks'; const store = new AsyncLocalStorage();
export default class extends WorkerEntrypoint { async x() { return await store.run('in', async () => { const seen = [store.getStore()]; await null; seen.push(store.getStore()); await scheduler.wait(1); seen.push(store.getStore()); await new Promise((r) => setTimeout(() => r(seen.push(store.getStore())), 1)); return seen; }); } }`,  } }).getEntrypoint().x();
//// => {"value":["in","in","in","in"]}

//// case: a snapshot is the context it was taken in
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { AsyncLocalStorage } from 'node:async_hooks'; const store = new AsyncLocalStorage();
export default class extends WorkerEntrypoint { async x() { const snapshot = store.run(1, () => AsyncLocalStorage.snapshot()); return store.run(2, () => [store.getStore(), snapshot(() => store.getStore())]); } }`,  } }).getEntrypoint().x();
//// => {"value":[2,1]}

//// case: a snapshot of another request
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { AsyncLocalStorage } from 'node:async_hooks'; let kept;
export default class extends WorkerEntrypoint { async x() { if (!kept) kept = AsyncLocalStorage.snapshot(); const own = AsyncLocalStorage.snapshot(); return [own(() => 'own')]; } }`,  } }).getEntrypoint().x();
//// => {"value":["own"]}

//// case: enterWith is not there
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { AsyncLocalStorage } from 'node:async_hooks';
export default class extends WorkerEntrypoint { async x() { new AsyncLocalStorage().enterWith(1); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"asyncLocalStorage.enterWith() is not implemented","remote":true}}

//// case: only async_hooks
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_als', 'no_nodejs_compat', 'no_nodejs_compat_v2'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { AsyncLocalStorage } from 'node:async_hooks';
export default class extends WorkerEntrypoint { async x() { return [typeof AsyncLocalStorage, await import('node:util').catch((e) => e.message)]; } }`,  } }).getEntrypoint().x();
//// => {"value":["function","No such module \"node:util\"."]}

//// case: a mock counts its calls
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { mock } from 'node:test';
export default class extends WorkerEntrypoint { async x() { const f = mock.fn((a) => a * 2); f(1); f(2); return [f.mock.callCount(), f.mock.calls.map((call) => call.result)]; } }`,  } }).getEntrypoint().x();
//// => {"value":[2,[2,4]]}

//// case: inspect
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { inspect } from 'node:util';
export default class extends WorkerEntrypoint { async x() { return inspect({ a: [1, { b: new Map([[1, 'x']]) }], s: 'it\\'s', f() {}, [Symbol('y')]: 1n }, { depth: 3 }); } }`,  } }).getEntrypoint().x();
//// => {"value":"{\n  a: [ 1, { b: Map(1) { 1 => 'x' } } ],\n  s: \"it's\",\n  f: [Function: f],\n  Symbol(y): 1n\n}"}

//// case: inspect with colours
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { inspect } from 'node:util';
export default class extends WorkerEntrypoint { async x() { return inspect([1, 'a', null, undefined, true], { colors: true }); } }`,  } }).getEntrypoint().x();
//// => {"value":"[ \u001b[33m1\u001b[39m, \u001b[32m'a'\u001b[39m, \u001b[1mnull\u001b[22m, \u001b[90mundefined\u001b[39m, \u001b[33mtrue\u001b[39m ]"}

//// case: format
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { format } from 'node:util';
export default class extends WorkerEntrypoint { async x() { return format('%s %d %j %o', 'a', 4.5, { b: 1 }, [1], 'rest'); } }`,  } }).getEntrypoint().x();
//// => {"value":"a 4.5 {\"b\":1} [ 1, [length]: 1 ] rest"}

//// case: promisify
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { promisify } from 'node:util';
export default class extends WorkerEntrypoint { async x() { return await promisify((value, done) => done(null, value + 1))(1); } }`,  } }).getEntrypoint().x();
//// => {"value":2}

//// case: what a value is
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { types } from 'node:util';
export default class extends WorkerEntrypoint { async x() { return [types.isMap(new Map()), types.isProxy(new Proxy({}, {})), types.isUint8Array(new Uint8Array()), types.isAsyncFunction(async () => {}), types.isNativeError({})]; } }`,  } }).getEntrypoint().x();
//// => {"value":[true,true,true,true,false]}

//// case: deep equality
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { isDeepStrictEqual } from 'node:util';
export default class extends WorkerEntrypoint { async x() { return [isDeepStrictEqual({ a: [1] }, { a: [1] }), isDeepStrictEqual([1], ['1']), isDeepStrictEqual(new Set([{}]), new Set([{}]))]; } }`,  } }).getEntrypoint().x();
//// => {"value":[true,false,true]}

//// case: a timer as a promise
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { setTimeout } from 'node:timers/promises';
export default class extends WorkerEntrypoint { async x() { return await setTimeout(1, 'value'); } }`,  } }).getEntrypoint().x();
//// => {"value":"value"}

//// case: a timer called off
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { setTimeout } from 'node:timers/promises';
export default class extends WorkerEntrypoint { async x() { await setTimeout(1000, null, { signal: AbortSignal.abort('why') }); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"AbortError","message":"The operation was aborted","cause":"why","code":"ABORT_ERR","remote":true}}

//// case: the name of a module of Node without its scheme
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import { Buffer } from 'buffer'; import util from 'util'; import assert from 'assert';
export default class extends WorkerEntrypoint { async x() { return [typeof Buffer, typeof util.inspect, typeof assert]; } }`,  } }).getEntrypoint().x();
//// => {"value":["function","function","function"]}

//// case: node:test has no name without its scheme
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return await import('test'); } }`,  } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"No such module \"test\".","remote":true}}

//// case: a module that is required
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import a from './a.cjs';
export default class extends WorkerEntrypoint { async x() { return a; } }`, 'a.cjs': { cjs: 'exports.sum = require("./b.cjs").n + 1' }, 'b.cjs': { cjs: 'exports.n = 2' } } }).getEntrypoint().x();
//// => {"value":{"sum":3}}

//// case: an import with attributes
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return await import('./a.js', { with: { type: 'x' } }); } }`, 'a.js': 'export const a = 1' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Unrecognized import attributes specified","remote":true}}

//// case: a module that never settles
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return await import('./a.js'); } }`, 'a.js': 'await new Promise(() => {})' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Top-level await in module is unsettled.","remote":true}}

//// case: a module that settles
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return (await import('./a.js')).a; } }`, 'a.js': 'await null; export const a = 1' } }).getEntrypoint().x();
//// => {"value":1}

//// case: import.meta of the old registry
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; 
export default class extends WorkerEntrypoint { async x() { return Object.keys(import.meta); } }`,  } }).getEntrypoint().x();
//// => {"value":[]}

//// case: import source of what has none
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; import source a from './a.js';
export default class extends WorkerEntrypoint { async x() { return a; } }`, 'a.js': 'export const a = 1' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Source phase import not available for module: a.js.\n  imported from \"main.js\""}}

//// case: time in global scope
return await env.LOADER.load({ compatibilityDate: '2026-07-01', compatibilityFlags: ['nodejs_compat'], mainModule: 'main.js', modules: { 'main.js': `import { WorkerEntrypoint } from 'cloudflare:workers'; const at = [Date.now(), performance.now()];
export default class extends WorkerEntrypoint { async x() { return [at, Date.now() > 0]; } }`,  } }).getEntrypoint().x();
//// => {"value":[[0,0],true]}
