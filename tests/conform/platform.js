// The rest of the web platform: forms, media types, clones, timers, encodings, compression, events, keys.
//// case: parts of multipart forms
const parse = (head) => new Response(`--B\r\n${head}\r\n\r\n1\r\n--B--`, { headers: { 'content-type': 'multipart/form-data; boundary=B' } }).formData()
  .then((form) => [...form].map(([name, value]) => [name, typeof value === 'string' ? value : [value.name, value.type, value.size]]));
const all = [];
for (const head of [
  'Content-Disposition: form-data; name="a"; filename=""', 'Content-Disposition: form-data; name="a"; filename=x', 'Content-Disposition: form-data; name=a', 'Content-Disposition: form-data; name=""',
  'content-disposition: form-data;NAME="a";FILENAME="f"', 'Content-Disposition: form-data; name="a"; filename="f"\r\nContent-Type: TEXT/Plain; charset=utf-8', 'Content-Disposition: attachment; name="a"', 'X: y',
]) all.push(await settled(parse(head)));
return all;
//// => {"value":[{"value":[["a","1"]]},{"value":[["a","1"]]},{"error":{"$":"TypeError","name":"TypeError","message":"Content-Disposition header in FormData part is missing a name."}},{"error":{"$":"TypeError","name":"TypeError","message":"Content-Disposition header in FormData part is missing a name."}},{"error":{"$":"TypeError","name":"TypeError","message":"Content-Disposition header in FormData part is missing a name."}},{"value":[["a",["f","TEXT/Plain; charset=utf-8",1]]]},{"error":{"$":"TypeError","name":"TypeError","message":"Content-Disposition header for FormData part must have the value \"form-data\", possibly followed by parameters. Got: \"attachment\""}},{"error":{"$":"TypeError","name":"TypeError","message":"No valid Content-Disposition header found in FormData part."}}]}

//// case: forms of bodies without a type, or with another
const all = [];
for (const type of [null, '', 'text/plain', 'multipart/form-data', 'multipart/form-data; boundary=', 'application/x-www-form-urlencoded; charset=latin1']) {
  all.push(await settled(new Response(new Uint8Array(1), { headers: type === null ? {} : { 'content-type': type } }).formData()));
}
return all;
//// => {"value":[{"error":{"$":"TypeError","name":"TypeError","message":"Parsing a Body as FormData requires a Content-Type header."}},{"error":{"$":"TypeError","name":"TypeError","message":"Unrecognized Content-Type header value. FormData can only parse the following MIME types: multipart/form-data, application/x-www-form-urlencoded"}},{"error":{"$":"TypeError","name":"TypeError","message":"Unrecognized Content-Type header value. FormData can only parse the following MIME types: multipart/form-data, application/x-www-form-urlencoded"}},{"error":{"$":"TypeError","name":"TypeError","message":"No boundary string in Content-Type header. The multipart/form-data MIME type requires a boundary parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. See RFC 7578, section 4."}},{"error":{"$":"TypeError","name":"TypeError","message":"No boundary string in Content-Type header. The multipart/form-data MIME type requires a boundary parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. See RFC 7578, section 4."}},{"error":{"$":"TypeError","name":"TypeError","message":"Non-utf-8 application/x-www-form-urlencoded body."}}]}

//// case: forms that are sent
const form = new FormData();
form.append('a"b\r\nc', 'v\nw');
form.append('f', new File(['x'], 'n"\r\n.txt', { type: 'a/b' }));
form.append('g', new Blob(['y']));
const response = new Response(form);
const boundary = response.headers.get('content-type').split('boundary=')[1];
return (await response.text()).replaceAll(boundary, 'B');
//// => {"value":"--B\r\nContent-Disposition: form-data; name=\"a%22b\r%0Ac\"\r\n\r\nv\nw\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"n%22\r%0A.txt\"\r\nContent-Type: a/b\r\n\r\nx\r\n--B\r\nContent-Disposition: form-data; name=\"g\"; filename=\"g\"\r\nContent-Type: application/octet-stream\r\n\r\ny\r\n--B--"}

//// case: the types of blobs of bodies
const all = [];
for (const type of ['a/b; c=d', 'A/B;C="d e"', 'nonsense', 'a/b, c/d', 'a/b; c', 'text/plain;charset=x, text/plain', 'text/plain;charset=x, text/html', '*/*, a/b', 'a/b;c="d"']) {
  all.push((await new Response('x', { headers: { 'content-type': type } }).blob()).type);
}
return all;
//// => {"value":["a/b;c=d","a/b;c=\"d e\"","","c/d","a/b","text/plain;charset=x","text/html","a/b","a/b;c=d"]}

//// case: what a clone transfers
const buffer = new ArrayBuffer(8);
const clone = structuredClone({ buffer, view: new Uint8Array(buffer, 2, 3) }, { transfer: [buffer] });
const all = [buffer.byteLength, buffer.detached, clone.view.buffer === clone.buffer, clone.view.byteOffset];
for (const act of [() => structuredClone(1, { transfer: [1] }), () => structuredClone(buffer, { transfer: [buffer] }), () => structuredClone(1, { transfer: [clone.buffer, clone.buffer] }), () => structuredClone(1, { transfer: 5 }), () => structuredClone(new ArrayBuffer(1), { transfer: [new ReadableStream()] })]) {
  all.push(await settled((async () => act())()));
}
return all;
//// => {"value":[0,true,true,2,{"error":{"$":"TypeError","name":"TypeError","message":"Object is not transferable"}},{"value":{"$":"ArrayBuffer","value":[]}},{"value":1},{"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'transfer' field on 'StructuredCloneOptions': the provided value is not of type 'Array'."}},{"error":{"$":"TypeError","name":"TypeError","message":"Object is not transferable"}}]}

//// case: timers fire once, intervals until they are cleared
const fired = [];
const done = new Promise((resolve) => {
  for (const delay of [3, -5, NaN, '1', 2 ** 31, undefined, null, 2.9]) {
    setTimeout((...args) => { if (fired.push(`${delay} ${args.join()}`) === 8) resolve(); }, delay, 'a', 'b');
  }
  const interval = setInterval(() => {
    if (++count < 3) return;
    clearInterval(interval);
    if (fired.push(`interval ${count}`) === 8) resolve();
  }, 1);
});
var count = 0;
const cleared = setTimeout(() => fired.push('cleared'), 1);
clearTimeout(cleared);
await done;
return fired.sort();
//// => {"value":["-5 a,b","1 a,b","2.9 a,b","3 a,b","NaN a,b","interval 3","null a,b","undefined a,b"]}

//// case: base64
const all = [];
for (const text of ['YQ=', 'YQ==', 'YQ', ' Y Q = = ', 'Y', 'YQ===', 'Y=Q=', '-_', 'Y\u000bQ', '', null, 'YR==', 'a\tb\nc\fd\r']) {
  try { all.push(atob(text)); } catch (error) { all.push(error); }
}
for (const text of ['\u0100', '\xff', null, 5]) { try { all.push(btoa(text)); } catch (error) { all.push(error); } }
return all;
//// => {"value":[{"$":"DOMException","name":"InvalidCharacterError","message":"atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)","code":5},"a","a","a",{"$":"DOMException","name":"InvalidCharacterError","message":"atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)","code":5},{"$":"DOMException","name":"InvalidCharacterError","message":"atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)","code":5},{"$":"DOMException","name":"InvalidCharacterError","message":"atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)","code":5},{"$":"DOMException","name":"InvalidCharacterError","message":"atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)","code":5},{"$":"DOMException","name":"InvalidCharacterError","message":"atob() called with invalid base64-encoded data. (Only whitespace, '+', '/', alphanumeric ASCII, and up to two terminal '=' signs when the input data length is divisible by 4 are allowed.)","code":5},"","ée","a","i·\u001d",{"$":"DOMException","name":"InvalidCharacterError","message":"btoa() can only operate on characters in the Latin1 (ISO/IEC 8859-1) range.","code":5},"/w==","bnVsbA==","NQ=="]}

//// case: every encoding has its name, and decodes
const bytes = Uint8Array.from({ length: 94 }, (_, at) => 0xa1 + at);
const labels = ['utf-8', 'ibm866', 'iso-8859-2', 'iso-8859-3', 'iso-8859-4', 'iso-8859-5', 'iso-8859-6', 'iso-8859-7', 'iso-8859-8', 'iso-8859-8-i', 'iso-8859-10', 'iso-8859-13', 'iso-8859-14', 'iso-8859-15', 'iso-8859-16', 'koi8-r', 'koi8-u', 'macintosh', 'windows-874', 'windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256', 'windows-1257', 'windows-1258', 'x-mac-cyrillic', 'gbk', 'gb18030', 'big5', 'euc-jp', 'iso-2022-jp', 'shift_jis', 'euc-kr', 'utf-16be', 'utf-16le', 'x-user-defined', 'latin1', ' UTF8 ', 'replacement', 'utf-7', ''];
return labels.map((label) => { try { const decoder = new TextDecoder(label); return [decoder.encoding, [...decoder.decode(bytes)].reduce((hash, char) => (hash * 31 + char.codePointAt(0)) >>> 0, 7)]; } catch (error) { return error; } });
//// => {"value":[["utf-8",546408487],["ibm866",1453112529],["iso-8859-2",3183400363],["iso-8859-3",3676046143],["iso-8859-4",4143887524],["iso-8859-5",1161990770],["iso-8859-6",1844378758],["iso-8859-7",317319944],["iso-8859-8",599866027],["iso-8859-8-i",599866027],["iso-8859-10",1730287398],["iso-8859-13",25790941],["iso-8859-14",3077576959],["iso-8859-15",2898508890],["iso-8859-16",3648432094],["koi8-r",2771750948],["koi8-u",4251659824],["macintosh",2501140160],["windows-874",1696057780],["windows-1250",2195514546],["windows-1251",2863024919],["windows-1252",993333206],["windows-1253",3718116638],["windows-1254",1121965773],["windows-1255",3519009552],["windows-1256",4102126671],["windows-1257",2859358614],["windows-1258",4023439487],["x-mac-cyrillic",1446805612],["gbk",1050633130],["gb18030",1050633130],["big5",2255716335],["euc-jp",3623087323],["iso-2022-jp",546408487],["shift_jis",3661841505],["euc-kr",1888695663],["utf-16be",1781145143],["utf-16le",2767359451],["x-user-defined",1248341974],["windows-1252",993333206],["utf-8",546408487],{"$":"RangeError","name":"RangeError","message":"\"replacement\" is not a valid encoding."},{"$":"RangeError","name":"RangeError","message":"\"utf-7\" is not a valid encoding."},{"$":"RangeError","name":"RangeError","message":"\"\" is not a valid encoding."}]}

//// case: compression there and back, and what cannot be decompressed
const all = [];
for (const format of ['gzip', 'deflate', 'deflate-raw', 'brotli', 'br', 'zstd']) {
  all.push(await settled((async () => {
    const packed = new Blob(['hello hello hello']).stream().pipeThrough(new CompressionStream(format));
    return new Response(packed.pipeThrough(new DecompressionStream(format))).text();
  })()));
  all.push(await settled((async () => new Response(new Blob([new Uint8Array([1, 2, 3, 4, 5, 6])]).stream().pipeThrough(new DecompressionStream(format))).text())()));
}
return all;
//// => {"value":[{"value":"hello hello hello"},{"error":{"$":"TypeError","name":"TypeError","message":"Decompression failed."}},{"value":"hello hello hello"},{"error":{"$":"TypeError","name":"TypeError","message":"Decompression failed."}},{"value":"hello hello hello"},{"error":{"$":"TypeError","name":"TypeError","message":"Decompression failed."}},{"error":{"$":"TypeError","name":"TypeError","message":"The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."}},{"error":{"$":"TypeError","name":"TypeError","message":"The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."}},{"error":{"$":"TypeError","name":"TypeError","message":"The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."}},{"error":{"$":"TypeError","name":"TypeError","message":"The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."}},{"error":{"$":"TypeError","name":"TypeError","message":"The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."}},{"error":{"$":"TypeError","name":"TypeError","message":"The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."}}]}

//// case: events that are stopped stay so
const counts = [];
for (const stop of ['stopPropagation', 'stopImmediatePropagation']) {
  const event = new Event('a');
  event[stop]();
  const target = new EventTarget();
  let count = 0;
  target.addEventListener('a', () => count++);
  target.dispatchEvent(event);
  target.dispatchEvent(event);
  counts.push(count);
}
const target = new EventTarget();
let count = 0;
target.addEventListener('a', (event) => { count++; event.stopImmediatePropagation(); });
target.addEventListener('a', () => count++);
const event = new Event('a');
target.dispatchEvent(event);
target.dispatchEvent(event);
return [counts, count];
//// => {"value":[[2,0],1]}

//// case: object URLs are refused
const all = [];
for (const act of [() => URL.createObjectURL(new Blob([])), () => URL.createObjectURL(), () => URL.revokeObjectURL('x'), () => URL.revokeObjectURL()]) { try { all.push(act()); } catch (error) { all.push(error); } }
return all;
//// => {"value":[{"$":"Error","name":"Error","message":"URL.createObjectURL() is not implemented"},{"$":"TypeError","name":"TypeError","message":"Failed to execute 'createObjectURL' on 'URL': parameter 1 is not of type 'File or Blob'."},{"$":"Error","name":"Error","message":"URL.revokeObjectURL() is not implemented"},{"$":"TypeError","name":"TypeError","message":"Failed to execute 'revokeObjectURL' on 'URL': parameter 1 is not of type 'USVString'."}]}

//// case: keys that wrap keys
const { subtle } = crypto;
const wrapping = await subtle.importKey('raw', new Uint8Array(16), 'AES-KW', true, ['wrapKey', 'unwrapKey']);
const key = await subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt']);
const all = [await subtle.wrapKey('raw', key, wrapping, 'AES-KW'), await settled(subtle.wrapKey('jwk', key, wrapping, 'AES-KW'))];
for (const length of [8, 9, 16]) {
  const mac = await subtle.importKey('raw', new Uint8Array(length), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']);
  all.push(await settled(subtle.wrapKey('raw', mac, wrapping, 'AES-KW')));
}
for (const length of [0, 7, 16, 23, 24]) all.push(await settled(subtle.unwrapKey('raw', new Uint8Array(length), wrapping, 'AES-KW', 'AES-GCM', true, ['encrypt'])));
return all;
//// => {"value":[{"$":"ArrayBuffer","value":[191,59,119,181,233,12,170,159,80,9,254,150,38,228,239,226,13,237,117,238,59,26,192,213]},{"error":{"$":"DOMException","name":"OperationError","message":"Unwrapped key bit length must be a multiple of 64 bits but unwrapped key has a length of 728 bits.","code":0}},{"error":{"$":"DOMException","name":"OperationError","message":"Unwrapped key has length 8 bytes but it should be greater than or equal to 16 and less than or equal to 18446744073709551607","code":0}},{"error":{"$":"DOMException","name":"OperationError","message":"Unwrapped key bit length must be a multiple of 64 bits but unwrapped key has a length of 72 bits.","code":0}},{"value":{"$":"ArrayBuffer","value":[191,59,119,181,233,12,170,159,80,9,254,150,38,228,239,226,13,237,117,238,59,26,192,213]}},{"error":{"$":"DOMException","name":"OperationError","message":"Provided a wrapped key to unwrap this is 0 bits that is less than the minimal length of 192 bits.","code":0}},{"error":{"$":"DOMException","name":"OperationError","message":"Provided a wrapped key to unwrap that is 56 bits which isn't a multiple of 64 bits.","code":0}},{"error":{"$":"DOMException","name":"OperationError","message":"Provided a wrapped key to unwrap this is 128 bits that is less than the minimal length of 192 bits.","code":0}},{"error":{"$":"DOMException","name":"OperationError","message":"Provided a wrapped key to unwrap that is 184 bits which isn't a multiple of 64 bits.","code":0}},{"error":{"$":"DOMException","name":"OperationError","message":"AES-KW key unwrapping failed.","code":0}}]}

//// case: imports of keys for what they cannot do
const all = [];
for (const [format, data, algorithm, usage] of [
  ['raw', new Uint8Array(32), { name: 'ECDH', namedCurve: 'P-256' }, 'deriveBits'], ['raw', new Uint8Array(33), 'X25519', 'deriveBits'], ['jwk', { kty: 'oct' }, { name: 'RSA-OAEP', hash: 'SHA-256' }, 'decrypt'],
  ['jwk', { kty: 'oct' }, { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }, 'verify'], ['raw', new Uint8Array(33), { name: 'NODE-ED25519', namedCurve: 'NODE-ED25519' }, 'verify'], ['spki', new Uint8Array(3), { name: 'ECDSA', namedCurve: 'P-256' }, 'sign'],
]) all.push(await settled(crypto.subtle.importKey(format, data, algorithm, true, [usage])));
return all;
//// => {"value":[{"error":{"$":"DOMException","name":"SyntaxError","message":"Attempt to import public ECDH key with invalid usage \"deriveBits\".","code":12}},{"error":{"$":"DOMException","name":"SyntaxError","message":"Attempt to import public X25519 key with invalid usage \"deriveBits\".","code":12}},{"error":{"$":"DOMException","name":"SyntaxError","message":"Attempt to import public RSA-OAEP key with invalid usage \"decrypt\".","code":12}},{"error":{"$":"DOMException","name":"DataError","message":"RSASSA-PKCS1-v1_5 \"jwk\" key import requires a JSON Web Key with Key Type parameter \"kty\" (\"oct\") equal to \"RSA\".","code":0}},{"error":{"$":"DOMException","name":"DataError","message":"Ed25519 raw keys must be exactly 32-bytes (provided 33).","code":0}},{"error":{"$":"DOMException","name":"DataError","message":"Invalid SPKI input.","code":0}}]}

//// case: redirects of every status and method
const all = [];
for (const status of [301, 302, 303, 307, 308]) {
  for (const method of ['GET', 'POST', 'PUT', 'HEAD']) {
    const outbound = methods(env, `async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/from') return new Response(null, { status: ${status}, headers: { location: '/to' } });
      return new Response([request.method, await request.text(), request.headers.get('content-length')].join());
    }`);
    const response = await outbound.fetch('http://a/from', { method, body: method === 'POST' || method === 'PUT' ? 'body' : undefined });
    all.push([status, method, response.status, response.redirected, response.url, await response.text()]);
  }
}
return all;
//// => {"value":[[301,"GET",200,true,"http://a/to","GET,,"],[301,"POST",200,true,"http://a/to","GET,,"],[301,"PUT",200,true,"http://a/to","PUT,body,4"],[301,"HEAD",200,true,"http://a/to",""],[302,"GET",200,true,"http://a/to","GET,,"],[302,"POST",200,true,"http://a/to","GET,,"],[302,"PUT",200,true,"http://a/to","PUT,body,4"],[302,"HEAD",200,true,"http://a/to",""],[303,"GET",200,true,"http://a/to","GET,,"],[303,"POST",200,true,"http://a/to","GET,,"],[303,"PUT",200,true,"http://a/to","GET,,"],[303,"HEAD",200,true,"http://a/to",""],[307,"GET",200,true,"http://a/to","GET,,"],[307,"POST",200,true,"http://a/to","POST,body,4"],[307,"PUT",200,true,"http://a/to","PUT,body,4"],[307,"HEAD",200,true,"http://a/to",""],[308,"GET",200,true,"http://a/to","GET,,"],[308,"POST",200,true,"http://a/to","POST,body,4"],[308,"PUT",200,true,"http://a/to","PUT,body,4"],[308,"HEAD",200,true,"http://a/to",""]]}
