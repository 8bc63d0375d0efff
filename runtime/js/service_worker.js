// Service-worker syntax: a script that registers listeners on the global scope, and the events that they get. To the rest
// of the runtime such a Worker is a default entrypoint whose handlers dispatch events.
'use strict';
const { apply, promiseResolve, defineProperty, TypeError, Error } = primordials;
const { badArgument, illegalInvocation, illegalConstructor, expose } = load('webidl');
const events = load('events');
const { waitUntil } = load('workers').module;

const token = {};

function readOnly(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

class ExtendableEvent extends events.Event {
  #own = true;
  constructor(type, key) {
    if (key !== token) illegalConstructor();
    super(type);
    events.trust(this);
  }
  waitUntil(promise) {
    if (!(#own in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('ExtendableEvent', 'waitUntil', 1, 'Promise');
    waitUntil(promise);
  }
}
expose(ExtendableEvent, 'ExtendableEvent');

let takeResponse;
class FetchEvent extends ExtendableEvent {
  #state = 'awaiting';
  #response;
  constructor(request, key) {
    super('fetch', key);
    readOnly(this, 'request', request);
  }
  respondWith(response) {
    if (!(#state in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('FetchEvent', 'respondWith', 1, 'Promise');
    this.preventDefault();
    const { DOMException } = load('dom_exception');
    if (this.#state === 'called') {
      throw new DOMException(
        'FetchEvent.respondWith() has already been called; it can only be called once.',
        'InvalidStateError',
      );
    }
    if (this.#state === 'sent') {
      throw new DOMException(
        'Too late to call FetchEvent.respondWith(). It must be called synchronously in the event handler.',
        'InvalidStateError',
      );
    }
    this.#state = 'called';
    this.#response = promiseResolve(response);
    this.stopImmediatePropagation();
  }
  passThroughOnException() {
    if (!(#state in this)) illegalInvocation();
  }
  static {
    takeResponse = (event) => {
      const response = event.#response;
      event.#state = 'sent';
      event.#response = undefined;
      return response;
    };
  }
}
expose(FetchEvent, 'FetchEvent');

class ScheduledEvent extends ExtendableEvent {
  constructor({ scheduledTime, cron }, key) {
    super('scheduled', key);
    readOnly(this, 'scheduledTime', scheduledTime);
    readOnly(this, 'cron', cron);
  }
  noRetry() {}
}
expose(ScheduledEvent, 'ScheduledEvent');

const dispatch = (event) => apply(events.dispatchEvent, globalThis, [event]);

async function fetch(request) {
  const event = new FetchEvent(request, token);
  const useDefault = dispatch(event);
  const response = takeResponse(event);
  if (response !== undefined) return response;
  if (!useDefault) throw new Error('preventDefault() called but respondWith() not called');
  // Nobody answered it: it goes on to wherever this Worker's own requests go.
  if (request.bodyUsed) {
    throw new TypeError("Script consumed request body but didn't call respondWith(). Can't forward request.");
  }
  return load('fetch').fetch(request);
}

async function scheduled(controller) {
  dispatch(new ScheduledEvent(controller ?? {}, token));
}

// What stands for the exports of the main module.
const main = () => ({ __proto__: null, default: { fetch, scheduled } });

return { ExtendableEvent, FetchEvent, ScheduledEvent, main };
