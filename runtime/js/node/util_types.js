// Node's `util/types`: what an object is, whatever its prototype says.
'use strict';
const { apply, isView, viewTag } = primordials;
const { kind } = load('inspect');

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const is =
  (...kinds) =>
  (value) =>
    isObject(value) && kinds.includes(kind(value));
const isArrayOf = (tag) => (value) => isView(value) && apply(viewTag, value, []) === tag;

const members = {
  isCryptoKey: (value) => value instanceof globalThis.CryptoKey,
  // KeyObjects belong to a module that is not here: nothing is one.
  isKeyObject: () => false,
  // Nothing of the host is shown to a program as an external value.
  isExternal: () => false,
  isAsyncFunction: (value) => native.isAsyncFunction(value),
  isGeneratorFunction: (value) => native.isGeneratorFunction(value),
  isGeneratorObject: is('generator'),
  isAnyArrayBuffer: is('arraybuffer', 'sharedarraybuffer'),
  isArrayBuffer: is('arraybuffer'),
  isSharedArrayBuffer: is('sharedarraybuffer'),
  isArgumentsObject: is('arguments'),
  isBoxedPrimitive: is('number', 'string', 'boolean', 'symbol', 'bigint'),
  isNumberObject: is('number'),
  isStringObject: is('string'),
  isBooleanObject: is('boolean'),
  isSymbolObject: is('symbol'),
  isBigIntObject: is('bigint'),
  isDataView: is('dataview'),
  isMap: is('map'),
  isMapIterator: is('mapiterator'),
  isSet: is('set'),
  isSetIterator: is('setiterator'),
  isWeakMap: is('weakmap'),
  isWeakSet: is('weakset'),
  isModuleNamespaceObject: is('namespace'),
  isNativeError: is('error'),
  isPromise: is('promise'),
  isProxy: is('proxy'),
  isRegExp: is('regexp'),
  isDate: is('date'),
  isArrayBufferView: (value) => isView(value),
  isTypedArray: is('typedarray'),
};
const ARRAYS = [
  'BigInt64Array',
  'BigUint64Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'Int8Array',
  'Int16Array',
  'Int32Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Uint16Array',
  'Uint32Array',
];
for (const name of ARRAYS) members[`is${name}`] = isArrayOf(name);

return { members, module: { __proto__: null, default: members, ...members } };
