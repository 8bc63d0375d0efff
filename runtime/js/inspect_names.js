// What an object is called when it is shown: its constructor, its tag, what kind of function or class it is.
'use strict';
const { apply, getOwnPropertyDescriptor, getPrototypeOf } = primordials;

// The name of the nearest constructor in the prototype chain; null when there is no prototype. An object with
// prototypes but no constructor is named by what they look like.
function constructorName(object, inspect) {
  for (let at = object; at !== null; ) {
    const descriptor = getOwnPropertyDescriptor(at, 'constructor');
    if (descriptor !== undefined && typeof descriptor.value === 'function' && descriptor.value.name !== '') {
      return `${descriptor.value.name}`;
    }
    if (native.kind(at) === 'proxy') return native.constructorName(object);
    at = getPrototypeOf(at);
  }
  const parent = getPrototypeOf(object);
  return parent === null ? null : `${native.constructorName(object)} <${inspect(parent)}>`;
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

return { engine: native, constructorName, tagOf, prefix, functionBase, unbox };
