// The module cloudflare:workers, and how an invocation reaches its entrypoint.
'use strict';
const { Proxy, promiseThen, promiseResolve, apply, getPrototypeOf, setPrototypeOf, defineProperty, ownKeys } = primordials;
const { reflectGet, reflectHas, reflectSet, getOwnPropertyDescriptor, symbolToStringTag, objectKeys, Error, TypeError } =
  primordials;
const { hasOwnProperty } = primordials;
const rpc = load('rpc');
const { answer, asOwn, callMember, lookup, RESERVED_OF_ENTRYPOINTS } = load('rpc_serve');
const { badArgument, badConstructorArgument, badField, expose, illegalConstructor, isDictionary } = load('webidl');

// --- Classes to extend --------------------------------------------------------------------------------------------

// `platformName`: what errors call it; `context`: the class of its first parameter.
function baseClass(name, platformName, context, isContext) {
  const base = {
    [name]: class {
      constructor(...args) {
        if (!isContext(args[0])) badConstructorArgument(platformName, 1, context);
        if (!isReference(args[1])) badConstructorArgument(platformName, 2, 'Object');
        this.ctx = args[0];
        this.env = args[1];
      }
    },
  }[name];
  return base;
}
const isReference = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const isExecutionContext = (value) => isReference(value) && isContext(value);
const isObjectState = (value) => load('durable_object_state').isState(value);
const WorkerEntrypoint = baseClass('WorkerEntrypoint', 'WorkerEntrypoint', 'Object', isReference);
const DurableObject = baseClass('DurableObject', 'DurableObjectBase', 'DurableObjectState', isObjectState);
const WorkflowEntrypoint = baseClass('WorkflowEntrypoint', 'WorkflowEntrypoint', 'ExecutionContext', isExecutionContext);

function extendsClass(value, base) {
  for (let at = value; at !== null && typeof at === 'function'; at = getPrototypeOf(at)) {
    if (at === base) return true;
  }
  return false;
}

// --- ctx ----------------------------------------------------------------------------------------------------------

// Ends the invocation. Whoever waits for it gets the reason.
function abort(reason) {
  native.abort(reason);
  // V8 stops it at a branch.
  for (;;);
}

function abortIsolate() {
  native.abortIsolate();
  for (;;);
}

function waitUntil(promise) {
  const task = native.startTask();
  const done = () => native.endTask(task);
  const settled = apply(promiseThen, promiseResolve(promise), [
    () => {
      done();
      return true;
    },
    (error) => {
      native.taskThrew(error);
      done();
      return false;
    },
  ]);
  const event = events?.[native.invocation()];
  if (event !== undefined) event[event.length] = settled;
}

// By invocation: the tasks of an event that lasts until they are done. None of them rejects.
let events;

// Starts to keep the tasks of the current invocation. Call what it returns when the handler has returned: it resolves
// when there are none left, to whether none of them failed.
function keepTasks() {
  const invocation = native.invocation();
  events ??= { __proto__: null };
  const tasks = (events[invocation] = []);
  return async () => {
    let ok = true;
    for (let i = 0; i < tasks.length; i++) if (!(await tasks[i])) ok = false;
    delete events[invocation];
    return ok;
  };
}

let making = false;
let isContext;

class ExecutionContext {
  #brand = true;
  static {
    isContext = (value) => #brand in value;
  }
  constructor(props) {
    if (!making) illegalConstructor();
    native.addToContext(this, 'tracing');
    this.access = undefined;
    this.props = props;
    native.addToContext(this, 'exports');
  }
  waitUntil(promise) {
    waitUntil(promise);
  }
  passThroughOnException() {}
  mapVirtualHost(...args) {
    return load('socket_addresses').mapVirtualHost(args[0], args[1]);
  }
  abort(reason) {
    abort(reason === undefined ? new Error('Worker execution was aborted due to call to ctx.abort().') : reason);
  }
}
defineProperty(ExecutionContext.prototype, symbolToStringTag, {
  __proto__: null,
  value: 'ExecutionContext',
  configurable: true,
});

function makeContext(props) {
  making = true;
  try {
    return new ExecutionContext(props);
  } finally {
    making = false;
  }
}

// --- ctx.exports: this Worker's own entrypoints -------------------------------------------------------------------

class LoopbackServiceStub {
  constructor() {
    illegalConstructor();
  }
}
rpc.finishClass(LoopbackServiceStub, 'LoopbackServiceStub', false);
LoopbackServiceStub.prototype.fetch = rpc.ServiceStub.prototype.fetch;
LoopbackServiceStub.prototype.getRpcMethodForTestOnly = rpc.ServiceStub.prototype.getRpcMethodForTestOnly;

// A stub of an entrypoint of this Worker; called, it gives one with properties.
function makeLoopback(name) {
  const state = { __proto__: null, kind: rpc.LOOPBACK, id: native.loopback(name, undefined) };
  const callable = (options) => {
    if (!isDictionary(options)) badArgument('LoopbackServiceStub', '(called as function)', 1, 'Options');
    const props = options?.props;
    if (props !== undefined && (typeof props !== 'object' || props === null)) badField('Options', 'props', 'Object');
    return rpc.makeStub(native.loopback(name, props ?? {}), 1);
  };
  delete callable.name;
  delete callable.length;
  setPrototypeOf(callable, LoopbackServiceStub.prototype);
  new rpc.Stamp(callable, state);
  return callable;
}

// What an export is to callers; the order in which they are listed.
const HANDLER = 0;
const ENTRYPOINT = 1;
const OBJECT_CLASS = 2;

function kindOf(value) {
  if (typeof value === 'object' && value !== null) return HANDLER;
  if (typeof value !== 'function' || extendsClass(value, WorkflowEntrypoint)) return undefined;
  // A class of Durable Objects need not say that it is one.
  return extendsClass(value, WorkerEntrypoint) ? ENTRYPOINT : OBJECT_CLASS;
}

let exported;

function loopbacks() {
  if (exported !== undefined) return exported;
  const stubs = {};
  const main = native.mainExports();
  const names = main === undefined ? [] : objectKeys(main);
  const add = (name, value) =>
    defineProperty(stubs, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  const isEntrypoint = (name) => kindOf(main[name]) === HANDLER || kindOf(main[name]) === ENTRYPOINT;
  if (apply(hasOwnProperty, main ?? {}, ['default']) && isEntrypoint('default')) add('default', makeLoopback('default'));
  for (let kind = HANDLER; kind <= OBJECT_CLASS; kind++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (kindOf(main[name]) !== kind || (name === 'default' && kind !== OBJECT_CLASS)) continue;
      add(name, kind === OBJECT_CLASS ? load('durable_objects').makeOwn(name) : makeLoopback(name));
    }
  }
  // While the Worker starts there are none yet.
  if (main !== undefined) exported = stubs;
  return stubs;
}

// --- env and exports as imported ----------------------------------------------------------------------------------

// The program's replacements for `env` and `exports`, which follow it through its asynchronous calls.
function frame() {
  return native.frame();
}

const isObject = (value) => typeof value === 'object' && value !== null;
const nothing = {};

// A Worker may ask for neither to be importable; what it sets itself is.
const currentEnv = () => {
  const own = frame();
  if (own !== undefined && isObject(own.env)) return own.env;
  return load('compat').has('disallow_importable_env') ? nothing : native.env();
};
const currentExports = () => {
  const own = frame();
  if (own !== undefined && isObject(own.exports)) return own.exports;
  return load('compat').has('disallow_importable_env') ? nothing : loopbacks();
};

// An object that is, at each moment, whatever `current` says.
function following(current) {
  return new Proxy(
    {},
    {
      __proto__: null,
      get: (target, key) => reflectGet(current(), key),
      set: (target, key, value) => reflectSet(current(), key, value),
      has: (target, key) => reflectHas(current(), key),
      ownKeys: () => ownKeys(current()),
      deleteProperty: (target, key) => delete current()[key],
      getOwnPropertyDescriptor(target, key) {
        const found = getOwnPropertyDescriptor(current(), key);
        // The target has none of its own, so nothing may be reported as fixed.
        if (found !== undefined) found.configurable = true;
        return found;
      },
      defineProperty(target, key, descriptor) {
        defineProperty(current(), key, descriptor);
        return true;
      },
    },
  );
}
const env = following(currentEnv);
const exports = following(currentExports);

function within(values, run) {
  const before = native.frame();
  native.setFrame({ __proto__: null, ...before, ...values });
  try {
    return run();
  } finally {
    native.setFrame(before);
  }
}

function withEnv(newEnv, fn) {
  return within({ __proto__: null, env: newEnv }, fn);
}
function withExports(newExports, fn) {
  return within({ __proto__: null, exports: newExports }, fn);
}
function withEnvAndExports(newEnv, newExports, fn) {
  return within({ __proto__: null, env: newEnv, exports: newExports }, fn);
}

// --- The object `tracing` -----------------------------------------------------------------------------------------

// What its methods do is a room of its own, for those that call them: every Worker that imports this module has the object.
function tracingClass() {
  class Tracing {
    constructor() {
      if (!making) illegalConstructor();
    }
    enterSpan(name, callback, ...rest) {
      return apply(load('tracing').methods.enterSpan, undefined, arguments);
    }
    startActiveSpan(name, callback, ...rest) {
      return apply(load('tracing').methods.startActiveSpan, undefined, arguments);
    }
    startSpan(name) {
      return apply(load('tracing').methods.startSpan, undefined, arguments);
    }
  }
  expose(Tracing, 'Tracing');
  // Its member `Span` is made when it is first looked at, which exposing does.
  native.addSpan(Tracing.prototype);
  return Tracing;
}

let TracingOnce;
let tracing;

function makeTracing() {
  TracingOnce ??= tracingClass();
  making = true;
  try {
    return new TracingOnce();
  } finally {
    making = false;
  }
}

function tracingOfWorker() {
  return (tracing ??= makeTracing());
}

// --- Entrypoints --------------------------------------------------------------------------------------------------

// Called by Rust for the first call of an invocation.
function entrypoint(name, props, path, args, stubs, reply, result, object, isEvent) {
  if (isEvent) {
    const deliver = (find) => load('handlers').deliver(path[0], args, find);
    const start =
      object === undefined
        ? () => deliver((kind) => findHandler(name, props, kind))
        : () => inObject(name, object, props, args, (instance) => deliver((kind) => handlerOfObject(instance, kind)));
    answer(start, stubs, reply, result, false);
    return;
  }
  const call =
    object === undefined
      ? () => callEntrypoint(name, props, path, args)
      : () => callObject(name, object, props, path, args);
  const isMethod = object !== undefined && eventOf(path, args) === undefined;
  answer(native.traced() ? traced(path, args, call) : call, stubs, reply, result, isMethod);
}

function traced(path, args, call) {
  return load('tracing').around(path, args, eventOf(path, args)?.name, call);
}

// The method of an entrypoint that handles events of a kind, and what it is called with and on.
function findHandler(name, props, kind) {
  const main = native.mainExports();
  const value = apply(hasOwnProperty, main, [name]) ? main[name] : undefined;
  const settled = keepTasks();
  const env = native.env();
  let receiver = value;
  let context;
  if (extendsClass(value, WorkerEntrypoint)) {
    context = makeContext(props);
    receiver = new value(context, env);
  } else if (typeof value === 'object' && value !== null) {
    context = contextOfHandler(name, props);
  } else {
    failEntrypoint(name);
  }
  const method = receiver[kind];
  return { __proto__: null, receiver, method: typeof method === 'function' ? method : undefined, env, context, settled };
}

function handlerOfObject(receiver, kind) {
  const method = receiver[kind];
  const settled = keepTasks();
  return {
    __proto__: null,
    receiver,
    method: typeof method === 'function' ? method : undefined,
    env: native.env(),
    context: undefined,
    settled,
  };
}

// An error of the call rather than of the Worker: to the caller it is none that came from elsewhere.
function failEntrypoint(name) {
  throw asOwn(
    new Error(name === 'default' ? 'Worker has no default entrypoint.' : `Worker has no such entrypoint: ${name}`),
  );
}

// Calls `deliver` with the instance of a Durable Object.
function inObject(name, object, props, args, deliver) {
  const main = native.mainExports();
  const value = apply(hasOwnProperty, main, [name]) ? main[name] : undefined;
  if (typeof value !== 'function') throw new Error(`Worker has no such Durable Object class: ${name}`);
  const about = { __proto__: null, props, exports: loopbacks(), waitUntil, abort };
  const make = (state) => new value(state, native.env());
  return load('durable_object_state').withObject(name, object, about, args, make, deliver);
}

// An event of a Durable Object.
function callObject(name, object, props, path, args) {
  const event = eventOf(path, args);
  const deliver = (instance) => {
    if (event !== undefined) return event.deliver(handlerOf(instance, event.name));
    requireRpc(name);
    return callMember(lookup(instance, false, path, RESERVED_OF_ENTRYPOINTS), path, args);
  };
  return inObject(name, object, props, args, deliver);
}

function requireRpc(name) {
  const main = native.mainExports();
  if (!apply(hasOwnProperty, main, [name]) || extendsClass(main[name], DurableObject)) return;
  throw new TypeError(
    'The receiving Durable Object does not support RPC, because its class was not declared with `extends ' +
      'DurableObject`. In order to enable RPC, make sure your class extends the special class `DurableObject`, which ' +
      'can be imported from the module "cloudflare:workers".',
  );
}

function handlerOf(handler, name) {
  const method = handler[name];
  if (typeof method !== 'function') throw new Error(`Handler does not export a ${name}() function.`);
  return (...args) => apply(method, handler, args);
}

// The event that a call is, if it is more than a call of a method: its handler's name, and how it is delivered.
function eventOf(path, args) {
  if (path.length !== 1 || args === undefined) return undefined;
  const name = path[0];
  if (name === 'fetch') {
    const http = load('rpc_fetch');
    if (http.isFetch(path, args)) return { name, deliver: (handle) => http.deliverFetch(handle, args[0]) };
  } else if (name === 'connect') {
    const sockets = load('sockets');
    if (sockets.isConnect(path, args)) return { name, deliver: (handle) => sockets.deliver(handle, args[0]) };
  }
  return undefined;
}

// By name of a handler: the one context that all its invocations see, for Workers that asked for that.
let contexts;

function contextOfHandler(name, props) {
  if (!load('compat').has('nonclass_entrypoint_reuses_ctx_across_invocations')) return makeContext(props);
  contexts ??= { __proto__: null };
  return (contexts[name] ??= makeContext({}));
}

function callEntrypoint(name, props, path, args) {
  const event = eventOf(path, args);
  const main = native.mainExports();
  const value = apply(hasOwnProperty, main, [name]) ? main[name] : undefined;
  if (extendsClass(value, WorkerEntrypoint)) {
    const context = makeContext(props);
    const instance = new value(context, native.env());
    if (event !== undefined) return event.deliver(handlerOf(instance, event.name));
    return callMember(lookup(instance, false, path, RESERVED_OF_ENTRYPOINTS), path, args);
  }
  if (typeof value === 'object' && value !== null) {
    const context = contextOfHandler(name, props);
    const handler = { __proto__: null, env: native.env(), context };
    if (event !== undefined) {
      const handle = handlerOf(value, event.name);
      return event.deliver((about) => handle(about, handler.env, context));
    }
    return callMember(lookup(value, true, path, RESERVED_OF_ENTRYPOINTS), path, args, handler);
  }
  return failEntrypoint(name);
}

const { RpcStub, RpcPromise, RpcProperty, RpcTarget, ServiceStub } = rpc;
const module = {
  __proto__: null,
  WorkerEntrypoint,
  DurableObject,
  WorkflowEntrypoint,
  abortIsolate,
  RpcStub,
  RpcPromise,
  RpcProperty,
  RpcTarget,
  ServiceStub,
  env,
  exports,
  get tracing() {
    return tracingOfWorker();
  },
  waitUntil,
  withEnv,
  withExports,
  withEnvAndExports,
};
// What `process` has of the Worker: its variables as they were given, and the way to end a request.
const ofProcess = { variables: () => native.env(), abort };
// By name, what makes a member of `ctx` when it is first looked at.
const contextMembers = { __proto__: null, tracing: makeTracing, exports: loopbacks };
return {
  __proto__: null,
  module,
  entrypoint,
  ofProcess,
  contextMembers,
  get tracing() {
    return tracingOfWorker();
  },
};
