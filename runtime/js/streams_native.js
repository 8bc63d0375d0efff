// Streams whose bytes come from the platform itself: bodies, blobs, what arrives over RPC, and the readable sides of
// identity and compression streams. One read at a time, and a default reader's chunks are no larger than the platform's
// buffer for them, as on workerd.
//
// Where bytes come from is a `feed`: `next()` answers with a Uint8Array that is the caller's to keep, with null at the
// end, or with a promise of either; `taken()`, where it exists, is called when a chunk has been read to its end;
// `cancel(reason)` says that nobody reads on.
'use strict';
const { apply, isError, isView, promiseResolve, Error, TypeError, typedArrays, Uint8Array, viewTag } = primordials;
const { copyBytes, hasFlag, handled, isDetached, lengthOf, partsOf, Queue, setBytes, then, transfer } = load('streams_support');
const { newState, close, fail } = load('streams_source');

const CHUNK_BYTES = 4096;

// Bytes of a view, from `at`.
function part(bytes, at, count) {
  const { buffer, byteOffset } = partsOf(bytes);
  return new Uint8Array(buffer, byteOffset + at, count);
}

// A reason as the error that the other side sees.
function exceptionOf(reason) {
  if (isError(reason) || reason instanceof Error) return reason;
  return new Error(reason === undefined ? 'Stream was cancelled.' : `${reason}`);
}

// One read that waits. `into` is where a BYOB reader's bytes go: `{buffer, byteOffset, byteLength, minimum}`.
class Read {
  // What came so far, of a read that wants more than one chunk.
  gathered = null;
  count = 0;
  over = false;
  constructor(request, into) {
    this.request = request;
    this.into = into;
  }
}

class NativeController {
  isByte = true;
  // A whole chunk is its reader's to keep.
  givesAway = true;
  #feed;
  #left = null;
  #ended = false;
  #read = null;
  #stream;
  constructor(stream, feed) {
    this.#feed = feed;
    this.#stream = stream;
    stream.controller = this;
  }
  get hasPendingRead() {
    return this.#read !== null;
  }
  read(stream, request) {
    this.#begin(stream, request, null);
  }
  readInto(stream, view, minimum, request, detach) {
    const { buffer, byteOffset, byteLength } = partsOf(view);
    const element = (typedArrays[apply(viewTag, view, [])] ?? { BYTES_PER_ELEMENT: 1 }).BYTES_PER_ELEMENT;
    const into = { buffer, byteOffset, byteLength, minimum: minimum * element };
    try {
      if (detach) into.buffer = transfer(buffer);
    } catch {
      request.error(new TypeError('Unable to use non-detachable ArrayBuffer'));
      return;
    }
    if (stream.state === 'closed') {
      request.close(endView(into));
      return;
    }
    this.#begin(stream, request, into);
  }
  #begin(stream, request, into) {
    if (this.#read !== null) {
      request.error(new TypeError('This ReadableStream only supports a single pending read request at a time.'));
      return;
    }
    this.#read = new Read(request, into);
    this.#step(stream);
  }
  #step(stream) {
    if (this.#left !== null) {
      this.#deliver(stream);
      return;
    }
    let next = null;
    try {
      if (!this.#ended) next = this.#feed.next();
    } catch (error) {
      this.#fail(stream, error);
      return;
    }
    if (next === null || isView(next)) {
      this.#arrive(stream, next);
      return;
    }
    then(
      next,
      (bytes) => this.#arrive(stream, bytes),
      (error) => this.#fail(stream, error),
    );
  }
  #arrive(stream, bytes) {
    if (bytes === null) this.#ended = true;
    else if (stream.state === 'readable') this.#left = bytes;
    // A reader that has gone leaves its bytes to the next.
    if (this.#read === null) return;
    if (bytes === null) this.#end(stream);
    else this.#deliver(stream);
  }
  #deliver(stream) {
    const read = this.#read;
    const { request, into } = read;
    const bytes = this.#left;
    const { byteLength } = partsOf(bytes);
    if (request.whole === true) {
      this.#finish(byteLength);
      request.chunk(bytes);
      return;
    }
    if (into === null) {
      const count = byteLength < CHUNK_BYTES ? byteLength : CHUNK_BYTES;
      const chunk = new Uint8Array(CHUNK_BYTES);
      setBytes(chunk, count === byteLength ? bytes : part(bytes, 0, count), 0);
      this.#finish(count);
      request.chunk(part(chunk, 0, count));
      return;
    }
    const room = into.byteLength - read.count;
    const count = byteLength < room ? byteLength : room;
    if (read.count === 0 && count >= into.minimum) {
      const answer = placed(into, part(bytes, 0, count), count);
      this.#finish(count);
      request.chunk(answer);
      return;
    }
    read.gathered ??= new Uint8Array(into.byteLength);
    setBytes(read.gathered, part(bytes, 0, count), read.count);
    read.count += count;
    if (read.count < into.minimum) {
      this.#take(count);
      this.#step(stream);
      return;
    }
    const answer = placed(into, read.gathered, read.count);
    this.#finish(count);
    request.chunk(answer);
  }
  #finish(count) {
    this.#read = null;
    this.#take(count);
  }
  // `count` bytes of the chunk at hand have been read.
  #take(count) {
    const { byteLength } = partsOf(this.#left);
    if (count < byteLength) {
      this.#left = part(this.#left, count, byteLength - count);
      return;
    }
    this.#left = null;
    this.#feed.taken?.();
  }
  #end(stream) {
    const { request, into, count, gathered } = this.#read;
    this.#read = null;
    if (count > 0) {
      const answer = placed(into, gathered, count);
      if (!hasFlag('typescript_implemented_streams')) {
        request.chunk(answer);
        return;
      }
      close(stream);
      request.close(answer);
      return;
    }
    close(stream);
    request.close(into === null ? undefined : endView(into));
  }
  #fail(stream, error) {
    const read = this.#read;
    this.#read = null;
    this.#left = null;
    fail(stream, error);
    if (read !== null) read.request.error(error);
  }
  // The platform breaks the stream off.
  error(error) {
    if (this.#stream.state === 'readable') this.#fail(this.#stream, error);
  }
  cancel(stream, reason) {
    const exception = exceptionOf(reason);
    const read = this.#read;
    this.#read = null;
    this.#left = null;
    this.#ended = true;
    if (read !== null) read.request.error(exception);
    close(stream);
    const done = this.#feed.cancel(exception, reason);
    if (done !== undefined) handled(done);
    return promiseResolve(undefined);
  }
  release(stream, error) {
    const read = this.#read;
    this.#read = null;
    if (read !== null) read.request.error(error);
  }
  tee(stream) {
    const branches = [newState(), newState()];
    const split = new Split({
      next: () => {
        const bytes = this.#left;
        this.#left = null;
        return bytes ?? (this.#ended ? null : this.#feed.next());
      },
      taken: () => this.#feed.taken?.(),
      cancel: (exception, reason) => this.#feed.cancel(exception, reason),
    });
    for (let i = 0; i < 2; i++) {
      branches[i].state = stream.state;
      branches[i].error = stream.error;
      branches[i].length = stream.length;
      new NativeController(branches[i], split.branch(i));
    }
    close(stream);
    return branches;
  }
}

// One feed for two readers. What one has read and the other has not is kept.
class Split {
  #feed;
  #pending = null;
  #ended = false;
  #queues = [new Queue(), new Queue()];
  #canceled = [false, false];
  constructor(feed) {
    this.#feed = feed;
  }
  branch(index) {
    return {
      next: () => this.#next(index),
      cancel: (exception, reason) => this.#cancel(index, exception, reason),
    };
  }
  #next(index) {
    const queue = this.#queues[index];
    if (queue.length > 0) return queue.shift();
    if (this.#ended) return null;
    this.#pending ??= then(
      promiseResolve(this.#feed.next()),
      (bytes) => {
        this.#pending = null;
        if (bytes === null) this.#ended = true;
        else this.#share(bytes);
      },
    );
    return then(this.#pending, () => this.#next(index));
  }
  #share(bytes) {
    const queues = this.#queues;
    if (!this.#canceled[0]) queues[0].push(this.#canceled[1] ? bytes : copyBytes(bytes));
    if (!this.#canceled[1]) queues[1].push(bytes);
    this.#feed.taken?.();
  }
  #cancel(index, exception, reason) {
    this.#canceled[index] = true;
    this.#queues[index].clear();
    return this.#canceled[1 - index] ? this.#feed.cancel(exception, reason) : undefined;
  }
}

// Bytes put where a BYOB reader wants them, if that is still there: it may be detached or smaller since.
function placed(into, bytes, count) {
  const { buffer, byteOffset } = into;
  if (isDetached(buffer)) return new Uint8Array(0);
  const live = lengthOf(buffer);
  if (byteOffset >= live) return new Uint8Array(buffer, 0, 0);
  if (count > live - byteOffset) count = live - byteOffset;
  const answer = new Uint8Array(buffer, byteOffset, count);
  setBytes(answer, part(bytes, 0, count), 0);
  return answer;
}

// What a BYOB reader gets at the end: its buffer, where the Worker asked for that.
function endView({ buffer }) {
  if (!hasFlag('internal_stream_byob_return_view')) return undefined;
  return new Uint8Array(isDetached(buffer) ? 0 : buffer, 0, 0);
}

// A stream of a feed. `length` is the number of bytes it will give, as a bigint, if that is known.
function createInner(feed, length = undefined) {
  const stream = newState();
  stream.length = length;
  new NativeController(stream, feed);
  return stream;
}

return { createInner, exceptionOf, part };
