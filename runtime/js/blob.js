// Blob and File (File API 3 and 4). A blob's bytes are one array that nobody changes; slices look into it.
'use strict';
const { isView, Error, RangeError, Uint8Array } = primordials;
const { illegalInvocation, badConstructorArgument, isDictionary, expose } = load('webidl');

// The most bytes one blob may hold, as on the platform.
const BLOB_BYTES_MAX = 128 * 1024 * 1024;
const token = {};

function bytesOf(part) {
  if (isBlob(part)) return contents(part);
  if (isView(part)) return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  return load('streams_byte').bufferView(part) ?? load('encoding').utf8(part);
}

function isBytes(part) {
  return isView(part) || load('streams_byte').bufferView(part) !== null;
}

function join(parts) {
  // Converting a part may run the program's code, which may resize the buffers of others: measured afterwards.
  const converted = [];
  for (const part of parts) converted.push(isBlob(part) || isBytes(part) ? part : `${part}`.toWellFormed());
  const views = converted.map(bytesOf);
  let total = 0;
  for (const view of views) {
    total += view.byteLength;
    if (total > BLOB_BYTES_MAX) {
      throw new RangeError(`Blob size ${total} exceeds limit ${BLOB_BYTES_MAX}`);
    }
  }
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const view of views) {
    bytes.set(view, at);
    at += view.byteLength;
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
