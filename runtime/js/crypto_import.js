// Keys arriving: raw bytes, DER and JSON Web Keys (Web Cryptography 14.3.9).
'use strict';
const { isView, TypeError, Uint8Array } = primordials;
const { CURVES, bytesOf, curveName, fail, field64, find, hashName, identifier, required, usageSet } = load('crypto_algorithms');
const { BYTES_OF_ED_KEY, materialOf, needUsages, newKey, okpDetails, okpPair } = load('crypto_key');

// Those that a JSON Web Key's algorithm can name.
const RSA_HASHES = ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512'];

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

return { importKey, okpPrefix, rsaAlg };
