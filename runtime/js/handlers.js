// Events other than fetches and RPC calls: how a service is sent one, and how its handler is called.
'use strict';
const { apply, promiseThen, promiseResolve, isArray, isView, dateGetTime, objectKeys, Date, TypeError, Error } =
  primordials;
const rpc = load('rpc');
const { badArgument, badField, illegalConstructor, illegalInvocation, isDictionary, expose } = load('webidl');
const { map } = load('trace_items');

const token = {};
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// --- Sending --------------------------------------------------------------------------------------------------------

function send(service, kind, parts) {
  const state = rpc.stateOf(service);
  if (state === undefined) illegalInvocation();
  const { span } = native.traced() ? load('tracing').open(kind) : { span: undefined };
  const { 0: arrived, 1: call } = native.event(state.id, kind, parts);
  return apply(promiseThen, arrived, [
    () => {
      span?.end();
      return rpc.take(call)[0];
    },
  ]);
}

function milliseconds(value, struct, field) {
  if (typeof value === 'number') return value;
  if (!native.isDate(value)) badField(struct, field, 'date');
  return apply(dateGetTime, value, []);
}

const UINT16_MAX = 65535;

function encodeMessage(message) {
  const struct = 'ServiceBindingQueueMessage';
  if (!isObject(message)) badArgument('Fetcher', 'queue', 2, 'Array');
  const id = `${message.id}`;
  const timestamp = milliseconds(message.timestamp, struct, 'timestamp');
  const { body, serializedBody } = message;
  const attempts = +message.attempts;
  if (!(attempts >= 0 && attempts <= UINT16_MAX)) {
    throw new TypeError(`Value out of range. Must be between 0 and ${UINT16_MAX} (inclusive).`);
  }
  const isBytes = isView(serializedBody) || native.isBuffer(serializedBody);
  if ((body === undefined) === (serializedBody === undefined)) {
    throw new TypeError('Expected one of body or serializedBody for each message');
  }
  if (body === undefined && !isBytes) badField(struct, 'serializedBody', 'ArrayBuffer or ArrayBufferView');
  const bytes = body === undefined ? serializedBody : native.writeValue(body);
  return { id, timestamp, attempts, bytes };
}

// `service.queue(name, messages, metadata)`.
function queue(name, messages, metadata) {
  if (arguments.length < 1) badArgument('Fetcher', 'queue', 1, 'string');
  if (!isArray(messages)) badArgument('Fetcher', 'queue', 2, 'Array');
  const encoded = map(messages, encodeMessage);
  if (!isDictionary(metadata)) badArgument('Fetcher', 'queue', 3, 'MessageBatchMetadata');
  const metrics = metadata?.metrics ?? {};
  const { backlogCount = 0, backlogBytes = 0, oldestMessageTimestamp } = metrics;
  const oldest =
    oldestMessageTimestamp === undefined
      ? 0
      : milliseconds(oldestMessageTimestamp, 'MessageBatchMetrics', 'oldestMessageTimestamp');
  return send(this, 'queue', [`${name}`, encoded, { backlogCount: +backlogCount, backlogBytes: +backlogBytes, oldest }]);
}

// `service.scheduled({scheduledTime, cron})`.
function scheduled(options) {
  if (!isDictionary(options)) badArgument('Fetcher', 'scheduled', 1, 'ScheduledOptions');
  const given = options?.scheduledTime;
  const time = given === undefined ? native.now() : milliseconds(given, 'ScheduledOptions', 'scheduledTime');
  const cron = options?.cron === undefined ? '' : `${options.cron}`;
  return send(this, 'scheduled', [time, cron]);
}

// --- Delivering -----------------------------------------------------------------------------------------------------

// Delivers an event to the handler `find(kind)` gives: `{method, receiver, env, context, settled}`, where `settled` is the
// promise that the `waitUntil` tasks of the event are done. Rejects only for tests, whose caller is to know what they threw.
function deliver(kind, parts, find) {
  switch (kind) {
    case 'test':
      return test(find);
    case 'scheduled':
      return deliverScheduled(parts, find);
    case 'queue':
      return deliverQueue(parts, find);
    case 'tail':
      return deliverTraces(parts[0], find);
    case 'tailStream':
      return deliverOnset(parts[0], find);
    default:
      throw new Error(`There are no events of kind ${kind}.`);
  }
}

function call({ method, receiver, env, context }, controller) {
  return apply(method, receiver, [controller, env, context]);
}

async function test(find) {
  const handler = find('test');
  if (handler.method === undefined) throw new Error('Handler does not export a test() function.');
  await call(handler, {});
  native.returned();
}

// Runs a handler to the end of its tasks. Resolves to whether nothing of it failed.
async function run(find, kind, makeController, missing) {
  let handler;
  let failed = false;
  try {
    handler = find(kind);
    const controller = makeController();
    if (handler.method === undefined) {
      native.warn(missing.warning);
      throw new Error(missing.error);
    }
    await call(handler, controller);
    native.returned();
  } catch (error) {
    failed = true;
    native.uncaught(error);
  }
  if (handler !== undefined && !(await handler.settled())) {
    failed = true;
    native.failed();
  }
  return !failed;
}

let noRetry;

class ScheduledController {
  #noRetry = false;
  constructor(given, time, cron) {
    if (given !== token) illegalConstructor();
    define(this, 'cron', cron);
    define(this, 'scheduledTime', time);
  }
  noRetry() {
    if (!isObject(this) || !(#noRetry in this)) illegalInvocation();
    this.#noRetry = true;
  }
  static {
    noRetry = (controller) => controller.#noRetry;
  }
}
expose(ScheduledController, 'ScheduledController');

function define(object, name, value) {
  primordials.defineProperty(object, name, {
    __proto__: null,
    value,
    writable: false,
    enumerable: true,
    configurable: true,
  });
}

async function deliverScheduled({ 0: time, 1: cron }, find) {
  native.beginScheduled(time, cron);
  let controller;
  const make = () => (controller = new ScheduledController(token, time, cron));
  const ok = await run(find, 'scheduled', make, {
    warning:
      'Received a ScheduledEvent but we lack a handler for ScheduledEvents (a.k.a. Cron Triggers). Did you remember to ' +
      'export a scheduled() function?',
    error: 'Handler does not export a scheduled() function',
  });
  return { outcome: ok ? 'ok' : 'exception', noRetry: controller === undefined || noRetry(controller) };
}

// --- Queues ---------------------------------------------------------------------------------------------------------

function toDelay(options) {
  const seconds = options?.delaySeconds;
  return seconds === undefined ? undefined : seconds | 0;
}

class QueueMessage {
  #batch;
  constructor(given, batch, { id, timestamp, bytes, attempts }) {
    if (given !== token) illegalConstructor();
    this.#batch = batch;
    define(this, 'attempts', attempts);
    define(this, 'body', native.readValue(bytes));
    define(this, 'timestamp', new Date(timestamp));
    define(this, 'id', id);
  }
  retry(options) {
    if (!isObject(this) || !(#batch in this)) illegalInvocation();
    const { id } = this;
    if (!isDictionary(options)) badArgument('QueueMessage', 'retry', 1, 'QueueRetryOptions');
    const batch = this.#batch;
    if (batch.ackAll) return useless(`retry() on message ${id}`, 'ackAll()', 'retry() on a message');
    if (batch.acks[id] === true) return useless(`retry() on message ${id}`, 'ack()', 'retry() on a message');
    const delaySeconds = toDelay(options);
    batch.retries[id] ??= {};
    if (delaySeconds !== undefined) batch.retries[id].delaySeconds = delaySeconds;
  }
  ack() {
    if (!isObject(this) || !(#batch in this)) illegalInvocation();
    const { id } = this;
    const batch = this.#batch;
    if (batch.ackAll) return;
    if (batch.retryBatch.retry) return useless(`ack() on message ${id}`, 'retryAll()', 'ack() on a message');
    if (batch.retries[id] !== undefined) return useless(`ack() on message ${id}`, 'retry()', 'ack() on a message');
    batch.acks[id] = true;
  }
}
expose(QueueMessage, 'QueueMessage');

class QueueController {
  #batch;
  constructor(given, batch, { 0: queue, 1: messages, 2: { backlogCount, backlogBytes, oldest } }) {
    if (given !== token) illegalConstructor();
    this.#batch = batch;
    const oldestMessageTimestamp = oldest === 0 ? undefined : new Date(oldest);
    define(this, 'metadata', { metrics: { backlogCount, backlogBytes, oldestMessageTimestamp } });
    define(this, 'queue', queue);
    define(this, 'messages', map(messages, (message) => new QueueMessage(token, batch, message)));
  }
  retryAll(options) {
    if (!isObject(this) || !(#batch in this)) illegalInvocation();
    if (!isDictionary(options)) badArgument('QueueController', 'retryAll', 1, 'QueueRetryOptions');
    if (this.#batch.ackAll) return useless('retryAll()', 'ackAll()', 'retryAll()');
    this.#batch.retryBatch = { retry: true };
    const delaySeconds = toDelay(options);
    if (delaySeconds !== undefined) this.#batch.retryBatch.delaySeconds = delaySeconds;
  }
  ackAll() {
    if (!isObject(this) || !(#batch in this)) illegalInvocation();
    if (this.#batch.retryBatch.retry) return useless('ackAll()', 'retryAll()', 'ackAll()');
    this.#batch.ackAll = true;
  }
}
expose(QueueController, 'QueueController');

// A program took back what it had said, which it cannot.
function useless(what, earlier, calling) {
  const bare = earlier;
  native.warn(
    `Received a call to ${what} after ${earlier} was already called. Calling ${calling} after calling ${bare} has no ` +
      'effect.',
  );
}

async function deliverQueue(parts, find) {
  native.beginQueue(parts[0], parts[1].length);
  const batch = {
    ackAll: false,
    retryBatch: { retry: false },
    acks: { __proto__: null },
    retries: { __proto__: null },
  };
  const ok = await run(find, 'queue', () => new QueueController(token, batch, parts), {
    warning:
      'Received a QueueEvent but we lack a handler for QueueEvents. Did you remember to export a queue() function?',
    error: 'Handler does not export a queue() function.',
  });
  const { ackAll, retryBatch, acks, retries } = batch;
  return {
    outcome: ok ? 'ok' : 'exception',
    ackAll,
    retryBatch,
    explicitAcks: objectKeys(acks),
    retryMessages: map(objectKeys(retries), (msgId) => ({ msgId, ...retries[msgId] })),
  };
}

// --- Traces ---------------------------------------------------------------------------------------------------------

async function deliverTraces(items, find) {
  native.beginTrace(map(items, () => null));
  await run(find, 'tail', () => map(items, load('trace_items').traceItem), {
    warning: 'Attempted to send events but we lack a handler, did you remember to export a tail() function?',
    error: 'Handler does not export a tail() function.',
  });
}

// The onset of a stream: resolves to the session that takes the rest of it, or to null.
async function deliverOnset(onset, find) {
  native.beginTrace([]);
  const { streamEvent, session } = load('trace_items');
  try {
    const handler = find('tailStream');
    if (handler.method === undefined) {
      native.warn('A worker configured to act as a streaming tail worker does not export a tailStream() handler.');
      return null;
    }
    return session(await call(handler, streamEvent(onset)));
  } catch (error) {
    native.uncaught(error);
    return null;
  }
}

return { queue, scheduled, deliver };
