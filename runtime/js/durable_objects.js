// Durable Objects from outside: ids, namespaces, stubs and classes.
'use strict';
const { defineProperty, setPrototypeOf } = primordials;
const rpc = load('rpc');
const { illegalInvocation, illegalConstructor, badArgument, badField, expose } = load('webidl');
const { NAMESPACE, CLASS, stateOf } = rpc;

const token = {};
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

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

// The import of a namespace.
function spaceOf(object) {
  const state = stateOf(object);
  if (state?.kind !== NAMESPACE) illegalInvocation();
  return state.id;
}

class DurableObjectNamespace {
  constructor(given, id) {
    if (given !== token) illegalConstructor();
    new rpc.Stamp(this, { __proto__: null, kind: NAMESPACE, id, className: undefined, classId: undefined });
  }
  newUniqueId() {
    return new DurableObjectId(token, native.newUniqueId(spaceOf(this)), undefined);
  }
  idFromName(name) {
    const space = spaceOf(this);
    if (arguments.length < 1) badArgument('DurableObjectNamespace', 'idFromName', 1, 'string');
    return new DurableObjectId(token, native.idFromName(space, `${name}`), `${name}`);
  }
  idFromString(text) {
    const space = spaceOf(this);
    if (arguments.length < 1) badArgument('DurableObjectNamespace', 'idFromString', 1, 'string');
    return new DurableObjectId(token, native.idFromString(space, `${text}`), undefined);
  }
  get(id) {
    const space = spaceOf(this);
    if (idText(id) === undefined) badArgument('DurableObjectNamespace', 'get', 1, 'DurableObjectId');
    return stubOf(space, id);
  }
  getByName(name) {
    const space = spaceOf(this);
    if (arguments.length < 1) badArgument('DurableObjectNamespace', 'getByName', 1, 'string');
    return stubOf(space, new DurableObjectId(token, native.idFromName(space, `${name}`), `${name}`));
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

// --- Classes ------------------------------------------------------------------------------------------------------

class DurableObjectClass {
  constructor() {
    illegalConstructor();
  }
}
expose(DurableObjectClass, 'DurableObjectClass');

function makeClass(id) {
  const made = { __proto__: DurableObjectClass.prototype };
  new rpc.Stamp(made, { __proto__: null, kind: CLASS, id, held: native.held(id), className: undefined });
  return made;
}

// What `ctx.exports` has for a class of the Worker's own: called, it gives the class with properties.
class LoopbackDurableObjectClass extends DurableObjectClass {}
expose(LoopbackDurableObjectClass, 'LoopbackDurableObjectClass');
// The same, of a class that has a namespace, which it also is.
class LoopbackDurableObjectNamespace extends DurableObjectNamespace {}
expose(LoopbackDurableObjectNamespace, 'LoopbackDurableObjectNamespace');

function makeOwn(name) {
  const callable = (options) => {
    const props = options?.props;
    if (props !== undefined && (typeof props !== 'object' || props === null)) badField('Options', 'props', 'Object');
    return makeClass(native.ownClass(name, props ?? {}));
  };
  delete callable.name;
  delete callable.length;
  const space = native.ownNamespace(name);
  const has = space !== undefined;
  setPrototypeOf(callable, has ? LoopbackDurableObjectNamespace.prototype : LoopbackDurableObjectClass.prototype);
  new rpc.Stamp(callable, { __proto__: null, kind: has ? NAMESPACE : CLASS, id: space, className: name, classId: undefined });
  return callable;
}

// The import of a class; undefined when the value is none.
function classOf(value) {
  const state = stateOf(value);
  if (state === undefined || (state.kind !== CLASS && state.kind !== NAMESPACE)) return undefined;
  if (state.className === undefined) return state.kind === CLASS ? state.id : undefined;
  return (state.classId ??= native.ownClass(state.className, undefined));
}

const makeId = (text, name) => new DurableObjectId(token, text, name);

return {
  makeNamespace: (id) => new DurableObjectNamespace(token, id),
  makeClass,
  makeOwn,
  makeId,
  idText,
  classOf,
};
