// Shared buffers that are seen: those that can grow do so past every allocator of ours, and V8 accounts for none of them.
// V8's own class is changed when a program first touches it or anything of WebAssembly's, which has such buffers, too;
// before that nobody can reach it.
'use strict';
const { Proxy, SharedArrayBuffer, apply, construct, defineProperty, getOwnPropertyDescriptor } = primordials;

const growableOf = getOwnPropertyDescriptor(SharedArrayBuffer.prototype, 'growable').get;

const PlatformSharedArrayBuffer = new Proxy(SharedArrayBuffer, {
  __proto__: null,
  construct(target, values, newTarget) {
    const buffer = construct(SharedArrayBuffer, values, newTarget);
    if (apply(growableOf, buffer, [])) native.count(buffer, buffer);
    return buffer;
  },
});

defineProperty(SharedArrayBuffer.prototype, 'constructor', {
  __proto__: null,
  value: PlatformSharedArrayBuffer,
  writable: true,
  enumerable: false,
  configurable: true,
});

return { __proto__: null, SharedArrayBuffer: PlatformSharedArrayBuffer };
