// Bodies, text streams and compression streams.
//// case: what a body is used by
const all = [];
const r = new Response('abc');
const text = r.text();
all.push(r.bodyUsed, r.body.locked);
await text;
all.push(r.bodyUsed, r.body.locked, await r.text().catch((e) => `${e.name}: ${e.message}`));
const b = new Response('abc');
b.body.getReader();
all.push(b.bodyUsed, await b.text().catch((e) => `${e.name}: ${e.message}`));
try { b.clone(); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":[true,true,true,true,"TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.",false,"TypeError: This ReadableStream is currently locked to a reader.","TypeError: This ReadableStream is currently locked to a reader,"]}

//// case: a request made of another takes its body
const one = new Request('http://h/', { method: 'POST', body: 'hi' });
const two = new Request(one);
const stream = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104, 105])); c.close(); } });
const three = new Request('http://h/', { method: 'POST', body: stream });
const four = new Request(three);
return [one.bodyUsed, one.body.locked, await two.text(), three.bodyUsed, stream.locked, three.body === stream, await four.text()];
//// => {"value":[true,true,"hi",true,true,true,"hi"]}

//// case: bodies that are streams of other things than bytes
const all = [];
for (const chunk of [1, 'x', {}, null]) {
  const body = new ReadableStream({ start(c) { c.enqueue(chunk); c.close(); } });
  all.push(await new Response(body).text().catch((e) => `${e.name}: ${e.message}`));
}
return all;
//// => {"value":["TypeError: This ReadableStream did not return bytes.","TypeError: This ReadableStream did not return bytes.","TypeError: This ReadableStream did not return bytes.","TypeError: This ReadableStream did not return bytes."]}

//// case: bodies that are iterables
const all = [];
const bytes = (t) => new TextEncoder().encode(t);
const bodies = [
  (async function* () { yield bytes('a'); yield bytes('b'); })(), [bytes('c'), bytes('d')], [1, 2], new Set([bytes('e')]), new String('f'), { toString: () => 'g', *[Symbol.iterator]() { yield bytes('h'); } },
];
for (const body of bodies) {
  try { const r = new Response(body); all.push([await r.text(), r.headers.get('content-type')]); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":[["ab",null],["cd",null],"TypeError: This ReadableStream did not return bytes.",["e",null],["f","text/plain;charset=UTF-8"],["g","text/plain;charset=UTF-8"]]}

//// case: how the body of a request comes
const S = env.LOADER.load(worker("export default { async fetch(r) { return Response.json([r.headers.get('content-length'), r.headers.get('transfer-encoding'), await r.text()]); } }")).getEntrypoint();
const stream = (expectedLength) => new ReadableStream({ expectedLength, start(c) { c.enqueue(new TextEncoder().encode('hello')); c.close(); } });
const fixed = new FixedLengthStream(3);
const w = fixed.writable.getWriter();
w.write('abc');
w.close();
const all = [];
for (const body of [stream(5), stream(undefined), new Blob(['blob']).stream(), new Response('body').body, fixed.readable]) all.push(await (await S.fetch('http://h/', { method: 'POST', body })).json());
return all;
//// => {"value":[["5",null,"hello"],[null,"chunked","hello"],["4",null,"blob"],["4",null,"body"],["3",null,"abc"]]}

//// case: clones of a body
const r = new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('abc')); c.close(); } }));
const c = r.clone();
const before = [r.bodyUsed, c.bodyUsed];
return [before, await c.text(), r.bodyUsed, await r.text()];
//// => {"value":[[false,false],"abc",false,"abc"]}

//// case: a body that fails
const all = [];
for (const read of ['text', 'json', 'arrayBuffer', 'bytes', 'blob']) {
  const r = new Response(new ReadableStream({ start(c) { c.error(new RangeError('broken')); } }));
  all.push(await r[read]().catch((e) => `${e.name}: ${e.message}`));
}
return all;
//// => {"value":["RangeError: broken","RangeError: broken","RangeError: broken","RangeError: broken","RangeError: broken"]}

//// case: text to bytes and back
const all = [];
const enc = new TextEncoderStream();
const w = enc.writable.getWriter();
for (const x of ['a', '\ud83d', '\ude00', '\ud83d', 'b', 5, undefined]) w.write(x);
w.close();
const got = [];
for await (const x of enc.readable) got.push([...x].join());
all.push(got);
const dec = new TextDecoderStream();
const v = dec.writable.getWriter();
for (const x of [[0xf0, 0x9f], [0x98, 0x80], [0xff], [0x61]]) v.write(new Uint8Array(x));
v.close();
const text = [];
for await (const x of dec.readable) text.push(x);
all.push(text, enc.encoding, dec.encoding, dec.fatal, dec.ignoreBOM);
return all;
//// => {"value":[["97","240,159,152,128","239,191,189,98","53","117,110,100,101,102,105,110,101,100"],["😀","�","a"],"utf-8","utf-8",false,false]}

//// case: bad text
const all = [];
const fatal = new TextDecoderStream('utf-8', { fatal: true });
const w = fatal.writable.getWriter();
const read = fatal.readable.getReader().read().catch((e) => e.name);
all.push(await w.write(new Uint8Array([0xff])).catch((e) => e.name), await read);
const dec = new TextDecoderStream();
dec.readable.getReader().read().catch(() => {});
all.push(await dec.writable.getWriter().write('text').catch((e) => `${e.name}: ${e.message}`));
try { new TextDecoderStream('nothing'); } catch (e) { all.push(e.name); }
return all;
//// => {"value":["TypeError","TypeError","TypeError: This TransformStream is being used as a byte stream, but received a value that is not a BufferSource.","RangeError"]}

//// case: compressed and back
const all = [];
for (const format of ['gzip', 'deflate', 'deflate-raw']) {
  for (const text of ['', 'hello', 'x'.repeat(100000)]) {
    const packed = new Blob([text]).stream().pipeThrough(new CompressionStream(format));
    const back = await new Response(packed.pipeThrough(new DecompressionStream(format))).text();
    all.push(back === text);
  }
}
for (const bad of ['br', 'GZIP', '', undefined]) { try { new CompressionStream(bad); all.push('made'); } catch (e) { all.push(`${e.name}: ${e.message}`); } }
return all;
//// => {"value":[true,true,true,true,true,true,true,true,true,"TypeError: The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.","TypeError: The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.","TypeError: The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.","TypeError: The compression format must be either 'deflate', 'deflate-raw' or 'gzip'."]}

//// case: compressed data that is damaged
const all = [];
const packed = new Uint8Array(await new Response(new Blob(['hello']).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer());
const damaged = packed.slice();
damaged[12] ^= 255;
for (const bytes of [packed.slice(0, -3), new Uint8Array([...packed, 1, 2]), damaged, new Uint8Array([1, 2, 3]), new Uint8Array(0)]) {
  all.push(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text().catch((e) => `${e.name}: ${e.message}`));
}
return all;
//// => {"value":["TypeError: Called close() on a decompression stream with incomplete data","TypeError: Trailing bytes after end of compressed data","TypeError: Decompression failed.","TypeError: Decompression failed.","TypeError: Called close() on a decompression stream with incomplete data"]}

//// case: a compression stream takes all that is written before it is read
const cs = new CompressionStream('deflate');
const w = cs.writable.getWriter();
await w.write(new Uint8Array(100000));
await w.write('text');
await w.close();
return (await new Response(cs.readable.pipeThrough(new DecompressionStream('deflate'))).arrayBuffer()).byteLength;
//// => {"value":100004}

//// case: aborting and cancelling a compression stream
const one = new CompressionStream('gzip');
const read = one.readable.getReader().read().catch((e) => e.message);
await one.writable.abort(new Error('write'));
const two = new CompressionStream('gzip');
await two.readable.cancel(new Error('read'));
return [await read, await two.writable.getWriter().write('x').catch((e) => e.message)];
//// => {"value":["write","read"]}

//// case: an answer whose writer gives up
const answer = (write) => env.LOADER.load(worker(`export default { fetch() {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  writer.write(new Uint8Array(5)).then(() => ${write}).catch(() => {});
  return new Response(readable);
} }`)).getEntrypoint().fetch('http://a/');
return await settled((await answer("writer.abort(new RangeError('mine'))")).text());
//// => {"value":{"error":{"$":"RangeError","name":"RangeError","message":"mine","remote":true}}}

//// case: an answer whose source fails later
const { body } = await env.LOADER.load(worker(`let chunks = 0; export default { fetch() { return new Response(new ReadableStream({ async pull(controller) {
  if (chunks++ === 0) return controller.enqueue(new Uint8Array(65536));
  await scheduler.wait(1);
  throw 'mine';
} }, { highWaterMark: 0 })); } }`)).getEntrypoint().fetch('http://a/');
const reader = body.getReader();
let bytes = 0, failed;
while (failed === undefined) await reader.read().then(({ value }) => { bytes += value.byteLength; }, (error) => { failed = error; });
return [bytes, failed.name, failed.message, failed.remote];
//// => {"value":[65536,"Error","mine",true]}
