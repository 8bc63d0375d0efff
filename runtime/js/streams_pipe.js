// Pipes: `pipeTo` and `pipeThrough` (Streams 4.9.1), as the platform has them: one chunk at a time, each written before
// the next is read, and the ends of both sides looked at in between.
'use strict';
const { isView, promiseReject, promiseResolve, TypeError } = primordials;
const { badField } = load('webidl');
const { bufferView, deferred, handled, noop, then } = load('streams_support');
const readable = load('streams_readable');
const writable = load('streams_writable');

function options(value) {
  if (value === undefined || value === null) return { preventClose: false, preventAbort: false, preventCancel: false };
  const { signal } = value;
  if (signal !== undefined && !load('abort').isAbortSignal(signal)) badField('PipeToOptions', 'signal', 'AbortSignal');
  return {
    preventClose: !!value.preventClose,
    preventAbort: !!value.preventAbort,
    preventCancel: !!value.preventCancel,
    signal,
  };
}

class Pipe {
  #source;
  #target;
  #reader;
  #writer;
  #options;
  #done = deferred();
  #over = false;
  // Whether a write is under way, whose end is waited for before anything else is looked at.
  #writing = false;
  #forget = noop;
  constructor(source, target, chosen) {
    this.#source = source;
    this.#target = target;
    this.#options = chosen;
    this.#writer = writable.acquire(target);
    this.#reader = readable.acquire(source);
    source.disturbed = true;
  }
  run() {
    const { signal } = this.#options;
    const target = this.#target;
    if (target.controller.takesBytes === true && target.state === 'writable' && writable.isClosing(target)) {
      this.#closedEarly((error) => promiseReject(error));
    } else if (!this.#ended()) {
      if (signal !== undefined) {
        // What the program does next comes first: it may give a chunk that is on its way already.
        const look = () => this.#ended();
        this.#forget = load('abort').onAbort(signal, () => then(promiseResolve(undefined), look));
      }
      const look = () => {
        if (this.#over || this.#writing) return;
        // As on the platform, a pipe whose target was closed under it has not failed.
        if (target.state === 'closed') this.#closedEarly(() => promiseResolve(undefined));
        else this.#ended();
      };
      this.#writer.onEnd = look;
      this.#step();
    }
    return this.#done.promise;
  }
  // The target takes no more, though the source has some.
  #closedEarly(answer) {
    const error = new TypeError('This destination writable stream is closed.');
    this.#finish({ reason: error }, () => answer(error));
  }
  // Lets go of both sides, then answers as `last` does. The source is released before anything of the target's runs, which
  // may want it.
  #finish(cancellation, last) {
    this.#over = true;
    this.#forget();
    const source = this.#source;
    readable.release(this.#reader);
    if (cancellation !== undefined && !this.#options.preventCancel) {
      handled(readable.cancel(source, cancellation.reason));
    }
    const writer = this.#writer;
    let answer;
    try {
      answer = last();
    } catch (error) {
      answer = promiseReject(error);
    }
    // The platform's sinks stay locked to a pipe that closed them.
    if (!(this.#target.controller.takesBytes === true && writable.isClosing(this.#target))) writable.release(writer);
    then(answer, this.#done.resolve, this.#done.reject);
  }
  #fail(cancellation, error) {
    this.#finish(cancellation, () => promiseReject(error));
  }
  #abortTarget(error) {
    return then(writable.abort(this.#target, error), () => {
      throw error;
    });
  }
  // Ends the pipe when one of its sides is at its end, or somebody wants it to end.
  #ended() {
    if (this.#over) return true;
    const { preventAbort, preventClose, signal } = this.#options;
    const source = this.#source;
    const target = this.#target;
    if (signal !== undefined && signal.aborted) {
      this.#aborted();
    } else if (source.state === 'errored') {
      const { error } = source;
      if (preventAbort) this.#fail(undefined, error);
      else this.#finish(undefined, () => this.#abortTarget(error));
    } else if (target.state === 'errored' || target.state === 'erroring') {
      this.#fail({ reason: target.error }, target.error);
    } else if (source.state === 'closed') {
      const closes = !preventClose && target.state === 'writable' && !writable.isClosing(target);
      this.#finish(undefined, () => (closes ? writable.close(target) : promiseResolve(undefined)));
    } else if (target.state === 'closed') {
      this.#closedEarly((error) => promiseReject(error));
    } else {
      return false;
    }
    return true;
  }
  #aborted() {
    if (this.#over) return;
    const { preventAbort, signal } = this.#options;
    const { reason } = signal;
    const target = this.#target;
    const { controller } = target;
    this.#finish({ reason }, () => {
      if (!preventAbort) return this.#abortTarget(reason);
      if (this.#writing) controller.withdraw?.();
      return promiseReject(reason);
    });
  }
  #loop() {
    if (!this.#ended()) this.#step();
  }
  #step() {
    const loop = () => this.#loop();
    const { controller } = this.#target;
    readable.read(this.#reader, {
      whole: controller.takesBytes === true,
      // A microtask later, as a program's own reads: what it has to say about the pipe may come in between.
      chunk: (value) => then(promiseResolve(undefined), () => this.#pass(value)),
      // The reader's end is what the next look finds.
      close: () => then(promiseResolve(undefined), loop),
      error: () => then(promiseResolve(undefined), loop),
    });
  }
  #pass(value) {
    const { signal } = this.#options;
    if (signal !== undefined && signal.aborted) this.#aborted();
    if (this.#over) return;
    const { controller } = this.#target;
    let written;
    this.#writing = true;
    try {
      written = this.#write(controller, value);
    } catch (error) {
      written = promiseReject(error);
    }
    then(
      written,
      () => {
        this.#writing = false;
        this.#loop();
      },
      (error) => {
        this.#writing = false;
        if (!this.#ended()) this.#fail({ reason: error }, error);
      },
    );
  }
  #write(controller, value) {
    if (controller.takesBytes !== true) return writable.write(this.#writer, value);
    if (typeof value === 'string') return controller.write(value);
    const bytes = isView(value) ? value : typeof value === 'object' && value !== null ? bufferView(value) : null;
    if (bytes !== null) return controller.writeOwned(bytes);
    const error = new TypeError('This WritableStream only supports writing byte types.');
    handled(controller.abort(error));
    return promiseReject(error);
  }
}

// Moves what `source` (an inner readable stream) gives into `destination` until either ends.
function pipe(source, destination, chosen) {
  const target = writable.stateOf(destination);
  if (target.writer !== null) throw new TypeError('This WritableStream is currently locked to a writer');
  return new Pipe(source, target, chosen).run();
}

return { pipe, options, isWritableStream: writable.isWritableStream };
