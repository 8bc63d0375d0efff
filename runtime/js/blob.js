// Blob and File (File API 3 and 4). A blob's bytes are one array that nobody changes; slices look into it.
'use strict';
const { apply, bufferResizable, isView, Error, RangeError, TypeError, Uint8Array } = primordials;
const { bufferView, hasFlag, partsOf, setBytes } = load('streams_support');
const { illegalInvocation, badConstructorArgument, isDictionary, expose } = load('webidl');

// The most bytes one blob may hold, as on the platform.
const BLOB_BYTES_MAX = 128 * 1024 * 1024;
const token = {};

// A part as bytes; text is converted first, since that may run the program.
function partOf(part) {
  if (isBlob(part)) return contents(part);
  if (isView(part) || bufferView(part) !== null) return part;
  return load('encoding').utf8(primordials.apply(primordials.stringToWellFormed, `${part}`, []));
}

function bytesOf(part) {
  const { buffer, byteOffset, byteLength } = partsOf(isView(part) ? part : bufferView(part));
  if (apply(bufferResizable, buffer, []) && hasFlag('no_resizable_array_buffer_in_blob')) {
    throw new TypeError('Cannot create a Blob with a resizable ArrayBuffer');
  }
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function join(parts) {
  const converted = [];
  for (const part of parts) converted.push(partOf(part));
  const views = [];
  let total = 0;
  for (let i = 0; i < converted.length; i++) {
    views[i] = bytesOf(converted[i]);
    total += views[i].byteLength;
    if (total > BLOB_BYTES_MAX) {
      throw new RangeError(`Blob size ${total} exceeds limit ${BLOB_BYTES_MAX}`);
    }
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (let i = 0; i < views.length; i++) {
    setBytes(bytes, views[i], at);
    at += views[i].byteLength;
  }
  return bytes;
}

function normalizeType(type) {
  const text = type === undefined ? '' : `${type}`;
  return /^[\x20-\x7e]*$/.test(text) ? text.toLowerCase() : '';
}

function clamp(value, fallback, size) {
  if (value === undefined) return fallback;
  const index = Math.trunc(+value) || 0;
  return index < 0 ? Math.max(size + index, 0) : Math.min(index, size);
}

// What the rest of the platform may do with one.
let contents, isBlob;
class Blob {
  #bytes;
  #type;
  constructor(parts, options) {
    if (parts === token) {
      this.#bytes = options.bytes;
      this.#type = options.type;
      return;
    }
    const owner = new.target === File ? 'File' : 'Blob';
    if (parts !== undefined && (typeof parts !== 'object' || parts === null || typeof parts[Symbol.iterator] !== 'function')) {
      badConstructorArgument(owner, 1, 'Array');
    }
    if (!isDictionary(options)) badConstructorArgument(owner, owner === 'File' ? 3 : 2, 'Options');
    if (options?.endings !== undefined) throw new Error("The 'endings' field on 'Options' is not implemented.");
    this.#bytes = parts === undefined ? new Uint8Array(0) : join(parts);
    this.#type = normalizeType(options?.type);
  }
  get size() {
    if (!(#bytes in this)) illegalInvocation();
    return this.#bytes.byteLength;
  }
  get type() {
    if (!(#bytes in this)) illegalInvocation();
    return this.#type;
  }
  slice(start, end, type) {
    if (!(#bytes in this)) illegalInvocation();
    const size = this.#bytes.byteLength;
    const from = clamp(start, 0, size);
    const to = clamp(end, size, size);
    return new Blob(token, { bytes: this.#bytes.subarray(from, Math.max(from, to)), type: normalizeType(type) });
  }
  async arrayBuffer() {
    if (!(#bytes in this)) illegalInvocation();
    return this.#bytes.slice().buffer;
  }
  async bytes() {
    if (!(#bytes in this)) illegalInvocation();
    return this.#bytes.slice();
  }
  async text() {
    if (!(#bytes in this)) illegalInvocation();
    return load('encoding').decodeUtf8(this.#bytes);
  }
  stream() {
    if (!(#bytes in this)) illegalInvocation();
    return load('body').streamOf(this.#bytes);
  }

  static {
    contents = (blob) => {
      return blob.#bytes;
    };
    isBlob = (value) => {
      return typeof value === 'object' && value !== null && #bytes in value;
    };
  }
}

class File extends Blob {
  #name;
  #lastModified;
  constructor(parts, name, options) {
    if (parts === token) {
      super(token, name);
      this.#name = name.name;
      this.#lastModified = name.lastModified;
      return;
    }
    if (arguments.length < 2) badConstructorArgument('File', 2, 'string');
    super(parts, options);
    this.#name = `${name}`;
    this.#lastModified = options?.lastModified === undefined ? native.now() : Math.trunc(+options.lastModified) || 0;
  }
  get name() {
    if (!(#name in this)) illegalInvocation();
    return this.#name;
  }
  get lastModified() {
    if (!(#name in this)) illegalInvocation();
    return this.#lastModified;
  }
}
expose(Blob, 'Blob', {
  is: isBlob,
  clone: (blob) => newBlob(contents(blob), blob.type),
});
expose(File, 'File', { clone: undefined });

function isFile(value) {
  return isBlob(value) && value instanceof File;
}
function newBlob(bytes, type) {
  return new Blob(token, { bytes, type });
}
function newFile(bytes, name, type) {
  return new File(token, { bytes, name, type, lastModified: native.now() });
}
return { Blob, File, isBlob, isFile, contents, newBlob, newFile };
