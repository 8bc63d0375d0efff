// What a Buffer does: text in it, looking for bytes, changing them. Numbers are in a room of their own.
'use strict';
const { apply, isView, setPrototypeOf, RangeError, Uint8Array } = primordials;
const { coded, invalidType, invalidValue, needNumber, outOfRange } = load('node_errors');
const { inspectWith, namedKeys } = load('inspect');
const { ASCII, BASE64, BASE64URL, BYTES_MAX, HEX, LATIN1, UTF16LE, UTF8, isBytes, needEncoding, needOffset } =
  load('node_buffer_encodings');

const INSPECT_MAX_BYTES = 50;

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

// The methods of the prototype of `Buffer`, in Node's order.
function methodsOf(Buffer) {
  const { prototype } = Buffer;
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
  return Object.assign(methods, load('node_buffer_numbers').methods);
}

return { INSPECT_MAX_BYTES, methodsOf };
