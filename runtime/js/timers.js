// Timers (HTML 8.7), microtasks and `scheduler`.
'use strict';
const { apply, Error, Promise } = primordials;
const { badArgument, illegalInvocation, illegalConstructor, isDictionary, expose, unlengthen } = load('webidl');
const SCOPE = 'ServiceWorkerGlobalScope';

// The longest delay; a longer one is cut to it, as the platform's clock cannot say more.
const DELAY_MS_MAX = 2 ** 31 - 1;

let lastId = 0;
// From the number a program knows to the host's timer of its next firing.
const pending = new Map();

function toDelay(delay) {
  const number = delay === undefined ? 0 : +delay;
  if (!(number > 0)) return 0;
  return number < DELAY_MS_MAX ? Math.trunc(number) : DELAY_MS_MAX;
}

function checkReceiver(receiver) {
  if (receiver !== undefined && receiver !== null && receiver !== globalThis) illegalInvocation();
}

// A timer's turn, in the asynchronous context in which it was set. What the callback throws, nobody else will catch.
function call(callback, args, frame) {
  if (frame !== undefined) native.setFrame(frame);
  try {
    apply(callback, globalThis, args);
  } catch (error) {
    native.report(error);
  }
}

function setTimeout(callback, delay, ...args) {
  checkReceiver(this);
  if (typeof callback !== 'function') badArgument(SCOPE, 'setTimeout', 1, 'function');
  const milliseconds = toDelay(delay);
  const id = ++lastId;
  const frame = native.frame();
  const timer = native.start(milliseconds, () => {
    pending.delete(id);
    call(callback, args, frame);
  });
  pending.set(id, timer);
  return id;
}

function setInterval(callback, delay, ...args) {
  checkReceiver(this);
  if (typeof callback !== 'function') badArgument(SCOPE, 'setInterval', 1, 'function');
  const milliseconds = toDelay(delay);
  const id = ++lastId;
  const frame = native.frame();
  const fire = () => {
    // Started anew before the callback, so that one that throws, or clears the interval, does what it should.
    pending.set(id, native.start(milliseconds, fire));
    call(callback, args, frame);
  };
  pending.set(id, native.start(milliseconds, fire));
  return id;
}

function clear(id) {
  const number = +id;
  const timer = pending.get(number);
  if (timer === undefined) return;
  pending.delete(number);
  native.cancel(timer);
}

function clearTimeout(id) {
  checkReceiver(this);
  if (arguments.length < 1) badArgument(SCOPE, 'clearTimeout', 1, 'Number');
  if (id !== undefined && id !== null) clear(id);
}

function clearInterval(id) {
  checkReceiver(this);
  if (arguments.length < 1) badArgument(SCOPE, 'clearInterval', 1, 'Number');
  if (id !== undefined && id !== null) clear(id);
}

function queueMicrotask(callback) {
  checkReceiver(this);
  if (typeof callback !== 'function') badArgument(SCOPE, 'queueMicrotask', 1, 'function');
  native.enqueue(() => {
    try {
      callback();
    } catch (error) {
      load('events').reportError(error);
    }
  });
}

// For other rooms: calls `callback` once, after `delay` milliseconds.
function startTimer(delay, callback) {
  return native.start(toDelay(delay), callback);
}
function cancelTimer(timer) {
  native.cancel(timer);
}

const schedulerToken = {};
class Scheduler {
  #brand = true;
  constructor(key) {
    if (key !== schedulerToken) illegalConstructor();
  }
  wait(delay, options) {
    if (!(#brand in this)) illegalInvocation();
    if (arguments.length < 1) badArgument('Scheduler', 'wait', 1, 'number');
    if (!isDictionary(options)) badArgument('Scheduler', 'wait', 2, 'WaitOptions');
    const milliseconds = toDelay(delay);
    const signal = options?.signal;
    return new Promise((resolve, reject) => {
      if (signal === undefined) {
        native.start(milliseconds, () => resolve());
        return;
      }
      const { isAbortSignal, onAbort } = load('abort');
      if (!isAbortSignal(signal)) load('webidl').badField('WaitOptions', 'signal', 'AbortSignal');
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      let forget;
      const timer = native.start(milliseconds, () => {
        forget();
        resolve();
      });
      forget = onAbort(signal, (reason) => {
        native.cancel(timer);
        // As on the platform, what is no error becomes one.
        reject(typeof reason === 'object' && reason !== null ? reason : new Error(`${reason}`));
      });
    });
  }
}
expose(Scheduler, 'Scheduler');

return {
  setTimeout: unlengthen(setTimeout),
  clearTimeout: unlengthen(clearTimeout),
  setInterval: unlengthen(setInterval),
  clearInterval: unlengthen(clearInterval),
  queueMicrotask: unlengthen(queueMicrotask),
  scheduler: new Scheduler(schedulerToken),
  startTimer,
  cancelTimer,
};
