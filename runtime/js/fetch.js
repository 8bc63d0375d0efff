// Request, Response (Fetch 5.3-5.5) and `fetch`, with the platform's limits and extensions (`cf`, `encodeBody`).
'use strict';
const { TypeError, RangeError } = primordials;
const { illegalInvocation, badArgument, badConstructorArgument, badField, expose, unlengthen } = load('webidl');
const { Headers } = load('headers');
const { Body, token, contentOf, setContent, extract, isUsed, clone: cloneContent, take } = load('body');

const METHODS = new Set([
  'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'PURGE', 'OPTIONS', 'TRACE', 'COPY', 'LOCK', 'MKCOL', 'MOVE',
  'PROPFIND', 'PROPPATCH', 'SEARCH', 'UNLOCK', 'ACL', 'REPORT', 'MKACTIVITY', 'CHECKOUT', 'MERGE', 'MSEARCH', 'NOTIFY',
  'SUBSCRIBE', 'UNSUBSCRIBE', 'QUERY', 'BAN',
]);
const NULL_BODY = new Set([101, 204, 205, 304]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

function cloneCf(cf) {
  return cf === undefined || cf === null ? undefined : load('structured_clone').structuredClone(cf);
}

function isObject(value) {
  return (typeof value === 'object' || typeof value === 'function') && value !== null;
}

// What the rest of the platform may do with one.
let isRequest, signalOf, setOwnSignal;
class Request extends Body {
  #method;
  #url;
  #headers;
  #redirect;
  #signal;
  // What `signal` shows where #signal is null: it does not go to requests that are made of this one.
  #ownSignal = null;
  #cf;
  #cache;

  constructor(input, init) {
    if (arguments.length < 1) badConstructorArgument('Request', 1, 'Request or string');
    if (init !== undefined && init !== null && !isObject(init)) badConstructorArgument('Request', 2, 'RequestInitializerDict or Request');
    const from = isRequest(input) ? input : null;
    let url;
    if (from === null) {
      const text = `${input}`;
      const parsed = load('url').parseURL(text);
      if (parsed === undefined) throw new TypeError(`Invalid URL: ${text}`);
      url = parsed;
    } else {
      url = from.#url;
    }
    const chosen = init ?? {};
    let method = from === null ? 'GET' : from.#method;
    if (chosen.method !== undefined && chosen.method !== null) {
      method = `${chosen.method}`.toUpperCase();
      if (!METHODS.has(method)) throw new TypeError(`Invalid HTTP method string: ${chosen.method}`);
    }
    const headers = chosen.headers !== undefined ? new Headers(chosen.headers) : new Headers(from === null ? undefined : from.#headers);
    let redirect = from === null ? 'follow' : from.#redirect;
    if (chosen.redirect !== undefined && chosen.redirect !== null) {
      redirect = `${chosen.redirect}`;
      if (redirect !== 'follow' && redirect !== 'manual') {
        throw new TypeError(
          'Invalid redirect value, must be one of "follow" or "manual" ("error" won\'t be implemented since it does not make sense at the edge; use "manual" and check the response status code).',
        );
      }
    }
    let signal = from === null ? null : from.#signal;
    if (chosen.signal !== undefined) {
      if (chosen.signal !== null && !load('abort').isAbortSignal(chosen.signal)) {
        badField('RequestInitializerDict', 'signal', 'AbortSignal');
      }
      signal = chosen.signal;
    }
    let cache = from === null ? undefined : from.#cache;
    if (chosen.cache !== undefined && chosen.cache !== null) {
      cache = `${chosen.cache}`;
      if (cache !== 'no-store' && cache !== 'no-cache') throw new TypeError(`Unsupported cache mode: ${cache}`);
    }
    if (chosen.integrity !== undefined && `${chosen.integrity}` !== '') {
      throw new TypeError(
        'Subrequest integrity checking is not implemented. The integrity option must be either undefined or an empty string.',
      );
    }
    if (chosen.encodeResponseBody !== undefined) {
      const mode = `${chosen.encodeResponseBody}`;
      if (mode !== 'automatic' && mode !== 'manual') throw new TypeError(`encodeResponseBody: unexpected value: ${mode}`);
    }
    const cf = chosen.cf !== undefined ? cloneCf(chosen.cf) : from === null ? undefined : cloneCf(from.#cf);

    let content;
    if (chosen.body !== undefined && chosen.body !== null) {
      if (method === 'GET' || method === 'HEAD') throw new TypeError('Request with a GET or HEAD method cannot have a body.');
      const body = extract(chosen.body);
      content = body.content;
      if (body.type !== null && !headers.has('content-type')) headers.set('content-type', body.type);
    } else if (from !== null && contentOf(from) !== null && chosen.body === undefined) {
      if (isUsed(contentOf(from))) throw new TypeError('Cannot reconstruct a Request with a used body.');
      content = take(contentOf(from));
    } else {
      content = null;
    }
    super(token, content);
    this.#method = method;
    this.#url = url;
    this.#headers = headers;
    this.#redirect = redirect;
    this.#signal = signal;
    this.#cf = cf;
    this.#cache = cache;
  }
  clone() {
    if (!(#url in this)) illegalInvocation();
    const content = cloneContent(contentOf(this));
    const copy = new Request(this.#url, {
      method: this.#method,
      headers: this.#headers,
      redirect: this.#redirect,
      signal: this.#signal,
      cf: this.#cf,
      cache: this.#cache,
    });
    if (content !== null) setContent(copy, content);
    return copy;
  }
  get method() {
    if (!(#url in this)) illegalInvocation();
    return this.#method;
  }
  get url() {
    if (!(#url in this)) illegalInvocation();
    return this.#url;
  }
  get headers() {
    if (!(#url in this)) illegalInvocation();
    return this.#headers;
  }
  get redirect() {
    if (!(#url in this)) illegalInvocation();
    return this.#redirect;
  }
  get fetcher() {
    if (!(#url in this)) illegalInvocation();
    return null;
  }
  get signal() {
    if (!(#url in this)) illegalInvocation();
    // A request without one has a signal that never aborts.
    return this.#signal ?? (this.#ownSignal ??= load('abort').newSignal());
  }
  get cf() {
    if (!(#url in this)) illegalInvocation();
    return this.#cf;
  }
  get integrity() {
    if (!(#url in this)) illegalInvocation();
    return '';
  }
  get keepalive() {
    if (!(#url in this)) illegalInvocation();
    return false;
  }
  get cache() {
    if (!(#url in this)) illegalInvocation();
    return this.#cache;
  }

  static {
    isRequest = (value) => {
      return isObject(value) && #url in value;
    };
    signalOf = (request) => {
      return request.#signal;
    };
    setOwnSignal = (request, signal) => {
      request.#ownSignal = signal;
    };
  }
}
expose(Request, 'Request', { is: isRequest, clone: (request) => bodiless(request) && new Request(request) });

// What the rest of the platform may do with one.
let isResponse;
class Response extends Body {
  #status;
  #statusText;
  #headers;
  #url;
  #redirected;
  #cf;
  #type;
  #encodeBody;
  #webSocket;

  constructor(body, init) {
    if (init === token) {
      super(token, body.content);
      this.#fill(body);
      return;
    }
    if (init !== undefined && init !== null && !isObject(init)) badConstructorArgument('Response', 2, 'InitializerDict or Response');
    const chosen = init ?? {};
    const status = chosen.status === undefined ? 200 : +chosen.status & 0xffff;
    const webSocket = chosen.webSocket ?? null;
    if (webSocket !== null) {
      if (!load('websocket').isWebSocket(webSocket)) badField('InitializerDict', 'webSocket', 'WebSocket');
      if (status !== 101) throw new RangeError('Responses with a WebSocket must have status code 101.');
    } else if (status < 200 || status > 599) {
      throw new RangeError('Responses may only be constructed with status codes in the range 200 to 599, inclusive.');
    }
    const statusText = chosen.statusText === undefined ? '' : `${chosen.statusText}`;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(statusText)) throw new TypeError('Invalid statusText');
    const encodeBody = chosen.encodeBody === undefined ? 'automatic' : `${chosen.encodeBody}`;
    if (encodeBody !== 'automatic' && encodeBody !== 'manual') {
      throw new TypeError(`encodeBody: unexpected value: ${encodeBody}`);
    }
    const headers = new Headers(chosen.headers);
    const { content, type } = extract(body);
    if (content !== null && NULL_BODY.has(status)) {
      throw new TypeError('Response with null body status (101, 204, 205, or 304) cannot have a body.');
    }
    if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
    super(token, content);
    this.#fill({
      status,
      statusText,
      headers,
      url: '',
      redirected: false,
      cf: cloneCf(chosen.cf),
      type: 'default',
      encodeBody,
      webSocket,
    });
  }
  #fill({ status, statusText, headers, url, redirected, cf, type, encodeBody, webSocket }) {
    this.#status = status;
    this.#statusText = statusText;
    this.#headers = headers;
    this.#url = url;
    this.#redirected = redirected;
    this.#cf = cf;
    this.#type = type;
    this.#encodeBody = encodeBody;
    this.#webSocket = webSocket ?? null;
  }

  static error() {
    return newResponse({
      content: null,
      status: 0,
      statusText: '',
      headers: load('headers').freeze(new Headers()),
      url: '',
      redirected: false,
      cf: undefined,
      type: 'error',
      encodeBody: 'automatic',
    });
  }
  static redirect(url, status) {
    if (arguments.length < 1) badArgument('Response', 'redirect', 1, 'string');
    const code = status === undefined ? 302 : +status & 0xffff;
    if (!REDIRECTS.has(code)) {
      throw new RangeError(`${code} is not a redirect status code. It must be one of: 301, 302, 303, 307, or 308.`);
    }
    const href = load('url').parseURL(`${url}`);
    if (href === undefined) throw new TypeError(`Unable to parse URL: ${url}`);
    return newResponse({
      content: null,
      status: code,
      statusText: '',
      headers: load('headers').freeze(new Headers({ location: href })),
      url: '',
      redirected: false,
      cf: undefined,
      type: 'default',
      encodeBody: 'automatic',
    });
  }
  static json(data, init) {
    if (arguments.length < 1) badArgument('Response', 'json', 1, 'Value');
    const text = `${primordials.jsonStringify(data)}`;
    const response = new Response(text, init);
    const given = init?.headers === undefined ? false : new Headers(init.headers).has('content-type');
    if (!given) response.#headers.set('content-type', 'application/json');
    return response;
  }

  clone() {
    if (!(#status in this)) illegalInvocation();
    if (this.#webSocket !== null) throw new TypeError('Cannot clone a response to a WebSocket handshake.');
    const content = cloneContent(contentOf(this));
    return newResponse({
      content,
      status: this.#status,
      statusText: this.#statusText,
      headers: new Headers(this.#headers),
      url: this.#url,
      redirected: this.#redirected,
      cf: cloneCf(this.#cf),
      type: this.#type,
      encodeBody: this.#encodeBody,
    });
  }
  get status() {
    if (!(#status in this)) illegalInvocation();
    return this.#status;
  }
  get statusText() {
    if (!(#status in this)) illegalInvocation();
    return this.#statusText;
  }
  get headers() {
    if (!(#status in this)) illegalInvocation();
    return this.#headers;
  }
  get ok() {
    if (!(#status in this)) illegalInvocation();
    return this.#status >= 200 && this.#status < 300;
  }
  get redirected() {
    if (!(#status in this)) illegalInvocation();
    return this.#redirected;
  }
  get url() {
    if (!(#status in this)) illegalInvocation();
    return this.#url;
  }
  get webSocket() {
    if (!(#status in this)) illegalInvocation();
    return this.#webSocket;
  }
  get cf() {
    if (!(#status in this)) illegalInvocation();
    return this.#cf;
  }
  get type() {
    if (!(#status in this)) illegalInvocation();
    return this.#type;
  }

  static {
    isResponse = (value) => {
      return isObject(value) && #status in value;
    };
  }
}
expose(Response, 'Response', { is: isResponse, clone: (response) => bodiless(response) && response.clone() });

// Whether a structured clone can hold it all: a body is a stream, which one isolate's clone cannot.
function bodiless(message) {
  if (contentOf(message) === null) return true;
  const { DOMException } = load('dom_exception');
  throw new DOMException('ReadableStream can only be serialized for RPC.', 'DataCloneError');
}

// A response of the platform's own.
function newResponse(parts) {
  return new Response(parts, token);
}

// A data: URL's response (Fetch 6).
function dataResponse(url) {
  const parts = native.dataUrl(url);
  if (parts === undefined) throw new TypeError(`Fetch API cannot load: ${url}`);
  return new Response(parts.bytes, { statusText: 'OK', headers: { 'content-type': parts.type } });
}

async function fetch(input, init) {
  if (arguments.length < 1) badArgument('ServiceWorkerGlobalScope', 'fetch', 1, 'Request or string');
  native.requireInvocation();
  const request = new Request(input, init);
  const signal = signalOf(request);
  if (signal !== null && signal.aborted) throw signal.reason;
  const { url } = request;
  const scheme = url.slice(0, url.indexOf(':'));
  if (scheme === 'data') return dataResponse(url);
  if (scheme !== 'http' && scheme !== 'https') throw new TypeError(`Fetch API cannot load: ${url}`);
  const http = load('rpc_fetch');
  const outbound = http.outbound();
  if (outbound !== undefined) return http.fetchThrough(outbound, request, signal);
  throw new primordials.Error(
    'This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities ' +
      "(such as bindings in 'env') to talk to the outside world.",
  );
}

return {
  Request,
  Response,
  Body,
  fetch: unlengthen(fetch),
  isRequest,
  isResponse,
  newResponse,
  signalOf,
  setOwnSignal,
  requireInvocation: native.requireInvocation,
};
