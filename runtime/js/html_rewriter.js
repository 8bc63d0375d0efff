// HTMLRewriter: a Worker's handlers around a streaming parser, which waits for each of them (see html_rewriter/parser.rs).
'use strict';
const { TypeError, Uint8Array } = primordials;
const { illegalInvocation, badArgument, badField, isDictionary, expose } = load('webidl');
const streams = load('streams_readable');
const { bytesIn, deferred, handled } = load('streams_support');

// Output is passed on when there is this much, or when something is waited for. In bytes.
const OUTPUT_BYTES_MIN = 16 * 1024;

// Reads the handlers of `kinds` from an object, with the object to call them on.
function readHandlers(struct, kinds, object) {
  const handlers = [];
  for (let i = 0; i < kinds.length; i++) {
    const fn = object?.[kinds[i]];
    if (fn === undefined) continue;
    if (typeof fn !== 'function') badField(struct, kinds[i], 'function');
    handlers[i] = { kind: kinds[i], fn, self: object };
  }
  return handlers;
}

const ELEMENT_KINDS = ['element', 'comments', 'text'];
const DOCUMENT_KINDS = ['doctype', 'comments', 'text', 'end'];

class HTMLRewriter {
  // `{ selector, handlers }`, in the order they were given; no selector for the document's.
  #registered = [];

  on(selector, handlers) {
    if (!(#registered in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('HTMLRewriter', 'on', 1, 'string');
    const text = `${selector}`;
    if (arguments.length < 2 || !isDictionary(handlers)) badArgument('HTMLRewriter', 'on', 2, 'ElementContentHandlers');
    const read = readHandlers('ElementContentHandlers', ELEMENT_KINDS, handlers);
    native.checkSelector(text);
    this.#registered.push({ selector: text, handlers: read });
    return this;
  }
  onDocument(handlers) {
    if (!(#registered in this)) illegalInvocation();
    if (arguments.length < 1 || !isDictionary(handlers)) {
      badArgument('HTMLRewriter', 'onDocument', 1, 'DocumentContentHandlers');
    }
    const read = readHandlers('DocumentContentHandlers', DOCUMENT_KINDS, handlers);
    this.#registered.push({ selector: undefined, handlers: read });
    return this;
  }
  transform(response) {
    if (!(#registered in this)) illegalInvocation();
    const { Response, isResponse } = load('fetch');
    if (!isResponse(response)) badArgument('HTMLRewriter', 'transform', 1, 'Response');
    if (response.type === 'error') throw new TypeError('HTMLRewriter cannot transform an error response');
    const { body } = response;
    if (body === null) return response;
    const source = streams.stateOf(body);
    if (source.reader !== null) throw new TypeError('The ReadableStream has been locked to a reader.');
    const rewriting = new Rewriting(this.#registered, charset(response.headers.get('content-type')));
    const transformed = new Response(rewriting.readable, response);
    handled(rewriting.run(streams.acquire(source)));
    return transformed;
  }
}
expose(HTMLRewriter, 'HTMLRewriter');

function charset(type) {
  const found = /;\s*charset\s*=\s*(?:"([^"]*)"|([^;\s]*))/i.exec(type ?? '');
  return found === null ? 'utf-8' : (found[1] ?? found[2]);
}

// One document on its way through the parser.
class Rewriting {
  // By number: `{ kind, fn, self }`. Those of end tags come and go.
  #handlers = new Map();
  // By number: streams whose bytes are to go somewhere.
  #streams = new Map();
  #last = 0;
  #parser;
  #output = new Output();

  constructor(registered, encoding) {
    const numbers = [];
    for (let i = 0; i < registered.length; i++) {
      const { selector, handlers } = registered[i];
      const entry = [selector];
      for (let k = 0; k < handlers.length; k++) {
        if (handlers[k] !== undefined) entry[k + 1] = this.addHandler(handlers[k]);
      }
      numbers.push(entry);
    }
    this.#parser = native.open(numbers, encoding);
  }
  get readable() {
    return this.#output.readable;
  }
  addHandler(handler) {
    const number = this.#last++;
    this.#handlers.set(number, handler);
    return number;
  }
  removeHandler(number) {
    this.#handlers.delete(number);
  }
  addStream(stream) {
    const number = this.#last++;
    this.#streams.set(number, stream);
    return number;
  }

  // Moves the document from `reader` through the parser to the output, and ends all three.
  async run(reader) {
    try {
      for (;;) {
        const { value, done } = await streams.readWhole(reader);
        if (done) break;
        await this.#settle(native.write(this.#parser, bytesOf(value)));
        await this.#flush(0);
      }
      await this.#settle(native.end(this.#parser));
      await this.#flush(0);
      this.#output.close();
    } catch (error) {
      native.close(this.#parser);
      this.#output.fail(error);
      cancelLater(reader.stream, error);
    }
  }

  // Does what the parser asks for until it wants input, or has it all.
  async #settle(asked) {
    while (asked !== undefined) {
      if (asked < 0) {
        asked = await this.#fill(-1 - asked);
        continue;
      }
      const handler = this.#handlers.get(asked);
      if (handler.kind === 'endTag') this.#handlers.delete(asked);
      const { returned, end } = load('html_tokens').handle(this, this.#parser, handler);
      try {
        if (returned !== undefined) {
          await this.#flush(0);
          await returned;
        }
      } finally {
        end();
      }
      const flushed = this.#flush(OUTPUT_BYTES_MIN);
      if (flushed !== undefined) await flushed;
      asked = native.proceed(this.#parser);
    }
  }

  // Gives the parser all of a stream. What the parser asks for next.
  async #fill(number) {
    const stream = this.#streams.get(number);
    this.#streams.delete(number);
    const source = streams.stateOf(stream);
    if (source.reader !== null) throw new TypeError('The ReadableStream has been locked to a reader.');
    const reader = streams.acquire(source);
    for (;;) {
      const { value, done } = await streams.readWhole(reader);
      if (done) return native.content(this.#parser, undefined);
      try {
        native.content(this.#parser, bytesOf(value));
      } catch (error) {
        handled(streams.cancel(source, error));
        throw error;
      }
      await this.#flush(OUTPUT_BYTES_MIN);
    }
  }

  #flush(bytesMin) {
    const bytes = native.output(this.#parser, bytesMin);
    return bytes === undefined ? undefined : this.#output.put(new Uint8Array(bytes));
  }
}

// Cancels a stream in a turn of its own, as on the platform: what its writer has under way completes first.
function cancelLater(stream, error) {
  const cancel = () => handled(streams.cancel(stream, error));
  try {
    load('timers').startTimer(0, cancel);
  } catch {
    cancel();
  }
}

function bytesOf(chunk) {
  if (typeof chunk === 'string') return load('encoding').utf8(chunk);
  const bytes = typeof chunk === 'object' && chunk !== null ? bytesIn(chunk) : null;
  if (bytes === null) throw new TypeError('This ReadableStream did not return bytes.');
  return bytes;
}

// A readable stream that takes a chunk only when somebody wants one.
class Output {
  #inner;
  #wanted = null;
  #waiting = null;
  #reason = undefined;
  #canceled = false;

  #ended = false;

  constructor() {
    this.#inner = load('streams_native').createInner(this);
    this.readable = streams.wrap(this.#inner);
  }
  // As the stream's feed.
  next() {
    if (this.#ended) return null;
    this.#wanted = deferred();
    this.#waiting?.resolve(undefined);
    return this.#wanted.promise;
  }
  cancel(exception, reason) {
    this.#canceled = true;
    this.#reason = reason;
    this.#waiting?.resolve(undefined);
  }
  async put(bytes) {
    if (this.#wanted === null && !this.#canceled) {
      this.#waiting = deferred();
      await this.#waiting.promise;
      this.#waiting = null;
    }
    if (this.#canceled) throw this.#reason;
    const wanted = this.#wanted;
    this.#wanted = null;
    wanted.resolve(bytes);
  }
  close() {
    this.#ended = true;
    this.#wanted?.resolve(null);
  }
  fail(error) {
    this.#ended = true;
    if (!this.#canceled) this.#inner.controller.error(error);
    this.#wanted?.resolve(null);
  }
}

return { HTMLRewriter };
