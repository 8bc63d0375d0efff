// Requests, responses and other objects of the API across JS RPC.
//
// A head crosses as plain data, so that a host needs no JavaScript for it. A body that is not at hand is a capability
// (see `rpc_streams`).
'use strict';
const { isView, symbolDispose, TypeError, Uint8Array } = primordials;
const { ANSWER_BREAKS, BODY_BREAKS, StreamSource, StreamSink, readableFrom, writableTo, bytesOf } = load('rpc_streams');

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
const SOCKET = 22;

// --- Heads and bodies ---------------------------------------------------------------------------------------------

// What is sent for a body, which is then used. `onCancel` is called when the receiver does not want the rest of it.
function bodyToWire(message, onCancel) {
  const { contentOf, isUsed, USED, take, decode } = load('body');
  const content = contentOf(message);
  if (content === null) return null;
  if (isUsed(content)) throw new TypeError(USED);
  decode(content);
  if (content.stream === null) return wireOfBytes(take(content).bytes);
  return new StreamSource(message.body, onCancel);
}

// Takes the body of a response, which is then used: encoded, when its headers say so and it is not yet. Null without one;
// otherwise `bytes` or a `stream`, and its `length` where that is known.
function takeCoded(response) {
  const { contentOf, isUsed, USED, take, decode, streamOf, lengthOf } = load('body');
  const content = contentOf(response);
  if (content === null) return null;
  if (isUsed(content)) throw new TypeError(USED);
  const coding = load('fetch').encodesBody(response) ? load('body_coding').codingOf(response.headers) : null;
  if (content.coding !== coding) {
    decode(content);
    if (coding !== null) {
      const { bytes, stream } = take(content);
      return { bytes: null, stream: load('body_coding').coded(stream ?? streamOf(bytes), coding, true), length: null };
    }
  }
  const length = lengthOf(content);
  const { bytes, stream } = take(content);
  return { bytes: stream === null ? bytes : null, stream, length };
}

// Adds to what is sent for a response that is an answer its body.
function addCoded(wire, response, onCancel) {
  const taken = takeCoded(response);
  wire.body = null;
  if (taken === null) return wire;
  if (taken.length !== null) wire.length = taken.length;
  wire.body = taken.stream === null ? wireOfBytes(taken.bytes) : new StreamSource(taken.stream, onCancel);
  return wire;
}

// What is sent for a body that is at hand.
function wireOfBytes(bytes) {
  return bytes.byteLength <= BODY_BYTES_MAX ? bytes : new StreamSource(load('body').streamOf(bytes));
}

function bodyFromWire(body, signal, length, breaks = BODY_BREAKS) {
  const { Content } = load('body');
  if (body === null || body === undefined) return null;
  if (isView(body)) return new Content(bytesOf(body), null);
  const known = typeof length === 'number' ? BigInt(length) : undefined;
  return new Content(null, readableFrom(body, signal, undefined, known, breaks));
}

function requestToWire(request) {
  const { method, url, redirect, cf } = request;
  const { contentOf, lengthOf } = load('body');
  const content = contentOf(request);
  const wire = { method, url, headers: load('headers').raw(request.headers), redirect };
  // Of a body, its number of bytes: null when that is not known.
  if (content !== null) wire.length = lengthOf(content);
  wire.body = bodyToWire(request);
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

// A request that is a value.
function requestFromWire({ method, url, headers, body, length, redirect, cf, signal }) {
  const { Headers } = load('headers');
  return load('fetch').newRequest({
    content: bodyFromWire(body, null, length),
    method,
    url,
    headers: new Headers(headers),
    redirect: redirect ?? 'follow',
    cf,
    signal: signal ?? null,
  });
}

// A request that came with a fetch event. Its headers say how long its body is, as they would had it come over HTTP.
function incomingRequest(wire) {
  const request = requestFromWire({ ...wire, redirect: 'manual' });
  const { headers } = request;
  const { length } = wire;
  if (length !== undefined && !headers.has('content-length') && !headers.has('transfer-encoding')) {
    if (length === null) headers.set('transfer-encoding', 'chunked');
    else headers.set('content-length', `${length}`);
  }
  load('headers').freeze(headers);
  return request;
}

// A response that is a value.
function responseToWire(response) {
  const wire = headToWire(response);
  const { contentOf, lengthOf } = load('body');
  const content = contentOf(response);
  const length = content === null ? null : lengthOf(content);
  if (length !== null) wire.length = length;
  wire.body = bodyToWire(response);
  return wire;
}

// A response that is the answer of a fetch event.
function answerToWire(response, onCancel) {
  return addCoded(headToWire(response), response, onCancel);
}

function headToWire({ status, statusText, headers, cf }) {
  const wire = { status, statusText, headers: load('headers').raw(headers) };
  if (cf !== undefined) wire.cf = cf;
  return wire;
}

// Whether a request asks for a WebSocket.
function isUpgrade(headers) {
  return (headers.get('upgrade') ?? '').toLowerCase() === 'websocket';
}

function responseFromWire({ status, statusText, headers, body, length, cf }) {
  const { Headers } = load('headers');
  return load('fetch').newResponse({
    content: bodyFromWire(body, null, length),
    status,
    statusText: statusText ?? '',
    headers: new Headers(headers),
    url: '',
    redirected: false,
    cf,
    type: status === 0 ? 'error' : 'default',
    encodeBody: 'automatic',
  });
}

// The answer to a request that this Worker made. `signal`, unless it is null, breaks the body off; `decodes` says whether
// the body is read as what its headers say it encodes.
function answerFromWire(wire, { method, url, redirected, signal, decodes }) {
  const { status, statusText, body, length, webSocket } = wire;
  const { Headers, freeze } = load('headers');
  const headers = new Headers(wire.headers);
  let content = null;
  if (method !== 'HEAD' && NULL_BODY[status] !== true) {
    const { Content } = load('body');
    content = bodyFromWire(body, signal, length, ANSWER_BREAKS) ?? new Content(new Uint8Array(0), null);
    if (decodes) content.coding = load('body_coding').codingOf(headers);
  } else if (webSocket === undefined) {
    wire[symbolDispose]?.();
  }
  return load('fetch').newResponse({
    content,
    status,
    statusText: statusText === '' || statusText === undefined ? reasonOf(status) : statusText,
    headers: freeze(headers),
    url,
    redirected,
    cf: wire.cf,
    type: 'default',
    encodeBody: decodes ? 'automatic' : 'manual',
    webSocket: webSocket === undefined ? null : load('websocket').fromWire(webSocket),
  });
}

// Those of responses that have no body.
const NULL_BODY = { __proto__: null, 101: true, 204: true, 205: true, 304: true };

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

// The reason that is sent for a status when there is no other.
function reasonOf(status) {
  return STATUS_TEXTS[status] ?? '';
}

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
  if (load('socket').isSocket(object)) return [SOCKET, load('sockets').describe(object, forRpc)];
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
      return responseFromWire(value);
    case BLOB:
      return load('blob').newBlob(bytesOf(value[0]), value[1]);
    case READABLE:
      return readableFrom(value);
    case WRITABLE:
      return writableTo(value);
    case SIGNAL:
      return load('rpc_signal').fromWire(value);
    case SOCKET:
      return load('sockets').revive(value);
    default:
      return refuseText('Unable to deserialize cloned data.');
  }
}

return { describe, revive, requestToWire, takeCoded, reasonOf, incomingRequest, answerToWire, answerFromWire, wireOfBytes, isUpgrade };
