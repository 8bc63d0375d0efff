// Requests and responses across JS RPC, and the fetch event, which is a call of `fetch` on a service.
//
// A head crosses as plain data, so that a host needs no JavaScript for it. A body that is not at hand is a capability
// (see `rpc_streams`).
'use strict';
const { apply, promiseThen, promiseReject, Promise, isView, TypeError } = primordials;
const rpc = load('rpc');
const { StreamSource, StreamSink, readableFrom, writableTo, bytesOf } = load('rpc_streams');

// A larger body is sent as a stream, even when it is at hand.
const BODY_BYTES_MAX = 1 << 20;

// What the parts of a message are; the numbers are kept for ever. 1 is a DOMException.
const HEADERS = 2;
const REQUEST = 3;
const RESPONSE = 4;
const BLOB = 5;
const READABLE = 6;
const WRITABLE = 7;
const SIGNAL = 8;

// --- Heads and bodies ---------------------------------------------------------------------------------------------

// What is sent for a body, which is then used.
function bodyToWire(message) {
  const { contentOf, isUsed, USED, take } = load('body');
  const content = contentOf(message);
  if (content === null) return null;
  if (isUsed(content)) throw new TypeError(USED);
  if (content.stream === null && content.bytes.byteLength <= BODY_BYTES_MAX) return take(content).bytes;
  return new StreamSource(message.body);
}

function bodyFromWire(body) {
  const { Content } = load('body');
  if (body === null || body === undefined) return null;
  if (isView(body)) return new Content(bytesOf(body), null);
  return new Content(null, readableFrom(body));
}

function requestToWire(request) {
  const { method, url, redirect, cf } = request;
  const wire = { method, url, headers: load('headers').raw(request.headers), body: bodyToWire(request), redirect };
  if (cf !== undefined) wire.cf = cf;
  return wire;
}

// What is sent for a request that is a value: its signal goes with it.
function requestValue(request) {
  const signal = load('fetch').signalOf(request);
  const sent = signal !== null && load('compat').has('enable_abortsignal_rpc') ? signal : undefined;
  const wire = requestToWire(request);
  if (sent !== undefined) wire.signal = sent;
  return wire;
}

function requestFromWire({ method, url, headers, body, redirect, cf, signal }) {
  const { Request } = load('fetch');
  const request = new Request(url, { method, headers, redirect, cf, signal });
  load('body').setContent(request, bodyFromWire(body));
  return request;
}

function responseToWire(response) {
  const { status, statusText, cf } = response;
  const wire = { status, statusText, headers: load('headers').raw(response.headers), body: bodyToWire(response) };
  if (cf !== undefined) wire.cf = cf;
  return wire;
}

// Whether a request asks for a WebSocket.
function isUpgrade(headers) {
  return (headers.get('upgrade') ?? '').toLowerCase() === 'websocket';
}

function responseFromWire({ status, statusText, headers, body, cf, webSocket }, url) {
  const { Headers } = load('headers');
  return load('fetch').newResponse({
    content: bodyFromWire(body),
    status,
    statusText: statusText === '' || statusText === undefined ? (STATUS_TEXTS[status] ?? '') : statusText,
    headers: new Headers(headers),
    url,
    redirected: false,
    cf,
    type: 'default',
    encodeBody: 'automatic',
    webSocket: webSocket === undefined ? null : load('websocket').fromWire(webSocket),
  });
}

// RFC 9110's reasons, for a response that was sent without one.
const STATUS_TEXTS = {
  __proto__: null,
  101: 'Switching Protocols', 200: 'OK', 201: 'Created', 202: 'Accepted', 203: 'Non-Authoritative Information', 204: 'No Content',
  205: 'Reset Content', 206: 'Partial Content', 300: 'Multiple Choices', 301: 'Moved Permanently', 302: 'Found',
  303: 'See Other', 304: 'Not Modified', 305: 'Use Proxy', 307: 'Temporary Redirect', 308: 'Permanent Redirect',
  400: 'Bad Request', 401: 'Unauthorized', 402: 'Payment Required', 403: 'Forbidden', 404: 'Not Found',
  405: 'Method Not Allowed', 406: 'Not Acceptable', 407: 'Proxy Authentication Required', 408: 'Request Timeout',
  409: 'Conflict', 410: 'Gone', 411: 'Length Required', 412: 'Precondition Failed', 413: 'Payload Too Large',
  414: 'URI Too Long', 415: 'Unsupported Media Type', 416: 'Range Not Satisfiable', 417: 'Expectation Failed',
  418: "I'm a teapot", 421: 'Misdirected Request', 422: 'Unprocessable Entity', 423: 'Locked',
  424: 'Failed Dependency', 425: 'Too Early', 426: 'Upgrade Required', 428: 'Precondition Required',
  429: 'Too Many Requests', 431: 'Request Header Fields Too Large', 451: 'Unavailable For Legal Reasons',
  500: 'Internal Server Error', 501: 'Not Implemented', 502: 'Bad Gateway', 503: 'Service Unavailable',
  504: 'Gateway Timeout', 505: 'HTTP Version Not Supported',
};

// --- Values in messages -------------------------------------------------------------------------------------------

// What is sent for an object of the API: [type, value], or nothing when it does not cross.
function describe(object, forRpc) {
  const headers = load('headers');
  if (headers.isHeaders(object)) return [HEADERS, headers.raw(object)];
  const fetch = load('fetch');
  const isRequest = fetch.isRequest(object);
  if (isRequest || fetch.isResponse(object)) {
    if (!forRpc && load('body').contentOf(object) !== null) return refuse('ReadableStream');
    if (isRequest) return [REQUEST, requestValue(object)];
    if (object.webSocket !== null) {
      return refuseText('Could not serialize object of type "WebSocket". This type does not support serialization.');
    }
    return [RESPONSE, responseToWire(object)];
  }
  const blobs = load('blob');
  if (blobs.isBlob(object)) {
    return blobs.isFile(object) ? undefined : [BLOB, [blobs.contents(object), object.type]];
  }
  if (load('streams_readable').isReadableStream(object)) {
    return forRpc ? [READABLE, new StreamSource(object)] : refuse('ReadableStream');
  }
  if (load('streams_writable').isWritableStream(object)) {
    return forRpc ? [WRITABLE, new StreamSink(object)] : refuse('WritableStream');
  }
  if (load('abort').isAbortSignal(object)) {
    if (!load('compat').has('enable_abortsignal_rpc')) return refuseText('AbortSignal serialization is not enabled.');
    return forRpc ? [SIGNAL, load('rpc_signal').toWire(object)] : refuse('AbortSignal');
  }
  return undefined;
}

function refuse(name) {
  refuseText(`${name} can only be serialized for RPC.`);
}

function refuseText(text) {
  const { DOMException } = load('dom_exception');
  throw new DOMException(text, 'DataCloneError');
}

function revive(type, value) {
  switch (type) {
    case HEADERS:
      return new (load('headers').Headers)(value);
    case REQUEST:
      return requestFromWire(value);
    case RESPONSE:
      return responseFromWire(value, '');
    case BLOB:
      return load('blob').newBlob(bytesOf(value[0]), value[1]);
    case READABLE:
      return readableFrom(value);
    case WRITABLE:
      return writableTo(value);
    case SIGNAL:
      return load('rpc_signal').fromWire(value);
    default:
      return refuseText('Unable to deserialize cloned data.');
  }
}

// --- Fetches ------------------------------------------------------------------------------------------------------

// Fetches through a service. `signal` may be null.
function fetchThrough(service, request, signal) {
  const { url } = request;
  const answer = apply(promiseThen, rpc.invoke(service, ['fetch'], [requestToWire(request)]), [
    (wire) => responseFromWire(wire, url),
  ]);
  if (signal === null) return answer;
  if (signal.aborted) return promiseReject(signal.reason);
  return new Promise((resolve, reject) => {
    const undo = load('abort').onAbort(signal, reject);
    apply(promiseThen, answer, [
      (response) => {
        undo();
        resolve(response);
      },
      (error) => {
        undo();
        reject(error);
      },
    ]);
  });
}

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

// Whether a call on an entrypoint is a fetch event.
function isFetch(path, args) {
  return path.length === 1 && path[0] === 'fetch' && args !== undefined && typeof args[0]?.url === 'string';
}

// Delivers a fetch event: `handle` is called with the request and gives the response.
async function deliverFetch(handle, wire) {
  const request = requestFromWire(wire);
  // Asked now: what the program does to the headers changes nothing.
  const upgrade = isUpgrade(request.headers);
  const response = await handle(request);
  if (!load('fetch').isResponse(response)) {
    throw new TypeError("Incorrect type for Promise: the Promise did not resolve to 'Response'.");
  }
  const answer = responseToWire(response);
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

return { describe, revive, fetch, fetchThrough, outbound, isFetch, deliverFetch };
