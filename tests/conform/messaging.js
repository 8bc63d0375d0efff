// WebSockets, message channels and event sources within a Worker.
//// case: a message there and back
const [a, b] = Object.values(new WebSocketPair());
a.accept(); b.accept();
b.addEventListener('message', ({ data }) => b.send(`${data}!`));
const got = new Promise((resolve) => a.addEventListener('message', ({ data, origin, type, isTrusted }) => resolve([data, origin, type, isTrusted])));
a.send('hi');
return await got;

//// case: what is sent is text or bytes
const [a, b] = Object.values(new WebSocketPair());
a.accept(); b.accept();
const got = [];
const done = new Promise((resolve) => b.addEventListener('message', ({ data }) => { if (got.push(data.byteLength ?? data.size ?? data) === 6) resolve(); }));
for (const value of ['a', 1, null, [1, 2], new Uint8Array(3), new ArrayBuffer(2)]) a.send(value);
await done;
return got;

//// case: closing takes both
const [a, b] = Object.values(new WebSocketPair());
a.accept({ allowHalfOpen: true }); b.accept({ allowHalfOpen: true });
const log = [];
for (const [name, end] of [['a', a], ['b', b]]) end.addEventListener('close', (e) => log.push([name, e.code, e.reason, e.wasClean, end.readyState]));
a.close(3001, 'bye');
await scheduler.wait(5);
b.close(3002, 'too');
await scheduler.wait(5);
return [log, a.readyState, b.readyState];

//// case: sending after closing
const [a] = Object.values(new WebSocketPair());
a.accept(); a.close(); a.send('x');

//// case: sending before accepting
new WebSocketPair()[0].send('x');

//// case: a code that none may send
const [a] = Object.values(new WebSocketPair());
a.accept(); a.close(1005);

//// case: a reason without a code
const [a] = Object.values(new WebSocketPair());
a.accept(); a.close(undefined, 'why');

//// case: an attachment
const [a] = Object.values(new WebSocketPair());
a.serializeAttachment({ x: [1, 'two'] });
return a.deserializeAttachment();

//// case: an attachment that is too large
new WebSocketPair()[0].serializeAttachment('x'.repeat(20000));

//// case: a response with a WebSocket and another status
return new Response(null, { webSocket: new WebSocketPair()[0] }).status;

//// case: a response with a WebSocket is not cloned
return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] }).clone().status;

//// case: a response with something else
return new Response(null, { status: 101, webSocket: {} }).status;

//// case: a URL of another scheme
new WebSocket('http://example.com/');

//// case: a URL with a fragment
new WebSocket('ws://example.com/#a');

//// case: a protocol twice
new WebSocket('ws://example.com/', ['a', 'a']);

//// case: a WebSocket through a loaded Worker
const r = await env.LOADER.load(worker("export default { fetch() { const [a, b] = Object.values(new WebSocketPair()); b.accept(); b.addEventListener('message', ({ data }) => b.send('echo ' + data)); return new Response(null, { status: 101, webSocket: a }); } }")).getEntrypoint().fetch('http://a/', { headers: { Upgrade: 'websocket' } });
r.webSocket.accept();
const got = new Promise((resolve) => r.webSocket.addEventListener('message', ({ data }) => resolve(data)));
r.webSocket.send('there');
return [r.status, await got];

//// case: a WebSocket that nobody asked for
const r = await env.LOADER.load(worker("export default { fetch() { return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] }); } }")).getEntrypoint().fetch('http://a/');
return r.status;

//// case: ports
const { port1, port2 } = new MessageChannel();
const got = new Promise((resolve) => { port2.onmessage = ({ data, ports, source }) => resolve([data, ports, source === port2]); });
port1.postMessage({ a: [new Date(0)] });
return await got;

//// case: a port does not transfer
new MessageChannel().port1.postMessage(1, [new ArrayBuffer(1)]);

//// case: a port is not cloned
structuredClone(new MessageChannel().port1);

//// case: a function in a message
new MessageChannel().port1.postMessage(() => {});

//// case: events of a stream
const source = EventSource.from(new Blob(['id: 7\nevent: x\ndata: one\ndata: two\n\n: no\ndata:three\n\n']).stream());
const got = [];
return await new Promise((resolve) => {
  source.addEventListener('x', ({ data, lastEventId }) => got.push(['x', data, lastEventId]));
  source.onmessage = ({ data, lastEventId }) => { source.close(); resolve([...got, ['message', data, lastEventId], source.readyState]); };
});

//// case: credentials of an event source
new EventSource('http://example.com/', { withCredentials: true });
