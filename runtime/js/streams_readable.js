// ReadableStream, its default reader and its default controller (Streams 4.1-4.6). Where streams get what they give is in
// rooms of their own: `streams_source` (queues), `streams_byte` (byte queues) and `streams_native` (the platform).
//
// A stream, a reader and a controller each have an inner record, which is what the algorithms work on; the classes
// programs see are thin. A controller's record has `read(stream, request)`, `cancel(stream, reason)`,
// `release(stream, error)` and `tee(stream)`; those of byte streams `readInto(stream, view, atLeast, request)`. A request
// has `chunk(value)`, `close(value)` and `error(reason)`; with `whole` it takes chunks as they are, in buffers it owns.
'use strict';
const { promiseResolve, promiseReject, Promise, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, badConstructorArgument, badField, expose } = load('webidl');
const { deferred, resolvedDeferred, rejectedDeferred, handled, captured, fulfil, callAsync, method, strategy, requireArgument, requireFlag } =
  load('streams_support');
const { Source, newState, close, fail, CLOSED } = load('streams_source');

const LOCKED = 'This ReadableStream is currently locked to a reader.';
const RELEASED = 'This ReadableStream reader has been released.';
const token = {};

function cancel(stream, reason) {
  stream.disturbed = true;
  if (stream.state === 'closed') return promiseResolve(undefined);
  if (stream.state === 'errored') return promiseReject(stream.error);
  return stream.controller.cancel(stream, reason);
}

// --- readers ------------------------------------------------------------------------------------------------------

function acquire(stream) {
  if (stream.reader !== null) throw new TypeError(LOCKED);
  const reader = { stream, closed: null };
  if (stream.state === 'readable') reader.closed = deferred();
  else if (stream.state === 'closed') reader.closed = resolvedDeferred(undefined);
  else reader.closed = rejectedDeferred(stream.error);
  handled(reader.closed.promise);
  stream.reader = reader;
  return reader;
}

function release(reader) {
  const { stream } = reader;
  if (stream === null) return;
  const error = new TypeError(RELEASED);
  if (stream.state === 'readable') stream.controller.release(stream, error);
  if (reader.closed.settled) reader.closed = rejectedDeferred(error);
  else reader.closed.reject(error);
  stream.reader = null;
  reader.stream = null;
}

// As programs may: not while the platform reads for them.
function releaseLock(reader) {
  if (reader.stream !== null && reader.stream.controller.hasPendingRead === true && reader.stream.state === 'readable') {
    throw new TypeError('Cannot call releaseLock() on a reader with outstanding read promises.');
  }
  release(reader);
}

function read(reader, request) {
  const { stream } = reader;
  stream.disturbed = true;
  if (stream.state === 'closed') request.close();
  else if (stream.state === 'errored') request.error(stream.error);
  else stream.controller.read(stream, request);
}

// One read as a promise of `{value, done}`.
function readPromise(reader) {
  return new Promise((resolve, reject) => {
    read(reader, {
      chunk: (value) => fulfil(resolve, value, false),
      close: () => fulfil(resolve, undefined, true),
      error: reject,
    });
  });
}

// The same for the platform's own use: chunks as they are.
function readWhole(reader) {
  return new Promise((resolve, reject) => {
    read(reader, {
      whole: true,
      chunk: (value) => fulfil(resolve, value, false),
      close: () => fulfil(resolve, undefined, true),
      error: reject,
    });
  });
}

// Two streams in the place of one, which stays locked.
function tee(stream) {
  stream.disturbed = true;
  const branches = stream.controller.tee(stream);
  stream.reader ??= { stream, closed: resolvedDeferred(undefined) };
  return branches;
}

// --- the default controller ---------------------------------------------------------------------------------------

class DefaultSource extends Source {
  constructor(stream, pull, cancel, highWaterMark, size) {
    super(stream, pull, cancel, highWaterMark);
    this.size = size;
  }
  read(stream, request) {
    if (stream.queue.length === 0) {
      this.wait(stream, request);
      return;
    }
    const { value, size } = stream.queue.shift();
    stream.total = stream.queue.length === 0 ? 0 : stream.total - size;
    request.chunk(value);
    this.settle(stream);
  }
  give(stream) {
    while (stream.requests.length > 0 && stream.queue.length > 0) {
      const { value, size } = stream.queue.shift();
      stream.total = stream.queue.length === 0 ? 0 : stream.total - size;
      stream.requests.shift().chunk(value);
    }
  }
  finish(stream) {
    this.give(stream);
  }
  share(item) {
    return item;
  }
  // What a program's `size` throws fails the stream, and nobody else.
  enqueue(chunk) {
    const { size } = this;
    let counted = 1;
    if (size !== undefined) {
      try {
        counted = sizeOf(size(chunk));
      } catch (error) {
        this.error(error);
        return;
      }
    }
    // The program may have ended the stream while it counted.
    if (!this.canEnqueue()) return;
    this.push({ value: chunk, size: counted }, counted);
    this.pullIfNeeded();
  }
}

// What a strategy's `size` answers, as a count.
function sizeOf(value) {
  const size = +value;
  if (size !== size || size === Infinity || size === -Infinity) {
    throw new TypeError('The value cannot be converted because it is not an integer.');
  }
  if (size < 0) {
    throw new TypeError('The value cannot be converted because it is negative and this API expects a positive bigint.');
  }
  return size;
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

// A stream whose source is the platform's own: algorithms instead of a program's methods. `started` is a promise, or
// undefined.
function createInner(pull, cancel, highWaterMark = 1, size = undefined, started = undefined) {
  const stream = newState();
  new DefaultSource(stream, pull, cancel, highWaterMark, size).start(started);
  return stream;
}

// The algorithms of a program's source: its methods, called with the controller where they get one.
function algorithms(source, controllerOf) {
  const start = method(source, 'start', 'UnderlyingSource');
  const pull = method(source, 'pull', 'UnderlyingSource');
  const cancel = method(source, 'cancel', 'UnderlyingSource');
  return {
    start: start === undefined ? undefined : () => callAsync(start, source, [controllerOf()]),
    pull: pull === undefined ? undefined : () => callAsync(pull, source, [controllerOf()]),
    cancel: cancel === undefined ? undefined : (reason) => callAsync(cancel, source, [reason]),
  };
}

// A source's `expectedLength`, as a stream's length.
function expectedLength(value) {
  if (value === undefined) return undefined;
  const length = typeof value === 'bigint' ? Number(value) : Math.trunc(+value);
  if (length !== length || length === Infinity) {
    throw new TypeError('The value cannot be converted because it is not an integer.');
  }
  if (length < 0) {
    throw new TypeError('The value cannot be converted because it is negative and this API expects a positive bigint.');
  }
  return BigInt(length);
}

function fromSource(stream, source, { highWaterMark, size }) {
  let controller;
  const { start, pull, cancel } = algorithms(source, () => controller);
  const inner = new DefaultSource(stream, pull, cancel, highWaterMark, size);
  controller = new ReadableStreamDefaultController(token, inner);
  inner.start(start?.());
}

// --- what programs see --------------------------------------------------------------------------------------------

// What the rest of the platform may do with one.
let stateOf, isReadableStream, takeOver;
class ReadableStream {
  #state;
  constructor(source, queuing) {
    if (source === token) {
      this.#state = queuing;
      return;
    }
    requireFlag('ReadableStream');
    this.#state = newState();
    if (source === undefined || source === null) source = {};
    if (typeof source !== 'object' && typeof source !== 'function') badConstructorArgument('ReadableStream', 1, 'UnderlyingSource');
    const { type, expectedLength: length } = source;
    this.#state.length = expectedLength(length);
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
  cancel(reason) {
    if (!(#state in this)) illegalInvocation();
    if (this.#state.reader !== null) return promiseReject(new TypeError(LOCKED));
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
  pipeTo(destination, options) {
    if (!(#state in this)) illegalInvocation();
    try {
      const pipes = load('streams_pipe');
      if (!pipes.isWritableStream(destination)) badArgument('ReadableStream', 'pipeTo', 1, 'WritableStream');
      const chosen = pipes.options(options);
      if (this.#state.reader !== null) return promiseReject(new TypeError(LOCKED));
      return pipes.pipe(this.#state, destination, chosen);
    } catch (error) {
      return captured(error);
    }
  }
  tee() {
    if (!(#state in this)) illegalInvocation();
    return split(this);
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
    // Another stream with all that one has, which is left at its end and locked.
    takeOver = (stream) => {
      const state = stream.#state;
      stream.#state = newState();
      stream.#state.controller = state.controller;
      stream.#state.disturbed = true;
      close(stream.#state);
      acquire(stream.#state);
      return wrap(state);
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

// Two streams for one, which stays locked.
function split(stream) {
  const state = stateOf(stream);
  if (state.reader !== null) throw new TypeError('This ReadableStream is currently locked to a reader,');
  const branches = tee(state);
  return [wrap(branches[0]), wrap(branches[1])];
}

class ReadableStreamDefaultReader {
  #reader;
  constructor(stream) {
    if (!isReadableStream(stream)) badConstructorArgument('ReadableStreamDefaultReader', 1, 'ReadableStream');
    this.#reader = acquire(stateOf(stream));
  }
  get closed() {
    if (!(#reader in this)) illegalInvocation();
    return this.#reader.closed.promise;
  }
  cancel(reason) {
    if (!(#reader in this)) illegalInvocation();
    if (this.#reader.stream === null) return promiseReject(new TypeError(RELEASED));
    return cancel(this.#reader.stream, reason);
  }
  read() {
    if (!(#reader in this)) illegalInvocation();
    if (this.#reader.stream === null) return promiseReject(new TypeError(RELEASED));
    return readPromise(this.#reader);
  }
  releaseLock() {
    if (!(#reader in this)) illegalInvocation();
    releaseLock(this.#reader);
  }
}
expose(ReadableStreamDefaultReader, 'ReadableStreamDefaultReader');

return {
  ReadableStream,
  ReadableStreamDefaultReader,
  ReadableStreamDefaultController,
  LOCKED,
  RELEASED,
  wrap,
  stateOf,
  isReadableStream,
  takeOver,
  split,
  createInner,
  algorithms,
  expectedLength,
  cancel,
  acquire,
  release,
  releaseLock,
  read,
  readPromise,
  readWhole,
};
