// Numbers in a Buffer: Node's `read` and `write` methods, made from what each type is.
'use strict';
const { RangeError } = primordials;
const { coded, invalidType, outOfRange, needNumber } = load('node_errors');

function outside(offset, most, name = 'offset') {
  if (Math.floor(offset) !== offset) return outOfRange(name, 'an integer', offset);
  if (most < 0) {
    return coded(new RangeError('Attempt to access memory outside buffer bounds'), 'ERR_BUFFER_OUT_OF_BOUNDS');
  }
  return outOfRange(name, `>= ${name === 'offset' ? 0 : 1} and <= ${most}`, offset);
}

function needRoom(buffer, offset, bytes) {
  needNumber(offset, 'offset');
  if (buffer[offset] === undefined || buffer[offset + bytes - 1] === undefined) {
    throw outside(offset, buffer.length - bytes);
  }
}

function needSize(size) {
  if (size === undefined) throw invalidType('byteLength', 'of type number', size);
  needNumber(size, 'byteLength');
  if (!(Number.isInteger(size) && size >= 1 && size <= 6)) throw outside(size, 6, 'byteLength');
}

// Up to six bytes as a number.
function readNumber(buffer, offset, bytes, little, signed) {
  let value = 0;
  for (let i = 0; i < bytes; i++) value = value * 256 + buffer[offset + (little ? bytes - 1 - i : i)];
  return signed && value >= 2 ** (bytes * 8 - 1) ? value - 2 ** (bytes * 8) : value;
}

function readBig(buffer, offset, little, signed) {
  const half = (at) => BigInt(readNumber(buffer, offset + at, 4, little, false));
  const value = little ? (half(4) << 32n) + half(0) : (half(0) << 32n) + half(4);
  return signed ? BigInt.asIntN(64, value) : value;
}

// What an integer of a size may be, in Node's words: powers from five bytes up.
function needValue(value, bytes, signed, big) {
  const n = big ? 'n' : '';
  const bits = bytes * 8;
  const [least, most] = big
    ? signed
      ? [-(2n ** 63n), 2n ** 63n - 1n]
      : [0n, 2n ** 64n - 1n]
    : signed
      ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
      : [0, 2 ** bits - 1];
  if (value >= least && value <= most) return;
  if (!(value > most || value < least)) return;
  let range = `>= ${least}${n} and <= ${most}${n}`;
  if (bytes > 4) {
    range = signed
      ? `>= -(2${n} ** ${bits - 1}${n}) and < 2${n} ** ${bits - 1}${n}`
      : `>= 0${n} and < 2${n} ** ${bits}${n}`;
  }
  throw outOfRange('value', range, value);
}

function writeNumber(buffer, value, offset, bytes, little) {
  // Modulo the size: negative numbers as their two's complement, NaN as 0.
  let rest = Math.trunc(value) || 0;
  if (rest < 0) rest += 2 ** (bytes * 8);
  for (let i = 0; i < bytes; i++) {
    buffer[offset + (little ? i : bytes - 1 - i)] = rest % 256;
    rest = Math.floor(rest / 256);
  }
  return offset + bytes;
}

function writeBig(buffer, value, offset, little) {
  let rest = BigInt.asUintN(64, value);
  for (let i = 0; i < 8; i++) {
    buffer[offset + (little ? i : 7 - i)] = Number(rest & 255n);
    rest >>= 8n;
  }
  return offset + 8;
}

const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

const methods = {};

// A method under its name, and the other spelling of unsigned ones.
function define(name, method) {
  const named = { [name]: method }[name];
  methods[name] = named;
  if (name.includes('UInt')) methods[name.replace('UInt', 'Uint')] = named;
}

for (const [order, little] of [
  ['LE', true],
  ['BE', false],
]) {
  for (const [sign, signed] of [
    ['UInt', false],
    ['Int', true],
  ]) {
    define(`read${sign}${order}`, function (offset, size) {
      if (offset === undefined) throw invalidType('offset', 'of type number', offset);
      needSize(size);
      needRoom(this, offset, size);
      return readNumber(this, offset, size, little, signed);
    });
    define(`write${sign}${order}`, function (value, offset, size) {
      needSize(size);
      value = +value;
      needValue(value, size, signed, false);
      needRoom(this, offset, size);
      return writeNumber(this, value, offset, size, little);
    });
    for (const bits of [16, 32]) {
      define(`read${sign}${bits}${order}`, function (offset = 0) {
        needRoom(this, offset, bits / 8);
        return readNumber(this, offset, bits / 8, little, signed);
      });
      define(`write${sign}${bits}${order}`, function (value, offset = 0) {
        value = +value;
        needValue(value, bits / 8, signed, false);
        needRoom(this, offset, bits / 8);
        return writeNumber(this, value, offset, bits / 8, little);
      });
    }
    define(`readBig${sign}64${order}`, function (offset = 0) {
      needRoom(this, offset, 8);
      return readBig(this, offset, little, signed);
    });
    define(`writeBig${sign}64${order}`, function (value, offset = 0) {
      needValue(value, 8, signed, true);
      needRoom(this, offset, 8);
      return writeBig(this, value, offset, little);
    });
  }
  for (const [type, bytes, get, set] of [
    ['Float', 4, 'getFloat32', 'setFloat32'],
    ['Double', 8, 'getFloat64', 'setFloat64'],
  ]) {
    define(`read${type}${order}`, function (offset = 0) {
      needRoom(this, offset, bytes);
      for (let i = 0; i < bytes; i++) scratchBytes[i] = this[offset + i];
      return scratch[get](0, little);
    });
    define(`write${type}${order}`, function (value, offset = 0) {
      value = +value;
      needRoom(this, offset, bytes);
      scratch[set](0, value, little);
      for (let i = 0; i < bytes; i++) this[offset + i] = scratchBytes[i];
      return offset + bytes;
    });
  }
}
for (const [sign, signed] of [
  ['UInt', false],
  ['Int', true],
]) {
  define(`read${sign}8`, function (offset = 0) {
    needRoom(this, offset, 1);
    return readNumber(this, offset, 1, true, signed);
  });
  define(`write${sign}8`, function (value, offset = 0) {
    value = +value;
    needValue(value, 1, signed, false);
    needRoom(this, offset, 1);
    return writeNumber(this, value, offset, 1, true);
  });
}

return { methods };
