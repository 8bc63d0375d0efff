// Values as text, laid out as Node's `util.inspect` lays them out (which is what the platform's console prints). Reads
// objects without running their accessors, unless asked to; proxies are looked through, never asked.
'use strict';
const { apply, ownKeys, getOwnPropertyDescriptor, getPrototypeOf, propertyIsEnumerable, isArray } = primordials;

const { number, quote, keyText, hex, more, fits, columns, colored, COLORS, STYLES } = load('inspect_text');
const { engine, constructorName, tagOf, prefix, functionBase, unbox } = load('inspect_names');

const CUSTOM = Symbol.for('nodejs.util.inspect.custom');

const DEFAULTS = {
  showHidden: false,
  depth: 2,
  colors: false,
  customInspect: true,
  showProxy: false,
  maxArrayLength: 100,
  maxStringLength: 10_000,
  breakLength: 80,
  compact: 3,
  sorted: false,
  getters: false,
  numericSeparator: false,
};

// What an element of a layout is: a property with its key, an item of an array, or an entry of a collection.
const PROPERTY = 0;
const ITEM = 1;

class Inspector {
  constructor(options) {
    Object.assign(this, DEFAULTS, options);
    for (const limit of ['depth', 'maxArrayLength', 'maxStringLength']) this[limit] ??= Infinity;
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
        return this.styled(number(value, this.numericSeparator), 'number');
      case 'bigint':
        return this.styled(`${number(value, this.numericSeparator)}n`, 'bigint');
      case 'symbol':
        return this.styled(apply(primordials.symbolToString, value, []), 'symbol');
      case 'undefined':
        return this.styled('undefined', 'undefined');
      case 'boolean':
        return this.styled(`${value}`, 'boolean');
    }
    if (value === null) return this.styled('null', 'null');
    if (this.customInspect) {
      const text = this.custom(value, level);
      if (text !== undefined) return text;
    }
    if (this.seen.includes(value)) {
      this.circular ??= new Map();
      let index = this.circular.get(value);
      if (index === undefined) this.circular.set(value, (index = this.circular.size + 1));
      return this.styled(`[Circular *${index}]`, 'special');
    }
    return this.object(value, level);
  }

  // What the object says itself; undefined when it says nothing.
  custom(value, level) {
    let target = value;
    while (engine.kind(target) === 'proxy') target = engine.proxyTarget(target);
    if (target === null) return undefined;
    const own = target[CUSTOM];
    if (typeof own !== 'function' || own === inspectWith || target.constructor?.prototype === target) return undefined;
    const depth = this.depth === Infinity ? Infinity : this.depth - level;
    const text = apply(own, value, [depth, this.options(depth), inspectWith]);
    if (text === value) return undefined;
    if (typeof text !== 'string') return this.value(text, level);
    return this.indented(text);
  }

  // The options as a program's own function gets them.
  options(depth) {
    const options = { stylize: (text, style) => this.styled(`${text}`, style) };
    for (const name of Object.keys(DEFAULTS)) options[name] = this[name];
    options.depth = depth;
    return options;
  }

  styled(text, style) {
    return this.colors ? colored(text, style) : text;
  }

  indented(text) {
    return this.indentation === 0 ? text : text.replaceAll('\n', `\n${' '.repeat(this.indentation)}`);
  }

  // Text that would not fit on the line is broken after its own line breaks.
  string(text) {
    let trailer = '';
    const rest = text.length - this.maxStringLength;
    if (rest > 0) {
      text = text.slice(0, this.maxStringLength);
      trailer = `... ${rest} more character${rest > 1 ? 's' : ''}`;
    }
    const breaks = this.compact !== true && text.length > 16 && text.length > this.breakLength - this.indentation - 4;
    const lines = breaks ? text.split(/(?<=\n)/) : [text];
    const quoted = lines.map((line) => this.styled(quote(line), 'string'));
    return quoted.join(` +\n${' '.repeat(this.indentation + 2)}`) + trailer;
  }

  object(object, level) {
    const kind = engine.kind(object);
    if (kind === 'proxy') {
      const target = engine.proxyTarget(object);
      if (target === null) return this.styled('<Revoked Proxy>', 'special');
      return this.showProxy ? this.proxy(object, target, level) : `Proxy(${this.value(target, level)})`;
    }
    const name = constructorName(object, (parent) => inspect(parent, -1));
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
          const shown = Math.min(length, this.maxArrayLength);
          for (let i = 0; i < shown; i++) output.push(this.value(object[i], 0));
          more(output, length - shown, 'item');
        };
        break;
      }
      case 'map': {
        const [entries] = engine.preview(object);
        const size = entries.length / 2;
        braces = [braced('Map', size), '}'];
        if (size === 0 && keys.length === 0) return `${braces[0]}}`;
        contents = (output, depth) => this.pairs(entries, output, depth);
        break;
      }
      case 'set': {
        const [entries] = engine.preview(object);
        braces = [braced('Set', entries.length), '}'];
        if (entries.length === 0 && keys.length === 0) return `${braces[0]}}`;
        contents = (output, depth) => this.members(entries, output, depth);
        break;
      }
      case 'mapiterator':
      case 'setiterator': {
        const [entries, isKeyValue] = engine.preview(object);
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
        if (keys.length === 0) return this.styled(base, 'special');
        break;
      case 'regexp':
        base = apply(primordials.regExpToString, object, []);
        if (name !== 'RegExp') base = `${prefix(name, tag, 'RegExp')}${base}`;
        if (keys.length === 0 || level > this.depth) return this.styled(base, 'regexp');
        break;
      case 'date': {
        const time = apply(primordials.dateGetTime, object, []);
        base = time !== time ? 'Invalid Date' : apply(primordials.dateToISOString, object, []);
        if (name !== 'Date') base = `${prefix(name, tag, 'Date')}${base}`;
        if (keys.length === 0) return this.styled(base, 'date');
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
        const [state, result] = engine.promise(object);
        contents = (output, depth) => {
          if (state === 0) output.push(this.styled('<pending>', 'special'));
          else if (state === 1) output.push(this.nested(result, depth));
          else output.push(`${this.styled('<rejected>', 'special')} ${this.nested(result, depth)}`);
        };
        break;
      }
      case 'weakmap':
      case 'weakset':
        braces[0] = braced(kind === 'weakmap' ? 'WeakMap' : 'WeakSet');
        contents = (output) => output.push(this.styled('<items unknown>', 'special'));
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
        base = `[${type}${name !== type ? ` (${name ?? 'null prototype'})` : ''}: ${inspect(primitive, 0)}]`;
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
      return this.styled(`[${prefix(name, tag, kind === 'array' ? 'Array' : 'Object').slice(0, -1)}]`, 'special');
    }
    return this.lay(object, level, shape, base, braces, (output, depth) => {
      if (contents !== null) contents(output, depth);
      const first = output.length;
      for (let i = 0; i < keys.length; i++) output.push(this.property(object, keys[i], depth));
      if (this.sorted) this.sort(output, shape === ITEM ? first : 0);
    });
  }

  proxy(object, target, level) {
    if (level > this.depth) return this.styled('Proxy [Array]', 'special');
    return this.lay(object, level, ITEM, '', ['Proxy [', ']'], (output, depth) => {
      output.push(this.nested(target, depth), this.nested(engine.proxyHandler(object), depth));
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

  sort(output, from) {
    const order = typeof this.sorted === 'function' ? this.sorted : undefined;
    output.push(...output.splice(from).sort(order));
  }

  // One line when it fits and holds few levels; arrays of more than six items in columns; else one part a line.
  join(parts, base, braces, shape, depth, object) {
    const lead = base === '' ? '' : `${base} `;
    const indent = `\n${' '.repeat(this.indentation)}`;
    if (this.compact === true) {
      if (fits(parts, base.length, this) && !base.includes('\n')) {
        return `${braces[0]}${base === '' ? '' : ` ${base}`} ${parts.join(', ')} ${braces[1]}`;
      }
      const start = base === '' && braces[0].length === 1 ? ' ' : `${base === '' ? '' : ` ${base}`}${indent}  `;
      return `${braces[0]}${start}${parts.join(`,${indent}  `)} ${braces[1]}`;
    }
    const count = parts.length;
    if (this.compact >= 1) {
      if (shape === ITEM && count > 6) parts = columns(parts, object, this);
      if (this.level - depth < this.compact && count === parts.length) {
        const start = parts.length + this.indentation + braces[0].length + base.length + 10;
        if (fits(parts, start, this) && !base.includes('\n')) {
          const line = parts.join(', ');
          if (!line.includes('\n')) return `${lead}${braces[0]} ${line} ${braces[1]}`;
        }
      }
    }
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
    if (kind === 'array' || kind === 'typedarray') return engine.namedKeys(object);
    const keys = ownKeys(object);
    return keys.filter((key) => apply(propertyIsEnumerable, object, [key]));
  }

  property(object, key, depth) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    let text;
    if (descriptor === undefined || 'value' in descriptor) {
      text = this.nested(descriptor === undefined ? object[key] : descriptor.value, depth);
    } else {
      text = this.accessor(object, descriptor, depth);
    }
    return `${keyText(key, descriptor === undefined || descriptor.enumerable, this)}: ${text}`;
  }

  accessor(object, { get, set }, depth) {
    if (get === undefined) return set === undefined ? this.styled('undefined', 'undefined') : this.styled('[Setter]', 'special');
    const label = set === undefined ? 'Getter' : 'Getter/Setter';
    const wanted = this.getters === true || (this.getters === 'get' ? set === undefined : this.getters === 'set' && set !== undefined);
    if (!wanted) return this.styled(`[${label}]`, 'special');
    try {
      const value = apply(get, object, []);
      if (value !== null && typeof value === 'object') {
        return `${this.styled(`[${label}]`, 'special')} ${this.nested(value, depth)}`;
      }
      return `${this.styled(`[${label}:`, 'special')} ${this.value(value, depth)}${this.styled(']', 'special')}`;
    } catch (error) {
      return this.styled(`[${label}: <Inspection threw (${error?.message})>]`, 'special');
    }
  }

  items(array, length, output, depth) {
    let index = 0;
    while (index < length && output.length < this.maxArrayLength) {
      const descriptor = getOwnPropertyDescriptor(array, index);
      if (descriptor === undefined) {
        let end = index + 1;
        while (end < length && getOwnPropertyDescriptor(array, end) === undefined) end++;
        const holes = end - index;
        output.push(this.styled(`<${holes} empty item${holes > 1 ? 's' : ''}>`, 'undefined'));
        index = end;
        continue;
      }
      const isValue = 'value' in descriptor;
      output.push(isValue ? this.nested(descriptor.value, depth) : this.accessor(array, descriptor, depth));
      index++;
    }
    more(output, length - index, 'item');
  }

  pairs(entries, output, depth) {
    const shown = Math.min(entries.length, this.maxArrayLength * 2);
    for (let i = 0; i < shown; i += 2) {
      const key = this.nested(entries[i], depth);
      output.push(`${key} => ${this.nested(entries[i + 1], depth)}`);
    }
    more(output, (entries.length - shown) / 2, 'item');
  }

  entryArrays(entries, output, depth) {
    const shown = Math.min(entries.length, this.maxArrayLength * 2);
    for (let i = 0; i < shown; i += 2) {
      output.push(`[ ${this.nested(entries[i], depth)}, ${this.nested(entries[i + 1], depth)} ]`);
    }
    more(output, (entries.length - shown) / 2, 'item');
  }

  members(entries, output, depth) {
    const shown = Math.min(entries.length, this.maxArrayLength);
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
    return this.indented(stack);
  }

  // An object of the platform: its accessors' values, and what its class says is inside.
  resource(object, resource, level) {
    const { name, getters, entries, internals } = resource;
    const own = ownKeys(object).filter((key) => apply(propertyIsEnumerable, object, [key]));
    const list = entries === undefined ? null : entries(object);
    const inside = internals === undefined ? [] : Object.entries(internals(object));
    const label = list === null ? name : `${name}(${list.length})`;
    if (own.length + getters.length + inside.length + (list?.length ?? 0) === 0) return `${label} {}`;
    if (level > this.depth) return this.styled(`[${name}]`, 'special');
    // Laid out as if it stood alone, and named and indented afterwards. Only without a limit do cycles have to be found.
    const alone = new Inspector(this.options(this.depth - level));
    if (this.depth === Infinity) alone.seen = this.seen;
    const text = alone.lay(object, 0, PROPERTY, '', ['{', '}'], (output, depth) => {
      if (list !== null) for (const [key, value] of list) output.push(`${quote(key)} => ${alone.nested(value, depth)}`);
      const hidden = alone.showHidden;
      alone.showHidden = true;
      for (const key of own) output.push(alone.property(object, key, depth));
      for (const [key, get] of getters) output.push(`${key}: ${alone.nested(apply(get, object, []), depth)}`);
      alone.showHidden = hidden;
      for (const [key, value] of inside) output.push(`[${key}]: ${alone.nested(value, depth)}`);
    });
    return this.indented(`${label} ${text}`);
  }
}

function inspect(value, depth = DEFAULTS.depth, showHidden = false) {
  return new Inspector({ depth, showHidden }).value(value, 0);
}

// `util.inspect`. Options it does not know are left out; booleans are the form of old: showHidden, depth, colors.
function inspectWith(value, options, depth, colors) {
  const known = {};
  if (typeof options === 'boolean' || arguments.length > 2) {
    options = { showHidden: options ?? false, depth, colors };
  }
  if (options !== undefined && options !== null) {
    for (const name of Object.keys(DEFAULTS)) if (options[name] !== undefined) known[name] = options[name];
  }
  return new Inspector(known).value(value, 0);
}

inspectWith.custom = CUSTOM;
inspectWith.defaultOptions = DEFAULTS;
inspectWith.colors = COLORS;
inspectWith.styles = STYLES;
primordials.defineProperty(inspectWith, 'name', { __proto__: null, value: 'inspect', configurable: true });

return { inspect, inspectWith, kind: engine.kind, namedKeys: engine.namedKeys };
