// TextEncoderStream, TextDecoderStream (Encoding 7.4-7.6), CompressionStream and DecompressionStream.
'use strict';
const { apply, promiseResolve, stringCharCodeAt, stringSlice, TypeError, Uint8Array, viewByteLength } = primordials;
const { illegalInvocation, badConstructorArgument, expose } = load('webidl');
const { bytesIn, deferred, hasFlag, Queue, setBytes, then } = load('streams_support');
const { createInner, PlatformTransformStream } = load('streams_transform');
const { TextDecoder, decode, utf8 } = load('encoding');

// What a compression stream may have ready before its writer has to wait, in bytes. Large, because on the platform a
// writer never waits, and programs rely on what they wrote being done before they read.
const READY_BYTES_MAX = 8 << 20;
// How much of it one read gets.
const PIECE_BYTES_MAX = 64 << 10;

// The readable side's mark of the text streams.
function readableMark() {
  return hasFlag('encoder_stream_spec_compliant_backpressure') ? 0 : 1;
}

class TextEncoderStream extends PlatformTransformStream {
  #brand = true;
  constructor() {
    // The first half of a surrogate pair waits for the second, which may come with the next chunk.
    let half = '';
    super(
      createInner(
        (chunk, inner) => {
          let text = half + `${chunk}`;
          half = '';
          const last = apply(stringCharCodeAt, text, [text.length - 1]);
          if (last >= 0xd800 && last <= 0xdbff) {
            half = apply(stringSlice, text, [-1]);
            text = apply(stringSlice, text, [0, -1]);
          }
          if (text !== '') inner.enqueue(utf8(text));
        },
        (inner) => {
          if (half !== '') inner.enqueue(utf8(half));
        },
        readableMark(),
      ),
    );
  }
  get encoding() {
    if (!(#brand in this)) illegalInvocation();
    return 'utf-8';
  }
}
expose(TextEncoderStream, 'TextEncoderStream');

class TextDecoderStream extends PlatformTransformStream {
  #decoder;
  constructor(label, options) {
    const decoder = new TextDecoder(label, options);
    super(
      createInner(
        (chunk, inner) => {
          const bytes = typeof chunk === 'object' && chunk !== null ? bytesIn(chunk) : null;
          if (bytes === null) {
            throw new TypeError(
              'This TransformStream is being used as a byte stream, but received a value that is not a BufferSource.',
            );
          }
          const text = decode(decoder, bytes, true);
          if (text !== '') inner.enqueue(text);
        },
        (inner) => {
          const text = decode(decoder, undefined, false);
          if (text !== '') inner.enqueue(text);
        },
        readableMark(),
      ),
    );
    this.#decoder = decoder;
  }
  get encoding() {
    if (!(#decoder in this)) illegalInvocation();
    return this.#decoder.encoding;
  }
  get fatal() {
    if (!(#decoder in this)) illegalInvocation();
    return this.#decoder.fatal;
  }
  get ignoreBOM() {
    if (!(#decoder in this)) illegalInvocation();
    return this.#decoder.ignoreBOM;
  }
}
expose(TextDecoderStream, 'TextDecoderStream');

// Bytes through a codec: a feed and a sink in one. What is written is coded at once, and kept until it is read.
class Coder {
  #state;
  #pieces = new Queue();
  #ready = 0;
  // The read that waits for output, and the write that waits until some is read.
  #wanted = null;
  #stalled = null;
  #ended = false;
  #failed = false;
  #error = undefined;
  constructor(state) {
    this.#state = state;
  }
  next() {
    if (this.#failed) throw this.#error;
    if (this.#ready > 0) return this.#take();
    if (this.#ended) return null;
    this.#wanted = deferred();
    return this.#wanted.promise;
  }
  cancel(exception) {
    this.#fail(exception);
  }
  write(bytes, done, failed) {
    if (this.#failed) {
      failed(this.#error);
      return;
    }
    native.push(this.#state, bytes);
    this.#run(done, failed);
  }
  close(done, failed) {
    if (this.#failed) {
      failed(this.#error);
      return;
    }
    native.close(this.#state);
    this.#run(() => {
      this.#ended = true;
      if (this.#wanted !== null) this.#give(null);
      done();
    }, failed);
  }
  abort(exception) {
    this.#fail(exception);
  }
  // Codes what there is, until it is done or enough output is ready.
  #run(done, failed) {
    try {
      while (this.#ready < READY_BYTES_MAX) {
        const piece = native.next(this.#state);
        if (piece === undefined) {
          if (this.#wanted !== null && this.#ready > 0) this.#give(this.#take());
          done();
          return;
        }
        const bytes = new Uint8Array(piece);
        this.#pieces.push(bytes);
        this.#ready += sizeOf(bytes);
      }
    } catch (error) {
      this.#fail(error);
      failed(error);
      return;
    }
    this.#stalled = () => this.#run(done, failed);
    if (this.#wanted !== null) this.#give(this.#take());
  }
  // What is ready, the small pieces of it as one.
  #take() {
    let bytes = this.#pieces.shift();
    const next = this.#pieces.peek();
    if (next !== undefined && sizeOf(bytes) + sizeOf(next) <= PIECE_BYTES_MAX) bytes = this.#merge(bytes);
    this.#ready -= sizeOf(bytes);
    const stalled = this.#stalled;
    if (stalled !== null) {
      this.#stalled = null;
      then(promiseResolve(undefined), stalled);
    }
    return bytes;
  }
  #merge(first) {
    const parts = new Queue();
    parts.push(first);
    let total = sizeOf(first);
    while (this.#pieces.length > 0 && total + sizeOf(this.#pieces.peek()) <= PIECE_BYTES_MAX) {
      const piece = this.#pieces.shift();
      parts.push(piece);
      total += sizeOf(piece);
    }
    const merged = new Uint8Array(total);
    let at = 0;
    parts.forEach((piece) => {
      setBytes(merged, piece, at);
      at += sizeOf(piece);
    });
    return merged;
  }
  #give(bytes) {
    const wanted = this.#wanted;
    this.#wanted = null;
    wanted.resolve(bytes);
  }
  #fail(error) {
    if (this.#failed) return;
    this.#failed = true;
    this.#error = error;
    this.#pieces.clear();
    this.#ready = 0;
    this.#stalled = null;
    const wanted = this.#wanted;
    this.#wanted = null;
    if (wanted !== null) wanted.reject(error);
  }
}

function sizeOf(bytes) {
  return apply(viewByteLength, bytes, []);
}

function codec(owner, args, compress) {
  if (args.length < 1) badConstructorArgument(owner, 1, 'string');
  const state = native.open(`${args[0]}`, compress, false, hasFlag('strict_compression_checks'));
  if (state === undefined) {
    throw new TypeError("The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.");
  }
  const coder = new Coder(state);
  return { readable: load('streams_native').createInner(coder), writable: load('streams_native_sink').createInner(coder) };
}

class CompressionStream extends PlatformTransformStream {
  constructor(format) {
    super(codec('CompressionStream', arguments, true));
  }
}
expose(CompressionStream, 'CompressionStream');

class DecompressionStream extends PlatformTransformStream {
  constructor(format) {
    super(codec('DecompressionStream', arguments, false));
  }
}
expose(DecompressionStream, 'DecompressionStream');

return { TextEncoderStream, TextDecoderStream, CompressionStream, DecompressionStream };
