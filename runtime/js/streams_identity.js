// The platform's IdentityTransformStream and FixedLengthStream: bytes in, the same bytes out, nothing buffered. A write
// completes when its bytes have been read.
'use strict';
const { RangeError, TypeError, Error } = primordials;
const { badConstructorArgument, expose } = load('webidl');
const { deferred, hasFlag } = load('streams_support');
const { PlatformTransformStream } = load('streams_transform');
const feeds = load('streams_native');
const sinks = load('streams_native_sink');

// What joins the two sides: a feed and a sink in one.
class Identity {
  // The write that waits for a reader: `{bytes, done, failed}`.
  #offered = null;
  // The read that waits for a writer.
  #wanted = null;
  #ended = false;
  #failed = false;
  #error = undefined;
  // How many bytes must still pass, or undefined.
  #remaining;
  // The TypeScript streams look at lengths when something is written, the others when it is read.
  #checksWrites = hasFlag('typescript_implemented_streams');
  constructor(expected) {
    this.#remaining = expected;
  }
  next() {
    if (this.#failed) throw this.#error;
    if (this.#offered !== null) {
      const { bytes } = this.#offered;
      if (!this.#checksWrites) this.#pass(bytes);
      return bytes;
    }
    if (this.#ended) {
      if (!this.#checksWrites) this.#pass(null);
      return null;
    }
    this.#wanted = deferred();
    return this.#wanted.promise;
  }
  taken() {
    const offered = this.#offered;
    this.#offered = null;
    if (offered !== null) offered.done();
  }
  cancel(exception) {
    this.#fail(exception);
  }
  write(bytes, done, failed) {
    if (this.#failed) {
      failed(this.#error);
      return;
    }
    this.#offered = { bytes, done, failed };
    if (this.#checksWrites) {
      try {
        this.#pass(bytes);
      } catch {
        return;
      }
    }
    if (this.#wanted !== null) this.#give();
  }
  close(done, failed) {
    if (this.#failed) {
      failed(this.#error);
      return;
    }
    if (this.#checksWrites) {
      try {
        this.#pass(null);
      } catch (error) {
        failed(error);
        return;
      }
    }
    this.#ended = true;
    if (this.#wanted !== null) this.#give();
    done();
  }
  abort(exception) {
    this.#fail(exception);
  }
  // The writer gave up on its bytes, which are gone.
  withdraw() {
    this.#offered = null;
    this.#fail(new Error('The write that this read was for has been canceled.'));
  }
  // Answers the read that waits.
  #give() {
    const wanted = this.#wanted;
    this.#wanted = null;
    const bytes = this.#offered === null ? null : this.#offered.bytes;
    try {
      if (!this.#checksWrites) this.#pass(bytes);
    } catch (error) {
      wanted.reject(error);
      return;
    }
    wanted.resolve(bytes);
  }
  // Counts bytes, or the end (null), against the length there must be. What is too much or too little fails both sides;
  // a write that was too much is over by then, except where writes are checked.
  #pass(bytes) {
    if (this.#remaining === undefined) return;
    if (bytes === null) {
      if (this.#remaining === 0) return;
      const error = lengthError('FixedLengthStream did not see all expected bytes before close().');
      this.#fail(error);
      throw error;
    }
    const size = primordials.apply(primordials.viewByteLength, bytes, []);
    if (size <= this.#remaining) {
      this.#remaining -= size;
      return;
    }
    const error = lengthError('Attempt to write too many bytes through a FixedLengthStream.');
    if (!this.#checksWrites) this.taken();
    this.#fail(error);
    throw error;
  }
  #fail(error) {
    if (this.#failed) return;
    this.#failed = true;
    this.#error = error;
    const offered = this.#offered;
    const wanted = this.#wanted;
    this.#offered = null;
    this.#wanted = null;
    if (offered !== null) offered.failed(error);
    if (wanted !== null) wanted.reject(error);
  }
}

// The TypeScript streams say which kind of wrong a length is.
function lengthError(text) {
  return hasFlag('typescript_implemented_streams') ? new RangeError(text) : new TypeError(text);
}

// The two sides. `expected` is the number of bytes that must pass, or undefined.
function join(expected, highWaterMark) {
  const identity = new Identity(expected);
  return {
    readable: feeds.createInner(identity, expected === undefined ? undefined : BigInt(expected)),
    writable: sinks.createInner(identity, highWaterMark),
  };
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
    const exact = hasFlag('typescript_implemented_streams') ? exactLength(expectedLength) : lengthOf(expectedLength);
    const length = Number(exact);
    const highWaterMark = mark(queuing);
    const inner = join(length, highWaterMark === undefined ? undefined : Math.min(highWaterMark, length));
    inner.readable.length = exact;
    super(joined, inner);
  }
}
expose(FixedLengthStream, 'FixedLengthStream');

function lengthOf(expected) {
  const length = typeof expected === 'bigint' ? Number(expected) : Math.trunc(+expected);
  if (length !== length) throw new TypeError('The value cannot be converted because it is not an integer.');
  if (length < 0) {
    throw new TypeError('The value cannot be converted because it is negative and this API expects a positive bigint.');
  }
  if (length > Number.MAX_SAFE_INTEGER) {
    throw new TypeError('FixedLengthStream requires an integer expected length less than 2^53.');
  }
  return BigInt(length);
}

// As the TypeScript streams take it: any unsigned 64-bit integer.
function exactLength(expected) {
  if (typeof expected !== 'number' && typeof expected !== 'bigint') {
    badConstructorArgument('FixedLengthStream', 1, 'bigint');
  }
  const length = BigInt(expected);
  if (length < 0n || length > 0xffff_ffff_ffff_ffffn) {
    throw new RangeError('FixedLengthStream requires an unsigned 64-bit integer.');
  }
  return length;
}

return { IdentityTransformStream, FixedLengthStream, join };
