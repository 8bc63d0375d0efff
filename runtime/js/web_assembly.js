// WebAssembly with memory that is seen: no allocator of ours sees it, and instructions grow it. V8's own object is changed
// when a program first touches it, or has a WebAssembly module; before that nobody can reach what it is made of.
'use strict';
const { Proxy, apply, construct, defineProperty, getOwnPropertyDescriptor, WebAssembly } = primordials;
const { count, memoryOf, OWN_MEMORIES } = native;
// A memory leads to its class.
load('shared_memory');

function replace(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

// Every memory is made here, also those that modules declare for themselves (`modules/wasm.rs` has made imports of them),
// so that each can be counted.
const { Memory, Module, Instance, instantiate } = WebAssembly;
const importsOf = Module.imports;
const bufferOf = getOwnPropertyDescriptor(Memory.prototype, 'buffer').get;

const PlatformMemory = new Proxy(Memory, {
  __proto__: null,
  construct(target, values, newTarget) {
    const memory = construct(Memory, values, newTarget);
    count(memory, apply(bufferOf, memory, []));
    return memory;
  },
});

// What a module's own memories are imported from, on top of what the program gives it.
function withMemories(module, imports) {
  let all;
  try {
    all = apply(importsOf, Module, [module]);
  } catch {
    return imports;
  }
  let others = all.length;
  while (others > 0 && all[others - 1].module === OWN_MEMORIES) others--;
  const given = (typeof imports === 'object' && imports !== null) || typeof imports === 'function';
  // Where the program should have given something and did not, V8 is to say so.
  if (others === all.length || (!given && (others > 0 || imports !== undefined))) return imports;
  const memories = { __proto__: null };
  for (let at = others; at < all.length; at++) {
    const { name } = all[at];
    memories[name] = construct(PlatformMemory, [memoryOf(name)]);
  }
  return { __proto__: given ? imports : null, [OWN_MEMORIES]: memories };
}

const PlatformInstance = new Proxy(Instance, {
  __proto__: null,
  construct: (target, values, newTarget) =>
    construct(Instance, values.length === 0 ? [] : [values[0], withMemories(values[0], values[1])], newTarget),
});

replace(Memory.prototype, 'constructor', PlatformMemory);
replace(WebAssembly, 'Memory', PlatformMemory);
replace(Instance.prototype, 'constructor', PlatformInstance);
replace(WebAssembly, 'Instance', PlatformInstance);
replace(WebAssembly, 'instantiate', {
  instantiate(source) {
    return apply(instantiate, WebAssembly, [source, withMemories(source, arguments[1])]);
  },
}.instantiate);
replace(Module, 'imports', {
  imports(module) {
    const all = apply(importsOf, Module, [module]);
    let shown = all.length;
    while (shown > 0 && all[shown - 1].module === OWN_MEMORIES) shown--;
    all.length = shown;
    return all;
  },
}.imports);

return { __proto__: null, WebAssembly };
