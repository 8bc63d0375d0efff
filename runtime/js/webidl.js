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
    for (let i = 0; i < known.getters.length; i++) found.getters.push(known.getters[i]);
  }
  // A prototype, or an object made from one, has the class but not the state.
  if (found !== null && (classes.has(object) || !found.is(object))) return null;
  return found;
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

// Gives a class the platform's prototype shape: enumerable members, `Symbol.toStringTag`, a constructor of length 0.
// `about` may say how it is shown and cloned: `is(object)`, `getters`, `entries`, `internals`, and
// `clone(object)`, which `structuredClone` uses.
function expose(constructor, name, about) {
  const { prototype } = constructor;
  const keys = ownKeys(prototype);
  const getters = [];
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (typeof key === 'symbol' || key === 'constructor') continue;
    const descriptor = getOwnPropertyDescriptor(prototype, key);
    if (descriptor.get !== undefined) getters.push([key, descriptor.get]);
    else if (typeof descriptor.value === 'function') unlengthen(descriptor.value);
    descriptor.enumerable = true;
    defineProperty(prototype, key, descriptor);
  }
  classes.set(prototype, { is: () => true, getters, ...about, name });
  const statics = ownKeys(constructor);
  for (let i = 0; i < statics.length; i++) {
    const key = statics[i];
    if (typeof key === 'symbol' || key === 'prototype' || key === 'name' || key === 'length') continue;
    const descriptor = getOwnPropertyDescriptor(constructor, key);
    if (typeof descriptor.value === 'function') unlengthen(descriptor.value);
    descriptor.enumerable = true;
    defineProperty(constructor, key, descriptor);
  }
  unlengthen(constructor);
  defineProperty(prototype, Symbol.toStringTag, {
    __proto__: null,
    value: name,
    writable: true,
    enumerable: false,
    configurable: true,
  });
  constructorLast(constructor);
  return constructor;
}

// The platform's functions all have a length of 0.
function unlengthen(fn) {
  return defineProperty(fn, 'length', { __proto__: null, value: 0, configurable: true });
}

function constructorLast(constructor) {
  delete constructor.prototype.constructor;
  defineProperty(constructor.prototype, 'constructor', {
    __proto__: null,
    value: constructor,
    writable: true,
    enumerable: false,
    configurable: true,
  });
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
  illegalInvocation,
  illegalConstructor,
  badArgument,
  badConstructorArgument,
  badField,
  badElement,
  isDictionary,
  toUint32,
  expose,
  unlengthen,
  resourceOf,
  isResource,
  cloneResource,
  constants,
  iteratorClass,
  done,
};
