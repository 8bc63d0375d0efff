// The platform's IdentityTransformStream and FixedLengthStream: bytes in, the same bytes out, nothing buffered. A write
// completes when its bytes have been read.
'use strict';
const { isView, promiseResolve, promiseReject, TypeError } = primordials;
const { badConstructorArgument, expose } = load('webidl');
const { deferred, then } = load('streams_support');
const { PlatformTransformStream } = load('streams_transform');
const bytes = load('streams_byte');
const writable = load('streams_writable');

// Joins the two sides. `expected` is the number of bytes that must pass, or undefined.
function join(expected, highWaterMark) {
  let remaining = expected;
  // The write that waits for a reader, and the pull that waits for a writer.
  let offered = null;
  let wanted = null;
  const give = () => {
    if (offered === null || wanted === null) return;
    const { view, done } = offered;
    offered = null;
    const pulled = wanted;
    wanted = null;
    source.controller.enqueue(view);
    pulled.resolve(undefined);
    done.resolve(undefined);
  };
  const source = bytes.createInner(
    () => {
      wanted = deferred();
      const { promise } = wanted;
      give();
      return promise;
    },
    (reason) => {
      const error = reason;
      if (offered !== null) {
        offered.done.reject(error);
        offered = null;
      }
      sink.controller.errorIfNeeded(error);
      return promiseResolve(undefined);
    },
  );
  const sink = writable.createInner(
    () => undefined,
    (chunk) => {
      const view = bytesOf(chunk);
      if (view === null) {
        return promiseReject(
          new TypeError(
            'This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/' +
              'ArrayBufferView type on its writable side.',
          ),
        );
      }
      if (view.byteLength === 0) return promiseResolve(undefined);
      if (remaining !== undefined) {
        if (view.byteLength > remaining) {
          const error = new TypeError('Attempt to write too many bytes through a FixedLengthStream.');
          source.controller.error(error);
          return promiseReject(error);
        }
        remaining -= view.byteLength;
      }
      const done = deferred();
      offered = { view, done };
      give();
      return done.promise;
    },
    () => {
      if (remaining !== undefined && remaining > 0) {
        const error = new TypeError('FixedLengthStream did not see all expected bytes before close().');
        source.controller.error(error);
        return promiseReject(error);
      }
      source.controller.close();
      if (source.controller.pending.length > 0) source.controller.respond(0);
      return promiseResolve(undefined);
    },
    (reason) => {
      source.controller.error(reason);
      return promiseResolve(undefined);
    },
    highWaterMark ?? 1,
    // Without a mark of its own nothing is ever queued as far as its writer can see.
    highWaterMark === undefined ? () => 0 : (chunk) => bytesOf(chunk)?.byteLength ?? 0,
  );
  source.length = expected;
  return { readable: source, writable: sink };
}

// A copy of a chunk's bytes, which the stream then owns; null when it has none.
function bytesOf(chunk) {
  if (typeof chunk === 'string') return load('encoding').utf8(chunk);
  if (isView(chunk)) {
    return new primordials.Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength).slice();
  }
  return bytes.bufferView(chunk)?.slice() ?? null;
}

function mark(strategy) {
  const highWaterMark = strategy?.highWaterMark;
  return highWaterMark === undefined ? undefined : +highWaterMark;
}

const joined = Symbol('joined');

class IdentityTransformStream extends PlatformTransformStream {
  constructor(queuing, inner) {
    super(queuing === joined ? inner : join(undefined, mark(queuing)));
  }
}
expose(IdentityTransformStream, 'IdentityTransformStream');

class FixedLengthStream extends IdentityTransformStream {
  constructor(expectedLength, queuing) {
    if (arguments.length < 1) badConstructorArgument('FixedLengthStream', 1, 'bigint');
    const length = typeof expectedLength === 'bigint' ? Number(expectedLength) : Math.trunc(+expectedLength);
    if (length !== length) throw new TypeError('The value cannot be converted because it is not an integer.');
    if (length < 0) {
      throw new TypeError('The value cannot be converted because it is negative and this API expects a positive bigint.');
    }
    if (length > Number.MAX_SAFE_INTEGER) {
      throw new TypeError('FixedLengthStream requires an integer expected length less than 2^53.');
    }
    const highWaterMark = mark(queuing);
    super(joined, join(length, highWaterMark === undefined ? undefined : Math.min(highWaterMark, length)));
  }
}
expose(FixedLengthStream, 'FixedLengthStream');

return { IdentityTransformStream, FixedLengthStream, join };
