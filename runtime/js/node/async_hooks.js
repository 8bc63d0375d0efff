// Node's `async_hooks`: values that follow the program through its asynchronous calls. What a program sets is a new
// context object with its symbol; see the room's Rust half for what carries it.
'use strict';
const { apply, Error, TypeError, defineProperty } = primordials;
const { frame, setFrame, invocation } = native;
const { expose, illegalInvocation, badArgument } = load('webidl');
const { has } = load('compat');

const OTHER_REQUEST =
  'Cannot call this AsyncLocalStorage bound function outside of the request in which it was created.';

// Calls `fn` in a context; the caller's own is back afterwards, whatever happens.
function runIn(context, fn, receiver, args) {
  const before = frame();
  setFrame(context);
  try {
    return apply(fn, receiver, args);
  } finally {
    setFrame(before);
  }
}

// Throws where a function bound in one request is called in another.
function sameRequest() {
  const origin = has('bind_asynclocalstorage_snapshot_to_request') ? invocation() : undefined;
  return () => {
    if (origin !== undefined && origin !== invocation()) throw new Error(OTHER_REQUEST);
  };
}

function needFunction(owner, method, fn, type = 'Function') {
  if (typeof fn !== 'function') badArgument(owner, method, 1, type);
}

function bound(context, fn, receiver = globalThis) {
  const check = context === undefined ? undefined : sameRequest();
  return (...args) => {
    check?.();
    return runIn(context, fn, receiver, args);
  };
}

class AsyncLocalStorage {
  #key = Symbol();
  #fallback;
  #name = '';

  constructor(options) {
    if (options === undefined || options === null) return;
    const { defaultValue, name } = options;
    this.#fallback = defaultValue;
    if (name !== undefined) this.#name = `${name}`;
  }

  run(store, callback, ...args) {
    if (!(#key in this)) illegalInvocation();
    if (typeof callback !== 'function') badArgument('AsyncLocalStorage', 'run', 2, 'function');
    return runIn({ __proto__: null, ...frame(), [this.#key]: store }, callback, globalThis, args);
  }

  exit(callback, ...args) {
    if (!(#key in this)) illegalInvocation();
    needFunction('AsyncLocalStorage', 'exit', callback, 'function');
    return this.run(undefined, callback, ...args);
  }

  getStore() {
    if (!(#key in this)) illegalInvocation();
    const context = frame();
    return context !== undefined && this.#key in context ? context[this.#key] : this.#fallback;
  }

  enterWith() {
    throw new Error('asyncLocalStorage.enterWith() is not implemented');
  }

  disable() {
    throw new Error('asyncLocalStorage.disable() is not implemented');
  }

  get name() {
    return this.#name;
  }

  static bind(fn) {
    needFunction('AsyncLocalStorage', 'bind', fn);
    return bound(frame(), fn);
  }

  static snapshot() {
    const context = frame();
    const check = sameRequest();
    return (fn, ...args) => {
      check();
      if (typeof fn !== 'function') throw new TypeError('The first argument must be a function');
      return runIn(context, fn, globalThis, args);
    };
  }
}
expose(AsyncLocalStorage, 'AsyncLocalStorage');

class AsyncResource {
  #context = frame();

  constructor(_type, options) {
    if (options?.triggerAsyncId !== undefined) {
      throw new TypeError("The 'triggerAsyncId' field on 'Options' is not supported by this runtime.");
    }
  }

  bind(fn, receiver) {
    if (!(#context in this)) illegalInvocation();
    needFunction('AsyncResource', 'bind', fn);
    const result = bound(this.#context, fn, receiver);
    defineProperty(result, 'asyncResource', {
      __proto__: null,
      value: this,
      writable: true,
      enumerable: true,
      configurable: true,
    });
    return result;
  }

  runInAsyncScope(fn, receiver = globalThis, ...args) {
    if (!(#context in this)) illegalInvocation();
    needFunction('AsyncResource', 'runInAsyncScope', fn, 'function');
    return runIn(this.#context, fn, receiver, args);
  }

  asyncId() {
    return 0;
  }
  triggerAsyncId() {
    return 0;
  }
  emitDestroy() {}

  static bind(fn, type, receiver) {
    needFunction('AsyncResource', 'bind', fn);
    return new AsyncResource(type).bind(fn, receiver);
  }
}
expose(AsyncResource, 'AsyncResource');

// What programs ask for at start-up and the platform does not track: hooks that never run, and ids that are 0.
class AsyncHook {
  enable() {
    return this;
  }
  disable() {
    return this;
  }
}
const createHook = () => new AsyncHook();
const executionAsyncId = () => 0;
const triggerAsyncId = () => 0;
const executionAsyncResource = () => ({ __proto__: null });

const members = {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  executionAsyncResource,
  triggerAsyncId,
};
return { module: { __proto__: null, default: { ...members }, ...members } };
