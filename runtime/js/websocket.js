// WebSocket and WebSocketPair (WHATWG WebSockets, with the platform's accept()).
//
// An end of a connection waits until the program accepts it or sends it away in a Response. Accepted, it is read frame by
// frame, each in a turn of the invocation that accepted it, and written from a queue. As on the platform, closing is two
// steps: each side says that it will send no more, and only when both have is the connection let go.
'use strict';
const { apply, promiseThen, isView, TypeError, Error, Uint8Array, stringToWellFormed } = primordials;
const { badArgument, badConstructorArgument, illegalInvocation, expose, constants } = load('webidl');
const { Event, EventTarget, ErrorEvent, CloseEvent, newMessage, trust } = load('events');
const { DOMException } = load('dom_exception');
const { PairEnd, RemoteEnd, CloseFrame, ErrorFrame, lost } = load('websocket_pipe');
const { utf8 } = load('encoding');
const { has } = load('compat');

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

// Phases of an end.
const UNCONNECTED = 0;
const WAITING = 1;
const ACCEPTED = 2;
const RELEASED = 3;

const MESSAGE_BYTES_MAX = 32 << 20;
// With the flag `increase_websocket_message_size`.
const LARGE_MESSAGE_BYTES_MAX = 128 << 20;
// UTF-8, with the flag `websocket_close_reason_byte_limit`; what a close frame has room for.
const REASON_BYTES_MAX = 123;

const NOT_ACCEPTED =
  'You must call one of accept() or state.acceptWebSocket() on this WebSocket before sending messages.';

function messageBytesMax() {
  return has('increase_websocket_message_size') ? LARGE_MESSAGE_BYTES_MAX : MESSAGE_BYTES_MAX;
}

// What a WebSocket is besides an event target.
class Socket {
  constructor(target, end, url) {
    this.target = target;
    this.end = end;
    this.url = url;
    this.protocol = '';
    this.extensions = '';
    this.owner = native.current();
    this.phase = end === null ? UNCONNECTED : WAITING;
    this.allowHalfOpen = !has('web_socket_auto_reply_to_close');
    this.binaryType = has('websocket_standard_binary_type') ? 'blob' : 'arraybuffer';
    this.closedIncoming = false;
    this.closedOutgoing = false;
    this.outgoingAborted = false;
    this.pumping = false;
    // Frames to be sent, the first of them on its way.
    this.outgoing = [];
    this.buffered = 0;
    this.error = null;
    this.attachment = null;
    // What is called for events instead of dispatching them, for a Durable Object that hibernates.
    this.delegate = null;
  }

  readyState() {
    if ((this.closedIncoming && this.closedOutgoing) || this.error !== null) return CLOSED;
    if (this.closedIncoming || this.closedOutgoing) return CLOSING;
    return this.phase === UNCONNECTED ? CONNECTING : OPEN;
  }

  accept() {
    this.phase = ACCEPTED;
    this.end.onLost = () => {
      this.outgoingAborted = true;
      if (!this.pumping && this.closedIncoming) this.release();
    };
    const task = native.opened(this.owner);
    this.readNext(() => native.closed(task));
  }

  // Reads the next frame and handles it in a turn of its own, until there are no more.
  readNext(done) {
    const handle = (handler) => {
      const run = () => {
        if (this.phase === RELEASED) return done();
        if (handler()) this.readNext(done);
        else done();
      };
      // An object has a fresh budget for each frame, which begins with the next turn.
      const refilled = native.refill(this.owner);
      if (this.end.fed && !refilled && native.current() === this.owner) run();
      else native.later(this.owner, run);
    };
    apply(promiseThen, this.end.receive(messageBytesMax()), [
      (frame) => handle(() => this.guard(() => this.received(frame))),
      () => handle(() => this.guard(() => this.lost())),
    ]);
  }

  // Runs a handler of the program; what it throws ends the connection.
  guard(handler) {
    try {
      return handler();
    } catch (error) {
      native.report(error);
      this.closedIncoming = true;
      this.fail(error);
      return false;
    }
  }

  // A frame arrived. Whether there may be more.
  received(frame) {
    if (typeof frame === 'string') {
      this.dispatch(newMessage('message', { data: frame }), 'message', frame);
      return true;
    }
    if (isView(frame)) {
      const { buffer } = frame.byteLength === frame.buffer.byteLength ? frame : frame.slice();
      const data = this.binaryType === 'blob' ? load('blob').newBlob(new Uint8Array(buffer), '') : buffer;
      this.dispatch(newMessage('message', { data }), 'message', buffer);
      return true;
    }
    this.closedIncoming = true;
    if (frame instanceof ErrorFrame) {
      this.fail(frame.error);
      return false;
    }
    const { code, reason } = frame;
    if (!this.allowHalfOpen && !this.closedOutgoing && !this.outgoingAborted && this.phase === ACCEPTED) {
      this.closedOutgoing = true;
      this.enqueue(new CloseFrame(code, reason), 0);
    }
    this.dispatch(new CloseEvent('close', { code, reason, wasClean: true }), 'close', code, reason, true);
    this.releaseIfDone();
    return false;
  }

  // The other side is gone without a word.
  lost() {
    if (this.closedIncoming) return false;
    const reason = 'WebSocket disconnected without sending Close frame.';
    this.dispatch(new CloseEvent('close', { code: 1006, reason, wasClean: false }), 'close', 1006, reason, false);
    this.closedIncoming = true;
    this.outgoingAborted = true;
    this.releaseIfDone();
    return false;
  }

  dispatch(event, name, ...values) {
    if (this.delegate !== null) this.delegate(name, values);
    else this.target.dispatchEvent(trust(event));
  }

  // Something went wrong for good: the first time, the program is told.
  fail(error) {
    if (this.error !== null) return;
    this.error = { value: error };
    const { message } = native.describe(error);
    this.outgoingAborted = true;
    try {
      this.dispatch(new ErrorEvent('error', { message, error }), 'error', error);
    } catch (thrown) {
      native.report(thrown);
    }
    if (this.closedIncoming && !this.pumping) this.release();
  }

  enqueue(frame, bytes) {
    this.outgoing.push({ frame, bytes });
    this.buffered += bytes;
    if (!this.pumping) this.pump();
  }

  pump() {
    this.pumping = true;
    apply(promiseThen, this.end.send(this.outgoing[0].frame), [
      () => {
        this.buffered -= this.outgoing.shift().bytes;
        if (this.outgoing.length > 0 && this.phase === ACCEPTED) return this.pump();
        this.pumping = false;
        if (this.closedIncoming && this.closedOutgoing) this.release();
      },
      (error) => {
        this.pumping = false;
        this.outgoing = [];
        this.buffered = 0;
        this.outgoingAborted = true;
        native.later(this.owner, () => this.fail(error));
      },
    ]);
  }

  releaseIfDone() {
    if ((this.closedOutgoing || this.outgoingAborted) && !this.pumping) this.release();
  }

  release() {
    if (this.phase === RELEASED) return;
    this.phase = RELEASED;
    this.end?.disconnect();
  }

  send(frame, bytes) {
    if (this.closedOutgoing) throw new TypeError("Can't call WebSocket send() after close().");
    if (this.outgoingAborted || this.phase === RELEASED) return;
    if (this.phase !== ACCEPTED) throw new TypeError(NOT_ACCEPTED);
    this.enqueue(frame, bytes);
  }

  close(code, reason) {
    if (this.phase === UNCONNECTED) {
      this.phase = RELEASED;
      native.later(this.owner, () => this.notConnected(lost()));
      return;
    }
    if (this.closedOutgoing || this.outgoingAborted || this.phase === RELEASED) return;
    if (this.phase !== ACCEPTED) throw new TypeError(NOT_ACCEPTED);
    if (this.error !== null) throw this.error.value;
    this.closedOutgoing = true;
    this.enqueue(new CloseFrame(code ?? 1005, reason ?? ''), 0);
  }

  connected(response) {
    const { webSocket, status, headers } = response;
    if (webSocket === null) {
      return this.notConnected(
        new TypeError(
          'Failed to establish the WebSocket connection: expected server to reply with HTTP status code 101 ' +
            `(switching protocols), but received ${status} instead.`,
        ),
      );
    }
    const { end } = socketOf(webSocket);
    if (this.phase === RELEASED) return end.disconnect();
    this.end = end;
    this.protocol = headers.get('sec-websocket-protocol');
    this.extensions = headers.get('sec-websocket-extensions');
    this.accept();
    this.guard(() => this.target.dispatchEvent(trust(new Event('open'))));
  }

  notConnected(error) {
    if (this.error !== null) return;
    this.closedIncoming = true;
    this.phase = RELEASED;
    this.fail(error);
    const reason = 'Failed to establish websocket connection';
    this.target.dispatchEvent(trust(new CloseEvent('close', { code: 1006, reason, wasClean: false })));
  }
}

// --- The classes --------------------------------------------------------------------------------------------------

const token = {};

// What the rest of the platform may do with one.
let socketOf, isWebSocket;
class WebSocket extends EventTarget {
  #socket;

  constructor(url, protocols) {
    if (url === token) {
      super();
      this.#socket = new Socket(this, protocols, null);
      return;
    }
    if (arguments.length < 1) badConstructorArgument('WebSocket', 1, 'string');
    native.requireInvocation();
    const text = `${url}`;
    const { target, headers } = handshake(text, protocols);
    super();
    this.#socket = new Socket(this, null, text);
    connect(this.#socket, target, headers);
  }

  accept(options) {
    if (!isWebSocket(this)) illegalInvocation();
    if (options !== undefined && options !== null && typeof options !== 'object') {
      badArgument('WebSocket', 'accept', 1, 'AcceptOptions');
    }
    const socket = usable(this.#socket);
    if (socket.phase === UNCONNECTED) {
      throw new TypeError("Websockets obtained from the 'new WebSocket()' constructor cannot call accept");
    }
    if (socket.phase === RELEASED) throw new TypeError("Can't accept() WebSocket that was already used in a response.");
    if (socket.phase === ACCEPTED) {
      if (socket.delegate !== null) throw new TypeError("Can't accept() WebSocket after enabling hibernation.");
      return;
    }
    const { allowHalfOpen } = options ?? {};
    if (allowHalfOpen !== undefined) socket.allowHalfOpen = !!allowHalfOpen;
    socket.accept();
  }

  send(message) {
    if (!isWebSocket(this)) illegalInvocation();
    if (arguments.length < 1) badArgument('WebSocket', 'send', 1, 'ArrayBuffer or ArrayBufferView or string');
    const socket = usable(this.#socket);
    // A copy: what is sent is what is there now.
    const bytes = bytesOf(message);
    if (bytes !== null) return socket.send(bytes, bytes.byteLength);
    const text = apply(stringToWellFormed, `${message}`, []);
    socket.send(text, utf8(text).byteLength);
  }

  close(code, reason) {
    if (!isWebSocket(this)) illegalInvocation();
    const socket = usable(this.#socket);
    const number = code === undefined ? undefined : code | 0;
    if (number !== undefined && !isCloseCode(number)) {
      throw new DOMException(`Invalid WebSocket close code: ${number}.`, 'InvalidAccessError');
    }
    const text = reason === undefined ? undefined : apply(stringToWellFormed, `${reason}`, []);
    if (text !== undefined && has('websocket_close_reason_byte_limit') && utf8(text).byteLength > REASON_BYTES_MAX) {
      throw new DOMException(
        'WebSocket close reason must not be longer than 123 bytes when UTF-8 encoded.',
        'SyntaxError',
      );
    }
    if (text !== undefined && number === undefined) {
      throw new DOMException(
        'If you specify a WebSocket close reason, you must also specify a code.',
        'InvalidAccessError',
      );
    }
    socket.close(number, text);
  }

  serializeAttachment(attachment) {
    if (!isWebSocket(this)) illegalInvocation();
    if (arguments.length < 1) badArgument('WebSocket', 'serializeAttachment', 1, 'Value');
    this.#socket.attachment = native.serialize(attachment);
  }

  deserializeAttachment() {
    if (!isWebSocket(this)) illegalInvocation();
    const { attachment } = this.#socket;
    return attachment === null ? null : native.deserialize(attachment);
  }

  get readyState() {
    if (!isWebSocket(this)) illegalInvocation();
    return this.#socket.readyState();
  }
  get bufferedAmount() {
    if (!isWebSocket(this)) illegalInvocation();
    return this.#socket.buffered;
  }
  get url() {
    if (!isWebSocket(this)) illegalInvocation();
    return this.#socket.url;
  }
  get protocol() {
    if (!isWebSocket(this)) illegalInvocation();
    return this.#socket.protocol;
  }
  get extensions() {
    if (!isWebSocket(this)) illegalInvocation();
    return this.#socket.extensions;
  }
  get binaryType() {
    if (!isWebSocket(this)) illegalInvocation();
    return this.#socket.binaryType;
  }
  set binaryType(value) {
    if (!isWebSocket(this)) illegalInvocation();
    const type = `${value}`;
    if (type === 'blob' || type === 'arraybuffer') this.#socket.binaryType = type;
  }

  static {
    socketOf = (webSocket) => webSocket.#socket;
    isWebSocket = (value) => typeof value === 'object' && value !== null && #socket in value;
  }
}
expose(WebSocket, 'WebSocket', { is: isWebSocket });
constants(WebSocket, {
  READY_STATE_CONNECTING: CONNECTING,
  CONNECTING,
  READY_STATE_OPEN: OPEN,
  OPEN,
  READY_STATE_CLOSING: CLOSING,
  CLOSING,
  READY_STATE_CLOSED: CLOSED,
  CLOSED,
});

function usable(socket) {
  native.requireOwner(socket.owner);
  return socket;
}

function isCloseCode(code) {
  if (has('pedantic_wpt')) return code === 1000 || (code >= 3000 && code <= 4999);
  return code >= 1000 && code < 5000 && code !== 1004 && code !== 1005 && code !== 1006 && code !== 1015;
}

// A copy of what a buffer or view holds; null for anything else.
function bytesOf(message) {
  if (isView(message)) return new Uint8Array(message.buffer, message.byteOffset, message.byteLength).slice();
  const bytes = typeof message === 'object' ? load('streams_support').bufferView(message) : null;
  return bytes === null ? null : bytes.slice();
}

class WebSocketPair {
  constructor() {
    native.requireInvocation();
    const { 0: first, 1: second } = PairEnd.pair();
    this[0] = new WebSocket(token, first);
    this[1] = new WebSocket(token, second);
  }
  *[Symbol.iterator]() {
    yield this[0];
    yield this[1];
  }
}
expose(WebSocketPair, 'WebSocketPair');

// --- Connecting ---------------------------------------------------------------------------------------------------

// RFC 6455 4.1: a token of printable characters, none of them a separator.
const PROTOCOL = /^[!#$%&'*+\-.0-9A-Z^_`a-z|~"]+$/;

function syntaxError(message) {
  throw new DOMException(`WebSocket Constructor: ${message}`, 'SyntaxError');
}

// Where to connect to, and what to send there.
function handshake(text, protocols) {
  const href = load('url').parseURL(text);
  if (href === undefined) syntaxError('The url is invalid.');
  const scheme = href.slice(0, href.indexOf(':'));
  if (scheme !== 'ws' && scheme !== 'wss') syntaxError('The url scheme must be ws or wss.');
  if (href.includes('#')) syntaxError('The url fragment must be empty.');
  const headers = [['Upgrade', 'websocket']];
  if (has('web_socket_compression')) headers.push(['Sec-WebSocket-Extensions', 'permessage-deflate']);
  if (protocols !== undefined) {
    const isList = typeof protocols === 'object' && protocols !== null && typeof protocols[Symbol.iterator] === 'function';
    const list = isList ? [...protocols].map((protocol) => `${protocol}`) : [`${protocols}`];
    for (let i = 0; i < list.length; i++) {
      if (!PROTOCOL.test(list[i])) {
        syntaxError(isList ? 'One of the protocol header tokens is invalid.' : 'The protocol header token is invalid.');
      }
      if (list.indexOf(list[i]) !== i) syntaxError('The protocols header cannot have repeating values.');
    }
    if (list.length > 0) headers.push(['Sec-WebSocket-Protocol', list.join(', ')]);
  }
  const target = new (load('url').URL)(`http${href.slice(2)}`);
  target.username = '';
  target.password = '';
  return { target: target.href, headers };
}

function connect(socket, target, headers) {
  const http = load('rpc_fetch');
  const outbound = http.outbound();
  if (outbound === undefined) {
    native.later(socket.owner, () => socket.notConnected(new Error(NOT_PERMITTED)));
    return;
  }
  const { Request } = load('fetch');
  const request = new Request(target, { headers });
  apply(promiseThen, http.fetchThrough(outbound, request, null), [
    (response) => socket.connected(response),
    () => socket.notConnected(lost()),
  ]);
}

const NOT_PERMITTED =
  'This worker is not permitted to access the internet via global functions like fetch(). It must use capabilities ' +
  "(such as bindings in 'env') to talk to the outside world.";

// --- For Responses ------------------------------------------------------------------------------------------------

// What is sent for the WebSocket of a response, which is then used.
function toWire(webSocket) {
  const socket = socketOf(webSocket);
  if (socket.phase === UNCONNECTED) {
    throw new TypeError("Can't return WebSocket in a Response if it was created with `new WebSocket()`");
  }
  if (socket.phase === RELEASED) throw new TypeError("Can't return WebSocket that was already used in a response.");
  if (socket.phase === ACCEPTED) {
    const called = socket.delegate === null ? 'accept' : 'acceptWebSocket';
    throw new TypeError(`Can't return WebSocket in a Response after calling ${called}().`);
  }
  socket.phase = RELEASED;
  return { end: socket.end.toWire(), bytesMax: messageBytesMax() };
}

// A WebSocket that arrived with a response.
function fromWire(stub) {
  return new WebSocket(token, new RemoteEnd(stub, native.current()));
}

return { WebSocket, WebSocketPair, isWebSocket, socketOf, toWire, fromWire };
