// What load reads of a code object, in which order, and how it converts it.
//// case: order of fields
const log = [];
const spy = (o) => new Proxy(o, { get(t, k) { log.push(String(k)); return t[k]; }, has(t, k) { log.push('has ' + String(k)); return k in t; }, ownKeys(t) { log.push('keys'); return Reflect.ownKeys(t); }, getOwnPropertyDescriptor(t,k) { log.push('desc ' + String(k)); return Reflect.getOwnPropertyDescriptor(t,k); } });
try { env.LOADER.load(spy({ compatibilityDate: '2026-08-15', compatibilityFlags: [], allowExperimental: false, limits: {}, mainModule: 'm.js', modules: { 'm.js': 'export default {}' }, env: {}, globalOutbound: null, tails: [], streamingTails: undefined, extra: 1 })); } catch (e) { log.push(String(e)); }
return log;
//// => {"value":["compatibilityDate","compatibilityFlags","allowExperimental","limits","mainModule","modules","env","globalOutbound","tails","streamingTails"]}

//// case: order of fields in limits
const log = [];
const spy = (o) => new Proxy(o, { get(t, k) { log.push(String(k)); return t[k]; } });
env.LOADER.load(worker('export default {}', { limits: spy({ cpuMs: 5, subRequests: 6 }) }));
return log;
//// => {"value":["cpuMs","subRequests"]}

//// case: order of fields in a module
const log = [];
const spy = (o) => new Proxy(o, { get(t, k) { log.push(String(k)); return t[k]; }, ownKeys(t) { log.push('keys'); return Reflect.ownKeys(t); } });
env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': spy({ js: 'export default {}' }) } });
return log;
//// => {"value":["js","cjs","text","data","json","py","wasm"]}

//// case: order of entries in modules
const log = [];
const spy = (o) => new Proxy(o, { get(t, k) { log.push(String(k)); return t[k]; }, ownKeys(t) { log.push('keys'); return Reflect.ownKeys(t); } });
env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: spy({ 'm.js': 'export default {}', 'a.js': '' , '1': {text: 'x'}}) });
return log;
//// => {"value":["keys","1","m.js","a.js"]}

//// case: order of entrypoint options
const log = [];
const spy = (o) => new Proxy(o, { get(t, k) { log.push(String(k)); return t[k]; } });
env.LOADER.load(worker('export default {}')).getEntrypoint(null, spy({ props: {}, limits: {} }));
return log;
//// => {"value":["props","limits"]}

//// case: a getter of the code throws
return env.LOADER.load({ get compatibilityDate() { throw new RangeError('date'); } });
//// => {"error":{"$":"RangeError","name":"RangeError","message":"date"}}

//// case: a getter of a module throws
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { get 'm.js'() { throw new RangeError('module'); } } });
//// => {"error":{"$":"RangeError","name":"RangeError","message":"module"}}

//// case: a getter of the env throws
return env.LOADER.load(worker('export default {}', { env: { get a() { throw new RangeError('env'); } } }));
//// => {"error":{"$":"RangeError","name":"RangeError","message":"env"}}

//// case: a getter of the env is read once
let n = 0;
const stub = methods(env, 'm() { return this.env.a; }', { env: { get a() { return ++n; } } });
return [await stub.m(), n];
//// => {"value":[1,1]}

//// case: date as a Date
return await methods(env, 'm() { return 1; }', { compatibilityDate: new Date(0) }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"}}

//// case: date as a number
return await methods(env, 'm() { return 1; }', { compatibilityDate: 20260815 }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: 20260815"}}

//// case: date as an object with toString
return await methods(env, 'm() { return 1; }', { compatibilityDate: { toString() { return '2026-08-15'; } } }).m();
//// => {"value":1}

//// case: date as a symbol
return await methods(env, 'm() { return 1; }', { compatibilityDate: Symbol('d') }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a string"}}

//// case: date null
return await methods(env, 'm() { return 1; }', { compatibilityDate: null }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: null"}}

//// case: date with month 13
return await methods(env, 'm() { return 1; }', { compatibilityDate: '2026-13-01' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: 2026-13-01"}}

//// case: date with day 31 of february
return await methods(env, 'm() { return 1; }', { compatibilityDate: '2024-02-31' }).m();
//// => {"value":1}

//// case: date with spaces
return await methods(env, 'm() { return 1; }', { compatibilityDate: ' 2024-02-21' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date:  2024-02-21"}}

//// case: date without zeros
return await methods(env, 'm() { return 1; }', { compatibilityDate: '2024-2-1' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: 2024-2-1"}}

//// case: date of the year zero
return await methods(env, 'm() { return 1; }', { compatibilityDate: '0000-01-01' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: 0000-01-01"}}

//// case: date before everything
return await methods(env, 'm() { return 1; }', { compatibilityDate: '1999-01-01' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: 1999-01-01"}}

//// case: date empty
return await methods(env, 'm() { return 1; }', { compatibilityDate: '' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: "}}

//// case: date with time
return await methods(env, 'm() { return 1; }', { compatibilityDate: '2024-02-01T00:00:00Z' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: 2024-02-01T00:00:00Z"}}

//// case: date long
return await methods(env, 'm() { return 1; }', { compatibilityDate: 'x'.repeat(300) }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}

//// case: flags null
return await methods(env, 'm() { return 1; }', { compatibilityFlags: null }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'compatibilityFlags' field on 'WorkerCode': the provided value is not of type 'Array'."}}

//// case: flags string
return await methods(env, 'm() { return 1; }', { compatibilityFlags: 'nodejs_compat' }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'compatibilityFlags' field on 'WorkerCode': the provided value is not of type 'Array'."}}

//// case: flags set
return await methods(env, 'm() { return 1; }', { compatibilityFlags: new Set(['nodejs_compat']) }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'compatibilityFlags' field on 'WorkerCode': the provided value is not of type 'Array'."}}

//// case: flags array-like
return await methods(env, 'm() { return 1; }', { compatibilityFlags: { length: 1, 0: 'nodejs_compat' } }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'compatibilityFlags' field on 'WorkerCode': the provided value is not of type 'Array'."}}

//// case: flags with a number
return await methods(env, 'm() { return 1; }', { compatibilityFlags: [5] }).m();
//// => {"error":{"$":"Error","name":"Error","message":"No such compatibility flag: 5"}}

//// case: flags with holes
return await methods(env, 'm() { return 1; }', { compatibilityFlags: [,] }).m();
//// => {"error":{"$":"Error","name":"Error","message":"No such compatibility flag: undefined"}}

//// case: flags with a symbol
return await methods(env, 'm() { return 1; }', { compatibilityFlags: [Symbol('x')] }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a string"}}

//// case: flags with empty string
return await methods(env, 'm() { return 1; }', { compatibilityFlags: [''] }).m();
//// => {"error":{"$":"Error","name":"Error","message":"No such compatibility flag: "}}

//// case: two flag mistakes
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['nope', 'nopetoo'] }).m();
//// => {"error":{"$":"Error","name":"Error","message":"No such compatibility flag: nope"}}

//// case: flag mistake and date mistake
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['nope'], compatibilityDate: 'x' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: x"}}

//// case: flag mistake and module mistake
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['nope'], modules: {} }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Dynamic Worker code must contain at least one module."}}

//// case: env mistake and globalOutbound mistake
return await methods(env, 'm() { return 1; }', { globalOutbound: 5, env: { f() {} } }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'globalOutbound' field on 'WorkerCode': the provided value is not of type 'Fetcher'."}}

//// case: a flag that the date implies
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['global_navigator'] }).m();
//// => {"value":1}

//// case: a flag that turns off what the date implies
return await methods(env, 'm() { return typeof navigator; }', { compatibilityFlags: ['no_global_navigator'] }).m();
//// => {"value":"undefined"}

//// case: allowExperimental truthy string
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['experimental'], allowExperimental: 'x' }).m();
//// => {"value":1}

//// case: allowExperimental number 0
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['experimental'], allowExperimental: 0 }).m();
//// => {"error":{"$":"Error","name":"Error","message":"The compatibility flag experimental is experimental and may break or be removed in a future version of workerd. To use this flag, you must pass --experimental on the command line."}}

//// case: allowExperimental null
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['experimental'], allowExperimental: null }).m();
//// => {"error":{"$":"Error","name":"Error","message":"The compatibility flag experimental is experimental and may break or be removed in a future version of workerd. To use this flag, you must pass --experimental on the command line."}}

//// case: allowExperimental object
return await methods(env, 'm() { return 1; }', { compatibilityFlags: ['experimental'], allowExperimental: {} }).m();
//// => {"value":1}

//// case: mainModule null
return await methods(env, 'm() { return 1; }', { mainModule: null }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: No such module: null"}}

//// case: mainModule number
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 5, modules: { '5': {js: 'export default { m() { return 1; } }'} } }).getEntrypoint().m(1);
//// => {"value":1}

//// case: mainModule symbol
return await methods(env, 'm() { return 1; }', { mainModule: Symbol('m') }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a string"}}

//// case: mainModule empty
return await methods(env, 'm() { return 1; }', { mainModule: '' }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: No such module: ."}}

//// case: mainModule with a relative name
return await methods(env, 'm() { return 1; }', { mainModule: './main.js' }).m();
//// => {"value":1}

//// case: mainModule dots
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'a/../m.js', modules: { 'a/../m.js': 'export default { m() { return 5; } }' } }).getEntrypoint().m(1);
//// => {"value":5}

//// case: mainModule is json
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.json', modules: { 'm.json': { json: {} } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Main module must be an ES module."}}

//// case: mainModule is cjs
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': { cjs: 'module.exports = { m() { return 1; } }' } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Main module must be an ES module."}}

//// case: mainModule is wasm
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.wasm', modules: { 'm.wasm': { wasm: new Uint8Array([0,97,115,109,1,0,0,0]) } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Main module must be an ES module."}}

//// case: module named like a builtin
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import x from "cloudflare:workers"; export default { m() { return typeof x; } }', 'cloudflare:workers': { js: 'export default 5' } } }).getEntrypoint().m(1);
//// => {"value":"number"}
