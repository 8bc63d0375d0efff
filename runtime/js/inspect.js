// Values as text for the console, laid out as Node's `util.inspect` lays them out (which is what the platform prints):
// depth 2, 80 columns, up to 100 items of a collection. Reads objects without running their accessors; proxies are
// looked through, never asked.
'use strict';
const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, propertyIsEnumerable, isArray } = primordials;

const { COLUMNS, ITEMS_MAX, COMPACT_LEVELS, number, quote, keyText, hex, more, fits, columns } = load('inspect_text');

const DEPTH = 2;

// What an element of a layout is: a property with its key, an item of an array, or an entry of a collection.
const PROPERTY = 0;
const ITEM = 1;

class Inspector {
  constructor(depth, showHidden) {
    this.depth = depth;
    this.showHidden = showHidden;
    this.indentation = 0;
    this.level = 0;
    this.seen = [];
    this.circular = null;
  }

  value(value, level) {
    switch (typeof value) {
      case 'string':
        return this.string(value);
      case 'number':
        return number(value);
      case 'bigint':
        return `${value}n`;
      case 'symbol':
        return apply(primordials.symbolToString, value, []);
      case 'undefined':
      case 'boolean':
        return `${value}`;
    }
    if (value === null) return 'null';
    if (this.seen.includes(value)) {
      this.circular ??= new Map();
      let index = this.circular.get(value);
      if (index === undefined) this.circular.set(value, (index = this.circular.size + 1));
      return `[Circular *${index}]`;
    }
    return this.object(value, level);
  }

  // Text that would not fit on the line is broken after its own line breaks.
  string(text) {
    if (text.length > 16 && text.length > COLUMNS - this.indentation - 4 && text.includes('\n')) {
      const lines = text.split(/(?<=\n)/);
      return lines.map(quote).join(` +\n${' '.repeat(this.indentation + 2)}`);
    }
    return quote(text);
  }

  object(object, level) {
    const kind = native.kind(object);
    if (kind === 'proxy') {
      const target = native.proxyTarget(object);
      return target === null ? '<Revoked Proxy>' : `Proxy(${this.value(target, level)})`;
    }
    const name = constructorName(object);
    let tag = tagOf(object);
    if (tag === name) tag = '';
    const resource = load('webidl').resourceOf(object);
    if (resource !== null) return this.resource(object, resource, level);

    let keys = this.keys(object, kind);
    let braces = ['{', '}'];
    let base = '';
    let shape = PROPERTY;
    // Adds what the object holds besides its properties.
    let contents = null;
    const braced = (fallback, size) => `${prefix(name, tag, fallback, size)}{`;

    switch (kind) {
      case 'array': {
        const length = object.length;
        const label = name !== 'Array' || tag !== '' ? prefix(name, tag, 'Array', length) : '';
        braces = [`${label}[`, ']'];
        if (length === 0 && keys.length === 0) return `${braces[0]}]`;
        shape = ITEM;
        contents = (output, depth) => this.items(object, length, output, depth);
        break;
      }
      case 'typedarray': {
        const length = apply(primordials.viewLength, object, []);
        const label = prefix(name, tag === apply(primordials.viewTag, object, []) ? '' : tag, 'TypedArray', length);
        braces = [`${label}[`, ']'];
        if (length === 0 && keys.length === 0) return `${braces[0]}]`;
        shape = ITEM;
        contents = (output) => {
          const shown = Math.min(length, ITEMS_MAX);
          for (let i = 0; i < shown; i++) output.push(this.value(object[i], 0));
          more(output, length - shown, 'item');
        };
        break;
      }
      case 'map': {
        const [entries] = native.preview(object);
        const size = entries.length / 2;
        braces = [braced('Map', size), '}'];
        if (size === 0 && keys.length === 0) return `${braces[0]}}`;
        contents = (output, depth) => this.pairs(entries, output, depth);
        break;
      }
      case 'set': {
        const [entries] = native.preview(object);
        braces = [braced('Set', entries.length), '}'];
        if (entries.length === 0 && keys.length === 0) return `${braces[0]}}`;
        contents = (output, depth) => this.members(entries, output, depth);
        break;
      }
      case 'mapiterator':
      case 'setiterator': {
        const [entries, isKeyValue] = native.preview(object);
        const owner = kind === 'mapiterator' ? 'Map' : 'Set';
        braces = [`[${owner} ${isKeyValue ? 'Entries' : 'Iterator'}] {`, '}'];
        contents = (output, depth) => (isKeyValue ? this.entryArrays(entries, output, depth) : this.members(entries, output, depth));
        break;
      }
      case 'arguments':
        braces[0] = '[Arguments] {';
        keys = ownKeys(object).filter((key) => apply(propertyIsEnumerable, object, [key]));
        break;
      case 'function':
        base = functionBase(object, name, tag);
        if (keys.length === 0) return base;
        break;
      case 'regexp':
        base = apply(primordials.regExpToString, object, []);
        if (name !== 'RegExp') base = `${prefix(name, tag, 'RegExp')}${base}`;
        if (keys.length === 0) return base;
        break;
      case 'date': {
        const time = apply(primordials.dateGetTime, object, []);
        base = time !== time ? 'Invalid Date' : apply(primordials.dateToISOString, object, []);
        if (name !== 'Date') base = `${prefix(name, tag, 'Date')}${base}`;
        if (keys.length === 0) return base;
        break;
      }
      case 'error':
        base = this.error(object, name, tag, keys);
        if (keys.length === 0) return base;
        break;
      case 'arraybuffer':
      case 'sharedarraybuffer': {
        braces[0] = braced(kind === 'arraybuffer' ? 'ArrayBuffer' : 'SharedArrayBuffer');
        contents = (output) => {
          if (object.detached) {
            output.push('(detached)');
          } else {
            output.push(`[Uint8Contents]: <${hex(object)}>`);
          }
          output.push(`byteLength: ${object.byteLength}`);
        };
        break;
      }
      case 'dataview':
        braces[0] = braced('DataView');
        contents = (output, depth) => {
          output.push(`byteLength: ${object.byteLength}`, `byteOffset: ${object.byteOffset}`);
          output.push(`buffer: ${this.nested(object.buffer, depth)}`);
        };
        break;
      case 'promise': {
        braces[0] = braced('Promise');
        const [state, result] = native.promise(object);
        contents = (output, depth) => {
          if (state === 0) output.push('<pending>');
          else if (state === 1) output.push(this.nested(result, depth));
          else output.push(`<rejected> ${this.nested(result, depth)}`);
        };
        break;
      }
      case 'weakmap':
      case 'weakset':
        braces[0] = braced(kind === 'weakmap' ? 'WeakMap' : 'WeakSet');
        contents = (output) => output.push('<items unknown>');
        break;
      case 'namespace':
        braces[0] = '[Module: null prototype] {';
        break;
      case 'number':
      case 'string':
      case 'boolean':
      case 'symbol':
      case 'bigint': {
        const type = kind === 'bigint' ? 'BigInt' : kind[0].toUpperCase() + kind.slice(1);
        const primitive = unbox(object, kind);
        base = `[${type}${name !== type ? ` (${name ?? 'null prototype'})` : ''}: ${new Inspector(0, false).value(primitive, 0)}]`;
        if (tag !== '' && tag !== name) base += ` [${tag}]`;
        if (kind === 'string') keys = keys.filter((key) => typeof key === 'symbol' || !(key >>> 0 < object.length && `${key >>> 0}` === key));
        if (keys.length === 0) return base;
        break;
      }
      default:
        if (name === 'Object' && tag === '') {
          if (keys.length === 0) return '{}';
        } else {
          braces[0] = braced('Object');
          if (keys.length === 0) return `${braces[0]}}`;
        }
    }

    if (level > this.depth) {
      return `[${prefix(name, tag, kind === 'array' ? 'Array' : 'Object').slice(0, -1)}]`;
    }
    return this.lay(object, level, shape, base, braces, (output, depth) => {
      if (contents !== null) contents(output, depth);
      for (let i = 0; i < keys.length; i++) output.push(this.property(object, keys[i], depth));
    });
  }

  // Collects the parts of one object and lays them out.
  lay(object, level, shape, base, braces, collect) {
    const depth = level + 1;
    this.seen.push(object);
    this.level = depth;
    const output = [];
    collect(output, depth);
    this.seen.pop();
    const index = this.circular?.get(object);
    if (index !== undefined) {
      const reference = `<ref *${index}>`;
      if (base === '') braces[0] = `${reference} ${braces[0]}`;
      else base = `${reference} ${base}`;
    }
    return this.join(output, base, braces, shape, depth, object);
  }

  // One line when it fits and holds few levels; arrays of more than six items in columns; else one part a line.
  join(parts, base, braces, shape, depth, object) {
    const lead = base === '' ? '' : `${base} `;
    const count = parts.length;
    if (shape === ITEM && count > 6) parts = columns(parts, this.indentation, object);
    if (this.level - depth < COMPACT_LEVELS && count === parts.length) {
      const start = parts.length + this.indentation + braces[0].length + base.length + 10;
      if (fits(parts, start) && !base.includes('\n')) {
        const line = parts.join(', ');
        if (!line.includes('\n')) return `${lead}${braces[0]} ${line} ${braces[1]}`;
      }
    }
    const indent = `\n${' '.repeat(this.indentation)}`;
    return `${lead}${braces[0]}${indent}  ${parts.join(`,${indent}  `)}${indent}${braces[1]}`;
  }

  nested(value, depth) {
    this.indentation += 2;
    const text = this.value(value, depth);
    this.indentation -= 2;
    return text;
  }

  keys(object, kind) {
    if (this.showHidden) {
      const keys = ownKeys(object);
      if (kind === 'array' || kind === 'typedarray') {
        return keys.filter((key) => typeof key === 'symbol' || `${key >>> 0}` !== key);
      }
      return keys;
    }
    if (kind === 'array' || kind === 'typedarray') return native.namedKeys(object);
    const keys = ownKeys(object);
    return keys.filter((key) => apply(propertyIsEnumerable, object, [key]));
  }

  property(object, key, depth) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    let text;
    if (descriptor === undefined || 'value' in descriptor) {
      text = this.nested(descriptor === undefined ? object[key] : descriptor.value, depth);
    } else if (descriptor.get !== undefined) {
      text = descriptor.set !== undefined ? '[Getter/Setter]' : '[Getter]';
    } else {
      text = descriptor.set !== undefined ? '[Setter]' : 'undefined';
    }
    return `${keyText(key, descriptor === undefined || descriptor.enumerable)}: ${text}`;
  }

  items(array, length, output, depth) {
    let index = 0;
    while (index < length && output.length < ITEMS_MAX) {
      const descriptor = getOwnPropertyDescriptor(array, index);
      if (descriptor === undefined) {
        let end = index + 1;
        while (end < length && getOwnPropertyDescriptor(array, end) === undefined) end++;
        const holes = end - index;
        output.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`);
        index = end;
        continue;
      }
      if ('value' in descriptor) {
        output.push(this.nested(descriptor.value, depth));
      } else {
        output.push(descriptor.get !== undefined ? (descriptor.set !== undefined ? '[Getter/Setter]' : '[Getter]') : '[Setter]');
      }
      index++;
    }
    more(output, length - index, 'item');
  }

  pairs(entries, output, depth) {
    const shown = Math.min(entries.length, ITEMS_MAX * 2);
    for (let i = 0; i < shown; i += 2) {
      const key = this.nested(entries[i], depth);
      output.push(`${key} => ${this.nested(entries[i + 1], depth)}`);
    }
    more(output, (entries.length - shown) / 2, 'item');
  }

  entryArrays(entries, output, depth) {
    const shown = Math.min(entries.length, ITEMS_MAX * 2);
    for (let i = 0; i < shown; i += 2) {
      output.push(`[ ${this.nested(entries[i], depth)}, ${this.nested(entries[i + 1], depth)} ]`);
    }
    more(output, (entries.length - shown) / 2, 'item');
  }

  members(entries, output, depth) {
    const shown = Math.min(entries.length, ITEMS_MAX);
    for (let i = 0; i < shown; i++) output.push(this.nested(entries[i], depth));
    more(output, entries.length - shown, 'item');
  }

  // The stack, with the class's name in front where it is missing; `keys` loses what the stack already says and gains
  // the cause and the errors of an aggregate.
  error(error, name, tag, keys) {
    const own = (key) => {
      const descriptor = getOwnPropertyDescriptor(error, key);
      return descriptor !== undefined && 'value' in descriptor ? descriptor.value : undefined;
    };
    let stack = error.stack;
    stack = typeof stack === 'string' && stack !== '' ? stack : `${apply(primordials.errorToString, error, [])}`;
    for (const key of ['name', 'message', 'stack']) {
      const index = keys.indexOf(key);
      if (index >= 0 && (key === 'stack' || stack.includes(`${own(key)}`))) keys.splice(index, 1);
    }
    if (getOwnPropertyDescriptor(error, 'cause') !== undefined && !keys.includes('cause')) keys.push('cause');
    if (isArray(own('errors')) && !keys.includes('errors')) keys.push('errors');
    const errorName = typeof error.name === 'string' ? error.name : 'Error';
    const end = stack[errorName.length];
    if (name !== null && errorName.endsWith('Error') && stack.startsWith(errorName) && (end === undefined || end === ':' || end === '\n')) {
      const full = prefix(name, tag, 'Error').slice(0, -1);
      if (full !== errorName) {
        const rest = stack.slice(errorName.length);
        stack = full.includes(errorName) ? `${full}${rest}` : `${full} [${errorName}]${rest}`;
      }
    }
    if (!stack.includes('\n    at')) stack = `[${stack}]`;
    return this.indentation === 0 ? stack : stack.replaceAll('\n', `\n${' '.repeat(this.indentation)}`);
  }

  // An object of the platform: its accessors' values, and what its class says is inside.
  resource(object, resource, level) {
    const { name, getters, entries, internals } = resource;
    const own = ownKeys(object).filter((key) => apply(propertyIsEnumerable, object, [key]));
    const list = entries === undefined ? null : entries(object);
    const inside = internals === undefined ? [] : Object.entries(internals(object));
    const label = list === null ? `${name} {` : `${name}(${list.length}) {`;
    if (own.length + getters.length + inside.length + (list?.length ?? 0) === 0) return `${label}}`;
    if (level > this.depth) return `[${name}]`;
    return this.lay(object, level, PROPERTY, '', [label, '}'], (output, depth) => {
      if (list !== null) for (const [key, value] of list) output.push(`${quote(key)} => ${this.nested(value, depth)}`);
      const hidden = this.showHidden;
      this.showHidden = true;
      for (const key of own) output.push(this.property(object, key, depth));
      for (const [key, get] of getters) output.push(`${key}: ${this.nested(apply(get, object, []), depth)}`);
      this.showHidden = hidden;
      for (const [key, value] of inside) output.push(`[${key}]: ${this.nested(value, depth)}`);
    });
  }
}

// The name of the nearest constructor in the prototype chain; null when there is no prototype. An object with
// prototypes but no constructor is named by what they look like.
function constructorName(object) {
  for (let at = object; at !== null; ) {
    const descriptor = getOwnPropertyDescriptor(at, 'constructor');
    if (descriptor !== undefined && typeof descriptor.value === 'function' && descriptor.value.name !== '') {
      return `${descriptor.value.name}`;
    }
    if (native.kind(at) === 'proxy') return native.constructorName(object);
    at = getPrototypeOf(at);
  }
  const parent = getPrototypeOf(object);
  return parent === null ? null : `${native.constructorName(object)} <${inspect(parent, -1)}>`;
}

function tagOf(object) {
  for (let at = object; at !== null && native.kind(at) !== 'proxy'; at = getPrototypeOf(at)) {
    const descriptor = getOwnPropertyDescriptor(at, Symbol.toStringTag);
    if (descriptor === undefined) continue;
    let tag = descriptor.value;
    // Built-in tags may be accessors; a program's accessor is run, as reading the tag anywhere would.
    if (descriptor.get !== undefined) tag = apply(descriptor.get, object, []);
    return typeof tag === 'string' ? tag : '';
  }
  return '';
}

function prefix(name, tag, fallback, size) {
  const count = size === undefined ? '' : `(${size})`;
  if (name === null) {
    const label = tag !== '' && tag !== fallback ? `[${fallback}${count}: null prototype] [${tag}] ` : `[${fallback}${count}: null prototype] `;
    return label;
  }
  return tag !== '' ? `${name}${count} [${tag}] ` : `${name}${count} `;
}

function functionBase(fn, constructor, tag) {
  const source = apply(primordials.functionToString, fn, []);
  if (source.startsWith('class') && source.endsWith('}')) {
    const own = getOwnPropertyDescriptor(fn, 'name');
    const name = own !== undefined && typeof own.value === 'string' ? own.value : '';
    const parent = getPrototypeOf(fn);
    let text = `class ${name === '' ? '(anonymous)' : name}`;
    if (constructor !== 'Function' && constructor !== null) text += ` [${constructor}]`;
    if (tag !== '' && constructor !== tag) text += ` [${tag}]`;
    if (constructor === null) text += ' extends [null prototype]';
    else if (typeof parent === 'function' && parent.name !== '') text += ` extends ${parent.name}`;
    return `[${text}]`;
  }
  const type = constructor === null ? 'Function (null prototype)' : kindOfFunction(constructor);
  const { name } = fn;
  let base = `[${type}${typeof name === 'string' && name !== '' ? `: ${name}` : ' (anonymous)'}]`;
  if (constructor !== null && constructor !== type && constructor !== 'Function') base += ` ${constructor}`;
  if (tag !== '' && tag !== constructor) base += ` [${tag}]`;
  return base;
}

function kindOfFunction(constructor) {
  const named = constructor === 'AsyncFunction' || constructor === 'GeneratorFunction';
  return named || constructor === 'AsyncGeneratorFunction' ? constructor : 'Function';
}

function unbox(object, kind) {
  switch (kind) {
    case 'number':
      return Number.prototype.valueOf.call(object);
    case 'string':
      return String.prototype.valueOf.call(object);
    case 'boolean':
      return Boolean.prototype.valueOf.call(object);
    case 'symbol':
      return Symbol.prototype.valueOf.call(object);
    default:
      return BigInt.prototype.valueOf.call(object);
  }
}

function inspect(value, depth = DEPTH, showHidden = false) {
  return new Inspector(depth, showHidden).value(value, 0);
}

// `util.inspect` with its options.
function inspectWith(value, options) {
  const { depth = DEPTH, showHidden = false } = options ?? {};
  return inspect(value, depth === null ? Infinity : depth, showHidden);
}

// `%s` prints an object through its own `toString` where it has one, and briefly otherwise.
function stringArgument(value) {
  if (typeof value === 'number') return number(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol') return apply(primordials.symbolToString, value, []);
  if (typeof value !== 'object' || value === null) return `${value}`;
  const own = native.kind(value) === 'proxy' ? undefined : getOwnPropertyDescriptor(value, 'toString');
  return own !== undefined && typeof own.value === 'function' ? `${value}` : inspect(value, 0);
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

function formatArgument(letter, value) {
  switch (letter) {
    case 's':
      return stringArgument(value);
    case 'd':
      return numberArgument(value, Number);
    case 'i':
      return numberArgument(value, (any) => (typeof any === 'object' ? NaN : Number.parseInt(any, 10)));
    case 'f':
      return typeof value === 'bigint' ? number(Number.parseFloat(value)) : numberArgument(value, Number.parseFloat);
    case 'j':
      return jsonArgument(value);
    case 'o':
      return inspect(value, 4, true);
    case 'O':
      return inspect(value);
    case 'c':
      return '';
    default:
      return undefined;
  }
}

// As `format`; what is printed without a letter that says how, is printed with these options.
function formatWith(options, ...values) {
  return format(...values);
}

// One console line: a format string and its arguments, then whatever is left, with spaces between.
function format(...values) {
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
        part = formatArgument(letter, values[next]);
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
    text += typeof values[i] === 'string' ? values[i] : inspect(values[i]);
  }
  return text;
}

return { inspect, inspectWith, format, formatWith, kind: native.kind };
