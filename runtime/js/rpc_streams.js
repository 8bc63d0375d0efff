// Streams across JS RPC. A ReadableStream is sent as a capability whose `read()` answers with the next bytes, null at the
// end, and whose `cancel()` says that nobody will read on. A WritableStream is sent as one with `write()`, `close()` and
// `abort()`. Nothing here goes through methods that a program can replace.
'use strict';
const { apply, promiseThen, isView, viewSet, Uint8Array, Error, TypeError, symbolDispose } = primordials;
const rpc = load('rpc');
const { RpcTarget } = rpc;
const { bytesIn, deferred, partsOf, Queue } = load('streams_support');

// The most bytes that one read of a stream answers with.
const CHUNK_BYTES_MAX = 64 << 10;
// Bytes of a stream that are read before they are asked for; one chunk may go over it.
const AHEAD_BYTES_MAX = 64 << 10;
// What is asked for at a time by a reader that wants all of a stream.
const WHOLE_BYTES = 1 << 20;
// Bytes that may be on their way to a WritableStream; a write that would add to them waits for room.
const WINDOW_BYTES_MAX = 64 << 10;
// What a write counts at least: each is a message.
const WRITE_BYTES_MIN = 256;

// The far end of a ReadableStream that was sent. As on the platform it is read ahead, so that who writes into it gets on
// before anybody reads.
class StreamSource extends RpcTarget {
  #streams = load('streams_readable');
  #stream;
  #reader;
  #chunks = new Queue();
  #bytes = 0;
  #reading = false;
  // Set once nothing more will come: undefined at the end, else why.
  #over;
  // Settled when there is something to answer a read with.
  #progress = deferred();
  #onCancel;
  constructor(stream, onCancel) {
    super();
    this.#onCancel = onCancel;
    this.#stream = this.#streams.stateOf(stream);
    if (this.#stream.reader !== null) throw new TypeError('The ReadableStream has been locked to a reader.');
    this.#reader = this.#streams.acquire(this.#stream);
    this.#readAhead();
  }
  #readAhead() {
    if (this.#reading || this.#over !== undefined || this.#bytes >= AHEAD_BYTES_MAX) return;
    this.#reading = true;
    apply(promiseThen, this.#streams.readWhole(this.#reader), [
      ({ value, done }) => {
        this.#reading = false;
        if (done) return this.#end(undefined);
        let bytes;
        try {
          bytes = bytesOf(value);
        } catch (error) {
          this.#end({ error });
          this[symbolDispose]();
          return;
        }
        if (bytes.byteLength > 0 && this.#over === undefined) {
          for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES_MAX) {
            const length = bytes.byteLength - at < CHUNK_BYTES_MAX ? bytes.byteLength - at : CHUNK_BYTES_MAX;
            this.#chunks.push(new Uint8Array(bytes.buffer, bytes.byteOffset + at, length));
          }
          this.#bytes += bytes.byteLength;
          this.#progress.resolve(undefined);
        }
        this.#readAhead();
      },
      (error) => this.#end({ error }),
    ]);
  }
  #end(failure) {
    if (this.#over !== undefined) return;
    this.#over = { failure };
    this.#progress.resolve(undefined);
  }
  async read() {
    while (this.#chunks.length === 0) {
      if (this.#over !== undefined) {
        if (this.#over.failure !== undefined) throw this.#over.failure.error;
        return null;
      }
      this.#progress = this.#progress.settled ? deferred() : this.#progress;
      await this.#progress.promise;
    }
    const bytes = this.#take();
    this.#bytes -= bytes.byteLength;
    this.#readAhead();
    return bytes;
  }
  // The next bytes, as many as one answer may have: a message costs more than a copy.
  #take() {
    const taken = [this.#chunks.shift()];
    let length = taken[0].byteLength;
    while (this.#chunks.length > 0 && length + this.#chunks.peek().byteLength <= CHUNK_BYTES_MAX) {
      taken[taken.length] = this.#chunks.shift();
      length += taken[taken.length - 1].byteLength;
    }
    // What is sent is the whole buffer behind a view, so a part is copied.
    if (taken.length === 1 && length === taken[0].buffer.byteLength) return taken[0];
    const together = new Uint8Array(length);
    let at = 0;
    for (let index = 0; index < taken.length; index += 1) {
      apply(viewSet, together, [taken[index], at]);
      at += taken[index].byteLength;
    }
    return together;
  }
  async cancel(reason) {
    this.#chunks = new Queue();
    const open = this.#over === undefined;
    this.#end(undefined);
    if (open) this.#onCancel?.();
    await this.#streams.cancel(this.#stream, reason);
  }
  // Nobody holds it any more: whoever writes is told. A stream that has ended takes no notice.
  [symbolDispose]() {
    apply(promiseThen, this.#streams.cancel(this.#stream, undefined), [undefined, () => {}]);
  }
}

// A chunk as the bytes that are sent for it.
function bytesOf(chunk) {
  if (typeof chunk === 'string') return load('encoding').utf8(chunk);
  const bytes = typeof chunk === 'object' && chunk !== null ? bytesIn(chunk) : null;
  if (bytes === null) throw new TypeError('This ReadableStream did not return bytes.');
  return bytes;
}

// What a call failed by that its callee did not throw: the callee's isolate met a limit or failed, or nobody was there.
const BY_END = 1;
const BY_LOSS = 2;

// What a reader is told when a stream breaks off, the body of a request, or that of an answer: `lost`, unless it is told why.
// Of a limit that the writer met it always is. As on the platform, the writer's own reason stays with the writer, but where
// it writes an answer.
const whyEnded = (error) => rpc.failedBy(error) === BY_END;
const STREAM_BREAKS = { lost: 'ReadableStream received over RPC disconnected prematurely.', tells: whyEnded };
const BODY_BREAKS = { lost: 'Network connection lost.', tells: whyEnded };
const ANSWER_BREAKS = { lost: BODY_BREAKS.lost, tells: (error) => rpc.failedBy(error) !== BY_LOSS };

// A ReadableStream of what a body capability has. It holds the capability until its end, of which `onEnd` is told.
// `signal`, unless it is null, breaks it off; `length` is how many bytes it will give, as a bigint, if that is known;
// `breaks` says what its reader is told when it breaks off.
function readableFrom(stub, signal = null, onEnd = undefined, length = undefined, { lost, tells } = STREAM_BREAKS) {
  const source = rpc.hold(stub);
  let left = length;
  const feed = {
    async next() {
      for (;;) {
        let bytes;
        try {
          bytes = await rpc.invoke(source, ['read'], inner.readWhole ? [WHOLE_BYTES] : []);
        } catch (error) {
          rpc.letGo(source);
          throw tells(error) ? error : new Error(lost);
        }
        if (bytes === null || bytes === undefined) {
          rpc.letGo(source);
          if (left !== undefined && left > 0n) throw new Error(lost);
          onEnd?.();
          return null;
        }
        if (!isView(bytes)) {
          rpc.letGo(source);
          throw new TypeError('This ReadableStream did not return bytes.');
        }
        const { byteLength } = partsOf(bytes);
        if (left !== undefined) left -= BigInt(byteLength);
        if (left !== undefined && left < 0n) {
          rpc.letGo(source);
          throw new Error(lost);
        }
        if (byteLength > 0) return bytesIn(bytes);
      }
    },
    async cancel(exception, reason) {
      try {
        await rpc.invoke(source, ['cancel'], reason === undefined ? [] : [reason]);
      } finally {
        rpc.letGo(source);
      }
    },
  };
  const inner = load('streams_native').createInner(feed, length);
  if (signal !== null && !signal.aborted) {
    load('abort').onAbort(signal, (reason) => {
      if (inner.state !== 'readable') return;
      inner.controller.error(reason);
      const over = () => rpc.letGo(source);
      apply(promiseThen, rpc.invoke(source, ['cancel'], []), [over, over]);
    });
  }
  return load('streams_readable').wrap(inner);
}

// The far end of a WritableStream that was sent.
class StreamSink extends RpcTarget {
  #streams = load('streams_writable');
  #stream;
  #writer;
  #open = true;
  constructor(stream) {
    super();
    this.#stream = this.#streams.stateOf(stream);
    if (this.#stream.writer !== null) throw new TypeError('The WritableStream has been locked to a writer.');
    this.#writer = this.#streams.acquire(this.#stream);
  }
  async write(chunk) {
    await this.#streams.write(this.#writer, chunk);
  }
  async close() {
    this.#open = false;
    if (this.#streams.isClosing(this.#stream)) throw new TypeError(this.#streams.CLOSED);
    await this.#streams.close(this.#stream);
  }
  // As on the platform, the reason stays where it was given.
  async abort() {
    this.#open = false;
    await this.#streams.abort(this.#stream, gone());
  }
  [symbolDispose]() {
    if (!this.#open) return;
    this.#open = false;
    apply(promiseThen, this.#streams.abort(this.#stream, gone()), [undefined, () => {}]);
  }
}

function gone() {
  return new Error(
    'WritableStream received over RPC was disconnected because the remote execution context has ended.',
  );
}

// A WritableStream into what a sink capability stands for. As on the platform, a write is done when there is room for
// more: what becomes of it is known to a later write, or to the close.
function writableTo(stub) {
  const sink = rpc.hold(stub);
  let onTheWay = 0;
  let failure;
  let room;
  const progress = () => {
    const waiting = room;
    room = undefined;
    waiting?.resolve(undefined);
  };
  const until = async (bytes) => {
    while (onTheWay > bytes && failure === undefined) {
      room ??= deferred();
      await room.promise;
    }
    if (failure !== undefined) throw failure.error;
  };
  const streams = load('streams_writable');
  const inner = streams.createInner(
    async (chunk) => {
      const bytes = isView(chunk) ? (chunk.byteLength > WRITE_BYTES_MIN ? chunk.byteLength : WRITE_BYTES_MIN) : WINDOW_BYTES_MAX;
      await until(WINDOW_BYTES_MAX - 1);
      onTheWay += bytes;
      apply(promiseThen, rpc.invoke(sink, ['write'], [chunk]), [
        () => {
          onTheWay -= bytes;
          progress();
        },
        (error) => {
          failure ??= { error };
          progress();
        },
      ]);
    },
    async () => {
      await until(0);
      await rpc.invoke(sink, ['close'], []);
      rpc.letGo(sink);
    },
    async () => {
      try {
        await rpc.invoke(sink, ['abort'], []);
      } finally {
        rpc.letGo(sink);
      }
    },
    1,
    () => 1,
  );
  return streams.wrap(inner);
}

return { ANSWER_BREAKS, BODY_BREAKS, StreamSource, StreamSink, readableFrom, writableTo, bytesOf };
