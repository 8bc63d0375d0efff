// Node's `util`.
'use strict';
const { apply, Promise, Error, TypeError, RangeError, defineProperty, getPrototypeOf, setPrototypeOf } = primordials;
const { inspectWith } = load('inspect');
const { format, formatWith } = load('inspect_format');
const { equal } = load('deep_equal');
const { has } = load('compat');
const errors = load('node_errors');
const { needFunction, needString, needObject, needSignal, invalidType } = errors;
const types = load('node_util_types').members;
const { queueMicrotask } = load('timers');

// --- Text ---------------------------------------------------------------------------------------------------------

function formatWithOptions(options, ...values) {
  needObject(options, 'inspectOptions');
  return formatWith(options, ...values);
}

const ANSI = /[\u001b\u009b][[\]()#;?]*(?:(?:(?:;[-a-zA-Z\d/#&.:=?%@~_]+)*|[a-zA-Z\d]+(?:;[-a-zA-Z\d/#&.:=?%@~_]*)*)?\u0007|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-nq-uy=><~])/g;
function stripVTControlCharacters(text) {
  needString(text, 'str');
  return text.replace(ANSI, '');
}

function toUSVString(text) {
  return `${text}`.toWellFormed();
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
function log(...values) {
  const now = new Date();
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map((part) => `${part}`.padStart(2, '0')).join(':');
  globalThis.console.log('%s - %s', `${now.getDate()} ${MONTHS[now.getMonth()]} ${time}`, format(...values));
}

// --- Functions ----------------------------------------------------------------------------------------------------

const PROMISIFIED = Symbol.for('nodejs.util.promisify.custom');
const ARGUMENT_NAMES = Symbol.for('nodejs.util.promisify.custom.args');

function promisify(original) {
  needFunction(original, 'original');
  const own = original[PROMISIFIED];
  if (own) {
    needFunction(own, 'util.promisify.custom');
    return defineProperty(own, PROMISIFIED, { __proto__: null, value: own, configurable: true });
  }
  const names = original[ARGUMENT_NAMES];
  const promised = function (...args) {
    return new Promise((resolve, reject) => {
      const done = (error, ...values) => {
        if (error) reject(error);
        else if (names === undefined || values.length <= 1) resolve(values[0]);
        else resolve(Object.fromEntries(names.map((name, i) => [name, values[i]])));
      };
      apply(original, this, [...args, done]);
    });
  };
  setPrototypeOf(promised, getPrototypeOf(original));
  Object.defineProperties(promised, Object.getOwnPropertyDescriptors(original));
  return defineProperty(promised, PROMISIFIED, { __proto__: null, value: promised, configurable: true });
}
promisify.custom = PROMISIFIED;

function callbackify(original) {
  needFunction(original, 'original');
  const called = function (...args) {
    const done = args.pop();
    needFunction(done, 'last argument');
    // In a turn of its own: what the callback throws is nobody's rejection.
    const later = (...outcome) => queueMicrotask(() => apply(done, this, outcome));
    apply(original, this, args).then(
      (value) => later(null, value),
      (error) => later(error || falsyReason(error)),
    );
  };
  setPrototypeOf(called, getPrototypeOf(original));
  const descriptors = Object.getOwnPropertyDescriptors(original);
  if (typeof descriptors.length.value === 'number') descriptors.length.value++;
  if (typeof descriptors.name.value === 'string') descriptors.name.value += 'Callbackified';
  return Object.defineProperties(called, descriptors);
}

function falsyReason(reason) {
  const error = errors.coded(new Error('Promise was rejected with falsy value'), 'ERR_FALSY_VALUE_REJECTION');
  error.reason = reason;
  return error;
}

function inherits(constructor, parent) {
  if (constructor === undefined || constructor === null) throw invalidType('ctor', 'of type function', constructor);
  if (parent === undefined || parent === null) throw invalidType('superCtor', 'of type function', parent);
  if (parent.prototype === undefined) throw invalidType('superCtor.prototype', 'of type object', parent.prototype);
  defineProperty(constructor, 'super_', { __proto__: null, value: parent, writable: true, configurable: true });
  setPrototypeOf(constructor.prototype, parent.prototype);
}

function deprecate(fn) {
  return fn;
}

// There is no NODE_DEBUG that would name sets: all of them are on.
function debuglog(set, callback) {
  let log = (...values) => {
    const name = `${set}`.toUpperCase();
    log = (...later) => globalThis.console.log(format('%s: %s\n', name, format(...later)));
    if (typeof callback === 'function') callback(log);
    log(...values);
  };
  const logger = (...values) => log(...values);
  return defineProperty(logger, 'enabled', { __proto__: null, get: () => true, enumerable: true, configurable: true });
}

function _extend(target, source) {
  return source === null || typeof source !== 'object' ? target : Object.assign(target, source);
}

async function aborted(signal, resource) {
  if (signal === undefined) throw invalidType('signal', 'an instance of AbortSignal', signal);
  needSignal(signal, 'signal');
  if (resource === null || (typeof resource !== 'object' && typeof resource !== 'function')) {
    throw invalidType('resource', 'of type object', resource);
  }
  if (signal.aborted) return undefined;
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}

// `.env` text: NAME=value lines, quotes, comments.
function parseEnv(content) {
  needString(content, 'content');
  const LINE = /^\s*(?:export\s+)?([\w.-]+)\s*=[^\S\n]*("(?:\\.|[^"\\])*"|'[^']*'|`[^`]*`|[^\n#]*)?.*$/gm;
  const found = {};
  for (const [, name, raw = ''] of content.replaceAll('\r\n', '\n').matchAll(LINE)) {
    const value = raw.trim();
    const quote = /^(["'`])([^]*)\1$/.exec(value);
    found[name] = quote === null ? value : quote[1] === '"' ? quote[2].replaceAll('\\n', '\n') : quote[2];
  }
  return found;
}

const notImplemented = (name) => () => {
  throw new Error(`node:util ${name} is not implemented`);
};

// --- Questions ----------------------------------------------------------------------------------------------------

function isDeepStrictEqual(a, b) {
  return equal(a, b);
}

// Gone from Node 23 on.
const OLD_TESTS = {
  isBoolean: (value) => typeof value === 'boolean',
  isBuffer: (value) => load('node_buffer').Buffer.isBuffer(value),
  isDate: (value) => value instanceof Date,
  isError: (value) => Error.isError(value),
  isFunction: (value) => typeof value === 'function',
  isNull: (value) => value === null,
  isNullOrUndefined: (value) => value === null || value === undefined,
  isNumber: (value) => typeof value === 'number',
  isObject: (value) => value !== null && typeof value === 'object',
  isPrimitive: (value) => value === null || (typeof value !== 'object' && typeof value !== 'function'),
  isRegExp: (value) => value instanceof RegExp,
  isString: (value) => typeof value === 'string',
  isSymbol: (value) => typeof value === 'symbol',
  isUndefined: (value) => value === undefined,
};
const olds = {};
for (const name of Object.keys(OLD_TESTS)) olds[name] = has('remove_nodejs_compat_eol_v23') ? undefined : OLD_TESTS[name];

const { TextEncoder, TextDecoder } = load('encoding');
const members = {
  inspect: inspectWith,
  format,
  formatWithOptions,
  stripVTControlCharacters,
  toUSVString,
  log,
  promisify,
  callbackify,
  inherits,
  deprecate,
  debuglog,
  debug: debuglog,
  _extend,
  aborted,
  parseEnv,
  isDeepStrictEqual,
  isArray: primordials.isArray,
  types,
  TextEncoder,
  TextDecoder,
  parseArgs: notImplemented('parseArgs'),
  transferableAbortController: notImplemented('transferableAbortController'),
  transferableAbortSignal: notImplemented('transferableAbortSignal'),
  getSystemErrorMap: notImplemented('getSystemErrorMap'),
  getSystemErrorName: notImplemented('getSystemErrorName'),
  getSystemErrorMessage: notImplemented('getSystemErrorMessage'),
  ...olds,
};
return { module: { __proto__: null, default: members, ...members } };
