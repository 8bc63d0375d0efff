// URLPattern (URL Pattern Standard 2). Patterns are compiled to regular expressions, which are matched here.
'use strict';
const { construct, isArray, RegExp, TypeError } = primordials;
const { illegalInvocation, expose } = load('webidl');

const COMPONENTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
const BASE = COMPONENTS.length;

// A dictionary as an array of what may be in it: the components and a base URL.
function readInit(init) {
  const list = [];
  for (let i = 0; i < BASE; i++) {
    const value = init[COMPONENTS[i]];
    list[i] = value === undefined ? undefined : `${value}`;
  }
  const { baseURL } = init;
  list[BASE] = baseURL === undefined ? undefined : `${baseURL}`;
  return list;
}

// A text, or a dictionary: absent is an empty one.
function readInput(input) {
  if (input === undefined || input === null) return readInit({});
  return typeof input === 'object' || typeof input === 'function' ? readInit(input) : `${input}`;
}

function refuse(action) {
  throw new TypeError(`Failed to ${action} URLPattern`);
}

class URLPattern {
  // Of each component `{ pattern, regexp, names }`.
  #components;
  #hasRegExpGroups;

  constructor(input, baseOrOptions, options) {
    let base;
    if (typeof baseOrOptions === 'object' && baseOrOptions !== null) options = baseOrOptions;
    else if (baseOrOptions !== undefined && baseOrOptions !== null) base = `${baseOrOptions}`;
    const ignoreCase = !!options?.ignoreCase;
    const compiled = native.compile(readInput(input), base, ignoreCase);
    if (compiled === undefined) refuse('construct');
    const components = [];
    for (let i = 0; i < BASE; i++) {
      const { [i * 3]: pattern, [i * 3 + 1]: source, [i * 3 + 2]: names } = compiled;
      let regexp;
      try {
        regexp = construct(RegExp, [source, ignoreCase ? 'vi' : 'v']);
      } catch {
        refuse('construct');
      }
      components[i] = { pattern, regexp, names };
    }
    this.#components = components;
    this.#hasRegExpGroups = compiled[BASE * 3];
  }
  get protocol() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[0].pattern;
  }
  get username() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[1].pattern;
  }
  get password() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[2].pattern;
  }
  get hostname() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[3].pattern;
  }
  get port() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[4].pattern;
  }
  get pathname() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[5].pattern;
  }
  get search() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[6].pattern;
  }
  get hash() {
    if (!(#components in this)) illegalInvocation();
    return this.#components[7].pattern;
  }
  get hasRegExpGroups() {
    if (!(#components in this)) illegalInvocation();
    return this.#hasRegExpGroups;
  }
  test(input, base) {
    if (!(#components in this)) illegalInvocation();
    return this.#match('test', input, base) !== null;
  }
  exec(input, base) {
    if (!(#components in this)) illegalInvocation();
    return this.#match('exec', input, base);
  }

  #match(action, input, base) {
    const given = readInput(input);
    const baseText = base === undefined || base === null ? undefined : `${base}`;
    const parts = native.split(given, baseText);
    if (parts === undefined) refuse(action);
    if (parts === null) return null;
    const result = { inputs: [typeof given === 'string' ? given : writeInit(given)] };
    if (baseText !== undefined) result.inputs[1] = baseText;
    for (let i = 0; i < BASE; i++) {
      const { regexp, names } = this.#components[i];
      // As on the platform a program may have replaced it; what is no array is no match.
      const matched = regexp.exec(parts[i]);
      if (!isArray(matched)) return null;
      const groups = {};
      for (let k = 0; k < names.length; k++) {
        const value = matched[k + 1];
        primordials.defineProperty(groups, names[k], {
          __proto__: null,
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
      }
      result[COMPONENTS[i]] = { input: parts[i], groups };
    }
    return result;
  }
}
if (!load('compat').has('urlpattern_standard')) delete URLPattern.prototype.hasRegExpGroups;
expose(URLPattern, 'URLPattern');

function writeInit(list) {
  const init = {};
  for (let i = 0; i < BASE; i++) init[COMPONENTS[i]] = list[i];
  init.baseURL = list[BASE];
  return init;
}

return { URLPattern };
