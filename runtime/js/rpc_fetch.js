// Fetches: a fetch is a call of `fetch` on a service, with a request as plain data (see `rpc_http`).
'use strict';
const { apply, promiseThen, Promise, TypeError, symbolDispose } = primordials;
const rpc = load('rpc');
const http = load('rpc_http');

// As the Fetch standard says.
const REDIRECTS_MAX = 20;
const REDIRECTS = { __proto__: null, 301: true, 302: true, 303: true, 307: true, 308: true };

// --- Fetches that this Worker makes -------------------------------------------------------------------------------

// Fetches through a service, and again where the answer leads when the request says so. `signal` may be null.
async function fetchThrough(service, request, signal) {
  if (signal !== null && signal.aborted) throw signal.reason;
  const wire = http.requestToWire(request);
  const bytes = load('body').contentOf(request)?.bytes ?? null;
  let { url } = request;
  for (let hops = 0; ; hops++) {
    const answer = await send(service, wire, signal);
    const location = wire.redirect === 'follow' && REDIRECTS[answer.status] === true ? locationOf(answer) : null;
    if (location === null) return http.responseFromWire(answer, url, hops > 0, signal);
    answer[symbolDispose]?.();
    if (hops >= REDIRECTS_MAX) throw new TypeError('Too many redirects.');
    url = redirect(wire, answer.status, location, bytes);
  }
}

function locationOf({ headers }) {
  return new (load('headers').Headers)(headers).get('location');
}

// Makes of a request the one that a redirect asks for; the answer is its URL. `bytes` is its body where it is at hand.
function redirect(wire, status, location, bytes) {
  const { URL } = load('url');
  const from = new URL(wire.url);
  if (!URL.canParse(location, wire.url)) throw new TypeError('Invalid Location header; unable to follow redirect.');
  const to = new URL(location, wire.url);
  if (from.origin !== to.origin && load('compat').has('strip_authorization_on_cross_origin_redirect')) {
    const headers = new (load('headers').Headers)(wire.headers);
    headers.delete('authorization');
    wire.headers = load('headers').raw(headers);
  }
  wire.url = to.href;
  const { method } = wire;
  if (((status === 301 || status === 302) && method === 'POST') || (status === 303 && method !== 'HEAD')) {
    wire.method = 'GET';
    wire.body = null;
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
  return wire.url;
}

// Sends a request; while it waits for the answer, `signal` ends it at both sides.
function send(service, wire, signal) {
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

// The method of stubs.
async function fetch(input, init) {
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

// Delivers a fetch event: `handle` is called with the request and gives the response.
async function deliverFetch(handle, wire) {
  const use = useOfSignal();
  const signal = use === 'none' ? undefined : load('abort').newSignal();
  const { client } = wire;
  wire.signal = use === 'passed on' ? signal : undefined;
  const request = http.requestFromWire(wire);
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
  const answer = http.responseToWire(response, gone);
  const { webSocket } = response;
  if (webSocket !== null) {
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
