// What `load` and `get` take, when they look at it, and what they say.
//// case: load returns a stub at once
return Object.prototype.toString.call(env.LOADER.load(worker('export default {}')));
//// => {"value":"[object WorkerStub]"}

//// case: a loaded Worker answers a method
return await methods(env, 'greet(name) { return `hello ${name}`; }').greet('you');
//// => {"value":"hello you"}

//// case: load without arguments
return env.LOADER.load();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'load' on 'WorkerLoader': parameter 1 is not of type 'WorkerCode'."}}

//// case: load with null
return env.LOADER.load(null);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot initialize N7workerd3api12WorkerLoader10WorkerCodeE with required members from an undefined or null value."}}

//// case: load with a string
return env.LOADER.load('code');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'load' on 'WorkerLoader': parameter 1 is not of type 'WorkerCode'."}}

//// case: load without a compatibility date
return await env.LOADER.load({ mainModule: 'm.js', modules: { 'm.js': '' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: undefined"}}

//// case: load without a main module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', modules: { 'm.js': '' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: No such module: undefined"}}

//// case: load without modules
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js' }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'modules' field on 'WorkerCode': the provided value is not of type 'object'."}}

//// case: load with modules that are not an object
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: 5 }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'modules' field on 'WorkerCode': the provided value is not of type 'object'."}}

//// case: load with a date that is none
return await env.LOADER.load(worker('export default {}', { compatibilityDate: 'yesterday' })).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Invalid compatibility date: yesterday"}}

//// case: load with a date in the far future
return await env.LOADER.load(worker('export default {}', { compatibilityDate: '2999-01-01' })).getEntrypoint().x();
//// differs: the newest date each binary knows
//// => {"error":{"$":"Error","name":"Error","message":"This Worker requires compatibility date \"2999-01-01\", but the newest date supported by this server binary is \"2026-11-24\"."}}

//// case: load with an unknown flag
return await env.LOADER.load(worker('export default {}', { compatibilityFlags: ['no_such_flag'] })).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"No such compatibility flag: no_such_flag"}}

//// case: load with a flag twice
return await env.LOADER.load(worker('export default {}', { compatibilityFlags: ['nodejs_compat', 'nodejs_compat'] })).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Compatibility flag specified multiple times: nodejs_compat"}}

//// case: load with contradictory flags
return await env.LOADER.load(worker('export default {}', { compatibilityFlags: ['nodejs_compat', 'no_nodejs_compat'] })).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Compatibility flags are mutually contradictory: nodejs_compat vs no_nodejs_compat"}}

//// case: load with an experimental flag that was not allowed
return await env.LOADER.load(worker('export default {}', { compatibilityFlags: ['experimental'] })).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"The compatibility flag experimental is experimental and may break or be removed in a future version of workerd. To use this flag, you must pass --experimental on the command line."}}

//// case: load with an experimental flag that was allowed
return await methods(env, 'x() { return 1; }', { compatibilityFlags: ['experimental'], allowExperimental: true }).x();
//// => {"value":1}

//// case: the main module is not among the modules
return await env.LOADER.load(worker('export default {}', { mainModule: 'other.js' })).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: No such module: other.js"}}

//// case: the main module is text
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.txt', modules: { 'm.txt': { text: 'x' } } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Main module must be an ES module."}}

//// case: a syntax error
return await env.LOADER.load(worker('export default {')).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Unexpected end of input\n  at main.js:1:16"}}

//// case: a syntax error at the first column
return await env.LOADER.load(worker('const a = 1;\n}')).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Unexpected token '}'\n  at main.js:2"}}

//// case: a throwing top level
return await env.LOADER.load(worker("throw new TypeError('top')")).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: top\n  at main.js:1:7"}}

//// case: a top level that never settles
return await env.LOADER.load(worker('await new Promise(() => {}); export default {}')).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Top-level await in module is unsettled."}}

//// case: a top-level await that settles
return await env.LOADER.load(worker("const x = await Promise.resolve(5); export default { async y() { return x; } }")).getEntrypoint().y(undefined);
//// => {"value":5}

//// case: no default export
return await env.LOADER.load(worker('export const x = 1')).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'x': the provided value is not of type 'function or ExportedHandler'."}}

//// case: an entrypoint that is not exported
return await env.LOADER.load(worker('export default {}')).getEntrypoint('Gone').x();
//// => {"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: Gone"}}

//// case: a named entrypoint
return await env.LOADER.load(worker("import { WorkerEntrypoint as W } from 'cloudflare:workers'; export class A extends W { x() { return 'a'; } } export default {}")).getEntrypoint('A').x();
//// => {"value":"a"}

//// case: an entrypoint that is a plain function
return await env.LOADER.load(worker('export function A() {} export default {}')).getEntrypoint('A').x();
//// differs: workerd fails with an internal error
//// => {"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: A"}}

//// case: an entrypoint that is a number
return await env.LOADER.load(worker('export const A = 5; export default {}')).getEntrypoint('A').x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'A': the provided value is not of type 'function or ExportedHandler'."}}

//// case: get without arguments
return env.LOADER.get();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'get' on 'WorkerLoader': parameter 1 is not of type 'string'."}}

//// case: get with a code object
return env.LOADER.get('a', worker('export default {}'));
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'get' on 'WorkerLoader': parameter 2 is not of type 'function'."}}

//// case: get calls back for the code
let calls = 0;
const stub = env.LOADER.get('a', () => { calls++; return worker('export default { async x() { return 1; } }'); });
return [await stub.getEntrypoint().x(undefined), calls];
//// => {"value":[1,1]}

//// case: get with an asynchronous callback
return await env.LOADER.get('a', async () => { await null; return worker('export default { async x() { return 1; } }'); }).getEntrypoint().x(undefined);
//// => {"value":1}

//// case: get of one name loads once
let calls = 0;
const code = () => { calls++; return worker('let n = 0; export default { async x() { return ++n; } }'); };
const answers = [];
for (let i = 0; i < 3; i++) answers.push(await env.LOADER.get('a', code).getEntrypoint().x(undefined));
return [answers, calls];
//// => {"value":[[1,2,3],1]}

//// case: get of two names loads twice
let calls = 0;
const code = () => { calls++; return worker('let n = 0; export default { async x() { return ++n; } }'); };
return [await env.LOADER.get('a', code).getEntrypoint().x(undefined), await env.LOADER.get('b', code).getEntrypoint().x(undefined), calls];
//// => {"value":[1,1,2]}

//// case: get of a null name is never shared
const code = () => worker('let n = 0; export default { async x() { return ++n; } }');
return [await env.LOADER.get(null, code).getEntrypoint().x(undefined), await env.LOADER.get(null, code).getEntrypoint().x(undefined)];
//// => {"value":[1,1]}

//// case: load is never shared
const code = worker('let n = 0; export default { async x() { return ++n; } }');
return [await env.LOADER.load(code).getEntrypoint().x(undefined), await env.LOADER.load(code).getEntrypoint().x(undefined)];
//// => {"value":[1,1]}

//// case: a callback that throws
return await env.LOADER.get('a', () => { throw new RangeError('no code'); }).getEntrypoint().x();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"no code"}}

//// case: a callback that rejects
return await env.LOADER.get('a', async () => { throw new RangeError('no code'); }).getEntrypoint().x();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"no code"}}

//// case: a callback that returns nothing
return await env.LOADER.get('a', () => {}).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot initialize N7workerd3api12WorkerLoader10WorkerCodeE with required members from an undefined or null value."}}

//// case: a stub has nothing of its own
return Object.keys(env.LOADER.load(worker('export default {}')));
//// => {"value":[]}

//// case: the loader cannot be made by hand
return new env.LOADER.constructor();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Illegal constructor"}}

//// case: the loader has a name
return [env.LOADER.constructor.name, Object.getOwnPropertyNames(Object.getPrototypeOf(env.LOADER)).sort()];
//// => {"value":["WorkerLoader",["constructor","get","load"]]}
