// Headers (Fetch 5.1) with the platform's rules: values may hold any character but NUL and line breaks, and `getAll`
// exists for `Set-Cookie`.
'use strict';
const { apply, TypeError } = primordials;
const { illegalInvocation, badArgument, badConstructorArgument, expose, iteratorClass, done } = load('webidl');

// RFC 9110 tokens; characters outside ASCII pass, as they do on the platform.
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z\u0080-\uffff]*$/;
const VALUE_FORBIDDEN = /[\0\r\n]/;
const COOKIE = 'set-cookie';

function checkName(name) {
  const text = `${name}`;
  if (!NAME.test(text)) throw new TypeError('Invalid header name.');
  return text.toLowerCase();
}

function checkValue(value) {
  const text = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  if (VALUE_FORBIDDEN.test(text)) throw new TypeError('Invalid header value.');
  return text;
}

// What the rest of the platform may do with one.
let sorted, raw, freeze, isImmutable, isHeaders;
class Headers {
  // From a name in lower case to its values, in order of arrival.
  #map = new Map();
  #immutable = false;

  constructor(init) {
    if (init === undefined) return;
    if ((typeof init !== 'object' && typeof init !== 'function') || init === null) {
      badConstructorArgument('Headers', 1, 'Headers or Sequence or object');
    }
    if (#map in init) {
      for (const [name, values] of init.#map) this.#map.set(name, [...values]);
      return;
    }
    const iterator = init[Symbol.iterator];
    if (iterator !== undefined && iterator !== null) {
      for (const pair of init) {
        const items = typeof pair === 'object' && pair !== null && typeof pair[Symbol.iterator] === 'function' ? [...pair] : [];
        if (items.length !== 2) {
          throw new TypeError(
            'To initialize a Headers object from a sequence, each inner sequence must have exactly two elements.',
          );
        }
        this.#append(items[0], items[1]);
      }
      return;
    }
    for (const key of primordials.ownKeys(init)) {
      if (typeof key === 'symbol' || !apply(primordials.propertyIsEnumerable, init, [key])) continue;
      this.#append(key, init[key]);
    }
  }
  get(name) {
    if (!(#map in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Headers', 'get', 1, 'string');
    const values = this.#map.get(checkName(name));
    return values === undefined ? null : values.join(', ');
  }
  getAll(name) {
    if (!(#map in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Headers', 'getAll', 1, 'string');
    if (`${name}`.toLowerCase() !== COOKIE) {
      throw new TypeError('getAll() can only be used with the header name "Set-Cookie".');
    }
    return this.getSetCookie();
  }
  getSetCookie() {
    if (!(#map in this)) illegalInvocation();
    return [...(this.#map.get(COOKIE) ?? [])];
  }
  has(name) {
    if (!(#map in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Headers', 'has', 1, 'string');
    return this.#map.has(checkName(name));
  }
  set(name, value) {
    if (!(#map in this)) illegalInvocation();
    if (arguments.length < 2) badArgument('Headers', 'set', arguments.length + 1, 'string');
    this.#checkMutable();
    this.#map.set(checkName(name), [checkValue(value)]);
  }
  append(name, value) {
    if (!(#map in this)) illegalInvocation();
    if (arguments.length < 2) badArgument('Headers', 'append', arguments.length + 1, 'string');
    this.#checkMutable();
    this.#append(name, value);
  }
  delete(name) {
    if (!(#map in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Headers', 'delete', 1, 'string');
    this.#checkMutable();
    this.#map.delete(checkName(name));
  }
  forEach(callback, thisArg) {
    if (!(#map in this)) illegalInvocation();
    if (typeof callback !== 'function') badArgument('Headers', 'forEach', 1, 'function');
    for (const [name, value] of sorted(this)) apply(callback, thisArg, [value, name, this]);
  }
  entries() {
    if (!(#map in this)) illegalInvocation();
    return newEntryIterator({ list: sorted(this), at: 0 });
  }
  keys() {
    if (!(#map in this)) illegalInvocation();
    return newKeyIterator({ list: sorted(this), at: 0 });
  }
  values() {
    if (!(#map in this)) illegalInvocation();
    return newValueIterator({ list: sorted(this), at: 0 });
  }

  #checkMutable() {
    if (this.#immutable) throw new TypeError("Can't modify immutable headers.");
  }
  #append(name, value) {
    const key = checkName(name);
    const text = checkValue(value);
    const values = this.#map.get(key);
    if (values === undefined) this.#map.set(key, [text]);
    else values.push(text);
  }

  static {
    // All pairs by name; the values of one name joined, cookies one by one.
    sorted = (headers) => {
      const names = [...headers.#map.keys()].sort();
      const pairs = [];
      for (const name of names) {
        const values = headers.#map.get(name);
        if (name === COOKIE) for (const value of values) pairs.push([name, value]);
        else pairs.push([name, values.join(', ')]);
      }
      return pairs;
    };
    // All pairs as they arrived, each value on its own: what travels.
    raw = (headers) => {
      const pairs = [];
      for (const [name, values] of headers.#map) for (const value of values) pairs.push([name, value]);
      return pairs;
    };
    freeze = (headers) => {
      headers.#immutable = true;
      return headers;
    };
    isImmutable = (headers) => {
      return headers.#immutable;
    };
    isHeaders = (value) => {
      return typeof value === 'object' && value !== null && #map in value;
    };
  }
}
expose(Headers, 'Headers', {
  is: isHeaders,
  entries: sorted,
  internals: (headers) => ({ immutable: isImmutable(headers) }),
  clone: (headers) => new Headers(headers),
});
primordials.defineProperty(Headers.prototype, Symbol.iterator, {
  __proto__: null,
  value: Headers.prototype.entries,
  writable: true,
  enumerable: false,
  configurable: true,
});

function advance(state, item) {
  return state.at < state.list.length ? item(state.list[state.at++]) : done;
}
const newEntryIterator = iteratorClass('EntryIterator', (state) => advance(state, (pair) => [pair[0], pair[1]]));
const newKeyIterator = iteratorClass('KeyIterator', (state) => advance(state, (pair) => pair[0]));
const newValueIterator = iteratorClass('ValueIterator', (state) => advance(state, (pair) => pair[1]));

return { Headers, isHeaders, raw, freeze };
