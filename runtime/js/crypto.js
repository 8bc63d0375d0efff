// Web Cryptography: the `crypto` object, random values, digests and constant-time comparison.
'use strict';
const { apply, isView, viewTag, ArrayBuffer, Promise, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const token = {};

// The most bytes one getRandomValues() call may ask for.
const RANDOM_BYTES_MAX = 65536;

function fail(name, message) {
  const { DOMException } = load('dom_exception');
  throw new DOMException(message, name);
}

function isBufferSource(value) {
  return isView(value) || native.isBuffer(value);
}

class SubtleCrypto {
  #brand = true;
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  // Arguments are checked before the promise exists; the platform turns what is thrown into a rejection.
  async digest(algorithm, data) {
    if (!(#brand in this)) illegalInvocation();
    const name = digestName(algorithm, arguments.length < 1);
    if (!isBufferSource(data)) badArgument('SubtleCrypto', 'digest', 2, 'BufferSource');
    const result = native.digest(name.toUpperCase(), data);
    if (result === undefined) {
      fail('NotSupportedError', 'Unrecognized or unimplemented digest algorithm requested.');
    }
    return result;
  }
  timingSafeEqual(a, b) {
    if (!(#brand in this)) illegalInvocation();
    if (!isBufferSource(a)) badArgument('SubtleCrypto', 'timingSafeEqual', 1, 'BufferSource');
    if (!isBufferSource(b)) badArgument('SubtleCrypto', 'timingSafeEqual', 2, 'BufferSource');
    const equal = native.timingSafeEqual(a, b);
    if (equal === undefined) throw new TypeError('Input buffers must have the same byte length.');
    return equal;
  }
}

function digestName(algorithm, missing) {
  if (missing) badArgument('SubtleCrypto', 'digest', 1, 'string or HashAlgorithm');
  if (typeof algorithm === 'object' && algorithm !== null) return `${algorithm.name}`;
  return `${algorithm}`;
}
expose(SubtleCrypto, 'SubtleCrypto');

class Crypto {
  #subtle = new SubtleCrypto(token);
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  get subtle() {
    if (!(#subtle in this)) illegalInvocation();
    return this.#subtle;
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
expose(Crypto, 'Crypto');

return { Crypto, SubtleCrypto, crypto: new Crypto(token) };
