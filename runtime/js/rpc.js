// JS RPC as a program sees it: stubs, promises of results and their properties, and the calls that are made on them.
'use strict';
const {
  Proxy,
  promiseThen,
  promiseReject,
  promiseCatch,
  promiseFinally,
  apply,
  reflectGet,
  reflectHas,
  defineProperty,
  setPrototypeOf,
  hasOwnProperty,
  objectKeys,
  objectPrototype,
  symbolDispose,
  symbolToStringTag,
  Error,
  TypeError,
} = primordials;
const objects = load('rpc_objects');
const { isObject, defineHidden, append, Stamp, stateOf, stubAccess, disposerOf, RpcTarget } = objects;
const { STUB, SERVICE, PROPERTY, PROMISE, LOOPBACK, LOADER, NAMESPACE, WRAPPED, CLASS } = objects;
const { giving } = load('rpc_values');
const { badConstructorArgument, declare, illegalConstructor } = load('webidl');

// Properties of a property, one of the other.
const PATH_MAX = 64;

// What every object inherits. Not looked up on Object.prototype: a program that adds a method there would otherwise
// have it called on other people's stubs.
const EVERY_OBJECT = {
  __proto__: null,
  constructor: true,
  hasOwnProperty: true,
  isPrototypeOf: true,
  propertyIsEnumerable: true,
  toLocaleString: true,
  toString: true,
  valueOf: true,
  __defineGetter__: true,
  __defineSetter__: true,
  __lookupGetter__: true,
  __lookupSetter__: true,
  ['__proto__']: true,
};

// Methods that services have, beside fetch(), for Workers that asked for them.
const EVENT_METHODS = { __proto__: null, queue: true, scheduled: true };

// Whether a name is that of an array's element: those are never remote.
function isIndex(key) {
  const number = key >>> 0;
  return number !== 0xffffffff && `${number}` === key;
}

// A prototype on which every name that no object has is a property of the remote object.
function wildcard(hasThen) {
  return new Proxy(
    { __proto__: objectPrototype },
    {
      __proto__: null,
      get(target, key, receiver) {
        if (typeof key === 'symbol' || key in EVERY_OBJECT || isIndex(key)) return reflectGet(objectPrototype, key, receiver);
        // A stub with a method `then` would be taken for a promise.
        if (key === 'then' && !hasThen) return undefined;
        const state = stateOf(receiver);
        if (state?.kind === SERVICE && EVENT_METHODS[key] === true && native.sendsEvents()) return load('handlers')[key];
        return state === undefined || state.gated === true ? undefined : makeProperty(state, key);
      },
      has(target, key) {
        return typeof key === 'symbol' || isIndex(key) ? reflectHas(objectPrototype, key) : true;
      },
    },
  );
}

// A callable object without properties of its own.
function makeCallable(prototype, state, name) {
  const callable = (...args) => makePromise(state, args);
  delete callable.name;
  delete callable.length;
  setPrototypeOf(callable, prototype);
  new Stamp(callable, state);
  return callable;
}

function finishClass(constructor, tag, hasThen) {
  const { prototype } = constructor;
  setPrototypeOf(prototype, wildcard(hasThen));
  defineProperty(prototype, symbolToStringTag, { __proto__: null, value: tag, configurable: true });
}

// --- Calls this side makes ----------------------------------------------------------------------------------------

// The import to call for `state`, and in `path.names` the way from it.
function rootOf(state, path) {
  switch (state.kind) {
    case PROPERTY:
      path.names = state.path;
      return rootOf(state.parent, path);
    case STUB:
      if (state.disposed) throw new Error('RPC stub used after being disposed.');
      return state.id;
    case SERVICE:
    case LOOPBACK:
      return state.id;
    default:
      return rootOfPromise(state, path);
  }
}

function rootOfPromise(state, path) {
  if (state.phase === 'pending') return state.pipeline;
  // Calls on it fail as it did.
  if (state.phase === 'failed') return 0;
  if (state.phase === 'disposed') throw new Error('RPC promise used after being disposed.');
  native.requireCurrent(state.invocation);
  const value = state.value;
  if (!isObject(value)) throw new TypeError("Can't pipeline on RPC that did not return an object.");
  const inner = stateOf(value);
  if (inner !== undefined && inner.kind === STUB) return rootOf(inner, path);
  // What was returned is here already, but a call on it is to look like any other: through RPC, once.
  return native.exportOnce(value, inner === undefined);
}

// Starts a call. Where the Worker asked for it, stubs among the arguments are the callee's from then on.
function send(root, names, args) {
  if (args === undefined || !native.transfersStubs()) return native.call(root, names, args);
  const given = [];
  const outer = giving.stubs;
  giving.stubs = given;
  let started;
  try {
    started = native.call(root, names, args);
  } finally {
    giving.stubs = outer;
  }
  disposeAll(given);
  return started;
}

// Makes a call (a read, without arguments) and returns the promise of its settled state.
function start(state, args, result) {
  const path = { names: [] };
  const root = rootOf(state, path);
  if (root === 0) {
    // Nothing stands for the pending result, so the call waits for it.
    const promise = state.kind === PROPERTY ? state.parent : state;
    return apply(promiseThen, promise.inner, [() => start(state, args, result)]);
  }
  const { 0: arrived, 1: call, 2: pipeline } = send(root, path.names, args);
  if (result !== undefined) result.pipeline = pipeline;
  return apply(promiseThen, arrived, [
    () => {
      if (pipeline !== 0) native.drop(pipeline);
      let taken;
      try {
        taken = native.take(call);
      } catch (error) {
        if (result !== undefined && result.phase === 'pending') result.phase = 'failed';
        throw error;
      }
      return settle(result, taken);
    },
  ]);
}

// A result arrived: gives it its disposer.
function settle(result, { 0: value, 1: stubs }) {
  if (isObject(value)) {
    // A lone stub disposes of itself.
    if (stateOf(value)?.kind !== STUB) {
      const states = statesOf(stubs);
      const dispose = () => disposeAll(states);
      defineProperty(dispose, 'name', { __proto__: null, value: '' });
      defineHidden(value, symbolDispose, dispose);
    }
  }
  if (result !== undefined) {
    if (result.phase === 'disposed') {
      tryDispose(value);
    } else {
      result.phase = 'resolved';
      result.value = value;
      result.invocation = native.currentInvocation();
    }
  }
  return value;
}

function tryDispose(value) {
  if (!isObject(value)) return;
  const dispose = value[symbolDispose];
  if (typeof dispose === 'function') apply(dispose, value, []);
}

function statesOf(stubs) {
  const states = [];
  for (let i = 0; i < stubs.length; i++) append(states, stateOf(stubs[i]));
  return states;
}

function disposeAll(states) {
  for (let i = 0; i < states.length; i++) disposeStub(states[i]);
}

function disposeStub(state) {
  if (state.kind === STUB && !state.disposed) {
    state.disposed = true;
    native.drop(state.id);
  }
}

// --- The classes --------------------------------------------------------------------------------------------------

class RpcStub {
  // The default makes its length what it is on the platform.
  constructor(object = undefined) {
    if (!isObject(object)) badConstructorArgument('JsRpcStub', 1, 'Object');
    const ownAccess = stubAccess(object);
    if (ownAccess === undefined) {
      throw new TypeError('RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives.');
    }
    return makeStub(native.export(object, ownAccess, typeof object === 'function', disposerOf(object)), STUB);
  }
  dup() {
    const state = stateOf(this);
    if (state.disposed) throw new Error('RPC stub used after being disposed.');
    return makeStub(native.dup(state.id), STUB);
  }
  [symbolDispose]() {
    disposeStub(stateOf(this));
  }
}
finishClass(RpcStub, 'JsRpcStub', false);

class RpcProperty {
  constructor() {
    illegalConstructor();
  }
  then(onFulfilled, onRejected) {
    return apply(promiseThen, read(stateOf(this)), [onFulfilled, onRejected]);
  }
  catch(onRejected) {
    return apply(promiseCatch, read(stateOf(this)), [onRejected]);
  }
  finally(onFinally) {
    return apply(promiseFinally, read(stateOf(this)), [onFinally]);
  }
}
finishClass(RpcProperty, 'JsRpcProperty', true);

class RpcPromise {
  constructor() {
    illegalConstructor();
  }
  then(onFulfilled, onRejected) {
    return apply(promiseThen, stateOf(this).inner, [onFulfilled, onRejected]);
  }
  catch(onRejected) {
    return apply(promiseCatch, stateOf(this).inner, [onRejected]);
  }
  finally(onFinally) {
    return apply(promiseFinally, stateOf(this).inner, [onFinally]);
  }
  [symbolDispose]() {
    const state = stateOf(this);
    // Disposing of the promise disposes of the result, now or when it comes.
    if (state.phase === 'resolved') tryDispose(state.value);
    state.phase = 'disposed';
    state.value = undefined;
  }
}
finishClass(RpcPromise, 'JsRpcPromise', true);

class ServiceStub {
  constructor() {
    illegalConstructor();
  }
}
finishClass(ServiceStub, 'Fetcher', false);
defineProperty(ServiceStub, 'name', { __proto__: null, value: 'Fetcher', configurable: true });
defineHidden(ServiceStub.prototype, 'constructor', ServiceStub);
// A property whatever its name is, also one that every object has.
ServiceStub.prototype.getRpcMethodForTestOnly = function getRpcMethodForTestOnly(name) {
  return makeProperty(stateOf(this), `${name}`);
};


declare(ServiceStub, 'Fetcher', {
  is: (object) => stateOf(object) !== undefined,
  clone: (object) => load('rpc_values').cloneService(object),
});

ServiceStub.prototype.fetch = function fetch(input, init) {
  return apply(load('rpc_fetch').fetch, this, arguments);
};

ServiceStub.prototype.connect = function connect(address, options) {
  if (arguments.length < 1) load('webidl').badArgument('Fetcher', 'connect', 1, 'SocketAddress or string');
  return load('sockets').connectTo(stateOf(this), address, options);
};

// A call that the platform makes for itself and that the invocation does not wait for: the promise of its result, and
// its number.
function invokeQuietly({ id }, path, args) {
  const { 0: arrived, 1: call, 2: pipeline } = native.call(id, path, args, true);
  const answer = apply(promiseThen, arrived, [
    () => {
      if (pipeline !== 0) native.drop(pipeline);
      return settle(undefined, native.take(call));
    },
  ]);
  return [answer, call];
}

// A call that the platform makes for itself.
function invoke(parent, path, args) {
  return start({ __proto__: null, kind: PROPERTY, parent, path }, args, undefined);
}

// Takes a stub that arrived in a value out of what is disposed of with that value.
function hold(stub) {
  const state = stateOf(stub);
  if (state?.kind !== STUB || state.disposed) {
    native.throwDataCloneError('Unable to deserialize cloned data.');
  }
  state.disposed = true;
  return { __proto__: null, kind: STUB, id: state.id, disposed: false };
}

function read(state) {
  try {
    return start(state, undefined, undefined);
  } catch (error) {
    return promiseReject(error);
  }
}

function makePromise(target, args) {
  const state = {
    __proto__: null,
    kind: PROMISE,
    phase: 'pending',
    inner: undefined,
    pipeline: 0,
    value: undefined,
    invocation: 0,
  };
  try {
    state.inner = start(target, args, state);
  } catch (error) {
    // An asynchronous function does not throw at once.
    state.inner = promiseReject(error);
    state.phase = 'failed';
  }
  return makeCallable(RpcPromise.prototype, state);
}

function makeProperty(parent, name) {
  let path;
  let root = parent;
  if (parent.kind === PROPERTY) {
    if (parent.path.length > PATH_MAX) {
      throw new TypeError(`RPC pipelined property path is too deep (max ${PATH_MAX}).`);
    }
    path = [];
    for (let i = 0; i < parent.path.length; i++) append(path, parent.path[i]);
    append(path, name);
    root = parent.parent;
  } else {
    path = [name];
  }
  return makeCallable(RpcProperty.prototype, { __proto__: null, kind: PROPERTY, parent: root, path });
}

// A stub for an import; also called by Rust for each capability that arrives.
function makeStub(id, kind) {
  if (kind === LOADER) return load('worker_loader').make(id);
  if (kind === NAMESPACE) return load('durable_objects').makeNamespace(id);
  if (kind === CLASS) return load('durable_objects').makeClass(id);
  const state = { __proto__: null, kind, id, disposed: false };
  if (kind === STUB) return makeCallable(RpcStub.prototype, state);
  // Nobody disposes of a service.
  state.held = native.held(id);
  // A Worker without RPC has services to fetch from only.
  if (kind === SERVICE && !native.hasRpc()) state.gated = true;
  const service = { __proto__: ServiceStub.prototype };
  new Stamp(service, state);
  return service;
}

// Lets the services among an object's members be called whatever the Worker's flags say.
function ungate(object) {
  const keys = objectKeys(object);
  for (let i = 0; i < keys.length; i++) {
    const state = stateOf(object[keys[i]]);
    if (state?.kind === SERVICE) state.gated = false;
  }
}

return {
  __proto__: null,
  RpcStub,
  RpcPromise,
  RpcProperty,
  RpcTarget,
  ServiceStub,
  Stamp,
  stateOf,
  STUB,
  SERVICE,
  LOOPBACK,
  NAMESPACE,
  CLASS,
  WRAPPED,
  makeStub,
  makeCallable,
  finishClass,
  ungate,
  invoke,
  invokeQuietly,
  take: native.take,
  failedBy: native.failedBy,
  hold,
  letGo: disposeStub,
  statesOf,
  disposeAll,
};
