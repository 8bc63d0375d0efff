// Sockets as programs have them: two streams, what is known of the peer, and how a connection ends or goes on over TLS.
'use strict';
const { apply, promiseThen, TypeError } = primordials;
const { badArgument, illegalInvocation, illegalConstructor, isDictionary, expose } = load('webidl');
const { deferred, handled } = load('streams_support');
const readables = load('streams_readable');
const writables = load('streams_writable');

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

const isSocket = (value) => internalsOf(value) !== undefined;

return { newSocket, internalsOf, isSocket };
