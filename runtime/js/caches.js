// The Cache API (Service Workers 5.4 and 5.5) of a Worker that no cache is configured for: what cannot be cached is said
// first, everything else is refused.
'use strict';
const { Error, TypeError } = primordials;
const { illegalConstructor, illegalInvocation, badArgument, expose } = load('webidl');
const token = {};

function absent(owner, method) {
  throw new Error(`Failed to execute '${method}' on '${owner}': the method is not implemented.`);
}

// A request argument as a request.
function requestOf(method, args) {
  if (args.length < 1) badArgument('Cache', method, 1, 'Request or string');
  const { Request, isRequest } = load('fetch');
  return isRequest(args[0]) ? args[0] : new Request(args[0]);
}

function refuse() {
  throw new Error('No Cache was configured');
}

class Cache {
  #brand = true;
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  add() {
    absent('Cache', 'add');
  }
  addAll() {
    absent('Cache', 'addAll');
  }
  async delete() {
    if (!(#brand in this)) illegalInvocation();
    if (requestOf('delete', arguments).method !== 'GET') return false;
    refuse();
  }
  async match() {
    if (!(#brand in this)) illegalInvocation();
    if (requestOf('match', arguments).method !== 'GET') return undefined;
    refuse();
  }
  async put(input, response) {
    if (!(#brand in this)) illegalInvocation();
    const { isResponse } = load('fetch');
    if (arguments.length >= 1 && !isResponse(response)) badArgument('Cache', 'put', 2, 'Response');
    if (requestOf('put', arguments).method !== 'GET') throw new TypeError('Cannot cache response to non-GET request.');
    if (response.status === 206) {
      throw new TypeError('Cannot cache response to a range request (206 Partial Content).');
    }
    if ((response.headers.get('vary') ?? '').includes('*')) {
      throw new TypeError("Cannot cache response with 'Vary: *' header.");
    }
    const { contentOf, isUsed, USED } = load('body');
    if (isUsed(contentOf(response))) throw new TypeError(USED);
    if (response.status === 304) return;
    refuse();
  }
  matchAll() {
    absent('Cache', 'matchAll');
  }
  keys() {
    absent('Cache', 'keys');
  }
}
expose(Cache, 'Cache');

class CacheStorage {
  #brand = true;
  constructor(key) {
    if (key !== token) illegalConstructor();
    primordials.defineProperty(this, 'default', {
      __proto__: null,
      value: new Cache(token),
      writable: false,
      enumerable: true,
      configurable: true,
    });
  }
  async open(name) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('CacheStorage', 'open', 1, 'string');
    `${name}`;
    return new Cache(token);
  }
  delete() {
    absent('CacheStorage', 'delete');
  }
  match() {
    absent('CacheStorage', 'match');
  }
  has() {
    absent('CacheStorage', 'has');
  }
  keys() {
    absent('CacheStorage', 'keys');
  }
}
expose(CacheStorage, 'CacheStorage');

return { Cache, CacheStorage, caches: new CacheStorage(token) };
