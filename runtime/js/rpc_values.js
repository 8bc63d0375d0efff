// Values in messages: what is written for an object that V8 does not write, and what is made of it again. Rust's serializer and
// deserializer call these.
'use strict';
const {
  Map,
  Set,
  mapGet,
  mapSet,
  mapForEach,
  setAdd,
  setForEach,
  apply,
  objectKeys,
  ownKeys,
  isArray,
  Error,
} = primordials;
const { isMap, isSet } = native;
const { DOMException, isDOMException } = load('dom_exception');
const { isResource } = load('webidl');
const { isObject, define, append, stateOf, isTarget, stubAccess, disposerOf } = load('rpc_objects');
const { STUB, SERVICE, PROPERTY, PROMISE, LOOPBACK, NAMESPACE, WRAPPED, CLASS } = load('rpc_objects');

// What a value is written for; the numbers are Rust's.
const ARGUMENTS = 0;
const RESULT = 1;
const ENVIRONMENT = 2;
const THROWN = 3;

// The stubs that the value being written gives away; undefined when it lends them. Whoever writes one sets it.
const giving = { __proto__: null, stubs: undefined };

const NOT_SERIALIZABLE = {
  __proto__: null,
  [PROPERTY]: 'RpcProperty',
  [PROMISE]: 'RpcPromise',
  [LOOPBACK]: 'LoopbackServiceStub',
};

// Tells the serializer what an object is that V8 does not write: the import that stands for it, [type, value] for an
// object of the API, the name of a class that does not cross, or nothing.
function describe(object, purpose) {
  const state = stateOf(object);
  if (state !== undefined) {
    if (state.kind === SERVICE) return state.id;
    if (state.kind === NAMESPACE || state.kind === CLASS) return describeObjects(state, purpose);
    if (state.kind === WRAPPED) return [WRAPPED_BINDING, load('wrapped').describe(state)];
    if (state.kind !== STUB) return NOT_SERIALIZABLE[state.kind];
    if (purpose > RESULT) {
      native.throwDataCloneError(
        'RpcStub cannot be serialized in this context because it is not a persistent stub.',
      );
    }
    if (state.disposed) throw new Error('RPC stub used after being disposed.');
    if (giving.stubs !== undefined) append(giving.stubs, state);
    return state.id;
  }
  const proxy = native.isProxy(object);
  if (proxy || typeof object === 'function' || isTarget(object)) return describeReceiver(object, purpose, proxy);
  if (isDOMException(object)) return [DOM_EXCEPTION, [object.name, object.message, object.stack]];
  return isResource(object) ? load('rpc_http').describe(object, purpose <= RESULT) : undefined;
}

// Of Durable Objects only classes cross, and only to where objects can be made of them.
function describeObjects({ kind, id, className }, purpose) {
  if (className !== undefined) return kind === CLASS ? 'LoopbackDurableObjectClass' : 'LoopbackDurableObjectNamespace';
  if (kind === NAMESPACE) return 'DurableObjectNamespace';
  return purpose === ENVIRONMENT || native.refusesTransfer(id) !== undefined ? id : 'DurableObjectClass';
}

// A copy of a service within the isolate: there is none.
function cloneService(object) {
  const { id } = stateOf(object);
  throw new DOMException(
    native.refusesTransfer(id) ?? 'ServiceStub cannot be serialized in this context.',
    'DataCloneError',
  );
}

function describeReceiver(object, purpose, proxy) {
  if (purpose === THROWN) return undefined;
  if (purpose > RESULT) native.throwDataCloneError('Remote RPC references can only be serialized for RPC.');
  const ownAccess = stubAccess(object);
  if (ownAccess === undefined) {
    native.throwDataCloneError(
      'Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must emulate either a ' +
        "plain object or an RpcTarget, as indicated by the Proxy's prototype chain.",
    );
  }
  // Arguments stay the caller's: one that can be duplicated is, and the duplicate is given away.
  const target = purpose === ARGUMENTS && giving.stubs === undefined ? duplicate(object, ownAccess, proxy) : object;
  return native.exportForMessage(target, ownAccess, typeof target === 'function', disposerOf(target));
}

function duplicate(object, ownAccess, proxy) {
  const { dup } = object;
  if (typeof dup !== 'function') return object;
  const copy = apply(dup, object, []);
  if (isObject(copy) && stubAccess(copy) === ownAccess) return copy;
  if (proxy) {
    native.throwDataCloneError(
      "Couldn't create a stub for the Proxy because it has a dup() method which did not return the same underlying " +
        'type (RpcTarget or Function) as the Proxy itself represents. Either remove the dup() method or make sure ' +
        'it returns an RpcTarget.',
    );
  }
  if (typeof object === 'function') {
    native.throwDataCloneError(
      "Couldn't create a stub for the function because it has a dup() method which did not return another function. " +
        'Either remove the dup() method or make sure it returns a function.',
    );
  }
  native.throwDataCloneError(
    "Couldn't create a stub for the RcpTarget because it has a dup() method which did not return another RpcTarget. " +
      'Either remove the dup() method or make sure it returns an RpcTarget.',
  );
}

// Copies a value with stand-ins for the functions and proxies in it, which V8 refuses to write. Undefined: there are
// none. Identity and cycles are kept. Where none may be, only functions of the platform are replaced: of others V8 says
// well enough what is wrong.
function substitute(root, purpose) {
  const seen = new Map();
  let found = false;

  function visit(value) {
    if (!isObject(value)) return value;
    const known = apply(mapGet, seen, [value]);
    if (known !== undefined) return known;
    if (typeof value === 'function' || native.isProxy(value)) {
      if (purpose === ENVIRONMENT && stateOf(value) === undefined) return value;
      found = true;
      return remember(value, native.placeholder(value));
    }
    if (isArray(value)) {
      const copy = remember(value, []);
      copy.length = value.length;
      return copyProperties(value, copy);
    }
    if (isMap(value)) {
      const copy = remember(value, new Map());
      apply(mapForEach, value, [(item, key) => apply(mapSet, copy, [visit(key), visit(item)])]);
      return copy;
    }
    if (isSet(value)) {
      const copy = remember(value, new Set());
      apply(setForEach, value, [(item) => apply(setAdd, copy, [visit(item)])]);
      return copy;
    }
    if (native.isNativeError(value)) return visitError(value);
    if (native.isPlainObject(value)) return copyProperties(value, remember(value, {}));
    return value;
  }

  // An error that is sent whole may have such members too.
  function visitError(value) {
    if (!load('compat').has('enhanced_error_serialization')) return value;
    const copy = remember(value, new Error());
    const keys = ownKeys(value);
    define(copy, 'name', value.name);
    define(copy, 'message', value.message);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (typeof key === 'string' && key !== 'name' && key !== 'message' && key !== 'stack') define(copy, key, visit(value[key]));
    }
    return copy;
  }

  function remember(value, copy) {
    apply(mapSet, seen, [value, copy]);
    return copy;
  }

  function copyProperties(value, copy) {
    const keys = objectKeys(value);
    for (let i = 0; i < keys.length; i++) define(copy, keys[i], visit(value[keys[i]]));
    return copy;
  }

  const copy = visit(root);
  return found ? copy : undefined;
}

// --- Objects of the API that JavaScript makes again ---------------------------------------------------------------

const DOM_EXCEPTION = 1;
// These are also written by hosts.
const WRAPPED_BINDING = 20;
const UNSAFE_EVAL = 21;
const WASM_MODULE = 23;

// A DOMException keeps the stack it had at home.
function reviveDOMException({ 0: name, 1: message, 2: stack }) {
  const exception = new DOMException(message, name);
  exception.stack = stack;
  return exception;
}

function revive({ 0: type, 1: value }) {
  switch (type) {
    case DOM_EXCEPTION:
      return reviveDOMException(value);
    case WRAPPED_BINDING:
      return load('wrapped').make(value);
    case UNSAFE_EVAL:
      // It comes with the configuration, never from another Worker.
      if (native.currentInvocation() !== 0) native.throwDataCloneError('Unable to deserialize cloned data.');
      return new (load('unsafe').UnsafeEval)();
    case WASM_MODULE:
      if (native.currentInvocation() !== 0) native.throwDataCloneError('Unable to deserialize cloned data.');
      return load('unsafe').compileWasm(value);
    default:
      return load('rpc_http').revive(type, value);
  }
}

return {
  __proto__: null,
  giving,
  describe,
  cloneService,
  substitute,
  revive,
  objectPrototype: primordials.objectPrototype,
  errorPrototypes: primordials.errorPrototypes,
};
