// Connections without a protocol: connect() of services, the connect event, and what both refuse.
//// case: a connect handler
const s = env.LOADER.load(worker("export default { async connect(s) { const w = s.writable.getWriter(); await w.write(new TextEncoder().encode('hi')); await w.close(); } }")).getEntrypoint().connect('host:1');
return await new Response(s.readable).text();
//// => {"value":"hi"}

//// case: a connect handler in a class
const s = (await methods(env, "async connect(s) { await s.readable.pipeTo(s.writable); }")).connect('host:1');
const w = s.writable.getWriter();
w.write(new TextEncoder().encode('echo'));
w.close();
return await new Response(s.readable).text();
//// => {"value":"echo"}

//// case: what a handler sees of the address
const s = env.LOADER.load(worker("export default { async connect(s) { const w = s.writable.getWriter(); await w.write(new TextEncoder().encode(JSON.stringify(await s.opened))); await w.close(); } }")).getEntrypoint().connect({ hostname: 'example.com', port: 1234 });
return await new Response(s.readable).text();
//// => {"value":"{\"localAddress\":\"example.com:1234\"}"}

//// case: what the other side sees of the address
const s = env.LOADER.load(worker("export default { async connect(s) {} }")).getEntrypoint().connect('example.com:1234');
return await s.opened;
//// => {"value":{"remoteAddress":"example.com:1234","localAddress":{"$":"undefined"}}}

//// case: no connect handler
const s = env.LOADER.load(worker('export default {}')).getEntrypoint().connect('host:1');
return await s.opened;
//// => {"error":{"$":"Error","name":"Error","message":"proxy request failed, cannot connect to the specified address"}}

//// case: no connect handler on a port for HTTP
const s = env.LOADER.load(worker('export default {}')).getEntrypoint().connect('host:80');
return await s.opened;
//// => {"error":{"$":"Error","name":"Error","message":"proxy request failed, cannot connect to the specified address. It looks like you might be trying to connect to a HTTP-based service — consider using fetch instead"}}

//// case: closed when the handler has returned
const s = env.LOADER.load(worker("export default { async connect(s) {} }")).getEntrypoint().connect('host:1');
return (await s.closed) === undefined;
//// => {"value":true}

//// case: closed by who connected
const s = env.LOADER.load(worker("export default { async connect(s) { await s.readable.pipeTo(s.writable); } }")).getEntrypoint().connect('host:1');
await s.opened;
return [(await s.close()) === undefined, (await s.closed) === undefined];
//// => {"value":[true,true]}

//// case: no port
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect('host');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Specified address is missing port."}}

//// case: no host
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect(':1');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Specified address could not be parsed."}}

//// case: an empty address
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect('');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Specified address is missing hostname."}}

//// case: characters that no address has
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect('h\u00e9:1');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Specified address is empty string, contains unsupported characters or is too long."}}

//// case: a path in an address
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect('host:1/path');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Specified address is empty string, contains unsupported characters or is too long."}}

//// case: an address that is too long
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect('a'.repeat(300) + ':1');
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Specified address is empty string, contains unsupported characters or is too long."}}

//// case: an address without a port
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect({ hostname: 'host' });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The value cannot be converted because it is not an integer."}}

//// case: a port that is too large
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect({ hostname: 'host', port: 70000 });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Value out of range. Must be less than or equal to 65535."}}

//// case: a transport that is none
return env.LOADER.load(worker('export default {}')).getEntrypoint().connect('host:1', { secureTransport: 'maybe' });
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Unsupported value in secureTransport socket option: maybe"}}

//// case: startTls without being asked for
const s = env.LOADER.load(worker("export default { async connect(s) {} }")).getEntrypoint().connect('host:1');
return s.startTls();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"The `secureTransport` socket option must be set to 'starttls' for startTls to be used."}}

//// case: startTls on a TLS socket
const s = env.LOADER.load(worker("export default { async connect(s) {} }")).getEntrypoint().connect('host:1', { secureTransport: 'on' });
return s.startTls();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Cannot startTls on a TLS socket."}}

//// case: the members of a socket
const s = env.LOADER.load(worker("export default { async connect(s) {} }")).getEntrypoint().connect('host:1', { secureTransport: 'starttls' });
return [s.secureTransport, s.upgraded, s.readable instanceof ReadableStream, s.writable instanceof WritableStream, Object.prototype.toString.call(s), s.opened === s.opened, s.closed === s.closed];
//// => {"value":["starttls",false,true,true,"[object Socket]",true,true]}

//// case: a socket before it has opened does not cross
return await methods(env, "give(s) { return 1; } async connect(s) {}").give(env.LOADER.load(worker("export default { async connect(s) {} }")).getEntrypoint().connect('host:1'));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"A Socket can only be serialized after it has opened. Await `socket.opened` before transferring the socket over RPC.","code":25}}

//// case: connect as a method over RPC
return await methods(env, "connect(s) { return 1; }").connect();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Failed to execute 'connect' on 'Fetcher': parameter 1 is not of type 'SocketAddress or string'."}}

//// case: written before it has opened
const s = env.LOADER.load(worker("export default { async connect(s) { await s.readable.pipeTo(s.writable); } }")).getEntrypoint().connect('host:1');
const w = s.writable.getWriter();
const written = w.write(new TextEncoder().encode('early'));
const { value } = await s.readable.getReader().read();
await written;
return new TextDecoder().decode(value);
//// => {"value":"early"}

//// case: half open
const s = env.LOADER.load(worker("export default { async connect(s) { const w = s.writable.getWriter(); await w.write(new TextEncoder().encode('bye')); await w.close(); for await (const c of s.readable); } }")).getEntrypoint().connect('host:1', { allowHalfOpen: true });
const text = await new Response(s.readable).text();
const w = s.writable.getWriter();
await w.write(new Uint8Array(1));
await w.close();
return text;
//// => {"value":"bye"}

//// case: an extension's module that is not there
return await methods(env, "async m() { await import('internal:unsafe-eval'); }").m();
//// => {"error":{"$":"Error","name":"Error","message":"No such module \"internal:unsafe-eval\".","remote":true}}

//// case: unsafe modules without their flag
return await methods(env, "async m() { await import('workerd:unsafe'); }").m();
//// => {"error":{"$":"Error","name":"Error","message":"No such module \"workerd:unsafe\".","remote":true}}
