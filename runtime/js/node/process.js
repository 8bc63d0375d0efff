// Node's `process`, as workerd has it for Workers without `enable_nodejs_process_v2`: what packages look at, not a process.
'use strict';
const { Error, TypeError, Proxy } = primordials;
const { needFunction, needObject, invalidValue } = load('node_errors');
const { queueMicrotask } = load('timers');
const { getPrototypeOf, entries, values, freeze, hasOwn } = Object;
const { stringify } = JSON;
const { get, set, defineProperty } = Reflect;
const objectPrototype = Object.prototype;
const arrayPrototype = Array.prototype;

// Whether JSON says all of a value: nothing in it is an object of a class, or stands in it twice.
function isPlain(value, seen) {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return true;
  if (typeof value !== 'object' || seen.has(value)) return false;
  seen.add(value);
  const prototype = getPrototypeOf(value);
  if (prototype !== objectPrototype && prototype !== arrayPrototype) return false;
  return values(value).every((member) => isPlain(member, seen));
}

// The Worker's variables as Node's: each a string, and what cannot be one left out.
function variables() {
  const found = {};
  if (!load('compat').has('nodejs_compat_populate_process_env')) return found;
  for (const [name, value] of entries(load('workers').ofProcess.variables())) {
    if (typeof value === 'string') found[name] = value;
    else if (isPlain(value, new Set())) found[name] = stringify(value);
  }
  return found;
}

function text(name, value) {
  if (typeof name === 'symbol' || typeof value === 'symbol') throw new TypeError('Cannot convert a symbol value to a string');
  return `${value}`;
}

const env = new Proxy(variables(), {
  __proto__: null,
  set: (target, name, value) => set(target, name, text(name, value)),
  defineProperty(target, name, descriptor) {
    needObject(descriptor, 'descriptor');
    if ('get' in descriptor || 'set' in descriptor) {
      throw invalidValue('descriptor', descriptor, 'process.env value must not have getter/setter');
    }
    for (const attribute of ['configurable', 'enumerable', 'writable']) {
      if (!get(descriptor, attribute)) {
        throw invalidValue(`descriptor.${attribute}`, descriptor, `process.env value must be ${attribute}`);
      }
    }
    if (!hasOwn(descriptor, 'value')) {
      throw invalidValue('descriptor.value', descriptor, 'process.env value must be specified explicitly');
    }
    return defineProperty(target, name, { __proto__: null, ...descriptor, value: text(name, descriptor.value) });
  },
});

// There is no queue before that of microtasks.
function nextTick(callback, ...args) {
  needFunction(callback, 'callback');
  queueMicrotask(() => callback(...args));
}

// Ends the request, not a process.
function exit(code) {
  const number = code === undefined ? 0 : code;
  load('workers').ofProcess.abort(new Error(`The Node.js process.exit(${number}) API was called. Canceling the request.`));
}

const features = freeze({
  cached_builtins: true,
  debug: false,
  inspector: false,
  ipv6: true,
  openssl_is_boringssl: true,
  require_module: false,
  tls: true,
  tls_alpn: true,
  tls_ocsp: true,
  tls_sni: true,
  typescript: false,
  uv: true,
});

const process = { nextTick, env, exit, platform: 'linux', features };

return { process, module: { __proto__: null, default: process, ...process } };
