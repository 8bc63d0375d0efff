// The Worker that the cases beside it call, and are part of.
import { WorkerEntrypoint, RpcTarget, RpcStub, RpcPromise, RpcProperty, ServiceStub, env, waitUntil, withEnv }
  from 'cloudflare:workers';

// A promise of an earlier invocation.
let shared;

class Counter extends RpcTarget {
  disposed = Promise.withResolvers();
  #value;
  constructor(value = 0) {
    super();
    this.#value = value;
    this.secret = 'hidden';
  }
  increment(by = 1) {
    this.#value += by;
    return this.#value;
  }
  get value() {
    return { now: this.#value, twice: () => this.#value * 2 };
  }
  [Symbol.dispose]() {
    this.disposed.resolve('disposed');
  }
}

class NotATarget {
  x = 1;
}

class CustomError extends Error {
  name = 'CustomError';
  extra = { a: 1 };
}

let kept;
let released = false;
let wake;
let aborted;
let client;
let sent;

export class Service extends WorkerEntrypoint {
  instanceField = 1;
  echo(value) {
    return value;
  }
  counter(start) {
    return new Counter(start);
  }
  object(start) {
    return { label: 'object', counter: new Counter(start), add: (a, b) => a + b };
  }
  async call(f, ...args) {
    return await f(...args);
  }
  throws(kind) {
    const errors = {
      type: () => new TypeError('t'),
      custom: () => new CustomError('c'),
      string: () => 'text',
      object: () => ({ a: 1 }),
      undefined: () => undefined,
      dom: () => new DOMException('d', 'AbortError'),
      cause: () => new RangeError('r', { cause: new Error('inner') }),
    };
    throw errors[kind]();
  }
  notATarget() {
    return { inside: new NotATarget() };
  }
  get property() {
    return { deep: { add: (a, b) => a + b }, list: [1, 2] };
  }
  async keep(stub) {
    kept = { original: stub, copy: stub.dup() };
    return await stub();
  }
  withDisposer() {
    released = false;
    return { value: 1, [Symbol.dispose]() { released = true; } };
  }
  released() {
    return released;
  }
  forward(stub) {
    return stub.dup();
  }
  async readFrom(stream) {
    return await new Response(stream).text();
  }
  async abortTo(stream) {
    await stream.getWriter().abort(new Error('mine'));
  }
  async writeTo(stream) {
    const writer = stream.getWriter();
    const encoder = new TextEncoder();
    await writer.write(encoder.encode('foo, '));
    await writer.write(encoder.encode('bar'));
    await writer.close();
  }
  async fetch(request) {
    const { url } = request;
    if (url.endsWith('bad')) return 'bad';
    if (url.endsWith('/circle')) return new Response(null, { status: 302, headers: { location: url } });
    if (url.includes('/redirect?')) {
      const [status, location] = url.slice(url.indexOf('?') + 1).split('&');
      return new Response(null, { status: +status, headers: { location } });
    }
    if (url.endsWith('/authorization')) return new Response(`${request.headers.get('authorization')}`);
    request.signal.onabort = () => {
      client = request.signal.reason.message;
    };
    if (url.endsWith('/waits')) await scheduler.wait(86_400_000);
    if (url.endsWith('/endless')) {
      return new Response(new ReadableStream({ type: 'bytes', pull: (c) => c.enqueue(new Uint8Array(1 << 16)) }));
    }
    if (url.endsWith('throw')) throw new RangeError('no');
    if (url.endsWith('stream')) {
      const { readable, writable } = new TransformStream();
      const encoder = new TextEncoder();
      const pump = async () => {
        const writer = writable.getWriter();
        await writer.write(encoder.encode('<'));
        for await (const chunk of request.body) await writer.write(chunk);
        await writer.write(encoder.encode('>'));
        await writer.close();
      };
      this.ctx.waitUntil(pump());
      return new Response(readable);
    }
    return new Response(`${url} ${request.headers.get('a')} ${await request.text()}`, {
      status: 201,
      headers: { 'x-method': request.method },
    });
  }
  echoPair() {
    const { readable, writable } = new IdentityTransformStream();
    return { readable, writable };
  }
  client() {
    return client;
  }
  aborted(signal) {
    return new Promise((resolve) => {
      signal.onabort = () => resolve(signal.reason);
    });
  }
  abortedRequest({ signal }) {
    return this.aborted(signal);
  }
  abortedBeyond(signal) {
    return this.ctx.exports.Service.aborted(signal);
  }
  ignores() {
    return new Promise(() => {});
  }
  signal() {
    return new AbortController().signal;
  }
  async sendsSignal() {
    sent = new AbortController();
    await this.ctx.exports.Service.echo(sent.signal);
  }
  abortsSent() {
    sent.abort();
  }
  async abort(reason, delay) {
    aborted = ['before'];
    if (delay !== undefined) await scheduler.wait(delay);
    try {
      this.ctx.abort(reason);
    } catch {
      aborted.push('caught');
    } finally {
      aborted.push('finally');
    }
  }
  afterAbort() {
    return aborted;
  }
  abortLater() {
    return () => this.ctx.abort();
  }
  waits() {
    return new Promise((resolve) => {
      wake = resolve;
    });
  }
  wakes() {
    wake('woken');
  }
  startsShared() {
    shared = new Promise((resolve) => {
      this.ctx.waitUntil(scheduler.wait(5).then(() => resolve('shared')));
    });
  }
  async awaitsShared() {
    return await shared;
  }
  // With a stub, a timer and a call of its own after another's promise was resolved.
  async callsAfterShared(n) {
    const stub = new RpcStub(() => 'own');
    await shared;
    const own = await stub();
    await scheduler.wait(1);
    return [n, own, await this.ctx.exports.Service.echo(n)];
  }
  hang() {
    return new Promise(() => {});
  }
  props() {
    return this.ctx.props;
  }
  big(size) {
    return 'x'.repeat(size);
  }
}

export const handler = {
  one(argument, env, ctx) {
    return [argument, typeof env, ctx.constructor.name];
  },
  async fetch() {
    return new Response('handler');
  },
  two(a, b, env, ctx) {
    return a + b;
  },
};

export const noFetch = {};

const cases = { __proto__: null,
/* CASES */
};

async function outcome(act, service, ctx) {
  try {
    return JSON.stringify(await act(service, ctx)) ?? 'undefined';
  } catch (error) {
    const remote = error?.remote === true ? ' (remote)' : '';
    return `${error?.name}: ${error?.message}${remote}`;
  }
}

export default class extends WorkerEntrypoint {
  run(name) {
    return outcome(cases[name], this.ctx.exports.Service, this.ctx);
  }
}
