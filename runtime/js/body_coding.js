// Content codings of bodies (RFC 9110 8.4): what a response's `Content-Encoding` says is undone when its body is read,
// and done when it is sent.
'use strict';
const { TypeError, Uint8Array } = primordials;
const { bytesIn } = load('streams_support');
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
  const codec = native.open(coding, encodes, true, true);
  const source = streams.stateOf(stream);
  const reader = streams.acquire(source);
  let ended = false;
  const output = () => {
    try {
      return native.next(codec);
    } catch {
      throw new TypeError(`${name} ${encodes ? '' : 'de'}compression failed.`);
    }
  };
  const feed = {
    async next() {
      for (;;) {
        const piece = output();
        if (piece !== undefined) return new Uint8Array(piece);
        if (ended) return null;
        const { value, done } = await streams.readWhole(reader);
        if (done) {
          ended = true;
          native.close(codec);
        } else {
          native.push(codec, bytesOf(value));
        }
      }
    },
    cancel: (exception, reason) => streams.cancel(source, reason),
  };
  return streams.wrap(load('streams_native').createInner(feed));
}

function bytesOf(chunk) {
  if (typeof chunk === 'string') return load('encoding').utf8(chunk);
  const bytes = typeof chunk === 'object' && chunk !== null ? bytesIn(chunk) : null;
  if (bytes === null) throw new TypeError('This ReadableStream did not return bytes.');
  return bytes;
}

return { codingOf, coded };
