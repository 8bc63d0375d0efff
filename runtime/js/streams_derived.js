// What is made of a readable stream, or made into one: branches, iteration, and streams of iterables (Streams 4.2.5 and
// 4.9.1).
'use strict';
const { promiseResolve, Promise, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');
const { deferred, then } = load('streams_support');
const { createInner, acquire, release, read, cancel } = load('streams_readable');
const token = {};

function tee(stream) {
  const reader = acquire(stream, 'default');
  let reading = false;
  let again = false;
  const canceled = [false, false];
  const reasons = [undefined, undefined];
  const controllers = [null, null];
  const cancellation = deferred();
  const pull = () => {
    if (reading) {
      again = true;
      return promiseResolve(undefined);
    }
    reading = true;
    read(reader, {
      chunk(value) {
        // In a microtask, so that a branch's reader that errors the source in between sees its error first.
        then(promiseResolve(undefined), () => {
          again = false;
          for (let i = 0; i < 2; i++) if (!canceled[i]) controllers[i].enqueue(value);
          reading = false;
          if (again) pull();
        });
      },
      close() {
        reading = false;
        for (let i = 0; i < 2; i++) if (!canceled[i]) controllers[i].close();
        if (!canceled[0] || !canceled[1]) cancellation.resolve(undefined);
      },
      error() {
        reading = false;
      },
    });
    return promiseResolve(undefined);
  };
  const branch = (index) =>
    createInner(
      (controller) => {
        controllers[index] = controller;
      },
      pull,
      (reason) => {
        canceled[index] = true;
        reasons[index] = reason;
        // As on the platform, the first branch that is cancelled does not wait for the second.
        if (!canceled[1 - index]) return promiseResolve(undefined);
        cancellation.resolve(cancel(stream, reasons));
        return cancellation.promise;
      },
      1,
    );
  const branches = [branch(0), branch(1)];
  then(reader.closed.promise, undefined, (error) => {
    for (let i = 0; i < 2; i++) controllers[i].error(error);
    if (!canceled[0] || !canceled[1]) cancellation.resolve(undefined);
  });
  return branches;
}

function fromIterable(iterable) {
  let factory = iterable?.[Symbol.asyncIterator];
  const isAsync = factory !== undefined && factory !== null;
  if (!isAsync) factory = iterable?.[Symbol.iterator];
  if (typeof factory !== 'function') badArgument('ReadableStream', 'from', 1, 'AsyncGenerator');
  const iterator = primordials.apply(factory, iterable, []);
  if (typeof iterator !== 'object' || iterator === null) badArgument('ReadableStream', 'from', 1, 'AsyncGenerator');
  const { next } = iterator;
  let controller;
  return createInner(
    (inner) => {
      controller = inner;
    },
    async () => {
      const result = await primordials.apply(next, iterator, []);
      if (typeof result !== 'object' || result === null) {
        throw new TypeError('The result of an iterator\'s next() is not an object.');
      }
      if (result.done) controller.close();
      else controller.enqueue(isAsync ? result.value : await result.value);
    },
    async (reason) => {
      const finish = iterator.return;
      if (finish === undefined || finish === null) return;
      await primordials.apply(finish, iterator, [reason]);
    },
    0,
  );
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
    if (this.#finished) return promiseResolve({ value: undefined, done: true });
    const reader = this.#reader;
    return new Promise((resolve, reject) => {
      read(reader, {
        chunk: (value) => resolve({ value, done: false }),
        close: () => {
          this.#finished = true;
          release(reader);
          resolve({ value: undefined, done: true });
        },
        error: (error) => {
          this.#finished = true;
          release(reader);
          reject(error);
        },
      });
    });
  }
  async #return(value) {
    if (!this.#finished) {
      this.#finished = true;
      const reader = this.#reader;
      const canceling = this.#preventCancel ? undefined : cancel(reader.stream, value);
      release(reader);
      await canceling;
    }
    return { value, done: true };
  }
}
primordials.setPrototypeOf(ReadableStreamAsyncIterator.prototype, asyncIteratorPrototype);
expose(ReadableStreamAsyncIterator, 'ReadableStreamAsyncIterator');

// An iterator over a stream, which it locks.
function iterate(stream, preventCancel) {
  return new ReadableStreamAsyncIterator(token, acquire(stream, 'default'), preventCancel);
}

return { tee, fromIterable, iterate };
