// What HTMLRewriter's handlers are given: each is good until its handler is done.
'use strict';
const { apply, construct, TypeError, Error } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, isDictionary, expose, iteratorClass, done } = load('webidl');

// What a token stands for, in a private field of objects that V8 has made from a template.
class Stamp extends function (object) {
  return object;
} {
  #live;
  constructor(object, live) {
    super(object);
    this.#live = live;
  }
  static of(object) {
    return typeof object === 'object' && object !== null && #live in object ? object.#live : null;
  }
}

class Live {
  // Of a token whose handler is done there is nothing.
  ended = false;
  // Changes to the attributes: iterators over them end with the next.
  changes = 0;
  // The number of the one handler of the element's end tag.
  endTag = undefined;
  constructor(kind, rewriting, parser) {
    this.kind = kind;
    this.rewriting = rewriting;
    this.parser = parser;
  }
}

function brand(token, kind) {
  const live = Stamp.of(token);
  if (live === null || live.kind !== kind) illegalInvocation();
  return live;
}

function alive(live) {
  if (live.ended) {
    throw new TypeError(
      'This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.',
    );
  }
  return live.parser;
}

// The stream of a response, or a stream itself: `undefined` for a response without a body, `null` for anything else.
function streamOf(content) {
  if (typeof content !== 'object' || content === null) return null;
  if (load('fetch').isResponse(content)) return content.body ?? undefined;
  return load('streams_readable').isReadableStream(content) ? content : null;
}

// `arguments_` are those of `token.place(content, options)`.
function put(token, kind, place, arguments_) {
  const live = brand(token, kind);
  const { 0: content, 1: options } = arguments_;
  if (arguments_.length < 1) badArgument(kind, place, 1, 'string or JsReadableStream or Response');
  const stream = streamOf(content);
  const text = stream === null ? `${content}` : '';
  if (!isDictionary(options)) badArgument(kind, place, 2, 'ContentOptions');
  const html = !!options?.html;
  const parser = alive(live);
  if (stream === null) {
    if (kind === 'DocumentEnd') native.append(parser, text, html);
    else native.insert(parser, place, text, html);
    return token;
  }
  if (kind === 'Comment' || kind === 'DocumentEnd') {
    throw new TypeError(
      'Replacing content in HTML comments using a ReadableStream or Response object is not implemented. You must provide a string.',
    );
  }
  if (stream !== undefined) native.insertStream(parser, place, live.rewriting.addStream(stream), html);
  return token;
}

function remove(token, kind) {
  native.remove(alive(brand(token, kind)));
  return token;
}

function attribute(token, method, name, given) {
  const live = brand(token, 'Element');
  if (given < 1) badArgument('Element', method, 1, 'string');
  return { live, text: `${name}` };
}

class Element {
  constructor() {
    illegalConstructor();
  }
  getAttribute(name) {
    const { live, text } = attribute(this, 'getAttribute', name, arguments.length);
    return native.getAttribute(alive(live), text);
  }
  hasAttribute(name) {
    const { live, text } = attribute(this, 'hasAttribute', name, arguments.length);
    return native.hasAttribute(alive(live), text);
  }
  setAttribute(name, value) {
    const { live, text } = attribute(this, 'setAttribute', name, arguments.length);
    if (arguments.length < 2) badArgument('Element', 'setAttribute', 2, 'string');
    native.setAttribute(alive(live), text, `${value}`);
    live.changes++;
    return this;
  }
  removeAttribute(name) {
    const { live, text } = attribute(this, 'removeAttribute', name, arguments.length);
    native.removeAttribute(alive(live), text);
    live.changes++;
    return this;
  }
  before() {
    return put(this, 'Element', 'before', arguments);
  }
  after() {
    return put(this, 'Element', 'after', arguments);
  }
  prepend() {
    return put(this, 'Element', 'prepend', arguments);
  }
  append() {
    return put(this, 'Element', 'append', arguments);
  }
  replace() {
    return put(this, 'Element', 'replace', arguments);
  }
  remove() {
    return remove(this, 'Element');
  }
  removeAndKeepContent() {
    native.unwrap(alive(brand(this, 'Element')));
    return this;
  }
  setInnerContent() {
    return put(this, 'Element', 'setInnerContent', arguments);
  }
  onEndTag(handler) {
    const live = brand(this, 'Element');
    if (typeof handler !== 'function') badArgument('Element', 'onEndTag', 1, 'function');
    const parser = alive(live);
    const number = live.rewriting.addHandler({ kind: 'endTag', fn: handler, self: globalThis });
    if (live.endTag !== undefined) live.rewriting.removeHandler(live.endTag);
    live.endTag = number;
    native.onEndTag(parser, number);
  }
}

class EndTag {
  constructor() {
    illegalConstructor();
  }
  before() {
    return put(this, 'EndTag', 'before', arguments);
  }
  after() {
    return put(this, 'EndTag', 'after', arguments);
  }
  remove() {
    return remove(this, 'EndTag');
  }
}

class Comment {
  constructor() {
    illegalConstructor();
  }
  before() {
    return put(this, 'Comment', 'before', arguments);
  }
  after() {
    return put(this, 'Comment', 'after', arguments);
  }
  replace() {
    return put(this, 'Comment', 'replace', arguments);
  }
  remove() {
    return remove(this, 'Comment');
  }
}

class Text {
  constructor() {
    illegalConstructor();
  }
  before() {
    return put(this, 'Text', 'before', arguments);
  }
  after() {
    return put(this, 'Text', 'after', arguments);
  }
  replace() {
    return put(this, 'Text', 'replace', arguments);
  }
  remove() {
    return remove(this, 'Text');
  }
}

class Doctype {
  constructor() {
    illegalConstructor();
  }
}

class DocumentEnd {
  constructor() {
    illegalConstructor();
  }
  append() {
    return put(this, 'DocumentEnd', 'append', arguments);
  }
}

const newAttributesIterator = iteratorClass('AttributesIterator', (state) => {
  const { live, changes, entries } = state;
  alive(live);
  if (changes !== live.changes) {
    throw new Error(
      'The attributes of this element have been modified during iteration. You must create a new iterator after modifying attributes.',
    );
  }
  if (state.next >= entries.length) return done;
  const at = state.next;
  state.next += 2;
  return [entries[at], entries[at + 1]];
});

function read(token, name) {
  const live = Stamp.of(token);
  if (live === null) illegalInvocation();
  const parser = alive(live);
  if (name !== 'attributes') return native.read(parser, name);
  return newAttributesIterator({ live, changes: live.changes, entries: native.attributes(parser), next: 0 });
}

function write(token, name, value) {
  const live = Stamp.of(token);
  if (live === null) illegalInvocation();
  const text = `${value}`;
  native.rename(alive(live), text);
}

// Its own properties: those that can be assigned, then those that cannot. V8 lists them the other way round, as the
// platform does.
function tokenClass(Class, name, writable, readOnly) {
  expose(Class, name, { is: (object) => Stamp.of(object)?.kind === name });
  const Template = native.instances(writable, readOnly, read, write);
  return [name, (live) => new Stamp(construct(Template, [], Class), live)];
}

const makers = {
  __proto__: null,
  element: tokenClass(Element, 'Element', ['tagName'], ['attributes', 'removed', 'namespaceURI']),
  endTag: tokenClass(EndTag, 'EndTag', ['name'], []),
  comments: tokenClass(Comment, 'Comment', ['text'], ['removed']),
  text: tokenClass(Text, 'Text', [], ['text', 'lastInTextNode', 'removed']),
  doctype: tokenClass(Doctype, 'Doctype', [], ['name', 'publicId', 'systemId']),
  end: tokenClass(DocumentEnd, 'DocumentEnd', [], []),
};

// Calls a handler with the token that the parser waits with. `settled` is undefined, or what the handler returned and
// is to be waited for; `end()` is to be called once it is done.
function handle(rewriting, parser, { kind, fn, self }) {
  const { 0: name, 1: make } = makers[kind];
  const live = new Live(name, rewriting, parser);
  const end = () => {
    live.ended = true;
  };
  try {
    const returned = apply(fn, self, [make(live)]);
    const pending = (typeof returned === 'object' && returned !== null) || typeof returned === 'function';
    return { returned: pending ? returned : undefined, end };
  } catch (error) {
    end();
    throw error;
  }
}

return { handle };
