// Facets, classes of Durable Objects, and Workers that end themselves.
import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers';

const outcome = (promise) => promise.then((value) => JSON.stringify(value), (error) => `${error.name}: ${error.message}`);

export class Greeter extends DurableObject {
  greet(name) {
    return `${this.ctx.props.greeting}, ${name}!`;
  }
}

const CHILD = `
import { DurableObject, WorkerEntrypoint, abortIsolate } from 'cloudflare:workers';
let loads = 0;
export default class extends WorkerEntrypoint {
  count() { return ++loads; }
  end() { abortIsolate('why'); }
}
export class Child extends DurableObject {
  n = 0;
  increment() { return ++this.n; }
  props() { return this.ctx.props.a; }
  later() { setTimeout(() => { this.n += 100; }, 1); return this.n; }
  async wait() { await scheduler.wait(20); return this.n; }
  fail() { this.ctx.abort('broken'); }
  greet(name) { return this.env.greeter && this.ctx.facets.get('inner', () => ({ class: this.env.greeter })).greet(name); }
}`;

export class Counter extends DurableObject {
  worker(name) {
    return this.env.loader.get(name, () => ({
      compatibilityDate: '2026-07-01',
      mainModule: 'child.js',
      modules: { 'child.js': CHILD },
      env: { greeter: this.ctx.exports.Greeter({ props: { greeting: 'Hi' } }) },
    }));
  }
  async run() {
    const cls = this.worker('facets').getDurableObjectClass('Child', { props: { a: 1 } });
    const one = () => this.ctx.facets.get('one', () => ({ class: cls }));
    console.log('made once', await one().increment(), await one().increment());
    console.log('another', await this.ctx.facets.get('two', async () => ({ class: cls })).increment());
    console.log('props', await one().props());
    console.log('timers go on', await one().later(), await one().wait());
    console.log('a facet of a facet', await one().greet('you'));
    const stub = one();
    console.log('it ends itself', await outcome(stub.fail()));
    console.log('and begins anew', await one().increment());
    const held = one();
    const waiting = outcome(held.wait());
    this.ctx.facets.abort('one', new RangeError('enough'));
    console.log('ended by its parent', await waiting, '|', await outcome(held.increment()));
    console.log('and begins anew', await one().increment());
    this.ctx.facets.delete('one');
    console.log('deleted', await one().increment());
    console.log('no class', await outcome(this.ctx.facets.get('three', () => ({ class: 1 })).increment()));
    try {
      this.ctx.facets.get('x'.repeat(257), () => ({ class: cls }));
    } catch (error) {
      console.log(`${error.name}: ${error.message}`);
    }
    const { Greeter } = this.ctx.exports;
    console.log('own', await this.ctx.facets.get('own', () => ({ class: Greeter({ props: { greeting: 'Hello' } }) })).greet('me'));
  }
}

export default {
  async test(controller, env, ctx) {
    const { Counter, Greeter } = ctx.exports;
    console.log(Counter.constructor.name, Greeter.constructor.name, Greeter({}).constructor.name);
    await Counter.get(Counter.idFromName('a')).run();
    const get = () => env.loader.get('ends', () => ({
      compatibilityDate: '2026-07-01', mainModule: 'child.js', modules: { 'child.js': CHILD },
    })).getEntrypoint();
    console.log(await get().count(), await get().count());
    console.log((await outcome(get().end())).replace(/= \w+/, '='));
    console.log(await get().count());
  },
};
