// Limits of loaded Workers, which workerd takes and does not hold.
import { RpcTarget } from 'cloudflare:workers';

const load = (loader, source, more) =>
  loader.load({ compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': source }, ...more });

async function show(label, promise) {
  try {
    console.log(label, '=>', JSON.stringify(await promise));
  } catch (error) {
    console.log(label, 'fails', error.name, '|', error.message, '|', error.remote, error.overloaded);
  }
}

class Tools extends RpcTarget {
  add(a, b) {
    return a + b;
  }
}

const CLASS = (body) =>
  `import { WorkerEntrypoint } from 'cloudflare:workers';
   export default class extends WorkerEntrypoint { ${body} }`;
const SPIN = CLASS("run() { for (;;); } catches() { try { for (;;); } finally { return 'caught' } } quick() { return 'quick' }");
const CALLS = CLASS(
  'async run(n) { let done = 0; try { for (; done < n; done++) await this.env.self.take(1) } catch (e) { return [done, e.message] } return [done] }' +
    'async back(tools, n) { for (let i = 0; i < n; i++) await tools.add(i, i); return n }',
);

const OWN =
  CLASS(
    'async own(n, props) { const other = props === undefined ? this.ctx.exports.Other : this.ctx.exports.Other({ props }); let done = 0;' +
      ' try { for (; done < n; done++) await other.hi() } catch (e) { return [done, e.message] } return [done] }' +
      'async connects(n) { for (let i = 0; i < 5; i++) this.env.self.connect("a:1").closed.catch(() => {});' +
      ' for (let i = 0; i < n; i++) await this.env.self.take(1); return n }',
  ) + 'export class Other extends WorkerEntrypoint { hi() { return 1 } }';

export default {
  async test(controller, { loader, self }) {
    await show('cpuMs in the code', load(loader, SPIN, { limits: { cpuMs: 20 } }).getEntrypoint().run());
    await show('cpuMs at the entrypoint', load(loader, SPIN).getEntrypoint(undefined, { limits: { cpuMs: 20 } }).run());
    await show('the lower one', load(loader, SPIN, { limits: { cpuMs: 20 } }).getEntrypoint(undefined, { limits: { cpuMs: 60000 } }).run());
    await show('it cannot be caught', load(loader, SPIN, { limits: { cpuMs: 20 } }).getEntrypoint().catches());
    const again = load(loader, SPIN, { limits: { cpuMs: 20 } });
    await show('a first call', again.getEntrypoint().run());
    await show('and the next', again.getEntrypoint().quick());

    const getCode = () => ({ compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': SPIN }, limits: { cpuMs: 20 } });
    await show('by name', loader.get('spin', getCode).getEntrypoint().run());
    await show('the same name again', loader.get('spin', getCode).getEntrypoint().quick());

    // While one spins, others and the parent go on.
    const spinning = load(loader, SPIN, { limits: { cpuMs: 200 } }).getEntrypoint().run().catch((error) => error.message);
    const quick = load(loader, SPIN).getEntrypoint().quick();
    await show('who answers first', Promise.race([spinning, quick]));
    await show('and the other', spinning);

    const limited = { env: { self }, limits: { subRequests: 3 } };
    await show('subRequests', load(loader, CALLS, limited).getEntrypoint().run(5));
    await show('as many as allowed', load(loader, CALLS, limited).getEntrypoint().run(3));
    await show('calls back are free', load(loader, CALLS, limited).getEntrypoint().back(new Tools(), 5));
    await show('its own exports', load(loader, OWN, limited).getEntrypoint().own(5));
    await show('its own exports with props', load(loader, OWN, limited).getEntrypoint().own(5, {}));
    await show('connections are free', load(loader, OWN, limited).getEntrypoint().connects(3));
    await show('a top level that spins', load(loader, 'for (;;);').getEntrypoint().run());

    // A load that failed is not kept.
    let asked = 0;
    const flaky = () => {
      asked += 1;
      if (asked === 1) throw new Error('not yet');
      return { compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': SPIN } };
    };
    await show('a load that fails', loader.get('flaky', flaky).getEntrypoint().quick());
    await show('is tried again', loader.get('flaky', flaky).getEntrypoint().quick());
  },

  take(value) {
    return value;
  },
};
