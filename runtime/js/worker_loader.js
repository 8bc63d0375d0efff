// The Worker Loader binding: WorkerLoader and WorkerStub. Code is taken apart here, field by field in the platform's
// order; whether it may run is decided by the loader, in Rust.
'use strict';
const { objectKeys, isArray, promiseResolve, promiseThen, apply, isView, TypeError, Error } = primordials;
const rpc = load('rpc');
const { illegalInvocation, illegalConstructor, badArgument, badField, badElement, isDictionary, expose } = load('webidl');

const UINT32_MAX = 4294967295;
const token = {};

// Kinds of modules; the numbers are Rust's.
const BY_NAME = 0;
const JS = 1;
const CJS = 2;
const TEXT = 3;
const DATA = 4;
const JSON_VALUE = 5;
const PYTHON = 6;
const WASM = 7;

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

function toUint32OrNothing(value) {
  if (value === undefined || value === null) return undefined;
  const number = +value;
  if (number !== number || number === Infinity || number === -Infinity) {
    throw new TypeError('The value cannot be converted because it is not an integer.');
  }
  const whole = number - (number % 1);
  if (whole < 0) {
    throw new TypeError('The value cannot be converted because it is negative and this API expects a positive number.');
  }
  if (whole > UINT32_MAX) {
    throw new TypeError(`Value out of range. Must be less than or equal to ${UINT32_MAX}.`);
  }
  return whole;
}

function toLimits(struct, value) {
  if (value === undefined || value === null) return [undefined, undefined];
  if (!isObject(value)) badField(struct, 'limits', 'ResourceLimits');
  const cpuMs = toUint32OrNothing(value.cpuMs);
  return [cpuMs, toUint32OrNothing(value.subRequests)];
}

// --- Modules ------------------------------------------------------------------------------------------------------

const isBytes = (value) => isView(value) || native.isBuffer(value);
const text = (value) => (value === undefined ? undefined : `${value}`);

// The fields of a module that say what it is: [kind, content] each.
function moduleFields(module) {
  const fields = [];
  const found = (kind, content) => {
    if (content !== undefined) fields[fields.length] = [kind, content];
  };
  found(JS, text(module.js));
  found(CJS, text(module.cjs));
  found(TEXT, text(module.text));
  const { data } = module;
  if (data !== undefined && !isBytes(data)) badField('Module', 'data', 'Array');
  found(DATA, data);
  found(JSON_VALUE, module.json);
  found(PYTHON, text(module.py));
  const { wasm } = module;
  if (wasm !== undefined && !isBytes(wasm) && !native.isWasmModule(wasm)) {
    badField('Module', 'wasm', 'Array or WasmModuleObject');
  }
  found(WASM, wasm);
  return fields;
}

function toModules(value) {
  if (!isObject(value) || isArray(value)) badField('WorkerCode', 'modules', 'object');
  const modules = [];
  const names = objectKeys(value);
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const module = value[name];
    let fields;
    if (module === undefined || module === null) fields = [];
    else if (native.isWasmModule(module)) fields = [[WASM, module]];
    else if (isObject(module)) fields = moduleFields(module);
    else fields = [[BY_NAME, `${module}`]];
    modules[i] = [name, fields];
  }
  return modules;
}

function takeApart(modules) {
  if (modules.length === 0) throw new TypeError('Dynamic Worker code must contain at least one module.');
  const parts = [];
  for (let i = 0; i < modules.length; i++) {
    const { 0: name, 1: fields } = modules[i];
    if (fields.length !== 1) {
      throw new TypeError(
        "Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module " +
          `'${name}' contained ${fields.length} properties.`,
      );
    }
    parts[i] = [name, fields[0][0], fields[0][1]];
  }
  return parts;
}

// --- Code ---------------------------------------------------------------------------------------------------------

// The import of a service; undefined when the value is none.
function serviceOf(value) {
  const state = rpc.stateOf(value);
  return state !== undefined && (state.kind === rpc.SERVICE || state.kind === rpc.LOOPBACK) ? state.id : undefined;
}

function toServices(name, value) {
  if (value === undefined) return [];
  if (!isArray(value)) badField('WorkerCode', name, 'Array');
  const services = [];
  for (let i = 0; i < value.length; i++) {
    const service = serviceOf(value[i]);
    if (service === undefined) badElement(i, 'Fetcher');
    services[i] = service;
  }
  return services;
}

// A WorkerCode as Rust takes it: an array of its parts.
function toCode(code) {
  if (code === undefined || code === null) {
    throw new TypeError(
      'Cannot initialize N7workerd3api12WorkerLoader10WorkerCodeE with required members from an undefined or null ' +
        'value.',
    );
  }
  const date = `${code.compatibilityDate}`;
  const flagsGiven = code.compatibilityFlags;
  const flags = [];
  if (flagsGiven !== undefined) {
    if (!isArray(flagsGiven)) badField('WorkerCode', 'compatibilityFlags', 'Array');
    for (let i = 0; i < flagsGiven.length; i++) flags[i] = `${flagsGiven[i]}`;
  }
  const experimental = !!code.allowExperimental;
  const { 0: cpuMs, 1: subRequests } = toLimits('WorkerCode', code.limits);
  const mainModule = `${code.mainModule}`;
  const modules = toModules(code.modules);
  const { env } = code;
  if (env !== undefined && !isObject(env)) badField('WorkerCode', 'env', 'Object');
  const outbound = code.globalOutbound;
  let service = outbound;
  if (outbound !== undefined && outbound !== null) {
    service = serviceOf(outbound);
    if (service === undefined) badField('WorkerCode', 'globalOutbound', 'Fetcher');
  }
  const tails = toServices('tails', code.tails);
  const streamingGiven = code.streamingTails;
  const streaming = toServices('streamingTails', streamingGiven);
  const parts = takeApart(modules);
  if (streamingGiven !== undefined && !experimental) {
    throw new Error(
      "Streaming tail workers are experimental. You must pass the option 'allowExperimental: true' to the worker " +
        'loader to use them',
    );
  }
  return [date, flags, experimental, cpuMs, subRequests, mainModule, parts, env, service, tails, streaming];
}

// --- The classes --------------------------------------------------------------------------------------------------

class WorkerLoader {
  #id;
  constructor(given, id) {
    if (given !== token) illegalConstructor();
    this.#id = id;
  }
  get(name, getCode) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('WorkerLoader', 'get', 1, 'string');
    const id = name === undefined || name === null ? null : `${name}`;
    if (typeof getCode !== 'function') badArgument('WorkerLoader', 'get', 2, 'function');
    const { 0: worker, 1: wanted } = native.get(this.#id, id);
    if (wanted !== 0) fetchCode(wanted, getCode);
    return new WorkerStub(token, worker);
  }
  load(code) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    if (arguments.length < 1 || !isDictionary(code)) badArgument('WorkerLoader', 'load', 1, 'WorkerCode');
    return new WorkerStub(token, native.load(this.#id, toCode(code)));
  }
}

// Asks the program for the code that a Worker waits for.
function fetchCode(wanted, getCode) {
  const fail = (error) => native.codeFailed(wanted, error);
  const asked = apply(promiseThen, promiseResolve(undefined), [
    () => {
      const promise = apply(getCode, globalThis, []);
      if (promise !== undefined && promise !== null && !isObject(promise)) {
        throw new TypeError("Callback returned incorrect type; expected 'Promise'");
      }
      return promise;
    },
  ]);
  apply(promiseThen, asked, [
    (code) => {
      try {
        if (!isDictionary(code)) throw new TypeError("Incorrect type for Promise: the Promise did not resolve to 'WorkerCode'.");
        native.codeArrived(wanted, toCode(code));
      } catch (error) {
        fail(error);
      }
    },
    fail,
  ]);
}

class WorkerStub {
  #id;
  constructor(given, id) {
    if (given !== token) illegalConstructor();
    this.#id = id;
  }
  getEntrypoint(name, options) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    const entrypoint = name === undefined || name === null ? undefined : `${name}`;
    if (!isDictionary(options)) badArgument('WorkerStub', 'getEntrypoint', 2, 'EntrypointOptions');
    const props = options?.props;
    if (props !== undefined && !isObject(props)) badField('EntrypointOptions', 'props', 'Object');
    const { 0: cpuMs, 1: subRequests } = toLimits('EntrypointOptions', options?.limits);
    return rpc.makeStub(native.entrypoint(this.#id, entrypoint, props, cpuMs, subRequests), rpc.SERVICE);
  }
  getDurableObjectClass(name, options) {
    if (!isObject(this) || !(#id in this)) illegalInvocation();
    const className = name === undefined || name === null ? undefined : `${name}`;
    if (!isDictionary(options)) badArgument('WorkerStub', 'getDurableObjectClass', 2, 'EntrypointOptions');
    const props = options?.props;
    if (props !== undefined && !isObject(props)) badField('EntrypointOptions', 'props', 'Object');
    const { 0: cpuMs, 1: subRequests } = toLimits('EntrypointOptions', options?.limits);
    return rpc.makeStub(native.objectClass(this.#id, className, props, cpuMs, subRequests), rpc.CLASS);
  }
}
expose(WorkerLoader, 'WorkerLoader');
expose(WorkerStub, 'WorkerStub');

return { make: (id) => new WorkerLoader(token, id) };
