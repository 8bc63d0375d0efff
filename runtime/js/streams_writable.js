// WritableStream, its writer and its default controller (Streams 5). What takes the chunks is in rooms of its own:
// `streams_sink` (a program's) and `streams_native_sink` (the platform's).
'use strict';
const { promiseReject, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badConstructorArgument, expose } = load('webidl');
const { callAsync, captured, deferred, handled, method, rejectedDeferred, requireFlag, resolvedDeferred, strategy, then } =
  load('streams_support');
const { SinkController, newState, rejectReady, CLOSED, RELEASED } = load('streams_sink');

const LOCKED = 'This WritableStream is currently locked to a writer.';
const token = {};

function isClosing(stream) {
  return stream.controller.isClosing();
}

// Every call has the answer of the first.
function abort(stream, reason) {
  stream.aborting ??= handled(stream.controller.abort(reason));
  return then(stream.aborting, () => undefined);
}

function close(stream) {
  const { state } = stream;
  if (state === 'closed') return promiseReject(new TypeError(CLOSED));
  if (state === 'errored') return promiseReject(stream.error);
  return stream.controller.close();
}

class WritableStreamDefaultController {
  #inner;
  constructor(key, inner) {
    if (key !== token) illegalConstructor();
    this.#inner = inner;
  }
  get signal() {
    if (!(#inner in this)) illegalInvocation();
    return this.#inner.signal();
  }
  error(reason) {
    if (!(#inner in this)) illegalInvocation();
    this.#inner.errorIfNeeded(reason);
  }
}
expose(WritableStreamDefaultController, 'WritableStreamDefaultController');

// A stream whose sink is given as algorithms. `starting` is a promise, or undefined.
function createInner(write, close, abort, highWaterMark = 1, size = undefined, starting = undefined) {
  const stream = newState();
  new SinkController(stream, write, close, abort, highWaterMark, size).start(starting);
  return stream;
}

function fromSink(stream, sink, { highWaterMark, size }) {
  const start = method(sink, 'start', 'UnderlyingSink');
  const write = method(sink, 'write', 'UnderlyingSink');
  const close = method(sink, 'close', 'UnderlyingSink');
  const abort = method(sink, 'abort', 'UnderlyingSink');
  let controller;
  const inner = new SinkController(
    stream,
    write === undefined ? undefined : (chunk) => callAsync(write, sink, [chunk, controller]),
    close === undefined ? undefined : () => callAsync(close, sink, []),
    abort === undefined ? undefined : (reason) => callAsync(abort, sink, [reason]),
    highWaterMark,
    size,
  );
  controller = new WritableStreamDefaultController(token, inner);
  inner.start(start === undefined ? undefined : callAsync(start, sink, [controller]));
}

// --- writers ------------------------------------------------------------------------------------------------------

function acquire(stream) {
  if (stream.writer !== null) throw new TypeError(LOCKED);
  // `onEnd` is called when the stream is closed or has failed.
  const writer = { stream, closed: null, ready: null, onEnd: undefined };
  const { state, error } = stream;
  if (state === 'closed') {
    writer.closed = resolvedDeferred(undefined);
    writer.ready = resolvedDeferred(undefined);
  } else if (state === 'errored') {
    writer.closed = rejectedDeferred(error);
    writer.ready = rejectedDeferred(error);
  } else {
    writer.closed = deferred();
    if (state === 'erroring') writer.ready = rejectedDeferred(error);
    else writer.ready = stream.controller.holdsBack() ? deferred() : resolvedDeferred(undefined);
  }
  handled(writer.closed.promise);
  handled(writer.ready.promise);
  stream.writer = writer;
  return writer;
}

function release(writer) {
  const { stream } = writer;
  if (stream === null) return;
  const error = new TypeError(RELEASED);
  if (stream.state === 'writable' || stream.state === 'erroring') stream.controller.release(error);
  rejectReady(writer, error);
  if (writer.closed.settled) writer.closed = rejectedDeferred(error);
  else writer.closed.reject(error);
  stream.writer = null;
  writer.stream = null;
}

function write(writer, chunk) {
  const { stream } = writer;
  if (stream.state === 'errored') return promiseReject(stream.error);
  if (stream.state === 'closed') return promiseReject(new TypeError(CLOSED));
  return stream.controller.write(chunk);
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
  abort(reason) {
    if (!(#writer in this)) illegalInvocation();
    if (this.#writer.stream === null) return promiseReject(new TypeError(RELEASED));
    return abort(this.#writer.stream, reason);
  }
  close() {
    if (!(#writer in this)) illegalInvocation();
    const { stream } = this.#writer;
    if (stream === null) return promiseReject(new TypeError(RELEASED));
    try {
      return close(stream);
    } catch (error) {
      return captured(error);
    }
  }
  write(chunk) {
    if (!(#writer in this)) illegalInvocation();
    if (this.#writer.stream === null) return promiseReject(new TypeError(RELEASED));
    try {
      return write(this.#writer, chunk);
    } catch (error) {
      return captured(error);
    }
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
    requireFlag('WritableStream');
    this.#state = newState();
    if (sink === undefined || sink === null) sink = {};
    if (typeof sink !== 'object' && typeof sink !== 'function') badConstructorArgument('WritableStream', 1, 'UnderlyingSink');
    fromSink(this.#state, sink, strategy(queuing, 'WritableStream', 2, 1));
  }
  get locked() {
    if (!(#state in this)) illegalInvocation();
    return this.#state.writer !== null;
  }
  abort(reason) {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.writer !== null) return promiseReject(new TypeError(LOCKED));
    return abort(this.#state, reason);
  }
  close() {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.writer !== null) return promiseReject(new TypeError(LOCKED));
    try {
      return close(this.#state);
    } catch (error) {
      return captured(error);
    }
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
  isClosing,
  acquire,
  release,
  write,
  close,
  abort,
};
