// What RPC knows of objects: the state of its own ones, out of a program's reach, and which others may become stubs.
'use strict';
const { apply, defineProperty, getPrototypeOf, hasOwnProperty, objectPrototype, symbolDispose } = primordials;
const { declare } = load('webidl');

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const hasOwn = (object, key) => apply(hasOwnProperty, object, [key]);

function define(object, key, value) {
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

function defineHidden(object, key, value) {
  defineProperty(object, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

// Appends without looking at what a program may have put on Array.prototype.
function append(array, value) {
  define(array, array.length, value);
}

// --- State of the objects made here -------------------------------------------------------------------------------

class Returned {
  constructor(object) {
    return object;
  }
}

// Puts state on any object, out of the program's reach.
class Stamp extends Returned {
  #state;
  constructor(object, state) {
    super(object);
    this.#state = state;
  }
  static stateOf(value) {
    return isObject(value) && #state in value ? value.#state : undefined;
  }
}
const { stateOf } = Stamp;

const STUB = 0;
const SERVICE = 1;
const PROPERTY = 2;
const PROMISE = 3;
const LOOPBACK = 4;
// What Rust says of a loader and of a namespace of Durable Objects; their objects keep their state to themselves.
const LOADER = 5;
const NAMESPACE = 6;
// An object that an internal module made from a capability.
const WRAPPED = 7;
// A class of Durable Objects.
const CLASS = 8;
// An error that callers see as their own.
const OWN_ERROR = 9;

// --- What may become a stub ---------------------------------------------------------------------------------------

class RpcTarget {}
declare(RpcTarget, 'RpcTarget');

// RpcTarget marks a class, so it is enough that it is in the prototype chain: a Proxy may fake that.
function isTarget(object) {
  for (let at = getPrototypeOf(object); at !== null; at = getPrototypeOf(at)) {
    if (at === RpcTarget.prototype) return true;
  }
  return false;
}

function isPlainFunction(object) {
  if (typeof object !== 'function') return false;
  const kind = stateOf(object)?.kind;
  return kind !== PROPERTY && kind !== PROMISE;
}

// Whether callers may reach an object's own properties (true) or its class's (false); undefined: not a receiver.
function stubAccess(object) {
  if (getPrototypeOf(object) === objectPrototype) return true;
  if (isTarget(object)) return false;
  return isPlainFunction(object) ? true : undefined;
}

function disposerOf(object) {
  const dispose = object[symbolDispose];
  return typeof dispose === 'function' ? () => apply(dispose, object, []) : undefined;
}

return {
  __proto__: null,
  isObject,
  hasOwn,
  define,
  defineHidden,
  append,
  Stamp,
  stateOf,
  STUB,
  SERVICE,
  PROPERTY,
  PROMISE,
  LOOPBACK,
  LOADER,
  NAMESPACE,
  WRAPPED,
  CLASS,
  OWN_ERROR,
  RpcTarget,
  isTarget,
  isPlainFunction,
  stubAccess,
  disposerOf,
};
