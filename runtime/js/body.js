// The body of a Request or Response (Fetch 2.2.4 and 5.3): bytes in hand until somebody asks for a stream of them.
'use strict';
const { isView, promiseResolve, TypeError, Uint8Array } = primordials;
const { illegalInvocation, illegalConstructor, expose } = load('webidl');
const { utf8, decodeUtf8 } = load('encoding');
const { has } = load('compat');

const USED = 'Body has already been used. It can only be used once. Use tee() first if you need to read it twice.';
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

// A byte stream of bytes that nobody may change: they are copied out as they are read.
function streamOf(bytes) {
  const { wrap } = load('streams_readable');
  const { createInner } = load('streams_byte');
  const inner = createInner(
    (controller) => {
      if (bytes.byteLength > 0) controller.enqueue(bytes.slice());
      controller.close();
      if (controller.pending.length > 0) controller.respond(0);
      return promiseResolve(undefined);
    },
    () => promiseResolve(undefined),
  );
  inner.length = BigInt(bytes.byteLength);
  return wrap(inner);
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
    if (isView(value)) {
      return { content: new Content(new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice(), null), type: null };
    }
    const buffer = load('streams_byte').bufferView(value);
    if (buffer !== null) return { content: new Content(buffer.slice(), null), type: null };
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
  }
  if (isIterable(value)) {
    return { content: new Content(null, load('streams_readable').ReadableStream.from(value)), type: null };
  }
  return { content: new Content(utf8(`${value}`), null), type: 'text/plain;charset=UTF-8' };
}

// Whether a body is what an object gives when it is iterated over, and not the text that it turns into: objects with a
// conversion of their own are texts.
function isIterable(value) {
  if (typeof value !== 'object' || !has('fetch_iterable_type_support')) return false;
  if (typeof value[Symbol.asyncIterator] === 'function') return true;
  if (isBoxedString(value)) return false;
  if (!primordials.isArray(value) && has('fetch_iterable_type_support_override_adjustment')) {
    const plain = primordials.objectPrototype;
    if (value.toString !== plain.toString || value[Symbol.toPrimitive] !== plain[Symbol.toPrimitive]) return false;
  }
  return typeof value[Symbol.iterator] === 'function';
}

function isBoxedString(value) {
  try {
    primordials.apply(primordials.stringValueOf, value, []);
    return true;
  } catch {
    return false;
  }
}

function isUsed(content) {
  if (content === null) return false;
  return content.used || (content.stream !== null && load('streams_readable').stateOf(content.stream).disturbed);
}

// All bytes, once.
async function readAll(content) {
  if (content === null) return new Uint8Array(0);
  if (isUsed(content)) throw new TypeError(USED);
  decode(content);
  if (content.stream === null) {
    content.used = true;
    return content.bytes;
  }
  const streams = load('streams_readable');
  const state = streams.stateOf(content.stream);
  if (state.reader !== null) throw new TypeError(streams.LOCKED);
  const reader = streams.acquire(state, 'default');
  // Whoever brings the bytes may bring many at once.
  state.readWhole = true;
  const chunks = [];
  let total = 0;
  for (;;) {
    const { value, done } = await streams.readPromise(reader);
    if (done) break;
    const chunk = isView(value)
      ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      : load('streams_byte').bufferView(value);
    if (chunk === null) {
      const error = new TypeError('This ReadableStream did not return bytes.');
      load('streams_support').handled(streams.cancel(state, error));
      throw error;
    }
    chunks.push(chunk);
    total += chunk.byteLength;
  }
  if (chunks.length === 1 && chunks[0].byteLength === chunks[0].buffer.byteLength) return chunks[0];
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

// A second body with the same content.
function clone(content) {
  if (content === null) return null;
  if (content.used) throw new TypeError('This ReadableStream is currently locked to a reader,');
  decode(content);
  if (content.stream === null) return new Content(content.bytes, null);
  const [mine, other] = content.stream.tee();
  content.stream = mine;
  return new Content(null, other);
}

// What `from` held, which is then used.
function take(content) {
  if (content === null) return null;
  const taken = new Content(content.bytes, content.stream, content.coding);
  content.coding = null;
  if (content.stream !== null) {
    // The stream itself moves; the old owner keeps one that has been used.
    content.stream = null;
    content.bytes = new Uint8Array(0);
  }
  content.used = true;
  return taken;
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
      content.stream = streamOf(content.used ? new Uint8Array(0) : content.bytes);
      if (content.used) content.stream.cancel();
    }
    return content.stream;
  }
  get bodyUsed() {
    if (!(#content in this)) illegalInvocation();
    return isUsed(this.#content);
  }
  async arrayBuffer() {
    if (!(#content in this)) illegalInvocation();
    return exactBuffer(await readAll(this.#content));
  }
  async bytes() {
    if (!(#content in this)) illegalInvocation();
    return new Uint8Array(exactBuffer(await readAll(this.#content)));
  }
  async text() {
    if (!(#content in this)) illegalInvocation();
    return decodeUtf8(await readAll(this.#content));
  }
  async json() {
    if (!(#content in this)) illegalInvocation();
    return primordials.jsonParse(decodeUtf8(await readAll(this.#content)));
  }
  async formData() {
    if (!(#content in this)) illegalInvocation();
    if (isUsed(this.#content)) throw new TypeError(USED);
    const type = this.headers.get('content-type');
    return load('form_data').parse(await readAll(this.#content), type);
  }
  async blob() {
    if (!(#content in this)) illegalInvocation();
    // Of several types the last counts.
    const type = (this.headers.get('content-type') ?? '').split(', ').at(-1);
    return load('blob').newBlob(await readAll(this.#content), type);
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
function exactBuffer(bytes) {
  return bytes.slice().buffer;
}

return { Body, token, Content, contentOf, setContent, extract, isUsed, readAll, clone, take, decode, lengthOf, streamOf, USED };
