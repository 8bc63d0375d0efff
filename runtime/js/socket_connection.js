// One connection that this Worker opens: bytes on their way in both directions, and the ends of them that its peer gets.
'use strict';
const { apply, promiseThen, isView, Error, TypeError } = primordials;
const { RpcTarget } = load('rpc');
const { deferred, handled, Queue } = load('streams_support');
const readables = load('streams_readable');
const writables = load('streams_writable');
const { createInner } = load('streams_native');
const sinks = load('streams_native_sink');
const { internalsOf } = load('socket');

// The most bytes that one read answers with.
const CHUNK_BYTES_MAX = 64 << 10;
// Bytes that wait to be read before who writes them has to wait.
const WINDOW_BYTES_MAX = 64 << 10;
// Bytes that wait although who writes them was to wait. A peer that sends more is cut off.
const WAITING_BYTES_MAX = 16 << 20;

const LOST = 'Network connection lost.';

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

return { Connection, Inflow, Outflow, LOST };
