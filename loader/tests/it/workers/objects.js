// Durable Objects in memory: namespaces, ids, stubs, storage.
import { DurableObject } from 'cloudflare:workers';

export class Counter extends DurableObject {
  count = 0;
  increment() {
    return ++this.count;
  }
  who() {
    return [this.ctx.id.toString(), this.ctx.id.name];
  }
  async fetch(request) {
    return new Response(`${request.method} ${request.url}`);
  }
  async values() {
    const { storage } = this.ctx;
    await storage.put('a', { x: 1 });
    await storage.put({ b: 2, c: 3 });
    const list = await storage.list();
    const some = await storage.get(['a', 'zz']);
    return [[...list], [...some], await storage.delete('b'), await storage.delete(['a', 'q']), await storage.get('nope')];
  }
  async lists() {
    const { storage } = this.ctx;
    for (const key of 'abcde') await storage.put(key, key);
    const ranges = [{ start: 'b' }, { startAfter: 'b' }, { end: 'c' }, { prefix: 'd' }, { reverse: true }, { limit: 2 }, { reverse: true, limit: 2 }];
    return Promise.all(ranges.map(async (range) => [...(await storage.list(range)).keys()].join('')));
  }
  async transaction() {
    const { storage } = this.ctx;
    const failing = storage.transaction(async (inside) => {
      await inside.put('t', 1);
      throw new Error('undo');
    });
    await failing.catch(() => {});
    return (await storage.get('t')) ?? 'undone';
  }
  fail() {
    throw new Error('failed');
  }
  async wait() {
    return new Promise((resolve) => (this.resolve = resolve));
  }
  wake(value) {
    this.resolve(value);
  }
}

function attempt(label, run) {
  try {
    console.log(label, 'gives', run()?.constructor?.name);
  } catch (error) {
    console.log(label, 'throws', error.name, '|', error.message);
  }
}

async function show(label, promise) {
  try {
    console.log(label, '=>', JSON.stringify(await promise));
  } catch (error) {
    console.log(label, 'fails', error.name, '|', error.message, '|', error.remote);
  }
}

export default {
  async test(controller, { objects }) {
    const id = objects.idFromName('foo');
    console.log(String(objects), String(id), id.name, id.equals(objects.idFromName('foo')), id.equals(objects.idFromName('bar')));
    const stub = objects.get(id);
    console.log(String(stub), stub.constructor.name, stub.name, String(stub.id) === String(id), typeof stub.fetch);
    await show('first', stub.increment());
    await show('the same object', objects.get(objects.idFromString(String(id))).increment());
    await show('by name', objects.getByName('foo').increment());
    await show('another', objects.get(objects.newUniqueId()).increment());
    await show('its id', stub.who());
    await show('its fetch', stub.fetch('http://x/y').then((response) => response.text()));
    await show('values', stub.values());
    await show('lists', objects.getByName('lists').lists());
    await show('a transaction', stub.transaction());
    await show('a throw', stub.fail());
    await show('a missing method', stub.nope());
    const waiting = stub.wait();
    await stub.wake('woken');
    await show('a call that waits for another', waiting);

    attempt('a bad id', () => objects.idFromString('zz'));
    attempt('a foreign id', () => objects.idFromString('0'.repeat(64)));
    attempt('get()', () => objects.get());
    attempt('get(5)', () => objects.get(5));
    attempt('idFromName()', () => objects.idFromName());
    attempt('getByName()', () => objects.getByName());
    attempt('new', () => new objects.constructor());
    attempt('cloning a namespace', () => structuredClone(objects));
    attempt('cloning an id', () => structuredClone(id));
  },
};
