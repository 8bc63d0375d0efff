// What a readable stream is read as, or made of: iteration, and streams of iterables (Streams 4.2.5 and 4.9.1).
'use strict';
const { apply, promiseReject, promiseResolve, Promise, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const { fulfil, then } = load('streams_support');
const { createInner, acquire, release, read, cancel } = load('streams_readable');
const token = {};

function fromIterable(iterable) {
  let factory = iterable?.[Symbol.asyncIterator];
  const isAsync = factory !== undefined && factory !== null;
  if (!isAsync) factory = iterable?.[Symbol.iterator];
  if (typeof factory !== 'function') badArgument('ReadableStream', 'from', 1, 'AsyncGenerator');
  const iterator = apply(factory, iterable, []);
  if (typeof iterator !== 'object' || iterator === null) badArgument('ReadableStream', 'from', 1, 'AsyncGenerator');
  return fromIterator(iterator, isAsync);
}

// A stream of what an iterator gives; the values of one that is not asynchronous are awaited.
function fromIterator(iterator, isAsync) {
  const { next } = iterator;
  const stream = createInner(
    async () => {
      const { controller } = stream;
      const result = await apply(next, iterator, []);
      if (typeof result !== 'object' || result === null) {
        throw new TypeError('The result of an iterator\'s next() is not an object.');
      }
      if (result.done) {
        if (controller.canEnqueue()) controller.close();
      } else controller.enqueue(isAsync ? result.value : await result.value);
    },
    async (reason) => {
      const finish = iterator.return;
      if (finish === undefined || finish === null) return;
      if (typeof finish !== 'function') throw new TypeError('The iterator\'s return is not a function.');
      const result = await apply(finish, iterator, [reason]);
      if (typeof result !== 'object' || result === null) {
        throw new TypeError('The result of an iterator\'s return() is not an object.');
      }
    },
    0,
  );
  return stream;
}

const asyncIteratorPrototype = primordials.getPrototypeOf(
  primordials.getPrototypeOf(async function* () {}).prototype,
);

class ReadableStreamAsyncIterator {
  #reader;
  #preventCancel;
  #ongoing = null;
  #finished = false;
  constructor(key, reader, preventCancel) {
    if (key !== token) illegalConstructor();
    this.#reader = reader;
    this.#preventCancel = preventCancel;
  }
  next() {
    if (!(#reader in this)) illegalInvocation();
    const step = () => this.#next();
    this.#ongoing = this.#ongoing === null ? step() : then(this.#ongoing, step, step);
    return this.#ongoing;
  }
  return(value) {
    if (!(#reader in this)) illegalInvocation();
    const step = () => this.#return(value);
    this.#ongoing = this.#ongoing === null ? step() : then(this.#ongoing, step, step);
    return this.#ongoing;
  }
  #next() {
    if (this.#finished) return new Promise((resolve) => fulfil(resolve, undefined, true));
    const reader = this.#reader;
    return new Promise((resolve, reject) => {
      read(reader, {
        chunk: (value) => fulfil(resolve, value, false),
        close: () => {
          this.#finished = true;
          release(reader);
          fulfil(resolve, undefined, true);
        },
        error: (error) => {
          this.#finished = true;
          release(reader);
          reject(error);
        },
      });
    });
  }
  #return(value) {
    const result = { value, done: true };
    if (this.#finished) return promiseResolve(result);
    this.#finished = true;
    const reader = this.#reader;
    let canceling;
    try {
      canceling = this.#preventCancel ? promiseResolve(undefined) : cancel(reader.stream, value);
    } catch (error) {
      canceling = promiseReject(error);
    }
    release(reader);
    return then(canceling, () => result);
  }
}
primordials.setPrototypeOf(ReadableStreamAsyncIterator.prototype, asyncIteratorPrototype);
expose(ReadableStreamAsyncIterator, 'ReadableStreamAsyncIterator');

// An iterator over a stream, which it locks.
function iterate(stream, preventCancel) {
  return new ReadableStreamAsyncIterator(token, acquire(stream), preventCancel);
}

return { fromIterable, fromIterator, iterate };
