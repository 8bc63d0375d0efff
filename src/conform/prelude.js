import { WorkerEntrypoint, DurableObject, RpcTarget, RpcStub } from 'cloudflare:workers';

// A Worker of one module, with whatever else its code object should have.
const worker = (source, more) => ({
  compatibilityDate: '2026-08-15',
  mainModule: 'main.js',
  modules: { 'main.js': source },
  ...more,
});

// The default entrypoint of a Worker whose methods are written as in a class body.
const methods = (env, body, more) =>
  env.LOADER.load(
    worker(
      `import { WorkerEntrypoint, RpcTarget } from 'cloudflare:workers';
export default class extends WorkerEntrypoint { ${body} }`,
      more,
    ),
  ).getEntrypoint();

// What a promise comes to, as a value.
const settled = (promise) =>
  promise.then(
    (value) => ({ value: show(value) }),
    (error) => ({ error: show(error) }),
  );

// Any value as JSON.
function show(value, depth = 0) {
  if (depth > 6) return '...';
  const inner = (part) => show(part, depth + 1);
  switch (typeof value) {
    case 'undefined':
      return { $: 'undefined' };
    case 'bigint':
      return { $: 'bigint', value: `${value}` };
    case 'symbol':
      return { $: 'symbol' };
    case 'function':
      return { $: 'function' };
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : { $: 'number', value: Object.is(value, -0) ? '-0' : `${value}` };
    case 'string':
      // What is not well-formed would not survive being printed.
      return value.isWellFormed() ? value : { $: 'utf16', value: Array.from(value, (unit) => unit.charCodeAt(0)) };
    case 'boolean':
      return value;
  }
  if (value === null) return null;
  if (Array.isArray(value)) return Array.from(value, inner);
  if (value instanceof Error) {
    const own = {};
    for (const key of Object.keys(value).sort()) if (key !== 'stack') own[key] = inner(value[key]);
    const cause = value.cause === undefined ? {} : { cause: inner(value.cause) };
    return { $: value.constructor.name, name: value.name, message: value.message, ...cause, ...own };
  }
  if (value instanceof Date) return { $: 'Date', value: value.getTime() };
  if (value instanceof RegExp) return { $: 'RegExp', value: `${value}` };
  if (value instanceof Map) return { $: 'Map', value: [...value].map(inner) };
  if (value instanceof Set) return { $: 'Set', value: [...value].map(inner) };
  if (value instanceof ArrayBuffer) return { $: 'ArrayBuffer', value: [...new Uint8Array(value)] };
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return { $: value.constructor.name, value: [...bytes] };
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) return { $: prototype.constructor?.name ?? 'object' };
  const object = {};
  for (const key of Object.keys(value)) object[key] = inner(value[key]);
  return object;
}

export class Echo extends WorkerEntrypoint {
  echo(...args) {
    return args.length === 1 ? args[0] : args;
  }
  props() {
    return this.ctx.props;
  }
  call(fn, ...args) {
    return fn(...args);
  }
  fail(name, message) {
    throw Object.assign(new globalThis[name](message), { extra: 1 });
  }
}

export class Outbound extends WorkerEntrypoint {
  async fetch(request) {
    const props = JSON.stringify(this.ctx.props);
    return new Response(`${request.method} ${request.url} ${await request.text()} ${props}`);
  }
}

// What a cache that a case's `respond` stands for was asked, and answers.
const cache = {
  seen: [],
  respond: () => new Response(null, { status: 504, headers: { 'cf-cache-status': 'MISS' } }),
};

export class CacheBackend extends WorkerEntrypoint {
  async fetch(request) {
    const headers = {};
    for (const [name, value] of request.headers) headers[name] = value;
    const { method, url, redirect, cf } = request;
    cache.seen.push({ method, url, headers, redirect, cf, body: request.body === null ? null : await request.text() });
    return cache.respond(request);
  }
}

class Target extends RpcTarget {
  #ctx;
  constructor(ctx) {
    super();
    this.#ctx = ctx;
  }
  ping() {
    return 'pong';
  }
  hang() {
    return new Promise(() => {});
  }
  fail() {
    throw new Error('target');
  }
  abort() {
    this.#ctx.abort('aborted by a target');
  }
}

export class Counter extends DurableObject {
  #count = 0;
  add(n) {
    return (this.#count += n);
  }
  about() {
    return [Object.prototype.toString.call(this.ctx), typeof this.ctx.waitUntil, this.ctx.id.name];
  }
  target() {
    return new Target(this.ctx);
  }
  fail(name, message) {
    throw new globalThis[name](message);
  }
  frozen() {
    throw Object.freeze(new Error('frozen'));
  }
  abort(reason) {
    this.ctx.abort(reason);
  }
  block(ms) {
    return this.ctx.blockConcurrencyWhile(() => scheduler.wait(ms));
  }
  blockFails(message) {
    return this.ctx.blockConcurrencyWhile(() => {
      throw new Error(message);
    });
  }
  through(callback) {
    return callback();
  }
  store(key, value) {
    return this.ctx.storage.put(key, value);
  }
  stored(key) {
    return this.ctx.storage.get(key);
  }
  fetch(request) {
    if (request.url.endsWith('/fail')) throw new Error('fetch');
    return new Response('counter');
  }
}

export class Undeclared {
  fetch() {
    return new Response('undeclared');
  }
  method() {}
}

// What requests have in common.
let shared;

export class Shared extends WorkerEntrypoint {
  async first(n) {
    shared ??= scheduler.wait(20).then(() => 'made once');
    const made = await shared;
    return [n, made, await this.ctx.exports.Echo.echo(n)];
  }
  leaves(ms) {
    shared = new Promise((resolve) => this.ctx.waitUntil(scheduler.wait(ms).then(() => resolve('left behind'))));
  }
  async awaits() {
    return await shared;
  }
  async goesOn(n) {
    const stub = new RpcStub(() => 'own');
    await shared;
    const own = await stub();
    await scheduler.wait(1);
    return [n, own, await this.ctx.exports.Echo.echo(n), await (await this.env.SELF.fetch('http://a.test/')).text()];
  }
  keepsStub() {
    shared = new RpcStub(() => 'kept');
  }
  async usesStub() {
    return await shared();
  }
  waitsFor(signal) {
    return new Promise((resolve) => (signal.onabort = () => resolve([signal.aborted, signal.reason?.name])));
  }
  reasonOf(signal) {
    return new Promise((resolve) => (signal.onabort = () => resolve(signal.reason)));
  }
  reasonOfAny(signal) {
    return this.reasonOf(AbortSignal.any([signal]));
  }
  sendsOn(signal) {
    return this.ctx.exports.Shared.reasonOf(signal);
  }
  aborted(signal) {
    return signal.aborted;
  }
  async looksAt(signal, tell) {
    const seen = [];
    for (let n = 0; n < 3; n++) {
      await tell(n);
      if (n === 1 && !signal.aborted) await new Promise((resolve) => (signal.onabort = resolve));
      seen.push(signal.aborted);
    }
    return seen;
  }
  ignores(signal) {
    return new Promise(() => {});
  }
  hangs() {
    return new Promise(() => {});
  }
  async hangsBehind() {
    return await this.ctx.exports.Shared.hangs();
  }
  async awaitsNothing() {
    await new Promise((resolve) => (shared = resolve));
  }
}

export default {
  fetch(request) {
    return new Response(`parent ${request.url}`);
  },

  async test(controller, env, ctx) {
    let outcome;
    try {
      outcome = { value: show(await run(env, ctx)) };
    } catch (error) {
      outcome = { error: show(error) };
    }
    console.log('@@conform ' + JSON.stringify([CASE, outcome]));
  },
};
