// Durable Objects from inside: their state, and the delivery of events. Objects live in the isolate of the Worker whose
// class they are, and go with it.
'use strict';
const { apply, defineProperty, promiseThen, Map, Error } = primordials;
const { illegalConstructor, expose } = load('webidl');
const { makeId } = load('durable_objects');

const token = {};

// What an event is for; the numbers are Rust's.
const EVENT = 0;
const DELETE = 2;

function define(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

class DurableObjectState {
  #object;
  #abort;
  #facets;
  constructor(given, object, { id, props, exports, waitUntil, abort }) {
    if (given !== token) illegalConstructor();
    this.#object = object;
    this.#abort = abort;
    define(this, 'id', id);
    define(this, 'props', props);
    define(this, 'exports', exports);
    define(this, 'storage', object.storage);
    define(this, 'waitUntil', waitUntil);
  }
  get facets() {
    return (this.#facets ??= load('durable_object_facets').facetsOf(this.#object, this.id));
  }
  // Nothing is delivered to the object until the promise of `closure` settles; if it fails, that ends the object.
  blockConcurrencyWhile(closure) {
    const object = this.#object;
    const running = (async () => closure())();
    object.gate = apply(promiseThen, running, [
      () => {},
      (error) => {
        object.broken = true;
        this.#abort(error);
      },
    ]);
    return running;
  }
  static isState(value) {
    return typeof value === 'object' && value !== null && #object in value;
  }
  abort(reason) {
    this.#object.broken = true;
    this.#abort(new Error(reason === undefined ? 'Application called abort() to reset Durable Object.' : `${reason}`));
  }
}
const { isState } = DurableObjectState;
delete DurableObjectState.isState;
expose(DurableObjectState, 'DurableObjectState');

// From class, id and facet to the object; in the order in which they came into being. What it has stored outlives what
// is made of it.
const objects = new Map();

function fresh(identity, depth, before) {
  // Its facets go with it.
  before?.facets?.abortAll(new Error('The parent of this facet was reset.'));
  const storage = before?.storage ?? load('durable_object_storage').newStorage();
  return { __proto__: null, identity, depth, storage, gate: undefined, broken: false, instance: undefined, facets: undefined };
}

// Delivers an event to an object: `make` constructs one with its state, `deliver` is given the instance. `args` are the
// event's.
function withObject(className, { 0: id, 1: name, 2: path, 3: depth, 4: purpose }, about, args, make, deliver) {
  const identity = `${className}:${id}${path}`;
  let object = objects.get(identity);
  if (purpose !== EVENT) {
    if (object !== undefined) {
      object.broken = true;
      if (purpose === DELETE) object.storage = undefined;
    }
    about.abort(args[0]);
  }
  if (object === undefined || object.broken) {
    object = fresh(identity, depth, object);
    objects.set(identity, object);
    try {
      object.instance = make(new DurableObjectState(token, object, { ...about, id: makeId(id, name) }));
    } catch (error) {
      object.broken = true;
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

return { withObject, isState };
