// What takes what is written into a WritableStream: an inner stream's states and the controller of a program's sink
// (Streams 5.3-5.5). The classes programs see are in `streams_writable`.
//
// An inner stream's controller has `write(chunk)`, `close()` and `abort(reason)`, which answer with promises,
// `errorIfNeeded(error)`, `release(error)`, `desiredSize()`, `isClosing()` and `holdsBack()`. Streams into the platform's
// own sinks are in `streams_native_sink`.
'use strict';
const { promiseResolve, promiseReject, TypeError } = primordials;
const { deferred, handled, hasFlag, Queue, rejectedDeferred, then } = load('streams_support');

const RELEASED = 'This WritableStream writer has been released.';
const CLOSED = 'This WritableStream has been closed.';

function newState() {
  return { state: 'writable', error: undefined, writer: null, controller: null, aborting: null };
}

// --- what happens to a stream -------------------------------------------------------------------------------------

function finishClosed(stream) {
  const { writer } = stream;
  stream.state = 'closed';
  if (writer === null) return;
  writer.closed.resolve(undefined);
  writer.ready.resolve(undefined);
  writer.onEnd?.();
}

function finishErrored(stream) {
  const { writer, error } = stream;
  if (writer === null) return;
  writer.closed.reject(error);
  writer.onEnd?.();
}

function setBackpressure(stream, backpressure) {
  const { writer } = stream;
  if (writer === null) return;
  if (!backpressure) writer.ready.resolve(undefined);
  else if (writer.ready.settled) writer.ready = deferred();
}

function rejectReady(writer, error) {
  if (writer.ready.settled) writer.ready = rejectedDeferred(error);
  else {
    writer.ready.reject(error);
    handled(writer.ready.promise);
  }
}

// --- the controller -----------------------------------------------------------------------------------------------

// What a program's sink, or one given as algorithms, is driven by. `write(chunk)`, `close()` and `abort(reason)` answer
// with promises; each may be undefined, and is then over at once.
class SinkController {
  #stream;
  #queue = new Queue();
  #total = 0;
  #started = false;
  #inFlight = null;
  #closeRequest = null;
  #closing = null;
  #abortRequest = null;
  #backpressure;
  #write;
  #close;
  #abort;
  #size;
  #highWaterMark;
  #signal = null;
  #aborted = false;
  #abortReason = undefined;
  constructor(stream, write, close, abort, highWaterMark, size) {
    this.#stream = stream;
    this.#write = write;
    this.#close = close;
    this.#abort = abort;
    this.#highWaterMark = highWaterMark;
    this.#size = size;
    this.#backpressure = this.desiredSize() <= 0;
    stream.controller = this;
  }
  get stream() {
    return this.#stream;
  }
  start(starting) {
    const stream = this.#stream;
    const started = () => {
      this.#started = true;
      this.#advance();
    };
    if (starting === undefined) {
      started();
      return;
    }
    // As on the platform, a writer is ready then, whatever waits already.
    const ready = () => {
      if (stream.state === 'writable') setBackpressure(stream, false);
    };
    const begin = () => {
      then(promiseResolve(undefined), ready);
      started();
    };
    then(starting, begin, (error) => {
      this.#started = true;
      this.#fail(error);
    });
  }
  desiredSize() {
    return this.#highWaterMark - this.#total;
  }
  isClosing() {
    return this.#closeRequest !== null || this.#closing !== null;
  }
  // Whether a new writer has to wait.
  holdsBack() {
    if (hasFlag('writable_stream_spec_compliant_writer')) return !this.isClosing() && this.#backpressure;
    return !this.#started;
  }
  // The signal is made when somebody asks for it: most sinks never do.
  signal() {
    if (this.#signal === null) {
      const abort = load('abort');
      this.#signal = abort.newSignal();
      if (this.#aborted) abort.abort(this.#signal, this.#abortReason);
    }
    return this.#signal;
  }
  #signalAbort(reason) {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#abortReason = reason;
    if (this.#signal !== null) load('abort').abort(this.#signal, reason);
  }
  #forget() {
    this.#write = undefined;
    this.#close = undefined;
    this.#abort = undefined;
    this.#size = undefined;
  }
  abort(reason) {
    const stream = this.#stream;
    if (stream.state === 'closed' || stream.state === 'errored') return promiseResolve(undefined);
    this.#signalAbort(reason);
    // Listeners of the signal may have ended it.
    const { state } = stream;
    if (state === 'closed' || state === 'errored') return promiseResolve(undefined);
    if (this.#abortRequest !== null) return this.#abortRequest.done.promise;
    const wasErroring = state === 'erroring';
    const done = deferred();
    this.#abortRequest = { done, reason: wasErroring ? undefined : reason, wasErroring };
    if (!wasErroring) this.#startErroring(reason);
    return done.promise;
  }
  close() {
    if (this.isClosing()) throw new TypeError('Cannot close a writer that is already being closed');
    const request = deferred();
    this.#closeRequest = request;
    if (this.#backpressure && this.#stream.state === 'writable') setBackpressure(this.#stream, false);
    this.#advance();
    return request.promise;
  }
  write(chunk) {
    const stream = this.#stream;
    const { writer } = stream;
    let size = 1;
    if (this.#size !== undefined) {
      try {
        const sizeOf = this.#size;
        size = +sizeOf(chunk);
        if (size !== size || size < 0 || size === Infinity) {
          throw new TypeError('The value cannot be converted because it is not an integer.');
        }
      } catch (error) {
        if (stream.state === 'writable') this.#startErroring(error);
        return promiseReject(error);
      }
    }
    // The program may have let go of the writer while it counted.
    if (stream.writer !== writer) return promiseReject(new TypeError(RELEASED));
    const { state } = stream;
    if (state === 'errored') return promiseReject(stream.error);
    if (this.isClosing() || state === 'closed') return promiseReject(new TypeError(CLOSED));
    if (state === 'erroring') return promiseReject(stream.error);
    const request = deferred();
    this.#queue.push({ chunk, size, request });
    this.#total += size;
    this.#update();
    this.#advance();
    return request.promise;
  }
  // The writer has gone: what it wrote, and the sink has not begun with, is not written.
  release(error) {
    const queue = this.#queue;
    this.#queue = new Queue();
    queue.forEach(({ request }) => request.reject(error));
  }
  errorIfNeeded(error) {
    if (this.#stream.state === 'writable') this.error(error);
  }
  error(error) {
    this.#forget();
    this.#startErroring(error);
  }
  #update() {
    const backpressure = this.desiredSize() <= 0;
    if (backpressure === this.#backpressure) return;
    this.#backpressure = backpressure;
    setBackpressure(this.#stream, backpressure);
  }
  #startErroring(reason) {
    const stream = this.#stream;
    stream.state = 'erroring';
    stream.error = reason;
    if (stream.writer !== null) rejectReady(stream.writer, reason);
    if (this.#inFlight === null && this.#closing === null && this.#started) this.#finishErroring();
  }
  #finishErroring() {
    const stream = this.#stream;
    const { error } = stream;
    stream.state = 'errored';
    const queue = this.#queue;
    this.#queue = new Queue();
    this.#total = 0;
    queue.forEach(({ request }) => request.reject(error));
    const aborting = this.#abortRequest;
    this.#abortRequest = null;
    const finish = () => {
      this.#forget();
      if (this.#closeRequest !== null) this.#closeRequest.reject(error);
      this.#closeRequest = null;
      finishErrored(stream);
    };
    if (aborting === null) {
      finish();
      return;
    }
    const algorithm = this.#abort;
    if (aborting.wasErroring) {
      aborting.done.reject(error);
      finish();
    } else if (algorithm === undefined) {
      aborting.done.resolve(undefined);
      finish();
    } else {
      this.#forget();
      then(
        algorithm(aborting.reason),
        () => {
          aborting.done.resolve(undefined);
          finish();
        },
        (reason) => {
          aborting.done.reject(reason);
          finish();
        },
      );
    }
  }
  #fail(error) {
    const { state } = this.#stream;
    if (state === 'writable') this.#startErroring(error);
    else if (state === 'erroring') this.#finishErroring();
  }
  #advance() {
    if (!this.#started || this.#inFlight !== null || this.#closing !== null) return;
    const { state } = this.#stream;
    if (state === 'erroring') this.#finishErroring();
    else if (state !== 'writable') return;
    else if (this.#queue.length > 0) this.#processWrite();
    else if (this.#closeRequest !== null) this.#processClose();
  }
  #processClose() {
    const request = this.#closeRequest;
    this.#closing = request;
    this.#closeRequest = null;
    const closed = () => {
      this.#forget();
      this.#closing = null;
      request.resolve(undefined);
      if (this.#abortRequest !== null) this.#abortRequest.done.resolve(undefined);
      this.#abortRequest = null;
      finishClosed(this.#stream);
    };
    const algorithm = this.#close;
    if (algorithm === undefined) {
      closed();
      return;
    }
    then(algorithm(), closed, (error) => {
      this.#forget();
      this.#closing = null;
      request.reject(error);
      if (this.#abortRequest !== null) this.#abortRequest.done.reject(error);
      this.#abortRequest = null;
      this.#fail(error);
    });
  }
  #processWrite() {
    const { chunk, size, request } = this.#queue.shift();
    this.#inFlight = request;
    const written = () => {
      this.#inFlight = null;
      this.#total -= size;
      request.resolve(undefined);
      if (!this.isClosing() && this.#stream.state === 'writable') this.#update();
      // Not at once: a sink that needs no time would go ever deeper, and writers that wait come first, as on the platform.
      if (this.#queue.length > 0 && this.#stream.state === 'writable') {
        then(promiseResolve(undefined), () => this.#advance());
      } else this.#advance();
    };
    const algorithm = this.#write;
    if (algorithm === undefined) {
      written();
      return;
    }
    then(algorithm(chunk), written, (error) => {
      this.#inFlight = null;
      this.#total -= size;
      request.reject(error);
      this.#fail(error);
    });
  }
}

return { SinkController, newState, finishClosed, finishErrored, rejectReady, setBackpressure, CLOSED, RELEASED };
