// CryptoKey (Web Cryptography 13), and how keys of each family are generated and imported.
//
// A key's material never leaves its private field: bytes for a secret key, `{private, public}` for the two halves of an
// asymmetric one (elliptic scalars and points, Edwards seeds, RSA keys as DER).
'use strict';
const { apply, defineProperty, isView, bytesFromBase64, bytesToBase64, TypeError, Uint8Array } = primordials;
const { illegalConstructor, expose } = load('webidl');
const { DOMException } = load('dom_exception');
const token = {};

const USAGES = ['encrypt', 'decrypt', 'sign', 'verify', 'deriveKey', 'deriveBits', 'wrapKey', 'unwrapKey'];
const CIPHER = ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey'];
const CURVES = { __proto__: null, 'P-256': 32, 'P-384': 48, 'P-521': 66 };
const HASHES = { __proto__: null, 'SHA-1': 64, 'SHA-256': 64, 'SHA-384': 128, 'SHA-512': 128, MD5: 64 };
// Those that a JSON Web Key's algorithm can name.
const RSA_HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];
const BYTES_OF_ED_KEY = 32;

function fail(name, message) {
  throw new DOMException(message, name);
}

// --- algorithms ---------------------------------------------------------------------------------------------------

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

// --- the class ----------------------------------------------------------------------------------------------------

// What the rest of the platform may do with one.
let materialOf, isCryptoKey;
class CryptoKey {
  #material;
  constructor(key, parts) {
    if (key !== token) illegalConstructor();
    this.#material = parts.material;
    const own = { type: parts.type, extractable: parts.extractable, algorithm: parts.algorithm, usages: parts.usages };
    for (const name in own) {
      defineProperty(this, name, { __proto__: null, value: own[name], writable: false, enumerable: true, configurable: false });
    }
  }

  static {
    materialOf = (key) => {
      return key.#material;
    };
    isCryptoKey = (value) => {
      return typeof value === 'object' && value !== null && #material in value;
    };
  }
}
expose(CryptoKey, 'CryptoKey', { is: isCryptoKey });

function newKey(type, algorithm, extractable, usages, material) {
  return new CryptoKey(token, { type, algorithm, extractable, usages, material });
}

// --- generating ---------------------------------------------------------------------------------------------------

function random(length) {
  const bytes = new Uint8Array(length);
  native.fillRandom(bytes);
  return bytes;
}

function needUsages(key) {
  if (key.type !== 'public' && key.usages.length === 0) {
    fail('SyntaxError', 'Secret/private CryptoKeys must have at least one usage.');
  }
  return key;
}

function pair(known, algorithm, extractable, asked, material) {
  const all = [...known.private, ...known.public];
  const usages = usageSet(asked, all, 'generate', known.name);
  const privateUsages = usages.filter((usage) => known.private.includes(usage));
  const publicUsages = usages.filter((usage) => known.public.includes(usage));
  const made = material();
  if (privateUsages.length === 0) {
    fail('SyntaxError', 'Attempt to generate asymmetric keys with no valid private key usages.');
  }
  return {
    publicKey: newKey('public', algorithm, true, publicUsages, { public: made.public }),
    privateKey: newKey('private', { ...algorithm }, extractable, privateUsages, made),
  };
}

function generate(algorithm, extractable, asked) {
  const { known, wanted } = find(algorithm, 'generation');
  const { name } = known;
  switch (known.family) {
    case 'aes': {
      const length = +required(wanted, 'length');
      const usages = usageSet(asked, known.secret, 'generate', name);
      if (length !== 128 && length !== 192 && length !== 256) {
        fail('OperationError', `Generated AES key length must be 128, 192, or 256 bits but requested ${length}.`);
      }
      return needUsages(newKey('secret', { name, length }, extractable, usages, random(length / 8)));
    }
    case 'hmac': {
      const hash = hashName(required(wanted, 'hash'));
      const usages = usageSet(asked, known.secret, 'generate', name);
      const length = wanted.length === undefined ? HASHES[hash] * 8 : Math.trunc(+wanted.length);
      if (!(length > 0)) {
        fail('OperationError', `HMAC key length must be a non-zero unsigned long integer (requested ${length}).`);
      }
      if (length > 1 << 20) fail('OperationError', `HMAC key length is too long (requested ${length}).`);
      const material = random(Math.ceil(length / 8));
      if (length % 8 !== 0) material[material.length - 1] &= 0xff << (8 - (length % 8));
      return needUsages(newKey('secret', { name, hash: { name: hash }, length }, extractable, usages, material));
    }
    case 'ec': {
      const namedCurve = curveName(wanted);
      return pair(known, { name, namedCurve }, extractable, asked, () => {
        const [secret, point] = native.ecGenerate(namedCurve);
        return { private: new Uint8Array(secret), public: new Uint8Array(point) };
      });
    }
    case 'okp':
      return pair(known, okpDetails(known, wanted), extractable, asked, () => okpPair(known.curve, random(BYTES_OF_ED_KEY)));
    default: {
      required(wanted, 'publicExponent');
      const modulusLength = Math.trunc(+required(wanted, 'modulusLength'));
      const exponent = bytesOf(required(wanted, 'publicExponent'));
      const hash = hashName(required(wanted, 'hash'));
      usageSet(asked, [...known.private, ...known.public], 'generate', name);
      if (!(modulusLength >= 256 && modulusLength <= 16384 && modulusLength % 8 === 0)) {
        fail('OperationError', `The modulus length must be a multiple of 8 and between 256 and 16k, but ${modulusLength} was requested.`);
      }
      let number = 0;
      for (let i = 0; i < exponent.length; i++) number = number * 256 + exponent[i];
      if (number !== 3 && number !== 65537) {
        fail('OperationError', `The "publicExponent" must be either 3 or 65537, but got ${number}.`);
      }
      const details = { name, modulusLength, publicExponent: exponent, hash: { name: hash } };
      return pair(known, details, extractable, asked, () => {
        const keys = native.rsaGenerate(modulusLength, number);
        if (keys === undefined) fail('OperationError', `An RSA key of ${modulusLength} bits cannot be generated here.`);
        return { private: new Uint8Array(keys[0]), public: new Uint8Array(keys[1]) };
      });
    }
  }
}

// What a key of these curves says of its algorithm.
function okpDetails({ name }, wanted) {
  if (name !== 'NODE-ED25519') return { name };
  const namedCurve = `${required(wanted, 'namedCurve')}`;
  if (namedCurve !== name) fail('NotSupportedError', `EDDSA curve "${namedCurve}" isn't supported.`);
  return { name, namedCurve };
}

function okpPair(curve, secret) {
  const point = curve === 'Ed25519' ? native.edPublic(secret) : native.xPublic(secret);
  return { private: secret, public: new Uint8Array(point) };
}

// --- importing ----------------------------------------------------------------------------------------------------

function importKey(format, data, algorithm, extractable, asked) {
  if (format === 'jwk') {
    if (isView(data) || native.isBuffer(data)) throw new TypeError('Import data provided for "jwk" import format must be a JsonWebKey.');
    if (data.ext === false && extractable) {
      fail('DataError', `JWK ext field for "${identifier(algorithm).name}" is set to false but extractable is true`);
    }
  } else if (format === 'raw' || format === 'pkcs8' || format === 'spki') {
    if (!isView(data) && !native.isBuffer(data)) {
      throw new TypeError('Import data provided for "raw", "pkcs8", or "spki" import formats must be a buffer source.');
    }
  } else {
    fail('NotSupportedError', `Unrecognized key import format "${format}".`);
  }
  const { known, wanted } = find(algorithm, 'import');
  const importers = { aes: importAes, hmac: importHmac, kdf: importKdf, ec: importEc, okp: importOkp, rsa: importRsa };
  return needUsages(importers[known.family](known, wanted, format, data, extractable, asked));
}

// The checks of a JWK that says what it is for.
function checkOps(jwk, usages, use) {
  if (usages.length > 0 && jwk.use !== undefined && jwk.use !== use) {
    fail('DataError', `Asymmetric "jwk" key import with usages requires a JSON Web Key with Public Key Use parameter "use" ("${jwk.use}") equal to "sig".`);
  }
  checkKeyOps(jwk, usages);
}

function checkKeyOps(jwk, usages) {
  if (jwk.key_ops === undefined) return;
  const ops = [...jwk.key_ops].map((op) => `${op}`);
  if (new Set(ops).size !== ops.length) {
    fail('DataError', 'A JSON Web Key\'s Key Operations parameter ("key_ops") must not contain duplicates.');
  }
  for (let i = 0; i < usages.length; i++) {
    if (!ops.includes(usages[i])) fail('DataError', `"jwk" key missing usage "${usages[i]}", in "key_ops".`);
  }
}

function symmetricJwk(jwk, usages, use, expectedAlg) {
  if (jwk.kty !== 'oct') {
    fail('DataError', `Symmetric "jwk" key import requires a JSON Web Key with Key Type parameter "kty" equal to "oct" (encountered "${jwk.kty}").`);
  }
  const message = 'Symmetric "jwk" key import requires a base64Url encoding of the key.';
  const bytes = field64(jwk, 'k', message);
  if (usages.length > 0 && jwk.use !== undefined && jwk.use !== use) {
    fail('DataError', `Symmetric "jwk" key must have a "use" of "${use}", not "${jwk.use}".`);
  }
  checkKeyOps(jwk, usages);
  const alg = expectedAlg(bytes);
  if (jwk.alg !== undefined && alg !== undefined && jwk.alg !== alg) {
    fail('DataError', `Symmetric "jwk" key contains invalid "alg" value "${jwk.alg}", expected "${alg}".`);
  }
  return bytes;
}

function importAes(known, wanted, format, data, extractable, asked) {
  const { name } = known;
  const usages = usageSet(asked, known.secret, 'import secret', name);
  let bytes;
  if (format === 'raw') bytes = bytesOf(data);
  else if (format === 'jwk') bytes = symmetricJwk(data, usages, 'enc', (key) => `A${key.length * 8}${known.jwk}`);
  else fail('NotSupportedError', `Unrecognized key import format "${format}".`);
  const length = bytes.length * 8;
  if (length !== 128 && length !== 192 && length !== 256) {
    fail('DataError', `Imported AES key length must be 128, 192, or 256 bits but provided ${length}.`);
  }
  return newKey('secret', { name, length }, extractable, usages, bytes);
}

function importHmac(known, wanted, format, data, extractable, asked) {
  const usages = usageSet(asked, known.secret, 'import secret', known.name);
  const hash = hashName(required(wanted, 'hash'));
  let bytes;
  if (format === 'raw') bytes = bytesOf(data);
  else if (format === 'jwk') bytes = symmetricJwk(data, usages, 'sig', () => `HS${hash.slice(4)}`);
  else fail('NotSupportedError', `Unrecognized key import format "${format}".`);
  const available = bytes.length * 8;
  const length = wanted.length === undefined ? available : Math.trunc(+wanted.length);
  if (length === 0 || length > available || length <= available - 8) {
    fail('DataError', `Imported HMAC key length (${length}) must be a non-zero value up to 7 bits less than, and no greater than, the bit length of the raw key data (${available}).`);
  }
  if (length % 8 !== 0) bytes[bytes.length - 1] &= 0xff << (8 - (length % 8));
  return newKey('secret', { name: 'HMAC', hash: { name: hash }, length }, extractable, usages, bytes);
}

function importKdf(known, wanted, format, data, extractable, asked) {
  const { name } = known;
  const usages = usageSet(asked, known.secret, 'import secret', name);
  if (extractable) fail('SyntaxError', `${name} key cannot be extractable.`);
  if (format !== 'raw') fail('NotSupportedError', `${name} key must be imported in "raw" format (requested "${format}").`);
  return newKey('secret', { name }, false, usages, bytesOf(data));
}

// A key of an asymmetric family, from its halves; `secret` undefined for a public one.
function asymmetric(known, algorithm, extractable, asked, secret, point) {
  const isPrivate = secret !== undefined;
  const usages = usageSet(asked, isPrivate ? known.private : known.public, isPrivate ? 'import private' : 'import public', known.name);
  const material = isPrivate ? { private: secret, public: point } : { public: point };
  return newKey(isPrivate ? 'private' : 'public', algorithm, extractable, usages, material);
}

// As on the platform, usages that are none of the algorithm's are refused before a key is looked at that is no DER.
function checkAsymmetricUsages(known, format, data, asked) {
  if (format !== 'raw' && format !== 'jwk') return;
  const isPrivate = format === 'jwk' && data.d !== undefined;
  usageSet(asked, isPrivate ? known.private : known.public, isPrivate ? 'import private' : 'import public', known.name);
}

function importEc(known, wanted, format, data, extractable, asked) {
  const namedCurve = curveName(wanted);
  checkAsymmetricUsages(known, format, data, asked);
  const algorithm = { name: known.name, namedCurve };
  const finish = (secret, point) => asymmetric(known, algorithm, extractable, asked, secret, point);
  if (format === 'raw') {
    const point = native.ecCheckPoint(namedCurve, bytesOf(data));
    if (point === undefined) fail('DataError', 'Failed to import raw EC key data: Invalid point encoding..');
    return finish(undefined, new Uint8Array(point));
  }
  if (format !== 'jwk') {
    const halves = native.ecDecode(namedCurve, format === 'pkcs8', bytesOf(data));
    if (halves === undefined) fail('DataError', `Invalid ${format === 'pkcs8' ? 'PKCS8' : 'SPKI'} input.`);
    return finish(format === 'pkcs8' ? new Uint8Array(halves[0]) : undefined, new Uint8Array(halves[1]));
  }
  if (data.kty !== 'EC') {
    fail('DataError', `Elliptic curve "jwk" key import requires a JSON Web Key with Key Type parameter "kty" ("${data.kty}") equal to "EC".`);
  }
  checkOps(data, asked, known.name === 'ECDSA' ? 'sig' : 'enc');
  if (data.crv !== namedCurve) fail('DataError', 'Invalid EC key in JSON Web Key; the curve does not match.');
  if (known.name === 'ECDSA' && data.alg !== undefined) {
    const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[data.alg];
    if (curve === undefined) {
      fail('NotSupportedError', `Unrecognized or unimplemented algorithm "${data.alg}" listed in JSON Web Key Algorithm parameter.`);
    }
    if (curve !== namedCurve) fail('DataError', `JSON Web Key Algorithm parameter "alg" ("${data.alg}") does not match requested curve.`);
  }
  const size = CURVES[namedCurve];
  const x = field64(data, 'x', 'Invalid EC key in JSON Web Key; missing "x".');
  const y = field64(data, 'y', 'Invalid EC key in JSON Web Key; missing "y".');
  const point = new Uint8Array(1 + 2 * size);
  const invalid = 'Invalid EC key; public key coordinates "x" and "y" are invalid.';
  if (x.length > size || y.length > size) fail('OperationError', invalid);
  point[0] = 4;
  point.set(x, 1 + size - x.length);
  point.set(y, 1 + 2 * size - y.length);
  if (native.ecCheckPoint(namedCurve, point) === undefined) fail('OperationError', invalid);
  if (data.d === undefined) return finish(undefined, point);
  const d = field64(data, 'd', 'Invalid EC key in JSON Web Key; missing or invalid private key component ("d").');
  const secret = new Uint8Array(size);
  if (d.length > size) fail('OperationError', 'Invalid EC key; private key component "d" is invalid.');
  secret.set(d, size - d.length);
  const derived = native.ecPublic(namedCurve, secret);
  if (derived === undefined || !native.timingSafeEqual(new Uint8Array(derived), point)) {
    fail('DataError', 'Invalid EC key in JSON Web Key.');
  }
  return finish(secret, point);
}

// The DER of Edwards and Montgomery keys is a fixed prefix and 32 bytes (RFC 8410).
function okpPrefix(curve, isPrivate) {
  const oid = curve === 'Ed25519' ? 0x70 : 0x6e;
  return isPrivate
    ? [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, oid, 0x04, 0x22, 0x04, 0x20]
    : [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, oid, 0x03, 0x21, 0x00];
}

function importOkp(known, wanted, format, data, extractable, asked) {
  const { curve } = known;
  const name = known.name === 'NODE-ED25519' ? curve : known.name;
  const details = okpDetails(known, wanted);
  checkAsymmetricUsages(known, format, data, asked);
  const finish = (secret, point) => asymmetric(known, details, extractable, asked, secret, point);
  const finishSecret = (secret) => {
    const halves = okpPair(curve, secret);
    return finish(halves.private, halves.public);
  };
  if (format === 'raw') {
    const bytes = bytesOf(data);
    if (bytes.length !== BYTES_OF_ED_KEY) fail('DataError', `${name} raw keys must be exactly 32-bytes (provided ${bytes.length}).`);
    return finish(undefined, bytes);
  }
  if (format !== 'jwk') {
    const isPrivate = format === 'pkcs8';
    const bytes = bytesOf(data);
    const lead = okpPrefix(curve, isPrivate);
    if (bytes.length !== lead.length + BYTES_OF_ED_KEY || lead.some((byte, index) => bytes[index] !== byte)) {
      fail('DataError', `Invalid ${isPrivate ? 'PKCS8' : 'SPKI'} input.`);
    }
    const key = bytes.slice(lead.length);
    return isPrivate ? finishSecret(key) : finish(undefined, key);
  }
  if (data.kty !== 'OKP') {
    fail('DataError', `${name} "jwk" key imports requires a JSON Web Key with Key Type parameter "kty" ("${data.kty}") equal to "OKP".`);
  }
  if (data.crv === undefined) fail('DataError', `Missing field "crv" for ${name} key.`);
  if (data.crv !== curve) fail('NotSupportedError', `Only ${curve} is supported but "${data.crv}" was requested.`);
  checkOps(data, asked, curve === 'Ed25519' ? 'sig' : 'enc');
  if (curve === 'Ed25519' && data.alg !== undefined && data.alg !== 'EdDSA' && data.alg !== 'Ed25519') {
    fail('DataError', `JSON Web Key Algorithm parameter "alg" ("${data.alg}") does not match requested Ed25519 curve.`);
  }
  const x = field64(data, 'x', `Invalid ${name} key in JSON WebKey; missing or invalid public key component ("x").`);
  if (x.length !== BYTES_OF_ED_KEY) fail('DataError', `Invalid length ${x.length} for public key`);
  if (data.d === undefined) return finish(undefined, x);
  const d = field64(data, 'd', `Invalid ${name} key in JSON Web Key; missing or invalid private key component ("d").`);
  if (d.length !== BYTES_OF_ED_KEY) fail('DataError', `Invalid length ${d.length} for private key`);
  const key = finishSecret(d);
  if (!native.timingSafeEqual(materialOf(key).public, x)) fail('DataError', `Invalid ${name} key in JSON Web Key.`);
  return key;
}

function importRsa(known, wanted, format, data, extractable, asked) {
  const hash = hashName(required(wanted, 'hash'));
  if (format !== 'raw') checkAsymmetricUsages(known, format, data, asked);
  let isPrivate = format === 'pkcs8';
  let der;
  if (format === 'jwk') {
    if (data.kty !== 'RSA') {
      fail('DataError', `RSASSA-PKCS1-v1_5 "jwk" key import requires a JSON Web Key with Key Type parameter "kty" ("${data.kty}") equal to "RSA".`);
    }
    checkOps(data, asked, known.name === 'RSA-OAEP' ? 'enc' : 'sig');
    const alg = rsaAlg(known, hash);
    if (data.alg !== undefined && data.alg !== alg) {
      if (!RSA_HASHES.some((candidate) => rsaAlg(known, candidate) === data.alg)) {
        fail('NotSupportedError', `Unrecognized or unimplemented algorithm "${data.alg}" listed in JSON Web Key Algorithm parameter.`);
      }
      fail('DataError', `JSON Web Key Algorithm parameter "alg" ("${data.alg}") does not match requested hash algorithm "${data.alg}".`);
    }
    const part = (field, label) => field64(data, field, `Invalid RSA key in JSON Web Key; missing or invalid ${label} parameter ("${field}").`);
    const n = part('n', 'Modulus');
    const e = part('e', 'Exponent');
    isPrivate = data.d !== undefined;
    if (isPrivate) {
      if (data.oth !== undefined) fail('NotSupportedError', 'Multi-prime private keys not supported.');
      const d = part('d', 'Private Exponent');
      der = native.rsaFromParts(n, e, d, part('p', 'First Prime Factor'), part('q', 'Second Prime Factor'));
    } else {
      der = native.rsaFromParts(n, e);
    }
    if (der === undefined) fail('DataError', 'Invalid RSA key in JSON Web Key.');
  } else if (format === 'raw') {
    fail('NotSupportedError', `Unrecognized key import format "${format}".`);
  } else {
    der = native.rsaDecode(isPrivate, bytesOf(data));
    if (der === undefined) fail('DataError', `Invalid ${isPrivate ? 'PKCS8' : 'SPKI'} input.`);
  }
  der = new Uint8Array(der);
  const parts = native.rsaParts(isPrivate, der);
  if (parts === undefined) fail('DataError', 'Invalid RSA key.');
  const modulus = new Uint8Array(parts[0]);
  const algorithm = {
    name: known.name,
    modulusLength: modulus.length * 8 - (modulus.length > 0 ? Math.clz32(modulus[0]) - 24 : 0),
    publicExponent: new Uint8Array(parts[1]),
    hash: { name: hash },
  };
  return isPrivate
    ? asymmetric(known, algorithm, extractable, asked, der, undefined)
    : asymmetric(known, algorithm, extractable, asked, undefined, der);
}

function rsaAlg(known, hash) {
  const bits = hash.slice(4);
  if (known.jwk === 'RSA-OAEP') return bits === '1' ? 'RSA-OAEP' : `RSA-OAEP-${bits}`;
  return `${known.jwk}${bits}`;
}

return {
  CryptoKey,
  isCryptoKey,
  materialOf,
  generate,
  importKey,
  identifier,
  find,
  hashName,
  required,
  bytesOf,
  encode64,
  okpPrefix,
  rsaAlg,
  fail,
  CURVES,
};
