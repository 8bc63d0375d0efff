// Fetches: a fetch is a call of `fetch` on a service, with a request as plain data (see `rpc_http`).
'use strict';
const { apply, promiseThen, isView, Error, Promise, TypeError, symbolDispose } = primordials;
const rpc = load('rpc');
const http = load('rpc_http');

// As the Fetch standard says.
const REDIRECTS_MAX = 20;
const REDIRECTS = { __proto__: null, 301: true, 302: true, 303: true, 307: true, 308: true };

// --- Fetches that this Worker makes -------------------------------------------------------------------------------

const NOT_PERMITTED =
  'This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities ' +
  "(such as bindings in 'env') to talk to the outside world.";

// Fetches through a service (null: wherever this Worker's own fetch() goes), and again where the answer leads when the request says so.
// `signal` may be null.
async function fetchThrough(service, request, signal) {
  if (signal !== null && signal.aborted) throw signal.reason;
  const fetches = load('fetch');
  let url = addressOf(request.url);
  if (url.startsWith('data:')) return dataResponse(url, request.method);
  const cf = load('fetch_init').outgoingCf(request.cf, fetches.cacheOf(request));
  const target = service ?? outbound();
  if (target === undefined) throw new Error(NOT_PERMITTED);
  const content = load('body').contentOf(request);
  const decodes = fetches.decodesResponse(request);
  const follows = request.redirect === 'follow';
  const wire = http.requestToWire(request);
  const bytes = content?.bytes ?? null;
  wire.redirect = 'manual';
  wire.url = bare(url);
  if (http.isUpgrade(request.headers) && !load('compat').has('web_socket_compression')) {
    wire.headers = withExtensions(wire.headers, null);
  }
  if (cf !== undefined) wire.cf = cf;
  addHeaders(wire, fetches.cacheOf(request));
  const urls = [url];
  for (;;) {
    const answer = await send(target, wire, signal);
    const location = follows && REDIRECTS[answer.status] === true ? locationOf(answer) : null;
    if (location === null) {
      const { method } = wire;
      return http.answerFromWire(answer, { method, url: withoutFragment(url), redirected: urls.length > 1, signal, decodes });
    }
    answer[symbolDispose]?.();
    url = redirect(wire, answer.status, location, bytes, urls);
    urls.push(url);
  }
}

// A request's URL as one to send to: an HTTP one, unless the Worker is older than that rule.
function addressOf(text) {
  const url = load('url').parseURL(text);
  if (url === undefined) throw new TypeError(`Invalid URL: ${text}`);
  const scheme = url.slice(0, url.indexOf(':'));
  if (scheme === 'http' || scheme === 'https' || scheme === 'data') return url;
  if (load('compat').has('fetch_refuses_unknown_protocols')) throw new TypeError(`Fetch API cannot load: ${text}`);
  return url;
}

function withoutFragment(url) {
  const at = url.indexOf('#');
  return at < 0 ? url : url.slice(0, at);
}

// What of a URL is sent: neither a fragment nor who asks.
function bare(url) {
  return withoutFragment(url).replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?]*@/, '$1');
}

// What a cache mode asks of caches on the way.
function addHeaders(wire, cache) {
  if (cache === undefined) return;
  const { Headers, raw } = load('headers');
  const headers = new Headers(wire.headers);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-cache');
  if (!headers.has('pragma')) headers.set('pragma', 'no-cache');
  wire.headers = raw(headers);
}

// A data: URL's response (Fetch 6).
function dataResponse(url, method) {
  const { dataUrl, Response } = load('fetch');
  const parts = dataUrl(url);
  if (parts === undefined) throw new TypeError(`Fetch API cannot load: ${url}`);
  const body = method === 'GET' ? parts.bytes : null;
  return new Response(body, { statusText: 'OK', headers: { 'content-type': parts.type } });
}

function locationOf({ headers }) {
  return new (load('headers').Headers)(headers).get('location');
}

// Makes of a request the one that a redirect asks for; the answer is its URL. `bytes` is its body where it is at hand.
function redirect(wire, status, location, bytes, urls) {
  const { URL } = load('url');
  const from = new URL(wire.url);
  if (!URL.canParse(location, wire.url)) throw new TypeError('Invalid Location header; unable to follow redirect.');
  const to = new URL(location, wire.url);
  if (urls.length > REDIRECTS_MAX) throw new TypeError(`Too many redirects.${urls.join(', ')}`);
  if (from.origin !== to.origin && load('compat').has('strip_authorization_on_cross_origin_redirect')) {
    const headers = new (load('headers').Headers)(wire.headers);
    headers.delete('authorization');
    wire.headers = load('headers').raw(headers);
  }
  wire.url = bare(to.href);
  const { method } = wire;
  if (((status === 301 || status === 302) && method === 'POST') || (status === 303 && method !== 'HEAD')) {
    wire.method = 'GET';
    wire.body = null;
    delete wire.length;
  } else if (wire.body !== null) {
    if (bytes === null) {
      throw new TypeError(
        'A request with a one-time-use body (it was initialized from a stream, not a buffer) encountered a redirect ' +
          'requiring the body to be retransmitted. To avoid this error in the future, construct this request from a ' +
          'buffer-like body initializer.',
      );
    }
    wire.body = http.wireOfBytes(bytes);
  }
  return to.href;
}

// Sends a request; while it waits for the answer, `signal` ends it at both sides.
function send(service, wire, signal) {
  if (!native.traced()) return sendUntraced(service, wire, signal);
  const { open, note, within } = load('tracing');
  const opened = open('fetch');
  const { span } = opened;
  note(opened, 'network.protocol.name', 'http');
  note(opened, 'network.protocol.version', 'HTTP/1.1');
  note(opened, 'http.request.method', wire.method);
  note(opened, 'url.full', wire.url);
  if (isView(wire.body)) note(opened, 'http.request.body.size', wire.body.byteLength);
  return apply(promiseThen, within(opened, () => sendUntraced(service, wire, signal), []), [
    (answer) => {
      const { status, body } = answer;
      note(opened, 'http.response.status_code', status);
      if (body === null || isView(body)) note(opened, 'http.response.body.size', body === null ? 0 : body.byteLength);
      span.end();
      return answer;
    },
    (error) => {
      span.end();
      throw error;
    },
  ]);
}

function sendUntraced(service, wire, signal) {
  if (signal === null) return rpc.invoke(service, ['fetch'], [wire]);
  const { stub, undo: unfollow } = load('rpc_signal').follow(signal);
  wire.client = stub;
  const answer = rpc.invoke(service, ['fetch'], [wire]);
  return new Promise((resolve, reject) => {
    let aborted = false;
    const undo = load('abort').onAbort(signal, (reason) => {
      aborted = true;
      // The other side hears of it before this one goes on.
      load('timers').startTimer(0, () => reject(reason));
    });
    const settled = (settle) => (value) => {
      undo();
      unfollow();
      if (!aborted) settle(value);
    };
    apply(promiseThen, answer, [settled(resolve), settled(reject)]);
  });
}

const INIT = 'RequestInitializerDict or Request';

// The method of stubs.
async function fetch(input, init) {
  if (arguments.length < 1) load('webidl').badArgument('Fetcher', 'fetch', 1, 'Request or string');
  if (!load('webidl').isDictionary(init)) load('webidl').badArgument('Fetcher', 'fetch', 2, INIT);
  const service = rpc.stateOf(this);
  const { Request, signalOf } = load('fetch');
  const request = new Request(input, init);
  return fetchThrough(service, request, signalOf(request));
}

// Where this Worker's own fetch() goes; undefined: nowhere.
function outbound() {
  const id = native.outbound();
  return id === undefined ? undefined : { __proto__: null, kind: rpc.SERVICE, id };
}

// --- Fetches that this Worker answers -----------------------------------------------------------------------------

// Whether a call on an entrypoint is a fetch event.
function isFetch(path, args) {
  return path.length === 1 && path[0] === 'fetch' && args !== undefined && typeof args[0]?.url === 'string';
}

// What an incoming request's signal is for: nothing, the request alone, or also the requests that are made of it.
let signalUse;

function useOfSignal() {
  if (signalUse === undefined) {
    const { has } = load('compat');
    signalUse = !has('enable_request_signal') ? 'none' : has('request_signal_passthrough') ? 'passed on' : 'own';
  }
  return signalUse;
}

const EXTENSIONS = 'sec-websocket-extensions';

// The headers of a response with a WebSocket: what a Worker does not say of extensions is what its client offers, or
// nothing where it is older than compression.
function withExtensions(headers, offered) {
  const compresses = load('compat').has('web_socket_compression');
  const kept = [];
  let said = false;
  for (let i = 0; i < headers.length; i++) {
    const isExtensions = headers[i][0] === EXTENSIONS;
    if (isExtensions && !compresses) continue;
    said ||= isExtensions;
    kept[kept.length] = headers[i];
  }
  if (compresses && !said && offered !== null) kept[kept.length] = [EXTENSIONS, offered];
  return kept;
}

// Delivers a fetch event: `handle` is called with the request and gives the response.
async function deliverFetch(handle, wire) {
  try {
    return await respond(handle, wire);
  } catch (error) {
    native.threw(error);
    throw error;
  }
}

async function respond(handle, wire) {
  const use = useOfSignal();
  const signal = use === 'none' ? undefined : load('abort').newSignal();
  const { client } = wire;
  wire.signal = use === 'passed on' ? signal : undefined;
  const request = http.incomingRequest(wire);
  if (use === 'own') load('fetch').setOwnSignal(request, signal);
  const gone = () => {
    if (signal !== undefined) load('abort').abort(signal, load('rpc_signal').clientGone());
  };
  if (client !== undefined) load('rpc_signal').followClient(client, gone);
  // Asked now: what the program does to the headers changes nothing.
  const upgrade = http.isUpgrade(request.headers);
  const response = await handle(request);
  if (!load('fetch').isResponse(response)) {
    throw new TypeError("Incorrect type for Promise: the Promise did not resolve to 'Response'.");
  }
  if (response.type === 'error') {
    throw new TypeError('Return value from serve handler must not be an error response (like Response.error())');
  }
  const offered = upgrade ? request.headers.get(EXTENSIONS) : null;
  const answer = http.answerToWire(response, gone);
  const { webSocket } = response;
  if (webSocket !== null) {
    answer.headers = withExtensions(answer.headers, offered);
    if (!upgrade) {
      throw new TypeError(
        'Worker tried to return a WebSocket in a response to a request which did not contain the header ' +
          '"Upgrade: websocket".',
      );
    }
    const { end, bytesMax } = load('websocket').toWire(webSocket);
    answer.webSocket = end;
    answer.webSocketBytesMax = bytesMax;
  }
  return answer;
}

return { fetch, fetchThrough, outbound, isFetch, deliverFetch };
