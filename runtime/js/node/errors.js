// Errors as Node makes them (a class, a code, a sentence), and the checks of arguments that throw them.
'use strict';
const { Error, TypeError, RangeError, defineProperty, isArray } = primordials;
const { inspect } = load('inspect');

const RECEIVED_MAX = 128;
const RECEIVED_TEXT_MAX = 28;

// Gives an error Node's code, which its `toString` shows.
function coded(error, code) {
  hide(error, 'code', code);
  hide(error, 'toString', function toString() {
    return `${this.name} [${code}]: ${this.message}`;
  });
  return error;
}

function hide(target, key, value) {
  defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: false, configurable: true });
}

function received(value) {
  if (value === null || value === undefined) return `${value}`;
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value === 'object') {
    const name = value.constructor?.name;
    return name ? `an instance of ${name}` : inspect(value, -1);
  }
  let text = inspect(value);
  if (text.length > RECEIVED_TEXT_MAX) text = `${text.slice(0, RECEIVED_TEXT_MAX - 3)}...`;
  return `type ${typeof value} (${text})`;
}

// What an argument is called: options of an argument are its properties.
const called = (name) => (name.endsWith(' argument') ? `The ${name}` : `The "${name}" ${kindOf(name)}`);
const kindOf = (name) => (name.includes('.') ? 'property' : 'argument');

// `wanted` goes on from "must be": "of type string", "an instance of Buffer or URL".
function invalidType(name, wanted, value) {
  return coded(new TypeError(`${called(name)} must be ${wanted}. Received ${received(value)}`), 'ERR_INVALID_ARG_TYPE');
}

function invalidValue(name, value, reason = 'is invalid') {
  let text = inspect(value);
  if (text.length > RECEIVED_MAX) text = `${text.slice(0, RECEIVED_MAX)}...`;
  const error = new TypeError(`The ${kindOf(name)} '${name}' ${reason}. Received ${text}`);
  return coded(error, 'ERR_INVALID_ARG_VALUE');
}

// Long numbers are printed in groups of three digits.
function grouped(value) {
  if (typeof value === 'bigint' ? value > 2n ** 32n || value < -(2n ** 32n) : Number.isInteger(value) && Math.abs(value) > 2 ** 32) {
    return `${value}`.replace(/\B(?=(\d{3})+$)/g, '_') + (typeof value === 'bigint' ? 'n' : '');
  }
  return inspect(value);
}

function outOfRange(name, range, value) {
  const text = `The value of "${name}" is out of range. It must be ${range}. Received ${grouped(value)}`;
  const error = new RangeError(text);
  error.code = 'ERR_OUT_OF_RANGE';
  // The stack, which is made when it is first asked for, has the code in its heading.
  error.name = 'RangeError [ERR_OUT_OF_RANGE]';
  void error.stack;
  error.name = 'RangeError';
  return error;
}

function missingArguments(...names) {
  const quoted = names.map((name) => `"${name}"`);
  const text = quoted.length > 1 ? `${quoted.join(' and ')} arguments` : `${quoted[0]} argument`;
  return coded(new TypeError(`The ${text} must be specified`), 'ERR_MISSING_ARGS');
}

class AbortError extends Error {
  constructor(reason) {
    super('The operation was aborted', { cause: reason });
    this.code = 'ABORT_ERR';
    this.name = 'AbortError';
  }
}

const needFunction = (value, name) => {
  if (typeof value !== 'function') throw invalidType(name, 'of type function', value);
};
const needString = (value, name) => {
  if (typeof value !== 'string') throw invalidType(name, 'of type string', value);
};
const needBoolean = (value, name) => {
  if (typeof value !== 'boolean') throw invalidType(name, 'of type boolean', value);
};
const needNumber = (value, name) => {
  if (typeof value !== 'number') throw invalidType(name, 'of type number', value);
};
const needObject = (value, name) => {
  if (value === null || typeof value !== 'object' || isArray(value)) throw invalidType(name, 'of type object', value);
};
const needInteger = (value, name, least = Number.MIN_SAFE_INTEGER, most = Number.MAX_SAFE_INTEGER) => {
  needNumber(value, name);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
};
const needSignal = (value, name) => {
  if (value === undefined) return;
  if (value === null || typeof value !== 'object' || !('aborted' in value)) {
    throw invalidType(name, 'an instance of AbortSignal', value);
  }
};

return {
  coded,
  hide,
  received,
  invalidType,
  invalidValue,
  outOfRange,
  missingArguments,
  AbortError,
  needFunction,
  needString,
  needBoolean,
  needNumber,
  needObject,
  needInteger,
  needSignal,
};
