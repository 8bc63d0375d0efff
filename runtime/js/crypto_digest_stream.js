// The platform's DigestStream: a WritableStream that digests what is written to it.
'use strict';
const { isView, TypeError } = primordials;
const { illegalInvocation, badConstructorArgument, expose } = load('webidl');
const { deferred, handled } = load('streams_support');
const { PlatformWritableStream, createInner } = load('streams_writable');

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
    const written = { bytes: 0n };
    super(
      createInner(
        () => undefined,
        async (chunk) => {
          let bytes = typeof chunk === 'string' ? load('encoding').utf8(chunk) : isView(chunk) ? chunk : null;
          bytes ??= load('streams_byte').bufferView(chunk);
          if (bytes === null) {
            const error = new TypeError(
              'DigestStream is a byte stream but received an object of non-ArrayBuffer/ArrayBufferView/string type on its writable side.',
            );
            digest.reject(error);
            throw error;
          }
          native.update(state, bytes);
          written.bytes += BigInt(bytes.byteLength);
        },
        async () => digest.resolve(native.finish(state)),
        async (reason) => digest.reject(reason),
      ),
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
}
expose(DigestStream, 'DigestStream');

return { DigestStream };
