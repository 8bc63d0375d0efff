// The body of a Request or Response (Fetch 2.2.4 and 5.3): bytes in hand until somebody asks for a stream of them.
'use strict';
const { apply, objectPrototype, stringValueOf, TypeError, Uint8Array } = primordials;
const { illegalInvocation, illegalConstructor, expose } = load('webidl');
const { utf8, decodeUtf8 } = load('encoding');
const { bytesIn, copyBytes, handled, hasFlag, partsOf, Queue, setBytes } = load('streams_support');

const USED = 'Body has already been used. It can only be used once. Use tee() first if you need to read it twice.';
// How many bytes of a body in hand a read copies at most.
const FEED_BYTES = 256 << 10;
const token = {};

// What a body holds. `bytes` until a stream is made of them, or never; `stream` a ReadableStream, or null. `coding` says
// how both are encoded, for as long as nobody has asked for what is in them.
class Content {
  constructor(bytes, stream, coding = null) {
    this.bytes = bytes;
    this.stream = stream;
    this.coding = coding;
    this.used = false;
  }
}

// Undoes the coding, for somebody who wants to see the body.
function decode(content) {
  if (content === null || content.coding === null) return;
  const { coding } = content;
  content.coding = null;
  content.stream = load('body_coding').coded(content.stream ?? streamOf(content.bytes), coding, false);
  content.bytes = null;
}

// The number of bytes, where it is known; null otherwise.
function lengthOf(content) {
  if (content.coding !== null) return null;
  if (content.stream === null) return content.bytes.byteLength;
  const { length } = load('streams_readable').stateOf(content.stream);
  return length === undefined || length === null ? null : Number(length);
}

// A stream of bytes that nobody may change: they are copied out as they are read.
function streamOf(bytes) {
  const { createInner, part } = load('streams_native');
  const size = bytes.byteLength;
  let at = 0;
  const feed = {
    next() {
      if (at >= size) return null;
      const count = Math.min(size - at, FEED_BYTES);
      const chunk = copyBytes(part(bytes, at, count));
      at += count;
      return chunk;
    },
    cancel() {
      at = size;
    },
  };
  return load('streams_readable').wrap(createInner(feed, BigInt(size)));
}

// The stream of a body that has been used, as whoever used it left it: locked, disturbed and at its end.
function usedStream() {
  const stream = streamOf(new Uint8Array(0));
  load('streams_readable').takeOver(stream);
  return stream;
}

// A body argument as content and the type it implies (or null).
function extract(value) {
  if (value === undefined || value === null) return { content: null, type: null };
  if (typeof value === 'object') {
    const streams = load('streams_readable');
    if (streams.isReadableStream(value)) {
      const { reader, disturbed } = streams.stateOf(value);
      if (reader !== null) throw new TypeError('This ReadableStream is locked to a reader, and cannot be used as a body.');
      if (disturbed) throw new TypeError('This ReadableStream is disturbed (has already been read from), and cannot be used as a body.');
      return { content: new Content(null, value), type: null };
    }
    const bytes = bytesIn(value);
    if (bytes !== null) return { content: new Content(copyBytes(bytes), null), type: null };
    const blobs = load('blob');
    if (blobs.isBlob(value)) {
      return { content: new Content(blobs.contents(value), null), type: value.type === '' ? null : value.type };
    }
    const forms = load('form_data');
    if (forms.isFormData(value)) {
      const { bytes, type } = forms.serialize(value);
      return { content: new Content(bytes, null), type };
    }
    if (load('url').isURLSearchParams(value)) {
      return {
        content: new Content(utf8(value.toString()), null),
        type: 'application/x-www-form-urlencoded;charset=UTF-8',
      };
    }
    const stream = streamOfIterable(value);
    if (stream !== null) return { content: new Content(null, stream), type: null };
  }
  return { content: new Content(utf8(`${value}`), null), type: 'text/plain;charset=UTF-8' };
}

// A stream of what an iterable gives, for Workers that ask for it; null for a value that is text. Objects that say
// themselves what text they are, are text.
function streamOfIterable(value) {
  if (!hasFlag('fetch_iterable_type_support') || isStringObject(value)) return null;
  let factory = value[Symbol.asyncIterator];
  const isAsync = factory !== undefined && factory !== null;
  if (!isAsync) {
    const adjusted = hasFlag('fetch_iterable_type_support_override_adjustment') && !primordials.isArray(value);
    if (adjusted && (value.toString !== objectPrototype.toString || value[Symbol.toPrimitive] !== undefined)) return null;
    factory = value[Symbol.iterator];
  }
  if (typeof factory !== 'function') return null;
  const iterator = apply(factory, value, []);
  if (typeof iterator !== 'object' || iterator === null) return null;
  return load('streams_readable').wrap(load('streams_derived').fromIterator(iterator, isAsync));
}

function isStringObject(value) {
  try {
    apply(stringValueOf, value, []);
    return true;
  } catch {
    return false;
  }
}

function isUsed(content) {
  if (content === null) return false;
  return content.used || (content.stream !== null && load('streams_readable').stateOf(content.stream).disturbed);
}

// All bytes, once, and whether they and their buffer are nobody else's.
async function gather(content) {
  if (content === null) return { bytes: new Uint8Array(0), own: true };
  if (isUsed(content)) throw new TypeError(USED);
  decode(content);
  if (content.stream === null) {
    content.used = true;
    return { bytes: content.bytes, own: false };
  }
  const streams = load('streams_readable');
  const state = streams.stateOf(content.stream);
  if (state.reader !== null) throw new TypeError(streams.LOCKED);
  const reader = streams.acquire(state);
  // Whoever brings the bytes may bring many at once.
  state.readWhole = true;
  const own = state.controller !== null && state.controller.givesAway === true;
  const chunks = new Queue();
  let total = 0;
  for (;;) {
    const { value, done } = await streams.readWhole(reader);
    if (done) break;
    const chunk = typeof value === 'object' && value !== null ? bytesIn(value) : null;
    if (chunk === null) {
      const error = new TypeError('This ReadableStream did not return bytes.');
      handled(streams.cancel(state, error));
      throw error;
    }
    chunks.push(chunk);
    total += chunk.byteLength;
  }
  const first = chunks.peek();
  if (chunks.length === 1 && first.byteLength === first.buffer.byteLength) return { bytes: first, own };
  const bytes = new Uint8Array(total);
  let at = 0;
  chunks.forEach((chunk) => {
    setBytes(bytes, chunk, at);
    at += chunk.byteLength;
  });
  return { bytes, own: true };
}

// A second body with the same content.
function clone(content) {
  if (content === null) return null;
  if (content.used) throw new TypeError('This ReadableStream is currently locked to a reader,');
  decode(content);
  if (content.stream === null) return new Content(content.bytes, null);
  const branches = load('streams_readable').split(content.stream);
  content.stream = branches[0];
  return new Content(null, branches[1]);
}

// What `from` held, which is then used.
function take(content) {
  if (content === null) return null;
  const { bytes, stream, coding } = content;
  const taken = new Content(bytes, stream === null ? null : load('streams_readable').takeOver(stream), coding);
  content.coding = null;
  content.used = true;
  return taken;
}

// The media type that a header says, of which there may be several (Fetch 2.2.2, "extract a MIME type").
function mediaTypeOf(header) {
  const values = header.split(', ');
  if (!hasFlag('blob_standard_mime_type')) return values.at(-1);
  let type = '';
  let essence = '';
  let charset = '';
  for (const value of values) {
    const parsed = load('fetch').mediaType(value);
    if (parsed === undefined || parsed === '*/*') continue;
    const [is, ...parameters] = parsed.split(';');
    const own = parameters.find((parameter) => parameter.startsWith('charset='));
    if (is !== essence) charset = own ?? '';
    type = is === essence && own === undefined && charset !== '' ? `${parsed};${charset}` : parsed;
    essence = is;
  }
  return type;
}

// What the rest of the platform may do with one.
let contentOf, setContent;
class Body {
  #content;
  constructor(key, content) {
    if (key !== token) illegalConstructor();
    this.#content = content;
  }
  get body() {
    if (!(#content in this)) illegalInvocation();
    const content = this.#content;
    if (content === null) return null;
    decode(content);
    if (content.stream === null) {
      content.stream = content.used ? usedStream() : streamOf(content.bytes);
    }
    return content.stream;
  }
  get bodyUsed() {
    if (!(#content in this)) illegalInvocation();
    return isUsed(this.#content);
  }
  async arrayBuffer() {
    if (!(#content in this)) illegalInvocation();
    return exactBuffer(await gather(this.#content));
  }
  async bytes() {
    if (!(#content in this)) illegalInvocation();
    return new Uint8Array(exactBuffer(await gather(this.#content)));
  }
  async text() {
    if (!(#content in this)) illegalInvocation();
    return decodeUtf8((await gather(this.#content)).bytes);
  }
  async json() {
    if (!(#content in this)) illegalInvocation();
    return primordials.jsonParse(decodeUtf8((await gather(this.#content)).bytes));
  }
  async formData() {
    if (!(#content in this)) illegalInvocation();
    if (isUsed(this.#content)) throw new TypeError(USED);
    const type = this.headers.get('content-type');
    return load('form_data').parse((await gather(this.#content)).bytes, type);
  }
  async blob() {
    if (!(#content in this)) illegalInvocation();
    const type = this.headers.get('content-type') ?? '';
    return load('blob').newBlob((await gather(this.#content)).bytes, mediaTypeOf(type));
  }

  static {
    contentOf = (body) => {
      return body.#content;
    };
    setContent = (body, content) => {
      body.#content = content;
    };
  }
}
expose(Body, 'Body');

// A buffer of its own with exactly these bytes. Shared content (a blob's, a clone's) is never handed out itself.
function exactBuffer({ bytes, own }) {
  return partsOf(own ? bytes : copyBytes(bytes)).buffer;
}

return { Body, token, Content, contentOf, setContent, extract, isUsed, clone, take, decode, lengthOf, streamOf, USED };
