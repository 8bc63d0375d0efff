// AbortSignals across JS RPC.
'use strict';
const { apply, promiseThen, isArray } = primordials;
const rpc = load('rpc');
const { newSignal, abort, onAbort, onListen } = load('abort');
const { DOMException } = load('dom_exception');

// A capability that follows a signal, which has not aborted, and how to have it follow no longer.
function follow(signal) {
  const { 0: trigger, 1: cap } = native.newTrigger();
  const forget = onAbort(signal, (reason) => native.trigger(trigger, [reason]));
  const undo = () => {
    forget();
    native.dropTrigger(trigger);
  };
  return { __proto__: null, stub: rpc.makeStub(cap, rpc.STUB), undo };
}

// Calls `settle(outcome)` when a signal that came has aborted (with an array of the reason), never will (undefined), or
// has lost its trigger (null). The answer is a function that makes the invocation wait for it.
function watch(stub, settle) {
  const source = rpc.hold(stub);
  const { 0: answer, 1: call } = rpc.invokeQuietly(source, ['wait'], []);
  const done = (outcome) => {
    rpc.letGo(source);
    settle(outcome);
  };
  apply(promiseThen, answer, [(reasons) => done(isArray(reasons) ? reasons : undefined), () => done(null)]);
  return () => native.listen(call);
}

// What is sent for a signal: whether it has aborted, why, and what it follows.
function toWire(signal) {
  return signal.aborted ? [true, signal.reason] : [false, undefined, follow(signal).stub];
}

function fromWire({ 0: aborted, 1: reason, 2: stub }) {
  const signal = newSignal();
  if (aborted) {
    abort(signal, reason);
    return signal;
  }
  const listen = watch(stub, (outcome) => {
    if (outcome === null) abort(signal, lost());
    else if (outcome !== undefined) abort(signal, outcome[0]);
  });
  // Until somebody listens, the invocation does not count as one that waits for it.
  onListen(signal, listen);
  return signal;
}

function lost() {
  return new DOMException(
    'An AbortSignal received over RPC was implicitly aborted because the connection back to its trigger was lost.',
    'AbortError',
  );
}

// Whoever sent a request is gone when what it sent for that aborts: the answer is not wanted any more.
function followClient(stub, gone) {
  watch(stub, (outcome) => {
    if (!isArray(outcome)) return;
    gone();
    native.clientGone();
  });
}

function clientGone() {
  return new DOMException('The client has disconnected', 'AbortError');
}

return { toWire, fromWire, follow, followClient, clientGone };
