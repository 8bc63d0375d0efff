// Traces as Tail Workers get them: the items of `tail(events)`, and the events of `tailStream(event)`.
'use strict';
const { apply, defineProperty, jsonParse, promiseThen, promiseResolve, symbolDispose } = primordials;
const rpc = load('rpc');
const { illegalConstructor, illegalInvocation, expose } = load('webidl');

const token = {};
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Read-only own properties, in the order given.
function fields(object, values) {
  for (const name in values) {
    defineProperty(object, name, {
      __proto__: null,
      value: values[name],
      writable: false,
      enumerable: true,
      configurable: true,
    });
  }
}

function map(list, convert) {
  const converted = [];
  for (let i = 0; i < list.length; i++) converted[i] = convert(list[i]);
  return converted;
}

// --- Items ----------------------------------------------------------------------------------------------------------

// A class whose instances are made here only, with the fields given.
function itemClass(name) {
  const { [name]: constructor } = {
    [name]: class {
      constructor(given, values) {
        if (given !== token) illegalConstructor();
        fields(this, values);
      }
    },
  };
  expose(constructor, name);
  return (values) => new constructor(token, { __proto__: null, ...values });
}

const makeTraceItem = itemClass('TraceItem');
const makeLog = itemClass('TraceLog');
const makeException = itemClass('TraceException');
const makeChannelEvent = itemClass('TraceDiagnosticChannelEvent');
const makeFetchInfo = itemClass('FetchEventInfo');
const makeResponse = itemClass('Response');
const makeConnectInfo = itemClass('ConnectEventInfo');
const makeRpcInfo = itemClass('JsRpcEventInfo');
const makeScheduledInfo = itemClass('ScheduledEventInfo');
const makeAlarmInfo = itemClass('AlarmEventInfo');
const makeQueueInfo = itemClass('QueueEventInfo');
const makeTailInfo = itemClass('TailEventInfo');
const makeTailItem = itemClass('TailItem');
const makeCustomInfo = itemClass('CustomEventInfo');

// A fetch's head, without what may be a secret in its headers and URL.
class Request {
  #whole;
  constructor(given, whole, redacted) {
    if (given !== token) illegalConstructor();
    this.#whole = whole;
    const headers = {};
    for (let i = 0; i < whole.headers.length; i++) {
      const { 0: name, 1: value } = whole.headers[i];
      headers[name] = redacted && native.redactHeader(name) ? 'REDACTED' : value;
    }
    const url = redacted ? native.redactUrl(whole.url) : whole.url;
    fields(this, { __proto__: null, url, method: whole.method, headers, cf: whole.cf });
  }
  getUnredacted() {
    if (!isObject(this) || !(#whole in this)) illegalInvocation();
    return new Request(token, this.#whole, false);
  }
}
expose(Request, 'Request');

function eventInfo(info) {
  switch (info.type) {
    case 'fetch': {
      const { method, url, headers, status } = info;
      const cf = info.cfJson === undefined ? undefined : jsonParse(info.cfJson);
      const pairs = map(headers, ({ name, value }) => [name, value]);
      return makeFetchInfo({
        request: new Request(token, { method, url, headers: pairs, cf }, true),
        response: status === undefined ? undefined : makeResponse({ status }),
      });
    }
    case 'connect':
      return makeConnectInfo({});
    case 'jsrpc':
      return makeRpcInfo({ rpcMethod: info.method });
    case 'scheduled':
      return makeScheduledInfo({ cron: info.cron, scheduledTime: +info.scheduledTime });
    case 'alarm':
      return makeAlarmInfo({ scheduledTime: info.scheduledTime });
    case 'queue':
      return makeQueueInfo({ batchSize: info.batchSize, queue: info.queueName });
    case 'trace':
      return makeTailInfo({ consumedEvents: map(info.traces, (scriptName) => makeTailItem({ scriptName })) });
    default:
      return makeCustomInfo({});
  }
}

function traceItem(item) {
  const { wallTime, cpuTime, truncated, executionModel, outcome, entrypoint, eventTimestamp } = item;
  return makeTraceItem({
    wallTime,
    cpuTime,
    truncated,
    executionModel,
    outcome,
    durableObjectId: undefined,
    preview: undefined,
    tailAttributes: undefined,
    scriptTags: undefined,
    dispatchNamespace: undefined,
    scriptVersion: undefined,
    entrypoint,
    scriptName: null,
    diagnosticsChannelEvents: map(item.channelEvents, ({ message, channel, timestamp }) =>
      makeChannelEvent({ message: native.readValue(message), channel, timestamp }),
    ),
    exceptions: map(item.exceptions, ({ stack, name, message, timestamp }) =>
      makeException({ stack, name, message, timestamp }),
    ),
    logs: map(item.logs, ({ errorInfo, message, level, timestamp }) =>
      makeLog({ errorInfo, message: jsonParse(message), level, timestamp }),
    ),
    eventTimestamp,
    event: eventInfo(item.event),
  });
}

// --- Streams --------------------------------------------------------------------------------------------------------

// The parts of an event that are sent as texts and bytes, as values.
function streamEvent(sent) {
  const { event } = sent;
  switch (event.type) {
    case 'onset':
      if (event.info.cfJson !== undefined) event.info.cfJson = jsonParse(event.info.cfJson);
      if (event.info.type === 'jsrpc') delete event.info.method;
      break;
    case 'log':
      if (event.truncated !== true) event.message = jsonParse(event.message);
      break;
    case 'diagnosticChannel':
      event.message = native.readValue(event.message);
      break;
  }
  return sent;
}

// A tail's stream after its onset: answers each batch with whether it wants no more. Its invocation lasts as long as
// whoever reports holds it.
class TailSession extends rpc.RpcTarget {
  #handler;
  #over = false;
  constructor(handler) {
    super();
    this.#handler = handler;
  }
  async report(events) {
    const pending = [];
    try {
      for (let i = 0; i < events.length; i++) {
        const { type } = events[i].event;
        if (type === 'outcome') this.#over = true;
        const result = this.#deliver(type === 'streamDiagnostic' ? 'streamDiagEvent' : type, events[i]);
        pending[i] = promiseResolve(result);
        // Awaited below; until then a rejection is not nobody's.
        apply(promiseThen, pending[i], [undefined, () => {}]);
      }
      for (let i = 0; i < pending.length; i++) await pending[i];
    } catch (error) {
      this.#over = true;
      native.uncaught(error);
    }
    if (this.#over) native.returned();
    return this.#over;
  }
  #deliver(type, event) {
    const handler = this.#handler;
    if (typeof handler === 'function') return apply(handler, handler, [streamEvent(event)]);
    const method = handler[type];
    return typeof method === 'function' ? apply(method, handler, [streamEvent(event)]) : undefined;
  }
  [symbolDispose]() {
    this.#over = true;
  }
}

// What `tailStream()` returned: a session, or null when it wants nothing more.
function session(handler) {
  if (isObject(handler)) return new TailSession(handler);
  if (handler !== undefined) {
    native.warn(
      'tailStream() handler returned an unusable value. The tailStream() handler is expected to return either a ' +
        `function, an object, or undefined. Received ${handler === null ? 'object' : typeof handler}`,
    );
  }
  native.returned();
  return null;
}

return { traceItem, streamEvent, session, map };
