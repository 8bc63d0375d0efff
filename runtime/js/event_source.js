// EventSource (HTML 9.2), with the platform's ways to say where events come from: a service, or a stream of bytes.
'use strict';
const { apply, promiseThen, symbolDispose, Error, TypeError } = primordials;
const { badArgument, badConstructorArgument, badField, illegalInvocation, isDictionary, expose, constants } =
  load('webidl');
const { Event, EventTarget, ErrorEvent, newMessage, trust } = load('events');
const { DOMException } = load('dom_exception');

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 2;

// Milliseconds until a connection that was lost is made anew; a server may ask for others within these bounds.
const RECONNECTION_DEFAULT = 2_000;
const RECONNECTION_MIN = 1_000;
const RECONNECTION_MAX = 10_000;

// An `id` or `data` field longer than this ends the connection: a server that never ends a line is not listened to.
const LINE_LENGTH_MAX = 16 << 20;

const token = {};

// Takes a stream's text apart into events (HTML 9.2.6).
class Parser {
  #decoder = new (load('encoding').TextDecoder)();
  #rest = '';
  // Whether the last line ended with a CR, of which a LF that follows is part.
  #afterReturn = false;
  #data = null;
  #type = undefined;
  #source;
  constructor(source) {
    this.#source = source;
  }
  // The events that are complete with these bytes.
  feed(bytes) {
    const events = [];
    let text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    for (;;) {
      if (this.#afterReturn && text.length > 0) {
        this.#afterReturn = false;
        if (text[0] === '\n') text = text.slice(1);
      }
      const end = lineEnd(text);
      if (end < 0) break;
      this.#afterReturn = text[end] === '\r';
      this.#line(text.slice(0, end), events);
      text = text.slice(end + 1);
    }
    if (text.length > LINE_LENGTH_MAX) throw new Error('The server sent a line that is too long.');
    this.#rest = text;
    return events;
  }
  #line(line, events) {
    if (line === '') {
      if (this.#data !== null && this.#data !== '') {
        events.push({ type: this.#type ?? 'message', data: this.#data, lastEventId: this.#source.lastEventId });
      }
      this.#data = null;
      this.#type = undefined;
      return;
    }
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? '' : line.slice(colon + 1);
    if (value[0] === ' ') value = value.slice(1);
    switch (field) {
      case 'data':
        this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
        if (this.#data.length > LINE_LENGTH_MAX) throw new Error('The server sent an event that is too long.');
        break;
      case 'event':
        this.#type = value;
        break;
      case 'id':
        this.#source.lastEventId = value;
        break;
      case 'retry':
        if (/^[0-9]+$/.test(value)) this.#source.retryIn(+value);
        break;
    }
  }
}

function lineEnd(text) {
  const feed = text.indexOf('\n');
  const carriageReturn = text.indexOf('\r');
  if (feed < 0 || carriageReturn < 0) return feed < 0 ? carriageReturn : feed;
  return feed < carriageReturn ? feed : carriageReturn;
}

// The connection behind an EventSource.
class Source {
  readyState = CONNECTING;
  lastEventId = '';
  url = null;
  // A service to fetch from instead of the global outbound.
  fetcher = undefined;
  #target;
  #delay = RECONNECTION_DEFAULT;
  #timer = null;
  #controller = null;
  #emptyBefore = false;

  constructor(target) {
    this.#target = target;
  }
  retryIn(milliseconds) {
    this.#delay = Math.min(Math.max(milliseconds, RECONNECTION_MIN), RECONNECTION_MAX);
  }

  connect() {
    if (this.readyState === CLOSED) return;
    this.#controller = new (load('abort').AbortController)();
    const headers = { accept: 'text/event-stream', 'cache-control': 'no-cache' };
    if (this.lastEventId !== '') headers['last-event-id'] = this.lastEventId;
    const init = { headers, signal: this.#controller.signal };
    const { href } = this.url;
    const answer =
      this.fetcher === undefined
        ? load('fetch').fetch(href, init)
        : apply(load('rpc').ServiceStub.prototype.fetch, this.fetcher, [href, init]);
    apply(promiseThen, answer, [(response) => this.#answered(response), (error) => this.#fail(error)]);
  }

  #answered(response) {
    if (this.readyState === CLOSED) return;
    if (!response.ok) return this.#refuse(`The response status code was ${response.status}.`);
    const type = response.headers.get('content-type');
    if (type === null) return this.#refuse('No content type header was present in the response.');
    if (!/^\s*text\/event-stream\s*(;|$)/i.test(type)) return this.#refuse(`The content type '${type}' is invalid.`);
    if (response.redirected) this.url = new (load('url').URL)(response.url);
    const { body } = response;
    if (body !== null) return this.read(body, true);
    if (this.#emptyBefore) return this.#fail(new Error('The server provided no content.'));
    // Once is taken for an accident.
    this.#emptyBefore = true;
    this.#retry(new Error('The server provided no content. Will try reconnecting.'));
  }

  #refuse(message) {
    this.#fail(new DOMException(message, 'AbortError'));
  }

  // Reads events off a stream until it ends.
  read(stream, reconnects) {
    this.readyState = OPEN;
    this.#dispatch(() => trust(new Event('open')));
    const streams = load('streams_readable');
    const state = streams.stateOf(stream);
    const reader = streams.acquire(state);
    const parser = new Parser(this);
    const next = () => {
      apply(promiseThen, streams.readWhole(reader), [
        ({ value, done }) => {
          if (this.readyState === CLOSED) return cancel();
          if (done) {
            const error = new Error('The server disconnected.');
            return reconnects ? this.#retry(error) : this.#fail(error);
          }
          try {
            const events = parser.feed(value);
            for (let i = 0; i < events.length && this.readyState !== CLOSED; i++) {
              const origin = this.url === null ? null : this.url.origin;
              this.#target.dispatchEvent(newMessage(events[i].type, { ...events[i], origin }));
            }
          } catch (error) {
            this.#fail(error);
            return cancel();
          }
          if (this.readyState === CLOSED) cancel();
          else next();
        },
        (error) => this.#fail(error),
      ]);
    };
    const cancel = () => {
      apply(promiseThen, streams.cancel(state, undefined), [undefined, () => {}]);
    };
    next();
  }

  #retry(error) {
    if (this.readyState === CLOSED) return;
    this.readyState = CONNECTING;
    this.#tell(error);
    // A handler may have closed it.
    if (this.readyState === CLOSED) return;
    this.#timer = load('timers').startTimer(this.#delay, () => this.connect());
  }

  #fail(error) {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#controller?.abort(error);
    this.#tell(error);
  }

  #tell(error) {
    const { message } = native.describe(error);
    this.#dispatch(() => trust(new ErrorEvent('error', { message, error })));
    native.report(error);
  }

  #dispatch(makeEvent) {
    try {
      this.#target.dispatchEvent(makeEvent());
    } catch (error) {
      native.report(error);
    }
  }

  close() {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#controller?.abort();
    if (this.#timer !== null) load('timers').cancelTimer(this.#timer);
  }
}

function requireInvocation() {
  if (native.inInvocation()) return;
  throw new DOMException(
    'An EventSource can only be created within the context of a worker request.',
    'NotSupportedError',
  );
}

function handlerOf(value) {
  return typeof value === 'function' || (typeof value === 'object' && value !== null) ? value : null;
}

class EventSource extends EventTarget {
  #source;
  #onopen = null;
  #onmessage = null;
  #onerror = null;

  constructor(url, init) {
    if (url === token) {
      super();
      this.#source = new Source(this);
      return;
    }
    if (arguments.length < 1) badConstructorArgument('EventSource', 1, 'string');
    if (!isDictionary(init)) badConstructorArgument('EventSource', 2, 'EventSourceInit');
    requireInvocation();
    if (init?.withCredentials) {
      throw new DOMException(
        'The init.withCredentials option is not supported. It must be false or undefined.',
        'NotSupportedError',
      );
    }
    const fetcher = init?.fetcher;
    if (fetcher !== undefined && load('rpc').stateOf(fetcher) === undefined) {
      badField('EventSourceInit', 'fetcher', 'Fetcher');
    }
    const text = `${url}`;
    const href = load('url').parseURL(text);
    if (href === undefined) {
      throw new DOMException(`Cannot open an EventSource to '${text}'. The URL is invalid.`, 'SyntaxError');
    }
    super();
    this.#source = new Source(this);
    this.#source.url = new (load('url').URL)(href);
    this.#source.fetcher = fetcher;
    this.#source.connect();
  }
  static from(stream) {
    const streams = load('streams_readable');
    if (!streams.isReadableStream(stream)) badArgument('EventSource', 'from', 1, 'JsReadableStream');
    requireInvocation();
    const { reader, disturbed } = streams.stateOf(stream);
    if (reader !== null) throw new TypeError('This ReadableStream is locked.');
    if (disturbed) throw new TypeError('This ReadableStream has already been read from.');
    const eventSource = new EventSource(token);
    eventSource.#source.read(stream, false);
    return eventSource;
  }
  close() {
    if (!(#source in this)) illegalInvocation();
    this.#source.close();
  }
  get url() {
    if (!(#source in this)) illegalInvocation();
    return this.#source.url === null ? '' : this.#source.url.href;
  }
  get withCredentials() {
    if (!(#source in this)) illegalInvocation();
    return false;
  }
  get readyState() {
    if (!(#source in this)) illegalInvocation();
    return this.#source.readyState;
  }
  get onopen() {
    if (!(#source in this)) illegalInvocation();
    return this.#onopen;
  }
  set onopen(handler) {
    if (!(#source in this)) illegalInvocation();
    this.#onopen = handlerOf(handler);
  }
  get onmessage() {
    if (!(#source in this)) illegalInvocation();
    return this.#onmessage;
  }
  set onmessage(handler) {
    if (!(#source in this)) illegalInvocation();
    this.#onmessage = handlerOf(handler);
  }
  get onerror() {
    if (!(#source in this)) illegalInvocation();
    return this.#onerror;
  }
  set onerror(handler) {
    if (!(#source in this)) illegalInvocation();
    this.#onerror = handlerOf(handler);
  }
  [symbolDispose]() {
    this.close();
  }
}
expose(EventSource, 'EventSource');
constants(EventSource, { CONNECTING, OPEN, CLOSED });

return { EventSource };
