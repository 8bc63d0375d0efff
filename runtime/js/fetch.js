// Request, Response (Fetch 5.3-5.5) and `fetch`, with the platform's limits and extensions (`cf`, `encodeBody`).
'use strict';
const { TypeError, RangeError } = primordials;
const { illegalInvocation, badArgument, badConstructorArgument, badField, expose, unlengthen } = load('webidl');
const { Headers } = load('headers');
const { Body, token, contentOf, setContent, extract, isUsed, clone: cloneContent, take } = load('body');
const { isObject, readRequestInit, readCf, cloneCf, readHeaders, readEncoding } = load('fetch_init');
const { has } = load('compat');

const NULL_BODY = new Set([101, 204, 205, 304]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const DEFAULTS = {
  method: 'GET',
  headers: undefined,
  redirect: 'follow',
  signal: null,
  cf: undefined,
  cache: undefined,
  fetcher: null,
  encodeResponseBody: 'automatic',
};

// The type that a body brings with it, unless another is given.
function setType(headers, type) {
  if (type === null) return;
  if (!headers.has('content-type')) {
    headers.set('content-type', type);
  } else if (type.startsWith('multipart/form-data')) {
    native.warn(
      'A FormData body was provided with a custom Content-Type header when constructing a Request or Response object. ' +
        'This will prevent the recipient of the Request or Response from being able to parse the body. Consider ' +
        'omitting the custom Content-Type header.',
    );
  }
}

// The URL of a request. Without the flag, as the platform once did, it is what was given.
function targetOf(text) {
  if (!has('fetch_standard_url')) return text;
  const parsed = load('url').parseURL(text);
  if (parsed === undefined) throw new TypeError(`Invalid URL: ${text}`);
  return parsed;
}

// What the rest of the platform may do with one.
let isRequest, signalOf, setOwnSignal, cacheOf, fetcherOf, decodesResponse;
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
  #fetcher;
  #encodeResponseBody;

  constructor(input, init) {
    if (init === token) {
      super(token, input.content);
      this.#fill(input);
      return;
    }
    if (arguments.length < 1) badConstructorArgument('Request', 1, 'Request or string');
    if (init !== undefined && init !== null && !isObject(init)) badConstructorArgument('Request', 2, 'RequestInitializerDict or Request');
    const from = isRequest(input) ? input : null;
    const text = from === null ? `${input}` : '';
    const parts = isRequest(init) ? init.#parts() : readRequestInit(init ?? {});
    const url = from === null ? targetOf(text) : from.#url;
    const base = from === null ? DEFAULTS : from.#parts();
    const method = parts.method ?? base.method;

    let content;
    if (isRequest(init)) {
      // The other request is a dictionary here: it keeps its body, and shares it.
      content = contentOf(init) === null ? null : extract(init.body).content;
    } else if (parts.body !== undefined && parts.body !== null) {
      const body = extract(parts.body);
      content = body.content;
      if (method === 'GET' || method === 'HEAD') throw new TypeError('Request with a GET or HEAD method cannot have a body.');
      parts.headers ??= new Headers(base.headers);
      setType(parts.headers, body.type);
    } else if (from !== null && contentOf(from) !== null && parts.body === undefined) {
      if (isUsed(contentOf(from))) throw new TypeError('Cannot reconstruct a Request with a used body.');
      // A GET request may have come with a body, and keeps it as long as nobody gives it a method.
      if (parts.method !== undefined && (method === 'GET' || method === 'HEAD')) {
        throw new TypeError('Request with a GET or HEAD method cannot have a body.');
      }
      content = take(contentOf(from));
    } else {
      content = null;
    }
    super(token, content);
    this.#fill({
      url,
      method,
      headers: isRequest(init) ? new Headers(parts.headers) : (parts.headers ?? new Headers(base.headers)),
      redirect: parts.redirect ?? base.redirect,
      signal: parts.signal !== undefined ? parts.signal : base.signal,
      cf: parts.cf !== undefined ? parts.cf : cloneCf(base.cf),
      cache: parts.cache ?? base.cache,
      fetcher: parts.fetcher !== undefined ? parts.fetcher : base.fetcher,
      encodeResponseBody: parts.encodeResponseBody ?? base.encodeResponseBody,
    });
  }
  #fill({ url, method, headers, redirect, signal, cf, cache, fetcher, encodeResponseBody }) {
    this.#url = url;
    this.#method = method;
    this.#headers = headers;
    this.#redirect = redirect;
    this.#signal = signal;
    this.#cf = cf;
    this.#cache = cache;
    this.#fetcher = fetcher;
    this.#encodeResponseBody = encodeResponseBody;
  }
  #parts() {
    return {
      method: this.#method,
      headers: this.#headers,
      redirect: this.#redirect,
      signal: this.#signal,
      cf: cloneCf(this.#cf),
      cache: this.#cache,
      fetcher: this.#fetcher,
      encodeResponseBody: this.#encodeResponseBody,
    };
  }
  clone() {
    if (!(#url in this)) illegalInvocation();
    const content = cloneContent(contentOf(this));
    return newRequest({ ...this.#parts(), content, url: this.#url, headers: new Headers(this.#headers) });
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
    return this.#fetcher;
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
    cacheOf = (request) => {
      return request.#cache;
    };
    fetcherOf = (request) => {
      return request.#fetcher;
    };
    decodesResponse = (request) => {
      return request.#encodeResponseBody === 'automatic';
    };
    setOwnSignal = (request, signal) => {
      request.#ownSignal = signal;
    };
  }
}
if (!has('cache_option_enabled')) delete Request.prototype.cache;
expose(Request, 'Request', { is: isRequest, clone: (request) => bodiless(request) && new Request(request) });

// What the rest of the platform may do with one.
let isResponse, encodesBody;
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
    const parts = isResponse(init) ? init.#parts() : readResponseInit(init ?? {});
    const { status, statusText, webSocket } = parts;
    if (webSocket !== null) {
      if (status !== 101) throw new RangeError('Responses with a WebSocket must have status code 101.');
    } else if (status < 200 || status > 599) {
      throw new RangeError('Responses may only be constructed with status codes in the range 200 to 599, inclusive.');
    }
    if (/[\0-\x1f]/.test(statusText)) throw new TypeError('Invalid statusText');
    let { content, type } = extract(body);
    if (content !== null && NULL_BODY.has(status)) {
      // An empty text has long been taken for no body.
      if (content.stream !== null || content.bytes.byteLength > 0) {
        throw new TypeError('Response with null body status (101, 204, 205, or 304) cannot have a body.');
      }
      content = null;
      native.warn(
        `Constructing a Response with a null body status (${status}) and a non-null, zero-length body. This is ` +
          'technically incorrect, and we recommend you update your code to explicitly pass in a `null` body, e.g. ' +
          `\`new Response(null, { status: ${status}, ... })\`. (We continue to allow the zero-length body behavior ` +
          'because it was previously the only way to construct a Response with a null body status. This behavior may ' +
          'change in the future.)',
      );
      type = null;
    }
    setType(parts.headers, type);
    super(token, content);
    this.#fill(parts);
  }
  // What a response is made of that is made from this one.
  #parts() {
    return {
      status: this.#status,
      statusText: this.#statusText,
      headers: new Headers(this.#headers),
      url: '',
      redirected: false,
      cf: cloneCf(this.#cf),
      type: 'default',
      encodeBody: this.#encodeBody,
      webSocket: this.#webSocket,
    };
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
      headers: new Headers(),
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
    const response = new Response(null, init);
    if (NULL_BODY.has(response.#status)) {
      throw new TypeError('Response with null body status (101, 204, 205, or 304) cannot have a body.');
    }
    if (!response.#headers.has('content-type')) response.#headers.set('content-type', 'application/json');
    setContent(response, extract(text).content);
    return response;
  }

  clone() {
    if (!(#status in this)) illegalInvocation();
    if (this.#webSocket !== null) throw new TypeError('Cannot clone a response to a WebSocket handshake.');
    const content = cloneContent(contentOf(this));
    return newResponse({ ...this.#parts(), content, url: this.#url, redirected: this.#redirected, type: this.#type });
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
    // Whether its body is to be encoded as its headers say.
    encodesBody = (response) => {
      return response.#encodeBody === 'automatic';
    };
    isResponse = (value) => {
      return isObject(value) && #status in value;
    };
  }
}
expose(Response, 'Response', { is: isResponse, clone: (response) => bodiless(response) && response.clone() });

function readResponseInit(init) {
  const { status, statusText, headers, cf, webSocket, encodeBody } = init;
  if (webSocket !== undefined && webSocket !== null && !load('websocket').isWebSocket(webSocket)) {
    badField('InitializerDict', 'webSocket', 'WebSocket');
  }
  return {
    status: status === undefined ? 200 : +status & 0xffff,
    statusText: statusText === undefined ? '' : `${statusText}`,
    headers: headers === undefined ? new Headers() : readHeaders('InitializerDict', headers),
    url: '',
    redirected: false,
    cf: cf === undefined ? undefined : readCf('InitializerDict', cf),
    type: 'default',
    encodeBody: encodeBody === undefined ? 'automatic' : readEncoding('encodeBody', encodeBody),
    webSocket: webSocket ?? null,
  };
}

// Whether a structured clone can hold it all: a body is a stream, which one isolate's clone cannot.
function bodiless(message) {
  if (contentOf(message) === null) return true;
  const { DOMException } = load('dom_exception');
  throw new DOMException('ReadableStream can only be serialized for RPC.', 'DataCloneError');
}

// Ones of the platform's own.
function newResponse(parts) {
  return new Response(parts, token);
}
function newRequest(parts) {
  return new Request({ ...DEFAULTS, ...parts }, token);
}

// The `fetch` of the global scope.
async function fetch(input, init) {
  if (arguments.length < 1) badArgument('ServiceWorkerGlobalScope', 'fetch', 1, 'Request or string');
  if (init !== undefined && init !== null && !isObject(init)) {
    badArgument('ServiceWorkerGlobalScope', 'fetch', 2, 'RequestInitializerDict or Request');
  }
  native.requireInvocation();
  const http = load('rpc_fetch');
  const request = new Request(input, init);
  const through = fetcherOf(request);
  return http.fetchThrough(through === null ? null : load('rpc').stateOf(through), request, signalOf(request));
}

return {
  Request,
  Response,
  Body,
  fetch: unlengthen(fetch),
  isRequest,
  isResponse,
  newRequest,
  newResponse,
  signalOf,
  setOwnSignal,
  cacheOf,
  decodesResponse,
  encodesBody,
  dataUrl: native.dataUrl,
  mediaType: native.mediaType,
  requireInvocation: native.requireInvocation,
};
