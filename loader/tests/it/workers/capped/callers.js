// A request may have two distinct dynamic Workers running, a Durable Object three.
import { DurableObject, RpcTarget } from 'cloudflare:workers';

const CHILD = `import { WorkerEntrypoint } from 'cloudflare:workers';
  export default class extends WorkerEntrypoint {
    async wait(gate) { return await gate.pass() }
    quick() { return 'quick' }
  }`;
const CODE = { compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': CHILD } };

// Holds up whoever wants to pass.
class Gate extends RpcTarget {
  #open = Promise.withResolvers();
  #came = [];
  pass() {
    this.#came.shift()?.();
    return this.#open.promise;
  }
  // Resolves when the next one wants to pass.
  next() {
    return new Promise((resolve) => this.#came.push(resolve));
  }
  open() {
    this.#open.resolve('passed');
  }
}

async function show(label, promise) {
  try {
    console.log(label, '=>', JSON.stringify(await promise));
  } catch (error) {
    console.log(label, 'fails', error.name, '|', error.message, '|', error.remote, error.overloaded);
  }
}

async function fill(loader, count) {
  const gate = new Gate();
  const workers = Array.from({ length: count }, () => loader.load(CODE));
  const waiting = [];
  for (const worker of workers) {
    const there = gate.next();
    waiting.push(worker.getEntrypoint().wait(gate));
    await there;
  }
  await show('one too many', loader.load(CODE).getEntrypoint().quick());
  await show('one of them again', workers[0].getEntrypoint().quick());
  await show('by name', loader.get('named', () => CODE).getEntrypoint().quick());
  await show('a fetch', loader.load(CODE).getEntrypoint().fetch('http://x'));
  gate.open();
  await show('they', Promise.all(waiting));
  await show('afterwards', loader.load(CODE).getEntrypoint().quick());
  await show('one after the other', Promise.resolve().then(async () => {
    for (let i = 0; i < 5; i++) await loader.load(CODE).getEntrypoint().quick();
    return 'five';
  }));
}

export class Counter extends DurableObject {
  async fill() {
    await fill(this.env.loader, 3);
  }
}

export default {
  async test(controller, { loader, self, objects }) {
    await fill(loader, 2);
    // Another request counts for itself, also while this one has no room.
    const gate = new Gate();
    const waiting = [];
    for (let i = 0; i < 2; i++) {
      const there = gate.next();
      waiting.push(loader.load(CODE).getEntrypoint().wait(gate));
      await there;
    }
    await show('another request', self.quick(null));
    await show('an object', objects.get(objects.idFromName('a')).fill());
    gate.open();
    await show('they', Promise.all(waiting));
  },
  async quick(_, { loader }) {
    return await loader.load(CODE).getEntrypoint().quick();
  },
};
