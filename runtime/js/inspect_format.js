// Lines of text from a format string and values, as the console and Node's `util.format` print them.
'use strict';
const { apply, getOwnPropertyDescriptor } = primordials;
const { inspectWith, kind } = load('inspect');
const { number } = load('inspect_text');

// `%s` prints an object through its own `toString` where it has one, and briefly otherwise.
function stringArgument(value, options) {
  if (typeof value === 'number') return number(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return apply(primordials.symbolToString, value, []);
  if (typeof value !== 'object' || value === null) return `${value}`;
  const own = kind(value) === 'proxy' ? undefined : getOwnPropertyDescriptor(value, 'toString');
  return own !== undefined && typeof own.value === 'function' ? `${value}` : inspectWith(value, { ...options, depth: 0, colors: false, compact: 3 });
}

function jsonArgument(value) {
  try {
    return `${JSON.stringify(value)}`;
  } catch (error) {
    if (`${error?.message}`.includes('circular structure')) return '[Circular]';
    throw error;
  }
}

function numberArgument(value, convert) {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return 'NaN';
  return number(convert(value));
}

function formatArgument(letter, value, options) {
  switch (letter) {
    case 's':
      return stringArgument(value, options);
    case 'd':
      return numberArgument(value, Number);
    case 'i':
      return numberArgument(value, (any) => (typeof any === 'object' ? NaN : Number.parseInt(any, 10)));
    case 'f':
      return typeof value === 'bigint' ? number(Number.parseFloat(value)) : numberArgument(value, Number.parseFloat);
    case 'j':
      return jsonArgument(value);
    case 'o':
      return inspectWith(value, { ...options, showHidden: true, showProxy: true, depth: 4 });
    case 'O':
      return inspectWith(value, options);
    case 'c':
      return '';
    default:
      return undefined;
  }
}

// One console line: a format string and its arguments, then whatever is left, with spaces between.
function format(...values) {
  return formatWith(undefined, ...values);
}

// As `format`, with the options of `inspect` for what is printed by it.
function formatWith(options, ...values) {
  let text = '';
  let next = 0;
  const template = values[0];
  if (typeof template === 'string') {
    next = 1;
    if (values.length === 1) return template;
    let from = 0;
    for (let i = 0; i < template.length - 1; i++) {
      if (template[i] !== '%') continue;
      const letter = template[i + 1];
      let part;
      if (letter === '%') part = '%';
      else if (next < values.length) {
        part = formatArgument(letter, values[next], options);
        if (part !== undefined) next++;
      }
      if (part === undefined) continue;
      text += template.slice(from, i) + part;
      from = i + 2;
      i++;
    }
    text += template.slice(from);
    if (next === values.length) return text;
    text += ' ';
  }
  for (let i = next; i < values.length; i++) {
    if (i > next) text += ' ';
    text += typeof values[i] === 'string' ? values[i] : inspectWith(values[i], options);
  }
  return text;
}

return { format, formatWith };
