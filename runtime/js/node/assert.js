// Node's `assert` module.
'use strict';
const { apply, captureStackTrace, Error, TypeError } = primordials;
const { inspect } = load('inspect');
const { coded, hide, invalidType, missingArguments } = load('node_errors');
const { equal: deepEqualTo } = load('deep_equal');

// --- Errors ------------------------------------------------------------------------------------------------------

class AssertionError extends Error {
  constructor(options) {
    if (options === null || typeof options !== 'object') throw invalidType('options', 'of type object', options);
    const { message, operator, actual, expected, stackStartFn, stackStartFunction } = options;
    super(message === undefined ? describe(actual, expected, operator) : String(message));
    hide(this, 'name', 'AssertionError');
    this.generatedMessage = message === undefined;
    this.code = 'ERR_ASSERTION';
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    captureStackTrace(this, stackStartFn ?? stackStartFunction);
  }

  toString() {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

// What each operator says, where it is not about two values side by side.
const HEADINGS = {
  __proto__: null,
  strictEqual: 'Expected values to be strictly equal:',
  deepStrictEqual: 'Expected values to be strictly deep-equal:',
  deepEqual: 'Expected values to be loosely deep-equal:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  sameText: 'Values have same structure but are not reference-equal:',
};

const isPrimitive = (value) => value === null || (typeof value !== 'object' && typeof value !== 'function');
const show = (value) => inspect(value, 1000);

function describe(actual, expected, operator) {
  switch (operator) {
    case 'strictEqual':
      return difference(
        actual,
        expected,
        isPrimitive(actual) || isPrimitive(expected) ? 'strictEqual' : 'strictEqualObject',
      );
    case 'deepStrictEqual':
    case 'deepEqual':
      return difference(actual, expected, operator);
    case 'notStrictEqual':
    case 'notDeepStrictEqual':
    case 'notDeepEqual': {
      const heading = operator === 'notStrictEqual' && !isPrimitive(actual) ? 'notStrictEqualObject' : operator;
      const text = show(actual);
      return text.includes('\n') ? `${HEADINGS[heading]}\n\n${text}\n` : `${HEADINGS[heading]} ${text}`;
    }
    case '==':
    case '!=':
      return `${show(actual)} ${operator} ${show(expected)}`;
    default:
      return 'Failed';
  }
}

// Lines of a comparison that are shown.
const LINES_MAX = 200;

// Both values, line by line, with what they share shown once.
function difference(actual, expected, heading) {
  const [left, right] = [show(actual).split('\n'), show(expected).split('\n')];
  if (left.join('\n') === right.join('\n')) return `${HEADINGS.sameText}\n\n${left.join('\n')}\n`;
  const lines = [HEADINGS[heading], '+ actual - expected', ''];
  let end = 0;
  while (end < left.length && end < right.length && left.at(-1 - end) === right.at(-1 - end)) end++;
  let start = 0;
  while (start < left.length - end && start < right.length - end && left[start] === right[start]) start++;
  const add = (sign, part) => {
    for (const line of part) lines.push(`${sign} ${line}`);
  };
  add(' ', left.slice(0, start));
  add('+', left.slice(start, left.length - end));
  add('-', right.slice(start, right.length - end));
  add(' ', left.slice(left.length - end));
  if (lines.length > LINES_MAX) lines.splice(LINES_MAX, lines.length - LINES_MAX, '...');
  return `${lines.join('\n')}\n`;
}

// A caller's own error is thrown as it is; a message replaces ours.
function fails(options) {
  if (options.message instanceof Error) throw options.message;
  throw new AssertionError(options);
}

// --- Truth and equality --------------------------------------------------------------------------------------------

function truthy(given, value, message, stackStartFn) {
  if (value) return;
  let generated = false;
  if (given === 0) {
    generated = true;
    message = 'No value argument passed to `assert.ok()`';
  } else if (message === undefined) {
    generated = true;
    message = `${show(value)} == true`;
  } else if (message instanceof Error) {
    throw message;
  }
  const error = new AssertionError({ actual: value, expected: true, message, operator: '==', stackStartFn });
  error.generatedMessage = generated;
  throw error;
}

function assert(...args) {
  truthy(args.length, args[0], args[1], assert);
}

function ok(...args) {
  truthy(args.length, args[0], args[1], ok);
}

function fail(message) {
  if (message instanceof Error) throw message;
  const error = new AssertionError({ message: message ?? 'Failed', operator: 'fail', stackStartFn: fail });
  error.generatedMessage = message === undefined;
  throw error;
}

// An assertion about two values.
function comparison(name, operator, holds) {
  const check = {
    [name](actual, expected, message) {
      if (arguments.length < 2) throw missingArguments('actual', 'expected');
      if (!holds(actual, expected)) fails({ actual, expected, message, operator, stackStartFn: check });
    },
  }[name];
  return check;
}

const loosely = (a, b) => a == b || (a !== a && b !== b);
const equal = comparison('equal', '==', loosely);
const notEqual = comparison('notEqual', '!=', (a, b) => !loosely(a, b));
const strictEqual = comparison('strictEqual', 'strictEqual', Object.is);
const notStrictEqual = comparison('notStrictEqual', 'notStrictEqual', (a, b) => !Object.is(a, b));
const deepStrictEqual = comparison('deepStrictEqual', 'deepStrictEqual', (a, b) => deepEqualTo(a, b));
const notDeepStrictEqual = comparison('notDeepStrictEqual', 'notDeepStrictEqual', (a, b) => !deepEqualTo(a, b));
// As on workerd, and unlike Node, the loose names compare strictly.
const deepEqual = deepStrictEqual;
const notDeepEqual = notDeepStrictEqual;

function ifError(value) {
  if (value === null || value === undefined) return;
  let message = 'ifError got unwanted exception: ';
  if (typeof value === 'object' && typeof value.message === 'string') {
    message += value.message.length === 0 && value.constructor ? value.constructor.name : value.message;
  } else {
    message += show(value);
  }
  const error = new AssertionError({ actual: value, expected: null, operator: 'ifError', message, stackStartFn: ifError });
  error.generatedMessage = true;
  throw error;
}

function matching(string, regexp, message, wanted, check) {
  if (!(regexp instanceof RegExp)) throw invalidType('regexp', 'an instance of RegExp', regexp);
  if (typeof string === 'string' && (regexp.exec(string) !== null) === wanted) return;
  if (message instanceof Error) throw message;
  const generated = message === undefined;
  if (generated) {
    message =
      typeof string !== 'string'
        ? `The "string" argument must be of type string. Received type ${typeof string} (${show(string)})`
        : `The input ${wanted ? 'did not' : 'was expected to not'} match the regular expression ${show(
            regexp,
          )}. Input:\n\n${show(string)}\n`;
  }
  const operator = wanted ? 'match' : 'doesNotMatch';
  const error = new AssertionError({ actual: string, expected: regexp, message, operator, stackStartFn: check });
  error.generatedMessage = generated;
  throw error;
}

function match(string, regexp, message) {
  matching(string, regexp, message, true, match);
}

function doesNotMatch(string, regexp, message) {
  matching(string, regexp, message, false, doesNotMatch);
}

// --- What is thrown ------------------------------------------------------------------------------------------------

const NOTHING = { __proto__: null };

function thrownBy(fn) {
  if (typeof fn !== 'function') throw invalidType('fn', 'of type function', fn);
  try {
    fn();
  } catch (error) {
    return error;
  }
  return NOTHING;
}

// The promises of RPC calls can be called themselves.
const isThenable = (value) =>
  ((value !== null && typeof value === 'object') || typeof value === 'function') &&
  typeof value.then === 'function' &&
  typeof value.catch === 'function';

async function rejectionOf(promiseOrFunction) {
  let promise = promiseOrFunction;
  if (typeof promiseOrFunction === 'function') {
    promise = promiseOrFunction();
    if (!isThenable(promise)) {
      const error = new TypeError(
        `Expected instance of Promise to be returned from the "promiseFn" function but got ${
          promise === null || promise === undefined ? promise : `type ${typeof promise}`
        }.`,
      );
      throw coded(error, 'ERR_INVALID_RETURN_VALUE');
    }
  } else if (!isThenable(promise)) {
    throw invalidType('promiseFn', 'of type function or an instance of Promise', promise);
  }
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return NOTHING;
}

// Judges what was thrown by what was expected.
function expectThrown(check, actual, expected, message) {
  if (typeof expected === 'string') {
    if (message !== undefined) {
      throw invalidType('error', 'of type function or an instance of Error, RegExp, or Object', expected);
    }
    if (typeof actual === 'object' && actual !== null ? actual.message === expected : actual === expected) {
      const error = new TypeError(
        `The "error/message" argument is ambiguous. The error ${
          typeof actual === 'object' ? 'message' : ''
        } "${expected}" is identical to the message.`,
      );
      throw coded(error, 'ERR_AMBIGUOUS_ARGUMENT');
    }
    message = expected;
    expected = undefined;
  } else if (expected !== undefined && typeof expected !== 'object' && typeof expected !== 'function') {
    throw invalidType('error', 'of type function or an instance of Error, RegExp, or Object', expected);
  }
  if (actual === NOTHING) {
    let details = expected?.name ? ` (${expected.name})` : '';
    details += message ? `: ${message}` : '.';
    const what = check === rejects ? 'rejection' : 'exception';
    if (message instanceof Error) throw message;
    const error = new AssertionError({
      actual: undefined,
      expected,
      operator: check.name,
      message: `Missing expected ${what}${details}`,
      stackStartFn: check,
    });
    error.generatedMessage = message === undefined;
    throw error;
  }
  if (expected !== undefined) judge(check, actual, expected, message);
}

function judge(check, actual, expected, message) {
  let generated = false;
  let problem;
  if (typeof expected === 'function') {
    if (expected.prototype !== undefined && actual instanceof expected) return;
    if (Error.isPrototypeOf(expected) || expected === Error) {
      if (message === undefined) {
        generated = true;
        message = `The error is expected to be an instance of "${expected.name}". Received `;
        message +=
          actual instanceof Error
            ? `"${actual.name}"\n\nError message:\n\n${actual.message}`
            : `"${inspect(actual, -1)}"`;
      }
      problem = true;
    } else {
      if (apply(expected, {}, [actual]) === true) return;
      if (message === undefined) {
        generated = true;
        const name = expected.name ? `"${expected.name}" ` : '';
        message = `The ${name}validation function is expected to return "true". Received ${show(
          apply(expected, {}, [actual]),
        )}`;
        if (actual instanceof Error) message += `\n\nCaught error:\n\n${actual}`;
      }
      problem = true;
    }
  } else if (expected instanceof RegExp) {
    const text = String(actual);
    if (expected.exec(text) !== null) return;
    if (message === undefined) {
      generated = true;
      message = `The input did not match the regular expression ${show(expected)}. Input:\n\n${show(text)}\n`;
    }
    problem = true;
  } else {
    return expectProperties(check, actual, expected, message);
  }
  if (problem) {
    if (message instanceof Error) throw message;
    const error = new AssertionError({ actual, expected, message, operator: check.name, stackStartFn: check });
    error.generatedMessage = generated;
    throw error;
  }
}

// Every property of `expected` is there; a regular expression tells what a string has to look like.
function expectProperties(check, actual, expected, message) {
  if (actual === null || typeof actual !== 'object') {
    const error = new AssertionError({ actual, expected, message, operator: 'deepStrictEqual', stackStartFn: check });
    error.operator = check.name;
    throw error;
  }
  const keys = Object.keys(expected);
  if (expected instanceof Error) keys.push('name', 'message');
  else if (keys.length === 0) {
    const error = new TypeError(`The argument 'error' may not be an empty object. Received {}`);
    throw coded(error, 'ERR_INVALID_ARG_VALUE');
  }
  for (const key of keys) {
    const [has, wants] = [actual[key], expected[key]];
    if (typeof has === 'string' && wants instanceof RegExp && wants.exec(has) !== null) continue;
    if (key in actual && deepEqualTo(has, wants)) continue;
    if (message instanceof Error) throw message;
    const generated = message === undefined;
    if (generated) {
      const part = (from) => {
        const shown = {};
        for (const name of keys) if (name in from) shown[name] = from[name];
        return shown;
      };
      message = difference(part(actual), part(expected), 'deepStrictEqual');
    }
    const error = new AssertionError({ actual, expected, message, operator: check.name, stackStartFn: check });
    error.generatedMessage = generated;
    throw error;
  }
}

// Nothing may be thrown; what is thrown and was not meant goes on its way.
function expectNothing(check, actual, expected, message) {
  if (actual === NOTHING) return;
  if (typeof expected === 'string') {
    message = expected;
    expected = undefined;
  }
  const meant =
    expected === undefined ||
    (expected instanceof RegExp
      ? expected.exec(String(actual)) !== null
      : typeof expected === 'function' &&
        ((expected.prototype !== undefined && actual instanceof expected) ||
          (!Error.isPrototypeOf(expected) && apply(expected, {}, [actual]) === true)));
  if (!meant) throw actual;
  const details = message ? `: ${message}` : '.';
  const what = check === doesNotReject ? 'rejection' : 'exception';
  throw new AssertionError({
    actual,
    expected,
    operator: check.name,
    message: `Got unwanted ${what}${details}\nActual message: "${actual?.message}"`,
    stackStartFn: check,
  });
}

function throws(fn, ...args) {
  expectThrown(throws, thrownBy(fn), ...args);
}

function doesNotThrow(fn, ...args) {
  expectNothing(doesNotThrow, thrownBy(fn), ...args);
}

async function rejects(promiseFn, ...args) {
  expectThrown(rejects, await rejectionOf(promiseFn), ...args);
}

async function doesNotReject(promiseFn, ...args) {
  expectNothing(doesNotReject, await rejectionOf(promiseFn), ...args);
}

// --- The module ----------------------------------------------------------------------------------------------------

const members = {
  fail,
  ok,
  equal,
  notEqual,
  deepEqual,
  notDeepEqual,
  deepStrictEqual,
  notDeepStrictEqual,
  strictEqual,
  notStrictEqual,
  throws,
  rejects,
  doesNotThrow,
  doesNotReject,
  ifError,
  match,
  doesNotMatch,
  AssertionError,
};
Object.assign(assert, members);

function strict(...args) {
  truthy(args.length, args[0], args[1], strict);
}
Object.assign(strict, members, {
  equal: strictEqual,
  notEqual: notStrictEqual,
  deepEqual: deepStrictEqual,
  notDeepEqual: notDeepStrictEqual,
});
assert.strict = strict;
strict.strict = strict;

return {
  module: { __proto__: null, default: assert, ...members, strict },
  strictModule: {
    __proto__: null,
    default: strict,
    ...members,
    equal: strictEqual,
    notEqual: notStrictEqual,
    deepEqual: deepStrictEqual,
    notDeepEqual: notDeepStrictEqual,
    strict,
  },
};
