// What lies below WebSockets: ends of connections, within this isolate and beyond it, and how an end is sent away.
//
// Every end has `receive(bytesMax)`, a promise of the next frame; `send(frame)`, a promise settled when the other side has
// taken it, so that whoever is slow holds the other back; `disconnect()`, after which the other side finds nobody; and
// `toWire()`, what is sent for an end that somebody else is to use. A frame is a string, a Uint8Array, or one of the
// classes below.
//
// Across RPC an end is an object with the methods `receive(bytesMax)` and `send(frame)`; releasing it disconnects. There
// a frame is a string, bytes, `{code, reason}`, `{error}`, null where the connection is lost, or an array with a part of
// a message that goes on.
'use strict';
const { isView, Error, Uint8Array, symbolDispose, isArray, apply, promiseThen, Promise } = primordials;
const rpc = load('rpc');
const { deferred, Queue } = load('streams_support');
const { utf8, decodeUtf8 } = load('encoding');

// A larger message crosses in parts of at most this many bytes.
const PART_BYTES_MAX = 1 << 20;

class CloseFrame {
  constructor(code, reason) {
    this.code = code;
    this.reason = reason;
  }
}

// The other side broke the protocol; nothing follows.
class ErrorFrame {
  constructor(error) {
    this.error = error;
  }
}

// Why an operation failed: the other side is not there.
function lost() {
  return new Error('Network connection lost.');
}

// --- Within the isolate -------------------------------------------------------------------------------------------

// One end of a pair. Nothing is buffered between the ends: a frame waits with its sender.
class PairEnd {
  // Frames of the other side that nobody has received yet, with who waits for that.
  #sent = new Queue();
  #receiver = null;
  #gone = false;
  #peer = null;
  // Whether frames come from a turn of their own, and may be handled in it.
  fed = false;
  // Called when the other side disconnects.
  onLost = null;

  static pair() {
    const first = new PairEnd();
    const second = new PairEnd();
    first.#peer = second;
    second.#peer = first;
    return [first, second];
  }
  receive() {
    if (this.#sent.length > 0) {
      const { frame, taken } = this.#sent.shift();
      taken.resolve();
      return primordials.promiseResolve(frame);
    }
    this.#receiver = deferred();
    if (this.#peer.#gone) this.#receiver.reject(lost());
    return this.#receiver.promise;
  }
  send(frame) {
    const taken = deferred();
    const peer = this.#peer;
    if (peer.#gone || this.#gone) {
      taken.reject(lost());
    } else if (peer.#receiver !== null && !peer.#receiver.settled) {
      peer.#receiver.resolve(frame);
      taken.resolve();
    } else {
      peer.#sent.push({ frame, taken });
    }
    return taken.promise;
  }
  disconnect() {
    if (this.#gone) return;
    this.#gone = true;
    while (this.#sent.length > 0) this.#sent.shift().taken.reject(lost());
    const peer = this.#peer;
    // What this side has sent is still there to be received.
    if (peer.#receiver !== null && !peer.#receiver.settled) peer.#receiver.reject(lost());
    if (!peer.#gone) peer.onLost?.();
  }
  toWire() {
    // From now on frames reach the other side by calls, each a turn of its own.
    this.#peer.fed = true;
    return new SentEnd(this);
  }
}

// The far end of one that was sent.
class SentEnd extends rpc.RpcTarget {
  #end;
  // The rest of a message that goes out in parts.
  #rest = null;
  #parts = new Parts();
  constructor(end) {
    super();
    this.#end = end;
  }
  async receive() {
    if (this.#rest === null) {
      let frame;
      try {
        frame = await this.#end.receive();
      } catch {
        return null;
      }
      const wire = frameToWire(frame);
      if (!(wire instanceof Rest)) return wire;
      this.#rest = wire;
    }
    const part = this.#rest.next();
    if (!isArray(part)) this.#rest = null;
    return part;
  }
  async send(wire) {
    const frame = this.#parts.add(wire, Infinity);
    if (frame === null) return;
    await this.#end.send(frame);
  }
  [symbolDispose]() {
    this.#end.disconnect();
  }
}

// --- Beyond the isolate -------------------------------------------------------------------------------------------

// An end of a connection that is somewhere else: a stub of it, to be used in the invocation that got it.
class RemoteEnd {
  #socket;
  #owner;
  #parts = new Parts();
  fed = true;
  onLost = null;
  constructor(stub, owner) {
    this.#socket = rpc.hold(stub);
    this.#owner = owner;
  }
  async receive(bytesMax) {
    for (;;) {
      let wire;
      try {
        wire = await this.#invoke('receive', bytesMax);
      } catch {
        throw lost();
      }
      if (wire === null || wire === undefined) throw lost();
      const frame = this.#parts.add(wire, bytesMax);
      if (frame !== null) return frame;
    }
  }
  async send(frame) {
    const wire = frameToWire(frame);
    try {
      if (!(wire instanceof Rest)) {
        await this.#invoke('send', wire);
        return;
      }
      for (;;) {
        const part = wire.next();
        await this.#invoke('send', part);
        if (!isArray(part)) return;
      }
    } catch {
      throw lost();
    }
  }
  #invoke(method, argument) {
    if (native.current() === this.#owner) return rpc.invoke(this.#socket, [method], [argument]);
    // Another event of the same Durable Object: the stub is for the one that got it.
    return new Promise((resolve, reject) => {
      native.later(this.#owner, () => {
        apply(promiseThen, rpc.invoke(this.#socket, [method], [argument]), [resolve, reject]);
      });
    });
  }
  disconnect() {
    rpc.letGo(this.#socket);
  }
  toWire() {
    return rpc.makeStub(this.#socket.id, 0);
  }
}

// --- Frames in messages -------------------------------------------------------------------------------------------

function frameToWire(frame) {
  if (typeof frame === 'string') {
    // No character takes more than three bytes.
    if (frame.length * 3 <= PART_BYTES_MAX) return frame;
    const bytes = utf8(frame);
    return bytes.byteLength <= PART_BYTES_MAX ? frame : new Rest(bytes, true);
  }
  if (isView(frame)) return frame.byteLength <= PART_BYTES_MAX ? frame : new Rest(frame, false);
  if (frame instanceof ErrorFrame) return { error: frame.error.message };
  return { code: frame.code, reason: frame.reason };
}

// What is left to send of a large message.
class Rest {
  #bytes;
  #isText;
  #at = 0;
  constructor(bytes, isText) {
    this.#bytes = bytes;
    this.#isText = isText;
  }
  next() {
    let end = this.#at + PART_BYTES_MAX;
    const last = end >= this.#bytes.byteLength;
    if (last) end = this.#bytes.byteLength;
    // A part of a text ends where a character does.
    else if (this.#isText) while ((this.#bytes[end] & 0xc0) === 0x80) end -= 1;
    const bytes = this.#bytes.slice(this.#at, end);
    this.#at = end;
    const part = this.#isText ? decodeUtf8(bytes) : bytes;
    return last ? part : [part];
  }
}

// Puts messages together that arrive in parts.
class Parts {
  #parts = [];
  #length = 0;
  // The frame that is complete with this; null when more of it is to come.
  add(wire, lengthMax) {
    const more = isArray(wire);
    const part = more ? wire[0] : wire;
    if (typeof part === 'string') {
      if (!more && this.#parts.length === 0) return part;
      this.#keep(part, part.length, lengthMax);
      if (more) return null;
      const text = this.#parts.join('');
      this.#clear();
      return text;
    }
    if (isView(part)) {
      const bytes = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
      if (!more && this.#parts.length === 0) return bytes;
      this.#keep(bytes, bytes.byteLength, lengthMax);
      if (more) return null;
      const whole = new Uint8Array(this.#length);
      let at = 0;
      for (let i = 0; i < this.#parts.length; i++) {
        whole.set(this.#parts[i], at);
        at += this.#parts[i].byteLength;
      }
      this.#clear();
      return whole;
    }
    if (typeof part !== 'object' || part === null) throw lost();
    if (part.error !== undefined) return new ErrorFrame(new Error(`${part.error}`));
    return new CloseFrame(part.code & 0xffff, `${part.reason}`);
  }
  #keep(part, length, lengthMax) {
    this.#length += length;
    // Whoever is at the other end of the connection keeps to the limit; this is for a Worker that does not.
    if (this.#length > lengthMax) throw lost();
    this.#parts.push(part);
  }
  #clear() {
    this.#parts = [];
    this.#length = 0;
  }
}

return { PairEnd, RemoteEnd, CloseFrame, ErrorFrame, lost };
