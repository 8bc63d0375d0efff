import * as jose from "jose";

// Each makes a key, signs or encrypts, and verifies or decrypts again; a forged token must be refused.
const ASYMMETRIC = ["ES256", "ES384", "ES512", "RS256", "PS256", "EdDSA"];
const KEY_WRAPS = ["RSA-OAEP-256", "ECDH-ES", "ECDH-ES+A128KW"];

async function signed(algorithm) {
  const { publicKey, privateKey } = await jose.generateKeyPair(algorithm, { extractable: true });
  const token = await new jose.SignJWT({ "urn:example:claim": true })
    .setProtectedHeader({ alg: algorithm })
    .setIssuedAt()
    .setIssuer("shop")
    .setExpirationTime("2h")
    .sign(privateKey);
  const { payload, protectedHeader } = await jose.jwtVerify(token, publicKey, { issuer: "shop" });
  const [head, body, signature] = token.split(".");
  const forged = [head, jose.base64url.encode(JSON.stringify({ ...jose.decodeJwt(token), iss: "thief" })), signature].join(".");
  const refused = await jose.jwtVerify(forged, publicKey).catch((error) => error.code);
  const again = await jose.importJWK(await jose.exportJWK(publicKey), algorithm);
  await jose.jwtVerify(token, again);
  const pem = await jose.exportSPKI(publicKey);
  await jose.jwtVerify(token, await jose.importSPKI(pem, algorithm));
  return { algorithm: protectedHeader.alg, claim: payload["urn:example:claim"], refused, parts: body.length > 0 };
}

async function encrypted(algorithm) {
  const { publicKey, privateKey } = await jose.generateKeyPair(algorithm);
  const token = await new jose.EncryptJWT({ secret: "word" }).setProtectedHeader({ alg: algorithm, enc: "A256GCM" }).encrypt(publicKey);
  const { payload } = await jose.jwtDecrypt(token, privateKey);
  return { algorithm, secret: payload.secret };
}

export default {
  async fetch(request) {
    const url = new URL(request.url);
    if (url.pathname === "/hmac") {
      const key = new TextEncoder().encode("a key of at least thirty-two bytes!");
      const token = await new jose.SignJWT({ sub: "ann" }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(key);
      const { payload } = await jose.jwtVerify(token, key);
      return Response.json({ token, payload });
    }
    if (url.pathname === "/signed") return Response.json(await Promise.all(ASYMMETRIC.map(signed)));
    if (url.pathname === "/encrypted") return Response.json(await Promise.all(KEY_WRAPS.map(encrypted)));
    if (url.pathname === "/thumbprint") {
      const jwk = { kty: "EC", crv: "P-256", x: "jJ6Flys3zK9jUhnOHf6G49Dyp5hah6CNP84-gY-n9eo", y: "nhI6iD5eFXgBTLt_1p3aip-5VbZeMhxeFSpjfEAf7Ww" };
      return new Response(await jose.calculateJwkThumbprint(jwk));
    }
    return new Response("not found", { status: 404 });
  },
};
