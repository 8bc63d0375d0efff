// TextEncoderStream, TextDecoderStream (Encoding 7.4-7.6), CompressionStream and DecompressionStream.
'use strict';
const { isView, promiseResolve, TypeError, Uint8Array } = primordials;
const { illegalInvocation, badConstructorArgument, expose } = load('webidl');
const { deferred } = load('streams_support');
const { createInner, PlatformTransformStream } = load('streams_transform');
const { bufferView, createInner: createBytes } = load('streams_byte');
const writable = load('streams_writable');
const { TextDecoder, utf8 } = load('encoding');

// What a compression stream may have ready before its writer has to wait, in bytes.
const READY_BYTES_MAX = 64 * 1024;

function view(chunk) {
  return isView(chunk) ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : bufferView(chunk);
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
          const last = text.charCodeAt(text.length - 1);
          if (last >= 0xd800 && last <= 0xdbff) {
            half = text.slice(-1);
            text = text.slice(0, -1);
          }
          if (text !== '') inner.enqueue(utf8(text));
        },
        (inner) => {
          if (half !== '') inner.enqueue(utf8(half));
        },
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
          const bytes = view(chunk);
          if (bytes === null) {
            throw new TypeError(
              'This TransformStream is being used as a byte stream, but received a value that is not a BufferSource.',
            );
          }
          const text = decoder.decode(bytes, { stream: true });
          if (text !== '') inner.enqueue(text);
        },
        (inner) => {
          const text = decoder.decode();
          if (text !== '') inner.enqueue(text);
        },
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

// Bytes through a codec: each piece of output is made when there is room for it.
function codec(owner, args, compress) {
  if (args.length < 1) badConstructorArgument(owner, 1, 'string');
  const state = native.open(`${args[0]}`, compress);
  if (state === undefined) {
    throw new TypeError("The compression format must be either 'deflate', 'deflate-raw' or 'gzip'.");
  }
  let room = deferred();
  const source = createBytes(
    () => {
      room.resolve(undefined);
      room = deferred();
      return promiseResolve(undefined);
    },
    (reason) => {
      sink.controller.errorIfNeeded(reason);
      room.resolve(undefined);
      return promiseResolve(undefined);
    },
    READY_BYTES_MAX,
  );
  const output = source.controller;
  const drain = async () => {
    for (;;) {
      let piece;
      try {
        piece = native.next(state);
      } catch (error) {
        output.error(error);
        throw error;
      }
      if (piece === undefined || source.state !== 'readable') return;
      output.enqueue(new Uint8Array(piece));
      while (source.state === 'readable' && output.desiredSize <= 0) await room.promise;
    }
  };
  const sink = writable.createInner(
    () => undefined,
    async (chunk) => {
      const bytes = typeof chunk === 'string' ? utf8(chunk) : view(chunk);
      if (bytes === null) {
        const error = new TypeError(
          'This TransformStream is being used as a byte stream, but received an object of non-ArrayBuffer/' +
            'ArrayBufferView type on its writable side.',
        );
        output.error(error);
        throw error;
      }
      native.push(state, bytes);
      await drain();
    },
    async () => {
      native.close(state);
      await drain();
      if (source.state !== 'readable') return;
      output.close();
      if (output.pending.length > 0) output.respond(0);
    },
    (reason) => {
      output.error(reason);
      return promiseResolve(undefined);
    },
  );
  return { readable: source, writable: sink };
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
