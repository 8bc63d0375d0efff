// Writable streams into the platform's own sinks: the writable sides of identity and compression streams, and digests.
// Chunks are bytes, taken as they are when they are written.
//
// A sink has `write(bytes, done, failed)` and `close(done, failed)`, which call one of their arguments, possibly at once;
// `abort(reason)`; `withdraw()`, where it exists, for a write that nobody waits for any more; and `convert(chunk)`,
// where it takes other chunks than bytes and text: bytes, or null for none.
'use strict';
const { isError, promiseReject, promiseResolve, Error, TypeError } = primordials;
const { bytesIn, copyBytes, deferred, hasFlag, partsOf, Queue } = load('streams_support');
const { CLOSED, finishClosed, finishErrored, newState, rejectReady, setBackpressure } = load('streams_sink');

// A copy of a chunk's bytes; null when there are none.
function bytesOf(chunk) {
  if (typeof chunk === 'string') return chunk === '' ? null : load('encoding').utf8(chunk);
  if (chunk === undefined) return null;
  const bytes = typeof chunk === 'object' && chunk !== null ? bytesIn(chunk) : null;
  if (bytes === null) {
    throw new TypeError(
      'This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/' +
        'ArrayBufferView type on its writable side.',
    );
  }
  return lengthOf(bytes) === 0 ? null : copyBytes(bytes);
}

function lengthOf(bytes) {
  return primordials.apply(primordials.viewByteLength, bytes, []);
}

class NativeSink {
  takesBytes = true;
  #stream;
  #sink;
  #highWaterMark;
  #queue = new Queue();
  #buffered = 0;
  #backpressure = false;
  #busy = false;
  #closing = false;
  #abortRequest = null;
  constructor(stream, sink, highWaterMark) {
    this.#stream = stream;
    this.#sink = sink;
    this.#highWaterMark = highWaterMark;
    stream.controller = this;
  }
  desiredSize() {
    return this.#highWaterMark === undefined ? 1 : this.#highWaterMark - this.#buffered;
  }
  isClosing() {
    return this.#closing;
  }
  holdsBack() {
    return false;
  }
  // Whether the sink has not done yet with all that was written.
  get isBusy() {
    return this.#queue.length > 0;
  }
  // What was written is written, whoever holds the stream.
  release() {}
  write(chunk) {
    if (this.#closing) return promiseReject(new TypeError(CLOSED));
    const bytes = this.#sink.convert === undefined ? bytesOf(chunk) : this.#sink.convert(chunk);
    if (bytes === null) return promiseResolve(undefined);
    return this.#enqueue({ bytes, size: this.#sizeOf(chunk, bytes), request: deferred() });
  }
  // The same for bytes that nobody else holds.
  writeOwned(bytes) {
    if (this.#closing) return promiseReject(new TypeError(CLOSED));
    const size = partsOf(bytes).byteLength;
    if (size === 0) return promiseResolve(undefined);
    return this.#enqueue({ bytes: bytesIn(bytes), size, request: deferred() });
  }
  // How much a chunk counts. The TypeScript streams guess what text will need.
  #sizeOf(chunk, bytes) {
    if (typeof chunk === 'string' && hasFlag('typescript_implemented_streams')) return chunk.length * 3;
    return lengthOf(bytes);
  }
  close() {
    if (this.#closing) return promiseResolve(undefined);
    this.#closing = true;
    return this.#enqueue({ bytes: null, size: 0, request: deferred() });
  }
  #enqueue(item) {
    this.#count(item.size);
    this.#queue.push(item);
    this.#advance();
    return item.request.promise;
  }
  #count(change) {
    this.#buffered += change;
    if (this.#highWaterMark === undefined || this.#closing) return;
    const backpressure = this.desiredSize() <= 0;
    if (backpressure === this.#backpressure) return;
    this.#backpressure = backpressure;
    setBackpressure(this.#stream, backpressure);
  }
  #advance() {
    while (!this.#busy && this.#queue.length > 0) {
      const item = this.#queue.peek();
      const done = () => this.#done(item);
      const failed = (error) => this.#failed(item, error);
      this.#busy = true;
      if (item.bytes === null) this.#sink.close(done, failed);
      else this.#sink.write(item.bytes, done, failed);
    }
  }
  #done(item) {
    // It may have been aborted in the meantime.
    if (this.#queue.peek() !== item) return;
    this.#queue.shift();
    this.#busy = false;
    item.request.resolve(undefined);
    this.#count(-item.size);
    if (item.bytes === null) finishClosed(this.#stream);
    if (this.#abortRequest !== null) this.#finishAbort();
    this.#advance();
  }
  #failed(item, error) {
    if (this.#queue.peek() !== item) return;
    if (this.#abortRequest !== null) this.#finishAbort();
    else {
      this.#sink.abort(error);
      this.#drain(error);
    }
  }
  abort(reason) {
    if (this.#stream.state !== 'writable') return promiseResolve(undefined);
    if (this.#abortRequest !== null) return this.#abortRequest.done.promise;
    if (this.#queue.length > 0 && !hasFlag('internal_writable_stream_abort_clears_queue')) {
      this.#abortRequest = { done: deferred(), reason };
      return this.#abortRequest.done.promise;
    }
    this.#giveUp(reason);
    return promiseResolve(undefined);
  }
  #finishAbort() {
    const { done, reason } = this.#abortRequest;
    this.#abortRequest = null;
    if (this.#stream.state === 'writable') this.#giveUp(reason);
    done.resolve(undefined);
  }
  // Those who wrote are told the reason as it is, the other side of the sink an error.
  #giveUp(reason) {
    this.#drain(reason);
    this.#sink.abort(isError(reason) || reason instanceof Error ? reason : new Error(`${reason}`));
  }
  errorIfNeeded(error) {
    if (this.#stream.state === 'writable') this.#drain(error);
  }
  // The write under way is given up, and nothing else.
  withdraw() {
    const item = this.#queue.peek();
    if (item === undefined || item.bytes === null) return;
    this.#sink.withdraw?.();
    this.#queue.shift();
    this.#busy = false;
    this.#buffered -= item.size;
  }
  // Nothing more is written: all who wait are told.
  #drain(error) {
    const stream = this.#stream;
    const queue = this.#queue;
    this.#queue = new Queue();
    this.#busy = false;
    stream.state = 'errored';
    stream.error = error;
    if (stream.writer !== null) rejectReady(stream.writer, error);
    queue.forEach(({ request }) => request.reject(error));
    finishErrored(stream);
  }
}

// A stream into a sink. Without a high-water mark its writers never wait.
function createInner(sink, highWaterMark = undefined) {
  const stream = newState();
  new NativeSink(stream, sink, highWaterMark);
  return stream;
}

return { createInner, bytesOf };
