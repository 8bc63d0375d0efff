// CryptoKey (Web Cryptography 13), and how keys of each family are generated.
//
// A key's material never leaves its private field: bytes for a secret key, `{private, public}` for the two halves of an
// asymmetric one (elliptic scalars and points, Edwards seeds, RSA keys as DER).
'use strict';
const { defineProperty, Uint8Array } = primordials;
const { illegalConstructor, expose } = load('webidl');
const { HASHES, bytesOf, curveName, fail, find, hashName, required, usageSet } = load('crypto_algorithms');
const token = {};

const BYTES_OF_ED_KEY = 32;

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

return { BYTES_OF_ED_KEY, CryptoKey, generate, isCryptoKey, materialOf, needUsages, newKey, okpDetails, okpPair };
