// The platform's DigestStream: a WritableStream that digests what is written to it.
'use strict';
const { TypeError } = primordials;
const { illegalInvocation, badConstructorArgument, expose } = load('webidl');
const { bytesIn, copyBytes, deferred, handled } = load('streams_support');
const { PlatformWritableStream } = load('streams_writable');
const { createInner } = load('streams_native_sink');

// What the rest of this room may do with one.
let dispose;
class DigestStream extends PlatformWritableStream {
  #digest;
  #written;
  constructor(algorithm) {
    const isAlgorithm = typeof algorithm === 'string' || (typeof algorithm === 'object' && algorithm !== null);
    if (!isAlgorithm) badConstructorArgument('DigestStream', 1, 'string or HashAlgorithm');
    const name = typeof algorithm === 'object' ? `${algorithm.name}` : algorithm;
    const state = native.open(name.toUpperCase());
    if (state === undefined) {
      const { DOMException } = load('dom_exception');
      throw new DOMException('Unrecognized or unimplemented digest algorithm requested.', 'NotSupportedError');
    }
    const digest = deferred();
    handled(digest.promise);
    const written = { bytes: 0n, disposed: false };
    super(
      createInner({
        convert(chunk) {
          if (typeof chunk === 'string') return load('encoding').utf8(chunk);
          const bytes = typeof chunk === 'object' && chunk !== null ? bytesIn(chunk) : null;
          if (bytes !== null) return copyBytes(bytes);
          throw new TypeError(
            'DigestStream is a byte stream but received an object of non-ArrayBuffer/ArrayBufferView/string type on its writable side.',
          );
        },
        write(bytes, done, failed) {
          if (written.disposed) {
            failed(new TypeError('The DigestStream was disposed.'));
            return;
          }
          native.update(state, bytes);
          written.bytes += BigInt(bytes.byteLength);
          done();
        },
        close(done) {
          digest.resolve(native.finish(state));
          done();
        },
        abort: (reason) => digest.reject(reason),
      }),
    );
    this.#digest = digest.promise;
    this.#written = written;
  }
  get digest() {
    if (!(#digest in this)) illegalInvocation();
    return this.#digest;
  }
  get bytesWritten() {
    if (!(#digest in this)) illegalInvocation();
    return this.#written.bytes;
  }

  static {
    dispose = function () {
      if (!(#written in this)) illegalInvocation();
      this.#written.disposed = true;
    };
  }
}
expose(DigestStream, 'DigestStream');
primordials.defineProperty(DigestStream.prototype, primordials.symbolDispose, {
  __proto__: null,
  value: dispose,
  writable: true,
  enumerable: false,
  configurable: true,
});

return { DigestStream };
