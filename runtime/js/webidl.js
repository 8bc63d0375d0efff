// What all classes share: the platform's error texts for bad receivers and arguments, and the shape of its prototypes.
'use strict';
const { defineProperty, ownKeys, getOwnPropertyDescriptor, TypeError } = primordials;

function illegalInvocation() {
  throw new TypeError(
    'Illegal invocation: function called with incorrect `this` reference. ' +
      'See https://developers.cloudflare.com/workers/observability/errors/#illegal-invocation-errors for details.',
  );
}

function illegalConstructor() {
  throw new TypeError('Illegal constructor');
}

// Argument `index` (from 1) of a method is missing or of another type.
function badArgument(owner, method, index, type) {
  throw new TypeError(`Failed to execute '${method}' on '${owner}': parameter ${index} is not of type '${type}'.`);
}

function badConstructorArgument(owner, index, type) {
  throw new TypeError(`Failed to construct '${owner}': constructor parameter ${index} is not of type '${type}'.`);
}

function badField(struct, field, type) {
  throw new TypeError(
    `Incorrect type for the '${field}' field on '${struct}': the provided value is not of type '${type}'.`,
  );
}

function badElement(index, type) {
  throw new TypeError(`Incorrect type for array element ${index}: the provided value is not of type '${type}'.`);
}

// A dictionary argument: absent, null and any object are allowed.
function isDictionary(value) {
  return value === undefined || value === null || typeof value === 'object' || typeof value === 'function';
}

// Integer conversions as WebIDL's `unsigned long` and `long long` without [EnforceRange].
function toUint32(value) {
  return value >>> 0;
}

// From the prototype of each exposed class to what the rest of the platform needs to know of it.
const classes = new Map();

// The class of an object of the platform, with its accessors (inherited ones last); null for any other object.
function resourceOf(object) {
  let found = null;
  for (let at = primordials.getPrototypeOf(object); at !== null; at = primordials.getPrototypeOf(at)) {
    const known = classes.get(at);
    if (known === undefined) {
      if (found !== null) break;
      continue;
    }
    found ??= { ...known, name: constructorOf(object) ?? known.name, getters: [] };
    known.getters ??= gettersOf(at);
    for (let i = 0; i < known.getters.length; i++) found.getters.push(known.getters[i]);
  }
  // A prototype, or an object made from one, has the class but not the state.
  if (found !== null && (classes.has(object) || !found.is(object))) return null;
  return found;
}

function gettersOf(prototype) {
  const getters = [];
  const keys = ownKeys(prototype);
  for (let i = 0; i < keys.length; i++) {
    const { get } = getOwnPropertyDescriptor(prototype, keys[i]);
    if (get !== undefined && typeof keys[i] === 'string') getters.push([keys[i], get]);
  }
  return getters;
}

// Structured cloning of the platform's objects.
function isResource(object) {
  for (let at = primordials.getPrototypeOf(object); at !== null; at = primordials.getPrototypeOf(at)) {
    const known = classes.get(at);
    if (known !== undefined) return known.is(object);
  }
  return false;
}

function cloneResource(object) {
  const resource = resourceOf(object);
  if (resource?.clone !== undefined) return resource.clone(object);
  const { DOMException } = load('dom_exception');
  const name = resource?.name ?? constructorOf(object);
  throw new DOMException(
    `Could not serialize object of type "${name}". This type does not support serialization.`,
    'DataCloneError',
  );
}

function constructorOf(object) {
  const { constructor } = object;
  return typeof constructor === 'function' && typeof constructor.name === 'string' ? constructor.name : undefined;
}

// Ordinary objects, which V8 reads faster than ones without a prototype: this runs for every class that is touched.
const ENUMERABLE = { enumerable: true };
// By this programs tell the platform's classes from their own.
const INTERNAL = Symbol.for('cloudflare:internal-class');
const INTERNAL_CLASS = { value: INTERNAL };
const ZERO = { value: 0, configurable: true };

function enumerate(object) {
  const keys = ownKeys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'symbol' || key === 'constructor') continue;
    // What every function has is not listed.
    if (typeof object === 'function' && (key === 'prototype' || key === 'name' || key === 'length')) continue;
    defineProperty(object, key, ENUMERABLE);
  }
}

// Gives a class the platform's prototype shape: enumerable members, `Symbol.toStringTag`, a constructor of length 0.
// `about` may say how it is shown and cloned: `is(object)`, `getters`, `entries`, `internals`, and
// `clone(object)`, which `structuredClone` uses.
function expose(constructor, name, about) {
  const { prototype } = constructor;
  enumerate(prototype);
  enumerate(constructor);
  classes.set(prototype, { is: () => true, ...about, name });
  unlengthen(constructor);
  defineProperty(prototype, Symbol.toStringTag, { value: name, writable: true, enumerable: false, configurable: true });
  defineProperty(prototype, INTERNAL, INTERNAL_CLASS);
  constructorLast(constructor);
  return constructor;
}

// A class that keeps its shape, and whose objects do not cross by structured cloning. `about` as for `expose`.
function declare(constructor, name, about) {
  classes.set(constructor.prototype, { is: () => true, ...about, name });
}

// The platform's functions have a length of 0. Not for every method: V8 copies a function's whole shape to change it.
function unlengthen(fn) {
  return defineProperty(fn, 'length', ZERO);
}

function constructorLast(constructor) {
  delete constructor.prototype.constructor;
  const descriptor = { value: constructor, writable: true, enumerable: false, configurable: true };
  defineProperty(constructor.prototype, 'constructor', descriptor);
}

// Constants, on the constructor and its prototype alike.
function constants(constructor, values) {
  for (const key in values) {
    const descriptor = { __proto__: null, value: values[key], writable: false, enumerable: true, configurable: false };
    defineProperty(constructor, key, descriptor);
    defineProperty(constructor.prototype, key, descriptor);
  }
  constructorLast(constructor);
}

// The class of an iterator over entries, keys or values of `owner`: `next` and `Symbol.iterator` from
// %IteratorPrototype%, and a name of its own. `advance(state)` gives the next value or `done`.
const iteratorPrototype = primordials.getPrototypeOf(primordials.getPrototypeOf([][Symbol.iterator]()));
const done = Symbol('done');
function iteratorClass(name, advance) {
  class PlatformIterator {
    #state;
    constructor(token, state) {
      if (token !== done) illegalConstructor();
      this.#state = state;
    }
    next() {
      if (!(#state in this)) illegalInvocation();
      const value = advance(this.#state);
      return value === done ? { done: true, value: undefined } : { done: false, value };
    }
  }
  primordials.setPrototypeOf(PlatformIterator.prototype, iteratorPrototype);
  expose(PlatformIterator, name);
  defineProperty(PlatformIterator, 'name', { __proto__: null, value: name, configurable: true });
  return (state) => new PlatformIterator(done, state);
}

return {
  __proto__: null,
  illegalInvocation,
  illegalConstructor,
  badArgument,
  badConstructorArgument,
  badField,
  badElement,
  isDictionary,
  toUint32,
  expose,
  declare,
  unlengthen,
  resourceOf,
  isResource,
  cloneResource,
  constants,
  iteratorClass,
  done,
};
