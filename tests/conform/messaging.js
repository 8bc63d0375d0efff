// WebSockets, message channels and event sources within a Worker.
//// case: a message there and back
const [a, b] = Object.values(new WebSocketPair());
a.accept(); b.accept();
b.addEventListener('message', ({ data }) => b.send(`${data}!`));
const got = new Promise((resolve) => a.addEventListener('message', ({ data, origin, type, isTrusted }) => resolve([data, origin, type, isTrusted])));
a.send('hi');
return await got;
//// => {"value":["hi!",null,"message",true]}

//// case: what is sent is text or bytes
const [a, b] = Object.values(new WebSocketPair());
a.accept(); b.accept();
const got = [];
const done = new Promise((resolve) => b.addEventListener('message', ({ data }) => { if (got.push(data.byteLength ?? data.size ?? data) === 6) resolve(); }));
for (const value of ['a', 1, null, [1, 2], new Uint8Array(3), new ArrayBuffer(2)]) a.send(value);
await done;
return got;
//// => {"value":["a","1","null","1,2",3,2]}

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
//// => {"value":[[["b",3001,"bye",true,2],["a",3002,"too",true,3]],3,3]}

//// case: sending after closing
const [a] = Object.values(new WebSocketPair());
a.accept(); a.close(); a.send('x');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Can't call WebSocket send() after close()."}}

//// case: sending before accepting
new WebSocketPair()[0].send('x');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages."}}

//// case: a code that none may send
const [a] = Object.values(new WebSocketPair());
a.accept(); a.close(1005);
//// => {"error":{"$":"DOMException","name":"InvalidAccessError","message":"Invalid WebSocket close code: 1005.","code":15}}

//// case: a reason without a code
const [a] = Object.values(new WebSocketPair());
a.accept(); a.close(undefined, 'why');
//// => {"error":{"$":"DOMException","name":"InvalidAccessError","message":"If you specify a WebSocket close reason, you must also specify a code.","code":15}}

//// case: an attachment
const [a] = Object.values(new WebSocketPair());
a.serializeAttachment({ x: [1, 'two'] });
return a.deserializeAttachment();
//// => {"value":{"x":[1,"two"]}}

//// case: an attachment that is too large
new WebSocketPair()[0].serializeAttachment('x'.repeat(20000));
//// => {"error":{"$":"Error","name":"Error","message":"A WebSocket 'attachment' cannot be larger than 16384 bytes.'attachment' was 20006 bytes."}}

//// case: a response with a WebSocket and another status
return new Response(null, { webSocket: new WebSocketPair()[0] }).status;
//// => {"error":{"$":"RangeError","name":"RangeError","message":"Responses with a WebSocket must have status code 101."}}

//// case: a response with a WebSocket is not cloned
return new Response(null, { status: 101, webSocket: new WebSocketPair()[0] }).clone().status;
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot clone a response to a WebSocket handshake."}}

//// case: a response with something else
return new Response(null, { status: 101, webSocket: {} }).status;
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'webSocket' field on 'InitializerDict': the provided value is not of type 'WebSocket'."}}

//// case: a URL of another scheme
new WebSocket('http://example.com/');
//// => {"error":{"$":"DOMException","name":"SyntaxError","message":"WebSocket Constructor: The url scheme must be ws or wss.","code":12}}

//// case: a URL with a fragment
new WebSocket('ws://example.com/#a');
//// => {"error":{"$":"DOMException","name":"SyntaxError","message":"WebSocket Constructor: The url fragment must be empty.","code":12}}

//// case: a protocol twice
new WebSocket('ws://example.com/', ['a', 'a']);
//// => {"error":{"$":"DOMException","name":"SyntaxError","message":"WebSocket Constructor: The protocols header cannot have repeating values.","code":12}}

//// case: a WebSocket through a loaded Worker
const r = await env.LOADER.load(worker("export default { fetch() { const [a, b] = Object.values(new WebSocketPair()); b.accept(); b.addEventListener('message', ({ data }) => b.send('echo ' + data)); return new Response(null, { status: 101, webSocket: a }); } }")).getEntrypoint().fetch('http://a/', { headers: { Upgrade: 'websocket' } });
r.webSocket.accept();
const got = new Promise((resolve) => r.webSocket.addEventListener('message', ({ data }) => resolve(data)));
r.webSocket.send('there');
return [r.status, await got];
//// => {"value":[101,"echo there"]}
