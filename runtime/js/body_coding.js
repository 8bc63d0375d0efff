// Content codings of bodies (RFC 9110 8.4): what a response's `Content-Encoding` says is undone when its body is read,
// and done when it is sent.
'use strict';
const { isView, promiseResolve, TypeError, Uint8Array } = primordials;
const streams = load('streams_readable');
const { has } = load('compat');

// By the header's value: what the platform calls it.
const CODINGS = { __proto__: null, gzip: 'Gzip', br: 'Brotli' };

// The coding that headers say, or null.
function codingOf(headers) {
  const coding = headers.get('content-encoding');
  if (coding === null) return null;
  if (coding === 'br') return has('brotli_content_encoding') ? 'br' : null;
  return CODINGS[coding] === undefined ? null : coding;
}

// A byte stream of what `stream` holds, encoded or decoded.
function coded(stream, coding, encodes) {
  const name = CODINGS[coding];
  const codec = native.open(coding, encodes, true);
  const reader = streams.acquire(streams.stateOf(stream), 'default');
  let ended = false;
  const next = () => {
    try {
      return native.next(codec);
    } catch {
      throw new TypeError(`${name} ${encodes ? '' : 'de'}compression failed.`);
    }
  };
  const pull = async (controller) => {
    for (;;) {
      const output = next();
      if (output !== undefined) {
        controller.enqueue(new Uint8Array(output));
        return;
      }
      if (ended) {
        controller.close();
        if (controller.pending.length > 0) controller.respond(0);
        return;
      }
      const { value, done } = await streams.readPromise(reader);
      if (done) {
        ended = true;
        native.close(codec);
      } else {
        native.push(codec, bytesOf(value));
      }
    }
  };
  const cancel = (reason) => {
    streams.cancel(reader.stream, reason);
    return promiseResolve(undefined);
  };
  return streams.wrap(load('streams_byte').createInner(pull, cancel));
}

function bytesOf(chunk) {
  if (isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const bytes = typeof chunk === 'object' ? load('streams_byte').bufferView(chunk) : null;
  if (bytes === null) throw new TypeError('This ReadableStream did not return bytes.');
  return bytes;
}

return { codingOf, coded };
