import util, { inspect, format, promisify, callbackify, inherits, types, isDeepStrictEqual } from 'node:util';
import utilTypes from 'node:util/types';
import bare from 'util';

const attempt = (label, run) => {
  try {
    console.log(label, run());
  } catch (error) {
    console.log(label, 'throws', error.name, error.code, error.message);
  }
};
const nested = { a: { b: { c: { d: 1 } } }, list: [1, 'two', [3, [4, [5]]]], text: "it's", [Symbol('s')]: 1n, fn() {}, date: new Date(0), re: /x/g };
class Custom {
  constructor(value) { this.value = value; }
  [inspect.custom](depth, options, inner) { return `Custom<${depth} ${options.showHidden} ${inner === inspect} ${inner(this.value, options)}>`; }
}

export default {
  async test() {
    console.log(inspect(nested));
    for (const options of [{ depth: 0 }, { depth: null }, { depth: 1, compact: false }, { compact: true, depth: 5 }, { breakLength: 200 }, { sorted: true },
      { colors: true }, { showHidden: true, depth: 0 }, { maxArrayLength: 1 }, { maxStringLength: 2 }, { breakLength: Infinity, compact: 1 }]) {
      console.log(Object.keys(options).join(), inspect(nested, options));
    }
    console.log(inspect(nested, false, 0), inspect('text'), inspect(null), inspect(-0), inspect([,1,,]), inspect(1234567.891, { numericSeparator: true }));
    console.log(inspect({ get a() { return 1; }, set b(x) {}, get c() { throw new Error('no'); }, get d() { return {}; } }, { getters: true }));
    console.log(inspect(new Custom({ x: 1 })), [new Custom(1)], inspect(new Custom(1), { customInspect: false }), inspect({ a: { b: new Custom(2) } }));
    console.log(inspect({ [inspect.custom]: () => ({ other: 1 }) }), inspect('a\nb'.repeat(20)), inspect(new Map([[{ a: 1 }, new Set([1])]])));
    console.log(inspect(new Proxy({ a: 1 }, {})), inspect(new Proxy({ a: 1 }, {}), { showProxy: true }), inspect(Object.create(null)), inspect(class A {}), inspect(async () => {}));
    console.log(format('%s %d %i %f %j %o %O %% %c.', 'text', '12', 3.9, '1.5', { a: 1 }, [1], { b: 2 }, 'css'), format('a', 'b', 1), format(1, 2), format('%s', null, undefined));
    console.log(util.formatWithOptions({ colors: true, compact: true }, '%s %O', 'x', { a: 1 }, [2]));
    console.log(util.stripVTControlCharacters('\u001b[31mred\u001b[0m'), util.toUSVString('a\ud800'));
    const later = (value, done) => setTimeout(() => (value ? done(null, value) : done(new Error('none'))), 1);
    console.log(await promisify(later)(5), await promisify(later)(0).catch((error) => error.message), promisify(promisify(later)) instanceof Function);
    later[promisify.custom] = () => 'own';
    console.log(promisify(later)(), promisify.custom);
    await new Promise((resolve) => callbackify(async (x) => x * 2)(4, (error, value) => resolve(console.log(error, value))));
    await new Promise((resolve) => callbackify(async () => { throw null; })((error) => resolve(console.log(error.code, error.message, error.reason))));
    function Child() {}
    function Parent() {}
    inherits(Child, Parent);
    console.log(new Child() instanceof Parent, Child.super_ === Parent);
    attempt('inherits', () => inherits(null, Parent));
    attempt('promisify', () => promisify('x'));
    attempt('callbackify', () => callbackify('x'));
    attempt('strip', () => util.stripVTControlCharacters(5));
    attempt('parseArgs', () => util.parseArgs());
    console.log(isDeepStrictEqual({ a: [1] }, { a: [1] }), isDeepStrictEqual([1], ['1']), isDeepStrictEqual(new Set([1]), new Set([1])));
    const values = [new Map(), new Set(), new WeakMap(), new Date(), /x/, new Error(), Promise.resolve(), new Proxy({}, {}), new Uint8Array(), new ArrayBuffer(1),
      new DataView(new ArrayBuffer(1)), async () => {}, function* () {}, Object(1), Object(1n), [].values(), new Map().keys(), (function () { return arguments; })(), {}];
    for (const value of values) console.log(Object.keys(types).filter((name) => types[name](value)).join());
    console.log(utilTypes.isMap === types.isMap, bare === util, util.isArray([]), util.types.isNativeError({}), util.TextEncoder === TextEncoder);
    console.log(util.deprecate(later, 'old') === later, util.debuglog('x').enabled, typeof util.debuglog('x'));
    await util.aborted(AbortSignal.abort(), {});
    console.log(util.parseEnv('A=1\nexport B="two words" # c\nC=\'x\'\n# no\nD = bare # comment'));
    console.log(util.inspect.defaultOptions.depth, util.inspect.colors.red, util.inspect.styles.string);
  },
};
