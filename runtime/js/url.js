// URL and URLSearchParams (URL Standard 6). Parsing and serializing are Rust's; a parsed URL is its `href` and the
// places where its parts begin, so that a part is a slice made when somebody asks.
'use strict';
const { TypeError } = primordials;
const { illegalInvocation, badArgument, badConstructorArgument, expose, iteratorClass, done } = load('webidl');

// Where `native.parse` and `native.set` write the places of the last URL, in this order.
const places = native.places;
const SCHEME_END = 0; // after the ":"
const USERNAME_START = 1;
const USERNAME_END = 2;
const PASSWORD_START = 3;
const PASSWORD_END = 4;
const HOST_START = 5;
const HOST_END = 6;
const PORT_START = 7;
const PORT_END = 8;
const PATH_START = 9;
const PATH_END = 10;
const QUERY_END = 11;
const SPECIAL = 12;

// A URL keeps its places in an array: short typed arrays cost several times as much to make.
function placesOfLast() {
  const p = places;
  return [p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12]];
}

// Which part `native.set` sets.
const PROTOCOL = 1, USERNAME = 2, PASSWORD = 3, HOST = 4, HOSTNAME = 5, PORT = 6, PATHNAME = 7, SEARCH = 8, HASH = 9;

class URL {
  #href;
  #places;
  #params = null;

  constructor(url, base) {
    if (arguments.length < 1) badConstructorArgument('URL', 1, 'USVString');
    const href = native.parse(`${url}`, base === undefined ? undefined : `${base}`);
    if (href === undefined) throw new TypeError('Invalid URL string.');
    this.#href = href;
    this.#places = placesOfLast();
  }

  static createObjectURL(object) {
    if (!load('blob').isBlob(object)) badArgument('URL', 'createObjectURL', 1, 'File or Blob');
    throw new primordials.Error('URL.createObjectURL() is not implemented');
  }
  static revokeObjectURL() {
    if (arguments.length < 1) badArgument('URL', 'revokeObjectURL', 1, 'USVString');
    throw new primordials.Error('URL.revokeObjectURL() is not implemented');
  }
  static canParse(url, base) {
    if (arguments.length < 1) badArgument('URL', 'canParse', 1, 'USVString');
    return native.parse(`${url}`, base === undefined ? undefined : `${base}`) !== undefined;
  }
  static parse(url, base) {
    if (arguments.length < 1) badArgument('URL', 'parse', 1, 'USVString');
    try {
      return base === undefined ? new URL(url) : new URL(url, base);
    } catch (error) {
      if (native.parse(`${url}`, base === undefined ? undefined : `${base}`) === undefined) return null;
      throw error;
    }
  }

  get origin() {
    if (!(#href in this)) illegalInvocation();
    const protocol = this.#href.slice(0, this.#places[SCHEME_END]);
    if (this.#places[SPECIAL] && protocol !== 'file:') return `${protocol}//${this.host}`;
    if (protocol === 'blob:') {
      const inner = native.parse(this.#href.slice(this.#places[PATH_START], this.#places[PATH_END]), undefined);
      if (inner !== undefined && (inner.startsWith('http:') || inner.startsWith('https:'))) return new URL(inner).origin;
    }
    return 'null';
  }
  get href() {
    if (!(#href in this)) illegalInvocation();
    return this.#href;
  }
  set href(value) {
    if (!(#href in this)) illegalInvocation();
    const href = native.parse(`${value}`, undefined);
    if (href === undefined) {
      throw new TypeError("Failed to set the 'href' property on 'URL': the provided value is not of type 'valid URL string'.");
    }
    this.#update(href);
    this.#refreshParams();
  }
  get protocol() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(0, this.#places[SCHEME_END]);
  }
  set protocol(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(PROTOCOL, value);
  }
  get username() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(this.#places[USERNAME_START], this.#places[USERNAME_END]);
  }
  set username(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(USERNAME, value);
  }
  get password() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(this.#places[PASSWORD_START], this.#places[PASSWORD_END]);
  }
  set password(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(PASSWORD, value);
  }
  get host() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(this.#places[HOST_START], this.#places[PORT_END]);
  }
  set host(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(HOST, value);
  }
  get hostname() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(this.#places[HOST_START], this.#places[HOST_END]);
  }
  set hostname(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(HOSTNAME, value);
  }
  get port() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(this.#places[PORT_START], this.#places[PORT_END]);
  }
  set port(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(PORT, value);
  }
  get pathname() {
    if (!(#href in this)) illegalInvocation();
    return this.#href.slice(this.#places[PATH_START], this.#places[PATH_END]);
  }
  set pathname(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(PATHNAME, value);
  }
  get search() {
    if (!(#href in this)) illegalInvocation();
    const search = this.#href.slice(this.#places[PATH_END], this.#places[QUERY_END]);
    return search === '?' ? '' : search;
  }
  set search(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(SEARCH, value);
    this.#refreshParams();
  }
  get hash() {
    if (!(#href in this)) illegalInvocation();
    const hash = this.#href.slice(this.#places[QUERY_END]);
    return hash === '#' ? '' : hash;
  }
  set hash(value) {
    if (!(#href in this)) illegalInvocation();
    this.#set(HASH, value);
  }
  get searchParams() {
    if (!(#href in this)) illegalInvocation();
    return (this.#params ??= ownedParams(this.search, (query) => this.#writeQuery(query)));
  }
  toJSON() {
    if (!(#href in this)) illegalInvocation();
    return this.#href;
  }
  toString() {
    if (!(#href in this)) illegalInvocation();
    return this.#href;
  }

  #set(part, value) {
    this.#update(native.set(this.#href, part, `${value}`));
  }
  #update(href) {
    this.#href = href;
    this.#places = placesOfLast();
  }
  // Serialized parameters need no further encoding, so the text around them stays as it is. A query that goes may take
  // the spaces at the end of an opaque path with it.
  #writeQuery(query) {
    if (query === '') {
      this.#set(SEARCH, query);
      return;
    }
    const at = this.#places[PATH_END];
    this.#href = `${this.#href.slice(0, at)}?${query}${this.#href.slice(this.#places[QUERY_END])}`;
    this.#places[QUERY_END] = at + 1 + query.length;
  }
  #refreshParams() {
    if (this.#params !== null) resetParams(this.#params, this.search);
  }
}
expose(URL, 'URL');

// What the rest of the platform may do with one.
let ownedParams, resetParams, entriesOf, isURLSearchParams;
class URLSearchParams {
  // Names and values in turn.
  #list = [];
  // For a URL's own parameters: writes its query.
  #write = null;

  constructor(init) {
    if (init === undefined) return;
    if ((typeof init === 'object' || typeof init === 'function') && init !== null) {
      const iterator = init[Symbol.iterator];
      if (iterator !== undefined && iterator !== null) {
        if (typeof iterator !== 'function') throw new TypeError('Incorrect type: the provided value is not of type \'Sequence\'.');
        for (const pair of init) {
          if ((typeof pair !== 'object' && typeof pair !== 'function') || pair === null || typeof pair[Symbol.iterator] !== 'function') {
            throw new TypeError("Incorrect type: the provided value is not of type 'Sequence'.");
          }
          const strings = [];
          for (const item of pair) strings.push(wellFormed(item));
          if (strings.length !== 2) throw new TypeError('Invalid URL search params sequence.');
          this.#list.push(strings[0], strings[1]);
        }
      } else {
        const keys = primordials.ownKeys(init);
        for (let i = 0; i < keys.length; i++) {
          if (typeof keys[i] === 'symbol') continue;
          if (!primordials.apply(primordials.propertyIsEnumerable, init, [keys[i]])) continue;
          const name = wellFormed(keys[i]);
          const value = wellFormed(init[keys[i]]);
          let at = 0;
          while (at < this.#list.length && this.#list[at] !== name) at += 2;
          this.#list[at] = name;
          this.#list[at + 1] = value;
        }
      }
      return;
    }
    this.#list = native.parseQuery(withoutQuestionMark(`${init}`));
  }

  get size() {
    if (!(#list in this)) illegalInvocation();
    return this.#list.length / 2;
  }
  append(name, value) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 2) badArgument('URLSearchParams', 'append', arguments.length + 1, 'USVString');
    this.#list.push(wellFormed(name), wellFormed(value));
    this.#changed();
  }
  delete(name, value) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('URLSearchParams', 'delete', 1, 'USVString');
    const key = wellFormed(name);
    const only = value === undefined ? undefined : wellFormed(value);
    const kept = [];
    const list = this.#list;
    for (let i = 0; i < list.length; i += 2) {
      if (list[i] === key && (only === undefined || list[i + 1] === only)) continue;
      kept.push(list[i], list[i + 1]);
    }
    this.#list = kept;
    this.#changed();
  }
  get(name) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('URLSearchParams', 'get', 1, 'USVString');
    const key = wellFormed(name);
    for (let i = 0; i < this.#list.length; i += 2) if (this.#list[i] === key) return this.#list[i + 1];
    return null;
  }
  getAll(name) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('URLSearchParams', 'getAll', 1, 'USVString');
    const key = wellFormed(name);
    const values = [];
    for (let i = 0; i < this.#list.length; i += 2) if (this.#list[i] === key) values.push(this.#list[i + 1]);
    return values;
  }
  has(name, value) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('URLSearchParams', 'has', 1, 'USVString');
    const key = wellFormed(name);
    const only = value === undefined ? undefined : wellFormed(value);
    for (let i = 0; i < this.#list.length; i += 2) {
      if (this.#list[i] === key && (only === undefined || this.#list[i + 1] === only)) return true;
    }
    return false;
  }
  set(name, value) {
    if (!(#list in this)) illegalInvocation();
    if (arguments.length < 2) badArgument('URLSearchParams', 'set', arguments.length + 1, 'USVString');
    const key = wellFormed(name);
    const text = wellFormed(value);
    const kept = [];
    let found = false;
    for (let i = 0; i < this.#list.length; i += 2) {
      if (this.#list[i] !== key) {
        kept.push(this.#list[i], this.#list[i + 1]);
      } else if (!found) {
        found = true;
        kept.push(key, text);
      }
    }
    if (!found) kept.push(key, text);
    this.#list = kept;
    this.#changed();
  }
  sort() {
    if (!(#list in this)) illegalInvocation();
    const pairs = [];
    for (let i = 0; i < this.#list.length; i += 2) pairs.push([this.#list[i], this.#list[i + 1]]);
    // By code units, stable: what `<` on strings and the array's sort do.
    pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
    const sorted = [];
    for (let i = 0; i < pairs.length; i++) sorted.push(pairs[i][0], pairs[i][1]);
    this.#list = sorted;
    this.#changed();
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
    if (typeof callback !== 'function') badArgument('URLSearchParams', 'forEach', 1, 'function');
    for (let i = 0; i < this.#list.length; i += 2) {
      primordials.apply(callback, thisArg, [this.#list[i + 1], this.#list[i], this]);
    }
  }
  toString() {
    if (!(#list in this)) illegalInvocation();
    return native.serializeQuery(this.#list);
  }

  #changed() {
    if (this.#write !== null) this.#write(native.serializeQuery(this.#list));
  }

  static {
    ownedParams = (search, write) => {
      const params = new URLSearchParams();
      params.#list = native.parseQuery(withoutQuestionMark(search));
      params.#write = write;
      return params;
    };
    resetParams = (params, search) => {
      params.#list = native.parseQuery(withoutQuestionMark(search));
    };
    entriesOf = (params) => {
      const entries = [];
      for (let i = 0; i < params.#list.length; i += 2) entries.push([params.#list[i], params.#list[i + 1]]);
      return entries;
    };
    isURLSearchParams = (value) => {
      return typeof value === 'object' && value !== null && #list in value;
    };
  }
}
expose(URLSearchParams, 'URLSearchParams', { entries: entriesOf, getters: [] });
primordials.defineProperty(URLSearchParams.prototype, Symbol.iterator, {
  __proto__: null,
  value: URLSearchParams.prototype.entries,
  writable: true,
  enumerable: false,
  configurable: true,
});

function wellFormed(value) {
  return `${value}`.toWellFormed();
}

function withoutQuestionMark(text) {
  return text.length > 0 && text[0] === '?' ? text.slice(1) : text;
}

function advance(state, item) {
  const list = state.list();
  if (state.at >= list.length) return done;
  const value = item(list, state.at);
  state.at += 2;
  return value;
}
const newEntryIterator = iteratorClass('EntryIterator', (state) => advance(state, (list, at) => [list[at], list[at + 1]]));
const newKeyIterator = iteratorClass('KeyIterator', (state) => advance(state, (list, at) => list[at]));
const newValueIterator = iteratorClass('ValueIterator', (state) => advance(state, (list, at) => list[at + 1]));

// For other rooms: a URL's text; undefined for what is not one.
function parseURL(text) {
  return native.parse(text, undefined);
}

return { URL, URLSearchParams, isURLSearchParams, parseURL, parseQuery: native.parseQuery };
