// What V8 itself puts on the global object and the platform does not allow as it is: Date reads the machine's clock,
// and no allocator of ours sees WebAssembly memory. Runs once for every context, before any program.
'use strict';
const { Proxy, apply, construct, defineProperty, dateToString } = primordials;
const { now, charge } = native;
const PAGE_BYTES = 65536;

function replace(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

// --- The clock ----------------------------------------------------------------------------------------------------

const RealDate = Date;
const PlatformDate = new Proxy(RealDate, {
  __proto__: null,
  apply: () => apply(dateToString, construct(RealDate, [now()]), []),
  construct: (target, values, newTarget) => construct(RealDate, values.length === 0 ? [now()] : values, newTarget),
});
replace(RealDate, 'now', now);
replace(RealDate.prototype, 'constructor', PlatformDate);
replace(globalThis, 'Date', PlatformDate);

// --- WebAssembly memory -------------------------------------------------------------------------------------------

const { Memory } = WebAssembly;
const { grow } = Memory.prototype;
const registry = new FinalizationRegistry((counted) => charge(-counted.bytes));
const register = registry.register;

// The state of a counted memory, out of the program's reach.
class Counted extends (function (memory) { return memory; }) {
  #counted;
  constructor(memory, counted) {
    super(memory);
    this.#counted = counted;
  }
  static of(memory) {
    return typeof memory === 'object' && memory !== null && #counted in memory ? memory.#counted : undefined;
  }
}
const countedOf = Counted.of;

const bytesOf = (memory) => apply(grow, memory, [0]) * PAGE_BYTES;

const PlatformMemory = new Proxy(Memory, {
  __proto__: null,
  construct(target, values, newTarget) {
    const memory = construct(Memory, values, newTarget);
    const counted = { __proto__: null, bytes: bytesOf(memory) };
    new Counted(memory, counted);
    apply(register, registry, [memory, counted]);
    charge(counted.bytes);
    return memory;
  },
});
replace(Memory.prototype, 'constructor', PlatformMemory);
replace(WebAssembly, 'Memory', PlatformMemory);
replace(Memory.prototype, 'grow', {
  grow(delta) {
    const before = apply(grow, this, [delta]);
    const counted = countedOf(this);
    if (counted !== undefined) {
      const bytes = bytesOf(this);
      charge(bytes - counted.bytes);
      counted.bytes = bytes;
    }
    return before;
  },
}.grow);

return { __proto__: null };
