// MessageChannel and MessagePort (HTML 9.4), as far as the platform has them: within one isolate, without transfer. As
// in Node.js, listening for `message` starts a port, and not listening any more pauses it.
'use strict';
const { apply, promiseThen, promiseResolve, Error, WeakRef } = primordials;
const { badArgument, illegalConstructor, illegalInvocation, isDictionary, expose } = load('webidl');
const { Event, EventTarget, newMessage, hasListeners, watchListeners, trust } = load('events');
const { cloneMessage } = load('structured_clone');

const PENDING = 0;
const STARTED = 1;
const CLOSED = 2;

const token = {};

// Runs `callback` after what runs now.
function soon(callback) {
  apply(promiseThen, promiseResolve(undefined), [callback]);
}

// What the rest of this room may do with one.
let entangle;
class MessagePort extends EventTarget {
  #state = PENDING;
  // Messages that came before the port was started.
  #queue = [];
  #onmessage = null;
  // The other port, which lives for as long as the program holds it.
  #other = null;

  constructor(key) {
    if (key !== token) illegalConstructor();
    super();
    watchListeners(this, (type) => {
      if (type !== 'message') return;
      if (this.#isListening()) this.#start();
      else if (this.#state === STARTED) this.#state = PENDING;
    });
  }

  postMessage(message, options) {
    if (!(#state in this)) illegalInvocation();
    if (!isDictionary(options)) badArgument('MessagePort', 'postMessage', 2, 'Array or PostMessageOptions');
    const transfer = primordials.isArray(options) ? options : options?.transfer;
    if (transfer !== undefined && transfer.length > 0) throw new Error('Transfer list is not supported');
    const copy = cloneMessage(message);
    const other = this.#other?.deref();
    if (other !== undefined) other.#deliver(copy);
  }
  close() {
    if (!(#state in this)) illegalInvocation();
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#queue = [];
    const other = this.#other?.deref();
    this.#other = null;
    if (other !== undefined) other.close();
    this.dispatchEvent(trust(new Event('close')));
  }
  start() {
    if (!(#state in this)) illegalInvocation();
    this.#start();
  }
  get onmessage() {
    if (!(#state in this)) illegalInvocation();
    return this.#onmessage;
  }
  set onmessage(handler) {
    if (!(#state in this)) illegalInvocation();
    if (typeof handler === 'function' || (typeof handler === 'object' && handler !== null)) {
      this.#onmessage = handler;
      this.#start();
    } else {
      this.#onmessage = null;
      if (!this.#isListening() && this.#state === STARTED) this.#state = PENDING;
    }
  }

  #isListening() {
    return this.#onmessage !== null || hasListeners(this, 'message');
  }
  #start() {
    if (this.#state !== PENDING) return;
    this.#state = STARTED;
    const queue = this.#queue;
    this.#queue = [];
    if (queue.length === 0) return;
    soon(() => {
      for (let i = 0; i < queue.length; i++) this.#dispatch(queue[i]);
    });
  }
  #deliver(message) {
    if (this.#state === PENDING) this.#queue.push(message);
    else if (this.#state === STARTED) soon(() => this.#dispatch(message));
  }
  #dispatch(data) {
    try {
      this.dispatchEvent(newMessage('message', { data, source: this }));
    } catch (error) {
      native.report(error);
      this.dispatchEvent(newMessage('messageerror', { data: error, source: this }));
    }
  }

  static {
    entangle = (first, second) => {
      first.#other = new WeakRef(second);
      second.#other = new WeakRef(first);
    };
  }
}
expose(MessagePort, 'MessagePort');

class MessageChannel {
  constructor() {
    const port2 = new MessagePort(token);
    const port1 = new MessagePort(token);
    entangle(port1, port2);
    readOnly(this, 'port2', port2);
    readOnly(this, 'port1', port1);
  }
}
expose(MessageChannel, 'MessageChannel');

function readOnly(object, name, value) {
  const descriptor = { __proto__: null, value, writable: false, enumerable: true, configurable: true };
  primordials.defineProperty(object, name, descriptor);
}

return { MessageChannel, MessagePort };
