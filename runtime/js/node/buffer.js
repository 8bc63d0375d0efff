// Node's `buffer`: `Buffer`, a Uint8Array that knows Node's encodings. Numbers in buffers are in a room of their own.
'use strict';
const { apply, Uint8Array, Error, TypeError, RangeError } = primordials;
const { defineProperty, setPrototypeOf, isView, isArray } = primordials;
const errors = load('node_errors');
const { coded, invalidType, invalidValue, outOfRange, needNumber, needString } = errors;
const { kind, inspectWith, namedKeys } = load('inspect');
const BYTES_MAX = 2147483647;
const STRING_UNITS_MAX = 536870888;
const INSPECT_MAX_BYTES = 50;

// --- Encodings ----------------------------------------------------------------------------------------------------

const UTF8 = 0;
const UTF16LE = 1;
const LATIN1 = 2;
const ASCII = 3;
const BASE64 = 4;
const BASE64URL = 5;
const HEX = 6;
// Not one of Node's, but what its `transcode` uses.
const WINDOWS_1252 = 7;
const ENCODINGS = {
  __proto__: null,
  utf8: UTF8,
  'utf-8': UTF8,
  ucs2: UTF16LE,
  'ucs-2': UTF16LE,
  utf16le: UTF16LE,
  'utf-16le': UTF16LE,
  latin1: LATIN1,
  binary: LATIN1,
  ascii: ASCII,
  base64: BASE64,
  base64url: BASE64URL,
  hex: HEX,
};

const unknownEncoding = (name) => coded(new TypeError(`Unknown encoding: ${name}`), 'ERR_UNKNOWN_ENCODING');
const outOfBounds = (name) =>
  coded(
    new RangeError(
      name === undefined ? 'Attempt to access memory outside buffer bounds' : `"${name}" is outside of buffer bounds`,
    ),
    'ERR_BUFFER_OUT_OF_BOUNDS',
  );

// An encoding's number; undefined when there is none of the name.
function encodingOf(name) {
  if (name === undefined || name === null || name === '') return UTF8;
  return ENCODINGS[name] ?? ENCODINGS[`${name}`.toLowerCase()];
}

function needEncoding(name) {
  const encoding = encodingOf(name);
  if (encoding === undefined) throw unknownEncoding(name);
  return encoding;
}

const isBytes = (value) => isView(value) && apply(primordials.viewTag, value, []) === 'Uint8Array';
const isAnyBuffer = (value) => {
  if (value === null || typeof value !== 'object') return false;
  const what = kind(value);
  return what === 'arraybuffer' || what === 'sharedarraybuffer';
};

function needOffset(value, name, least, most) {
  needNumber(value, name);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
}

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

// --- Text ---------------------------------------------------------------------------------------------------------

function toString(encoding, start, end) {
  if (arguments.length === 0) return native.text(this, 0, this.length, UTF8);
  const { length } = this;
  start = start === undefined || start <= 0 ? 0 : start >= length ? length : start | 0;
  end = end === undefined || end > length ? length : end | 0;
  return end <= start ? '' : native.text(this, start, end, needEncoding(encoding));
}

// How many bytes of `string` fit, and are now there.
function put(buffer, string, offset, length, encoding) {
  const bytes = new Uint8Array(native.decode(string, encoding, length));
  buffer.set(bytes, offset);
  return bytes.length;
}

function write(string, offset, length, encoding) {
  string = `${string}`;
  if (offset === undefined) return put(this, string, 0, this.length, UTF8);
  if (length === undefined && typeof offset === 'string') {
    return put(this, string, 0, this.length, needEncoding(offset));
  }
  needOffset(offset, 'offset', 0, this.length);
  const rest = this.length - offset;
  if (length === undefined) length = rest;
  else if (typeof length === 'string') {
    encoding = length;
    length = rest;
  } else {
    needOffset(length, 'length', 0, this.length);
    if (length > rest) length = rest;
  }
  return put(this, string, offset, length, needEncoding(encoding));
}

function sliceText(encoding) {
  return function (start = 0, end = this.length) {
    needOffset(start, 'start', 0, this.length);
    needOffset(end, 'end', 0, this.length);
    return end <= start ? '' : native.text(this, start, end, encoding);
  };
}

function writeText(encoding) {
  return function (string, offset = 0, length = this.length - offset) {
    needOffset(offset, 'offset', 0, this.length);
    needOffset(length, 'length', 0, this.length - offset);
    return put(this, `${string}`, offset, length, encoding);
  };
}

// --- Looking ------------------------------------------------------------------------------------------------------

function find(buffer, value, offset, encoding, forward) {
  if (typeof offset === 'string') {
    encoding = offset;
    offset = undefined;
  } else if (offset > 0x7fffffff) offset = 0x7fffffff;
  else if (offset < -0x80000000) offset = -0x80000000;
  offset = +offset;
  if (offset !== offset) offset = forward ? 0 : buffer.length;
  offset = Math.trunc(offset);
  if (typeof value === 'number') return native.indexOf(buffer, new Uint8Array([value]), offset, forward, false);
  if (typeof value === 'string') {
    const number = needEncoding(encoding);
    return native.indexOf(buffer, native.decode(value, number, BYTES_MAX), offset, forward, number === UTF16LE);
  }
  if (!isBytes(value)) {
    throw invalidType('value', 'one of type number or string or an instance of Buffer or Uint8Array', value);
  }
  return native.indexOf(buffer, value, offset, forward, needEncoding(encoding) === UTF16LE);
}

function compareParts(target, targetStart = 0, targetEnd = target?.length, sourceStart = 0, sourceEnd = this.length) {
  if (!isBytes(target)) throw invalidType('target', 'an instance of Buffer or Uint8Array', target);
  needOffset(targetStart, 'targetStart', 0, BYTES_MAX);
  needOffset(targetEnd, 'targetEnd', 0, target.length);
  needOffset(sourceStart, 'sourceStart', 0, BYTES_MAX);
  needOffset(sourceEnd, 'sourceEnd', 0, this.length);
  const part = (view, start, end) => new Uint8Array(view.buffer, view.byteOffset + Math.min(start, end), Math.max(end - start, 0));
  return native.compare(part(this, sourceStart, sourceEnd), part(target, targetStart, targetEnd));
}

function equals(other) {
  if (!isBytes(other)) throw invalidType('otherBuffer', 'an instance of Buffer or Uint8Array', other);
  return this === other || (this.byteLength === other.byteLength && native.compare(this, other) === 0);
}

// --- Changing -----------------------------------------------------------------------------------------------------

// A whole number, as arithmetic has it; `fallback` for what is none.
function toInteger(value, fallback) {
  const number = +value;
  return number === number && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? Math.trunc(number) : fallback;
}

function copy(target, targetStart, sourceStart, sourceEnd) {
  if (!isBytes(target)) throw invalidType('target', 'an instance of Buffer or Uint8Array', target);
  targetStart = toInteger(targetStart, 0);
  if (targetStart < 0) throw outOfRange('targetStart', '>= 0', targetStart);
  sourceStart = toInteger(sourceStart, 0);
  if (sourceStart < 0) throw outOfRange('sourceStart', '>= 0', sourceStart);
  sourceEnd = sourceEnd === undefined ? this.length : toInteger(sourceEnd, 0);
  if (sourceEnd < 0) throw outOfRange('sourceEnd', '>= 0', sourceEnd);
  const count = Math.min(Math.min(sourceEnd, this.length) - sourceStart, target.length - targetStart);
  if (!(count > 0)) return 0;
  target.set(this.subarray(sourceStart, sourceStart + count), targetStart);
  return count;
}

function fill(value, start, end, encoding) {
  if (typeof value === 'string') {
    if (typeof start === 'string') {
      encoding = start;
      start = undefined;
      end = undefined;
    } else if (typeof end === 'string') {
      encoding = end;
      end = undefined;
    }
    const number = needEncoding(encoding);
    const bytes = new Uint8Array(native.decode(value, number, BYTES_MAX));
    if (value.length !== 0 && bytes.length === 0) throw invalidValue('value', value);
    value = bytes.length === 0 ? 0 : bytes;
  }
  if (start !== undefined) needNumber(start, 'start');
  if (end !== undefined) needNumber(end, 'end');
  if (end < 0 || end > this.length) throw outOfRange('end', `0 to ${this.length}`, end);
  if (start < 0 || start > this.length) throw outOfRange('start', '0 to end', start);
  start = start === undefined ? 0 : start >>> 0;
  end = end === undefined ? this.length : end >>> 0;
  if (end <= start) return this;
  if (!isView(value)) {
    apply(Uint8Array.prototype.fill, this, [typeof value === 'boolean' ? +value : (value ?? 0) & 255, start, end]);
    return this;
  }
  if (value.byteLength === 0) throw invalidValue('value', 'zero-length');
  let pattern = new Uint8Array(value.buffer, value.byteOffset, Math.min(value.byteLength, end - start));
  this.set(pattern, start);
  // What is filled is the pattern for the rest, twice as long each time.
  for (let done = pattern.length; done < end - start; done *= 2) {
    this.copyWithin(start + done, start, start + Math.min(done, end - start - done));
  }
  return this;
}

function swapper(bits) {
  const bytes = bits / 8;
  return function () {
    if (this.length % bytes !== 0) {
      throw coded(new RangeError(`Buffer size must be a multiple of ${bits}-bits`), 'ERR_INVALID_BUFFER_SIZE');
    }
    for (let at = 0; at < this.length; at += bytes) this.subarray(at, at + bytes).reverse();
    return this;
  };
}

function inspect(_depth, options) {
  const shown = Math.min(this.byteLength, INSPECT_MAX_BYTES);
  let text = apply(toString, this, ['hex', 0, shown]).replace(/(.{2})(?!$)/g, '$1 ');
  const rest = this.byteLength - shown;
  if (rest > 0) text += ` ... ${rest} more byte${rest > 1 ? 's' : ''}`;
  const keys = namedKeys(this);
  if (options !== undefined && keys.length > 0) {
    const extras = Object.fromEntries(keys.map((key) => [key, this[key]]));
    const inside = inspectWith(extras, { ...options, breakLength: Infinity, compact: true }).slice(2, -2);
    text += this.length === 0 ? inside : `, ${inside}`;
  }
  return `<${this.constructor.name} ${text}>`;
}

const methods = {
  toString,
  toLocaleString: toString,
  toJSON() {
    return { type: 'Buffer', data: Array.prototype.slice.call(this) };
  },
  write,
  equals,
  compare: compareParts,
  indexOf(value, offset, encoding) {
    return find(this, value, offset, encoding, true);
  },
  lastIndexOf(value, offset, encoding) {
    return find(this, value, offset, encoding, false);
  },
  includes(value, offset, encoding) {
    return find(this, value, offset, encoding, true) !== -1;
  },
  copy,
  fill,
  // Unlike an array's, a view of the same bytes.
  slice(start, end) {
    return this.subarray(start, end);
  },
  subarray(start, end) {
    const part = apply(Uint8Array.prototype.subarray, this, [start, end]);
    return part instanceof Buffer ? part : setPrototypeOf(part, prototype);
  },
  swap16: swapper(16),
  swap32: swapper(32),
  swap64: swapper(64),
  inspect,
  [Symbol.for('nodejs.util.inspect.custom')]: inspect,
};
const texts = { utf8: UTF8, ucs2: UTF16LE, utf16le: UTF16LE, latin1: LATIN1, ascii: ASCII, base64: BASE64, base64url: BASE64URL, hex: HEX };
for (const name of Object.keys(texts)) {
  methods[`${name}Slice`] = sliceText(texts[name]);
  methods[`${name}Write`] = writeText(texts[name]);
}
Object.assign(methods, load('node_buffer_numbers').methods);
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
