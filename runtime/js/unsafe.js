// The modules workerd:unsafe-eval and workerd:unsafe, and the `unsafeEval` binding.
'use strict';
const { badArgument, expose } = load('webidl');

const isBytes = (value) => primordials.isView(value) || native.isBuffer(value);

// Compiles code from strings, in the global scope only.
class UnsafeEval {
  eval(script, name) {
    if (arguments.length < 1) badArgument('UnsafeEval', 'eval', 1, 'string');
    return native.eval(`${script}`, name === undefined ? 'eval' : `${name}`);
  }
  newFunction(script, name, ...parameters) {
    if (arguments.length < 1) badArgument('UnsafeEval', 'newFunction', 1, 'string');
    return native.newFunction(`${script}`, name === undefined ? 'anonymous' : `${name}`, texts(parameters));
  }
  newAsyncFunction(script, name, ...parameters) {
    if (arguments.length < 1) badArgument('UnsafeEval', 'newAsyncFunction', 1, 'string');
    const called = name === undefined ? 'anonymous' : `${name}`;
    let list = '';
    for (let i = 0; i < parameters.length; i++) list += `${parameters[i]},`;
    return native.eval(`async function ${called}(${list}) {${script}};${called}`, called);
  }
  newWasmModule(bytes) {
    if (!isBytes(bytes)) badArgument('UnsafeEval', 'newWasmModule', 1, 'ArrayBuffer or ArrayBufferView');
    return native.newWasmModule(bytes);
  }
}
expose(UnsafeEval, 'UnsafeEval');

function texts(values) {
  const list = [];
  for (let i = 0; i < values.length; i++) list[i] = `${values[i]}`;
  return list;
}

// What workerd's own tests ask of the runtime.
class UnsafeModule {
  // No rollout gate exists here.
  isTestAutogateEnabled() {
    return false;
  }
  // The platform's objects are never resurrected here, so none is ever refused.
  getCondemnedWrapperCount() {
    return 0;
  }
}
expose(UnsafeModule, 'UnsafeModule');

return {
  UnsafeEval,
  compileWasm: native.newWasmModule,
  evalModule: { __proto__: null, default: new UnsafeEval() },
  module: { __proto__: null, default: new UnsafeModule() },
};
