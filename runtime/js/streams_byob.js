// The BYOB reader (Streams 4.5), with the platform's `readAtLeast`.
'use strict';
const { apply, isView, promiseReject, Promise, TypeError, viewTag } = primordials;
const { badArgument, badConstructorArgument, illegalInvocation, expose } = load('webidl');
const { captured, fulfil, hasFlag, partsOf } = load('streams_support');
const readable = load('streams_readable');
const { RELEASED } = readable;

class ReadableStreamBYOBReader {
  #reader;
  constructor(stream) {
    if (!readable.isReadableStream(stream)) badConstructorArgument('ReadableStreamBYOBReader', 1, 'ReadableStream');
    const inner = readable.stateOf(stream);
    if (inner.reader === null && inner.state === 'readable' && inner.controller.isByte !== true) {
      throw new TypeError('This ReadableStream does not support BYOB reads.');
    }
    this.#reader = readable.acquire(inner);
  }
  get closed() {
    if (!(#reader in this)) illegalInvocation();
    return this.#reader.closed.promise;
  }
  cancel(reason) {
    if (!(#reader in this)) illegalInvocation();
    if (this.#reader.stream === null) return promiseReject(new TypeError(RELEASED));
    return readable.cancel(this.#reader.stream, reason);
  }
  read(view, options) {
    if (!(#reader in this)) illegalInvocation();
    try {
      if (!isView(view)) badArgument('ReadableStreamBYOBReader', 'read', 1, 'ArrayBufferView');
      const min = options?.min;
      return this.#read(view, min === undefined ? 1 : toInt(min), hasFlag('streams_byob_reader_detaches_buffer'));
    } catch (error) {
      return captured(error);
    }
  }
  releaseLock() {
    if (!(#reader in this)) illegalInvocation();
    readable.releaseLock(this.#reader);
  }
  readAtLeast(minElements, view) {
    if (!(#reader in this)) illegalInvocation();
    try {
      const minimum = toInt(minElements);
      if (!isView(view)) badArgument('ReadableStreamBYOBReader', 'readAtLeast', 2, 'ArrayBufferView');
      return this.#read(view, minimum, true);
    } catch (error) {
      return captured(error);
    }
  }
  #read(view, minimum, detach) {
    const { stream } = this.#reader;
    if (stream === null) return promiseReject(new TypeError(RELEASED));
    const { byteLength } = partsOf(view);
    if (byteLength === 0) {
      return promiseReject(
        new TypeError('You must call read() on a "byob" reader with a positive-sized TypedArray object.'),
      );
    }
    if (minimum === 0) {
      return promiseReject(new TypeError('Requested invalid minimum number of bytes to read (0).'));
    }
    const length = apply(viewTag, view, []) === undefined ? byteLength : apply(primordials.viewLength, view, []);
    if (minimum < 0 || minimum > length) {
      return promiseReject(
        new TypeError(`Minimum bytes to read (${minimum}) exceeds size of buffer (${length}).`),
      );
    }
    stream.disturbed = true;
    return new Promise((resolve, reject) => {
      const request = {
        chunk: (value) => fulfil(resolve, value, false),
        close: (value) => fulfil(resolve, value, true),
        error: reject,
      };
      if (stream.state === 'errored') reject(stream.error);
      else stream.controller.readInto(stream, view, minimum, request, detach);
    });
  }
}
expose(ReadableStreamBYOBReader, 'ReadableStreamBYOBReader');

// WebIDL's `int`, which refuses what it cannot hold.
function toInt(value) {
  const number = Math.trunc(+value);
  if (number !== number || number > 0x7fffffff || number < -0x80000000) {
    throw new TypeError(`Value out of range. Must be between -2147483648 and 2147483647 (inclusive).`);
  }
  return number;
}

return { ReadableStreamBYOBReader };
