// ReadableStream, its default reader and its default controller (Streams 4.1-4.6). Byte streams are a room of their own
// (`streams_byte`), as are pipes (`streams_pipe`).
//
// A stream, a reader and a controller each have an inner record, which is what the algorithms work on; the classes
// programs see are thin. A controller's record has `cancel(reason)`, `pull(request)` and `release()`; a read request has
// `chunk(value)`, `close()` and `error(reason)`.
'use strict';
const { promiseResolve, promiseReject, Promise, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, badConstructorArgument, badField, expose } = load('webidl');
const { deferred, resolvedDeferred, rejectedDeferred, handled, then, callAsync, Queue, SizedQueue, method, strategy, requireArgument } =
  load('streams_support');

const LOCKED = 'This ReadableStream is currently locked to a reader.';
const RELEASED = 'This ReadableStream reader has been released.';
const CLOSED = 'This ReadableStream is closed.';
const token = {};

function newState() {
  return { state: 'readable', reader: null, error: undefined, disturbed: false, controller: null, length: undefined, readWhole: false };
}

// --- what happens to a stream -------------------------------------------------------------------------------------

function close(stream) {
  stream.state = 'closed';
  const { reader } = stream;
  if (reader === null) return;
  reader.closed.resolve(undefined);
  if (reader.kind === 'default') {
    const { requests } = reader;
    reader.requests = new Queue();
    requests.forEach((request) => request.close());
  }
}

function fail(stream, error) {
  stream.state = 'errored';
  stream.error = error;
  const { reader } = stream;
  if (reader === null) return;
  reader.closed.reject(error);
  handled(reader.closed.promise);
  rejectRequests(reader, error);
}

function rejectRequests(reader, error) {
  const { requests } = reader;
  reader.requests = new Queue();
  requests.forEach((request) => request.error(error));
}

function cancel(stream, reason) {
  stream.disturbed = true;
  if (stream.state === 'closed') return promiseResolve(undefined);
  if (stream.state === 'errored') return promiseReject(stream.error);
  const { reader } = stream;
  close(stream);
  if (reader !== null && reader.kind === 'byob') {
    const { requests } = reader;
    reader.requests = new Queue();
    requests.forEach((request) => request.close(undefined));
  }
  return then(stream.controller.cancel(reason), () => undefined);
}

// --- readers ------------------------------------------------------------------------------------------------------

function acquire(stream, kind) {
  if (stream.reader !== null) throw new TypeError(LOCKED);
  const reader = { kind, stream, requests: new Queue(), closed: null };
  stream.reader = reader;
  if (stream.state === 'readable') reader.closed = deferred();
  else if (stream.state === 'closed') reader.closed = resolvedDeferred(undefined);
  else reader.closed = rejectedDeferred(stream.error);
  return reader;
}

function release(reader) {
  const { stream } = reader;
  if (stream === null) return;
  const error = new TypeError(RELEASED);
  if (reader.closed.settled) reader.closed = rejectedDeferred(error);
  else {
    reader.closed.reject(error);
    handled(reader.closed.promise);
  }
  stream.controller.release();
  stream.reader = null;
  reader.stream = null;
  rejectRequests(reader, error);
}

function read(reader, request) {
  const { stream } = reader;
  stream.disturbed = true;
  if (stream.state === 'closed') request.close();
  else if (stream.state === 'errored') request.error(stream.error);
  else stream.controller.pull(request);
}

// One read as a promise of `{value, done}`.
function readPromise(reader) {
  return new Promise((resolve, reject) => {
    read(reader, {
      chunk: (value) => resolve({ value, done: false }),
      close: () => resolve({ value: undefined, done: true }),
      error: reject,
    });
  });
}

// --- the default controller ---------------------------------------------------------------------------------------

class DefaultController {
  constructor(stream, pull, cancel, highWaterMark, size) {
    this.stream = stream;
    this.queue = new SizedQueue();
    this.started = false;
    this.closeRequested = false;
    this.pulling = false;
    this.pullAgain = false;
    this.pullAlgorithm = pull;
    this.cancelAlgorithm = cancel;
    this.highWaterMark = highWaterMark;
    this.size = size;
    stream.controller = this;
  }
  start(started) {
    then(
      started,
      () => {
        this.started = true;
        this.pullIfNeeded();
      },
      (error) => this.error(error),
    );
  }
  cancel(reason) {
    this.queue.reset();
    const algorithm = this.cancelAlgorithm;
    this.forget();
    return algorithm(reason);
  }
  pull(request) {
    if (this.queue.length > 0) {
      const chunk = this.queue.shiftSized();
      if (this.closeRequested && this.queue.length === 0) {
        this.forget();
        close(this.stream);
      } else {
        this.pullIfNeeded();
      }
      request.chunk(chunk);
    } else {
      this.stream.reader.requests.push(request);
      this.pullIfNeeded();
    }
  }
  release() {}
  forget() {
    this.pullAlgorithm = undefined;
    this.cancelAlgorithm = undefined;
    this.size = undefined;
  }
  canEnqueue() {
    return !this.closeRequested && this.stream.state === 'readable';
  }
  get desiredSize() {
    const { state } = this.stream;
    if (state === 'errored') return null;
    return state === 'closed' ? 0 : this.highWaterMark - this.queue.total;
  }
  shouldPull() {
    if (!this.started || !this.canEnqueue()) return false;
    const { reader } = this.stream;
    return (reader !== null && reader.requests.length > 0) || this.desiredSize > 0;
  }
  pullIfNeeded() {
    if (!this.shouldPull()) return;
    if (this.pulling) {
      this.pullAgain = true;
      return;
    }
    this.pulling = true;
    then(
      this.pullAlgorithm(),
      () => {
        this.pulling = false;
        if (this.pullAgain) {
          this.pullAgain = false;
          this.pullIfNeeded();
        }
      },
      (error) => this.error(error),
    );
  }
  close() {
    if (!this.canEnqueue()) return;
    this.closeRequested = true;
    if (this.queue.length === 0) {
      this.forget();
      close(this.stream);
    }
  }
  enqueue(chunk) {
    if (!this.canEnqueue()) return;
    const { reader } = this.stream;
    if (reader !== null && reader.requests.length > 0) {
      reader.requests.shift().chunk(chunk);
    } else {
      try {
        this.queue.pushSized(chunk, this.size === undefined ? 1 : this.size(chunk));
      } catch (error) {
        this.error(error);
        throw error;
      }
    }
    this.pullIfNeeded();
  }
  error(error) {
    if (this.stream.state !== 'readable') return;
    this.queue.reset();
    this.forget();
    fail(this.stream, error);
  }
}

class ReadableStreamDefaultController {
  #inner;
  constructor(key, inner) {
    if (key !== token) illegalConstructor();
    this.#inner = inner;
  }
  get desiredSize() {
    if (!(#inner in this)) illegalInvocation();
    return this.#inner.desiredSize;
  }
  close() {
    if (!(#inner in this)) illegalInvocation();
    if (!this.#inner.canEnqueue()) throw new TypeError(CLOSED);
    this.#inner.close();
  }
  enqueue(chunk) {
    if (!(#inner in this)) illegalInvocation();
    if (!this.#inner.canEnqueue()) throw new TypeError('Unable to enqueue');
    this.#inner.enqueue(chunk);
  }
  error(reason) {
    if (!(#inner in this)) illegalInvocation();
    requireArgument(arguments, 'ReadableStreamDefaultController', 'error', 'Value');
    this.#inner.error(reason);
  }
}
expose(ReadableStreamDefaultController, 'ReadableStreamDefaultController');

// A stream whose source is the platform's own: algorithms instead of a program's methods.
function createInner(start, pull, cancel, highWaterMark = 1, size = undefined) {
  const stream = newState();
  const controller = new DefaultController(stream, pull, cancel, highWaterMark, size);
  controller.start(promiseResolve(start(controller)));
  return stream;
}

function fromSource(stream, source, { highWaterMark, size }) {
  const start = method(source, 'start', 'UnderlyingSource');
  const pull = method(source, 'pull', 'UnderlyingSource');
  const cancel = method(source, 'cancel', 'UnderlyingSource');
  let controller;
  const inner = new DefaultController(
    stream,
    pull === undefined ? () => promiseResolve(undefined) : () => callAsync(pull, source, [controller]),
    cancel === undefined ? () => promiseResolve(undefined) : (reason) => callAsync(cancel, source, [reason]),
    highWaterMark,
    size,
  );
  controller = new ReadableStreamDefaultController(token, inner);
  inner.start(start === undefined ? promiseResolve(undefined) : callAsync(start, source, [controller]));
}

// --- what programs see --------------------------------------------------------------------------------------------

// What the rest of the platform may do with one.
let stateOf, isReadableStream;
class ReadableStream {
  #state;
  constructor(source, queuing) {
    if (source === token) {
      this.#state = queuing;
      return;
    }
    this.#state = newState();
    if (source === undefined || source === null) source = {};
    if (typeof source !== 'object' && typeof source !== 'function') badConstructorArgument('ReadableStream', 1, 'UnderlyingSource');
    const { type } = source;
    if (type === undefined || `${type}` === '') {
      fromSource(this.#state, source, strategy(queuing, 'ReadableStream', 2, 1));
    } else if (`${type}` === 'bytes') {
      load('streams_byte').fromSource(this.#state, source, strategy(queuing, 'ReadableStream', 2, 0).highWaterMark);
    } else {
      throw new TypeError(`"${type}" is not a valid type of ReadableStream.`);
    }
  }

  static from(iterable) {
    if (arguments.length < 1) badArgument('ReadableStream', 'from', 1, 'AsyncGenerator');
    return wrap(load('streams_derived').fromIterable(iterable));
  }

  get locked() {
    if (!(#state in this)) illegalInvocation();
    return this.#state.reader !== null;
  }
  async cancel(reason) {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.reader !== null) throw new TypeError(LOCKED);
    return cancel(this.#state, reason);
  }
  getReader(options) {
    if (!(#state in this)) illegalInvocation();
    if (options !== undefined && options !== null && typeof options !== 'object') {
      badArgument('ReadableStream', 'getReader', 1, 'GetReaderOptions');
    }
    const mode = options?.mode;
    if (mode === undefined) return new ReadableStreamDefaultReader(this);
    if (`${mode}` !== 'byob') throw new TypeError("mode must be undefined or 'byob' in call to getReader().");
    const { ReadableStreamBYOBReader } = load('streams_byob');
    return new ReadableStreamBYOBReader(this);
  }
  pipeThrough(transform, options) {
    if (!(#state in this)) illegalInvocation();
    if (typeof transform !== 'object' || transform === null) badArgument('ReadableStream', 'pipeThrough', 1, 'Transform');
    const { readable, writable } = transform;
    if (!isReadableStream(readable)) badField('Transform', 'readable', 'ReadableStream');
    const pipes = load('streams_pipe');
    if (!pipes.isWritableStream(writable)) badField('Transform', 'writable', 'WritableStream');
    if (this.#state.reader !== null) throw new TypeError(LOCKED);
    handled(pipes.pipe(this.#state, writable, pipes.options(options)));
    return readable;
  }
  async pipeTo(destination, options) {
    if (!(#state in this)) illegalInvocation();
    const pipes = load('streams_pipe');
    if (!pipes.isWritableStream(destination)) badArgument('ReadableStream', 'pipeTo', 1, 'WritableStream');
    const chosen = pipes.options(options);
    if (this.#state.reader !== null) throw new TypeError(LOCKED);
    return pipes.pipe(this.#state, destination, chosen);
  }
  tee() {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.reader !== null) throw new TypeError('This ReadableStream is currently locked to a reader,');
    const { controller } = this.#state;
    const { tee } = load(controller.isByte === true ? 'streams_byob' : 'streams_derived');
    const branches = tee(this.#state);
    return [wrap(branches[0]), wrap(branches[1])];
  }
  values(options) {
    if (!(#state in this)) illegalInvocation();
    const preventCancel = !!options?.preventCancel;
    return load('streams_derived').iterate(this.#state, preventCancel);
  }

  static {
    stateOf = (stream) => {
      return stream.#state;
    };
    isReadableStream = (value) => {
      return typeof value === 'object' && value !== null && #state in value;
    };
  }
}

function internals(stream) {
  const { state, controller, length } = stateOf(stream);
  return { state, supportsBYOB: controller.isByte === true, length };
}
expose(ReadableStream, 'ReadableStream', {
  is: isReadableStream,
  internals,
  clone() {
    const { DOMException } = load('dom_exception');
    throw new DOMException('ReadableStream can only be serialized for RPC.', 'DataCloneError');
  },
});
primordials.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, {
  __proto__: null,
  value: ReadableStream.prototype.values,
  writable: true,
  enumerable: false,
  configurable: true,
});

// A stream that programs may hold, for an inner one.
function wrap(state) {
  return new ReadableStream(token, state);
}

class ReadableStreamDefaultReader {
  #reader;
  constructor(stream) {
    if (!isReadableStream(stream)) badConstructorArgument('ReadableStreamDefaultReader', 1, 'ReadableStream');
    this.#reader = acquire(stateOf(stream), 'default');
  }
  get closed() {
    if (!(#reader in this)) return promiseReject(capture(illegalInvocation));
    return this.#reader.closed.promise;
  }
  async cancel(reason) {
    if (!(#reader in this)) illegalInvocation();
    if (this.#reader.stream === null) throw new TypeError(RELEASED);
    return cancel(this.#reader.stream, reason);
  }
  read() {
    if (!(#reader in this)) return promiseReject(capture(illegalInvocation));
    if (this.#reader.stream === null) return promiseReject(new TypeError(RELEASED));
    return readPromise(this.#reader);
  }
  releaseLock() {
    if (!(#reader in this)) illegalInvocation();
    release(this.#reader);
  }
}
expose(ReadableStreamDefaultReader, 'ReadableStreamDefaultReader');

function capture(thrower) {
  try {
    thrower();
  } catch (error) {
    return error;
  }
}

return {
  ReadableStream,
  ReadableStreamDefaultReader,
  ReadableStreamDefaultController,
  LOCKED,
  RELEASED,
  CLOSED,
  newState,
  wrap,
  stateOf,
  isReadableStream,
  createInner,
  close,
  fail,
  cancel,
  acquire,
  release,
  read,
  readPromise,
  capture,
};
