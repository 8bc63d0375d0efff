// Pipes: `pipeTo` and `pipeThrough` (Streams 4.9.1, ReadableStreamPipeTo).
'use strict';
const { Promise, TypeError } = primordials;
const { badField } = load('webidl');
const { then, handled, noop } = load('streams_support');
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

// Moves what `source` (an inner readable stream) gives into `destination` until either ends.
function pipe(source, destination, { preventClose, preventAbort, preventCancel, signal }) {
  const target = writable.stateOf(destination);
  if (target.writer !== null) throw new TypeError('This WritableStream is currently locked to a writer');
  const reader = readable.acquire(source, 'default');
  const writer = writable.acquire(target);
  source.disturbed = true;
  let shuttingDown = false;
  let lastWrite = primordials.promiseResolve(undefined);
  let forget = noop;

  return new Promise((resolve, reject) => {
    const finalize = (failed, error) => {
      writable.release(writer);
      readable.release(reader);
      forget();
      if (failed) reject(error);
      else resolve(undefined);
    };
    // Every chunk that was read is written before the pipe acts on the end of either side.
    const afterWrites = (next) => {
      const pending = lastWrite;
      const step = () => (pending === lastWrite ? next() : afterWrites(next));
      then(pending, step, step);
    };
    const shutdown = (action, failed, error) => {
      if (shuttingDown) return;
      shuttingDown = true;
      const act = () => {
        if (action === null) finalize(failed, error);
        else then(action(), () => finalize(failed, error), (reason) => finalize(true, reason));
      };
      if (target.state === 'writable' && !writable.closeQueuedOrInFlight(target)) afterWrites(act);
      else act();
    };
    const sourceErrored = (error) => shutdown(preventAbort ? null : () => writable.abort(target, error), true, error);
    const targetErrored = (error) => shutdown(preventCancel ? null : () => readable.cancel(source, error), true, error);
    const sourceClosed = () => shutdown(preventClose ? null : closeTarget, false);
    const closeTarget = () => {
      if (writable.closeQueuedOrInFlight(target) || target.state === 'closed') return primordials.promiseResolve(undefined);
      if (target.state === 'errored') return primordials.promiseReject(target.error);
      return writable.close(target);
    };

    if (signal !== undefined) {
      const aborted = (error) => {
        shutdown(
          async () => {
            const actions = [];
            if (!preventAbort && target.state === 'writable') actions.push(writable.abort(target, error));
            if (!preventCancel && source.state === 'readable') actions.push(readable.cancel(source, error));
            for (let i = 0; i < actions.length; i++) handled(actions[i]);
            for (let i = 0; i < actions.length; i++) await actions[i];
          },
          true,
          error,
        );
      };
      if (signal.aborted) {
        aborted(signal.reason);
        return;
      }
      forget = load('abort').onAbort(signal, aborted);
    }

    if (source.state === 'errored') sourceErrored(source.error);
    else then(reader.closed.promise, undefined, sourceErrored);
    if (target.state === 'errored') targetErrored(target.error);
    else then(writer.closed.promise, undefined, targetErrored);
    if (source.state === 'closed') sourceClosed();
    else then(reader.closed.promise, sourceClosed, noop);
    if (writable.closeQueuedOrInFlight(target) || target.state === 'closed') {
      const error = new TypeError(writable.CLOSED);
      shutdown(preventCancel ? null : () => readable.cancel(source, error), true, error);
    }

    const step = () => {
      if (shuttingDown) return;
      then(writer.ready.promise, () => {
        if (shuttingDown) return;
        readable.read(reader, {
          chunk(value) {
            lastWrite = then(writable.write(writer, value), undefined, noop);
            step();
          },
          close: noop,
          error: noop,
        });
      }, noop);
    };
    step();
  });
}

return { pipe, options, isWritableStream: writable.isWritableStream };
