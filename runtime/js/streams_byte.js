// Byte streams: ReadableByteStreamController and its BYOB requests (Streams 4.7 and 4.8), with the platform's `atLeast`.
// The BYOB reader is a room of its own.
'use strict';
const { apply, isView, RangeError, TypeError, Uint8Array, DataView, viewTag, typedArrays } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const { hasFlag, transfer, isDetached, lengthOf, copyOf, partsOf, bufferView, bytesIn, setBytes, requireArgument } =
  load('streams_support');
const { Source, newState } = load('streams_source');
const readable = load('streams_readable');
const token = {};

// The buffer for a default reader's read: what a program's source may write into, unless it says how much it wants, and
// what is copied into when it may not.
const CHUNK_BYTES = 4096;
const COPIED_CHUNK_BYTES = 16384;

const PARTIAL = 'This ReadableStream was closed with a partial read pending.';

// A read of bytes: where they go, and who waits for them.
class Read {
  filled = 0;
  // Whether a program may hold a view of the buffer, to write into it.
  shown = false;
  // Answered, or not wanted any more.
  over = false;
  // `make` views `buffer`; no fewer than `minimum` bytes answer it. With `offered` the source may write into it.
  constructor(stream, request, buffer, byteOffset, byteLength, make, minimum, offered) {
    this.stream = stream;
    this.request = request;
    this.buffer = buffer;
    this.bufferLength = lengthOf(buffer);
    this.byteOffset = byteOffset;
    this.byteLength = byteLength;
    this.make = make;
    this.element = make === DataView ? 1 : make.BYTES_PER_ELEMENT;
    this.minimum = minimum;
    this.offered = offered;
  }
  get whole() {
    return this.request.whole === true;
  }
  // The view of what was read. The buffer is a new one: a program cannot reach it by views it was given earlier.
  view() {
    this.over = true;
    const buffer = isDetached(this.buffer) ? new primordials.ArrayBuffer(0) : transfer(this.buffer);
    const fits = this.byteOffset + this.filled <= lengthOf(buffer);
    return new this.make(buffer, fits ? this.byteOffset : 0, fits ? this.filled / this.element : 0);
  }
  answer() {
    this.request.chunk(this.view());
  }
  // At the stream's end: what there is so far, or that there is nothing.
  close() {
    if (this.filled > 0) this.answer();
    else if (this.offered === 'byob') {
      // What a program writes into the buffer yet, others may want.
      if (this.shown && this.stream.controller.canEnqueue()) this.buffer = new primordials.ArrayBuffer(0);
      this.request.close(this.view());
    } else {
      this.over = true;
      this.request.close(undefined);
    }
  }
  error(reason) {
    this.over = true;
    this.request.error(reason);
  }
}

// Items are `{buffer, byteOffset, byteLength, shared}`; the buffer of a shared one is never given away.
class ByteSource extends Source {
  isByte = true;
  // Who handed out the BYOB request that stands.
  byobRequest = null;
  constructor(stream, pull, cancel, highWaterMark, autoAllocate) {
    super(stream, pull, cancel, highWaterMark);
    this.autoAllocate = autoAllocate;
  }
  share(item) {
    item.shared = true;
    return { ...item };
  }
  // --- reads ---
  read(stream, request) {
    if (request.whole === true && stream.total > 0) {
      request.chunk(this.takeWhole(stream));
      this.settle(stream);
      return;
    }
    const size = this.autoAllocate ?? COPIED_CHUNK_BYTES;
    let buffer;
    try {
      buffer = new primordials.ArrayBuffer(size);
    } catch {
      request.error(new primordials.Error('Failed to allocate buffer for read.'));
      return;
    }
    const offered = this.autoAllocate === undefined ? 'no' : 'allocated';
    this.readTo(stream, new Read(stream, request, buffer, 0, size, Uint8Array, 1, offered));
  }
  // A BYOB reader's read of at least `minimum` elements.
  readInto(stream, view, minimum, request) {
    const { buffer, byteOffset, byteLength } = partsOf(view);
    const make = typedArrays[apply(viewTag, view, [])] ?? DataView;
    let owned;
    try {
      owned = transfer(buffer);
    } catch (error) {
      request.error(error);
      return;
    }
    const read = new Read(stream, request, owned, byteOffset, byteLength, make, minimum, 'byob');
    read.minimum *= read.element;
    if (stream.state === 'closed') read.close();
    else this.readTo(stream, read);
  }
  readTo(stream, read) {
    if (stream.requests.length === 0 && stream.total > 0 && this.fill(stream, read)) {
      read.answer();
      this.settle(stream);
      return;
    }
    if (stream.closing && stream.requests.length === 0) {
      // Nothing more will come: it gets what there was.
      stream.requests.push(read);
      this.settle(stream);
      return;
    }
    this.wait(stream, read);
  }
  // The next chunk as it was enqueued.
  takeWhole(stream) {
    const { buffer, byteOffset, byteLength, shared } = stream.queue.shift();
    stream.total -= byteLength;
    return shared
      ? new Uint8Array(copyOf(buffer, byteOffset, byteOffset + byteLength))
      : new Uint8Array(buffer, byteOffset, byteLength);
  }
  // Moves queued bytes into a read; true when it has what it asked for, in whole elements.
  fill(stream, read) {
    const reachable = read.filled + Math.min(stream.total, read.byteLength - read.filled);
    const aligned = reachable - (reachable % read.element);
    const ready = aligned >= read.minimum;
    this.move(stream, read, (ready ? aligned : reachable) - read.filled);
    return ready;
  }
  move(stream, read, count) {
    while (count > 0) {
      const head = stream.queue.peek();
      const size = Math.min(count, head.byteLength);
      const into = new Uint8Array(read.buffer, read.byteOffset + read.filled, size);
      setBytes(into, new Uint8Array(head.buffer, head.byteOffset, size), 0);
      if (size === head.byteLength) stream.queue.shift();
      else {
        head.byteOffset += size;
        head.byteLength -= size;
      }
      stream.total -= size;
      read.filled += size;
      count -= size;
    }
  }
  give(stream) {
    while (stream.requests.length > 0 && stream.total > 0) {
      const read = stream.requests.peek();
      if (read.whole && read.filled === 0) {
        stream.requests.shift();
        read.over = true;
        read.request.chunk(this.takeWhole(stream));
      } else {
        // Too few stay in the queue, where another reader would find them.
        if (read.filled + stream.total < read.minimum || !this.fill(stream, read)) return;
        stream.requests.shift();
        read.answer();
      }
    }
  }
  // What is left at the end, for reads that asked for more than there is.
  finish(stream) {
    while (stream.requests.length > 0 && stream.total > 0) {
      const read = stream.requests.shift();
      this.move(stream, read, Math.min(stream.total, read.byteLength - read.filled));
      read.filled -= read.filled % read.element;
      read.answer();
    }
  }
  // --- the program's side ---
  enqueue(view) {
    const { buffer, byteOffset, byteLength } = partsOf(view);
    this.dropRequest();
    this.push({ buffer: transfer(buffer), byteOffset, byteLength, shared: false }, byteLength);
    this.pullIfNeeded();
  }
  close() {
    const read = this.nextRead();
    if (read !== null && !read.over && read.filled > 0 && read.element > 1) {
      const error = new TypeError(PARTIAL);
      if (this.byobRequest === null) this.error(error);
      throw error;
    }
    super.close();
  }
  dropRequest() {
    if (this.byobRequest !== null) invalidate(this.byobRequest);
    this.byobRequest = null;
  }
  // The first read of any consumer that the source may write into.
  nextRead() {
    let found = null;
    this.consumers.forEach((stream) => {
      const read = stream.requests.peek();
      if (found === null && read !== undefined && read.offered !== 'no') found = read;
    });
    return found;
  }
  getRequest() {
    if (this.byobRequest === null && this.canEnqueue()) {
      const read = this.nextRead();
      if (read !== null) {
        read.shown = true;
        this.byobRequest = new ReadableStreamBYOBRequest(token, this, read);
      }
    }
    return this.byobRequest;
  }
  // The source wrote `count` bytes into a read. True when that answered it.
  respond(read, count) {
    if (read.filled + count > read.byteLength) {
      throw new RangeError(`Too many bytes [${count}] in response to a BYOB read request.`);
    }
    const { stream } = read;
    const at = read.byteOffset + read.filled;
    if (this.consumers.length > 1) this.pushToOthers(stream, copyOf(read.buffer, at, at + count));
    read.filled += count;
    if (read.filled < read.minimum) return false;
    const extra = read.filled % read.element;
    const rest = extra === 0 ? null : copyOf(read.buffer, at + count - extra, at + count);
    read.filled -= extra;
    stream.requests.shift();
    read.answer();
    if (rest !== null) {
      stream.queue.push({ buffer: rest, byteOffset: 0, byteLength: extra, shared: false });
      stream.total += extra;
      this.give(stream);
    }
    return true;
  }
  pushToOthers(responding, buffer) {
    const byteLength = lengthOf(buffer);
    this.consumers.forEach((stream) => {
      if (stream === responding || stream.state !== 'readable' || stream.closing) return;
      stream.queue.push({ buffer, byteOffset: 0, byteLength, shared: true });
      stream.total += byteLength;
      this.give(stream);
    });
  }
}

// What the rest of the platform may do with one.
let invalidate;
class ReadableStreamBYOBRequest {
  #source;
  #read;
  #view = null;
  constructor(key, source, read) {
    if (key !== token) illegalConstructor();
    this.#source = source;
    this.#read = read;
    this.#show();
  }
  #show() {
    const { buffer, byteOffset, byteLength, filled } = this.#read;
    this.#view = new Uint8Array(buffer, byteOffset + filled, byteLength - filled);
  }
  get view() {
    if (!(#source in this)) illegalInvocation();
    return this.#view;
  }
  respond(bytesWritten) {
    if (!(#source in this)) illegalInvocation();
    requireArgument(arguments, 'ReadableStreamBYOBRequest', 'respond', 'number');
    const count = Math.trunc(+bytesWritten);
    const source = this.#open();
    const { buffer, byteOffset, byteLength } = partsOf(this.#view);
    if (byteLength === 0) throw new TypeError('Cannot respond with a zero-length or detached view');
    if (count !== count || count < 0) {
      throw new TypeError('The value cannot be converted because it is not an integer.');
    }
    if (!source.canEnqueue()) {
      if (count !== 0) throw new TypeError('The bytesWritten must be zero after the stream is closed.');
      source.dropRequest();
      return;
    }
    if (count === 0) throw new TypeError('The bytesWritten must be more than zero while the stream is open.');
    if (this.#read.over) {
      // Its reader has gone, but others may want what was written.
      if (count > byteLength) throw new RangeError(`Too many bytes [${count}] in response to a BYOB read request.`);
      source.enqueue(new Uint8Array(buffer, byteOffset, count));
      return;
    }
    this.#respond(source, count);
  }
  respondWithNewView(view) {
    if (!(#source in this)) illegalInvocation();
    const given = bytesIn(view);
    if (given === null) badArgument('ReadableStreamBYOBRequest', 'respondWithNewView', 1, 'BufferSource');
    const source = this.#open();
    const { buffer, byteOffset, byteLength } = partsOf(given);
    if (!source.canEnqueue()) {
      if (byteLength !== 0) throw new TypeError('The view byte length must be zero after the stream is closed.');
      source.dropRequest();
      return;
    }
    if (byteLength === 0) throw new TypeError('The view byte length must be more than zero while the stream is open.');
    const read = this.#read;
    if (read.over) {
      source.enqueue(given);
      return;
    }
    if (read.byteOffset + read.filled !== byteOffset) throw new RangeError('The given view has an invalid byte offset.');
    if (read.bufferLength !== lengthOf(buffer)) {
      throw new RangeError('The underlying ArrayBuffer is not the correct length.');
    }
    if (read.filled + byteLength > read.byteLength) throw new RangeError('The view is not the correct length.');
    const make = isView(view) ? typedArrays[apply(viewTag, view, [])] ?? DataView : Uint8Array;
    read.buffer = transfer(buffer);
    read.make = make;
    read.element = make === DataView ? 1 : make.BYTES_PER_ELEMENT;
    this.#respond(source, byteLength);
  }
  get atLeast() {
    if (!(#source in this)) illegalInvocation();
    return this.#source === null ? null : Math.max(this.#read.minimum - this.#read.filled, 1);
  }
  #open() {
    if (this.#source === null) throw new TypeError('This ReadableStreamBYOBRequest has been invalidated.');
    return this.#source;
  }
  #respond(source, count) {
    const answered = source.respond(this.#read, count);
    if (!answered) {
      // The program's earlier views must not reach what is written later.
      this.#read.buffer = transfer(this.#read.buffer);
      this.#show();
    } else if (source.byobRequest === this) source.dropRequest();
    source.pullIfNeeded();
  }

  static {
    invalidate = (request) => {
      request.#source = null;
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

function fromSource(stream, source, highWaterMark) {
  let { autoAllocateChunkSize } = source;
  let controller;
  const { start, pull, cancel } = readable.algorithms(source, () => controller);
  if (autoAllocateChunkSize !== undefined) {
    autoAllocateChunkSize = Math.trunc(+autoAllocateChunkSize);
    if (!(autoAllocateChunkSize > 0)) throw new TypeError('The autoAllocateChunkSize option cannot be zero.');
  } else if (!hasFlag('streams_no_default_auto_allocate_chunk_size')) {
    autoAllocateChunkSize = CHUNK_BYTES;
  }
  const inner = new ByteSource(stream, pull, cancel, highWaterMark, autoAllocateChunkSize);
  controller = new ReadableByteStreamController(token, inner);
  inner.start(start?.());
}

// A byte stream whose source is the platform's own. `pull(controller)` and `cancel(reason)` answer with promises.
function createInner(pull, cancel, highWaterMark = 0) {
  const stream = newState();
  const source = new ByteSource(stream, () => pull(source), cancel, highWaterMark, undefined);
  source.start(undefined);
  return stream;
}

return { ReadableByteStreamController, ReadableStreamBYOBRequest, createInner, bufferView, fromSource, CHUNK_BYTES };
