// Web Cryptography: the `crypto` object and random values. `SubtleCrypto` and keys are rooms of their own.
'use strict';
const { apply, isView, viewTag } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const token = {};

// The most bytes one getRandomValues() call may ask for.
const RANDOM_BYTES_MAX = 65536;

function fail(name, message) {
  const { DOMException } = load('dom_exception');
  throw new DOMException(message, name);
}

class Crypto {
  #subtle = null;
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  get subtle() {
    if (!(#subtle in this)) illegalInvocation();
    return (this.#subtle ??= load('crypto_subtle').subtle);
  }
  getRandomValues(array) {
    if (!(#subtle in this)) illegalInvocation();
    if (!isView(array)) badArgument('Crypto', 'getRandomValues', 1, 'ArrayBufferView');
    const tag = apply(viewTag, array, []);
    if (tag === undefined || tag === 'Float32Array' || tag === 'Float64Array' || tag === 'Float16Array') {
      fail('TypeMismatchError', 'ArrayBufferView argument to getRandomValues() must be an integer-typed view.');
    }
    const length = apply(primordials.viewByteLength, array, []);
    if (length > RANDOM_BYTES_MAX) {
      fail('QuotaExceededError', `getRandomValues() only accepts buffers of size <= 64K but provided ${length} bytes.`);
    }
    native.fillRandom(array);
    return array;
  }
  randomUUID() {
    if (!(#subtle in this)) illegalInvocation();
    return native.randomUUID();
  }
}
primordials.defineProperty(Crypto.prototype, 'DigestStream', {
  __proto__: null,
  get() {
    return load('crypto_digest_stream').DigestStream;
  },
  configurable: true,
});
expose(Crypto, 'Crypto', { getters: [['subtle', primordials.getOwnPropertyDescriptor(Crypto.prototype, 'subtle').get]] });

return { Crypto, crypto: new Crypto(token) };
