// JS RPC as a program sees it: stubs, promises of results, targets, and the two ends of a call.
'use strict';
const {
  Proxy,
  Map,
  Set,
  mapGet,
  mapSet,
  mapForEach,
  setAdd,
  setForEach,
  promiseThen,
  promiseReject,
  promiseResolve,
  promiseCatch,
  promiseFinally,
  apply,
  construct,
  reflectGet,
  reflectHas,
  defineProperty,
  deleteProperty,
  getOwnPropertyDescriptor,
  setPrototypeOf,
  getPrototypeOf,
  hasOwnProperty,
  objectKeys,
  objectPrototype,
  symbolDispose,
  symbolToStringTag,
  isArray,
  Error,
  TypeError,
} = primordials;
const { isMap, isSet } = native;
const { DOMException, isDOMException } = load('dom_exception');
const { badConstructorArgument, declare, illegalConstructor, isResource } = load('webidl');

const PATH_MAX = 64;
// What a value is written for; the numbers are Rust's.
const ARGUMENTS = 0;
const RESULT = 1;
const ENVIRONMENT = 2;
const THROWN = 3;

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

// A prototype on which every name that no object has is a property of the remote object.
function wildcard(hasThen) {
  return new Proxy(
    { __proto__: objectPrototype },
    {
      __proto__: null,
      get(target, key, receiver) {
        if (typeof key === 'symbol' || key in EVERY_OBJECT) return reflectGet(objectPrototype, key, receiver);
        // A stub with a method `then` would be taken for a promise.
        if (key === 'then' && !hasThen) return undefined;
        const state = stateOf(receiver);
        if (state?.kind === SERVICE && EVENT_METHODS[key] === true && native.sendsEvents()) return load('handlers')[key];
        return state === undefined || state.gated === true ? undefined : makeProperty(state, key);
      },
      has(target, key) {
        return typeof key === 'symbol' ? reflectHas(objectPrototype, key) : true;
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
  const outer = transferred;
  transferred = given;
  let started;
  try {
    started = native.call(root, names, args);
  } finally {
    transferred = outer;
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
      return settle(result, native.take(call));
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

declare(ServiceStub, 'Fetcher', { is: (object) => stateOf(object) !== undefined, clone: (object) => cloneService(object) });

class RpcTarget {}
declare(RpcTarget, 'RpcTarget');

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
  }
  return makeCallable(RpcPromise.prototype, state);
}

function makeProperty(parent, name) {
  let path;
  let root = parent;
  if (parent.kind === PROPERTY) {
    if (parent.path.length >= PATH_MAX) {
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

// --- What may become a stub ---------------------------------------------------------------------------------------

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

// The stubs that the value being written gives away; undefined when it lends them.
let transferred;

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
    if (transferred !== undefined) append(transferred, state);
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
  const target = purpose === ARGUMENTS && transferred === undefined ? duplicate(object, ownAccess, proxy) : object;
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
    if (native.isPlainObject(value)) return copyProperties(value, remember(value, {}));
    return value;
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

// --- Calls this side answers --------------------------------------------------------------------------------------

function failLookup(name) {
  throw new TypeError(`The RPC receiver does not implement the method "${name}".`);
}

// Names with a meaning of their own are never properties of the receiver.
const RESERVED = { __proto__: null, dup: true, constructor: true };
const RESERVED_OF_ENTRYPOINTS = {
  __proto__: null,
  dup: true,
  constructor: true,
  fetch: true,
  connect: true,
  alarm: true,
  webSocketMessage: true,
  webSocketClose: true,
  webSocketError: true,
};

function member(object, name, ownAccess, reserved) {
  if (reserved[name] === true) {
    throw new TypeError(`'${name}' is a reserved method and cannot be called over RPC.`);
  }
  if (ownAccess) {
    if (!hasOwn(object, name)) failLookup(name);
    return object[name];
  }
  if (hasOwn(object, name)) failLookup(name);
  const value = object[name];
  if (value === objectPrototype[name]) failLookup(name);
  return value;
}

// Follows the path to the member it names and the object that has it.
function lookup(target, ownAccess, path, reserved) {
  const last = path.length - 1;
  if (last < 0) return { value: target, receiver: target };
  let object = target;
  let access = ownAccess;
  let inStub = false;
  for (let i = 0; i < last; i++) {
    const name = path[i];
    object = member(object, name, access, reserved);
    if (!isObject(object)) failLookup(name);
    const kind = stateOf(object)?.kind;
    if (getPrototypeOf(object) === objectPrototype) {
      access = true;
    } else if (isTarget(object)) {
      access = false;
    } else if (kind === STUB || kind === SERVICE || kind === LOOPBACK || (inStub && kind === PROPERTY)) {
      access = false;
      inStub = true;
    } else if (isPlainFunction(object)) {
      access = true;
    } else {
      failLookup(name);
    }
  }
  return { value: member(object, path[last], access, reserved), receiver: object };
}

function pathText(path) {
  if (path.length === 0) return '(this)';
  let text = path[0];
  for (let i = 1; i < path.length; i++) text += `.${path[i]}`;
  return text;
}

function callMember({ value, receiver }, path, args, handler) {
  if (args === undefined) return value;
  if (typeof value !== 'function') throw new TypeError(`"${pathText(path)}" is not a function.`);
  return apply(value, receiver, handler === undefined ? args : handlerArguments(value, path, args, handler));
}

// A handler that is a plain object gets one argument, then `env` and `ctx`.
function handlerArguments(method, path, args, { env, context }) {
  const { length } = method;
  const arity = length < 3 ? 3 : length;
  if (arity !== 3) {
    throw new TypeError(
      `Cannot call handler function "${pathText(path)}" over RPC because it has the wrong number of arguments. A ` +
        'simple function handler can only be called over RPC if it has exactly the arguments (arg, env, ctx), where ' +
        'only the first argument comes from the client. To support multi-argument RPC functions, use class-based ' +
        'syntax (extending WorkerEntrypoint) instead.',
    );
  }
  if (args.length !== 1) {
    throw new TypeError(
      `Attempted to call RPC function "${pathText(path)}" with the wrong number of arguments. When calling a ` +
        'top-level handler function that is not declared as part of a class, you must always send exactly one ' +
        'argument. In order to support variable numbers of arguments, the server must use class-based syntax ' +
        '(extending WorkerEntrypoint) instead.',
    );
  }
  return [args[0], env, context];
}

// Called by Rust for each call on an exported object. `reply` and `result` name who waits for the answer.
function serve(target, ownAccess, path, args, stubs, reply, result) {
  answer(() => callMember(lookup(target, ownAccess, path, RESERVED), path, args), stubs, reply, result);
}

// Marks an error of the platform's that is not to look as if the callee had thrown it.
function asOwn(error) {
  return new Stamp(error, { __proto__: null, kind: OWN_ERROR });
}

function answer(call, stubs, reply, result) {
  const states = stubs === undefined ? [] : statesOf(stubs);
  const fail = (error) => {
    disposeAll(states);
    native.fail(reply, result, error, stateOf(error)?.kind !== OWN_ERROR);
  };
  let value;
  try {
    value = promiseResolve(call());
  } catch (error) {
    fail(error);
    return;
  }
  apply(promiseThen, value, [
    (settled) => {
      try {
        succeed(settled, reply, result);
      } catch (error) {
        fail(error);
        return;
      }
      // What came as an argument lasts for the call.
      disposeAll(states);
    },
    fail,
  ]);
}

function succeed(value, reply, result) {
  let dispose;
  let target;
  let ownAccess = true;
  if (isObject(value)) {
    const kind = stateOf(value)?.kind;
    if (getPrototypeOf(value) === objectPrototype) {
      target = value;
      const disposer = value[symbolDispose];
      // It is called here, when the caller disposes of the result; it is not part of the value.
      deleteProperty(value, symbolDispose);
      if (typeof disposer === 'function') dispose = () => apply(disposer, value, []);
    } else if (kind === STUB || kind === SERVICE || isTarget(value)) {
      target = value;
      ownAccess = false;
    } else if (isPlainFunction(value)) {
      target = value;
    }
  }
  const given = [];
  transferred = given;
  try {
    native.succeed(reply, result, value, target ?? {}, ownAccess, dispose);
  } finally {
    transferred = undefined;
  }
  // Calls that were pipelined on the result may still go through the stubs in it.
  if (given.length > 0 && !native.onRelease(result, () => disposeAll(given))) disposeAll(given);
}

return {
  RpcStub,
  RpcPromise,
  RpcProperty,
  RpcTarget,
  ServiceStub,
  SERVICE,
  NAMESPACE,
  CLASS,
  WRAPPED,
  ungate,
  STUB,
  invoke,
  invokeQuietly,
  hold,
  letGo: disposeStub,
  take: native.take,
  makeStub,
  describe,
  substitute,
  revive,
  serve,
  answer,
  asOwn,
  callMember,
  lookup,
  makeCallable,
  finishClass,
  Stamp,
  stateOf,
  LOOPBACK,
  RESERVED_OF_ENTRYPOINTS,
  objectPrototype,
  errorPrototypes: primordials.errorPrototypes,
};
