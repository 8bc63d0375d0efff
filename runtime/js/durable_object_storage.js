// The storage of a Durable Object, in memory.
'use strict';
const { apply, defineProperty, isArray, Map, mapGet, mapSet, Error, TypeError } = primordials;
const { illegalConstructor, expose } = load('webidl');

// Keys and values one call may name.
const KEYS_MAX = 128;
const token = {};
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const copy = (value) => load('structured_clone').structuredClone(value);

function define(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

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

return { newStorage: () => new DurableObjectStorage(token) };
