// What every kind of stream uses: queues, promises with their resolvers, bytes and views of them, and the conversion of
// sources, sinks and strategies.
'use strict';
const { apply, promiseThen, promiseResolve, promiseReject, Promise, TypeError, Uint8Array, isView, viewTag, objectPrototype } =
  primordials;
const { badField, badArgument } = load('webidl');

const noop = () => {};

// Flags that change streams, by name. Asked for when a stream is used: this room may be loaded ahead of the program.
const flags = { __proto__: null };
function hasFlag(name) {
  return (flags[name] ??= load('compat').has(name));
}

// A promise and its resolvers. `settled` tells whether either was used.
function deferred() {
  const self = { promise: undefined, resolve: undefined, reject: undefined, settled: false };
  self.promise = new Promise((resolve, reject) => {
    self.resolve = (value) => {
      self.settled = true;
      resolve(value);
    };
    self.reject = (reason) => {
      self.settled = true;
      reject(reason);
    };
  });
  return self;
}

// A rejection that nobody has to handle.
function handled(promise) {
  apply(promiseThen, promise, [undefined, noop]);
  return promise;
}

function resolvedDeferred(value) {
  const self = deferred();
  self.resolve(value);
  return self;
}

function rejectedDeferred(reason) {
  const self = deferred();
  self.reject(reason);
  handled(self.promise);
  return self;
}

function then(promise, fulfilled, rejected) {
  return apply(promiseThen, promise, [fulfilled, rejected]);
}

// Programs may not make streams of their own at old compatibility dates.
function requireFlag(owner) {
  if (hasFlag('streams_enable_constructors') || hasFlag('typescript_implemented_streams')) return;
  throw new primordials.Error(
    `To use the new ${owner}() constructor, enable the streams_enable_constructors compatibility flag. Refer to the docs ` +
      'for more information: https://developers.cloudflare.com/workers/platform/compatibility-dates/#compatibility-flags',
  );
}

// Answers a read. A `then` that a program put on Object.prototype must not run in the middle of a stream's work, so the
// result has one of its own for as long as the promise looks for it.
function fulfil(resolve, value, done) {
  if (!('then' in objectPrototype)) {
    resolve({ value, done });
    return;
  }
  const result = { value, done, then: undefined };
  resolve(result);
  delete result.then;
}

// What an asynchronous method throws is the rejection of its promise, but not at old compatibility dates.
function captured(error) {
  if (!hasFlag('capture_async_api_throws')) throw error;
  return promiseReject(error);
}

// Calls a method of a source, sink or transformer; the answer is a promise, whatever it returns or throws.
function callAsync(method, receiver, args) {
  try {
    return promiseResolve(apply(method, receiver, args));
  } catch (error) {
    return promiseReject(error);
  }
}

// First in, first out. A list of links, and not an array, whose methods and indices a program can change under us.
class Queue {
  #first = null;
  #last = null;
  length = 0;
  push(value) {
    const link = { value, next: null };
    if (this.#last === null) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.length++;
  }
  peek() {
    return this.#first === null ? undefined : this.#first.value;
  }
  shift() {
    const link = this.#first;
    if (link === null) return undefined;
    this.#first = link.next;
    if (link.next === null) this.#last = null;
    this.length--;
    return link.value;
  }
  clear() {
    this.#first = null;
    this.#last = null;
    this.length = 0;
  }
  forEach(visit) {
    for (let at = this.#first; at !== null; at = at.next) visit(at.value);
  }
  remove(value) {
    let before = null;
    for (let at = this.#first; at !== null; before = at, at = at.next) {
      if (at.value !== value) continue;
      if (before === null) this.#first = at.next;
      else before.next = at.next;
      if (at.next === null) this.#last = before;
      this.length--;
      return;
    }
  }
}

const transfer = (buffer) => apply(primordials.bufferTransfer, buffer, []);
const isDetached = (buffer) => apply(primordials.bufferDetached, buffer, []);
const lengthOf = (buffer) => apply(primordials.bufferByteLength, buffer, []);
const copyOf = (buffer, start, end) => apply(primordials.bufferSlice, buffer, [start, end]);

// Where a view's bytes are, whatever its type.
function partsOf(view) {
  if (apply(viewTag, view, []) === undefined) {
    return {
      buffer: apply(primordials.dataViewBuffer, view, []),
      byteOffset: apply(primordials.dataViewByteOffset, view, []),
      byteLength: apply(primordials.dataViewByteLength, view, []),
    };
  }
  return {
    buffer: apply(primordials.viewBuffer, view, []),
    byteOffset: apply(primordials.viewByteOffset, view, []),
    byteLength: apply(primordials.viewByteLength, view, []),
  };
}

// An ArrayBuffer as a view of it; null for any other value.
function bufferView(value) {
  try {
    lengthOf(value);
  } catch {
    return null;
  }
  return new Uint8Array(value);
}

// A view's or an ArrayBuffer's bytes, where they are; null for any other value.
function bytesIn(value) {
  if (!isView(value)) return bufferView(value);
  const { buffer, byteOffset, byteLength } = partsOf(value);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

// A copy of bytes, in a buffer of its own.
function copyBytes(bytes) {
  const { buffer, byteOffset, byteLength } = partsOf(bytes);
  return new Uint8Array(copyOf(buffer, byteOffset, byteOffset + byteLength));
}

function setBytes(target, source, at) {
  apply(primordials.viewSet, target, [source, at]);
}

// A member that must be a function if present.
function method(object, name, struct) {
  const value = object[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'function') badField(struct, name, 'function');
  return value;
}

// A strategy argument: `{highWaterMark, size}` with `size` undefined for "each counts 1".
function strategy(value, owner, index, defaultMark) {
  if (value === undefined || value === null) return { highWaterMark: defaultMark, size: undefined };
  if (typeof value !== 'object' && typeof value !== 'function') {
    throw new TypeError(`Failed to construct '${owner}': constructor parameter ${index} is not of type 'StreamQueuingStrategy'.`);
  }
  const size = method(value, 'size', 'StreamQueuingStrategy');
  let { highWaterMark } = value;
  if (highWaterMark === undefined) highWaterMark = defaultMark;
  else {
    highWaterMark = +highWaterMark;
    if (highWaterMark !== highWaterMark) {
      throw new TypeError('The value cannot be converted because it is not an integer.');
    }
    if (highWaterMark < 0) {
      throw new TypeError(
        'The value cannot be converted because it is negative and this API expects a positive bigint.',
      );
    }
  }
  return { highWaterMark, size };
}

function requireArgument(args, owner, name, type) {
  if (args.length < 1) badArgument(owner, name, 1, type);
}

return {
  noop,
  hasFlag,
  fulfil,
  captured,
  requireFlag,
  deferred,
  resolvedDeferred,
  rejectedDeferred,
  handled,
  then,
  callAsync,
  Queue,
  transfer,
  isDetached,
  lengthOf,
  copyOf,
  partsOf,
  bufferView,
  bytesIn,
  copyBytes,
  setBytes,
  method,
  strategy,
  requireArgument,
};
