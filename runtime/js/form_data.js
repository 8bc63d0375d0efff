// FormData (XHR 5), and its two wire forms: multipart/form-data (RFC 7578) and application/x-www-form-urlencoded.
'use strict';
const { apply, TypeError } = primordials;
const { illegalInvocation, badArgument, expose, iteratorClass, done } = load('webidl');
const { isBlob, isFile, contents, newFile } = load('blob');
const { utf8, decodeUtf8 } = load('encoding');

function entryValue(value, filename) {
  if (!isBlob(value)) return `${value}`.toWellFormed();
  if (isFile(value) && filename === undefined) return value;
  const name = filename === undefined ? 'blob' : `${filename}`;
  return newFile(contents(value), name, value.type);
}

// What the rest of the platform may do with one.
let isFormData, pairs;
class FormData {
  // Pairs `[name, value]`, in order.
  #list = [];
  append(name, value, filename) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FormData', 'append', 1, 'string');
    if (arguments.length < 2) badArgument('FormData', 'append', 2, 'File or Blob or string');
    const key = `${name}`.toWellFormed();
    this.#list.push([key, entryValue(value, filename ?? (isBlob(value) && !isFile(value) ? key : undefined))]);
  }
  delete(name) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FormData', 'delete', 1, 'string');
    const key = `${name}`.toWellFormed();
    this.#list = this.#list.filter((pair) => pair[0] !== key);
  }
  get(name) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FormData', 'get', 1, 'string');
    const key = `${name}`.toWellFormed();
    return this.#list.find((pair) => pair[0] === key)?.[1] ?? null;
  }
  getAll(name) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FormData', 'getAll', 1, 'string');
    const key = `${name}`.toWellFormed();
    return this.#list.filter((pair) => pair[0] === key).map((pair) => pair[1]);
  }
  has(name) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FormData', 'has', 1, 'string');
    const key = `${name}`.toWellFormed();
    return this.#list.some((pair) => pair[0] === key);
  }
  set(name, value, filename) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FormData', 'set', 1, 'string');
    if (arguments.length < 2) badArgument('FormData', 'set', 2, 'File or Blob or string');
    const key = `${name}`.toWellFormed();
    const entry = [key, entryValue(value, filename ?? (isBlob(value) && !isFile(value) ? key : undefined))];
    const first = this.#list.findIndex((pair) => pair[0] === key);
    if (first < 0) {
      this.#list.push(entry);
      return;
    }
    this.#list[first] = entry;
    this.#list = this.#list.filter((pair, index) => index <= first || pair[0] !== key);
  }
  entries() {
    if (!(#list in this)) illegalInvocation();
    return newEntryIterator({ list: () => this.#list, at: 0 });
  }
  keys() {
    if (!(#list in this)) illegalInvocation();
    return newKeyIterator({ list: () => this.#list, at: 0 });
  }
  values() {
    if (!(#list in this)) illegalInvocation();
    return newValueIterator({ list: () => this.#list, at: 0 });
  }
  forEach(callback, thisArg) {
    if (!(#list in this)) illegalInvocation();
    if (typeof callback !== 'function') badArgument('FormData', 'forEach', 1, 'function');
    for (let i = 0; i < this.#list.length; i++) {
      const [name, value] = this.#list[i];
      apply(callback, thisArg, [value, name, this]);
    }
  }

  static {
    isFormData = (value) => {
      return typeof value === 'object' && value !== null && #list in value;
    };
    pairs = (form) => {
      return form.#list;
    };
  }
}
expose(FormData, 'FormData', { is: isFormData, entries: pairs });
primordials.defineProperty(FormData.prototype, Symbol.iterator, {
  __proto__: null,
  value: FormData.prototype.entries,
  writable: true,
  enumerable: false,
  configurable: true,
});

function advance(state, item) {
  const list = state.list();
  return state.at < list.length ? item(list[state.at++]) : done;
}
const newEntryIterator = iteratorClass('EntryIterator', (state) => advance(state, (pair) => [pair[0], pair[1]]));
const newKeyIterator = iteratorClass('KeyIterator', (state) => advance(state, (pair) => pair[0]));
const newValueIterator = iteratorClass('ValueIterator', (state) => advance(state, (pair) => pair[1]));

const ESCAPES = { __proto__: null, '"': '%22', '\n': '%0A', '\\': '\\\\' };

// A name or file name inside a header's quotes.
function quoted(text) {
  if (text.endsWith('\\')) throw new TypeError("Name or filename can't end with backslash");
  return text.replace(/["\n\\]/g, (character) => ESCAPES[character]);
}

// The form as multipart/form-data: its bytes and the content type with the boundary.
function serialize(form) {
  const boundary = native.boundary();
  const chunks = [];
  for (const [name, value] of pairs(form)) {
    const lead = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
    if (isBlob(value)) {
      const type = value.type === '' ? 'application/octet-stream' : value.type;
      chunks.push(utf8(`${lead}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`));
      chunks.push(contents(value), utf8('\r\n'));
    } else {
      chunks.push(utf8(`${lead}\r\n\r\n${value}\r\n`));
    }
  }
  chunks.push(utf8(`--${boundary}--`));
  let total = 0;
  for (const chunk of chunks) total += chunk.byteLength;
  const bytes = new primordials.Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return { bytes, type: `multipart/form-data; boundary=${boundary}` };
}

// A parameter of a media type; undefined when it has none of that name.
function parameter(type, name) {
  for (const part of type.split(';').slice(1)) {
    const equals = part.indexOf('=');
    if (equals < 0 || part.slice(0, equals).trim().toLowerCase() !== name) continue;
    const value = part.slice(equals + 1).trim();
    return value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value;
  }
  return undefined;
}

function parse(bytes, type) {
  // Without it, as the platform once was, files are texts.
  const supportsFiles = load('compat').has('formdata_parser_supports_files');
  if (type === null) throw new TypeError('Parsing a Body as FormData requires a Content-Type header.');
  const essence = type.split(';')[0].trim().toLowerCase();
  const form = new FormData();
  const list = pairs(form);
  if (essence === 'application/x-www-form-urlencoded') {
    const charset = parameter(type, 'charset')?.toLowerCase();
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'unicode-1-1-utf-8') {
      throw new TypeError('Non-utf-8 application/x-www-form-urlencoded body.');
    }
    const values = load('url').parseQuery(decodeUtf8(bytes));
    for (let i = 0; i < values.length; i += 2) list.push([values[i], values[i + 1]]);
    return form;
  }
  if (essence !== 'multipart/form-data') {
    throw new TypeError(
      'Unrecognized Content-Type header value. FormData can only parse the following MIME types: multipart/form-data, application/x-www-form-urlencoded',
    );
  }
  const boundary = parameter(type, 'boundary');
  if (boundary === undefined || boundary === '') {
    throw new TypeError(
      "No boundary string in Content-Type header. The multipart/form-data MIME type requires a boundary parameter, e.g. 'Content-Type: multipart/form-data; boundary=\"abcd\"'. See RFC 7578, section 4.",
    );
  }
  // Each part is `[name, file name or undefined, type or undefined, start, end]`.
  const parts = native.parse(bytes, boundary);
  for (const [name, filename, partType, start, end] of parts) {
    const body = bytes.subarray(start, end);
    if (filename === undefined || !supportsFiles) list.push([name, decodeUtf8(body)]);
    else list.push([name, newFile(body.slice(), filename, partType ?? '')]);
  }
  return form;
}

return { FormData, isFormData, serialize, parse };
