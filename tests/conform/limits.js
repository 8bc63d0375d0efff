// Limits, which workerd has none of: what stands here is the platform's behaviour.
//// case: CPU in the code
return await methods(env, 'm() { for (;;); }', { limits: { cpuMs: 20 } }).m();
//// differs: workerd enforces no limits
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: CPU in a getter
return await methods(env, 'get p() { for (;;); }', { limits: { cpuMs: 20 } }).p;
//// differs: workerd enforces no limits
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: CPU in a chain of microtasks
return await methods(env, 'async m() { for (;;) await null; }', { limits: { cpuMs: 20 } }).m();
//// differs: workerd enforces no limits
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: CPU at the entrypoint
return await env.LOADER.load(worker('export default { async m() { for (;;); } }')).getEntrypoint(null, { limits: { cpuMs: 20 } }).m(undefined);
//// differs: workerd enforces no limits
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: the lower CPU limit counts
return await env.LOADER.load(worker('export default { async m() { for (;;); } }', { limits: { cpuMs: 60000 } })).getEntrypoint(null, { limits: { cpuMs: 20 } }).m(undefined);
//// differs: workerd enforces no limits
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: waiting costs no CPU
return await methods(env, 'async m(f) { await f(); return 1; }', { limits: { cpuMs: 50 } }).m(() => scheduler.wait(200));
//// differs: workerd enforces no limits
//// => {"value":1}

//// case: each call has a budget of its own
const e = methods(env, 'm() { let n = 0; for (let i = 0; i < 1e5; i++) n += i; return n; }', { limits: { cpuMs: 100 } });
return [await e.m(), await e.m(), await e.m()];
//// differs: workerd enforces no limits
//// => {"value":[4999950000,4999950000,4999950000]}

//// case: the Worker lives on after its limit
const e = methods(env, 'spin() { for (;;); } m() { return 1; }', { limits: { cpuMs: 20 } });
const spun = await settled(e.spin());
return [spun.error.message, await e.m()];
//// differs: workerd enforces no limits
//// => {"value":["Worker exceeded CPU time limit.",1]}

//// case: a sibling is not disturbed
const spin = settled(methods(env, 'm() { for (;;); }', { limits: { cpuMs: 100 } }).m());
const sibling = await methods(env, 'm() { return 1; }').m();
return [sibling, (await spin).error.message];
//// differs: workerd enforces no limits
//// => {"value":[1,"Worker exceeded CPU time limit."]}

//// case: no subrequests
return await methods(env, "async m(f) { return await f(); }", { limits: { subRequests: 0 } }).m(() => 1);
//// differs: workerd enforces no limits
//// => {"value":1}

//// case: a CPU limit that is negative
return await methods(env, 'm() { return 1; }', { limits: { cpuMs: -1 } }).m();
//// differs: workerd enforces no limits
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is negative and this API expects a positive number."}}

//// case: a CPU limit that is text
return await methods(env, 'm() { return 1; }', { limits: { cpuMs: 'a' } }).m();
//// differs: workerd enforces no limits
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}

//// case: memory
return await methods(env, 'm() { const a = []; for (;;) a.push(new Array(1000).fill(a.length)); }').m();
//// differs: workerd sets no limit to the heap, and would end
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded memory limit.","overloaded":true,"remote":true}}

//// case: a CPU limit of nothing
const out = [];
for (let i = 0; i < 10; i++) out.push(await settled(env.LOADER.load(worker('export default { m() { return 1; } }', { limits: { cpuMs: 0 } })).getEntrypoint().m(1)));
for (let i = 0; i < 10; i++) out.push(await settled(env.LOADER.load(worker('export default { m() { return 1; } }')).getEntrypoint(null, { limits: { cpuMs: 0.9 } }).m(1)));
return [out.length, [...new Set(out.map((one) => JSON.stringify(one)))]];
//// differs: workerd enforces no limits
//// => {"value":[20,["{\"error\":{\"$\":\"Error\",\"name\":\"Error\",\"message\":\"Worker exceeded CPU time limit.\",\"overloaded\":true,\"remote\":true}}"]]}

//// case: CPU in a streamed body
const { body } = await env.LOADER.load(worker(`let chunks = 0;
  export default { fetch() { return new Response(new ReadableStream({ async pull(controller) {
    if (chunks++ === 0) return controller.enqueue(new Uint8Array(65536));
    await scheduler.wait(1);
    for (;;);
  } }, { highWaterMark: 0 })); } }`, { limits: { cpuMs: 20 } })).getEntrypoint().fetch('http://a/');
const reader = body.getReader();
let bytes = 0, ended;
while (ended === undefined) await reader.read().then(({ value }) => { bytes += value.byteLength; }, (error) => { ended = error; });
return [bytes, ended.message, ended.overloaded, (await settled(reader.closed)).error.message];
//// differs: workerd enforces no limits
//// => {"value":[65536,"Worker exceeded CPU time limit.",true,"Worker exceeded CPU time limit."]}

//// case: CPU in a stream that was returned
const stream = await methods(env, `m() { let chunks = 0; return new ReadableStream({ type: 'bytes', async pull(controller) {
  if (chunks++ === 0) return controller.enqueue(new Uint8Array(65536));
  await scheduler.wait(1);
  for (;;);
} }); }`, { limits: { cpuMs: 20 } }).m();
return await new Response(stream).text();
//// differs: workerd enforces no limits
//// => {"error":{"$":"Error","name":"Error","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: an error in a streamed body that looks like a limit
const { body } = await env.LOADER.load(worker(`export default { fetch() { return new Response(new ReadableStream({ async pull() {
  throw Object.assign(new RangeError('Worker exceeded CPU time limit.'), { overloaded: true });
} }, { highWaterMark: 0 })); } }`)).getEntrypoint().fetch('http://a/');
return await new Response(body).text();
//// => {"error":{"$":"RangeError","name":"RangeError","message":"Worker exceeded CPU time limit.","overloaded":true,"remote":true}}

//// case: an error in a stream that was returned stays with its writer, though it looks like a limit
const stream = await methods(env, `m() { return new ReadableStream({ type: 'bytes', async pull() {
  throw Object.assign(new Error('Worker exceeded CPU time limit.'), { overloaded: true });
} }); }`).m();
return await new Response(stream).text();
//// => {"error":{"$":"Error","name":"Error","message":"ReadableStream received over RPC disconnected prematurely."}}

//// case: long names are distinct
const code = (n) => () => worker(`export default { m() { return ${n}; } }`);
const out = [];
for (const [name, n] of [['x'.repeat(256), 1], ['x'.repeat(257), 2], ['x'.repeat(5000), 3], ['x'.repeat(4999) + 'y', 4], ['x'.repeat(5000), 5]]) out.push(await env.LOADER.get(name, code(n)).getEntrypoint().m(1));
return out;
//// => {"value":[1,2,3,4,3]}
