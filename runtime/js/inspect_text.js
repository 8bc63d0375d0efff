// Text for the console: literals, and items laid out in lines and columns, as Node's `util.inspect` has them.
'use strict';
const { apply } = primordials;

const COLUMNS = 80;
const ITEMS_MAX = 100;
const BYTES_MAX = 50;
// Objects at most this many levels deep inside may share a line.
const COMPACT_LEVELS = 3;

function number(value) {
  return Object.is(value, -0) ? '-0' : `${value}`;
}

// Single quotes unless the text has some and no double quotes, or no backticks.
function quote(text) {
  let mark = "'";
  if (text.includes("'")) {
    if (!text.includes('"')) mark = '"';
    else if (!text.includes('`') && !text.includes('${')) mark = '`';
  }
  let quoted = mark;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x20 && unit < 0x7f) {
      const character = text[i];
      quoted += character === '\\' || character === mark ? `\\${character}` : character;
    } else if (unit === 0x0a) quoted += '\\n';
    else if (unit === 0x09) quoted += '\\t';
    else if (unit === 0x0d) quoted += '\\r';
    else if (unit === 0x08) quoted += '\\b';
    else if (unit === 0x0c) quoted += '\\f';
    else if (unit === 0x0b) quoted += '\\v';
    else if (unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)) quoted += `\\x${unit.toString(16).toUpperCase().padStart(2, '0')}`;
    else if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = text.charCodeAt(i + 1);
      if (unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff) {
        quoted += text[i] + text[++i];
      } else {
        quoted += `\\u${unit.toString(16)}`;
      }
    } else quoted += text[i];
  }
  return quoted + mark;
}

function keyText(key, enumerable) {
  let text;
  if (typeof key === 'symbol') text = apply(primordials.symbolToString, key, []);
  else if (key === '__proto__') text = "['__proto__']";
  else text = enumerable && !/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key) ? quote(key) : key;
  return enumerable ? text : `[${text}]`;
}

function hex(buffer) {
  const bytes = new primordials.Uint8Array(buffer);
  const shown = Math.min(bytes.length, BYTES_MAX);
  const text = [];
  for (let i = 0; i < shown; i++) text.push(bytes[i].toString(16).padStart(2, '0'));
  const rest = bytes.length - shown;
  return text.join(' ') + (rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : '');
}

function more(output, rest, what) {
  if (rest > 0) output.push(`... ${rest} more ${what}${rest > 1 ? 's' : ''}`);
}

function fits(parts, start) {
  let total = parts.length + start;
  if (total + parts.length > COLUMNS) return false;
  for (let i = 0; i < parts.length; i++) {
    total += parts[i].length;
    if (total > COLUMNS) return false;
  }
  return true;
}

// Columns an item takes: wide characters take two, combining marks none.
function width(text) {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) {
    const point = character.codePointAt(0);
    if (/\p{Mn}|\p{Me}|\p{Cf}|\p{Cc}/u.test(character)) continue;
    const wide =
      (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) || (point >= 0xac00 && point <= 0xd7a3) ||
      (point >= 0xf900 && point <= 0xfaff) || (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
      (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1f300 && point <= 0x1faff) || (point >= 0x20000 && point <= 0x3fffd);
    columns += wide ? 2 : 1;
  }
  return columns;
}

// Items of similar length in aligned columns: about two and a half times as wide as high, at most 15.
function columns(parts, indentation, array) {
  const trailing = parts[parts.length - 1].startsWith('... ') && parts.length > ITEMS_MAX ? parts[parts.length - 1] : null;
  const count = trailing === null ? parts.length : parts.length - 1;
  const gap = 2;
  const widths = [];
  let total = 0;
  let widest = 0;
  for (let i = 0; i < count; i++) {
    widths[i] = width(parts[i]);
    total += widths[i] + gap;
    if (widths[i] > widest) widest = widths[i];
  }
  const cell = widest + gap;
  if (cell * 3 + indentation >= COLUMNS || !(total / cell > 5 || widest <= 6)) return parts;
  const bias = Math.max(cell - 3 - Math.sqrt(cell - total / parts.length), 1);
  const wanted = Math.min(
    Math.round(Math.sqrt(2.5 * bias * count) / bias),
    Math.floor((COLUMNS - indentation) / cell),
    COMPACT_LEVELS * 4,
    15,
  );
  if (wanted <= 1) return parts;
  const cells = [];
  for (let column = 0; column < wanted; column++) {
    let longest = 0;
    for (let i = column; i < count; i += wanted) if (widths[i] > longest) longest = widths[i];
    cells.push(longest + gap);
  }
  let numeric = true;
  for (let i = 0; i < parts.length && numeric; i++) {
    numeric = typeof array[i] === 'number' || typeof array[i] === 'bigint';
  }
  const lines = [];
  for (let from = 0; from < count; from += wanted) {
    const to = Math.min(from + wanted, count);
    let line = '';
    for (let i = from; i < to; i++) {
      const last = i === to - 1;
      const text = last ? parts[i] : `${parts[i]}, `;
      const room = cells[i - from] + parts[i].length - widths[i] - (last ? gap : 0);
      if (numeric) line += text.padStart(room);
      else line += last ? text : text.padEnd(room);
    }
    lines.push(line);
  }
  if (trailing !== null) lines.push(trailing);
  return lines;
}

return { COLUMNS, ITEMS_MAX, COMPACT_LEVELS, number, quote, keyText, hex, more, fits, columns };
