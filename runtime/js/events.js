// Event and EventTarget (DOM 2), without a tree: a target is its own whole path. As on the platform, an exception
// from a listener ends the dispatch and leaves `dispatchEvent`, and returning `true` is `preventDefault()`.
'use strict';
const { apply, defineProperty, stringToWellFormed, TypeError } = primordials;
const { illegalInvocation, illegalConstructor, badArgument, badConstructorArgument, badField, isDictionary, expose, unlengthen, constants } =
  load('webidl');
const { has } = load('compat');

const NONE = 0;
const AT_TARGET = 2;

// What the rest of the platform may do with one.
let beginDispatch, endDispatch, isStopped, isPrevented, trust, isEvent;
class Event {
  #type;
  #bubbles;
  #cancelable;
  #composed;
  #target;
  #dispatching = false;
  #stopped = false;
  #propagationStopped = false;
  #prevented = false;
  #trusted = false;

  constructor(type, init) {
    if (arguments.length < 1) badConstructorArgument(new.target.name, 1, 'string');
    if (!isDictionary(init)) badConstructorArgument(new.target.name, 2, 'Init');
    this.#type = `${type}`;
    this.#bubbles = !!init?.bubbles;
    this.#cancelable = !!init?.cancelable;
    this.#composed = !!init?.composed;
  }

  get type() {
    if (!(#type in this)) illegalInvocation();
    return this.#type;
  }
  get eventPhase() {
    if (!(#type in this)) illegalInvocation();
    return this.#dispatching ? AT_TARGET : NONE;
  }
  get composed() {
    if (!(#type in this)) illegalInvocation();
    return this.#composed;
  }
  get bubbles() {
    if (!(#type in this)) illegalInvocation();
    return this.#bubbles;
  }
  get cancelable() {
    if (!(#type in this)) illegalInvocation();
    return this.#cancelable;
  }
  get defaultPrevented() {
    if (!(#type in this)) illegalInvocation();
    return this.#cancelable && this.#prevented;
  }
  get returnValue() {
    if (!(#type in this)) illegalInvocation();
    return !(this.#cancelable && this.#prevented);
  }
  get currentTarget() {
    if (!(#type in this)) illegalInvocation();
    return this.#dispatching || !has('pedantic_wpt') ? this.#target : undefined;
  }
  get target() {
    if (!(#type in this)) illegalInvocation();
    return this.#target;
  }
  get srcElement() {
    if (!(#type in this)) illegalInvocation();
    return this.#target;
  }
  get timeStamp() {
    if (!(#type in this)) illegalInvocation();
    return 0;
  }
  get isTrusted() {
    if (!(#type in this)) illegalInvocation();
    return this.#trusted;
  }
  get cancelBubble() {
    if (!(#type in this)) illegalInvocation();
    return this.#propagationStopped;
  }
  set cancelBubble(value) {
    if (!(#type in this)) illegalInvocation();
    if (value) this.#propagationStopped = true;
  }
  stopImmediatePropagation() {
    if (!(#type in this)) illegalInvocation();
    this.#stopped = true;
    this.#propagationStopped = true;
  }
  preventDefault() {
    if (!(#type in this)) illegalInvocation();
    this.#prevented = true;
  }
  stopPropagation() {
    if (!(#type in this)) illegalInvocation();
    this.#propagationStopped = true;
  }
  composedPath() {
    if (!(#type in this)) illegalInvocation();
    return this.#dispatching ? [this.#target] : [];
  }

  static {
    beginDispatch = (event, target) => {
      if (event.#dispatching) {
        const { DOMException } = load('dom_exception');
        throw new DOMException('The event is already being dispatched.', 'InvalidStateError');
      }
      event.#dispatching = true;
      event.#target = target;
      event.#prevented = false;
    };
    endDispatch = (event) => {
      event.#dispatching = false;
    };
    isStopped = (event) => {
      return event.#stopped;
    };
    // As on the platform, the dispatcher is told even when the event says that it cannot be cancelled.
    isPrevented = (event) => {
      return event.#prevented;
    };
    trust = (event) => {
      event.#trusted = true;
      return event;
    };
    isEvent = (value) => {
      return typeof value === 'object' && value !== null && #type in value;
    };
  }
}
expose(Event, 'Event');
constants(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 });

// What only the platform makes: events that a handler may keep going.
class ExtendableEvent extends Event {
  constructor() {
    illegalConstructor();
  }
  waitUntil(promise) {
    if (!isEvent(this)) illegalInvocation();
    load('workers').waitUntil(promise);
  }
}
expose(ExtendableEvent, 'ExtendableEvent');

class CustomEvent extends Event {
  #detail;
  constructor(type, init) {
    super(...arguments);
    this.#detail = init?.detail;
  }
  get detail() {
    if (!(#detail in this)) illegalInvocation();
    return this.#detail;
  }
}
expose(CustomEvent, 'CustomEvent');

class ErrorEvent extends Event {
  #init;
  constructor(type, init) {
    super(...arguments);
    this.#init = {
      filename: init?.filename === undefined ? '' : `${init.filename}`,
      message: init?.message === undefined ? '' : `${init.message}`,
      lineno: init?.lineno === undefined ? 0 : init.lineno | 0,
      colno: init?.colno === undefined ? 0 : init.colno | 0,
      error: init?.error,
    };
  }
  get filename() {
    if (!(#init in this)) illegalInvocation();
    return this.#init.filename;
  }
  get message() {
    if (!(#init in this)) illegalInvocation();
    return this.#init.message;
  }
  get lineno() {
    if (!(#init in this)) illegalInvocation();
    return this.#init.lineno;
  }
  get colno() {
    if (!(#init in this)) illegalInvocation();
    return this.#init.colno;
  }
  get error() {
    if (!(#init in this)) illegalInvocation();
    return this.#init.error;
  }
}
expose(ErrorEvent, 'ErrorEvent');

// MessageEvent, CloseEvent and PromiseRejectionEvent have their members on the instance, as on the platform.
function readOnly(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

class MessageEvent extends Event {
  constructor(type, init) {
    super(...arguments);
    readOnly(this, 'ports', init?.ports === undefined ? [] : [...init.ports]);
    readOnly(this, 'source', init?.source ?? null);
    readOnly(this, 'lastEventId', init?.lastEventId === undefined ? '' : `${init.lastEventId}`);
    readOnly(this, 'origin', init?.origin === undefined ? '' : `${init.origin}`);
    readOnly(this, 'data', init?.data === undefined ? null : init.data);
  }
}
expose(MessageEvent, 'MessageEvent');

// A message that the platform delivers. It has an origin only where it came from a URL.
function newMessage(type, { data, origin, lastEventId, source }) {
  const event = new MessageEvent(type, { data, lastEventId, source });
  readOnly(event, 'origin', origin ?? null);
  return trust(event);
}

class CloseEvent extends Event {
  constructor(type, init) {
    super(...arguments);
    readOnly(this, 'wasClean', !!init?.wasClean);
    readOnly(this, 'reason', init?.reason === undefined ? '' : apply(stringToWellFormed, `${init.reason}`, []));
    readOnly(this, 'code', init?.code === undefined ? 0 : init.code & 0xffff);
  }
}
expose(CloseEvent, 'CloseEvent');

const rejectionToken = {};
class PromiseRejectionEvent extends Event {
  constructor(type, init, token) {
    if (token !== rejectionToken) illegalConstructor();
    super(type);
    readOnly(this, 'promise', init.promise);
    readOnly(this, 'reason', init.reason);
  }
}
expose(PromiseRejectionEvent, 'PromiseRejectionEvent');

// One registered listener. `call` is what to call, found when it was registered, with `receiver` as `this`.
class Listener {
  constructor(identity, call, receiver, once) {
    this.identity = identity;
    this.call = call;
    this.receiver = receiver;
    this.once = once;
    this.removed = false;
  }
}

// What the rest of the platform may do with one.
let clearListeners, hasListeners, manageHandlers, onFirstListener, watchListeners;
class EventTarget {
  // Map from type to an array of listeners in order of registration; made when first needed.
  #listeners = null;
  // Whether the class keeps its `on*` handlers among the listeners itself.
  #managed = false;
  // Called when the first listener comes.
  #onFirst = null;
  // Called with a type when a listener of that type was added or removed.
  #watch = null;

  addEventListener(type, listener, options) {
    if (!(#listeners in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('EventTarget', 'addEventListener', 1, 'string');
    const name = `${type}`;
    if (listener === null) return;
    let call;
    let receiver = this === globalTarget ? globalThis : this;
    if (typeof listener === 'function') {
      call = listener;
    } else if (typeof listener === 'object') {
      call = listener.handleEvent;
      if (typeof call !== 'function') badField('HandlerObject', 'handleEvent', 'function');
      receiver = listener;
    } else {
      badArgument('EventTarget', 'addEventListener', 2, 'function or HandlerObject');
    }
    let once = false;
    let signal;
    if (typeof options === 'object' && options !== null) {
      if (options.capture) throw new TypeError('addEventListener(): options.capture must be false.');
      once = !!options.once;
      signal = options.signal;
      if (signal !== undefined && !load('abort').isAbortSignal(signal)) {
        badField('AddEventListenerOptions', 'signal', 'AbortSignal');
      }
    } else if (options) {
      throw new TypeError('addEventListener(): useCapture must be false.');
    }
    if (signal !== undefined && signal.aborted) return;
    const listeners = (this.#listeners ??= new Map());
    let list = listeners.get(name);
    if (list === undefined) listeners.set(name, (list = []));
    for (let i = 0; i < list.length; i++) if (list[i].identity === listener) return;
    list.push(new Listener(listener, call, receiver, once));
    this.#watch?.(name);
    if (this.#onFirst !== null) {
      const notify = this.#onFirst;
      this.#onFirst = null;
      notify();
    }
    if (signal !== undefined) {
      load('abort').onAbort(signal, () => EventTarget.prototype.removeEventListener.call(this, name, listener));
    }
  }

  removeEventListener(type, listener, options) {
    if (!(#listeners in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('EventTarget', 'removeEventListener', 1, 'string');
    const name = `${type}`;
    if (listener === null) return;
    if (typeof listener !== 'function' && typeof listener !== 'object') {
      badArgument('EventTarget', 'removeEventListener', 2, 'object');
    }
    if (typeof options === 'object' && options !== null) {
      if (options.capture) throw new TypeError('removeEventListener(): options.capture must be false.');
    } else if (options) {
      throw new TypeError('removeEventListener(): useCapture must be false.');
    }
    const list = this.#listeners?.get(name);
    if (list === undefined) return;
    for (let i = 0; i < list.length; i++) {
      if (list[i].identity === listener) {
        list[i].removed = true;
        list.splice(i, 1);
        this.#watch?.(name);
        return;
      }
    }
  }

  dispatchEvent(event) {
    if (!(#listeners in this)) illegalInvocation();
    if (!isEvent(event)) badArgument('EventTarget', 'dispatchEvent', 1, 'Event');
    const target = this === globalTarget ? globalThis : this;
    beginDispatch(event, target);
    try {
      const { type } = event;
      const handler = this.#managed ? undefined : target[`on${type}`];
      // Listeners that are added meanwhile wait for the next event; those removed meanwhile are skipped.
      const list = this.#listeners?.get(type)?.slice();
      if (typeof handler === 'function') this.#invoke(event, handler, target);
      if (list !== undefined) {
        for (let i = 0; i < list.length && !isStopped(event); i++) {
          const listener = list[i];
          if (listener.removed) continue;
          if (listener.once) EventTarget.prototype.removeEventListener.call(this, type, listener.identity);
          this.#invoke(event, listener.call, listener.receiver);
        }
      }
    } finally {
      endDispatch(event);
    }
    return !isPrevented(event);
  }

  #invoke(event, call, receiver) {
    const result = apply(call, receiver, [event]);
    if (result === true) event.preventDefault();
  }

  static {
    clearListeners = (target) => {
      target.#listeners = null;
    };
    onFirstListener = (target, notify) => {
      target.#onFirst = notify;
    };
    watchListeners = (target, watch) => {
      target.#watch = watch;
    };
    manageHandlers = (target) => {
      target.#managed = true;
    };
    hasListeners = (target, type) => {
      return (target.#listeners?.get(type)?.length ?? 0) > 0;
    };
  }
}
expose(EventTarget, 'EventTarget');

// The global scope is an event target whose listeners live here.
const globalTarget = new EventTarget();

// The methods as global functions, which may be called without a receiver.
function globalMethod(name) {
  const method = EventTarget.prototype[name];
  const { [name]: fn } = {
    [name]() {
      return apply(method, this === undefined || this === globalThis ? globalTarget : this, arguments);
    },
  };
  return fn;
}
const addEventListener = globalMethod('addEventListener');
const removeEventListener = globalMethod('removeEventListener');
const dispatchEvent = globalMethod('dispatchEvent');

function reportError(error) {
  if (arguments.length < 1) badArgument('ServiceWorkerGlobalScope', 'reportError', 1, 'Value');
  const { message, filename, lineno, colno } = native.describe(error);
  const event = trust(new ErrorEvent('error', { message, filename, lineno, colno, error, cancelable: true }));
  if (globalTarget.dispatchEvent(event)) native.report(error);
}

// A promise was rejected without a handler (or got one later). `true` when a listener prevented the default.
function dispatchRejection(type, promise, reason) {
  if (!hasListeners(globalTarget, type) && typeof globalThis[`on${type}`] !== 'function') return false;
  const event = trust(new PromiseRejectionEvent(type, { promise, reason }, rejectionToken));
  return !globalTarget.dispatchEvent(event);
}

return {
  Event,
  EventTarget,
  CustomEvent,
  ExtendableEvent,
  ErrorEvent,
  MessageEvent,
  newMessage,
  CloseEvent,
  PromiseRejectionEvent,
  addEventListener,
  removeEventListener,
  dispatchEvent,
  reportError: unlengthen(reportError),
  dispatchRejection,
  trust,
  clearListeners,
  hasListeners,
  manageHandlers,
  onFirstListener,
  watchListeners,
};
