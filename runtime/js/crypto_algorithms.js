// The algorithms of keys (Web Cryptography 11): what each is, what its keys may be used for, and how arguments name it.
'use strict';
const { apply, isView, bytesFromBase64, bytesToBase64, TypeError, Uint8Array } = primordials;
const { DOMException } = load('dom_exception');

const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
const CIPHER = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
const CURVES = { __proto__: null, 'P-256': 32, 'P-384': 48, 'P-521': 66 };
const HASHES = { __proto__: null, 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128, MD5: 64 };

function fail(name, message) {
  throw new DOMException(message, name);
}

// What each algorithm is and which usages its secret (or private) and public keys may have.
const ALGORITHMS = [
  { name: 'AES-CTR', family: 'aes', secret: CIPHER, jwk: 'CTR' },
  { name: 'AES-CBC', family: 'aes', secret: CIPHER, jwk: 'CBC' },
  { name: 'AES-GCM', family: 'aes', secret: CIPHER, jwk: 'GCM' },
  { name: 'AES-KW', family: 'aes', secret: ['wrapKey', 'unwrapKey'], jwk: 'KW' },
  { name: 'HMAC', family: 'hmac', secret: ['sign', 'verify'] },
  { name: 'PBKDF2', family: 'kdf', secret: ['deriveKey', 'deriveBits'] },
  { name: 'HKDF', family: 'kdf', secret: ['deriveKey', 'deriveBits'] },
  { name: 'RSASSA-PKCS1-v1_5', family: 'rsa', private: ['sign'], public: ['verify'], jwk: 'RS' },
  { name: 'RSA-PSS', family: 'rsa', private: ['sign'], public: ['verify'], jwk: 'PS' },
  { name: 'RSA-OAEP', family: 'rsa', private: ['decrypt', 'unwrapKey'], public: ['encrypt', 'wrapKey'], jwk: 'RSA-OAEP' },
  { name: 'ECDSA', family: 'ec', private: ['sign'], public: ['verify'] },
  { name: 'ECDH', family: 'ec', private: ['deriveKey', 'deriveBits'], public: [] },
  { name: 'Ed25519', family: 'okp', curve: 'Ed25519', private: ['sign'], public: ['verify'] },
  // An older name, which wants its curve named as well.
  { name: 'NODE-ED25519', family: 'okp', curve: 'Ed25519', private: ['sign'], public: ['verify'] },
  { name: 'X25519', family: 'okp', curve: 'X25519', private: ['deriveKey', 'deriveBits'], public: [] },
];

// An algorithm argument as an object with a name.
function identifier(algorithm) {
  return typeof algorithm === 'object' && algorithm !== null ? algorithm : { name: `${algorithm}` };
}

function find(algorithm, purpose) {
  const wanted = identifier(algorithm);
  const name = `${wanted.name}`;
  const lower = name.toLowerCase();
  const known = ALGORITHMS.find((candidate) => candidate.name.toLowerCase() === lower);
  if (known === undefined || (purpose === 'generation' && known.family === 'kdf')) {
    fail('NotSupportedError', `Unrecognized key ${purpose} algorithm "${name}" requested.`);
  }
  return { known, wanted };
}

function hashName(hash) {
  const name = `${identifier(hash).name}`.toUpperCase();
  if (HASHES[name] === undefined) {
    fail('NotSupportedError', 'Unrecognized or unimplemented digest algorithm requested.');
  }
  return name;
}

function required(algorithm, field, owner = 'algorithm') {
  const value = algorithm[field];
  if (value === undefined || value === null) throw new TypeError(`Missing field "${field}" in "${owner}".`);
  return value;
}

function curveName(algorithm) {
  const name = `${required(algorithm, 'namedCurve')}`;
  if (CURVES[name] === undefined) {
    fail('NotSupportedError', `Unrecognized or unimplemented EC curve "${name}" requested.`);
  }
  return name;
}

// The usages asked for, in the platform's order; each must be one of `allowed`.
function usageSet(asked, allowed, action, name) {
  for (let i = 0; i < asked.length; i++) {
    if (!allowed.includes(asked[i])) {
      fail('SyntaxError', `Attempt to ${action} ${name} key with invalid usage "${asked[i]}".`);
    }
  }
  return USAGES.filter((usage) => asked.includes(usage));
}

function bytesOf(data) {
  return isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice() : new Uint8Array(data).slice();
}

function encode64(bytes) {
  return apply(bytesToBase64, new Uint8Array(bytes), [{ alphabet: 'base64url', omitPadding: true }]);
}

function decode64(text, message) {
  try {
    return apply(bytesFromBase64, Uint8Array, [`${text}`, { alphabet: 'base64url' }]);
  } catch {
    return fail('DataError', message);
  }
}

function field64(jwk, field, message) {
  if (jwk[field] === undefined) fail('DataError', message);
  return decode64(jwk[field], message);
}

return {
  CURVES,
  HASHES,
  bytesOf,
  curveName,
  encode64,
  fail,
  field64,
  find,
  hashName,
  identifier,
  required,
  usageSet,
};
