// Spans a program opens, and how the trace of an invocation begins and goes on. Rust keeps what was told; nothing of this room
// is loaded for an invocation that nobody traces and that opens no span.
'use strict';
const { apply, promiseThen, promiseResolve, objectKeys, jsonStringify } = primordials;
const { illegalConstructor, illegalInvocation, badArgument, expose } = load('webidl');

const token = {};
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// --- What started an invocation -------------------------------------------------------------------------------------

function beginFetch({ method, url, headers, cf }) {
  const lines = [];
  for (let i = 0; i < headers.length; i++) {
    lines[2 * i] = headers[i][0];
    lines[2 * i + 1] = headers[i][1];
  }
  native.beginFetch(method, url, lines, cf === undefined ? undefined : jsonStringify(cf));
}

function pathText(path) {
  let text = '';
  for (let i = 0; i < path.length; i++) text += i === 0 ? path[i] : `.${path[i]}`;
  return text;
}

// Wraps what serves a call on an entrypoint, so that the trace says what it was and when it returned. `event` names the
// event that the call is, if it is more than a call.
function around(path, args, event, call) {
  if (event === 'fetch') beginFetch(args[0]);
  else if (event === 'connect') native.beginConnect();
  else native.beginRpc(pathText(path));
  return () =>
    apply(promiseThen, promiseResolve(call()), [
      (result) => {
        native.returned(event === 'fetch' ? result.status : undefined);
        return result;
      },
    ]);
}

// --- Spans ----------------------------------------------------------------------------------------------------------

class Span {
  #invocation;
  // Undefined: it is not traced.
  #id;
  constructor(given, invocation, id) {
    if (given !== token) illegalConstructor();
    this.#invocation = invocation;
    this.#id = id;
  }
  get isTraced() {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    return this.#id !== undefined && native.isOpen(this.#invocation, this.#id);
  }
  setAttribute(key, value) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Span', 'setAttribute', 1, 'string');
    const name = `${key}`;
    if (value === undefined) return this;
    const scalar = typeof value === 'boolean' || typeof value === 'number' ? value : `${value}`;
    if (this.#id !== undefined) native.setAttribute(this.#invocation, this.#id, name, scalar);
    return this;
  }
  setAttributes(attributes) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (typeof attributes !== 'object' || attributes === null) badArgument('Span', 'setAttributes', 1, 'object');
    const keys = objectKeys(attributes);
    for (let i = 0; i < keys.length; i++) this.setAttribute(keys[i], attributes[keys[i]]);
    return this;
  }
  end() {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (this.#id !== undefined) native.closeSpan(this.#invocation, this.#id);
  }
}
expose(Span, 'Span', { is: (object) => object instanceof Span });

// A new span inside the one the program is in. `id` is undefined where it is not traced.
function open(name) {
  const id = native.openSpan(name);
  return { __proto__: null, id, span: new Span(token, native.currentInvocation(), id) };
}

// Calls `callback` with a span and further arguments, inside that span.
function within({ id, span }, callback, rest) {
  const args = [span];
  for (let i = 0; i < rest.length; i++) args[i + 1] = rest[i];
  if (id === undefined) return apply(callback, globalThis, args);
  const before = native.frame();
  native.setFrame({ __proto__: null, ...before, span: id });
  try {
    return apply(callback, globalThis, args);
  } finally {
    native.setFrame(before);
  }
}

function isPromise(value) {
  return isObject(value) && native.isPromise(value);
}

function enter(name, callback, rest) {
  const opened = open(name);
  let result;
  try {
    result = within(opened, callback, rest);
  } catch (error) {
    opened.span.end();
    throw error;
  }
  if (!isPromise(result)) {
    opened.span.end();
    return result;
  }
  return apply(promiseThen, result, [
    (value) => {
      opened.span.end();
      return value;
    },
    (error) => {
      opened.span.end();
      throw error;
    },
  ]);
}

function check(method, count, callback) {
  if (count < 1) badArgument('Tracing', method, 1, 'string');
  if (typeof callback !== 'function') badArgument('Tracing', method, 2, 'Function');
}

// What the methods of `tracing` do.
function enterSpan(name, callback, ...rest) {
  check('enterSpan', arguments.length, callback);
  return enter(`${name}`, callback, rest);
}

function startActiveSpan(name, callback, ...rest) {
  check('startActiveSpan', arguments.length, callback);
  return within(open(`${name}`), callback, rest);
}

function startSpan(name) {
  if (arguments.length < 1) badArgument('Tracing', 'startSpan', 1, 'string');
  return open(`${name}`).span;
}

// Notes what the platform itself knows of a span: texts, booleans, and whole numbers, which it has as `bigint`s.
function note({ id }, key, value) {
  if (id === undefined || value === undefined || value === null) return;
  native.setAttribute(native.currentInvocation(), id, key, typeof value === 'number' ? BigInt(value) : value);
}

// --- Modules for extensions and wrapped bindings --------------------------------------------------------------------

const { tracing } = load('workers');
const helpers = {
  __proto__: null,
  withSpan: (name, callback) => tracing.enterSpan(name, callback),
  startActiveSpan: (name, callback) => tracing.startActiveSpan(name, callback),
};

return {
  Span,
  methods: { __proto__: null, enterSpan, startActiveSpan, startSpan },
  around,
  open,
  note,
  within,
  // A message that was published on a diagnostics channel.
  publish: native.publish,
  traced: native.traced,
  module: { __proto__: null, default: tracing },
  helpers,
  testWrapper: { __proto__: null, default: () => ({ ...helpers }) },
};
