// The BYOB reader, and branches of byte streams (Streams 4.5 and 4.9.1), with the platform's `readAtLeast`.
'use strict';
const { apply, isView, promiseResolve, Promise, TypeError, viewTag } = primordials;
const { illegalInvocation, badArgument, badConstructorArgument, expose } = load('webidl');
const { deferred, then } = load('streams_support');
const readable = load('streams_readable');
const { createInner, partsOf } = load('streams_byte');
const { RELEASED } = readable;

class ReadableStreamBYOBReader {
  #reader;
  constructor(stream) {
    if (!readable.isReadableStream(stream)) badConstructorArgument('ReadableStreamBYOBReader', 1, 'ReadableStream');
    const inner = readable.stateOf(stream);
    if (inner.controller.isByte !== true) throw new TypeError('This ReadableStream does not support BYOB reads.');
    this.#reader = readable.acquire(inner, 'byob');
  }
  get closed() {
    if (!(#reader in this)) illegalInvocation();
    return this.#reader.closed.promise;
  }
  async cancel(reason) {
    if (!(#reader in this)) illegalInvocation();
    if (this.#reader.stream === null) throw new TypeError(RELEASED);
    return readable.cancel(this.#reader.stream, reason);
  }
  async read(view, options) {
    if (!(#reader in this)) illegalInvocation();
    if (!isView(view)) badArgument('ReadableStreamBYOBReader', 'read', 1, 'ArrayBufferView');
    const min = options?.min;
    return this.#read(view, min === undefined ? 1 : Math.trunc(+min));
  }
  releaseLock() {
    if (!(#reader in this)) illegalInvocation();
    readable.release(this.#reader);
  }
  async readAtLeast(minBytes, view) {
    if (!(#reader in this)) illegalInvocation();
    if (!isView(view)) badArgument('ReadableStreamBYOBReader', 'readAtLeast', 2, 'ArrayBufferView');
    return this.#read(view, Math.trunc(+minBytes));
  }
  #read(view, minimum) {
    if (this.#reader.stream === null) throw new TypeError(RELEASED);
    const { byteLength } = partsOf(view);
    if (byteLength === 0) {
      throw new TypeError('You must call read() on a "byob" reader with a positive-sized TypedArray object.');
    }
    const length = apply(viewTag, view, []) === undefined ? byteLength : apply(primordials.viewLength, view, []);
    if (!(minimum > 0)) {
      throw new TypeError('Requested invalid minimum number of bytes to read (0).');
    }
    if (minimum > length) {
      throw new TypeError(`Minimum bytes to read (${minimum}) exceeds size of buffer (${length}).`);
    }
    return new Promise((resolve, reject) => readInto(this.#reader, view, minimum, {
      chunk: (value) => resolve({ value, done: false }),
      close: (value) => resolve({ value, done: true }),
      error: reject,
    }));
  }
}
expose(ReadableStreamBYOBReader, 'ReadableStreamBYOBReader');

function readInto(reader, view, minimum, request) {
  const { stream } = reader;
  stream.disturbed = true;
  if (stream.state === 'errored') request.error(stream.error);
  else stream.controller.pullInto(view, minimum, request);
}

// Two branches that read through BYOB or default readers as their own readers do. Each branch gets bytes of its own.
function tee(stream) {
  let reader = readable.acquire(stream, 'default');
  let reading = false;
  const again = [false, false];
  const canceled = [false, false];
  const reasons = [undefined, undefined];
  const cancellation = deferred();
  const branches = [];
  const forward = (current) => {
    then(current.closed.promise, undefined, (error) => {
      if (current !== reader) return;
      for (const branch of branches) branch.controller.error(error);
      if (!canceled[0] || !canceled[1]) cancellation.resolve(undefined);
    });
  };
  const pull = (index) => {
    if (reading) {
      again[index] = true;
      return promiseResolve(undefined);
    }
    reading = true;
    readable.read(reader, {
      chunk(value) {
        then(promiseResolve(undefined), () => {
          again[0] = false;
          again[1] = false;
          for (let i = 0; i < 2; i++) {
            if (!canceled[i]) branches[i].controller.enqueue(i === 0 && !canceled[1] ? value.slice() : value);
          }
          reading = false;
          for (let i = 0; i < 2; i++) if (again[i]) pull(i);
        });
      },
      close() {
        reading = false;
        for (let i = 0; i < 2; i++) {
          if (canceled[i]) continue;
          branches[i].controller.close();
          if (branches[i].controller.pending.length > 0) branches[i].controller.respond(0);
        }
        if (!canceled[0] || !canceled[1]) cancellation.resolve(undefined);
      },
      error() {
        reading = false;
      },
    });
    return promiseResolve(undefined);
  };
  for (let i = 0; i < 2; i++) {
    branches[i] = createInner(
      () => pull(i),
      (reason) => {
        canceled[i] = true;
        reasons[i] = reason;
        if (!canceled[1 - i]) return promiseResolve(undefined);
        cancellation.resolve(readable.cancel(stream, reasons));
        return cancellation.promise;
      },
    );
  }
  forward(reader);
  return branches;
}

return { ReadableStreamBYOBReader, readInto, tee };
