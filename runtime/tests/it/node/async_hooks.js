import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import timers from 'node:timers';
import { setTimeout as wait, setInterval as every, setImmediate as soon } from 'node:timers/promises';

const store = new AsyncLocalStorage();
const other = new AsyncLocalStorage({ defaultValue: 'none', name: 'other' });
const show = (label) => console.log(label, store.getStore(), other.getStore());

export default {
  async test() {
    show('outside');
    console.log(other.name, new AsyncLocalStorage().name === '', store instanceof AsyncLocalStorage);
    console.log(await store.run(1, async (...args) => {
      show('inside');
      await null;
      show('after await');
      await wait(2);
      show('after a timer');
      await new Promise((resolve) => setTimeout(() => resolve(show('in a timer')), 1));
      await new Promise((resolve) => queueMicrotask(() => resolve(show('in a microtask'))));
      await new Promise((resolve) => timers.setImmediate(() => resolve(show('in an immediate'))));
      await scheduler.wait(1);
      show('after scheduler.wait');
      await { then: (resolve) => resolve(show('in a thenable')) };
      other.run('two', () => show('nested'));
      store.exit(() => show('exited'));
      show('still');
      return args;
    }, 'a', 'b'));
    show('outside again');
    const bound = store.run('bound', () => AsyncLocalStorage.bind((x) => [x, store.getStore()]));
    console.log(store.run('else', () => bound(5)));
    const snapshot = store.run('snapped', () => AsyncLocalStorage.snapshot());
    console.log(store.run('else', () => snapshot((x) => [x, store.getStore()], 6)));
    const resource = store.run('resource', () => new AsyncResource('TEST'));
    console.log(resource.runInAsyncScope(function (x) { return [this.self, x, store.getStore()]; }, { self: 1 }, 7));
    const method = resource.bind(function () { return [this === globalThis, store.getStore()]; });
    console.log(method(), method.asyncResource === resource, resource.asyncId(), resource.triggerAsyncId());
    const target = new EventTarget();
    target.addEventListener('x', () => show('in a listener'));
    store.run('dispatch', () => target.dispatchEvent(new Event('x')));
    const promise = new Promise((resolve) => setTimeout(resolve, 1));
    await store.run('then', () => promise.then(() => show('in a reaction')));
    for (const call of [() => store.enterWith(1), () => store.disable(), () => store.run(1), () => AsyncLocalStorage.bind(1), () => snapshot(1)]) {
      try {
        call();
      } catch (error) {
        console.log(error.name, error.message);
      }
    }
    let throwing;
    try {
      store.run('throws', () => { throwing = store.getStore(); throw new Error('boom'); });
    } catch (error) {
      console.log(error.message, throwing, store.getStore());
    }
    let count = 0;
    for await (const value of every(1, 'tick')) {
      if (++count === 3) break;
      console.log(value);
    }
    console.log(await soon('soon'), await wait(1, 'value'));
    const abort = new AbortController();
    const waiting = wait(1000, null, { signal: abort.signal });
    abort.abort(new Error('why'));
    await waiting.catch((error) => console.log(error.name, error.code, error.message, error.cause.message));
    await wait('1').catch((error) => console.log(error.name, error.code, error.message));
    const timeout = timers.setTimeout(() => {}, 1);
    console.log(typeof timeout, timeout.hasRef(), timeout.unref().hasRef(), typeof +timeout, timeout.refresh() === timeout);
    timers.clearTimeout(timeout);
  },
};
