// What every kind of stream uses: queues with sizes, promises with their resolvers, and the conversion of sources,
// sinks and strategies.
'use strict';
const { apply, promiseThen, promiseResolve, promiseReject, Promise, TypeError, RangeError } = primordials;
const { badField, badArgument } = load('webidl');

const noop = () => {};

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

// Calls a method of a source, sink or transformer; the answer is a promise, whatever it returns or throws.
function callAsync(method, receiver, args) {
  try {
    return promiseResolve(apply(method, receiver, args));
  } catch (error) {
    return promiseReject(error);
  }
}

// First in, first out, in amortised constant time.
class Queue {
  #items = [];
  #head = 0;
  get length() {
    return this.#items.length - this.#head;
  }
  push(item) {
    this.#items.push(item);
  }
  peek() {
    return this.#items[this.#head];
  }
  shift() {
    const item = this.#items[this.#head];
    this.#items[this.#head] = undefined;
    this.#head++;
    if (this.#head > 32 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
  clear() {
    this.#items = [];
    this.#head = 0;
  }
  forEach(visit) {
    for (let i = this.#head; i < this.#items.length; i++) visit(this.#items[i]);
  }
}

// A queue whose items have sizes (Streams 8.1).
class SizedQueue extends Queue {
  total = 0;
  pushSized(value, size) {
    if (typeof size !== 'number' || size !== size || size < 0 || size === Infinity) {
      throw new RangeError('The return value of a queuing strategy\'s size function must be a finite, non-NaN, non-negative number.');
    }
    this.push({ value, size });
    this.total += size;
  }
  shiftSized() {
    const item = this.shift();
    this.total -= item.size;
    if (this.total < 0) this.total = 0;
    return item.value;
  }
  reset() {
    this.clear();
    this.total = 0;
  }
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
  deferred,
  resolvedDeferred,
  rejectedDeferred,
  handled,
  then,
  callAsync,
  Queue,
  SizedQueue,
  method,
  strategy,
  requireArgument,
};
