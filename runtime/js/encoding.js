// TextEncoder and TextDecoder (Encoding Standard 7).
'use strict';
const { illegalInvocation, badArgument, badConstructorArgument, isDictionary, expose } = load('webidl');
const { apply, viewTag, RangeError, TypeError, Uint8Array } = primordials;

function utf8(text) {
  const bytes = new Uint8Array(native.byteLength(text));
  if (bytes.length > 0) native.encodeInto(text, bytes);
  return bytes;
}

class TextEncoder {
  #brand = true;
  get encoding() {
    if (!(#brand in this)) illegalInvocation();
    return 'utf-8';
  }
  encode(input) {
    if (!(#brand in this)) illegalInvocation();
    return utf8(input === undefined ? '' : `${input}`);
  }
  encodeInto(input, destination) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('TextEncoder', 'encodeInto', 1, 'string');
    if (typeof destination !== 'object' || destination === null || apply(viewTag, destination, []) !== 'Uint8Array') {
      badArgument('TextEncoder', 'encodeInto', 2, 'Uint8Array');
    }
    const result = native.encodeInto(`${input}`, destination);
    return { read: result[0], written: result[1] };
  }
}
expose(TextEncoder, 'TextEncoder');

// What the rest of the platform may do with one.
let decode;
class TextDecoder {
  #encoding;
  #fatal = false;
  #ignoreBOM = false;
  // The Rust decoder of a stream that has begun and not ended, by number; 0 for none.
  #stream = null;

  constructor(label, options) {
    if (!isDictionary(options)) badConstructorArgument('TextDecoder', 2, 'ConstructorOptions');
    const name = label === undefined ? 'utf-8' : `${label}`;
    const encoding = native.lookup(name);
    if (encoding === undefined) throw new RangeError(`"${name}" is not a valid encoding.`);
    if (options === null) {
      throw new TypeError(
        'Cannot initialize N7workerd3api11TextDecoder18ConstructorOptionsE with required members from an undefined or null value.',
      );
    }
    this.#encoding = encoding;
    if (options !== undefined) {
      this.#fatal = !!options.fatal;
      this.#ignoreBOM = !!options.ignoreBOM;
    }
  }
  get encoding() {
    if (!(#encoding in this)) illegalInvocation();
    return this.#encoding;
  }
  get fatal() {
    if (!(#encoding in this)) illegalInvocation();
    return this.#fatal;
  }
  get ignoreBOM() {
    if (!(#encoding in this)) illegalInvocation();
    return this.#ignoreBOM;
  }
  decode(input, options) {
    if (!(#encoding in this)) illegalInvocation();
    if (!isDictionary(options)) badArgument('TextDecoder', 'decode', 2, 'DecodeOptions');
    return this.#decode(input, !!options?.stream);
  }
  #decode(input, more) {
    if (!more && this.#stream === null) {
      // The common case keeps nothing between calls.
      const text = native.decode(this.#encoding, this.#fatal, this.#ignoreBOM, input);
      if (text === undefined) badArgument('TextDecoder', 'decode', 1, 'Array');
      return text;
    }
    this.#stream ??= native.open(this.#encoding, this.#fatal, this.#ignoreBOM);
    let text;
    let ended = !more;
    try {
      text = native.push(this.#stream, input, !more);
    } catch (error) {
      ended = true;
      throw error;
    } finally {
      if (ended) this.#stream = null;
    }
    if (text === undefined) badArgument('TextDecoder', 'decode', 1, 'Array');
    return text;
  }

  static {
    decode = (decoder, input, more) => decoder.#decode(input, more);
  }
}
expose(TextDecoder, 'TextDecoder');

// UTF-8 as text, a byte order mark removed, malformed bytes replaced.
function decodeUtf8(bytes) {
  return native.decode('utf-8', false, false, bytes);
}

return { TextEncoder, TextDecoder, decode, utf8, decodeUtf8 };
