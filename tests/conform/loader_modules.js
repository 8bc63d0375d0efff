// Modules of loaded Workers: names, kinds, contents, how they start, and which exports may be called.
//// case: module names with special characters
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import a from "./a b.js"; import c from "./é.js"; import d from "./q?x=1.js"; export default { m() { return [a,c,d]; } }', 'a b.js': 'export default 1', 'é.js': 'export default 2', 'q?x=1.js': 'export default 3' } }).getEntrypoint().m(1);
//// => {"value":[1,2,3]}

//// case: module name empty
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'export default { m() { return 1; } }', '': { text: 'x' } } }).getEntrypoint().m(1);
//// => {"value":1}

//// case: module name ending .mjs
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.mjs', modules: { 'm.mjs': 'export default { m() { return 1; } }' } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: m.mjs"}}

//// case: module name ending .ts
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.ts', modules: { 'm.ts': 'export default { m() { return 1; } }' } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: m.ts. If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the generated JavaScript modules."}}

//// case: module name ending .tsx and .jsx
return [await settled((async () => env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.tsx': '' } }))()), await settled((async () => env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.jsx': '' } }))())];
//// => {"value":[{"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: m.tsx. If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the generated JavaScript modules."}},{"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: m.jsx. If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the generated JavaScript modules."}}]}

//// case: module name ending .JS
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.JS', modules: { 'm.JS': 'export default { m() { return 1; } }' } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: m.JS"}}

//// case: module without extension
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm', modules: { 'm': 'export default { m() { return 1; } }' } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: m"}}

//// case: js module without extension
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm', modules: { 'm': { js: 'export default { m() { return 1; } }' } } }).getEntrypoint().m(1);
//// => {"value":1}

//// case: two names for one path
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import a from "./a.js"; export default { m() { return a; } }', 'a.js': 'export default 1', './a.js': 'export default 2' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Module \"a.js\" already added to bundle"}}

//// case: dotted module name
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import a from "./a.js"; export default { m() { return a; } }', './a.js': 'export default 2' } }).getEntrypoint().m(1);
//// => {"value":2}

//// case: module with two kinds
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': { js: '', text: '' } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 2 properties."}}

//// case: module with none
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': {} } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module null
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': null } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module undefined
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': undefined } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module number
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 5 } });
//// => {"value":{"$":"WorkerStub"}}

//// case: module boolean
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': true } });
//// => {"value":{"$":"WorkerStub"}}

//// case: module symbol
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': Symbol('x') } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot convert a Symbol value to a string"}}

//// case: module function
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': () => 1 } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module array
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': ['x'] } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module uint8array
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': new Uint8Array(3) } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module String object
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': new String('export default { m() { return 1; } }') } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'm.js' contained 0 properties."}}

//// case: module text undefined and js given
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': { js: 'export default { m() { return 1; } }', text: undefined } } }).getEntrypoint().m(1);
//// => {"value":1}

//// case: module json undefined
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'export default {}', 'j': { json: undefined } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'j' contained 0 properties."}}

//// case: module json null
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: null } } }).getEntrypoint().m(1);
//// => {"value":null}

//// case: module json with toJSON, undefined, date, nan
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: { a: { toJSON() { return 'T'; } }, b: undefined, c: new Date(0), d: NaN, e: [undefined] } } } }).getEntrypoint().m(1);
//// => {"value":{"a":"T","c":"1970-01-01T00:00:00.000Z","d":null,"e":[null]}}

//// case: module json function
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: () => 1 } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: \"undefined\" is not valid JSON\n:1"}}

//// case: module json symbol
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: Symbol('x') } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: \"undefined\" is not valid JSON\n:1"}}

//// case: module json cyclic
const c = {}; c.c = c;
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: c } } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Converting circular structure to JSON\n    --> starting at object with constructor 'Object'\n    --- property 'c' closes the circle"}}

//// case: module json bigint
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: 1n } } }).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Do not know how to serialize a BigInt"}}

//// case: module json toJSON throws
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: { toJSON() { throw new RangeError('tj'); } } } } }).getEntrypoint().m(1);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"tj"}}

//// case: module json string
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { json: '{"a":1}' } } }).getEntrypoint().m(1);
//// => {"value":"{\"a\":1}"}

//// case: module json with proto
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return [Object.keys(j), j.a]; } }', 'j': { json: JSON.parse('{"__proto__": {"a": 1}}') } } }).getEntrypoint().m(1);
//// => {"value":[["__proto__"],{"$":"undefined"}]}

//// case: json modules with attributes
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j" with { type: "json" }; export default { m() { return j; } }', 'j': { json: { a: 1 } } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Unrecognized import attributes specified"}}

//// case: json attribute for text
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j" with { type: "json" }; export default { m() { return j; } }', 'j': { text: 'x' } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Unrecognized import attributes specified"}}

//// case: text attribute for text
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j" with { type: "text" }; export default { m() { return j; } }', 'j': { text: 'x' } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Unrecognized import attributes specified"}}

//// case: unknown attribute
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j" with { kind: "json" }; export default { m() { return j; } }', 'j': { text: 'x' } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Unrecognized import attributes specified"}}

//// case: module data kinds
const results = [];
for (const data of [new ArrayBuffer(2), new Uint8Array([1, 2]), new DataView(new ArrayBuffer(3), 1), new Uint16Array([258])]) {
  results.push(await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { data } } }).getEntrypoint().m(1));
}
return results;
//// => {"value":[{"$":"ArrayBuffer","value":[0,0]},{"$":"ArrayBuffer","value":[1,2]},{"$":"ArrayBuffer","value":[0,0]},{"$":"ArrayBuffer","value":[2,1]}]}

//// case: module data string
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'j': { data: 'x' } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'data' field on 'Module': the provided value is not of type 'Array'."}}

//// case: module data array
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'j': { data: [1, 2] } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'data' field on 'Module': the provided value is not of type 'Array'."}}

//// case: module data null
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'j': { data: null } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'data' field on 'Module': the provided value is not of type 'Array'."}}

//// case: module data shared
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { data: new Uint8Array(new SharedArrayBuffer(2)) } } }).getEntrypoint().m(1);
//// => {"value":{"$":"ArrayBuffer","value":[0,0]}}

//// case: module data detached
const b = new ArrayBuffer(4); structuredClone(b, { transfer: [b] });
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { data: b } } }).getEntrypoint().m(1);
//// => {"value":{"$":"ArrayBuffer","value":[]}}

//// case: module data changed afterwards
const b = new Uint8Array([1, 2]);
const s = env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; export default { m() { return j; } }', 'j': { data: b } } });
b[0] = 9;
return await s.getEntrypoint().m(1);
//// => {"value":{"$":"ArrayBuffer","value":[1,2]}}

//// case: data is shared within the worker
const s = env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import j from "j"; import k from "j"; export default { m() { return [j === k, j.constructor.name]; } }', 'j': { data: new Uint8Array([1]) } } });
return await s.getEntrypoint().m(1);
//// => {"value":[true,"ArrayBuffer"]}

//// case: wasm bytes garbage
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import w from "./w.wasm"; export default { m() { return 1; } }', 'w.wasm': { wasm: new Uint8Array([1, 2, 3]) } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught CompileError: WasmModuleObject::Compile(): expected 4 bytes, fell off end @+0"}}

//// case: wasm bytes empty
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import w from "./w.wasm"; export default { m() { return 1; } }', 'w.wasm': { wasm: new Uint8Array(0) } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught CompileError: WasmModuleObject::Compile(): expected 4 bytes, fell off end @+0"}}

//// case: wasm string
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'w.wasm': { wasm: 'x' } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'wasm' field on 'Module': the provided value is not of type 'Array or WasmModuleObject'."}}

//// case: wasm null
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'w.wasm': { wasm: null } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'wasm' field on 'Module': the provided value is not of type 'Array or WasmModuleObject'."}}

//// case: wasm good
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import w from "./w.wasm"; export default { m() { return [w.constructor.name, WebAssembly.Module.exports(w)]; } }', 'w.wasm': { wasm: new Uint8Array([0,97,115,109,1,0,0,0]) } } }).getEntrypoint().m(1);
//// => {"value":["Module",[]]}

//// case: syntax error in a module that is not imported
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'export default { m() { return 1; } }', 'b.js': '{{{' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Unexpected end of input\n  at b.js:1:3"}}

//// case: syntax error in an imported module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import "./b.js"; export default { m() { return 1; } }', 'b.js': 'let a;\nlet a;' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Identifier 'a' has already been declared\n  at b.js:2:4"}}

//// case: throw in an imported module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import "./b.js"; export default { m() { return 1; } }', 'b.js': 'function f() { throw new TypeError("deep"); }\nf();' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: deep\n  at b.js:1:22 in f\n  at b.js:2:1"}}

//// case: throw of a non-error
return await env.LOADER.load(worker('throw { a: 1 };')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: #<Object>"}}

//// case: throw of a string
return await env.LOADER.load(worker('throw "text";')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: text"}}

//// case: throw of null
return await env.LOADER.load(worker('throw null;')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: null"}}

//// case: throw of a hostile object
return await env.LOADER.load(worker('throw { toString() { throw 1; } };')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: [object Object]"}}

//// case: rejecting top level
return await env.LOADER.load(worker('await Promise.reject(new RangeError("later"));')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught RangeError: later\n  at main.js:1:22"}}

//// case: missing import name
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import { nope } from "./b.js"; export default { m() { return 1; } }', 'b.js': 'export const a = 1;' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: The requested module './b.js' does not provide an export named 'nope'\n  at m.js:1:9"}}

//// case: cyclic imports
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import { b } from "./b.js"; export const a = 1; export default { m() { return b(); } }', 'b.js': 'import { a } from "./m.js"; export const b = () => a;' } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'a': the provided value is not of type 'function or ExportedHandler'."}}

//// case: cjs kinds
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import c from "./c.cjs"; export default { m() { return c; } }', 'c.cjs': { cjs: 'exports.a = 1; exports.b = typeof require; exports.c = typeof __filename; exports.d = typeof module; exports.e = this === module.exports;' } } }).getEntrypoint().m(1);
//// => {"value":{"a":1,"b":"function","c":"string","d":"object","e":false}}

//// case: cjs require of others
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import c from "./c.cjs"; export default { m() { return c; } }', 'c.cjs': { cjs: 'exports.t = require("./t"); exports.j = require("./j"); exports.c = require("./d.cjs").x; exports.e = require("./e.js");' }, 't': { text: 'T' }, 'j': { json: [1] }, 'd.cjs': { cjs: 'exports.x = 5' }, 'e.js': 'export default 7' } }).getEntrypoint().m(1);
//// => {"value":{"t":"T","j":[1],"c":5,"e":7}}

//// case: cjs require of nothing
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import c from "./c.cjs"; export default { m() { return c; } }', 'c.cjs': { cjs: 'try { require("./nope"); } catch (e) { exports.e = String(e); }' } } }).getEntrypoint().m(1);
//// => {"value":{"e":"Error: No such module \"nope\"."}}

//// case: cjs throws
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import c from "./c.cjs"; export default { m() { return c; } }', 'c.cjs': { cjs: 'throw new RangeError("cjs")' } } }).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught RangeError: cjs\n  at c.cjs:1:7"}}

//// case: python module beside js
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'a.py': 'x' } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module \"a.py\" is a Python module, but the main module isn't a Python module."}}

//// case: python kind beside js
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': '', 'a': { py: 'x' } } });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module \"a\" is a Python module, but the main module isn't a Python module."}}

//// case: array as modules
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: '0', modules: [{ js: 'export default {}' }] });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'modules' field on 'WorkerCode': the provided value is not of type 'object'."}}

//// case: map as modules
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: new Map([['m.js', 'export default {}']]) });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Dynamic Worker code must contain at least one module."}}

//// case: function as modules
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: Object.assign(() => 1, { 'm.js': 'export default {}' }) });
//// => {"value":{"$":"WorkerStub"}}

//// case: class instance as modules
class M { 'm.js' = 'export default { m() { return 1; } }'; }
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: new M() }).getEntrypoint().m(1);
//// => {"value":1}

//// case: inherited modules
return env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: Object.create({ 'm.js': 'export default {}' }) });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Dynamic Worker code must contain at least one module."}}

//// case: symbol keys and non-enumerable in modules
const modules = { 'm.js': 'export default { m() { return 1; } }', [Symbol('s')]: 5 };
Object.defineProperty(modules, 'x', { value: 5, enumerable: false });
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules }).getEntrypoint().m(1);
//// => {"value":1}

//// case: env of 1 MiB
return await methods(env, 'm() { return 1; }', { env: { a: 'x'.repeat(1024 * 1024) } }).m();
//// => {"error":{"$":"Error","name":"Error","message":"Dynamic Worker env size (1048588 bytes) exceeds the maximum allowed size of 1048576 bytes."}}

//// case: env just below
return await methods(env, 'm() { return this.env.a.length; }', { env: { a: 'x'.repeat(1024 * 1024 - 100) } }).m();
//// => {"value":1048476}

//// case: text module with NUL and BOM
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'import t from "t"; export default { m() { return t; } }', t: { text: '\ufeffa\0b' } } }).getEntrypoint().m(1);
//// => {"value":"﻿a\u0000b"}

//// case: js module with BOM
return await env.LOADER.load(worker('\ufeffexport default { m() { return 1; } }')).getEntrypoint().m(1);
//// => {"value":1}

//// case: js module with hashbang
return await env.LOADER.load(worker('#!/usr/bin/env x\nexport default { m() { return 1; } }')).getEntrypoint().m(1);
//// => {"value":1}

//// case: import.meta
return await env.LOADER.load(worker('export default { m() { return [import.meta.url, import.meta.main, Object.keys(import.meta), typeof import.meta.resolve]; } }')).getEntrypoint().m(1);
//// => {"value":[{"$":"undefined"},{"$":"undefined"},[],"undefined"]}

//// case: dynamic import missing
return await env.LOADER.load(worker('export default { async m() { try { await import("./nope.js"); } catch (e) { return [e.name, e.message]; } } }')).getEntrypoint().m(1);
//// => {"value":["Error","No such module \"nope.js\"."]}

//// case: dynamic import of data url
return await env.LOADER.load(worker('export default { async m() { try { await import("data:text/javascript,export default 1"); } catch (e) { return [e.name, e.message]; } } }')).getEntrypoint().m(1);
//// => {"value":["Error","No such module \"data:text/javascript,export default 1\"."]}

//// case: top level fetch
return await env.LOADER.load(worker('await fetch("http://x/"); export default {}')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values are not allowed within global scope. To fix this error, perform this operation within a handler. https://developers.cloudflare.com/workers/runtime-apis/handlers/\n  at main.js:1:7"}}

//// case: top level random
return await env.LOADER.load(worker('crypto.randomUUID(); export default {}')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values are not allowed within global scope. To fix this error, perform this operation within a handler. https://developers.cloudflare.com/workers/runtime-apis/handlers/\n  at main.js:1:8"}}

//// case: top level Math.random and Date
return await env.LOADER.load(worker('const r = Math.random(), d = Date.now(); export default { m() { return [typeof r, d]; } }')).getEntrypoint().m(1);
//// => {"value":["number",0]}

//// case: default export null
return await env.LOADER.load(worker('export default null')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an undefined or null value."}}

//// case: default export number
return await env.LOADER.load(worker('export default 5')).getEntrypoint().m(1);
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught TypeError: Incorrect type for map entry 'default': the provided value is not of type 'function or ExportedHandler'."}}

//// case: constructor throws
return await env.LOADER.load(worker('import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { constructor() { super(...arguments); throw new RangeError("ctor"); } m() { return 1; } }')).getEntrypoint().m(1);
//// => {"error":{"$":"RangeError","name":"RangeError","message":"ctor","remote":true}}

//// case: constructor without super
return await env.LOADER.load(worker('import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { constructor() { } m() { return 1; } }')).getEntrypoint().m(1);
//// => {"error":{"$":"ReferenceError","name":"ReferenceError","message":"Must call super constructor in derived class before accessing 'this' or returning from derived constructor","remote":true}}

//// case: constructor returning another
return await env.LOADER.load(worker('import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { constructor() { super(...arguments); return { m() { return 5; } }; } m() { return 1; } }')).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"m\".","remote":true}}

//// case: constructor with super() empty
return await env.LOADER.load(worker('import { WorkerEntrypoint } from "cloudflare:workers"; export default class extends WorkerEntrypoint { constructor() { super(); } m() { return 1; } }')).getEntrypoint().m(1);
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to construct 'WorkerEntrypoint': constructor parameter 1 is not of type 'Object'.","remote":true}}

//// case: a module that is not Wasm and that nobody imports
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'm.js', modules: { 'm.js': 'export default { m() { return 1; } }', 'w.wasm': { wasm: new Uint8Array([1, 2, 3]) } } }).getEntrypoint().m(1);
//// differs: loaderd compiles Wasm when it is imported, workerd when the Worker starts
//// => {"value":1}

//// case: exports that are functions and classes of no entrypoint
const out = [];
for (const e of ['() => 1', 'function () {}', 'class {}', 'class { fetch() {} }']) out.push(await settled(env.LOADER.load(worker(`export default (${e}); export const A = (${e});`)).getEntrypoint().m(1)), await settled(env.LOADER.load(worker(`export default {}; export const A = (${e});`)).getEntrypoint('A').m(1)));
return out;
//// differs: workerd fails with an internal error
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"Worker has no default entrypoint."}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: A"}},{"error":{"$":"Error","name":"Error","message":"Worker has no default entrypoint."}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: A"}},{"error":{"$":"Error","name":"Error","message":"Worker has no default entrypoint."}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: A"}},{"error":{"$":"Error","name":"Error","message":"Worker has no default entrypoint."}},{"error":{"$":"Error","name":"Error","message":"Worker has no such entrypoint: A"}}]}
