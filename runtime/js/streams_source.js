// What feeds readable streams from a queue: the part that default controllers and byte controllers share (Streams 4.6.4
// and 4.7.4), as the platform has it.
//
// A source has consumers: one inner stream, and after `tee` several, each with a queue and reads of its own. What is
// enqueued goes to all of them, and the slowest decides about back-pressure. A source whose program has closed it is
// closed at once; its consumers close when they have given what they had.
//
// A subclass says what an item is: `give(stream)` answers waiting reads from the queue, `finish(stream)` those that more
// would have been needed for, `share(item)` is the same item for another consumer.
'use strict';
const { promiseResolve, TypeError } = primordials;
const { Queue, then } = load('streams_support');

const CLOSED = 'This ReadableStream is closed.';

// An inner stream: what a ReadableStream is about. `reader` is whoever holds its lock.
function newState() {
  return {
    state: 'readable',
    error: undefined,
    reader: null,
    disturbed: false,
    controller: null,
    // How many bytes it will give, as a bigint, where that is known.
    length: undefined,
    queue: new Queue(),
    total: 0,
    // Closed, but for what is in the queue.
    closing: false,
    requests: new Queue(),
    // Whether its reader wants all of it, so that whoever brings the bytes may bring many at once.
    readWhole: false,
  };
}

// --- what happens to a stream -------------------------------------------------------------------------------------

function close(stream) {
  if (stream.state !== 'readable') return;
  stream.state = 'closed';
  if (stream.reader !== null) stream.reader.closed.resolve(undefined);
}

function fail(stream, error) {
  if (stream.state !== 'readable') return;
  const { requests, reader } = stream;
  stream.requests = new Queue();
  stream.queue.clear();
  stream.total = 0;
  stream.state = 'errored';
  stream.error = error;
  requests.forEach((request) => request.error(error));
  if (reader !== null) reader.closed.reject(error);
}

// --- sources ------------------------------------------------------------------------------------------------------

class Source {
  // 'open', 'closed' or 'errored'.
  state = 'open';
  consumers = new Queue();
  #pulling = false;
  #pullAgain = false;
  #pull;
  #cancel;
  // `pull()` and `cancel(reason)` answer with promises; either may be undefined.
  constructor(stream, pull, cancel, highWaterMark) {
    this.#pull = pull;
    this.#cancel = cancel;
    this.highWaterMark = highWaterMark;
    this.consumers.push(stream);
    stream.controller = this;
  }
  // `starting` is a promise, or undefined for a source that needs no start.
  start(starting) {
    if (starting === undefined) {
      this.pullIfNeeded();
      return;
    }
    then(
      starting,
      () => this.pullIfNeeded(),
      (error) => this.error(error),
    );
  }
  get desiredSize() {
    if (this.state === 'errored') return null;
    if (this.state === 'closed') return 0;
    let most = 0;
    this.consumers.forEach((stream) => {
      if (stream.total > most) most = stream.total;
    });
    return this.highWaterMark - most;
  }
  // Whether nothing more is wanted for now.
  get hasBackpressure() {
    return !this.wantsMore();
  }
  canEnqueue() {
    return this.state === 'open';
  }
  wantsMore() {
    if (this.state !== 'open') return false;
    let awaited = false;
    this.consumers.forEach((stream) => {
      if (stream.requests.length > 0) awaited = true;
    });
    return awaited || this.desiredSize > 0;
  }
  pullIfNeeded() {
    if (!this.wantsMore()) return;
    if (this.#pulling) {
      this.#pullAgain = true;
      return;
    }
    const pull = this.#pull;
    if (pull === undefined) return;
    this.#pulling = true;
    then(
      pull(),
      () => {
        this.#pulling = false;
        if (!this.#pullAgain) return;
        this.#pullAgain = false;
        this.pullIfNeeded();
      },
      (error) => {
        this.#pulling = false;
        this.error(error);
      },
    );
  }
  forget() {
    this.#pull = undefined;
    this.#cancel = undefined;
    this.size = undefined;
  }
  // Puts an item of `size` into every queue.
  push(item, size) {
    const shared = this.consumers.length > 1;
    this.consumers.forEach((stream) => {
      if (stream.state !== 'readable' || stream.closing) return;
      stream.queue.push(shared ? this.share(item) : item);
      stream.total += size;
      if (stream.requests.length > 0) this.give(stream);
    });
  }
  // A read that nothing is queued for waits for the source.
  wait(stream, request) {
    stream.requests.push(request);
    this.pullIfNeeded();
  }
  close() {
    if (this.state !== 'open') throw new TypeError(CLOSED);
    this.state = 'closed';
    this.consumers.forEach((stream) => {
      stream.closing = true;
      this.settle(stream);
    });
    this.forget();
  }
  // Closes a consumer that has given everything.
  settle(stream) {
    if (!stream.closing || stream.state !== 'readable') return;
    if (stream.queue.length > 0 && stream.requests.length > 0) this.finish(stream);
    if (stream.queue.length > 0) return;
    this.endReads(stream);
    close(stream);
  }
  endReads(stream) {
    const { requests } = stream;
    stream.requests = new Queue();
    requests.forEach((request) => request.close());
  }
  error(error) {
    if (this.state !== 'open') return;
    this.state = 'errored';
    this.forget();
    this.consumers.forEach((stream) => fail(stream, error));
  }
  // One consumer wants no more. The program's source learns of it when it was the last one.
  cancel(stream, reason) {
    stream.queue.clear();
    stream.total = 0;
    this.endReads(stream);
    close(stream);
    if (this.state !== 'open') return promiseResolve(undefined);
    if (this.consumers.length > 1) {
      this.consumers.remove(stream);
      return promiseResolve(undefined);
    }
    const cancel = this.#cancel;
    this.state = 'closed';
    this.forget();
    return cancel === undefined ? promiseResolve(undefined) : then(cancel(reason), () => undefined);
  }
  // The reader has gone: what it waited for is not wanted any more.
  release(stream, error) {
    const { requests } = stream;
    stream.requests = new Queue();
    requests.forEach((request) => request.error(error));
  }
  // Two streams in the place of one, each with all that it still had.
  tee(stream) {
    const branches = [this.branch(stream), this.branch(stream)];
    this.consumers.remove(stream);
    close(stream);
    return branches;
  }
  branch(stream) {
    const branch = newState();
    branch.controller = this;
    branch.length = stream.length;
    branch.state = stream.state;
    branch.error = stream.error;
    branch.closing = stream.closing;
    branch.total = stream.total;
    stream.queue.forEach((item) => branch.queue.push(this.share(item)));
    if (this.state === 'open' && stream.state === 'readable') this.consumers.push(branch);
    return branch;
  }
}

return { Source, newState, close, fail, CLOSED };
