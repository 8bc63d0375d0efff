// Byte streams: ReadableByteStreamController and its BYOB requests (Streams 4.7 and 4.8), with the platform's `atLeast`.
// The BYOB reader is a room of its own.
'use strict';
const { apply, isView, promiseResolve, TypeError, RangeError, Uint8Array, DataView, viewTag } =
  primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const { then, callAsync, Queue, method, requireArgument } = load('streams_support');
const readable = load('streams_readable');
const token = {};

const transfer = (buffer) => apply(primordials.bufferTransfer, buffer, []);
const isDetached = (buffer) => apply(primordials.bufferDetached, buffer, []);
const lengthOf = (buffer) => apply(primordials.bufferByteLength, buffer, []);

// Where a view's bytes are, whatever its type.
function partsOf(view) {
  if (apply(viewTag, view, []) === undefined) {
    return { buffer: view.buffer, byteOffset: view.byteOffset, byteLength: view.byteLength };
  }
  return {
    buffer: apply(primordials.viewBuffer, view, []),
    byteOffset: apply(primordials.viewByteOffset, view, []),
    byteLength: apply(primordials.viewByteLength, view, []),
  };
}

class ByteController {
  isByte = true;
  constructor(stream, pull, cancel, highWaterMark, autoAllocate) {
    this.stream = stream;
    // Items are `{buffer, byteOffset, byteLength}`.
    this.queue = new Queue();
    this.total = 0;
    // Reads that wait for bytes of their own buffers, in order.
    this.pending = new Queue();
    this.byobRequest = null;
    this.started = false;
    this.closeRequested = false;
    this.pulling = false;
    this.pullAgain = false;
    this.pullAlgorithm = pull;
    this.cancelAlgorithm = cancel;
    this.highWaterMark = highWaterMark;
    this.autoAllocate = autoAllocate;
    this.public = null;
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
  forget() {
    this.pullAlgorithm = undefined;
    this.cancelAlgorithm = undefined;
  }
  clearPending() {
    this.invalidateRequest();
    this.pending = new Queue();
  }
  invalidateRequest() {
    if (this.byobRequest === null) return;
    invalidate(this.byobRequest);
    this.byobRequest = null;
  }
  cancel(reason) {
    this.clearPending();
    this.queue.clear();
    this.total = 0;
    const algorithm = this.cancelAlgorithm;
    this.forget();
    return algorithm(reason);
  }
  // A default reader's read.
  pull(request) {
    const { stream } = this;
    if (this.total > 0) {
      const { buffer, byteOffset, byteLength } = this.queue.shift();
      this.total -= byteLength;
      this.afterDrain();
      request.chunk(new Uint8Array(buffer, byteOffset, byteLength));
      return;
    }
    if (this.autoAllocate !== undefined) {
      let buffer;
      try {
        buffer = new primordials.ArrayBuffer(this.autoAllocate);
      } catch (error) {
        request.error(error);
        return;
      }
      this.pending.push({
        buffer,
        byteOffset: 0,
        byteLength: this.autoAllocate,
        filled: 0,
        minimum: 1,
        element: 1,
        make: Uint8Array,
        kind: 'default',
      });
    }
    stream.reader.requests.push(request);
    this.pullIfNeeded();
  }
  release() {
    if (this.pending.length === 0) return;
    const first = this.pending.peek();
    first.kind = 'none';
    this.pending = new Queue();
    this.pending.push(first);
  }
  get desiredSize() {
    const { state } = this.stream;
    if (state === 'errored') return null;
    return state === 'closed' ? 0 : this.highWaterMark - this.total;
  }
  canEnqueue() {
    return !this.closeRequested && this.stream.state === 'readable';
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
  error(error) {
    if (this.stream.state !== 'readable') return;
    this.clearPending();
    this.queue.clear();
    this.total = 0;
    this.forget();
    readable.fail(this.stream, error);
  }
  close() {
    if (!this.canEnqueue()) return;
    if (this.total > 0) {
      this.closeRequested = true;
      return;
    }
    const first = this.pending.peek();
    if (first !== undefined && first.filled % first.element !== 0) {
      const error = new TypeError('Insufficient bytes to fill elements in the given buffer');
      this.error(error);
      throw error;
    }
    this.forget();
    // What a read that asked for more has got so far is its answer, as on the platform.
    if (first !== undefined && first.kind === 'byob' && first.filled > 0) {
      this.shiftPending();
      this.stream.reader.requests.shift().chunk(viewOf(first));
    }
    readable.close(this.stream);
  }
  enqueue(view) {
    if (!this.canEnqueue()) return;
    const { buffer, byteOffset, byteLength } = partsOf(view);
    const owned = transfer(buffer);
    const { reader } = this.stream;
    const first = this.pending.peek();
    if (first !== undefined) {
      this.invalidateRequest();
      first.buffer = transfer(first.buffer);
      if (first.kind === 'none') this.enqueueDetached(first);
    }
    if (reader !== null && reader.kind === 'default') {
      while (this.total > 0 && reader.requests.length > 0) this.pull(reader.requests.shift());
      if (reader.requests.length === 0) {
        this.push(owned, byteOffset, byteLength);
      } else {
        if (this.pending.length > 0) this.pending.shift();
        reader.requests.shift().chunk(new Uint8Array(owned, byteOffset, byteLength));
      }
    } else {
      this.push(owned, byteOffset, byteLength);
      if (reader !== null) this.fillPending();
    }
    this.pullIfNeeded();
  }
  push(buffer, byteOffset, byteLength) {
    this.queue.push({ buffer, byteOffset, byteLength });
    this.total += byteLength;
  }
  // Bytes of a read whose reader has gone return to the queue.
  enqueueDetached(into) {
    if (into.filled > 0) {
      this.push(apply(primordials.bufferSlice, into.buffer, [into.byteOffset, into.byteOffset + into.filled]), 0, into.filled);
    }
    this.shiftPending();
  }
  shiftPending() {
    this.invalidateRequest();
    return this.pending.shift();
  }
  afterDrain() {
    if (this.total === 0 && this.closeRequested) {
      this.forget();
      readable.close(this.stream);
    } else {
      this.pullIfNeeded();
    }
  }
  // Moves queued bytes into a pending read; true when it has what it asked for.
  fill(into) {
    const available = Math.min(this.total, into.byteLength - into.filled);
    let rest = available;
    let ready = false;
    const reachable = into.filled + available;
    const aligned = reachable - (reachable % into.element);
    if (aligned >= into.minimum) {
      rest = aligned - into.filled;
      ready = true;
    }
    while (rest > 0) {
      const head = this.queue.peek();
      const count = Math.min(rest, head.byteLength);
      new Uint8Array(into.buffer, into.byteOffset + into.filled, count).set(new Uint8Array(head.buffer, head.byteOffset, count));
      if (count === head.byteLength) this.queue.shift();
      else {
        head.byteOffset += count;
        head.byteLength -= count;
      }
      this.total -= count;
      into.filled += count;
      rest -= count;
    }
    return ready;
  }
  fillPending() {
    while (this.pending.length > 0 && this.total > 0) {
      const into = this.pending.peek();
      if (!this.fill(into)) return;
      this.shiftPending();
      this.commit(into);
    }
  }
  // Answers a pending read with what it got.
  commit(into) {
    const { reader } = this.stream;
    const request = reader.requests.shift();
    const view = viewOf(into);
    if (this.stream.state === 'closed') {
      if (into.kind === 'default') request.close();
      else request.close(view);
    } else {
      request.chunk(view);
    }
  }
  // A BYOB reader's read.
  pullInto(view, minimum, request) {
    const { stream } = this;
    const { buffer, byteOffset, byteLength } = partsOf(view);
    const tag = apply(viewTag, view, []);
    const make = tag === undefined ? DataView : globalThis[tag] === view.constructor ? view.constructor : makerOf(tag);
    const element = tag === undefined ? 1 : make.BYTES_PER_ELEMENT;
    let owned;
    try {
      owned = transfer(buffer);
    } catch (error) {
      request.error(error);
      return;
    }
    const into = { buffer: owned, byteOffset, byteLength, filled: 0, minimum: minimum * element, element, make, kind: 'byob' };
    if (this.pending.length > 0) {
      this.pending.push(into);
      stream.reader.requests.push(request);
      return;
    }
    if (stream.state === 'closed') {
      request.close(viewOf({ ...into, filled: 0 }));
      return;
    }
    if (this.total > 0) {
      if (this.fill(into)) {
        const filled = viewOf(into);
        this.afterDrain();
        request.chunk(filled);
        return;
      }
      if (this.closeRequested) {
        if (into.filled % element !== 0) {
          const error = new TypeError('Insufficient bytes to fill elements in the given buffer');
          this.error(error);
          request.error(error);
          return;
        }
        const filled = viewOf(into);
        this.afterDrain();
        request.chunk(filled);
        return;
      }
    }
    this.pending.push(into);
    stream.reader.requests.push(request);
    this.pullIfNeeded();
  }
  // The source wrote `count` bytes into the first pending read.
  respond(count) {
    const first = this.pending.peek();
    if (this.stream.state === 'closed') {
      if (count !== 0) throw new TypeError('The bytesWritten must be zero after the stream is closed.');
    } else {
      if (count === 0) throw new TypeError('The bytesWritten must be more than zero while the stream is open.');
      if (first.filled + count > first.byteLength) {
        throw new RangeError(`Too many bytes [${count}] in response to a BYOB read request.`);
      }
    }
    first.buffer = transfer(first.buffer);
    this.respondInner(count);
  }
  respondWithNewView(view) {
    const first = this.pending.peek();
    const { buffer, byteOffset, byteLength } = partsOf(view);
    if (this.stream.state === 'closed') {
      if (byteLength !== 0) throw new TypeError('The view byte length must be zero after the stream is closed.');
    } else if (byteLength === 0) {
      throw new TypeError('The view byte length must be more than zero while the stream is open.');
    }
    if (first.byteOffset + first.filled !== byteOffset) throw new RangeError('The given view has an invalid byte offset.');
    if (first.bufferLength !== undefined && first.bufferLength !== lengthOf(buffer)) {
      throw new RangeError('The underlying ArrayBuffer is not the correct length.');
    }
    if (first.filled + byteLength > first.byteLength) throw new RangeError('The view is not the correct length.');
    first.buffer = transfer(buffer);
    this.respondInner(byteLength);
  }
  respondInner(count) {
    const first = this.pending.peek();
    this.invalidateRequest();
    if (this.stream.state === 'closed') {
      if (first.kind === 'none') this.shiftPending();
      const { reader } = this.stream;
      if (reader !== null && reader.kind === 'byob') {
        while (reader.requests.length > 0) this.commit(this.shiftPending());
      }
    } else {
      first.filled += count;
      if (first.kind === 'none') {
        this.enqueueDetached(first);
        this.fillPending();
      } else if (first.filled >= first.minimum) {
        this.shiftPending();
        const extra = first.filled % first.element;
        if (extra > 0) {
          const end = first.byteOffset + first.filled;
          this.push(apply(primordials.bufferSlice, first.buffer, [end - extra, end]), 0, extra);
          first.filled -= extra;
        }
        this.commit(first);
        this.fillPending();
      }
    }
    this.pullIfNeeded();
  }
  getRequest() {
    if (this.byobRequest === null && this.pending.length > 0) {
      const first = this.pending.peek();
      first.bufferLength = lengthOf(first.buffer);
      const view = new Uint8Array(first.buffer, first.byteOffset + first.filled, first.byteLength - first.filled);
      const atLeast = Math.max(first.minimum - first.filled, 1);
      this.byobRequest = new ReadableStreamBYOBRequest(token, this, view, atLeast);
    }
    return this.byobRequest;
  }
}

function viewOf(into) {
  return new into.make(into.buffer, into.byteOffset, into.filled / into.element);
}

const makers = { __proto__: null, Uint8Array };
function makerOf(tag) {
  return (makers[tag] ??= globalThis[tag]);
}

// What the rest of the platform may do with one.
let invalidate;
class ReadableStreamBYOBRequest {
  #controller;
  #view;
  #atLeast;
  constructor(key, controller, view, atLeast) {
    if (key !== token) illegalConstructor();
    this.#controller = controller;
    this.#view = view;
    this.#atLeast = atLeast;
  }
  get view() {
    if (!(#controller in this)) illegalInvocation();
    return this.#view;
  }
  respond(bytesWritten) {
    if (!(#controller in this)) illegalInvocation();
    requireArgument(arguments, 'ReadableStreamBYOBRequest', 'respond', 'number');
    if (this.#controller === null) throw new TypeError('This ReadableStreamBYOBRequest has been invalidated.');
    if (isDetached(apply(primordials.viewBuffer, this.#view, []))) {
      throw new TypeError('Unable to use a zero-length ArrayBuffer.');
    }
    const count = Math.trunc(+bytesWritten);
    if (count !== count || count < 0) {
      throw new TypeError('The value cannot be converted because it is not an integer.');
    }
    this.#controller.respond(count);
  }
  respondWithNewView(view) {
    if (!(#controller in this)) illegalInvocation();
    if (!isView(view)) badArgument('ReadableStreamBYOBRequest', 'respondWithNewView', 1, 'BufferSource');
    if (this.#controller === null) throw new TypeError('This ReadableStreamBYOBRequest has been invalidated.');
    this.#controller.respondWithNewView(view);
  }
  get atLeast() {
    if (!(#controller in this)) illegalInvocation();
    return this.#controller === null ? null : this.#atLeast;
  }

  static {
    invalidate = (request) => {
      request.#controller = null;
      request.#view = null;
    };
  }
}
expose(ReadableStreamBYOBRequest, 'ReadableStreamBYOBRequest');

class ReadableByteStreamController {
  #inner;
  constructor(key, inner) {
    if (key !== token) illegalConstructor();
    this.#inner = inner;
  }
  get byobRequest() {
    if (!(#inner in this)) illegalInvocation();
    return this.#inner.getRequest();
  }
  get desiredSize() {
    if (!(#inner in this)) illegalInvocation();
    return this.#inner.desiredSize;
  }
  close() {
    if (!(#inner in this)) illegalInvocation();
    if (!this.#inner.canEnqueue()) throw new TypeError('This ReadableByteStreamController is closed.');
    this.#inner.close();
  }
  enqueue(chunk) {
    if (!(#inner in this)) illegalInvocation();
    const view = isView(chunk) ? chunk : bufferView(chunk);
    if (view === null) badArgument('ReadableByteStreamController', 'enqueue', 1, 'BufferSource');
    if (partsOf(view).byteLength === 0) throw new TypeError('Cannot enqueue a zero-length ArrayBuffer.');
    if (!this.#inner.canEnqueue()) throw new TypeError('This ReadableByteStreamController is closed.');
    this.#inner.enqueue(view);
  }
  error(reason) {
    if (!(#inner in this)) illegalInvocation();
    requireArgument(arguments, 'ReadableByteStreamController', 'error', 'Value');
    this.#inner.error(reason);
  }
}
expose(ReadableByteStreamController, 'ReadableByteStreamController');

// An ArrayBuffer as a view of it; null for any other value.
function bufferView(value) {
  try {
    lengthOf(value);
  } catch {
    return null;
  }
  return new Uint8Array(value);
}

// A byte stream whose source is the platform's own. `pull(controller)` and `cancel(reason)` answer with promises.
function createInner(pull, cancel, highWaterMark = 0) {
  const stream = readable.newState();
  const controller = new ByteController(stream, () => pull(controller), cancel, highWaterMark, undefined);
  controller.start(promiseResolve(undefined));
  return stream;
}

function fromSource(stream, source, highWaterMark) {
  const start = method(source, 'start', 'UnderlyingSource');
  const pull = method(source, 'pull', 'UnderlyingSource');
  const cancel = method(source, 'cancel', 'UnderlyingSource');
  let { autoAllocateChunkSize } = source;
  if (autoAllocateChunkSize !== undefined) {
    autoAllocateChunkSize = Math.trunc(+autoAllocateChunkSize);
    if (autoAllocateChunkSize === 0) throw new TypeError('The autoAllocateChunkSize option cannot be zero.');
  } else {
    autoAllocateChunkSize = CHUNK_BYTES;
  }
  let controller;
  const done = () => promiseResolve(undefined);
  const inner = new ByteController(
    stream,
    pull === undefined ? done : () => callAsync(pull, source, [controller]),
    cancel === undefined ? done : (reason) => callAsync(cancel, source, [reason]),
    highWaterMark,
    autoAllocateChunkSize,
  );
  controller = new ReadableByteStreamController(token, inner);
  inner.start(start === undefined ? done() : callAsync(start, source, [controller]));
}

// The buffer the platform gives a source that a default reader reads from.
const CHUNK_BYTES = 4096;

return {
  ReadableByteStreamController,
  ReadableStreamBYOBRequest,
  createInner,
  bufferView,
  partsOf,
  fromSource,
};
