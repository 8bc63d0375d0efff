// Calls this side answers: finding what a path names, calling it, and sending what comes of it.
'use strict';
const {
  promiseThen,
  promiseResolve,
  promiseReject,
  apply,
  deleteProperty,
  getPrototypeOf,
  objectPrototype,
  symbolDispose,
  TypeError,
} = primordials;
const { Stamp, OWN_ERROR, isObject, hasOwn, stateOf, isTarget, isPlainFunction } = load('rpc_objects');
const { STUB, SERVICE, PROPERTY, LOOPBACK } = load('rpc_objects');
const { giving } = load('rpc_values');
const { statesOf, disposeAll, letGo: disposeStub } = load('rpc');

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
  const given = handler === undefined ? args : handlerArguments(value, path, args, handler);
  try {
    return apply(value, receiver, given);
  } catch (error) {
    // As one that an asynchronous method throws: what is thrown at once is the platform's.
    return promiseReject(error);
  }
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
  answer(() => callMember(lookup(target, ownAccess, path, RESERVED), path, args), stubs, reply, result, true);
}

// Marks an error of the platform's that is not to look as if the callee had thrown it.
function asOwn(error) {
  return new Stamp(error, { __proto__: null, kind: OWN_ERROR });
}

// Who threw what a call is answered with; the numbers are Rust's.
const CALLEE = 0;
const METHOD = 1;
const PLATFORM = 2;

// Answers a call with what `call` gives, now or later. `isMethod`: what that is rejected with, a method of the program has
// thrown.
function answer(call, stubs, reply, result, isMethod) {
  const states = stubs === undefined ? [] : statesOf(stubs);
  const fail = (error, by = CALLEE) => {
    disposeAll(states);
    native.fail(reply, result, error, stateOf(error)?.kind === OWN_ERROR ? PLATFORM : by);
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
      // What came as an argument lasts for the call, or as long as the result that it is in.
      for (let i = 0; i < states.length; i++) if (states[i].given !== true) disposeStub(states[i]);
    },
    (error) => fail(error, isMethod ? METHOD : CALLEE),
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
  giving.stubs = given;
  try {
    native.succeed(reply, result, value, target ?? {}, ownAccess, dispose);
  } finally {
    giving.stubs = undefined;
  }
  // Calls that were pipelined on the result may still go through the stubs in it.
  if (given.length === 0) return;
  for (let i = 0; i < given.length; i++) given[i].given = true;
  if (!native.onRelease(result, () => disposeAll(given))) disposeAll(given);
}

return { __proto__: null, serve, answer, asOwn, callMember, lookup, RESERVED, RESERVED_OF_ENTRYPOINTS };
