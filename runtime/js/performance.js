// `performance` and its entries (High Resolution Time, User Timing 3), with the platform's one clock, whose origin is the
// epoch and which stands still while a program runs. Observers exist and see nothing, as on the platform.
'use strict';
const { defineProperty } = primordials;
const { badArgument, badConstructorArgument, illegalConstructor, illegalInvocation, expose } = load('webidl');
const { EventTarget } = load('events');

// Entries one isolate keeps; the oldest go first.
const ENTRIES_MAX = 10_000;

const token = {};

function now() {
  // The clock does not run before the first event.
  return native.inInvocation() ? native.now() : 0;
}

class PerformanceEntry {
  #name;
  #entryType;
  #startTime;
  #duration;
  constructor(key, name, entryType, startTime, duration) {
    if (key !== token) illegalConstructor();
    this.#name = name;
    this.#entryType = entryType;
    this.#startTime = startTime;
    this.#duration = duration;
  }
  get name() {
    if (!(#name in this)) illegalInvocation();
    return this.#name;
  }
  get entryType() {
    if (!(#name in this)) illegalInvocation();
    return this.#entryType;
  }
  get startTime() {
    if (!(#name in this)) illegalInvocation();
    return this.#startTime;
  }
  get duration() {
    if (!(#name in this)) illegalInvocation();
    return this.#duration;
  }
  toJSON() {
    if (!(#name in this)) illegalInvocation();
    return {
      __proto__: null,
      name: this.#name,
      entryType: this.#entryType,
      startTime: this.#startTime,
      duration: this.#duration,
    };
  }
}
expose(PerformanceEntry, 'PerformanceEntry');

class PerformanceMark extends PerformanceEntry {
  #detail;
  constructor(name, options) {
    if (arguments.length < 1) badConstructorArgument('PerformanceMark', 1, 'string');
    const { startTime, detail } = options ?? {};
    super(token, `${name}`, 'mark', startTime === undefined ? now() : +startTime, 0);
    this.#detail = detail === undefined ? null : detail;
  }
  get detail() {
    if (!(#detail in this)) illegalInvocation();
    return this.#detail;
  }
  toJSON() {
    const json = super.toJSON();
    if (this.#detail !== null) json.detail = this.#detail;
    return json;
  }
}
expose(PerformanceMark, 'PerformanceMark');

class PerformanceMeasure extends PerformanceEntry {
  #detail;
  constructor(key, name, startTime, duration, detail) {
    if (key !== token) illegalConstructor();
    super(token, name, 'measure', startTime, duration);
    this.#detail = detail;
  }
  get detail() {
    if (!(#detail in this)) illegalInvocation();
    return this.#detail;
  }
  toJSON() {
    const json = super.toJSON();
    if (this.#detail !== null) json.detail = this.#detail;
    return json;
  }
}
expose(PerformanceMeasure, 'PerformanceMeasure');

// There is no resource timing: the class is here for `instanceof`.
class PerformanceResourceTiming extends PerformanceEntry {}
expose(PerformanceResourceTiming, 'PerformanceResourceTiming');

class PerformanceNodeTiming extends PerformanceEntry {
  constructor(key) {
    super(key, 'node', 'node', 0, 0);
    for (const name in NODE_TIMES) readOnly(this, name, NODE_TIMES[name]);
    readOnly(this, 'uvMetricsInfo', { loopCount: 0, events: 0, eventsWaiting: 0 });
  }
  toJSON() {
    return { __proto__: null, ...super.toJSON(), ...NODE_TIMES, uvMetricsInfo: this.uvMetricsInfo };
  }
}
const NODE_TIMES = {
  nodeStart: 0,
  v8Start: 0,
  bootstrapComplete: 0,
  environment: 0,
  loopStart: 0,
  loopExit: 0,
  idleTime: 0,
};
expose(PerformanceNodeTiming, 'PerformanceNodeTiming');

function readOnly(object, name, value) {
  defineProperty(object, name, { __proto__: null, value, writable: false, enumerable: true, configurable: true });
}

class PerformanceObserverEntryList {
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  getEntries() {
    return [];
  }
  getEntriesByType(type) {
    return [];
  }
  getEntriesByName(name, type) {
    return [];
  }
}
expose(PerformanceObserverEntryList, 'PerformanceObserverEntryList');

class PerformanceObserver {
  constructor(callback) {
    if (typeof callback !== 'function') badConstructorArgument('PerformanceObserver', 1, 'function');
  }
  static get supportedEntryTypes() {
    return ['measure', 'mark'];
  }
  observe(options) {}
  disconnect() {}
  takeRecords() {
    return [];
  }
}
expose(PerformanceObserver, 'PerformanceObserver');

// Counts of DOM events, of which there are none.
class EventCounts {
  #counts = new Map();
  constructor(key) {
    if (key !== token) illegalConstructor();
  }
  get size() {
    if (!(#counts in this)) illegalInvocation();
    return this.#counts.size;
  }
  get(type) {
    if (!(#counts in this)) illegalInvocation();
    return this.#counts.get(`${type}`);
  }
  has(type) {
    if (!(#counts in this)) illegalInvocation();
    return this.#counts.has(`${type}`);
  }
  entries() {
    if (!(#counts in this)) illegalInvocation();
    return this.#counts.entries();
  }
  keys() {
    if (!(#counts in this)) illegalInvocation();
    return this.#counts.keys();
  }
  values() {
    if (!(#counts in this)) illegalInvocation();
    return this.#counts.values();
  }
  forEach(callback, thisArgument) {
    if (!(#counts in this)) illegalInvocation();
    if (typeof callback !== 'function') badArgument('EventCounts', 'forEach', 1, 'function');
  }
  [Symbol.iterator]() {
    return this.entries();
  }
}
expose(EventCounts, 'EventCounts');

class Performance extends EventTarget {
  #entries = [];
  #eventCounts = new EventCounts(token);
  constructor(key) {
    if (key !== token) illegalConstructor();
    super();
  }
  get timeOrigin() {
    if (!(#entries in this)) illegalInvocation();
    return 0;
  }
  now() {
    if (!(#entries in this)) illegalInvocation();
    return now();
  }
  get eventCounts() {
    if (!(#entries in this)) illegalInvocation();
    return this.#eventCounts;
  }
  clearMarks(name) {
    if (!(#entries in this)) illegalInvocation();
    this.#keep(name === undefined ? (entry) => entry.entryType !== 'mark' : (entry) => entry.name !== `${name}`);
  }
  clearMeasures(name) {
    if (!(#entries in this)) illegalInvocation();
    this.#keep(name === undefined ? (entry) => entry.entryType !== 'measure' : (entry) => entry.name !== `${name}`);
  }
  clearResourceTimings() {
    if (!(#entries in this)) illegalInvocation();
  }
  getEntries() {
    if (!(#entries in this)) illegalInvocation();
    return this.#entries.slice();
  }
  getEntriesByName(name, type) {
    if (!(#entries in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Performance', 'getEntriesByName', 1, 'string');
    return this.#named(`${name}`, type === undefined ? undefined : `${type}`);
  }
  getEntriesByType(type) {
    if (!(#entries in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Performance', 'getEntriesByType', 1, 'string');
    return this.#entries.filter((entry) => entry.entryType === `${type}`);
  }
  mark(name, options) {
    if (!(#entries in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Performance', 'mark', 1, 'string');
    return this.#add(new PerformanceMark(name, options));
  }
  measure(name, startOrOptions, endMark) {
    if (!(#entries in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Performance', 'measure', 1, 'string');
    let start = 0;
    let end = now();
    let detail = null;
    if (typeof startOrOptions === 'object' && startOrOptions !== null) {
      if (startOrOptions.start !== undefined) start = +startOrOptions.start;
      if (startOrOptions.end !== undefined) end = +startOrOptions.end;
      else if (startOrOptions.duration !== undefined) end = start + +startOrOptions.duration;
      if (startOrOptions.detail !== undefined) detail = startOrOptions.detail;
    } else if (startOrOptions !== undefined) {
      start = this.#named(`${startOrOptions}`, 'mark')[0]?.startTime ?? start;
      if (endMark !== undefined) end = this.#named(`${endMark}`, 'mark')[0]?.startTime ?? end;
    }
    const duration = end >= start ? end - start : 0;
    return this.#add(new PerformanceMeasure(token, `${name}`, start, duration, detail));
  }
  setResourceTimingBufferSize(size) {
    if (!(#entries in this)) illegalInvocation();
  }
  toJSON() {
    if (!(#entries in this)) illegalInvocation();
    return { __proto__: null, timeOrigin: 0 };
  }
  get nodeTiming() {
    if (!(#entries in this)) illegalInvocation();
    return new PerformanceNodeTiming(token);
  }
  eventLoopUtilization() {
    if (!(#entries in this)) illegalInvocation();
    return { idle: 0, active: 0, utilization: 0 };
  }
  markResourceTiming() {
    if (!(#entries in this)) illegalInvocation();
  }
  timerify(fn) {
    if (!(#entries in this)) illegalInvocation();
    if (typeof fn !== 'function') badArgument('Performance', 'timerify', 1, 'function');
    return fn;
  }

  #keep(wanted) {
    this.#entries = this.#entries.filter(wanted);
  }
  #named(name, type) {
    return this.#entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }
  #add(entry) {
    this.#entries.push(entry);
    if (this.#entries.length > ENTRIES_MAX) this.#entries.shift();
    return entry;
  }
}
expose(Performance, 'Performance');

// Where the Worker did not ask for these, `performance` has the clock only.
const { has } = load('compat');
const ENTRY_MEMBERS = [
  'eventCounts', 'clearMarks', 'clearMeasures', 'clearResourceTimings', 'getEntries', 'getEntriesByName',
  'getEntriesByType', 'mark', 'measure', 'setResourceTimingBufferSize', 'toJSON',
];
const NODE_MEMBERS = ['nodeTiming', 'eventLoopUtilization', 'markResourceTiming', 'timerify'];
const forNode = has('enable_nodejs_perf_hooks_module');
if (!forNode) withhold(NODE_MEMBERS);
if (!forNode && !has('enable_global_performance_classes')) {
  withhold(ENTRY_MEMBERS);
  primordials.setPrototypeOf(Performance.prototype, primordials.objectPrototype);
}

function withhold(members) {
  for (let i = 0; i < members.length; i++) primordials.deleteProperty(Performance.prototype, members[i]);
}

return {
  Performance,
  PerformanceEntry,
  PerformanceMark,
  PerformanceMeasure,
  PerformanceResourceTiming,
  PerformanceNodeTiming,
  PerformanceObserver,
  PerformanceObserverEntryList,
  EventCounts,
  performance: new Performance(token),
};
