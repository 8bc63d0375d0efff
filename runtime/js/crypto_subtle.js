// SubtleCrypto (Web Cryptography 14): the operations on keys. Arguments are checked in the platform's order and words;
// whatever is thrown rejects the promise.
'use strict';
const { isView, TypeError, Uint8Array } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const token = {};

// The most iterations PBKDF2 may be asked for, as in production.
const PBKDF2_ITERATIONS_MAX = 100000;

// The most bytes one derivation may give.
const DERIVED_BYTES_MAX = 1 << 20;

const algorithms = () => load('crypto_algorithms');
const keys = () => load('crypto_key');
const importing = () => load('crypto_import');

function isBufferSource(value) {
  return isView(value) || native.isBuffer(value);
}

function checkAlgorithm(method, args, type) {
  const algorithm = args[0];
  const isAlgorithm = typeof algorithm === 'string' || (typeof algorithm === 'object' && algorithm !== null);
  if (args.length < 1 || !isAlgorithm) badArgument('SubtleCrypto', method, 1, `string or ${type}`);
}

function checkKey(method, value, index) {
  if (!keys().isCryptoKey(value)) badArgument('SubtleCrypto', method, index, 'CryptoKey');
}

function checkData(method, value, index) {
  if (!isBufferSource(value)) badArgument('SubtleCrypto', method, index, 'BufferSource');
}

function checkUsages(method, value, index) {
  if (typeof value !== 'object' || value === null || typeof value[Symbol.iterator] !== 'function') {
    badArgument('SubtleCrypto', method, index, 'Array');
  }
  return [...value].map((usage) => `${usage}`);
}

// The operation's algorithm must be the key's, and the key must allow the operation.
function authorize(algorithm, key, usage) {
  const { identifier, fail } = algorithms();
  const wanted = identifier(algorithm);
  const name = `${wanted.name}`;
  if (name.toLowerCase() !== key.algorithm.name.toLowerCase()) {
    fail('InvalidAccessError', `Requested algorithm "${name}" does not match this CryptoKey's algorithm "${key.algorithm.name}".`);
  }
  if (!key.usages.includes(usage)) {
    fail('InvalidAccessError', `Requested key usage "${usage}" does not match any usage listed in this CryptoKey.`);
  }
  return wanted;
}

// --- ciphers ------------------------------------------------------------------------------------------------------

function cipher(encrypt, wanted, key, data) {
  const { required, bytesOf, fail } = algorithms();
  const { materialOf } = keys();
  const { name } = key.algorithm;
  const material = materialOf(key);
  const input = bytesOf(data);
  const decryptionFailed = (expected) =>
    fail(
      'OperationError',
      'Decryption failed. This could be due to a ciphertext authentication failure, bad padding, incorrect CryptoKey, ' +
        `or another algorithm-specific reason. Input length was ${expected.input}, output length expected to be ` +
        `${expected.output} for ${name}`,
    );
  switch (name) {
    case 'AES-GCM': {
      const iv = bytesOf(required(wanted, 'iv'));
      if (iv.length === 0) fail('OperationError', 'AES-GCM IV must not be empty.');
      const additional = wanted.additionalData === undefined ? new Uint8Array(0) : bytesOf(wanted.additionalData);
      const tagLength = wanted.tagLength === undefined ? 128 : Math.trunc(+wanted.tagLength);
      if (![32, 64, 96, 104, 112, 120, 128].includes(tagLength)) fail('OperationError', `Invalid AES-GCM tag length ${tagLength}.`);
      if (!encrypt && input.length < tagLength / 8) {
        fail('OperationError', `Ciphertext length of ${input.length * 8} bits must be greater than or equal to the size of the AES-GCM tag length of ${tagLength} bits.`);
      }
      const output = native.aesGcm(encrypt, material, iv, input, additional, tagLength / 8);
      const length = input.length - tagLength / 8;
      return output ?? decryptionFailed({ input: length, output: length });
    }
    case 'AES-CBC': {
      const iv = bytesOf(required(wanted, 'iv'));
      if (iv.length !== 16) fail('OperationError', `AES-CBC IV must be 16 bytes long (provided ${iv.length} bytes).`);
      return native.aesCbc(encrypt, material, iv, input) ?? decryptionFailed({ input: input.length, output: 0 });
    }
    case 'AES-CTR': {
      const counter = bytesOf(required(wanted, 'counter'));
      if (counter.length !== 16) fail('OperationError', `Counter must have length of 16 bytes (provided ${counter.length}).`);
      const length = Math.trunc(+required(wanted, 'length'));
      if (!(length > 0 && length <= 128)) fail('OperationError', `Invalid counter of ${length} bits length provided.`);
      if (length < 53 && Math.ceil(input.length / 16) > 2 ** length) fail('OperationError', 'Counter block values will repeat.');
      return native.aesCtr(material, counter, length, input);
    }
    case 'RSA-OAEP': {
      const label = wanted.label === undefined ? new Uint8Array(0) : bytesOf(wanted.label);
      const type = encrypt ? 'public' : 'private';
      if (key.type !== type) {
        fail('InvalidAccessError', `${encrypt ? 'Encryption' : 'Decryption'}/${encrypt ? 'key wrapping' : 'key unwrapping'} only works with ${type} keys, not "${key.type}".`);
      }
      const output = native.rsaOaep(encrypt, key.algorithm.hash.name, material[type], label, input);
      return output ?? fail('OperationError', `RSA-OAEP ${encrypt ? 'encryption' : 'decryption'} failed.`);
    }
    default:
      return fail('NotSupportedError', `The ${encrypt ? 'encrypt' : 'decrypt'} operation is not implemented for "${name}".`);
  }
}

// --- signatures ---------------------------------------------------------------------------------------------------

function callHash(wanted) {
  if (wanted.hash === undefined) {
    throw new TypeError(
      'Missing "hash" in AlgorithmIdentifier. (ECDSA requires that the hash algorithm be specified at call time rather than ' +
        'on the key. This differs from other WebCrypto algorithms for historical reasons.)',
    );
  }
  return algorithms().hashName(wanted.hash);
}

function saltLength(wanted, key) {
  if (key.algorithm.name === 'RSASSA-PKCS1-v1_5') return -1;
  const { fail } = algorithms();
  if (wanted.saltLength === undefined) {
    fail('DataError', 'Failed to provide salt for RSA-PSS key operation which requires a salt');
  }
  const salt = Math.trunc(+wanted.saltLength);
  if (!(salt >= 0)) fail('DataError', `SaltLength for RSA-PSS must be non-negative (provided ${salt}).`);
  return salt;
}

function sign(wanted, key, data) {
  const { fail } = algorithms();
  const { materialOf } = keys();
  const material = materialOf(key);
  const { name } = key.algorithm;
  if (name === 'HMAC') return native.hmac(key.algorithm.hash.name, material, data);
  if (key.type !== 'private') fail('InvalidAccessError', 'Asymmetric signing requires a private key.');
  switch (name) {
    case 'ECDSA':
      return native.ecdsaSign(key.algorithm.namedCurve, callHash(wanted), material.private, data);
    case 'Ed25519':
    case 'NODE-ED25519':
      return native.edSign(material.private, data);
    case 'RSASSA-PKCS1-v1_5':
    case 'RSA-PSS': {
      const signature = native.rsaSign(key.algorithm.hash.name, saltLength(wanted, key), material.private, data);
      return signature ?? fail('OperationError', 'key too small for signing with given digest');
    }
    default:
      return fail('NotSupportedError', `The sign and verify operations are not implemented for "${name}".`);
  }
}

function verify(wanted, key, signature, data) {
  const { fail } = algorithms();
  const { materialOf } = keys();
  const material = materialOf(key);
  const { name } = key.algorithm;
  if (name === 'HMAC') {
    return native.timingSafeEqual(native.hmac(key.algorithm.hash.name, material, data), signature) === true;
  }
  if (key.type !== 'public') fail('InvalidAccessError', 'Asymmetric verification requires a public key.');
  switch (name) {
    case 'ECDSA':
      return native.ecdsaVerify(key.algorithm.namedCurve, callHash(wanted), material.public, signature, data) === true;
    case 'Ed25519':
    case 'NODE-ED25519':
      return native.edVerify(material.public, signature, data) === true;
    case 'RSASSA-PKCS1-v1_5':
    case 'RSA-PSS':
      return native.rsaVerify(key.algorithm.hash.name, saltLength(wanted, key), material.public, signature, data) === true;
    default:
      return fail('NotSupportedError', `The sign and verify operations are not implemented for "${name}".`);
  }
}

// --- derivation ---------------------------------------------------------------------------------------------------

// `length` is in bits, or null for all there is.
function deriveBits(wanted, key, length) {
  const { required, hashName, bytesOf, fail } = algorithms();
  const { materialOf, isCryptoKey } = keys();
  const { name } = key.algorithm;
  const material = materialOf(key);
  if (name === 'PBKDF2' || name === 'HKDF') {
    const hash = hashName(required(wanted, 'hash'));
    const salt = bytesOf(required(wanted, 'salt'));
    if (length === null) fail('OperationError', `${name} cannot derive a key with null length.`);
    if (length % 8 !== 0) {
      fail('OperationError', `${name} requires a derived key length that is a multiple of eight (requested ${length}).`);
    }
    if (length / 8 > DERIVED_BYTES_MAX) fail('OperationError', `${name} deriveBits failed.`);
    if (name === 'HKDF') {
      const info = bytesOf(required(wanted, 'info'));
      return native.hkdf(hash, material, salt, info, length / 8) ?? fail('OperationError', 'HKDF deriveBits failed.');
    }
    const iterations = Math.trunc(+required(wanted, 'iterations'));
    if (!(iterations > 0)) fail('OperationError', `PBKDF2 requires a positive iteration count (requested ${iterations}).`);
    if (iterations > PBKDF2_ITERATIONS_MAX) {
      fail('NotSupportedError', `Pbkdf2 failed: iteration counts above ${PBKDF2_ITERATIONS_MAX} are not supported (requested ${iterations}).`);
    }
    return native.pbkdf2(hash, material, salt, iterations, length / 8);
  }
  if (name !== 'ECDH' && name !== 'X25519') {
    fail('NotSupportedError', `The deriveBits operation is not implemented for "${name}".`);
  }
  if (key.type !== 'private') {
    fail('InvalidAccessError', `The deriveBits operation is only valid for a private key, not "${key.type}".`);
  }
  const peer = required(wanted, 'public', 'derivedKeyParams');
  if (!isCryptoKey(peer)) throw new TypeError("Incorrect type for the 'public' field on 'DeriveKeyAlgorithm': the provided value is not of type 'CryptoKey'.");
  if (peer.type !== 'public') fail('InvalidAccessError', `The provided key has type "${peer.type}", not "public"`);
  if (peer.algorithm.name !== name) {
    fail('InvalidAccessError', `Private key for derivation is using "${name}" while public key is using "${peer.algorithm.name}".`);
  }
  let secret;
  if (name === 'ECDH') {
    const { namedCurve } = key.algorithm;
    if (namedCurve !== peer.algorithm.namedCurve) {
      fail('InvalidAccessError', `Private key for derivation is using curve "${namedCurve}" while public key is using "${peer.algorithm.namedCurve}".`);
    }
    secret = native.ecdh(namedCurve, material.private, materialOf(peer).public);
  } else {
    secret = native.x25519(material.private, materialOf(peer).public);
  }
  if (secret === undefined) fail('OperationError', `Failed to generate shared ${name} secret.`);
  if (length === null) return secret;
  const available = secret.byteLength * 8;
  if (length > available) {
    fail('OperationError', `Derived key length (${length} bits) is too long (should be at most ${available} bits).`);
  }
  const bytes = new Uint8Array(secret).slice(0, Math.ceil(length / 8));
  if (length % 8 !== 0) bytes[bytes.length - 1] &= 0xff << (8 - (length % 8));
  return bytes.buffer;
}

// How many bits a derived key takes; null for as many as there are.
function keyLength(algorithm) {
  const { identifier, hashName, required, fail } = algorithms();
  const wanted = identifier(algorithm);
  const name = `${wanted.name}`.toUpperCase();
  if (name === 'HKDF' || name === 'PBKDF2') return null;
  if (name === 'HMAC') {
    if (wanted.length !== undefined) {
      const length = Math.trunc(+wanted.length);
      if (!(length > 0)) throw new TypeError('HMAC key length must be a non-zero unsigned long integer.');
      return length;
    }
    return hashName(required(wanted, 'hash', 'derivedKeyParams')) < 'SHA-384' ? 512 : 1024;
  }
  if (!['AES-CTR', 'AES-CBC', 'AES-GCM', 'AES-KW'].includes(name)) {
    fail('NotSupportedError', `Unrecognized derived key type "${wanted.name}" requested.`);
  }
  const length = Math.trunc(+required(wanted, 'length', 'derivedKeyParams'));
  if (length !== 128 && length !== 192 && length !== 256) {
    fail('OperationError', `Derived AES key must be 128, 192, or 256 bits in length but provided ${length}.`);
  }
  return length;
}

// --- the class ----------------------------------------------------------------------------------------------------

class SubtleCrypto {
  #brand = true;
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  async encrypt(algorithm, key, plainText) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('encrypt', arguments, 'EncryptAlgorithm');
    checkKey('encrypt', key, 2);
    checkData('encrypt', plainText, 3);
    return cipher(true, authorize(algorithm, key, 'encrypt'), key, plainText);
  }
  async decrypt(algorithm, key, cipherText) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('decrypt', arguments, 'EncryptAlgorithm');
    checkKey('decrypt', key, 2);
    checkData('decrypt', cipherText, 3);
    return cipher(false, authorize(algorithm, key, 'decrypt'), key, cipherText);
  }
  async sign(algorithm, key, data) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('sign', arguments, 'SignAlgorithm');
    checkKey('sign', key, 2);
    checkData('sign', data, 3);
    return sign(authorize(algorithm, key, 'sign'), key, data);
  }
  async verify(algorithm, key, signature, data) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('verify', arguments, 'SignAlgorithm');
    checkKey('verify', key, 2);
    checkData('verify', signature, 3);
    checkData('verify', data, 4);
    return verify(authorize(algorithm, key, 'verify'), key, signature, data);
  }
  async digest(algorithm, data) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('SubtleCrypto', 'digest', 1, 'string or HashAlgorithm');
    const name = typeof algorithm === 'object' && algorithm !== null ? `${algorithm.name}` : `${algorithm}`;
    checkData('digest', data, 2);
    const result = native.digest(name.toUpperCase(), data);
    if (result === undefined) {
      algorithms().fail('NotSupportedError', 'Unrecognized or unimplemented digest algorithm requested.');
    }
    return result;
  }
  async generateKey(algorithm, extractable, keyUsages) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('generateKey', arguments, 'GenerateKeyAlgorithm');
    if (arguments.length < 2) badArgument('SubtleCrypto', 'generateKey', 2, 'boolean');
    const usages = checkUsages('generateKey', keyUsages, 3);
    return keys().generate(algorithm, !!extractable, usages);
  }
  async deriveKey(algorithm, baseKey, derivedKeyAlgorithm, extractable, keyUsages) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('deriveKey', arguments, 'DeriveKeyAlgorithm');
    checkKey('deriveKey', baseKey, 2);
    const usages = checkUsages('deriveKey', keyUsages, 5);
    const wanted = authorize(algorithm, baseKey, 'deriveKey');
    const bits = deriveBits(wanted, baseKey, keyLength(derivedKeyAlgorithm));
    return importing().importKey('raw', bits, derivedKeyAlgorithm, !!extractable, usages);
  }
  async deriveBits(algorithm, baseKey, length) {
    if (!(#brand in this)) illegalInvocation();
    checkAlgorithm('deriveBits', arguments, 'DeriveKeyAlgorithm');
    checkKey('deriveBits', baseKey, 2);
    const bits = length === undefined || length === null ? null : Math.trunc(+length) || 0;
    if (bits !== null && bits < 0) throw new TypeError('deriveBits length must be an unsigned long integer.');
    return deriveBits(authorize(algorithm, baseKey, 'deriveBits'), baseKey, bits);
  }
  async importKey(format, keyData, algorithm, extractable, keyUsages) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('SubtleCrypto', 'importKey', 1, 'string');
    if (typeof keyData !== 'object' || keyData === null) badArgument('SubtleCrypto', 'importKey', 2, 'BufferSource or JsonWebKey');
    if (arguments.length < 3) badArgument('SubtleCrypto', 'importKey', 3, 'string or ImportKeyAlgorithm');
    if (arguments.length < 4) badArgument('SubtleCrypto', 'importKey', 4, 'boolean');
    const usages = checkUsages('importKey', keyUsages, 5);
    return importing().importKey(`${format}`, keyData, algorithm, !!extractable, usages);
  }
  async exportKey(format, key) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('SubtleCrypto', 'exportKey', 1, 'string');
    checkKey('exportKey', key, 2);
    return load('crypto_export').exportKey(`${format}`, key);
  }
  async wrapKey(format, key, wrappingKey, wrapAlgorithm) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('SubtleCrypto', 'wrapKey', 1, 'string');
    checkKey('wrapKey', key, 2);
    checkKey('wrapKey', wrappingKey, 3);
    const wanted = authorize(wrapAlgorithm, wrappingKey, 'wrapKey');
    const { fail } = algorithms();
    const { materialOf } = keys();
    const exported = load('crypto_export').exportKey(`${format}`, key);
    const bytes = native.isBuffer(exported) ? new Uint8Array(exported) : load('encoding').utf8(primordials.jsonStringify(exported));
    if (wrappingKey.algorithm.name !== 'AES-KW') return cipher(true, wanted, wrappingKey, bytes);
    checkWrapped(bytes.length, fail);
    return native.aesKw(true, materialOf(wrappingKey), bytes) ?? fail('OperationError', 'AES-KW key wrapping failed.');
  }
  async unwrapKey(format, wrappedKey, unwrappingKey, unwrapAlgorithm, unwrappedKeyAlgorithm, extractable, keyUsages) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('SubtleCrypto', 'unwrapKey', 1, 'string');
    checkData('unwrapKey', wrappedKey, 2);
    checkKey('unwrapKey', unwrappingKey, 3);
    const usages = checkUsages('unwrapKey', keyUsages, 7);
    const wanted = authorize(unwrapAlgorithm, unwrappingKey, 'unwrapKey');
    const { fail } = algorithms();
    const { materialOf } = keys();
    if (unwrappingKey.algorithm.name === 'AES-KW') checkUnwrapped(wrappedKey.byteLength, fail);
    const bytes =
      unwrappingKey.algorithm.name === 'AES-KW'
        ? native.aesKw(false, materialOf(unwrappingKey), wrappedKey) ?? fail('OperationError', 'AES-KW key unwrapping failed.')
        : cipher(false, wanted, unwrappingKey, wrappedKey);
    let data = bytes;
    if (`${format}` === 'jwk') {
      try {
        data = primordials.jsonParse(load('encoding').decodeUtf8(bytes));
      } catch {
        data = undefined;
      }
      if (typeof data !== 'object' || data === null) fail('DataError', 'Missing "kty" field or corrupt JSON unwrapping key?');
    }
    return importing().importKey(`${format}`, data, unwrappedKeyAlgorithm, !!extractable, usages);
  }
  timingSafeEqual(a, b) {
    if (!(#brand in this)) illegalInvocation();
    checkData('timingSafeEqual', a, 1);
    checkData('timingSafeEqual', b, 2);
    const equal = native.timingSafeEqual(a, b);
    if (equal === undefined) throw new TypeError('Input buffers must have the same byte length.');
    return equal;
  }
}
expose(SubtleCrypto, 'SubtleCrypto');

// AES-KW (RFC 3394) wraps blocks of eight bytes, at least two of them.
function checkWrapped(bytes, fail) {
  if (bytes % 8 !== 0) {
    fail('OperationError', `Unwrapped key bit length must be a multiple of 64 bits but unwrapped key has a length of ${bytes * 8} bits.`);
  }
  if (bytes < 16) {
    fail('OperationError', `Unwrapped key has length ${bytes} bytes but it should be greater than or equal to 16 and less than or equal to 18446744073709551607`);
  }
}

function checkUnwrapped(bytes, fail) {
  if (bytes % 8 !== 0) {
    fail('OperationError', `Provided a wrapped key to unwrap that is ${bytes * 8} bits which isn't a multiple of 64 bits.`);
  }
  if (bytes < 24) {
    fail('OperationError', `Provided a wrapped key to unwrap this is ${bytes * 8} bits that is less than the minimal length of 192 bits.`);
  }
}

return { SubtleCrypto, subtle: new SubtleCrypto(token) };
