// Node's `timers`: the platform's timers behind objects.
'use strict';
const { Error, symbolDispose } = primordials;
const { setTimeout: startOnce, setInterval: startRepeating, clearTimeout: cancel } = load('timers');
const { needFunction } = load('node_errors');

let stop;

class Timeout {
  #id;
  #start;
  #isRef;

  static {
    stop = (timeout) => cancel(timeout.#id);
  }

  constructor(callback, delay = 1, args = [], repeat = false, isRef = false) {
    const start = repeat ? startRepeating : startOnce;
    this.#start = () => start(callback, delay * 1, ...args);
    this.#isRef = isRef;
    this.#id = this.#start();
  }

  refresh() {
    stop(this);
    this.#id = this.#start();
    return this;
  }

  // Nothing keeps a Worker running but its requests, so these only remember what was asked.
  ref() {
    this.#isRef = true;
    return this;
  }
  unref() {
    this.#isRef = false;
    return this;
  }
  hasRef() {
    return this.#isRef;
  }

  close() {
    stop(this);
    return this;
  }

  [symbolDispose]() {
    stop(this);
  }

  [Symbol.toPrimitive]() {
    return this.#id;
  }
}

let stopImmediate;

class Immediate {
  #timer;
  #isRef = true;

  static {
    stopImmediate = (immediate) => cancel(immediate.#timer);
  }

  constructor(callback, args) {
    this.#timer = startOnce(callback, 0, ...args);
  }

  ref() {
    this.#isRef = true;
    return this;
  }
  unref() {
    this.#isRef = false;
    return this;
  }
  hasRef() {
    return this.#isRef;
  }
  [symbolDispose]() {
    stopImmediate(this);
  }
}

function setTimeout(callback, delay, ...args) {
  needFunction(callback, 'callback');
  return new Timeout(callback, delay, args, false, true);
}

function setInterval(callback, delay, ...args) {
  needFunction(callback, 'callback');
  return new Timeout(callback, delay, args, true, true);
}

function clearTimeout(timer) {
  if (timer instanceof Timeout) stop(timer);
  else if (typeof timer === 'number') cancel(timer);
}

function clearInterval(timer) {
  clearTimeout(timer);
}

function setImmediate(callback, ...args) {
  if (typeof callback !== 'function') {
    load('webidl').badArgument('ServiceWorkerGlobalScope', 'setImmediate', 1, 'function');
  }
  return new Immediate(callback, args);
}

function clearImmediate(immediate) {
  if (immediate instanceof Immediate) stopImmediate(immediate);
}

function active(timer) {
  if (timer instanceof Timeout) timer.refresh();
}

function unenroll(timer) {
  clearTimeout(timer);
}

function enroll() {
  throw new Error('Not implemented. Please use setTimeout() instead.');
}

const members = {
  Timeout,
  setTimeout,
  clearTimeout,
  setImmediate,
  clearImmediate,
  setInterval,
  clearInterval,
  active,
  unenroll,
  enroll,
};
const { Timeout: _, ...shown } = members;
return {
  Immediate,
  setImmediate,
  clearImmediate,
  ...members,
  get module() {
    const promises = load('node_timers_promises').members;
    return { __proto__: null, default: { promises, ...shown }, ...members, promises };
  },
};
