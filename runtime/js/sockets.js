// The module cloudflare:sockets, the `connect()` of services, and the connect event, which is a call of `connect` on a
// service.
//
// Who connects gives away both ends of the connection as capabilities: one to read what it writes (as bodies are read,
// see `rpc_streams`), one to write what it reads, and a function to call once the connection is there. The call lasts as
// long as the connection. A read may also answer `{startTls: host}`: the connection goes on over TLS, and the function is
// called again when it does.
'use strict';
const { apply, promiseThen, Error, TypeError } = primordials;
const rpc = load('rpc');
const { badArgument, isDictionary } = load('webidl');
const { deferred, handled } = load('streams_support');
const { newSocket, internalsOf } = load('socket');
const { parse, serviceAt } = load('socket_addresses');
const { Connection, Inflow, Outflow, LOST } = load('socket_connection');

const ADDRESS_MAX = 255;

const DISCONNECTED = "Can't read from request stream because client disconnected.";

// --- Connecting ---------------------------------------------------------------------------------------------------

function optionsOf(options) {
  if (!isDictionary(options)) badArgument('SocketsModule', 'connect', 2, 'SocketOptions');
  const { secureTransport, allowHalfOpen, highWaterMark } = options ?? {};
  const transport = secureTransport === undefined ? 'off' : `${secureTransport}`;
  if (transport !== 'off' && transport !== 'on' && transport !== 'starttls') {
    throw new TypeError(`Unsupported value in secureTransport socket option: ${transport}`);
  }
  return {
    transport,
    allowHalfOpen: !!allowHalfOpen,
    highWaterMark: highWaterMark === undefined ? undefined : +highWaterMark,
  };
}

// Connects through a service; `serviceOf(address)` is asked once the arguments are known to be good.
function connectThrough(serviceOf, address, options) {
  const { host, port, text } = parse(address);
  if (text.length > ADDRESS_MAX || !/^[-._[\]:a-zA-Z0-9]+$/.test(text)) {
    throw new TypeError('Specified address is empty string, contains unsupported characters or is too long.');
  }
  const { transport, allowHalfOpen, highWaterMark } = optionsOf(options);
  const service = serviceOf(text);
  const about = {
    __proto__: null,
    remoteAddress: text,
    localAddress: undefined,
    secureTransport: transport,
    allowHalfOpen,
    isDefaultFetchPort: port === '80' || port === '443',
    domain: host,
    connection: undefined,
  };
  const connection = new Connection(about, highWaterMark);
  about.connection = connection;
  let current = newSocket(about, connection.opened, connection.ends);
  connection.socket = () => current;
  const wire = {
    address: text,
    secure: transport === 'on',
    readable: new Outflow(connection.out),
    writable: new Inflow(connection.in),
    opened: () => connection.accept(),
  };
  apply(promiseThen, rpc.invoke(service, ['connect'], [wire]), [() => connection.over(), () => connection.refuse()]);
  return current;
}

function connect(address, options) {
  if (arguments.length < 1) badArgument('SocketsModule', 'connect', 1, 'SocketAddress or string');
  load('fetch').requireInvocation();
  const outbound = (text) => {
    const service = serviceAt(text) ?? load('rpc_fetch').outbound();
    if (service !== undefined) return service;
    throw new Error(
      'This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities ' +
        "(such as bindings in 'env') to talk to the outside world.",
    );
  };
  return connectThrough(outbound, address, options);
}

// `connect()` of a service.
function connectTo(service, address, options) {
  return connectThrough(() => service, address, options);
}

// --- The connect event --------------------------------------------------------------------------------------------

// Whether a call on an entrypoint is a connect event.
function isConnect(path, args) {
  return path.length === 1 && path[0] === 'connect' && args !== undefined && typeof args[0]?.address === 'string';
}

// Delivers a connect event: `handle` is called with the socket, and the connection lasts until it has settled.
async function deliver(handle, { address, readable, writable, opened }) {
  const accept = rpc.hold(opened);
  const about = {
    __proto__: null,
    remoteAddress: undefined,
    localAddress: address,
    secureTransport: 'off',
    allowHalfOpen: false,
    isDefaultFetchPort: false,
    domain: undefined,
    connection: undefined,
  };
  const known = deferred();
  known.resolve({ remoteAddress: undefined, localAddress: address });
  const socket = newSocket(about, known, endsOf(readable, writable));
  handled(rpc.invoke(accept, [], []));
  rpc.letGo(accept);
  let failure = DISCONNECTED;
  try {
    await handle(socket);
  } catch (error) {
    failure = LOST;
    throw error;
  } finally {
    internalsOf(socket).neuter(new TypeError(failure));
  }
}

function endsOf(source, sink) {
  const { readableFrom, writableTo } = load('rpc_streams');
  return (onEnd) => ({ readable: readableFrom(source, null, onEnd), writable: writableTo(sink) });
}

// --- Sockets in messages ------------------------------------------------------------------------------------------

// What is sent for a socket: its streams go with it.
function describe(socket, forRpc) {
  const { about, phase, transferred } = internalsOf(socket);
  const { DOMException } = load('dom_exception');
  const refuse = (text) => {
    throw new DOMException(text, 'DataCloneError');
  };
  if (!forRpc) refuse('Socket can only be serialized for RPC.');
  if (phase === 'pending') {
    refuse(
      'A Socket can only be serialized after it has opened. Await `socket.opened` before transferring the socket over ' +
        'RPC.',
    );
  }
  if (phase === 'failed') refuse('A Socket whose connection failed cannot be serialized.');
  const { StreamSource, StreamSink } = load('rpc_streams');
  const { remoteAddress, localAddress, secureTransport, allowHalfOpen } = about;
  transferred();
  return {
    about: { remoteAddress, localAddress, secureTransport, allowHalfOpen },
    readable: new StreamSource(socket.readable),
    writable: new StreamSink(socket.writable),
  };
}

function revive({ about, readable, writable }) {
  const { remoteAddress, localAddress, secureTransport, allowHalfOpen } = about;
  const opened = deferred();
  opened.resolve({ remoteAddress, localAddress });
  const whole = { __proto__: null, ...about, isDefaultFetchPort: false, domain: undefined, connection: undefined };
  return newSocket(
    { ...whole, remoteAddress, secureTransport, allowHalfOpen: allowHalfOpen === true },
    opened,
    endsOf(readable, writable),
  );
}

return { module: { __proto__: null, connect }, connectTo, isConnect, deliver, describe, revive };
