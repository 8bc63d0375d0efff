// Workers that have others loaded. A loader itself cannot be handed on; an entrypoint that loads can.
import { WorkerEntrypoint } from 'cloudflare:workers';

const CODE = { compatibilityDate: '2026-07-01', mainModule: 'm.js' };
const CLASS = (body) =>
  `import { WorkerEntrypoint } from 'cloudflare:workers';
   export default class extends WorkerEntrypoint { ${body} }`;
const LEAF = CLASS("quick() { return 'quick' } spin() { for (;;); } async calls(n) { for (let i = 0; i < n; i++) await this.env.host.none(); return n }");
const MIDDLE = CLASS(
  'async run(...args) { try { return await this.env.host.run(...args) } catch (error) { return `caught: ${error.message}` } }' +
    'async runThenSpin(...args) { await this.run(...args); for (;;); }' +
    'async down(n, source) { return n === 0 ? "bottom" : "." + await this.env.host.run(source, "down", {}, n - 1, source) }',
);

async function show(label, promise) {
  try {
    console.log(label, '=>', JSON.stringify(await promise));
  } catch (error) {
    console.log(label, 'fails', error.name, '|', error.message, '|', error.remote, error.overloaded);
  }
}

export class Host extends WorkerEntrypoint {
  none() {}
  async run(source, method, limits, ...args) {
    return await load(this.env.loader, this.ctx, source, limits)[method](...args);
  }
}

function load(loader, ctx, source, limits) {
  const env = { host: ctx.exports.Host({ props: {} }) };
  return loader.load({ ...CODE, modules: { 'm.js': source }, env, limits }).getEntrypoint();
}

export default {
  async test(controller, { loader }, ctx) {
    await show('a loader in env', (async () => loader.load({ ...CODE, modules: { 'm.js': LEAF }, env: { loader } }))());
    const middle = (limits) => load(loader, ctx, MIDDLE, limits);
    await show('two deep', middle({}).run(LEAF, 'quick', {}));
    await show('ten deep', middle({}).down(10, MIDDLE));
    await show('the inner limit', middle({}).run(LEAF, 'spin', { cpuMs: 20 }));
    await show('what the inner one uses is its own', middle({ cpuMs: 300 }).run(LEAF, 'spin', { cpuMs: 600 }));
    await show('the outer limit', middle({ cpuMs: 50 }).runThenSpin(LEAF, 'quick', { cpuMs: 60000 }));
    await show('inner subrequests', middle({ subRequests: 1 }).run(LEAF, 'calls', { subRequests: 3 }, 4));
    await show('are its own', middle({ subRequests: 1 }).run(LEAF, 'calls', { subRequests: 3 }, 3));
  },
};
