// Streams: sources, readers, branches, pipes, transforms, and the platform's own.
//// case: when a source is pulled
const log = [];
let n = 0;
const rs = new ReadableStream({ pull(c) { c.enqueue(++n); } }, { highWaterMark: 3 });
log.push(n);
await scheduler.wait(1);
log.push(n);
const r = rs.getReader();
for (let i = 0; i < 4; i++) log.push((await r.read()).value);
await scheduler.wait(1);
return [...log, n];
//// => {"value":[1,3,1,2,3,4,7]}

//// case: a source that enqueues while it starts is pulled while it starts
const log = [];
new ReadableStream({ start(c) { c.enqueue('s'); log.push('started'); }, pull(c) { log.push('pulled'); if (log.length < 5) c.enqueue('p'); } }, { highWaterMark: 3 });
log.push('made');
await scheduler.wait(1);
return log;
//// => {"value":["pulled","started","made","pulled"]}

//// case: the desired size, of both kinds of source
const all = [];
for (const type of [undefined, 'bytes']) {
  let c;
  const rs = new ReadableStream({ type, start(k) { c = k; } }, { highWaterMark: 4 });
  all.push(c.desiredSize);
  c.enqueue(new Uint8Array(3));
  c.enqueue(new Uint8Array(3));
  all.push(c.desiredSize);
  const reader = rs.getReader();
  all.push((await reader.read()).value.byteLength, c.desiredSize);
  c.close();
  all.push(c.desiredSize);
}
return all;
//// => {"value":[4,2,3,3,0,4,-2,6,4,0]}

//// case: an errored source
let c;
const rs = new ReadableStream({ start(k) { c = k; } });
const reader = rs.getReader();
const read = reader.read().catch((e) => `read ${e.message}`);
c.error(new RangeError('broken'));
c.error(new Error('again'));
return [await read, await reader.closed.catch((e) => e.message), c.desiredSize, await rs.cancel().catch((e) => e.message), await reader.cancel().catch((e) => e.message)];
//// => {"value":["read broken","broken",null,"This ReadableStream is currently locked to a reader.","broken"]}

//// case: a closed source takes no more
const all = [];
for (const type of [undefined, 'bytes']) {
  let c;
  const rs = new ReadableStream({ type, start(k) { c = k; } });
  c.close();
  for (const f of [() => c.enqueue(new Uint8Array(1)), () => c.close(), () => c.error(new Error('x'))]) {
    try { f(); all.push('ok'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
  }
  all.push(await rs.getReader().read());
}
return all;
//// => {"value":["TypeError: Unable to enqueue","TypeError: This ReadableStream is closed.","ok",{"value":{"$":"undefined"},"done":true},"TypeError: This ReadableByteStreamController is closed.","TypeError: This ReadableStream is closed.","ok",{"value":{"$":"undefined"},"done":true}]}

//// case: strategies
const all = [];
for (const s of [{ highWaterMark: -1 }, { highWaterMark: NaN }, { highWaterMark: 'x' }, { size: 1 }, { highWaterMark: '3' }, null, new CountQueuingStrategy({ highWaterMark: 2 }), new ByteLengthQueuingStrategy({ highWaterMark: 20 })]) {
  try { new ReadableStream({ start(c) { all.push(c.desiredSize); c.enqueue(new Uint8Array(5)); all.push(c.desiredSize); } }, s); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: The value cannot be converted because it is negative and this API expects a positive bigint.","TypeError: The value cannot be converted because it is not an integer.","TypeError: The value cannot be converted because it is not an integer.","TypeError: Incorrect type for the 'size' field on 'StreamQueuingStrategy': the provided value is not of type 'function'.",3,2,1,0,2,1,20,15]}

//// case: a size that throws, or is none
const all = [];
for (const size of [() => { throw new Error('size'); }, () => NaN, () => -1, () => 'x']) {
  const rs = new ReadableStream({ start(c) { c.enqueue('a'); } }, { size });
  all.push(await rs.getReader().read().then(() => 'read', (e) => `${e.name}: ${e.message}`));
}
return all;
//// => {"value":["Error: size","TypeError: The value cannot be converted because it is not an integer.","TypeError: The value cannot be converted because it is negative and this API expects a positive bigint.","TypeError: The value cannot be converted because it is not an integer."]}

//// case: bad sources
const all = [];
for (const s of [1, 'x', { type: 'byte' }, { pull: 1 }, { start: {} }, { cancel: 'x' }, { type: 'bytes', autoAllocateChunkSize: 0 }, { type: 'bytes', autoAllocateChunkSize: -1 }]) {
  try { new ReadableStream(s); all.push('made'); } catch (e) { all.push(e.name); }
}
return all;
//// => {"value":["TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError","TypeError"]}

//// case: locks
const rs = new ReadableStream();
const all = [rs.locked];
const reader = rs.getReader();
all.push(rs.locked);
for (const f of [() => rs.getReader(), () => rs.tee(), () => rs.cancel(), () => rs.pipeTo(new WritableStream()), () => new ReadableStreamDefaultReader(rs), () => rs.values()]) {
  try { await f(); all.push('ok'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
reader.releaseLock();
all.push(rs.locked, await reader.read().catch((e) => e.message), await reader.closed.catch((e) => e.message));
return all;
//// => {"value":[false,true,"TypeError: This ReadableStream is currently locked to a reader.","TypeError: This ReadableStream is currently locked to a reader,","TypeError: This ReadableStream is currently locked to a reader.","TypeError: This ReadableStream is currently locked to a reader.","TypeError: This ReadableStream is currently locked to a reader.","TypeError: This ReadableStream is currently locked to a reader.",false,"This ReadableStream reader has been released.","This ReadableStream reader has been released."]}

//// case: a read that waits when its reader lets go
const rs = new ReadableStream({});
const reader = rs.getReader();
const read = reader.read().catch((e) => `${e.name}: ${e.message}`);
reader.releaseLock();
return await read;
//// => {"value":"TypeError: This ReadableStream reader has been released."}

//// case: a byte source's chunks are read in pieces of the buffer it asks for
const all = [];
for (const autoAllocateChunkSize of [undefined, 100, 10000]) {
  const rs = new ReadableStream({ type: 'bytes', autoAllocateChunkSize, start(c) { c.enqueue(new Uint8Array(250)); c.enqueue(new Uint8Array(50)); c.close(); } });
  const sizes = [];
  for await (const chunk of rs) sizes.push(chunk.byteLength, chunk.buffer.byteLength);
  all.push(sizes);
}
return all;
//// => {"value":[[300,4096],[100,100,100,100,100,100],[300,10000]]}

//// case: a BYOB request is filled by the source
const all = [];
const rs = new ReadableStream({ type: 'bytes', pull(c) {
  const { view, atLeast } = c.byobRequest;
  all.push([view.byteOffset, view.byteLength, atLeast]);
  view[0] = 7;
  c.byobRequest.respond(1);
} });
const reader = rs.getReader({ mode: 'byob' });
const { value } = await reader.read(new Uint16Array(new ArrayBuffer(16), 4, 4));
return [...all, value.constructor.name, value.byteOffset, value.byteLength];
//// => {"value":[[4,8,2],[5,7,1],"Uint16Array",4,2]}

//// case: a BYOB read that wants more waits for it
let c;
const rs = new ReadableStream({ type: 'bytes', start(k) { c = k; } });
const reader = rs.getReader({ mode: 'byob' });
const read = reader.read(new Uint8Array(10), { min: 5 });
c.enqueue(new Uint8Array([1, 2]));
c.enqueue(new Uint8Array([3, 4, 5, 6]));
const { value } = await read;
const rest = reader.readAtLeast(4, new Uint8Array(4));
c.enqueue(new Uint8Array([9]));
c.close();
const last = await rest;
return [[...value], [...last.value], last.done, (await reader.read(new Uint8Array(3))).done];
//// => {"value":[[1,2,3,4,5,6],[9],false,true]}

//// case: bad BYOB reads
const all = [];
const rs = new ReadableStream({ type: 'bytes' });
const reader = rs.getReader({ mode: 'byob' });
for (const f of [() => reader.read(new Uint8Array(0)), () => reader.read(new Uint8Array(2), { min: 3 }), () => reader.read(new Uint8Array(2), { min: 0 }), () => reader.readAtLeast(0, new Uint8Array(2)), () => reader.readAtLeast(9, new Uint8Array(2))]) {
  all.push(await f().then(() => 'read', (e) => `${e.name}: ${e.message}`));
}
try { new ReadableStream().getReader({ mode: 'byob' }); } catch (e) { all.push(`${e.name}: ${e.message}`); }
try { new ReadableStream().getReader({ mode: 'x' }); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":["TypeError: You must call read() on a \"byob\" reader with a positive-sized TypedArray object.","TypeError: Minimum bytes to read (3) exceeds size of buffer (2).","TypeError: Requested invalid minimum number of bytes to read (0).","TypeError: Requested invalid minimum number of bytes to read (0).","TypeError: Minimum bytes to read (9) exceeds size of buffer (2).","TypeError: This ReadableStream does not support BYOB reads.","TypeError: mode must be undefined or 'byob' in call to getReader()."]}

//// case: answering a BYOB request wrongly
const all = [];
const rs = new ReadableStream({ type: 'bytes', pull(c) {
  const request = c.byobRequest;
  for (const f of [() => request.respond(0), () => request.respond(99), () => request.respondWithNewView(new Uint8Array(0)), () => request.respond(2), () => request.respond(1)]) {
    try { f(); all.push('ok'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
  }
} });
const { value } = await rs.getReader({ mode: 'byob' }).read(new Uint8Array(4));
return [...all, value.byteLength];
//// => {"value":["TypeError: The bytesWritten must be more than zero while the stream is open.","RangeError: Too many bytes [99] in response to a BYOB read request.","TypeError: The view byte length must be more than zero while the stream is open.","ok","TypeError: This ReadableStreamBYOBRequest has been invalidated.",2]}

//// case: branches of a stream are pulled as one
let n = 0;
const rs = new ReadableStream({ pull(c) { c.enqueue(++n); if (n === 4) c.close(); } });
const [a, b] = rs.tee();
const ra = a.getReader();
const first = [(await ra.read()).value, (await ra.read()).value, n, rs.locked];
const rest = [];
for await (const x of b) rest.push(x);
return [first, rest, (await ra.read()).value, (await ra.read()).value, (await ra.read()).done];
//// => {"value":[[1,2,2,true],[1,2,3,4],3,4,true]}

//// case: cancelling branches
const log = [];
const rs = new ReadableStream({ cancel(r) { log.push(`source ${r}`); } });
const [a, b] = rs.tee();
await a.cancel('one');
log.push('first');
await b.cancel('two');
return log;
//// => {"value":["first","source two"]}

//// case: branches of a byte stream have bytes of their own
const rs = new ReadableStream({ type: 'bytes', start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.close(); } });
const [a, b] = rs.tee();
const x = (await a.getReader().read()).value;
x.fill(9);
const y = await b.getReader({ mode: 'byob' }).read(new Uint8Array(2));
return [[...x], [...y.value]];
//// => {"value":[[9,9,9],[1,2]]}

//// case: leaving a loop over a stream cancels it
const log = [];
const make = () => new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.enqueue(3); }, cancel(r) { log.push(`cancel ${r}`); } });
const one = make();
for await (const x of one) { log.push(x); if (x === 2) break; }
const two = make();
for await (const x of two.values({ preventCancel: true })) { log.push(x); break; }
try { for await (const x of make()) throw new Error('out'); } catch (e) { log.push(e.message); }
return [...log, one.locked, two.locked, (await two.getReader().read()).value];
//// => {"value":[1,2,"cancel undefined",1,"cancel undefined","out",false,false,2]}

//// case: streams of iterables
const all = [];
for (const from of [[1, 2], new Set(['a']), 'xy', (function* () { yield Promise.resolve(5); })(), (async function* () { yield 6; throw new Error('gen'); })()]) {
  const got = [];
  try { for await (const x of ReadableStream.from(from)) got.push(x); } catch (e) { got.push(`${e.name}: ${e.message}`); }
  all.push(got);
}
for (const bad of [null, 1, {}]) { try { ReadableStream.from(bad); all.push('ok'); } catch (e) { all.push(e.name); } }
return all;
//// => {"value":[[1,2],["a"],["x","y"],[5],[6,"Error: gen"],"TypeError","TypeError","TypeError"]}

//// case: cancelling a stream of an iterable
const log = [];
const rs = ReadableStream.from((async function* () { try { yield 1; yield 2; } finally { log.push('finally'); } })());
const r = rs.getReader();
log.push((await r.read()).value);
await r.cancel('why');
return [...log, (await r.read()).done];
//// => {"value":[1,"finally",true]}

//// case: a writer and its sink
const log = [];
const ws = new WritableStream({ start() { log.push('start'); }, write(c) { log.push(`write ${c}`); }, close() { log.push('close'); } }, { highWaterMark: 2 });
const w = ws.getWriter();
log.push(w.desiredSize);
w.write(1);
w.write(2);
log.push(w.desiredSize);
w.write(3);
log.push(w.desiredSize);
await w.ready;
log.push(w.desiredSize);
await w.close();
return [...log, w.desiredSize, await w.closed === undefined, await w.write(4).catch((e) => e.message), await w.close().catch((e) => e.message), await w.abort() === undefined];
//// => {"value":["start",2,0,-1,"write 1",0,"write 2","write 3","close",0,true,"This WritableStream has been closed.","This WritableStream has been closed.",true]}

//// case: a sink that fails
const all = [];
const ws = new WritableStream({ write() { throw new RangeError('sink'); } });
const w = ws.getWriter();
all.push(await w.write(1).catch((e) => `${e.name}: ${e.message}`));
all.push(await w.write(2).catch((e) => e.message), await w.closed.catch((e) => e.message), await w.ready.catch((e) => e.message), w.desiredSize, await w.close().catch((e) => e.message));
return all;
//// => {"value":["RangeError: sink","sink","sink","sink",null,"sink"]}

//// case: aborting a writer
const log = [];
let c;
const ws = new WritableStream({ start(k) { c = k; }, write() { return scheduler.wait(5); }, abort(r) { log.push(`abort ${r}`); } });
c.signal.addEventListener('abort', () => log.push(`signal ${c.signal.reason}`));
const w = ws.getWriter();
const one = w.write(1).then(() => 'wrote', (e) => `failed ${e}`);
const two = w.write(2).then(() => 'wrote', (e) => `failed ${e}`);
await w.abort('why');
return [...log, await one, await two, await w.closed.catch((e) => e)];
//// => {"value":["signal why","abort why","failed why","failed why","why"]}

//// case: letting go of a writer
const ws = new WritableStream({ write: () => new Promise(() => {}) });
const w = ws.getWriter();
w.write(1);
const queued = w.write(2).catch((e) => `${e.name}: ${e.message}`);
w.releaseLock();
let size;
try { size = w.desiredSize; } catch (e) { size = e.message; }
return [await queued, size, ws.locked, await w.write(3).catch((e) => e.message), await w.closed.catch((e) => e.message)];
//// => {"value":["TypeError: This WritableStream writer has been released.","This WritableStream writer has been released.",false,"This WritableStream writer has been released.","This WritableStream writer has been released."]}

//// case: a pipe passes everything on and closes
const log = [];
const rs = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } });
await rs.pipeTo(new WritableStream({ write(x) { log.push(x); }, close() { log.push('close'); } }));
const ws = new WritableStream({ close() { log.push('not closed'); } });
await new ReadableStream({ start(c) { c.enqueue(3); c.close(); } }).pipeTo(ws, { preventClose: true });
return [...log, rs.locked, ws.locked];
//// => {"value":[1,2,"close",false,false]}

//// case: errors in a pipe
const log = [];
const one = new ReadableStream({ start(c) { c.error(new Error('source')); } });
log.push(await one.pipeTo(new WritableStream({ abort(r) { log.push(`abort ${r.message}`); } })).catch((e) => e.message));
const two = new ReadableStream({ start(c) { c.enqueue(1); }, cancel(r) { log.push(`cancel ${r.message}`); } });
log.push(await two.pipeTo(new WritableStream({ write() { throw new Error('sink'); } })).catch((e) => e.message));
const three = new ReadableStream({ start(c) { c.enqueue(1); }, cancel() { log.push('not cancelled'); } });
log.push(await three.pipeTo(new WritableStream({ write() { throw new Error('sink'); } }), { preventCancel: true }).catch((e) => e.message));
return log;
//// => {"value":["abort source","source","cancel sink","sink","sink"]}

//// case: a signal ends a pipe
const log = [];
const ac = new AbortController();
const rs = new ReadableStream({ pull(c) { c.enqueue(1); }, cancel(r) { log.push(`cancel ${r}`); } });
const ws = new WritableStream({ async write() { await scheduler.wait(1); }, abort(r) { log.push(`abort ${r}`); } });
const pipe = rs.pipeTo(ws, { signal: ac.signal }).catch((e) => `rejected ${e}`);
await scheduler.wait(5);
ac.abort('stop');
log.push(await pipe);
return [...log, rs.locked, ws.locked];
//// => {"value":["cancel stop","abort stop","rejected stop",false,false]}

//// case: bad pipes
const all = [];
for (const f of [() => new ReadableStream().pipeTo(1), () => new ReadableStream().pipeTo(new WritableStream(), { signal: 1 }), () => new ReadableStream().pipeThrough({}), () => new ReadableStream().pipeThrough(null)]) {
  try { await f(); all.push('ok'); } catch (e) { all.push(e.name); }
}
return all;
//// => {"value":["TypeError","TypeError","TypeError","TypeError"]}

//// case: transforms
const run = async (transformer, chunks) => {
  const ts = new TransformStream(transformer);
  const w = ts.writable.getWriter();
  for (const chunk of chunks) w.write(chunk).catch(() => {});
  w.close().catch(() => {});
  const got = [];
  try { for await (const x of ts.readable) got.push(x); } catch (e) { got.push(`${e.name}: ${e.message}`); }
  return got;
};
return [
  await run(undefined, [1, 2]),
  await run({ transform(x, c) { c.enqueue(x * 2); c.enqueue(x * 3); }, flush(c) { c.enqueue('end'); } }, [1, 2]),
  await run({ transform(x, c) { c.enqueue(x); c.terminate(); } }, [1, 2]),
  await run({ transform() { throw new RangeError('transform'); } }, [1]),
  await run({ flush() { throw new Error('flush'); } }, [1]),
  await run({ start(c) { c.enqueue('first'); } }, [1]),
  await run({ start(c) { c.error(new Error('start')); } }, [1]),
];
//// => {"value":[[1,2],[2,3,4,6,"end"],[1],["RangeError: transform"],[1,"Error: flush"],["first",1],["Error: start"]]}

//// case: cancelling and aborting transforms
const log = [];
const one = new TransformStream({ cancel(r) { log.push(`cancel ${r}`); } });
await one.readable.cancel('read');
log.push(await one.writable.getWriter().closed.catch((e) => `closed ${e}`));
const two = new TransformStream({ cancel(r) { log.push(`cancel ${r}`); } });
await two.writable.abort('write');
log.push(await two.readable.getReader().read().catch((e) => `read ${e}`));
return log;
//// => {"value":["cancel read","closed read","cancel write","read write"]}

//// case: an identity stream's writes are done when they are read
const log = [];
const ts = new IdentityTransformStream();
const w = ts.writable.getWriter();
const r = ts.readable.getReader();
w.write(new Uint8Array([1])).then(() => log.push('one'));
w.write('two').then(() => log.push('two'));
w.close().then(() => log.push('close'));
await scheduler.wait(1);
log.push([...(await r.read()).value], [...(await r.read()).value], (await r.read()).done);
await scheduler.wait(1);
return log;
//// => {"value":["one","two","close",[1],[116,119,111],true]}

//// case: what an identity stream takes
const ts = new IdentityTransformStream();
const w = ts.writable.getWriter();
const all = [];
for (const x of [{}, 5, null, undefined, '', new Uint8Array(0)]) all.push(await w.write(x).then(() => 'written', (e) => e.name));
return [...all, w.desiredSize];
//// => {"value":["TypeError","TypeError","TypeError","written","written","written",1]}

//// case: large writes are read in pieces
const ts = new IdentityTransformStream();
const w = ts.writable.getWriter();
w.write(new Uint8Array(10000));
w.close();
const sizes = [];
for await (const chunk of ts.readable) sizes.push(chunk.byteLength);
for await (const chunk of new Response('x'.repeat(9000)).body) sizes.push(chunk.byteLength);
return sizes;
//// => {"value":[4096,4096,1808,4096,4096,808]}

//// case: one read at a time
const ts = new IdentityTransformStream();
const r = ts.readable.getReader();
r.read();
const all = [await r.read().catch((e) => `${e.name}: ${e.message}`)];
try { r.releaseLock(); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":["TypeError: This ReadableStream only supports a single pending read request at a time.","TypeError: Cannot call releaseLock() on a reader with outstanding read promises."]}

//// case: errors across an identity stream
const all = [];
for (const reason of [new RangeError('r'), 'text', undefined]) {
  const one = new IdentityTransformStream();
  const w = one.writable.getWriter();
  const write = w.write('x').catch((e) => `${e}`);
  await one.readable.cancel(reason);
  all.push(await write);
  const two = new IdentityTransformStream();
  const read = two.readable.getReader().read().catch((e) => `${e}`);
  await two.writable.abort(reason);
  all.push(await read);
}
return all;
//// => {"value":["RangeError: r","RangeError: r","Error: text","Error: text","Error: Stream was cancelled.","Error: undefined"]}

//// case: the high-water mark of an identity stream
const ts = new IdentityTransformStream({ highWaterMark: 10 });
const w = ts.writable.getWriter();
const all = [w.desiredSize];
w.write(new Uint8Array(4));
w.write(new Uint8Array(8));
all.push(w.desiredSize);
const r = ts.readable.getReader();
await r.read();
await scheduler.wait(1);
all.push(w.desiredSize);
await r.read();
await scheduler.wait(1);
return [...all, w.desiredSize];
//// => {"value":[10,-2,2,10]}

//// case: fixed-length streams
const all = [];
for (const [length, chunks] of [[3, ['abc']], [3, ['ab']], [3, ['abcd']], [0, []], [4, ['ab', 'cd']]]) {
  const fls = new FixedLengthStream(length);
  const w = fls.writable.getWriter();
  for (const chunk of chunks) w.write(chunk).catch(() => {});
  w.close().catch(() => {});
  all.push(await new Response(fls.readable).text().catch((e) => `${e.name}: ${e.message}`));
}
for (const bad of [-1, NaN, 2 ** 60, 'x']) { try { new FixedLengthStream(bad); all.push('made'); } catch (e) { all.push(`${e.name}: ${e.message}`); } }
return all;
//// => {"value":["abc","TypeError: FixedLengthStream did not see all expected bytes before close().","TypeError: Attempt to write too many bytes through a FixedLengthStream.","","abcd","TypeError: The value cannot be converted because it is negative and this API expects a positive bigint.","TypeError: The value cannot be converted because it is not an integer.","TypeError: FixedLengthStream requires an integer expected length less than 2^53.","TypeError: The value cannot be converted because it is not an integer."]}

//// case: the BYOB reader of a body answers with bytes, whatever it was given
const r = new Blob(['abcdef']).stream().getReader({ mode: 'byob' });
const one = await r.read(new Uint16Array(2));
const two = await r.readAtLeast(2, new Uint8Array(new ArrayBuffer(8), 3));
const three = await r.read(new Uint8Array(10));
return [one.value.constructor.name, one.value.length, two.value.byteOffset, [...two.value], three.done, three.value?.byteLength, three.value?.buffer.byteLength];
//// => {"value":["Uint8Array",4,3,[101,102],true,0,10]}

//// case: branches of a body
const ts = new IdentityTransformStream();
const [a, b] = ts.readable.tee();
const w = ts.writable.getWriter();
w.write('abc');
w.close();
return [await new Response(a).text(), await new Response(b).text(), ts.readable.locked];
//// => {"value":["abc","abc",true]}
