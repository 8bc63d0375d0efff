// Text for the console: literals, and items laid out in lines and columns, as Node's `util.inspect` has them.
'use strict';
const { apply } = primordials;

const BYTES_MAX = 50;

// `separated`: digits in groups of three.
function number(value, separated = false) {
  if (Object.is(value, -0)) return '-0';
  const text = `${value}`;
  if (!separated || !/^-?\d+(?:\.\d+)?$/.test(text)) return text;
  const [whole, fraction] = text.split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, '_');
  return fraction === undefined ? grouped : `${grouped}.${fraction.replace(/\d{3}(?=\d)/g, '$&_')}`;
}

// Colours of terminals, by what they are called and by what is shown in them.
const COLORS = {
  __proto__: null,
  reset: [0, 0], bold: [1, 22], dim: [2, 22], italic: [3, 23], underline: [4, 24], blink: [5, 25], inverse: [7, 27],
  hidden: [8, 28], strikethrough: [9, 29], doubleunderline: [21, 24], black: [30, 39], red: [31, 39], green: [32, 39],
  yellow: [33, 39], blue: [34, 39], magenta: [35, 39], cyan: [36, 39], white: [37, 39], bgBlack: [40, 49],
  bgRed: [41, 49], bgGreen: [42, 49], bgYellow: [43, 49], bgBlue: [44, 49], bgMagenta: [45, 49], bgCyan: [46, 49],
  bgWhite: [47, 49], framed: [51, 54], overlined: [53, 55], gray: [90, 39], grey: [90, 39], redBright: [91, 39],
  greenBright: [92, 39], yellowBright: [93, 39], blueBright: [94, 39], magentaBright: [95, 39], cyanBright: [96, 39],
  whiteBright: [97, 39], bgGray: [100, 49], bgRedBright: [101, 49], bgGreenBright: [102, 49],
  bgYellowBright: [103, 49], bgBlueBright: [104, 49], bgMagentaBright: [105, 49], bgCyanBright: [106, 49],
  bgWhiteBright: [107, 49],
};
const STYLES = {
  __proto__: null,
  special: 'cyan', number: 'yellow', bigint: 'yellow', boolean: 'yellow', undefined: 'grey', null: 'bold',
  string: 'green', symbol: 'green', date: 'magenta', regexp: 'red', module: 'underline',
};

function colored(text, style) {
  const color = COLORS[STYLES[style]];
  return color === undefined ? text : `\u001b[${color[0]}m${text}\u001b[${color[1]}m`;
}

const lengthOf = (text, { colors }) => (colors ? text.replace(/\u001b\[\d\d?m/g, '') : text).length;

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

function keyText(key, enumerable, inspector) {
  let text;
  if (typeof key === 'symbol') text = inspector.styled(apply(primordials.symbolToString, key, []), 'symbol');
  else if (key === '__proto__') text = "['__proto__']";
  else if (enumerable && !/^[a-zA-Z_][a-zA-Z_0-9]*$/.test(key)) text = inspector.styled(quote(key), 'string');
  else text = key;
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

function fits(parts, start, inspector) {
  let total = parts.length + start;
  if (total + parts.length > inspector.breakLength) return false;
  for (let i = 0; i < parts.length; i++) {
    total += lengthOf(parts[i], inspector);
    if (total > inspector.breakLength) return false;
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
function columns(parts, array, inspector) {
  const { indentation, breakLength, compact, maxArrayLength } = inspector;
  const trailing = parts[parts.length - 1].startsWith('... ') && parts.length > maxArrayLength ? parts[parts.length - 1] : null;
  const count = trailing === null ? parts.length : parts.length - 1;
  const gap = 2;
  const widths = [];
  let total = 0;
  let widest = 0;
  for (let i = 0; i < count; i++) {
    widths[i] = inspector.colors ? lengthOf(parts[i], inspector) : width(parts[i]);
    total += widths[i] + gap;
    if (widths[i] > widest) widest = widths[i];
  }
  const cell = widest + gap;
  if (cell * 3 + indentation >= breakLength || !(total / cell > 5 || widest <= 6)) return parts;
  const bias = Math.max(cell - 3 - Math.sqrt(cell - total / parts.length), 1);
  const wanted = Math.min(
    Math.round(Math.sqrt(2.5 * bias * count) / bias),
    Math.floor((breakLength - indentation) / cell),
    compact * 4,
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

return { COLORS, STYLES, number, quote, keyText, hex, more, fits, columns, colored };
