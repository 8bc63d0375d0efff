// Keys leaving: raw bytes, DER and JSON Web Keys (Web Cryptography 14.3.10).
'use strict';
const { Uint8Array } = primordials;
const { CURVES, encode64, fail, find } = load('crypto_algorithms');
const { materialOf } = load('crypto_key');
const { okpPrefix, rsaAlg } = load('crypto_import');

function exportKey(format, key) {
  const { known } = find(key.algorithm.name, 'export');
  if (!key.extractable) fail('InvalidAccessError', `Attempt to export non-extractable ${known.name} key.`);
  const material = materialOf(key);
  if (key.type === 'secret') {
    if (format === 'raw') return material.slice().buffer;
    if (format !== 'jwk') {
      if (known.family === 'hmac') fail('NotSupportedError', `Unimplemented key export format "${format}".`);
      fail('NotSupportedError', `${known.name} key only supports exporting "raw", "raw-secret" & "jwk", not "${format}".`);
    }
    const alg = known.family === 'aes' ? `A${key.algorithm.length}${known.jwk}` : `HS${key.algorithm.hash.name.slice(4)}`;
    return { kty: 'oct', key_ops: [...key.usages], alg, ext: true, k: encode64(material) };
  }
  const isPrivate = key.type === 'private';
  if (format === 'jwk') return exportJwk(known, key, material, isPrivate);
  if (format === 'raw') {
    if (known.family === 'rsa') fail('InvalidAccessError', `Cannot export "${known.name}" in "raw" format.`);
    if (isPrivate) {
      fail('InvalidAccessError', known.family === 'ec' ? 'Raw export of elliptic curve keys is only allowed for public keys.' : `Raw export of ${known.name} keys is only allowed for public keys.`);
    }
    return material.public.slice().buffer;
  }
  if (format === 'pkcs8') {
    if (!isPrivate) fail('InvalidAccessError', `Asymmetric pkcs8 export requires private key (not "${key.type}").`);
  } else if (format === 'spki') {
    if (isPrivate) fail('InvalidAccessError', `Asymmetric spki export requires public key (not "${key.type}").`);
  } else {
    fail('InvalidAccessError', `Cannot export "${known.name}" in "${format}" format.`);
  }
  const half = isPrivate ? material.private : material.public;
  if (known.family === 'rsa') return half.slice().buffer;
  if (known.family === 'ec') return native.ecEncode(key.algorithm.namedCurve, isPrivate, half);
  const lead = okpPrefix(known.curve, isPrivate);
  const der = new Uint8Array(lead.length + half.length);
  der.set(lead);
  der.set(half, lead.length);
  return der.buffer;
}

function exportJwk(known, key, material, isPrivate) {
  const key_ops = [...key.usages];
  if (known.family === 'ec') {
    const { namedCurve } = key.algorithm;
    const size = CURVES[namedCurve];
    const jwk = {
      kty: 'EC',
      key_ops,
      ext: true,
      crv: namedCurve,
      x: encode64(material.public.subarray(1, 1 + size)),
      y: encode64(material.public.subarray(1 + size)),
    };
    if (isPrivate) jwk.d = encode64(material.private);
    return jwk;
  }
  if (known.family === 'okp') {
    const jwk = { kty: 'OKP', key_ops };
    if (known.name === 'Ed25519') jwk.alg = 'EdDSA';
    jwk.ext = true;
    jwk.crv = known.curve;
    jwk.x = encode64(material.public);
    if (isPrivate) jwk.d = encode64(material.private);
    return jwk;
  }
  const parts = native.rsaParts(isPrivate, isPrivate ? material.private : material.public);
  if (parts === undefined) fail('OperationError', 'Key export failed.');
  const text = parts.map(encode64);
  const jwk = { kty: 'RSA', key_ops, alg: rsaAlg(known, key.algorithm.hash.name), ext: true };
  if (isPrivate) jwk.d = text[2];
  jwk.n = text[0];
  jwk.e = text[1];
  if (isPrivate) {
    jwk.p = text[3];
    jwk.q = text[4];
    jwk.dp = text[5];
    jwk.dq = text[6];
    jwk.qi = text[7];
  }
  return jwk;
}

return { exportKey };
