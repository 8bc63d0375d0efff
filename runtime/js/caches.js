// The Cache API (Service Workers 5.4 and 5.5), as the platform has it: `match`, `put` and `delete` are fetches through the
// Worker's cache channel, whoever keeps things behind it. What cannot be cached is said here.
'use strict';
const { apply, promiseThen, Error, TypeError, Uint8Array, symbolDispose } = primordials;
const { illegalConstructor, illegalInvocation, badArgument, isDictionary, expose } = load('webidl');
const token = {};

// Longer names are refused.
const NAME_LENGTH_MAX = 1023;

// What of a response's head belongs to its framing or to a connection, and is not kept.
const FRAMING = {
  __proto__: null, connection: true, 'keep-alive': true, te: true, trailer: true, upgrade: true, 'content-length': true,
  'transfer-encoding': true,
};

function absent(owner, method) {
  throw new Error(`Failed to execute '${method}' on '${owner}': the method is not implemented.`);
}

// A request argument as a request.
function requestOf(method, args) {
  if (args.length < 1) badArgument('Cache', method, 1, 'Request or string');
  const { Request, isRequest } = load('fetch');
  return isRequest(args[0]) ? args[0] : new Request(args[0]);
}

// Whether options say that any method will do.
function ignoresMethod(method, options) {
  if (!isDictionary(options)) badArgument('Cache', method, 2, 'CacheQueryOptions');
  const ignore = options?.ignoreMethod;
  return ignore === undefined ? undefined : !!ignore;
}

// Where the Worker's cache is.
function channel() {
  load('fetch').requireInvocation();
  const id = native.cache();
  if (id === undefined) throw new Error('No Cache was configured');
  return { __proto__: null, kind: load('rpc').SERVICE, id };
}

// A URL is a key as it is: it must only be one that a request can be sent to.
const KEY = /^[a-z][a-z0-9+.-]*:\/\/[^/?#@]+(?:[/?#]|$)/i;

// A fetch of the cache's protocol.
function wireOf(request, method, name, headers) {
  const { url, cf } = request;
  if (!KEY.test(url)) {
    throw new TypeError('Invalid URL. Cache API keys must be fully-qualified, valid URLs.');
  }
  if (name !== undefined) headers.set('cf-cache-namespace', name);
  const wire = { method, url, headers: load('headers').raw(headers), redirect: 'manual', body: null };
  if (cf !== undefined) wire.cf = cf;
  return wire;
}

function headersOf(request) {
  const { Headers } = load('headers');
  return new Headers(request.headers);
}

function send(service, wire) {
  return load('rpc').invoke(service, ['fetch'], [wire]);
}

// --- Spans ----------------------------------------------------------------------------------------------------------

// What is told of a call where its invocation is traced. `run` gets a function that notes an attribute.
function spanned(name, run) {
  if (!native.traced()) return run(() => {});
  const { open, note } = load('tracing');
  const opened = open(name);
  const set = (key, value) => note(opened, key, value);
  const end = () => opened.span.end();
  let result;
  try {
    result = run(set);
  } catch (error) {
    end();
    throw error;
  }
  apply(promiseThen, result, [end, end]);
  return result;
}

function describeRequest(set, request, ignoreMethod) {
  set('cache.request.ignore_method', ignoreMethod);
  set('cache.request.url', request.url);
  set('cache.request.method', request.method);
}

// Notes those of some headers that are there.
function describeHeaders(set, prefix, headers, names) {
  for (let i = 0; i < names.length; i++) {
    set(`${prefix}.${names[i].replaceAll('-', '_')}`, headers.get(names[i]));
  }
}

// --- Responses that are sent to be kept --------------------------------------------------------------------------------

// The head of a response in HTTP's own notation; `length` is its body's, or null.
function headOf({ status, statusText, headers }, length) {
  const lines = load('headers').raw(headers);
  let text = `HTTP/1.1 ${status} ${statusText === '' ? load('rpc_http').reasonOf(status) : statusText}\r\n`;
  text += length === null ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${length}\r\n`;
  for (let i = 0; i < lines.length; i++) {
    if (FRAMING[lines[i][0]] !== true) text += `${lines[i][0]}: ${lines[i][1]}\r\n`;
  }
  text += '\r\n';
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// A whole response as the body of a request; `failure.error` is set when the response's own body fails.
function payloadOf(response, failure) {
  const taken = load('rpc_http').takeCoded(response) ?? { bytes: new Uint8Array(0), stream: null, length: 0 };
  const head = headOf(response, taken.length);
  const length = taken.length === null ? null : head.byteLength + taken.length;
  if (taken.stream === null) {
    const whole = new Uint8Array(length);
    const { setBytes } = load('streams_support');
    setBytes(whole, head, 0);
    setBytes(whole, taken.bytes, head.byteLength);
    return { length, body: load('rpc_http').wireOfBytes(whole) };
  }
  const streams = load('streams_readable');
  const { StreamSource, bytesOf } = load('rpc_streams');
  const source = streams.stateOf(taken.stream);
  const reader = streams.acquire(source);
  let started = false;
  const feed = {
    async next() {
      if (!started) {
        started = true;
        return head;
      }
      try {
        for (;;) {
          const { value, done } = await streams.readWhole(reader);
          if (done) return null;
          const bytes = bytesOf(value);
          if (bytes.byteLength > 0) return bytes;
        }
      } catch (error) {
        failure.error = { error };
        throw error;
      }
    },
    cancel: (exception, reason) => streams.cancel(source, reason),
  };
  const inner = load('streams_native').createInner(feed, length === null ? undefined : BigInt(length));
  return { length, body: new StreamSource(streams.wrap(inner)) };
}

async function store(service, request, response, name, set) {
  const failure = { error: undefined };
  const payload = payloadOf(response, failure);
  set('cache.request.payload.size', payload.length);
  const wire = wireOf(request, 'PUT', name, headersOf(request));
  wire.body = payload.body;
  wire.length = payload.length;
  let answer;
  try {
    answer = await send(service, wire);
  } catch (error) {
    set('cache.response.success', false);
    if (failure.error !== undefined) throw failure.error.error;
    // Nobody was promised that it is kept: a cache that cannot be reached is no error.
    if (error.message === LOST) return;
    throw error;
  }
  if (failure.error !== undefined) throw failure.error.error;
  set('cache.response.success', answer.status === 204 ? true : answer.status === 413 ? false : undefined);
  answer[symbolDispose]?.();
}

const LOST = 'Network connection lost.';

// --- The classes ----------------------------------------------------------------------------------------------------------

class Cache {
  // As it is sent; undefined for the default cache.
  #name;
  constructor(key, name) {
    if (key !== token) illegalConstructor();
    this.#name = name;
  }
  add() {
    absent('Cache', 'add');
  }
  addAll() {
    absent('Cache', 'addAll');
  }
  async delete(input, options) {
    if (!(#name in this)) illegalInvocation();
    const args = arguments;
    return spanned('cache_delete', async (set) => {
      const ignoreMethod = ignoresMethod('delete', options);
      const request = requestOf('delete', args);
      describeRequest(set, request, ignoreMethod);
      if (ignoreMethod !== true && request.method !== 'GET') return false;
      const service = channel();
      const headers = headersOf(request);
      headers.append('x-real-ip', '127.0.0.1');
      const answer = await send(service, wireOf(request, 'PURGE', this.#name, headers));
      const { status } = answer;
      answer[symbolDispose]?.();
      set('cache.response.status_code', status);
      if (status === 200 || status === 404 || status === 429) set('cache.response.success', status === 200);
      if (status === 200) return true;
      if (status === 404) return false;
      throw new Error(`Unable to delete cached response.${status === 429 ? ' Subrequests are being rate-limited.' : ''}`);
    });
  }
  async match(input, options) {
    if (!(#name in this)) illegalInvocation();
    const args = arguments;
    return spanned('cache_match', async (set) => {
      const ignoreMethod = ignoresMethod('match', options);
      const request = requestOf('match', args);
      describeRequest(set, request, ignoreMethod);
      if (ignoreMethod !== true && request.method !== 'GET') return undefined;
      const service = channel();
      const headers = headersOf(request);
      describeHeaders(set, 'cache.request.header', headers, ['range', 'if-modified-since', 'if-none-match']);
      headers.set('cache-control', 'only-if-cached');
      const answer = await send(service, wireOf(request, 'GET', this.#name, headers));
      set('cache.response.status_code', answer.status);
      const { body } = answer;
      if (body === null || primordials.isView(body)) set('cache.response.body.size', body === null ? 0 : body.byteLength);
      const found = load('rpc_http').answerFromWire(answer, {
        method: 'GET',
        url: '',
        redirected: false,
        signal: null,
        decodes: true,
      });
      const status = found.headers.get('cf-cache-status');
      set('cache.response.cache_status', status);
      set('cache.response.success', status === 'HIT');
      if (status === 'HIT') return found;
      answer[symbolDispose]?.();
      return undefined;
    });
  }
  async put(input, response) {
    if (!(#name in this)) illegalInvocation();
    const { isResponse } = load('fetch');
    if (arguments.length >= 1 && !isResponse(response)) badArgument('Cache', 'put', 2, 'Response');
    if (arguments.length >= 1 && response.type === 'error') throw new TypeError('Cache is unable to store an error response');
    const request = requestOf('put', arguments);
    return spanned('cache_put', async (set) => {
      describeRequest(set, request, undefined);
      set('cache.request.payload.status_code', response.status);
      if (request.method !== 'GET') throw new TypeError('Cannot cache response to non-GET request.');
      if (response.status === 206) {
        throw new TypeError('Cannot cache response to a range request (206 Partial Content).');
      }
      const { headers } = response;
      const vary = headers.get('vary');
      if (vary !== null && vary.includes('*')) {
        throw new TypeError("Cannot cache response with 'Vary: *' header.");
      }
      const names = ['cache-control', 'cache-tag', 'etag', 'expires', 'last-modified'];
      describeHeaders(set, 'cache.request.payload.header', headers, names);
      if (response.status === 304) {
        native.warn(
          'Ignoring attempt to Cache.put() a 304 status response. 304 responses are not meaningful to cache, and a ' +
            'potential source of bugs. Consider validating that the response status is meaningful to cache before ' +
            'calling Cache.put().',
        );
        return;
      }
      if (response.webSocket !== null) {
        throw new TypeError(
          'Worker tried to return a WebSocket in a response to a request which did not contain the header ' +
            '"Upgrade: websocket".',
        );
      }
      const { contentOf, isUsed, USED } = load('body');
      if (isUsed(contentOf(response))) throw new TypeError(USED);
      await store(channel(), request, response, this.#name, set);
    });
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
      value: new Cache(token, undefined),
      writable: false,
      enumerable: true,
      configurable: true,
    });
  }
  async open(name) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('CacheStorage', 'open', 1, 'string');
    const text = apply(primordials.stringToWellFormed, `${name}`, []);
    if (load('encoding').utf8(text).byteLength > NAME_LENGTH_MAX) throw new TypeError('Cache name is too long.');
    return new Cache(token, encodeURIComponent(text));
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
