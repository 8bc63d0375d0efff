// Durable Objects in memory: namespaces, ids, stubs, and the state and storage of an object. Objects live in the
// isolate of the Worker whose class they are, and go with it.
'use strict';
const { apply, defineProperty, promiseThen, promiseResolve, isArray, Map, mapGet, mapSet, Error, TypeError, symbolToStringTag } =
  primordials;
const rpc = load('rpc');
const { illegalInvocation, illegalConstructor, badArgument, expose } = load('webidl');

// Keys and values one call of the storage may name.
const KEYS_MAX = 128;
const token = {};
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const copy = (value) => load('structured_clone').structuredClone(value);

function define(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

// --- Ids ----------------------------------------------------------------------------------------------------------

let idText;

class DurableObjectId {
  #text;
  constructor(given, text, name) {
    if (given !== token) illegalConstructor();
    this.#text = text;
    if (name !== undefined) define(this, 'name', name);
  }
  toString() {
    if (!isObject(this) || !(#text in this)) illegalInvocation();
    return this.#text;
  }
  equals(other) {
    if (!isObject(this) || !(#text in this)) illegalInvocation();
    if (idText(other) === undefined) badArgument('DurableObjectId', 'equals', 1, 'DurableObjectId');
    return this.#text === idText(other);
  }
  static {
    idText = (value) => (isObject(value) && #text in value ? value.#text : undefined);
  }
}
expose(DurableObjectId, 'DurableObjectId');

// --- Namespaces and stubs -----------------------------------------------------------------------------------------

class DurableObjectStub {
  constructor() {
    illegalConstructor();
  }
}
rpc.finishClass(DurableObjectStub, 'DurableObject', false);
defineProperty(DurableObjectStub, 'name', { __proto__: null, value: 'DurableObject', configurable: true });
DurableObjectStub.prototype.fetch = rpc.ServiceStub.prototype.fetch;

class DurableObjectNamespace {
  #id;
  constructor(given, id) {
    if (given !== token) illegalConstructor();
    this.#id = id;
  }
  newUniqueId() {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    return new DurableObjectId(token, native.newUniqueId(this.#id), undefined);
  }
  idFromName(name) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('DurableObjectNamespace', 'idFromName', 1, 'string');
    return new DurableObjectId(token, native.idFromName(this.#id, `${name}`), `${name}`);
  }
  idFromString(text) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('DurableObjectNamespace', 'idFromString', 1, 'string');
    return new DurableObjectId(token, native.idFromString(this.#id, `${text}`), undefined);
  }
  get(id) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (idText(id) === undefined) badArgument('DurableObjectNamespace', 'get', 1, 'DurableObjectId');
    return stubOf(this.#id, id);
  }
  getByName(name) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('DurableObjectNamespace', 'getByName', 1, 'string');
    return stubOf(this.#id, this.idFromName(name));
  }
}
expose(DurableObjectNamespace, 'DurableObjectNamespace');

function stubOf(namespace, id) {
  const stub = { __proto__: DurableObjectStub.prototype };
  const service = native.object(namespace, idText(id), id.name);
  new rpc.Stamp(stub, { __proto__: null, kind: rpc.SERVICE, id: service, disposed: false });
  define(stub, 'id', id);
  if (id.name !== undefined) define(stub, 'name', id.name);
  return stub;
}

// --- Storage ------------------------------------------------------------------------------------------------------

class DurableObjectStorage {
  #values = new Map();
  constructor(given) {
    if (given !== token) illegalConstructor();
  }
  async get(key, options) {
    if (!isArray(key)) return copy(apply(mapGet, this.#values, [`${key}`]));
    bounded(key.length);
    const found = new Map();
    for (let i = 0; i < key.length; i++) {
      const name = `${key[i]}`;
      if (this.#values.has(name)) apply(mapSet, found, [name, copy(apply(mapGet, this.#values, [name]))]);
    }
    return found;
  }
  async put(key, value) {
    if (isObject(key)) {
      const names = Object.keys(key);
      bounded(names.length);
      for (let i = 0; i < names.length; i++) apply(mapSet, this.#values, [names[i], copy(key[names[i]])]);
      return;
    }
    if (value === undefined) throw new TypeError('put() called with undefined value.');
    apply(mapSet, this.#values, [`${key}`, copy(value)]);
  }
  async delete(key) {
    if (!isArray(key)) return this.#values.delete(`${key}`);
    bounded(key.length);
    let deleted = 0;
    for (let i = 0; i < key.length; i++) if (this.#values.delete(`${key[i]}`)) deleted += 1;
    return deleted;
  }
  async deleteAll() {
    this.#values.clear();
  }
  async list(options) {
    const { start, startAfter, end, prefix, reverse, limit } = options ?? {};
    const names = [];
    for (const name of this.#values.keys()) {
      if (start !== undefined && name < start) continue;
      if (startAfter !== undefined && name <= startAfter) continue;
      if (end !== undefined && name >= end) continue;
      if (prefix !== undefined && !name.startsWith(prefix)) continue;
      names.push(name);
    }
    names.sort();
    if (reverse) names.reverse();
    const found = new Map();
    const count = limit === undefined || limit > names.length ? names.length : limit;
    for (let i = 0; i < count; i++) found.set(names[i], copy(this.#values.get(names[i])));
    return found;
  }
  // All of what the closure writes, or nothing.
  async transaction(closure) {
    const before = new Map(this.#values);
    let undone = false;
    const rollback = () => {
      this.#values = new Map(before);
      undone = true;
    };
    try {
      const transaction = { __proto__: this, rollback };
      for (const method of ['get', 'put', 'delete', 'deleteAll', 'list']) {
        define(transaction, method, (...args) => apply(this[method], this, args));
      }
      return await closure(transaction);
    } catch (error) {
      if (!undone) rollback();
      throw error;
    }
  }
  async sync() {}
}
expose(DurableObjectStorage, 'DurableObjectStorage');

function bounded(count) {
  if (count > KEYS_MAX) throw new Error(`Maximum number of keys is ${KEYS_MAX}.`);
}

// --- Objects ------------------------------------------------------------------------------------------------------

class DurableObjectState {
  #object;
  #abort;
  constructor(given, object, { id, props, exports, waitUntil, abort }) {
    if (given !== token) illegalConstructor();
    this.#object = object;
    this.#abort = abort;
    define(this, 'id', id);
    define(this, 'props', props);
    define(this, 'exports', exports);
    define(this, 'storage', new DurableObjectStorage(token));
    define(this, 'waitUntil', waitUntil);
  }
  // Nothing is delivered to the object until the promise of `closure` settles; if it fails, the object is made anew.
  blockConcurrencyWhile(closure) {
    const object = this.#object;
    const running = (async () => closure())();
    object.gate = apply(promiseThen, running, [
      () => {},
      () => {
        object.broken = true;
      },
    ]);
    return running;
  }
  abort(reason) {
    this.#object.broken = true;
    this.#abort(new Error(reason === undefined ? 'Application called abort() to reset Durable Object.' : `${reason}`));
  }
}
expose(DurableObjectState, 'DurableObjectState');

// From class and id to the object; in the order in which they came into being.
const objects = new Map();

// Delivers an event to an object: `make` constructs one with its state, `deliver` is given the instance.
function withObject(className, { 0: id, 1: name }, about, make, deliver) {
  const key = `${className}:${id}`;
  let object = objects.get(key);
  if (object === undefined || object.broken) {
    object = { __proto__: null, gate: undefined, broken: false, instance: undefined };
    objects.set(key, object);
    const objectId = new DurableObjectId(token, id, name);
    try {
      object.instance = make(new DurableObjectState(token, object, { ...about, id: objectId }));
    } catch (error) {
      objects.delete(key);
      throw error;
    }
  }
  if (object.gate === undefined) return deliver(object.instance);
  return apply(promiseThen, object.gate, [
    () => {
      object.gate = undefined;
      if (object.broken) throw new Error('The Durable Object was reset because blockConcurrencyWhile() failed.');
      return deliver(object.instance);
    },
  ]);
}

return { makeNamespace: (id) => new DurableObjectNamespace(token, id), withObject };
