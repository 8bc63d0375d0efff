// Node's `test` module, of which the platform has the mocks: functions that remember how they were called.
'use strict';
const { apply, construct, Error, Proxy, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = primordials;
const { needFunction, needObject, needBoolean, needInteger, invalidType, invalidValue } = load('node_errors');

// A mock's state, for the functions here that a program must not reach through it.
let nextOf;
let record;

class MockFunctionContext {
  #calls = [];
  #once = new Map();
  #implementation;
  #undo;
  #times;

  static {
    nextOf = (context) => context.#next();
    record = (context, call) => context.#calls.push(call);
  }

  constructor(implementation, undo, times) {
    this.#implementation = implementation;
    this.#undo = undo;
    this.#times = times;
  }

  get calls() {
    return this.#calls.slice();
  }

  callCount() {
    return this.#calls.length;
  }

  mockImplementation(implementation) {
    needFunction(implementation, 'implementation');
    this.#implementation = implementation;
  }

  mockImplementationOnce(implementation, onCall) {
    needFunction(implementation, 'implementation');
    const call = onCall ?? this.#calls.length;
    needInteger(call, 'onCall', this.#calls.length);
    this.#once.set(call, implementation);
  }

  resetCalls() {
    this.#calls = [];
  }

  restore() {
    const { object, key, descriptor, original } = this.#undo;
    if (object === undefined) this.#implementation = original;
    else defineProperty(object, key, descriptor);
  }

  // What this call runs. The last call that was asked for puts the original back.
  #next() {
    const call = this.#calls.length;
    const implementation = this.#once.get(call) ?? this.#implementation;
    this.#once.delete(call);
    if (call + 1 === this.#times) this.restore();
    return implementation;
  }
}

const isOptions = (value) => value !== null && typeof value === 'object';

function needTimes(times) {
  if (times !== Infinity) needInteger(times, 'options.times', 1);
}

// The function a program gets in place of `original`: its calls and constructions are recorded, its `mock` is `context`.
function mockOf(context, original) {
  const track = (target, self, args, run) => {
    let result;
    let error;
    try {
      result = run();
    } catch (thrown) {
      error = thrown;
      throw thrown;
    } finally {
      const place = self === undefined && target !== undefined ? result : self;
      record(context, { __proto__: null, arguments: args, error, result, stack: new Error(), target, this: place });
    }
    return result;
  };
  return new Proxy(original, {
    __proto__: null,
    apply(_, self, args) {
      const fn = nextOf(context);
      return track(undefined, self, args, () => apply(fn, self, args));
    },
    construct(target, args, newTarget) {
      const fn = nextOf(context);
      return track(target, undefined, args, () => construct(fn, args, newTarget));
    },
    get: (target, key, receiver) => (key === 'mock' ? context : primordials.reflectGet(target, key, receiver)),
  });
}

function findProperty(object, key) {
  for (let at = object; at !== null; at = getPrototypeOf(at)) {
    const descriptor = getOwnPropertyDescriptor(at, key);
    if (descriptor !== undefined) return descriptor;
  }
  return undefined;
}

class MockTracker {
  #contexts = [];

  fn(original = function () {}, implementation = original, options = {}) {
    if (isOptions(original)) {
      options = original;
      original = function () {};
      implementation = original;
    } else if (isOptions(implementation)) {
      options = implementation;
      implementation = original;
    }
    needFunction(original, 'original');
    needFunction(implementation, 'implementation');
    needObject(options, 'options');
    const { times = Infinity } = options;
    needTimes(times);
    return this.#add(new MockFunctionContext(implementation, { __proto__: null, original }, times), original);
  }

  method(object, key, implementation, options = {}) {
    if (typeof key !== 'string' && typeof key !== 'symbol') {
      throw invalidType('methodName', 'one of type string or symbol', key);
    }
    if (typeof object !== 'function') needObject(object, 'object');
    if (isOptions(implementation)) {
      options = implementation;
      implementation = undefined;
    }
    if (implementation !== undefined) needFunction(implementation, 'implementation');
    needObject(options, 'options');
    const { getter = false, setter = false, times = Infinity } = options;
    needBoolean(getter, 'options.getter');
    needBoolean(setter, 'options.setter');
    needTimes(times);
    if (getter && setter) throw invalidValue('options.setter', setter, "cannot be used with 'options.getter'");

    const descriptor = findProperty(object, key);
    const slot = getter ? 'get' : setter ? 'set' : 'value';
    const original = descriptor?.[slot];
    if (typeof original !== 'function') throw invalidValue('methodName', original, 'must be a method');
    const undo = { __proto__: null, object, key, descriptor };
    const mock = this.#add(new MockFunctionContext(implementation ?? original, undo, times), original);
    defineProperty(object, key, { __proto__: null, ...descriptor, [slot]: mock });
    return mock;
  }

  getter(object, key, implementation, options = {}) {
    return this.#accessor(object, key, implementation, options, 'getter');
  }

  setter(object, key, implementation, options = {}) {
    return this.#accessor(object, key, implementation, options, 'setter');
  }

  reset() {
    this.restoreAll();
    this.#contexts = [];
  }

  restoreAll() {
    for (const context of this.#contexts) context.restore();
  }

  #accessor(object, key, implementation, options, which) {
    if (isOptions(implementation)) {
      options = implementation;
      implementation = undefined;
    }
    needObject(options, 'options');
    const wanted = options[which] ?? true;
    if (wanted === false) throw invalidValue(`options.${which}`, wanted, 'cannot be false');
    return this.method(object, key, implementation, { __proto__: null, ...options, [which]: wanted });
  }

  #add(context, original) {
    this.#contexts.push(context);
    return mockOf(context, original);
  }
}

const members = { mock: new MockTracker(), MockFunctionContext, MockTracker };
return { module: { __proto__: null, default: { ...members }, ...members } };
