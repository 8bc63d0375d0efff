// Node's `timers/promises`.
'use strict';
const { Promise, promiseReject } = primordials;
const timers = load('node_timers');
const { AbortError, needNumber, needBoolean, needObject, needSignal } = load('node_errors');

function checked(options, delay) {
  if (delay !== undefined) needNumber(delay, 'delay');
  needObject(options, 'options');
  needSignal(options.signal, 'options.signal');
  if (options.ref !== undefined) needBoolean(options.ref, 'options.ref');
  if (options.signal?.aborted) throw new AbortError(options.signal.reason);
  return options.signal;
}

// A promise of `value` once what `start` begins has fired; `stop` calls it off when the signal says so.
function fired(value, signal, start, stop) {
  return new Promise((resolve, reject) => {
    let forget = () => {};
    const timer = start(() => {
      forget();
      resolve(value);
    });
    if (signal === undefined) return;
    const onAbort = () => {
      stop(timer);
      reject(new AbortError(signal.reason));
    };
    signal.addEventListener('abort', onAbort, { once: true });
    forget = () => signal.removeEventListener('abort', onAbort);
  });
}

async function setTimeout(delay, value, options = {}) {
  const signal = checked(options, delay);
  return fired(value, signal, (done) => timers.setTimeout(done, delay ?? 1), timers.clearTimeout);
}

async function setImmediate(value, options = {}) {
  const signal = checked(options);
  return fired(value, signal, timers.setImmediate, timers.clearImmediate);
}

async function* setInterval(delay, value, options = {}) {
  const signal = checked(options, delay);
  let due = 0;
  let wake;
  const notify = (outcome) => {
    wake?.(outcome);
    wake = undefined;
  };
  const interval = timers.setInterval(() => {
    due++;
    notify();
  }, delay);
  const onAbort = () => {
    timers.clearInterval(interval);
    notify(promiseReject(new AbortError(signal.reason)));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal?.aborted) {
      if (due === 0) await new Promise((resolve) => (wake = resolve));
      for (; due > 0; due--) yield value;
    }
    throw new AbortError(signal.reason);
  } finally {
    timers.clearInterval(interval);
    signal?.removeEventListener('abort', onAbort);
  }
}

class Scheduler {
  yield() {
    return setImmediate();
  }
  wait(delay, options) {
    return load('timers').scheduler.wait(delay, options);
  }
}

const members = { setTimeout, setImmediate, setInterval, scheduler: new Scheduler() };
return { members, module: { __proto__: null, default: members, ...members } };
