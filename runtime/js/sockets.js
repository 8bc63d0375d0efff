// The module cloudflare:sockets, the `connect()` of services, and the connect event, which is a call of `connect` on a
// service.
//
// Who connects gives away both ends of the connection as capabilities: one to read what it writes (as bodies are read,
// see `rpc_streams`), one to write what it reads, and a function to call once the connection is there. The call lasts as
// long as the connection. A read may also answer `{startTls: host}`: the connection goes on over TLS, and the function is
// called again when it does.
'use strict';
const { apply, promiseThen, isView, Error, TypeError } = primordials;
const rpc = load('rpc');
const { RpcTarget } = rpc;
const { badArgument, illegalInvocation, illegalConstructor, isDictionary, expose } = load('webidl');
const { deferred, handled, Queue } = load('streams_support');
const readables = load('streams_readable');
const writables = load('streams_writable');
const { createInner } = load('streams_native');
const sinks = load('streams_native_sink');
const { parse, serviceAt } = load('socket_addresses');

// The most bytes that one read answers with.
const CHUNK_BYTES_MAX = 64 << 10;
// Bytes that wait to be read before who writes them has to wait.
const WINDOW_BYTES_MAX = 64 << 10;
// Bytes that wait although who writes them was to wait. A peer that sends more is cut off.
const WAITING_BYTES_MAX = 16 << 20;
const ADDRESS_MAX = 255;

const LOST = 'Network connection lost.';
const DISCONNECTED = "Can't read from request stream because client disconnected.";

// --- The ends of a connection that are given away -----------------------------------------------------------------

// Bytes on their way, in order, with an end.
class Pipe {
  chunks = new Queue();
  bytes = 0;
  ended = false;
  failure = undefined;
  #changed = deferred();
  change() {
    this.#changed.resolve(undefined);
    this.#changed = deferred();
  }
  changed() {
    return this.#changed.promise;
  }
  push(item) {
    this.chunks.push(item);
    this.bytes += item.byteLength ?? 0;
    this.change();
  }
  end() {
    this.ended = true;
    this.change();
  }
  fail(error) {
    this.failure ??= { error };
    this.chunks = new Queue();
    this.bytes = 0;
    this.change();
  }
  // The next item; null at the end.
  async next() {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error;
      if (this.chunks.length > 0) {
        const item = this.chunks.shift();
        this.bytes -= item.byteLength ?? 0;
        this.change();
        return item;
      }
      if (this.ended) return null;
      await this.changed();
    }
  }
  // There is room for more, or all has gone.
  async until(bytes) {
    while (this.bytes > bytes && this.failure === undefined) await this.changed();
    if (this.failure !== undefined) throw this.failure.error;
  }
}

// The peer reads what is written here.
class Outflow extends RpcTarget {
  #pipe;
  constructor(pipe) {
    super();
    this.#pipe = pipe;
  }
  read() {
    return this.#pipe.next();
  }
  cancel() {
    this.#pipe.fail(new Error(LOST));
  }
}

// The peer writes what is read here.
class Inflow extends RpcTarget {
  #pipe;
  constructor(pipe) {
    super();
    this.#pipe = pipe;
  }
  async write(chunk) {
    if (!isView(chunk)) throw new TypeError('A socket carries bytes.');
    const pipe = this.#pipe;
    if (pipe.failure !== undefined || pipe.ended) throw new Error(LOST);
    if (pipe.bytes + chunk.byteLength > WAITING_BYTES_MAX) {
      pipe.fail(new Error(LOST));
      throw new Error(LOST);
    }
    if (chunk.byteLength > 0) pipe.push(new primordials.Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    await pipe.until(WINDOW_BYTES_MAX);
  }
  close() {
    this.#pipe.end();
  }
  abort() {
    this.#pipe.fail(new Error(LOST));
  }
  // Answers when nobody reads here any more.
  async gone() {
    while (this.#pipe.failure === undefined) await this.#pipe.changed();
  }
}

// --- Sockets ------------------------------------------------------------------------------------------------------

const token = {};
let internalsOf;

class Socket {
  #readable;
  #writable;
  #closed = deferred();
  #opened;
  #about;
  // 'pending', 'opened' or 'failed'.
  #phase = 'pending';
  #closing = false;
  #upgraded = false;
  // Its streams went to another Worker, which does what is to be done about them.
  #transferred = false;

  constructor(key, about, opened, ends) {
    if (key !== token) illegalConstructor();
    this.#about = about;
    this.#opened = opened;
    const { readable, writable } = ends(() => this.#readableEnded());
    this.#readable = readable;
    this.#writable = writable;
    handled(this.#closed.promise);
    apply(promiseThen, opened.promise, [
      () => (this.#phase = 'opened'),
      (error) => {
        this.#phase = 'failed';
        this.#fail(error);
      },
    ]);
  }
  get readable() {
    if (!(#readable in this)) illegalInvocation();
    return this.#readable;
  }
  get writable() {
    if (!(#readable in this)) illegalInvocation();
    return this.#writable;
  }
  get closed() {
    if (!(#readable in this)) illegalInvocation();
    return this.#closed.promise;
  }
  get opened() {
    if (!(#readable in this)) illegalInvocation();
    return this.#opened.promise;
  }
  get upgraded() {
    if (!(#readable in this)) illegalInvocation();
    return this.#upgraded;
  }
  get secureTransport() {
    if (!(#readable in this)) illegalInvocation();
    return this.#about.secureTransport;
  }
  close() {
    if (!(#readable in this)) illegalInvocation();
    if (!this.#closing) {
      this.#closing = true;
      handled(this.#close());
    }
    return apply(promiseThen, this.#closed.promise, [undefined, () => undefined]);
  }
  startTls(options) {
    if (!(#readable in this)) illegalInvocation();
    if (!isDictionary(options)) badArgument('Socket', 'startTls', 1, 'TlsOptions');
    const { secureTransport, domain, connection } = this.#about;
    if (secureTransport === 'on') throw new TypeError('Cannot startTls on a TLS socket.');
    if (this.#closed.settled && !this.#upgraded) {
      throw new TypeError('The connection was closed before startTls could be started.');
    }
    if (secureTransport !== 'starttls') {
      throw new TypeError(
        "The `secureTransport` socket option must be set to 'starttls' for startTls to be used.",
      );
    }
    if (domain === undefined) {
      throw new TypeError(
        'startTls has already been called on this socket, or the socket was transferred over RPC.',
      );
    }
    const expected = options?.expectedServerHostname;
    const host = expected === undefined ? domain : `${expected}`;
    const opened = deferred();
    handled(opened.promise);
    handled(this.#upgrade(connection, host, opened));
    const about = { ...this.#about, secureTransport: 'on', domain: undefined };
    this.#about = { ...this.#about, domain: undefined };
    return newSocket(about, opened, connection.ends);
  }

  #readableEnded() {
    if (this.#about.allowHalfOpen || this.#closing || this.#upgraded || this.#transferred) return;
    handled(
      apply(promiseThen, this.#finishWriting(), [
        () => this.#closed.resolve(undefined),
        (error) => this.#closed.reject(error),
      ]),
    );
  }
  // Everything written has been taken, and the peer has been told that this is all.
  async #finishWriting() {
    const stream = writables.stateOf(this.#writable);
    if (writables.isClosing(stream) || stream.state !== 'writable') return;
    await writables.close(stream);
  }
  async #close() {
    try {
      await this.#opened.promise;
      await this.#finishWriting();
      this.#detach(new TypeError('The socket was closed.'));
      this.#closed.resolve(undefined);
    } catch (error) {
      this.#detach(error);
      this.#closed.reject(error);
    }
  }
  // Its streams are of no more use.
  #detach(reason) {
    const writable = writables.stateOf(this.#writable);
    if (writable.state === 'writable') writable.controller.errorIfNeeded(reason);
    handled(readables.cancel(readables.stateOf(this.#readable), reason));
  }
  #fail(error) {
    this.#closed.reject(error);
    const readable = readables.stateOf(this.#readable);
    if (readable.state === 'readable') readable.controller.error(error);
    const writable = writables.stateOf(this.#writable);
    if (writable.state === 'writable') writable.controller.errorIfNeeded(error);
  }
  async #upgrade(connection, host, opened) {
    try {
      await this.#opened.promise;
      await connection.flushed(writables.stateOf(this.#writable));
      this.#upgraded = true;
      this.#closed.resolve(undefined);
      connection.startTls(host, opened);
      const readable = readables.stateOf(this.#readable);
      if (readable.state === 'readable') readable.controller.error(new TypeError('The socket goes on over TLS.'));
      const writable = writables.stateOf(this.#writable);
      writable.controller.errorIfNeeded(new TypeError('The socket goes on over TLS.'));
    } catch (error) {
      opened.reject(error);
    }
  }

  static {
    internalsOf = (value) =>
      typeof value === 'object' && value !== null && #readable in value
        ? {
            about: value.#about,
            phase: value.#phase,
            transferred() {
              value.#transferred = true;
            },
            disconnected() {
              value.#closed.resolve(undefined);
            },
            neuter(error) {
              value.#fail(error);
              value.#closed.resolve(undefined);
            },
          }
        : undefined;
  }
}
expose(Socket, 'Socket', { is: (object) => internalsOf(object) !== undefined });

const newSocket = (about, opened, ends) => new Socket(token, about, opened, ends);

// --- Connecting ---------------------------------------------------------------------------------------------------

// One connection that this Worker opened.
class Connection {
  in = new Pipe();
  out = new Pipe();
  // The `opened` of the socket that uses it now.
  opened = deferred();
  #highWaterMark;
  #about;
  socket;

  constructor(about, highWaterMark) {
    this.#about = about;
    this.#highWaterMark = highWaterMark;
    handled(this.opened.promise);
  }
  // The streams of one socket over it.
  ends = (onEnd) => {
    const { in: incoming, out: outgoing } = this;
    const readable = createInner({
      async next() {
        const bytes = await incoming.next();
        if (bytes === null) onEnd();
        return bytes;
      },
      cancel: () => incoming.fail(new Error(LOST)),
    });
    // What is written before the connection is there waits for it.
    const send = async (bytes) => {
      await this.opened.promise;
      for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES_MAX) {
        outgoing.push(bytes.slice(at, at + CHUNK_BYTES_MAX));
      }
      await outgoing.until(WINDOW_BYTES_MAX);
    };
    const writable = sinks.createInner(
      {
        write: (bytes, done, failed) => apply(promiseThen, send(bytes), [done, failed]),
        close(done, failed) {
          apply(promiseThen, outgoing.until(0), [
            () => {
              outgoing.end();
              done();
            },
            failed,
          ]);
        },
        abort: () => outgoing.end(),
      },
      this.#highWaterMark,
    );
    return { readable: readables.wrap(readable), writable: writables.wrap(writable) };
  };
  async flushed(writable) {
    while (writable.state === 'writable' && writable.controller.isBusy) {
      await this.out.changed();
    }
    await this.out.until(0);
  }
  startTls(host, opened) {
    this.opened = opened;
    this.out.push({ startTls: host });
  }
  // The peer is there.
  accept() {
    const { remoteAddress } = this.#about;
    this.opened.resolve({ remoteAddress, localAddress: undefined });
  }
  // The call is over: so is the connection.
  over(error) {
    if (!this.opened.settled) return this.opened.reject(error ?? this.#refused());
    this.in.end();
    this.out.fail(new Error(LOST));
    internalsOf(this.socket())?.disconnected();
  }
  refuse() {
    this.over(this.#refused());
  }
  #refused() {
    const hint = this.#about.isDefaultFetchPort
      ? '. It looks like you might be trying to connect to a HTTP-based service \u2014 consider using fetch instead'
      : '';
    return new Error(`proxy request failed, cannot connect to the specified address${hint}`);
  }
}

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

const isSocket = (value) => internalsOf(value) !== undefined;

return { module: { __proto__: null, connect }, connectTo, isConnect, deliver, isSocket, describe, revive };
