// TransformStream and its controller (Streams 6).
'use strict';
const { promiseResolve, promiseReject, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badConstructorArgument, expose } = load('webidl');
const { callAsync, deferred, hasFlag, method, requireArgument, strategy, then } = load('streams_support');
const readable = load('streams_readable');
const writable = load('streams_writable');
const token = {};

// The two sides and what joins them. `transform(chunk)`, `flush()` and `cancel(reason)` answer with promises.
class Transform {
  constructor(readableStrategy, writableStrategy) {
    this.backpressure = undefined;
    this.change = null;
    this.finishing = null;
    this.transform = null;
    this.flush = null;
    this.cancelAlgorithm = null;
    const started = deferred();
    this.started = started;
    this.setBackpressure(true);
    this.writable = writable.createInner(
      (chunk) => this.write(chunk),
      () => this.close(),
      (reason) => this.abort(reason),
      writableStrategy.highWaterMark,
      writableStrategy.size,
      started.promise,
    );
    this.readable = readable.createInner(
      () => {
        this.setBackpressure(false);
        return this.change.promise;
      },
      (reason) => this.cancel(reason),
      readableStrategy.highWaterMark,
      readableStrategy.size,
      started.promise,
    );
  }
  get output() {
    return this.readable.controller;
  }
  setBackpressure(backpressure) {
    if (this.change !== null) this.change.resolve(undefined);
    this.change = deferred();
    this.backpressure = backpressure;
  }
  error(error) {
    this.output.error(error);
    this.errorWritable(error);
  }
  errorWritable(error) {
    this.forget();
    this.writable.controller.errorIfNeeded(error);
    if (this.backpressure) this.setBackpressure(false);
  }
  forget() {
    this.transform = null;
    this.flush = null;
    this.cancelAlgorithm = null;
  }
  enqueue(chunk) {
    const { output } = this;
    if (!output.canEnqueue()) throw new TypeError('The readable side of this TransformStream is no longer readable.');
    output.enqueue(chunk);
    // The program may have ended the stream, or failed, while it counted the chunk.
    if (!output.canEnqueue()) return;
    if (output.hasBackpressure !== this.backpressure && hasFlag('fixup-transform-stream-backpressure')) {
      this.setBackpressure(true);
    }
  }
  terminate() {
    if (this.output.canEnqueue()) this.output.close();
    this.errorWritable(new TypeError('The transform stream has been terminated'));
  }
  perform(chunk) {
    return then(this.transform(chunk), undefined, (error) => {
      this.error(error);
      throw error;
    });
  }
  write(chunk) {
    if (!this.backpressure) return this.perform(chunk);
    return then(this.change.promise, () => {
      if (this.writable.state === 'erroring') throw this.writable.error;
      return this.perform(chunk);
    });
  }
  abort(reason) {
    if (this.finishing !== null) return this.finishing.promise;
    this.finishing = deferred();
    const canceling = this.cancelAlgorithm(reason);
    this.forget();
    then(
      canceling,
      () => {
        if (this.readable.state === 'errored') this.finishing.reject(this.readable.error);
        else {
          this.output.error(reason);
          this.finishing.resolve(undefined);
        }
      },
      (error) => {
        this.output.error(error);
        this.finishing.reject(error);
      },
    );
    return this.finishing.promise;
  }
  close() {
    if (this.finishing !== null) return this.finishing.promise;
    this.finishing = deferred();
    const flushing = this.flush();
    this.forget();
    then(
      flushing,
      () => {
        if (this.readable.state === 'errored') this.finishing.reject(this.readable.error);
        else {
          if (this.output.canEnqueue()) this.output.close();
          this.finishing.resolve(undefined);
        }
      },
      (error) => {
        this.output.error(error);
        this.finishing.reject(error);
      },
    );
    return this.finishing.promise;
  }
  cancel(reason) {
    if (this.finishing !== null) return this.finishing.promise;
    this.finishing = deferred();
    const canceling = this.cancelAlgorithm(reason);
    this.forget();
    then(
      canceling,
      () => {
        if (this.writable.state === 'errored') this.finishing.reject(this.writable.error);
        else {
          this.errorAndUnblock(reason);
          this.finishing.resolve(undefined);
        }
      },
      (error) => {
        this.errorAndUnblock(error);
        this.finishing.reject(error);
      },
    );
    return this.finishing.promise;
  }
  errorAndUnblock(error) {
    this.writable.controller.errorIfNeeded(error);
    if (this.backpressure) this.setBackpressure(false);
  }
}

class TransformStreamDefaultController {
  #inner;
  constructor(key, inner) {
    if (key !== token) illegalConstructor();
    this.#inner = inner;
  }
  get desiredSize() {
    if (!(#inner in this)) illegalInvocation();
    return this.#inner.output.desiredSize;
  }
  enqueue(chunk) {
    if (!(#inner in this)) illegalInvocation();
    this.#inner.enqueue(chunk);
  }
  error(reason) {
    if (!(#inner in this)) illegalInvocation();
    requireArgument(arguments, 'TransformStreamDefaultController', 'error', 'Value');
    this.#inner.error(reason);
  }
  terminate() {
    if (!(#inner in this)) illegalInvocation();
    this.#inner.terminate();
  }
}
expose(TransformStreamDefaultController, 'TransformStreamDefaultController');

const done = () => promiseResolve(undefined);

// A transform of the platform's own. `transform(chunk, inner)` and `flush(inner)` may throw or answer with a promise.
function createInner(transform, flush, readableMark = 0) {
  const inner = new Transform({ highWaterMark: readableMark }, { highWaterMark: 1 });
  inner.transform = (chunk) => callAsync(transform, undefined, [chunk, inner]);
  inner.flush = () => callAsync(flush, undefined, [inner]);
  inner.cancelAlgorithm = done;
  inner.started.resolve(undefined);
  return inner;
}

class TransformStream {
  #readable;
  #writable;
  constructor(transformer, writableQueuing, readableQueuing) {
    if (transformer === token) {
      this.#readable = readable.wrap(writableQueuing.readable);
      this.#writable = writable.wrap(writableQueuing.writable);
      return;
    }
    if (!hasFlag('transformstream_enable_standard_constructor') && !hasFlag('typescript_implemented_streams')) {
      // An old Worker gets the platform's own, whatever it asks for.
      const { join } = load('streams_identity');
      const inner = join(undefined, undefined);
      this.#readable = readable.wrap(inner.readable);
      this.#writable = writable.wrap(inner.writable);
      return;
    }
    if (transformer === undefined || transformer === null) transformer = {};
    if (typeof transformer !== 'object' && typeof transformer !== 'function') badConstructorArgument('TransformStream', 1, 'Transformer');
    if (transformer.readableType !== undefined) throw new TypeError('transformer.readableType must be undefined.');
    if (transformer.writableType !== undefined) throw new TypeError('transformer.writableType must be undefined.');
    const start = method(transformer, 'start', 'Transformer');
    const transform = method(transformer, 'transform', 'Transformer');
    const flush = method(transformer, 'flush', 'Transformer');
    const cancel = method(transformer, 'cancel', 'Transformer');
    const { expectedLength } = transformer;
    const inner = new Transform(
      strategy(readableQueuing, 'TransformStream', 3, 0),
      strategy(writableQueuing, 'TransformStream', 2, 1),
    );
    const controller = new TransformStreamDefaultController(token, inner);
    inner.transform =
      transform === undefined
        ? (chunk) => {
            try {
              inner.enqueue(chunk);
              return done();
            } catch (error) {
              return promiseReject(error);
            }
          }
        : (chunk) => callAsync(transform, transformer, [chunk, controller]);
    inner.flush = flush === undefined ? done : () => callAsync(flush, transformer, [controller]);
    inner.cancelAlgorithm = cancel === undefined ? done : (reason) => callAsync(cancel, transformer, [reason]);
    inner.readable.length = readable.expectedLength(expectedLength);
    this.#readable = readable.wrap(inner.readable);
    this.#writable = writable.wrap(inner.writable);
    if (start === undefined) inner.started.resolve(undefined);
    // What it throws fails the stream, not its construction, as on the platform.
    else inner.started.resolve(callAsync(start, transformer, [controller]));
  }
  get readable() {
    if (!(#readable in this)) illegalInvocation();
    return this.#readable;
  }
  get writable() {
    if (!(#readable in this)) illegalInvocation();
    return this.#writable;
  }
}
expose(TransformStream, 'TransformStream');

// A class of streams over a transform of the platform's own: `super(inner)`.
class PlatformTransformStream extends TransformStream {
  constructor(inner) {
    super(token, inner);
  }
}

return {
  TransformStream,
  TransformStreamDefaultController,
  PlatformTransformStream,
  createInner,
};
