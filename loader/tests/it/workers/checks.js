// What load(), get() and getEntrypoint() refuse, and in which words.
const modules = { 'm.js': 'export default {}' };
const base = { compatibilityDate: '2026-07-01', mainModule: 'm.js', modules };

function attempt(label, run) {
  try {
    const made = run();
    console.log(label, 'gives', made?.constructor?.name);
    return made;
  } catch (error) {
    console.log(label, 'throws', error.name, '|', error.message);
  }
}

async function settle(label, run) {
  try {
    await run();
    console.log(label, 'resolves');
  } catch (error) {
    console.log(label, 'rejects', error.name, '|', error.message);
  }
}

const FIELDS = {
  modules: [
    undefined, null, 5, 'x', [], {}, { a: null }, { a: 5 }, { 'a.ts': 'x' }, { 'a.js': 5 }, { a: {} }, { a: { js: undefined } },
    { a: { js: null } }, { a: { js: 'x', text: 'y' } }, { a: { data: 'x' } }, { a: { json: 5 } }, { a: { wasm: 'x' } },
    { a: { js: '', zz: 1 } }, { a: true }, { a: [] }, { a: { py: '' } }, { 'a.py': '' },
  ],
  mainModule: [undefined, null, 5],
  compatibilityFlags: ['x', [5], null, {}, [], ['nodejs_compat', 'no_nodejs_compat'], ['experimental']],
  compatibilityDate: [undefined, null, 5, '2024-13-01'],
  allowExperimental: ['x', 0, null],
  limits: [
    5, 'x', null, [], {}, { cpuMs: -1 }, { cpuMs: 'abc' }, { cpuMs: 2 ** 32 }, { cpuMs: 1.5 }, { cpuMs: '10' }, { cpuMs: null },
    { subRequests: -1 }, { subRequests: NaN }, { subRequests: 0 },
  ],
  env: [null, 's', 5, [], { f() {} }],
  globalOutbound: [5, {}, null, 'x'],
  tails: [5, [5], [], null],
  streamingTails: [5, [], null],
};

export default {
  async test(controller, env) {
    const { loader } = env;
    attempt('load()', () => loader.load());
    attempt('load(5)', () => loader.load(5));
    attempt('load(null)', () => loader.load(null));
    attempt('load({})', () => loader.load({}));
    for (const [field, values] of Object.entries(FIELDS)) {
      for (const value of values) {
        attempt(`${field}: ${JSON.stringify(value)}`, () => loader.load({ ...base, [field]: value }));
      }
    }
    attempt('a BigInt limit', () => loader.load({ ...base, limits: { cpuMs: 1n } }));
    attempt('a function as limits', () => loader.load({ ...base, limits: () => {} }));
    attempt('a function as env', () => loader.load({ ...base, env: () => {} }));
    attempt('a loader in env', () => loader.load({ ...base, env: { loader } }));
    const read = [];
    const spy = new Proxy(base, { get: (target, key) => (read.push(String(key)), target[key]) });
    attempt('a proxy', () => loader.load(spy));
    console.log('read in the order', read.join());

    const stub = attempt('good code', () => loader.load(base));
    for (const name of [5, null, 'zz']) attempt(`getEntrypoint(${name})`, () => stub.getEntrypoint(name));
    const OPTIONS = [5, null, { props: null }, { props: 5 }, { props: [] }, { props: { f() {} } }, { limits: 5 }, { limits: { cpuMs: -1 } }];
    for (const options of OPTIONS) {
      attempt(`options ${JSON.stringify(options)}`, () => stub.getEntrypoint('a', options));
    }
    attempt('get()', () => loader.get());
    attempt('get(name)', () => loader.get('a'));
    attempt('get(name, 5)', () => loader.get('a', 5));
    attempt('get(Symbol())', () => loader.get(Symbol(), () => base));
    attempt('new', () => new loader.constructor());
    attempt('load without this', () => (0, loader.load)(base));
    attempt('getEntrypoint without this', () => (0, stub.getEntrypoint)());
    attempt('cloning a loader', () => structuredClone(loader));
    attempt('cloning a stub', () => structuredClone(stub));

    const entrypoint = stub.getEntrypoint();
    console.log(String(loader), String(stub), String(entrypoint), typeof entrypoint.nope);
    await settle('a missing method', () => entrypoint.nope());
    await settle('a missing fetch handler', () => entrypoint.fetch('http://x/'));
    await settle('a missing entrypoint', () => stub.getEntrypoint('zz').foo());
    await settle('sending an entrypoint', () => env.self.take(entrypoint));
    await settle('sending a stub', () => env.self.take(stub));
    await settle('sending a loader', () => env.self.take(loader));

    const CALLBACKS = {
      'returns nothing': () => undefined,
      'returns null': () => null,
      'returns 5': () => 5,
      'returns {}': () => ({}),
      throws: () => {
        throw new RangeError('r');
      },
      rejects: async () => {
        throw new RangeError('r');
      },
      'has a bad date': () => ({ ...base, compatibilityDate: 'x' }),
    };
    for (const [what, getCode] of Object.entries(CALLBACKS)) {
      await settle(`a callback that ${what}`, () => loader.get(null, getCode).getEntrypoint().foo());
    }
  },

  take() {
    return 1;
  },
};
