// What a Worker is made of: kinds of modules, and how specifiers resolve.
//// case: an ES module imports another
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { a } from './a.js'; export default { async x() { return a; } }`, 'a.js': 'export const a = 1' } }).getEntrypoint().x(undefined);
//// => {"value":1}

//// case: a specifier without a dot
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { a } from 'a.js'; export default { async x() { return a; } }`, 'a.js': 'export const a = 1' } }).getEntrypoint().x(undefined);
//// => {"value":1}

//// case: a specifier with a slash
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { a } from '/a.js'; export default { async x() { return a; } }`, 'a.js': 'export const a = 1' } }).getEntrypoint().x(undefined);
//// => {"value":1}

//// case: a module in a folder imports its neighbour
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { b } from './sub/a.js'; export default { async x() { return b; } }`, 'sub/a.js': 'export { b } from "./b.js"', 'sub/b.js': 'export const b = 2' } }).getEntrypoint().x(undefined);
//// => {"value":2}

//// case: a module in a folder imports from above
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { b } from './sub/a.js'; export default { async x() { return b; } }`, 'sub/a.js': 'export { b } from "../b.js"', 'b.js': 'export const b = 2' } }).getEntrypoint().x(undefined);
//// => {"value":2}

//// case: a module that is not there
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import './gone.js'; export default {}`,  } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: No such module \"gone.js\".\n  imported from \"main.js\""}}

//// case: an export that is not there
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { a } from './a.js'; export default {}`, 'a.js': '' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: The requested module './a.js' does not provide an export named 'a'\n  at main.js:1:9"}}

//// case: a dynamic import
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return (await import('./a.js')).a; } }`, 'a.js': 'export const a = 1' } }).getEntrypoint().x(undefined);
//// => {"value":1}

//// case: a dynamic import of nothing
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return await import('./gone.js'); } }`,  } }).getEntrypoint().x(undefined);
//// => {"error":{"$":"Error","name":"Error","message":"No such module \"gone.js\".","remote":true}}

//// case: a circle of imports
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import { a } from './a.js'; export default { async x() { return a(); } }`, 'a.js': 'import { b } from "./b.js"; export const a = () => b + 1', 'b.js': 'import "./a.js"; export const b = 1' } }).getEntrypoint().x(undefined);
//// => {"value":2}

//// case: a js object
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.js'; export default { async x() { return a; } }`, 'a.js': { js: 'export default 7' } } }).getEntrypoint().x(undefined);
//// => {"value":7}

//// case: a text module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.txt'; export default { async x() { return a; } }`, 'a.txt': { text: 'hello' } } }).getEntrypoint().x(undefined);
//// => {"value":"hello"}

//// case: a json module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.json'; export default { async x() { return a; } }`, 'a.json': { json: { n: [1, 2] } } } }).getEntrypoint().x(undefined);
//// => {"value":{"n":[1,2]}}

//// case: a data module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.bin'; export default { async x() { return a; } }`, 'a.bin': { data: new Uint8Array([1, 2, 3]).buffer } } }).getEntrypoint().x(undefined);
//// => {"value":{"$":"ArrayBuffer","value":[1,2,3]}}

//// case: a cjs module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.cjs'; export default { async x() { return a; } }`, 'a.cjs': { cjs: 'module.exports = { n: 3 }' } } }).getEntrypoint().x(undefined);
//// => {"value":{"n":3}}

//// case: a cjs module that requires another
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.cjs'; export default { async x() { return a; } }`, 'a.cjs': { cjs: 'module.exports = require("./b.cjs").n + 1' }, 'b.cjs': { cjs: 'exports.n = 3' } } }).getEntrypoint().x(undefined);
//// => {"value":4}

//// case: a wasm module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.wasm'; export default { async x() { return a instanceof WebAssembly.Module; } }`, 'a.wasm': { wasm: new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]).buffer } } }).getEntrypoint().x(undefined);
//// => {"value":true}

//// case: a wasm module that is none
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import a from './a.wasm'; export default { async x() { return 1; } }`, 'a.wasm': { wasm: new Uint8Array([1, 2, 3]).buffer } } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught CompileError: WasmModuleObject::Compile(): expected 4 bytes, fell off end @+0"}}

//// case: a module of two kinds
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return 1; } }`, 'a.js': { js: '', text: '' } } }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'a.js' contained 2 properties."}}

//// case: a module of no kind
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return 1; } }`, 'a.js': {} } }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'a.js' contained 0 properties."}}

//// case: a module that is a number
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return 1; } }`, 'a.js': 5 } }).getEntrypoint().x(undefined);
//// => {"value":1}

//// case: a string module whose name says nothing
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return 1; } }`, 'a.txt': 'x' } }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Module name must end with '.js' or '.py' (or the content must be an object indicating the type explicitly). Got: a.txt"}}

//// case: a syntax error in a module nobody imports
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return 1; } }`, 'a.js': 'export default {' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught SyntaxError: Unexpected end of input\n  at a.js:1:16"}}

//// case: an error at the top of an imported module
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import './a.js'; export default {}`, 'a.js': 'throw new Error("inner")' } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: inner\n  at a.js:1:7"}}

//// case: cloudflare:workers is built in
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import * as w from 'cloudflare:workers'; export default { async x() { return typeof w.WorkerEntrypoint; } }`,  } }).getEntrypoint().x(undefined);
//// => {"value":"function"}

//// case: a built-in module that does not exist
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import 'cloudflare:gone'; export default {}`,  } }).getEntrypoint().x();
//// => {"error":{"$":"Error","name":"Error","message":"Failed to start Worker:\nUncaught Error: No such module \"cloudflare:gone\".\n  imported from \"main.js\""}}

//// case: node modules need a flag
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import 'node:assert'; export default {}`,  } }).getEntrypoint().x();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"x\".","remote":true}}

//// case: node:assert with its flag
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `import assert from 'node:assert'; export default { async x() { assert.strictEqual(1, 1); return 'ok'; } }`,  }, compatibilityFlags: ['nodejs_compat'] }).getEntrypoint().x(undefined);
//// => {"value":"ok"}

//// case: import.meta
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return Object.keys(import.meta).sort(); } }`,  } }).getEntrypoint().x(undefined);
//// => {"value":[]}

//// case: eval is refused
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return eval('1'); } }`,  } }).getEntrypoint().x(undefined);
//// => {"error":{"$":"EvalError","name":"EvalError","message":"Code generation from strings disallowed for this context","remote":true}}

//// case: new Function is refused
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return new Function('return 1')(); } }`,  } }).getEntrypoint().x(undefined);
//// => {"error":{"$":"EvalError","name":"EvalError","message":"Code generation from strings disallowed for this context","remote":true}}

//// case: compiling Wasm from bytes is refused
return await env.LOADER.load({ compatibilityDate: '2026-08-15', mainModule: 'main.js', modules: { 'main.js': `export default { async x() { return await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); } }`,  } }).getEntrypoint().x(undefined);
//// => {"error":{"$":"Error","name":"CompileError","message":"WebAssembly.compile(): Wasm code generation disallowed by embedder","remote":true}}
