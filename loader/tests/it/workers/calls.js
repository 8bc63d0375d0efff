// Calls on loaded Workers: what they are given, what they may reach, and what they call back.
import { RpcTarget, WorkerEntrypoint } from 'cloudflare:workers';

const date = '2026-07-01';
const load = (loader, source, more) =>
  loader.load({ compatibilityDate: date, mainModule: 'm.js', modules: { 'm.js': source }, ...more });

async function show(label, promise) {
  try {
    console.log(label, '=>', JSON.stringify(await promise));
  } catch (error) {
    console.log(label, 'fails', error.name, '|', error.message, '|', error.remote);
  }
}

class Tools extends RpcTarget {
  #calls = 0;
  add(a, b) {
    this.#calls += 1;
    return a + b;
  }
  get calls() {
    return this.#calls;
  }
}

export class Greeter extends WorkerEntrypoint {
  greet(name) {
    return `${this.ctx.props.greeting}, ${name}!`;
  }
  async fetch(request) {
    return new Response(`outbound saw ${request.method} ${request.url}`);
  }
}

const CLASS = (body) =>
  `import { WorkerEntrypoint } from 'cloudflare:workers';
   export default class extends WorkerEntrypoint { ${body} }`;

export default {
  async test(controller, env, ctx) {
    const { loader } = env;

    const adder = load(loader, CLASS('async run(tools) { return [await tools.add(1, 2), await tools.add(3, 4), await tools.calls]; }'));
    await show('calls back', adder.getEntrypoint().run(new Tools()));
    await show('a function', load(loader, CLASS('run(f) { return f(20) }')).getEntrypoint().run((n) => n + 1));
    await show('stubs in objects', load(loader, CLASS('async run({ ns: { t } }) { return await t.add(5, 6) }')).getEntrypoint().run({ ns: { t: new Tools() } }));

    const given = { text: 'x', list: [1, { two: 2n.toString() }], when: new Date(0), map: new Map([['k', 1]]), bytes: new Uint8Array([1, 2]) };
    const echo = CLASS('run() { const e = this.env; return [e.text, e.list, e.when.toISOString(), [...e.map], [...e.bytes], Object.keys(e)] }');
    await show('env', load(loader, echo, { env: given }).getEntrypoint().run());
    await show('no env', load(loader, CLASS('run() { return this.env }')).getEntrypoint().run());
    const greeter = ctx.exports.Greeter({ props: { greeting: 'Hello' } });
    await show('a service in env', load(loader, CLASS("run() { return this.env.inner.greeter.greet('you') }"), { env: { inner: { greeter } } }).getEntrypoint().run());
    await show('a binding in env', load(loader, CLASS('run() { return this.env.self.take(7) }'), { env: { self: env.self } }).getEntrypoint().run());

    const props = CLASS('run() { return this.ctx.props }');
    await show('props', load(loader, props).getEntrypoint(undefined, { props: { a: [1] } }).run());
    await show('no props', load(loader, props).getEntrypoint().run());
    const named = `import { WorkerEntrypoint } from 'cloudflare:workers';
      export class Named extends WorkerEntrypoint { run() { return 'named' } }
      export default { run(arg) { return 'plain ' + arg } };`;
    await show('a named entrypoint', load(loader, named).getEntrypoint('Named').run());
    await show('"default"', load(loader, named).getEntrypoint('default').run(1));
    await show('a plain handler with two arguments', load(loader, named).getEntrypoint().run(1, 2));

    const fetcher = "export default { async fetch(request, env) { return new Response(request.method + ' ' + new URL(request.url).pathname + ' ' + (await request.text()), { status: 201, headers: { 'x-a': 'b' } }) } }";
    const response = await load(loader, fetcher).getEntrypoint().fetch('http://x/path', { method: 'POST', body: 'body' });
    await show('fetch', [response.status, response.headers.get('x-a'), await response.text()]);

    const reaching = CLASS("async run() { return await (await fetch('http://somewhere/x')).text() }");
    await show('no outbound', load(loader, reaching, { globalOutbound: null }).getEntrypoint().run());
    await show('an outbound', load(loader, reaching, { globalOutbound: ctx.exports.Greeter({ props: {} }) }).getEntrypoint().run());
    await show('an outbound that was not invoked', load(loader, reaching, { globalOutbound: ctx.exports.Greeter }).getEntrypoint().run());

    const kinds = {
      'm.js': {
        js: `import { WorkerEntrypoint } from 'cloudflare:workers';
          import cjs from './lib/c.cjs'; import text from 't'; import data from 'd'; import json from 'j'; import wasm from 'w';
          import { value } from './lib/other.js';
          export default class extends WorkerEntrypoint {
            async run() {
              const late = await import('./lib/late.js');
              const { exports } = await WebAssembly.instantiate(wasm);
              return [cjs.value, text, new Uint8Array(data)[1], json, exports.answer(), value, late.default];
            }
          }`,
      },
      'lib/c.cjs': { cjs: "module.exports = { value: 'cjs' }" },
      t: { text: 'text' },
      d: { data: new Uint8Array([1, 2, 3]).buffer },
      j: { json: { a: [1] } },
      w: { wasm: new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 10, 1, 6, 97, 110, 115, 119, 101, 114, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]) },
      'lib/other.js': "export const value = 'other'",
      'lib/late.js': "export default 'late'",
    };
    await show('every kind of module', loader.load({ compatibilityDate: date, mainModule: 'm.js', modules: kinds }).getEntrypoint().run());

    for (const source of ['export default {', "throw new Error('st')", "import 'nope.js'; export default {}", 'await new Promise(() => {})']) {
      await show(`start of ${source}`, load(loader, source).getEntrypoint().run());
    }
    await show('eval', load(loader, CLASS("run() { return eval('1') }")).getEntrypoint().run());
    await show('a throw', load(loader, CLASS("run() { throw new RangeError('over') }")).getEntrypoint().run());

    let asked = 0;
    const counter = () => {
      asked += 1;
      return { compatibilityDate: date, mainModule: 'm.js', modules: { 'm.js': CLASS('run() { globalThis.n = (globalThis.n ?? 0) + 1; return globalThis.n }') } };
    };
    const counts = [];
    for (const name of ['a', 'a', 'b', null, null, '', 'a']) counts.push(await loader.get(name, counter).getEntrypoint().run());
    await show('get by name', [counts, asked]);

    const many = Array.from({ length: 20 }, (_, i) => load(loader, CLASS(`async run(t) { return await t.add(${i}, 0) }`)).getEntrypoint().run(new Tools()));
    await show('many at once', Promise.all(many));
  },

  take(value) {
    return value * 2;
  },
};
