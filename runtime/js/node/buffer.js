// Node's `buffer`: `Buffer`, a Uint8Array that knows Node's encodings. How one is made; what it does is in rooms of its own.
'use strict';
const { apply, Uint8Array, Error, RangeError } = primordials;
const { defineProperty, setPrototypeOf, isView, isArray } = primordials;
const { coded, invalidType, outOfRange, needNumber, needString } = load('node_errors');
const { kind } = load('inspect');
const encodings = load('node_buffer_encodings');
const { ASCII, BASE64, BASE64URL, HEX, LATIN1, UTF16LE, UTF8, WINDOWS_1252, BYTES_MAX } = encodings;
const { encodingOf, isAnyBuffer, isBytes, needEncoding, needOffset, outOfBounds } = encodings;
const { INSPECT_MAX_BYTES, methodsOf } = load('node_buffer_methods');
const STRING_UNITS_MAX = 536870888;

// --- Making -------------------------------------------------------------------------------------------------------

class FastBuffer extends Uint8Array {}

function Buffer(value, encodingOrOffset, length) {
  if (typeof value === 'number') {
    if (typeof encodingOrOffset === 'string') throw invalidType('string', 'of type string', value);
    return alloc(value);
  }
  return from(value, encodingOrOffset, length);
}
// Programs test with `instanceof Buffer`, call it without `new`, and extend its prototype.
const { prototype } = FastBuffer;
Buffer.prototype = prototype;
setPrototypeOf(Buffer, Uint8Array);
defineProperty(prototype, 'constructor', { __proto__: null, value: Buffer, writable: true, configurable: true });
defineProperty(Buffer, 'poolSize', { __proto__: null, value: 0, enumerable: true });
// `subarray` and its like make Buffers.
defineProperty(Buffer, Symbol.species, { __proto__: null, get: () => FastBuffer, configurable: true });

function fromString(string, encoding) {
  const number = needEncoding(typeof encoding === 'string' ? encoding : undefined);
  return new FastBuffer(native.decode(`${string}`, number, BYTES_MAX));
}

function fromArrayBuffer(buffer, offset, length) {
  offset = +offset;
  if (!(offset === offset)) offset = 0;
  const most = buffer.byteLength - offset;
  if (most < 0) throw outOfBounds('offset');
  if (length === undefined) length = most;
  else if (+length > 0) {
    length = +length;
    if (length > most) throw outOfBounds('length');
  } else length = 0;
  return new FastBuffer(buffer, offset, length);
}

function fromArrayLike(array) {
  return new FastBuffer(Uint8Array.from(array).buffer);
}

function from(value, encodingOrOffset, length) {
  if (typeof value === 'string') return fromString(value, encodingOrOffset);
  if (typeof value === 'object' && value !== null) {
    if (isAnyBuffer(value)) return fromArrayBuffer(value, encodingOrOffset, length);
    const plain = value.valueOf && value.valueOf();
    if (plain !== null && plain !== undefined && plain !== value && (typeof plain === 'string' || typeof plain === 'object')) {
      return from(plain, encodingOrOffset, length);
    }
    if (value.length !== undefined || isAnyBuffer(value.buffer)) {
      return typeof value.length === 'number' ? fromArrayLike(value) : new FastBuffer(0);
    }
    if (value.type === 'Buffer' && isArray(value.data)) return fromArrayLike(value.data);
    const convert = value[Symbol.toPrimitive];
    if (typeof convert === 'function') {
      const primitive = apply(convert, value, ['string']);
      if (typeof primitive === 'string') return fromString(primitive, encodingOrOffset);
    }
  }
  const wanted = 
    'of type string or an instance of Buffer, TypedArray, ArrayBuffer, SharedArrayBuffer, or Array or an Array-like Object';
  throw invalidType('first argument', wanted, value);
}

function alloc(size, fill, encoding) {
  needNumber(size, 'size');
  if (size !== size) {
    throw coded(new RangeError(`The argument 'size' is invalid. Received NaN`), 'ERR_INVALID_ARG_VALUE');
  }
  if (size >= BYTES_MAX) throw outOfRange('size', `0 to ${BYTES_MAX}`, size);
  const made = new FastBuffer(size);
  if (fill === undefined) return made;
  if (encoding !== undefined) needString(encoding, 'encoding');
  return apply(prototype.fill, made, [fill, encoding]);
}
// Memory is never shared between buffers, nor handed out as it was left: all of these are the same.
const allocUnsafe = (size) => alloc(size);

function SlowBuffer(length) {
  return alloc(+length);
}
setPrototypeOf(SlowBuffer, Uint8Array);
SlowBuffer.prototype = prototype;

function byteLength(string, encoding) {
  if (typeof string !== 'string') {
    if (isView(string) || isAnyBuffer(string)) return string.byteLength;
    throw invalidType('string', 'of type string or an instance of Buffer or ArrayBuffer', string);
  }
  switch (encodingOf(encoding)) {
    case LATIN1:
    case ASCII:
      return string.length;
    case UTF16LE:
      return string.length * 2;
    case HEX:
      return string.length >>> 1;
    case BASE64:
    case BASE64URL: {
      const padding = string.endsWith('==') ? 2 : string.endsWith('=') ? 1 : 0;
      return ((string.length - padding) * 3) >>> 2;
    }
    default:
      return native.utf8Length(string);
  }
}

function compare(a, b) {
  if (!isBytes(a)) throw invalidType('buf1', 'an instance of Buffer or Uint8Array', a);
  if (!isBytes(b)) throw invalidType('buf2', 'an instance of Buffer or Uint8Array', b);
  return a === b ? 0 : native.compare(a, b);
}

function concat(list, length) {
  if (!isArray(list)) throw invalidType('list', 'an instance of Array', list);
  if (list.length === 0) return new FastBuffer(0);
  if (length === undefined) {
    length = 0;
    for (let i = 0; i < list.length; i++) length += list[i]?.length ?? 0;
  } else needOffset(length, 'length', 0, BYTES_MAX);
  const whole = alloc(length);
  let at = 0;
  for (let i = 0; i < list.length; i++) {
    if (!isBytes(list[i])) throw invalidType(`list[${i}]`, 'an instance of Buffer or Uint8Array', list[i]);
    if (at >= length) continue;
    whole.set(list[i].length > length - at ? list[i].subarray(0, length - at) : list[i], at);
    at += list[i].length;
  }
  return whole;
}

function copyBytesFrom(view, offset = 0, length) {
  if (!isView(view) || kind(view) !== 'typedarray') throw invalidType('view', 'an instance of TypedArray', view);
  if (view.length === 0) return new FastBuffer(0);
  needOffset(offset, 'offset', 0, Number.MAX_SAFE_INTEGER);
  if (length !== undefined) needOffset(length, 'length', 0, Number.MAX_SAFE_INTEGER);
  if (offset >= view.length) return new FastBuffer(0);
  const part = view.slice(offset, length === undefined ? view.length : offset + length);
  return new FastBuffer(part.buffer, part.byteOffset, part.byteLength);
}

const statics = {
  from: (value, encodingOrOffset, length) => from(value, encodingOrOffset, length),
  of: (...bytes) => fromArrayLike(bytes),
  alloc: (size, fill, encoding) => alloc(size, fill, encoding),
  allocUnsafe,
  allocUnsafeSlow: allocUnsafe,
  isBuffer: (value) => value instanceof Buffer,
  isEncoding: (name) => typeof name === 'string' && name.length !== 0 && encodingOf(name) !== undefined,
  byteLength,
  compare,
  concat,
  copyBytesFrom,
};
for (const name of Object.keys(statics)) hide(Buffer, name, statics[name]);

// As Node has it: methods that programs list, and replace.
function hide(target, key, value) {
  defineProperty(target, key, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
}

// --- Methods ------------------------------------------------------------------------------------------------------

const methods = methodsOf(Buffer);
for (const key of primordials.ownKeys(methods)) hide(prototype, key, methods[key]);
for (const [key, get] of [
  ['parent', (buffer) => buffer.buffer],
  ['offset', (buffer) => buffer.byteOffset],
]) {
  const descriptor = {
    __proto__: null,
    get() {
      return this instanceof Buffer ? get(this) : undefined;
    },
    enumerable: true,
    configurable: true,
  };
  defineProperty(prototype, key, descriptor);
}

// --- The module ---------------------------------------------------------------------------------------------------

function checkDetached(value, what) {
  const buffer = isView(value) ? value.buffer : value;
  if (!isAnyBuffer(buffer)) {
    throw invalidType('input', 'an instance of ArrayBuffer, Buffer, or TypedArray', value);
  }
  if (buffer.detached) throw new Error(`Unable to determine if buffer is ${what} when it is detached`);
}

function isUtf8(value) {
  checkDetached(value, 'UTF8');
  return native.isUtf8(value);
}

function isAscii(value) {
  checkDetached(value, 'ASCII');
  return native.isAscii(value);
}

const TRANSCODABLE = [UTF8, UTF16LE, LATIN1, ASCII];
function transcode(source, fromName, toName) {
  if (!isView(source)) throw invalidType('source', 'an instance of ArrayBufferView', source);
  const [a, b] = [needEncoding(fromName), needEncoding(toName)];
  if (!TRANSCODABLE.includes(a) || !TRANSCODABLE.includes(b)) throw new Error('Unable to transcode buffer due to unsupported encoding');
  const narrow = (encoding) => encoding === LATIN1 || encoding === ASCII;
  const wide = narrow(a) && b !== UTF16LE ? WINDOWS_1252 : narrow(a) ? LATIN1 : a;
  const text = native.text(source, 0, source.byteLength, wide);
  return new FastBuffer(native.decode(text, narrow(b) ? WINDOWS_1252 : b, BYTES_MAX));
}

function resolveObjectURL() {
  throw new Error('resolveObjectURL is not implemented');
}

const { Blob, File } = load('blob');
const { atob, btoa } = load('base64');
const members = {
  Buffer,
  SlowBuffer,
  Blob,
  File,
  atob,
  btoa,
  constants: { MAX_LENGTH: BYTES_MAX, MAX_STRING_LENGTH: STRING_UNITS_MAX },
  kMaxLength: BYTES_MAX,
  kStringMaxLength: STRING_UNITS_MAX,
  INSPECT_MAX_BYTES,
  isUtf8,
  isAscii,
  transcode,
  resolveObjectURL,
};
return { Buffer, needEncoding, module: { __proto__: null, default: members, ...members } };
