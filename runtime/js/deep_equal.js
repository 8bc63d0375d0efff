// Whether two values are deeply equal, as Node understands it strictly: prototypes, own symbols and signs of zero count,
// and nothing is converted.
'use strict';
const { apply, ownKeys, objectKeys, getPrototypeOf, objectToString, hasOwnProperty, propertyIsEnumerable } =
  primordials;
const { kind } = load('inspect');

function equal(a, b) {
  return compare(a, b, undefined);
}

// `open`: the pairs that are being compared further out. A cycle that comes back to one of them is equal so far.
function compare(a, b, open) {
  if (a === b) return a !== 0 || Object.is(a, b);
  if (typeof a !== 'object') return typeof a === 'number' && a !== a && b !== b;
  if (typeof b !== 'object' || a === null || b === null) return false;
  if (getPrototypeOf(a) !== getPrototypeOf(b)) return false;
  if (apply(objectToString, a, []) !== apply(objectToString, b, [])) return false;
  const what = kind(a);
  if (what !== kind(b)) return false;
  switch (what) {
    case 'array':
      if (a.length !== b.length) return false;
      break;
    case 'date':
      if (!Object.is(apply(primordials.dateGetTime, a, []), apply(primordials.dateGetTime, b, []))) return false;
      break;
    case 'regexp':
      if (a.source !== b.source || a.flags !== b.flags || a.lastIndex !== b.lastIndex) return false;
      break;
    case 'error':
      if (a.message !== b.message || a.name !== b.name) return false;
      for (const key of ['cause', 'errors']) {
        const has = apply(hasOwnProperty, a, [key]);
        if (has !== apply(hasOwnProperty, b, [key])) return false;
        if (has && !nested(a, b, open, (pairs) => compare(a[key], b[key], pairs))) return false;
      }
      break;
    case 'number':
    case 'string':
    case 'boolean':
    case 'bigint':
    case 'symbol':
      if (!Object.is(a.valueOf(), b.valueOf())) return false;
      break;
    case 'arraybuffer':
    case 'sharedarraybuffer':
      if (!sameBytes(new Uint8Array(a), new Uint8Array(b))) return false;
      break;
    case 'dataview':
      if (!sameBytes(bytesOf(a), bytesOf(b))) return false;
      break;
    case 'typedarray':
      if (!sameElements(a, b)) return false;
      break;
    case 'promise':
    case 'weakmap':
    case 'weakset':
      return false;
  }
  return nested(a, b, open, (pairs) => {
    if (what === 'map' && !sameMaps(a, b, pairs)) return false;
    if (what === 'set' && !sameSets(a, b, pairs)) return false;
    return sameProperties(a, b, what, pairs);
  });
}

// Runs `inside` with the pair marked as being compared.
function nested(a, b, open, inside) {
  for (let pair = open; pair !== undefined; pair = pair.next) {
    if (pair.a === a && pair.b === b) return true;
  }
  return inside({ a, b, next: open });
}

function bytesOf(view) {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function sameBytes(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) return false;
  }
  return true;
}

function sameElements(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) {
    if (!Object.is(a[i], b[i])) return false;
  }
  return true;
}

// The keys that count: enumerable ones, and of collections with elements only those that name none.
function keysOf(object, what) {
  const keys =
    what === 'typedarray' || what === 'string'
      ? objectKeys(object).filter((key) => !(key >= 0 && String(Number(key)) === key))
      : objectKeys(object);
  const symbols = ownKeys(object).filter((key) => typeof key === 'symbol');
  return keys.concat(symbols.filter((key) => apply(propertyIsEnumerable, object, [key])));
}

function sameProperties(a, b, what, pairs) {
  const keys = keysOf(a, what);
  if (keys.length !== keysOf(b, what).length) return false;
  for (const key of keys) {
    if (!apply(propertyIsEnumerable, b, [key])) return false;
  }
  for (const key of keys) {
    if (!compare(a[key], b[key], pairs)) return false;
  }
  return true;
}

function sameSets(a, b, pairs) {
  if (a.size !== b.size) return false;
  const unmatched = [];
  for (const value of a) {
    if (b.has(value)) continue;
    if (typeof value !== 'object' || value === null) return false;
    unmatched.push(value);
  }
  const candidates = [...b].filter((value) => !a.has(value));
  return everyMatched(unmatched, candidates, (x, y) => compare(x, y, pairs));
}

function sameMaps(a, b, pairs) {
  if (a.size !== b.size) return false;
  const unmatched = [];
  for (const [key, value] of a) {
    if (b.has(key)) {
      if (!compare(value, b.get(key), pairs)) return false;
    } else {
      if (typeof key !== 'object' || key === null) return false;
      unmatched.push([key, value]);
    }
  }
  const candidates = [...b].filter(([key]) => !a.has(key));
  return everyMatched(
    unmatched,
    candidates,
    (x, y) => compare(x[0], y[0], pairs) && compare(x[1], y[1], pairs),
  );
}

// Each item has a candidate of its own.
function everyMatched(items, candidates, same) {
  for (const item of items) {
    const found = candidates.findIndex((candidate) => same(item, candidate));
    if (found < 0) return false;
    candidates.splice(found, 1);
  }
  return true;
}

return { equal };
