// WritableStream, its writer and its controller (Streams 5).
'use strict';
const { promiseResolve, promiseReject, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badConstructorArgument, expose } = load('webidl');
const { deferred, resolvedDeferred, rejectedDeferred, handled, then, callAsync, Queue, SizedQueue, method, strategy } =
  load('streams_support');

const LOCKED = 'This WritableStream is currently locked to a writer.';
const RELEASED = 'This WritableStream writer has been released.';
const CLOSED = 'This WritableStream has been closed.';
const CLOSE = Symbol('close');
const token = {};

function newState() {
  return {
    state: 'writable',
    error: undefined,
    writer: null,
    controller: null,
    requests: new Queue(),
    inFlight: null,
    closeRequest: null,
    closing: null,
    abortRequest: null,
    backpressure: false,
  };
}

function closeQueuedOrInFlight(stream) {
  return stream.closeRequest !== null || stream.closing !== null;
}

// --- what happens to a stream -------------------------------------------------------------------------------------

function abort(stream, reason) {
  if (stream.state === 'closed' || stream.state === 'errored') return promiseResolve(undefined);
  stream.controller.signalAbort(reason);
  const { state } = stream;
  if (state === 'closed' || state === 'errored') return promiseResolve(undefined);
  if (stream.abortRequest !== null) return stream.abortRequest.done.promise;
  const wasErroring = state === 'erroring';
  stream.abortRequest = { done: deferred(), reason: wasErroring ? undefined : reason, wasErroring };
  const { promise } = stream.abortRequest.done;
  if (!wasErroring) startErroring(stream, reason);
  return promise;
}

function close(stream) {
  const { state } = stream;
  if (state === 'closed' || state === 'errored') {
    return promiseReject(new TypeError(state === 'closed' ? CLOSED : 'This WritableStream has been errored.'));
  }
  stream.closeRequest = deferred();
  const { writer, closeRequest } = stream;
  if (writer !== null && stream.backpressure && state === 'writable') writer.ready.resolve(undefined);
  stream.controller.close();
  return closeRequest.promise;
}

function startErroring(stream, reason) {
  const { controller, writer } = stream;
  stream.state = 'erroring';
  stream.error = reason;
  if (writer !== null) rejectReady(writer, reason);
  if (stream.inFlight === null && stream.closing === null && controller.started) finishErroring(stream);
}

function finishErroring(stream) {
  stream.state = 'errored';
  stream.controller.queue.reset();
  const { requests, abortRequest, error } = stream;
  stream.requests = new Queue();
  requests.forEach((request) => request.reject(error));
  if (abortRequest === null) {
    rejectCloseIfNeeded(stream);
    return;
  }
  stream.abortRequest = null;
  if (abortRequest.wasErroring) {
    abortRequest.done.reject(error);
    rejectCloseIfNeeded(stream);
    return;
  }
  then(
    stream.controller.abort(abortRequest.reason),
    () => {
      abortRequest.done.resolve(undefined);
      rejectCloseIfNeeded(stream);
    },
    (reason) => {
      abortRequest.done.reject(reason);
      rejectCloseIfNeeded(stream);
    },
  );
}

function rejectCloseIfNeeded(stream) {
  if (stream.closeRequest !== null) {
    stream.closeRequest.reject(stream.error);
    stream.closeRequest = null;
  }
  if (stream.writer !== null) {
    stream.writer.closed.reject(stream.error);
    handled(stream.writer.closed.promise);
  }
}

function dealWithRejection(stream, error) {
  if (stream.state === 'writable') startErroring(stream, error);
  else finishErroring(stream);
}

function finishClose(stream) {
  stream.closing.resolve(undefined);
  stream.closing = null;
  if (stream.state === 'erroring') {
    // Closed before it could fail: whoever asked for the abort is told it is over.
    stream.error = undefined;
    if (stream.abortRequest !== null) {
      stream.abortRequest.done.resolve(undefined);
      stream.abortRequest = null;
    }
  }
  stream.state = 'closed';
  if (stream.writer !== null) stream.writer.closed.resolve(undefined);
}

function finishCloseWithError(stream, error) {
  stream.closing.reject(error);
  stream.closing = null;
  if (stream.abortRequest !== null) {
    stream.abortRequest.done.reject(error);
    stream.abortRequest = null;
  }
  dealWithRejection(stream, error);
}

function updateBackpressure(stream, backpressure) {
  const { writer } = stream;
  if (writer !== null && backpressure !== stream.backpressure) {
    if (backpressure) writer.ready = deferred();
    else writer.ready.resolve(undefined);
  }
  stream.backpressure = backpressure;
}

// --- the controller -----------------------------------------------------------------------------------------------

class Controller {
  constructor(stream, write, close, abort, highWaterMark, size) {
    this.stream = stream;
    this.queue = new SizedQueue();
    this.started = false;
    this.writeAlgorithm = write;
    this.closeAlgorithm = close;
    this.abortAlgorithm = abort;
    this.highWaterMark = highWaterMark;
    this.size = size;
    this.signal = null;
    this.aborted = false;
    this.abortReason = undefined;
    stream.controller = this;
    updateBackpressure(stream, this.backpressure());
  }
  start(started) {
    then(
      started,
      () => {
        this.started = true;
        this.advance();
      },
      (error) => {
        this.started = true;
        dealWithRejection(this.stream, error);
      },
    );
  }
  // The signal is made when somebody asks for it: most sinks never do.
  getSignal() {
    if (this.signal === null) {
      const { newSignal, abort } = load('abort');
      this.signal = newSignal();
      if (this.aborted) abort(this.signal, this.abortReason);
    }
    return this.signal;
  }
  signalAbort(reason) {
    if (this.aborted) return;
    this.aborted = true;
    this.abortReason = reason;
    if (this.signal !== null) load('abort').abort(this.signal, reason);
  }
  abort(reason) {
    const algorithm = this.abortAlgorithm;
    this.forget();
    return algorithm(reason);
  }
  forget() {
    this.writeAlgorithm = undefined;
    this.closeAlgorithm = undefined;
    this.abortAlgorithm = undefined;
    this.size = undefined;
  }
  desiredSize() {
    return this.highWaterMark - this.queue.total;
  }
  backpressure() {
    return this.desiredSize() <= 0;
  }
  close() {
    this.queue.pushSized(CLOSE, 0);
    this.advance();
  }
  sizeOf(chunk) {
    if (this.size === undefined) return 1;
    try {
      return this.size(chunk);
    } catch (error) {
      this.errorIfNeeded(error);
      return 1;
    }
  }
  write(chunk, size) {
    try {
      this.queue.pushSized(chunk, size);
    } catch (error) {
      this.errorIfNeeded(error);
      return;
    }
    const { stream } = this;
    if (!closeQueuedOrInFlight(stream) && stream.state === 'writable') updateBackpressure(stream, this.backpressure());
    this.advance();
  }
  errorIfNeeded(error) {
    if (this.stream.state === 'writable') this.error(error);
  }
  error(error) {
    this.forget();
    startErroring(this.stream, error);
  }
  advance() {
    const { stream } = this;
    if (!this.started || stream.inFlight !== null) return;
    if (stream.state === 'erroring') {
      finishErroring(stream);
      return;
    }
    if (this.queue.length === 0) return;
    const { value } = this.queue.peek();
    if (value === CLOSE) this.processClose();
    else this.processWrite(value);
  }
  processClose() {
    const { stream } = this;
    stream.closing = stream.closeRequest;
    stream.closeRequest = null;
    this.queue.shiftSized();
    const algorithm = this.closeAlgorithm;
    this.forget();
    then(
      algorithm(),
      () => finishClose(stream),
      (error) => finishCloseWithError(stream, error),
    );
  }
  processWrite(chunk) {
    const { stream } = this;
    stream.inFlight = stream.requests.shift();
    then(
      this.writeAlgorithm(chunk),
      () => {
        stream.inFlight.resolve(undefined);
        stream.inFlight = null;
        const { state } = stream;
        this.queue.shiftSized();
        if (!closeQueuedOrInFlight(stream) && state === 'writable') updateBackpressure(stream, this.backpressure());
        this.advance();
      },
      (error) => {
        if (stream.state === 'writable') this.forget();
        stream.inFlight.reject(error);
        stream.inFlight = null;
        dealWithRejection(stream, error);
      },
    );
  }
}

class WritableStreamDefaultController {
  #inner;
  constructor(key, inner) {
    if (key !== token) illegalConstructor();
    this.#inner = inner;
  }
  get signal() {
    if (!(#inner in this)) illegalInvocation();
    return this.#inner.getSignal();
  }
  error(reason) {
    if (!(#inner in this)) illegalInvocation();
    if (this.#inner.stream.state === 'writable') this.#inner.error(reason);
  }
}
expose(WritableStreamDefaultController, 'WritableStreamDefaultController');

// A stream whose sink is the platform's own: algorithms instead of a program's methods.
function createInner(start, write, close, abort, highWaterMark = 1, size = undefined) {
  const stream = newState();
  const controller = new Controller(stream, write, close, abort, highWaterMark, size);
  controller.start(promiseResolve(start(controller)));
  return stream;
}

function fromSink(stream, sink, { highWaterMark, size }) {
  const start = method(sink, 'start', 'UnderlyingSink');
  const write = method(sink, 'write', 'UnderlyingSink');
  const close = method(sink, 'close', 'UnderlyingSink');
  const abort = method(sink, 'abort', 'UnderlyingSink');
  let controller;
  const done = () => promiseResolve(undefined);
  const inner = new Controller(
    stream,
    write === undefined ? done : (chunk) => callAsync(write, sink, [chunk, controller]),
    close === undefined ? done : () => callAsync(close, sink, []),
    abort === undefined ? done : (reason) => callAsync(abort, sink, [reason]),
    highWaterMark,
    size,
  );
  controller = new WritableStreamDefaultController(token, inner);
  inner.start(start === undefined ? done() : callAsync(start, sink, [controller]));
}

// --- writers ------------------------------------------------------------------------------------------------------

function acquire(stream) {
  if (stream.writer !== null) throw new TypeError(LOCKED);
  const writer = { stream, closed: null, ready: null };
  stream.writer = writer;
  switch (stream.state) {
    case 'writable':
      writer.ready = !closeQueuedOrInFlight(stream) && stream.backpressure ? deferred() : resolvedDeferred(undefined);
      writer.closed = deferred();
      break;
    case 'erroring':
      writer.ready = rejectedDeferred(stream.error);
      writer.closed = deferred();
      break;
    case 'closed':
      writer.ready = resolvedDeferred(undefined);
      writer.closed = resolvedDeferred(undefined);
      break;
    default:
      writer.ready = rejectedDeferred(stream.error);
      writer.closed = rejectedDeferred(stream.error);
  }
  handled(writer.closed.promise);
  return writer;
}

function rejectReady(writer, error) {
  if (writer.ready.settled) writer.ready = rejectedDeferred(error);
  else {
    writer.ready.reject(error);
    handled(writer.ready.promise);
  }
}

function release(writer) {
  const { stream } = writer;
  if (stream === null) return;
  const error = new TypeError(RELEASED);
  rejectReady(writer, error);
  if (writer.closed.settled) writer.closed = rejectedDeferred(error);
  else {
    writer.closed.reject(error);
    handled(writer.closed.promise);
  }
  stream.writer = null;
  writer.stream = null;
}

function write(writer, chunk) {
  const { stream } = writer;
  const { controller } = stream;
  const size = controller.sizeOf(chunk);
  if (stream !== writer.stream) return promiseReject(new TypeError(RELEASED));
  const { state } = stream;
  if (state === 'errored') return promiseReject(stream.error);
  if (closeQueuedOrInFlight(stream) || state === 'closed') return promiseReject(new TypeError(CLOSED));
  if (state === 'erroring') return promiseReject(stream.error);
  const request = deferred();
  stream.requests.push(request);
  controller.write(chunk, size);
  return request.promise;
}

class WritableStreamDefaultWriter {
  #writer;
  constructor(stream) {
    if (!isWritableStream(stream)) badConstructorArgument('WritableStreamDefaultWriter', 1, 'WritableStream');
    this.#writer = acquire(stateOf(stream));
  }
  get closed() {
    if (!(#writer in this)) illegalInvocation();
    return this.#writer.closed.promise;
  }
  get ready() {
    if (!(#writer in this)) illegalInvocation();
    return this.#writer.ready.promise;
  }
  get desiredSize() {
    if (!(#writer in this)) illegalInvocation();
    const { stream } = this.#writer;
    if (stream === null) throw new TypeError(RELEASED);
    if (stream.state === 'errored' || stream.state === 'erroring') return null;
    return stream.state === 'closed' ? 0 : stream.controller.desiredSize();
  }
  async abort(reason) {
    if (!(#writer in this)) illegalInvocation();
    if (this.#writer.stream === null) throw new TypeError(RELEASED);
    return abort(this.#writer.stream, reason);
  }
  async close() {
    if (!(#writer in this)) illegalInvocation();
    const { stream } = this.#writer;
    if (stream === null) throw new TypeError(RELEASED);
    if (closeQueuedOrInFlight(stream)) throw new TypeError(CLOSED);
    return close(stream);
  }
  write(chunk) {
    if (!(#writer in this)) illegalInvocation();
    if (this.#writer.stream === null) return promiseReject(new TypeError(RELEASED));
    return write(this.#writer, chunk);
  }
  releaseLock() {
    if (!(#writer in this)) illegalInvocation();
    release(this.#writer);
  }
}
expose(WritableStreamDefaultWriter, 'WritableStreamDefaultWriter');

// --- what programs see --------------------------------------------------------------------------------------------

// What the rest of the platform may do with one.
let stateOf, isWritableStream;
class WritableStream {
  #state;
  constructor(sink, queuing) {
    if (sink === token) {
      this.#state = queuing;
      return;
    }
    this.#state = newState();
    if (sink === undefined || sink === null) sink = {};
    if (typeof sink !== 'object' && typeof sink !== 'function') badConstructorArgument('WritableStream', 1, 'UnderlyingSink');
    fromSink(this.#state, sink, strategy(queuing, 'WritableStream', 2, 1));
  }
  get locked() {
    if (!(#state in this)) illegalInvocation();
    return this.#state.writer !== null;
  }
  async abort(reason) {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.writer !== null) throw new TypeError(LOCKED);
    return abort(this.#state, reason);
  }
  async close() {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.writer !== null) throw new TypeError(LOCKED);
    if (closeQueuedOrInFlight(this.#state)) throw new TypeError(CLOSED);
    return close(this.#state);
  }
  getWriter() {
    if (!(#state in this)) illegalInvocation();
    return new WritableStreamDefaultWriter(this);
  }

  static {
    stateOf = (stream) => {
      return stream.#state;
    };
    isWritableStream = (value) => {
      return typeof value === 'object' && value !== null && #state in value;
    };
  }
}
expose(WritableStream, 'WritableStream', {
  is: isWritableStream,
  internals: (stream) => ({ state: stateOf(stream).state }),
  clone() {
    const { DOMException } = load('dom_exception');
    throw new DOMException('WritableStream can only be serialized for RPC.', 'DataCloneError');
  },
});

// A stream that programs may hold, for an inner one.
function wrap(state) {
  return new WritableStream(token, state);
}

// A class of streams over a sink of the platform's own: `super(inner)`.
class PlatformWritableStream extends WritableStream {
  constructor(inner) {
    super(token, inner);
  }
}

return {
  WritableStream,
  WritableStreamDefaultWriter,
  WritableStreamDefaultController,
  PlatformWritableStream,
  CLOSED,
  wrap,
  stateOf,
  isWritableStream,
  createInner,
  closeQueuedOrInFlight,
  startErroring,
  finishErroring,
  updateBackpressure,
  acquire,
  release,
  write,
  close,
  abort,
};
