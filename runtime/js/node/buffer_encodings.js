// Node's encodings by name, and checks of arguments: what the rooms of `buffer` share.
'use strict';
const { apply, isView, RangeError, TypeError } = primordials;
const { coded, needNumber, outOfRange } = load('node_errors');
const { kind } = load('inspect');

// The most bytes that a Buffer has.
const BYTES_MAX = 2147483647;

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

return {
  ASCII,
  BASE64,
  BASE64URL,
  BYTES_MAX,
  HEX,
  LATIN1,
  UTF16LE,
  UTF8,
  WINDOWS_1252,
  encodingOf,
  isAnyBuffer,
  isBytes,
  needEncoding,
  needOffset,
  outOfBounds,
};
