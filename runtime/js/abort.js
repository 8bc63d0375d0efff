// AbortController and AbortSignal (DOM 3).
'use strict';
const { badArgument, badElement, illegalConstructor, illegalInvocation, expose } = load('webidl');
const { Event, EventTarget, trust, clearListeners, manageHandlers, onFirstListener } = load('events');
const { DOMException } = load('dom_exception');

const token = {};

// The reason of an abort for which a program gave none. As the platform sees it, trying again may help.
function reasonOfOwn(message, name) {
  const reason = new DOMException(message, name);
  reason.retryable = true;
  return reason;
}

// What the rest of the platform may do with one.
let abort, onAbort, onListen, isAbortSignal;
class AbortSignal extends EventTarget {
  #aborted = false;
  #reason;
  #onabort = null;
  #handlerListener = null;
  // What the platform itself does on abort, before listeners; then the signals that follow this one, after them.
  #algorithms = [];
  #followers = [];
  // Called when somebody begins to care.
  #onListen = null;

  constructor(key) {
    if (key !== token) illegalConstructor();
    super();
    manageHandlers(this);
  }

  static abort(reason) {
    const signal = new AbortSignal(token);
    signal.#aborted = true;
    signal.#reason = reason === undefined ? reasonOfOwn('The operation was aborted', 'AbortError') : reason;
    return signal;
  }

  static timeout(delay) {
    if (arguments.length < 1) badArgument('AbortSignal', 'timeout', 1, 'number');
    const signal = new AbortSignal(token);
    load('timers').startTimer(delay, () => {
      abort(signal, reasonOfOwn('The operation was aborted due to timeout', 'TimeoutError'));
    });
    return signal;
  }

  static any(signals) {
    if (typeof signals !== 'object' || signals === null || typeof signals[Symbol.iterator] !== 'function') {
      badArgument('AbortSignal', 'any', 1, 'Array');
    }
    const sources = [...signals];
    for (let i = 0; i < sources.length; i++) {
      if (!isAbortSignal(sources[i])) badElement(i, 'AbortSignal');
    }
    for (let i = 0; i < sources.length; i++) {
      if (sources[i].#aborted) return AbortSignal.abort(sources[i].#reason);
    }
    const signal = new AbortSignal(token);
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i];
      source.#followers.push(signal);
      source.#listened();
    }
    return signal;
  }

  #listened() {
    const notify = this.#onListen;
    this.#onListen = null;
    if (notify !== null) notify();
  }

  get aborted() {
    if (!(#aborted in this)) illegalInvocation();
    return this.#aborted;
  }
  get reason() {
    if (!(#aborted in this)) illegalInvocation();
    return this.#reason;
  }
  get onabort() {
    if (!(#aborted in this)) illegalInvocation();
    return this.#onabort;
  }
  set onabort(handler) {
    if (!(#aborted in this)) illegalInvocation();
    const accepted = typeof handler === 'function' || (typeof handler === 'object' && handler !== null);
    this.#onabort = accepted ? handler : null;
    // The handler's place among the listeners is where it was first set.
    if (accepted && this.#handlerListener === null) {
      this.#handlerListener = (event) => {
        const current = this.#onabort;
        return typeof current === 'function' ? primordials.apply(current, this, [event]) : undefined;
      };
      this.addEventListener('abort', this.#handlerListener);
    } else if (!accepted && this.#handlerListener !== null) {
      this.removeEventListener('abort', this.#handlerListener);
      this.#handlerListener = null;
    }
  }
  throwIfAborted() {
    if (!(#aborted in this)) illegalInvocation();
    if (this.#aborted) throw this.#reason;
  }

  static {
    abort = (signal, reason) => {
      if (signal.#aborted) return;
      signal.#aborted = true;
      signal.#reason = reason === undefined ? reasonOfOwn('The operation was aborted', 'AbortError') : reason;
      const algorithms = signal.#algorithms;
      signal.#algorithms = [];
      for (let i = 0; i < algorithms.length; i++) algorithms[i](signal.#reason);
      try {
        signal.dispatchEvent(trust(new Event('abort')));
      } finally {
        // It cannot abort twice, so what its listeners hold on to is let go.
        clearListeners(signal);
        const followers = signal.#followers;
        signal.#followers = [];
        for (let i = 0; i < followers.length; i++) abort(followers[i], signal.#reason);
      }
    };
    // Runs `algorithm(reason)` when the signal aborts; the answer undoes that. It must not have aborted yet.
    onAbort = (signal, algorithm) => {
      signal.#algorithms.push(algorithm);
      signal.#listened();
      return () => {
        const index = signal.#algorithms.indexOf(algorithm);
        if (index >= 0) signal.#algorithms.splice(index, 1);
      };
    };
    // Calls `notify()` once, when something first listens to the signal.
    onListen = (signal, notify) => {
      signal.#onListen = notify;
      onFirstListener(signal, () => signal.#listened());
    };
    isAbortSignal = (value) => {
      return typeof value === 'object' && value !== null && #aborted in value;
    };
  }
}
expose(AbortSignal, 'AbortSignal', {
  is: isAbortSignal,
  clone() {
    const enabled = load('compat').has('enable_abortsignal_rpc');
    throw new DOMException(
      enabled ? 'AbortSignal can only be serialized for RPC.' : 'AbortSignal serialization is not enabled.',
      'DataCloneError',
    );
  },
});

class AbortController {
  #signal = new AbortSignal(token);
  get signal() {
    if (!(#signal in this)) illegalInvocation();
    return this.#signal;
  }
  abort(reason) {
    if (!(#signal in this)) illegalInvocation();
    abort(this.#signal, reason);
  }
}
expose(AbortController, 'AbortController');

const newSignal = () => new AbortSignal(token);

return { AbortController, AbortSignal, abort, onAbort, onListen, isAbortSignal, newSignal };
