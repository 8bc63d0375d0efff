// Calls, pipelining, disposal and what stubs say of themselves.
//// case: pipelining through several results
class Node extends RpcTarget {
  constructor(n) { super(); this.#n = n; }
  #n;
  next() { return new Node(this.#n + 1); }
  get value() { return this.#n; }
}
return await env.ECHO.echo(new Node(1)).next().next().next().value;
//// => {"value":4}

//// case: pipelining on what is given to a third party
const log = [];
const target = (n) => { log.push(n); return { deep: { f: (m) => n + m } }; };
const result = env.ECHO.call(target, 1);
const sums = await Promise.all([result.deep.f(10), result.deep.f(20), env.ECHO.call(result.deep.f.bind ? 0 : 0).catch(() => "none")]);
return [log, sums];
//// => {"value":[[1],[11,21,"none"]]}

//// case: pipelining on a result that is no object
return await settled(env.ECHO.echo(5).a.b());
//// => {"value":{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"a\".","remote":true}}}

//// case: pipelining on a result that fails
const result = env.ECHO.fail("RangeError", "first");
return [await settled(result.a.b()), await settled(result.c), await settled(result)];
//// => {"value":[{"error":{"$":"RangeError","name":"RangeError","message":"first","extra":1,"remote":true}},{"error":{"$":"RangeError","name":"RangeError","message":"first","extra":1,"remote":true}},{"error":{"$":"RangeError","name":"RangeError","message":"first","extra":1,"remote":true}}]}

//// case: calling a promise that has failed
const result = env.ECHO.fail("RangeError", "first");
await result.catch(() => {});
return [await settled(result.a()), await settled(result())];
//// => {"value":[{"error":{"$":"RangeError","name":"RangeError","message":"first","extra":1,"remote":true}},{"error":{"$":"RangeError","name":"RangeError","message":"first","extra":1,"remote":true}}]}

//// case: pipelining on a promise that was disposed of
const result = env.ECHO.echo({ f: () => 1 });
result[Symbol.dispose]();
return await settled(result.f());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"RPC promise used after being disposed."}}}

//// case: a promise that is disposed of still resolves
const result = env.ECHO.echo(5);
result[Symbol.dispose]();
return await settled(result);
//// => {"value":{"value":5}}

//// case: a result has a disposer
const got = await env.ECHO.echo({ a: 1 });
return [typeof got[Symbol.dispose], Object.keys(got), Object.getOwnPropertyDescriptor(got, Symbol.dispose)?.enumerable];
//// => {"value":["function",["a"],false]}

//// case: results without stubs have a disposer too
const out = [];
for (const value of [[1], new Map(), new Date(0), new Uint8Array(1), new Error("m"), /a/]) {
  const got = await env.ECHO.echo(value);
  out.push(typeof got[Symbol.dispose]);
}
return out;
//// => {"value":["function","function","function","function","function","function"]}

//// case: disposing of a result disposes of its stubs
const got = await env.ECHO.echo({ f: () => 1, in: [() => 2] });
got[Symbol.dispose]();
return [await settled(got.f()), await settled(got.in[0]())];
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}},{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}]}

//// case: disposing twice
const got = await env.ECHO.echo(() => 1);
got[Symbol.dispose]();
got[Symbol.dispose]();
return await settled(got());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}}

//// case: using, in a block
let kept;
{
  using got = await env.ECHO.echo({ f: () => 1 });
  kept = got;
  await got.f();
}
return await settled(kept.f());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}}

//// case: the disposer of a target
let times = 0;
class Target extends RpcTarget { [Symbol.dispose]() { times += 1; } m() { return times; } }
const got = await env.ECHO.echo(new Target());
const before = await got.m();
got[Symbol.dispose]();
for (let i = 0; i < 100 && times === 0; i++) await scheduler.wait(5);
return [before, times];
//// => {"value":[0,1]}

//// case: the disposer of a target that is only an argument
let times = 0;
class Target extends RpcTarget { [Symbol.dispose]() { times += 1; } m() { return 1; } }
await env.ECHO.call((t) => 1, new Target());
for (let i = 0; i < 100 && times === 0; i++) await scheduler.wait(5);
return times;
//// => {"value":1}

//// case: dup of a stub, and of its duplicate
const got = await env.ECHO.echo(() => 1);
const second = got.dup();
const third = second.dup();
got[Symbol.dispose]();
second[Symbol.dispose]();
return [await settled(got()), await settled(second()), await settled(third())];
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}},{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}},{"value":1}]}

//// case: dup of a disposed stub
const got = await env.ECHO.echo(() => 1);
got[Symbol.dispose]();
return await settled(Promise.resolve().then(() => got.dup()));
//// differs: workerd answers with an internal error.
//// => {"value":{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}}

//// case: dup of a promise and of a property
const result = env.ECHO.echo({ f: () => 1 });
const out = [];
for (const value of [result, result.f]) {
  out.push(await settled(Promise.resolve().then(() => typeof value.dup())));
}
return out;
//// => {"value":[{"value":"function"},{"value":"function"}]}

//// case: what a stub says of itself
const got = await env.ECHO.echo(() => 1);
const target = await env.ECHO.echo(new RpcTarget());
return [typeof got, typeof target, got instanceof RpcStub, Object.prototype.toString.call(got), `${typeof got.toString}`, "anything" in got, Object.keys(got), JSON.stringify({ got })];
//// => {"value":["function","function",true,"[object JsRpcStub]","function",true,[],"{}"]}

//// case: what a promise says of itself
const result = env.ECHO.echo(1);
const property = result.a;
return [typeof result, Object.prototype.toString.call(result), Object.prototype.toString.call(property), result instanceof Promise, typeof result.finally, await result];
//// => {"value":["function","[object JsRpcPromise]","[object JsRpcProperty]",false,"function",1]}

//// case: then, catch and finally give promises
const result = env.ECHO.echo(1);
return [result.then(() => {}).constructor.name, result.catch(() => {}).constructor.name, result.finally(() => {}).constructor.name];
//// => {"value":["Promise","Promise","Promise"]}

//// case: awaiting a result twice
const result = env.ECHO.echo({ a: 1 });
return (await result) === (await result);
//// => {"value":true}

//// case: awaiting a property calls again
let reads = 0;
class Target extends RpcTarget { get p() { reads += 1; return reads; } }
const got = await env.ECHO.echo(new Target());
const property = got.p;
return [await property, await property, reads];
//// => {"value":[1,2,2]}

//// case: a setter is no remote one
const got = await env.ECHO.echo(new RpcTarget());
got.a = 1;
return [got.a, Object.keys(got)];
//// => {"value":[1,["a"]]}

//// case: a path of names
class Target extends RpcTarget { get a() { return { b: { c: { d: (x) => x * 2 } } }; } }
const got = await env.ECHO.echo(new Target());
return await got.a.b.c.d(21);
//// => {"value":42}

//// case: a path of sixty-four names and one more
let at = await env.ECHO.echo(() => 1);
let names = 0;
try {
  for (; names < 70; names++) at = at.x;
} catch (error) {
  return [names, error.name, error.message];
}
return names;
//// => {"value":[65,"TypeError","RPC pipelined property path is too deep (max 64)."]}

//// case: names that are numbers and symbols
const got = await env.ECHO.echo(Object.assign(() => 1, { 0: "zero", "a b": "spaced" }));
return [await got[0], await got["a b"], got[Symbol("s")] === undefined];
//// => {"value":[{"$":"undefined"},"spaced",true]}

//// case: methods of arrays and strings are not remote
const f = Object.assign(() => 1, { list: [1, 2], text: "abc" });
const got = await env.ECHO.echo(f);
return [await settled(got.list.map((x) => x)), await settled(got.text.length), got.list[0], 0 in got];
//// => {"value":[{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"list\".","remote":true}},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"text\".","remote":true}},{"$":"undefined"},false]}

//// case: private and inherited members
class Base extends RpcTarget { inherited() { return "base"; } }
class Target extends Base { own = 1; #hidden = 2; static s() {} get hidden() { return this.#hidden; } }
const got = await env.ECHO.echo(new Target());
return [await settled(got.inherited()), await settled(got.own), await settled(got.hidden), await settled(got.s())];
//// => {"value":[{"value":"base"},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"own\".","remote":true}},{"value":2},{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"s\".","remote":true}}]}

//// case: methods of Object are not remote
const got = await env.ECHO.echo(new RpcTarget());
return [typeof got.hasOwnProperty, typeof got.valueOf, await settled(env.ECHO.getRpcMethodForTestOnly?.("toString")() ?? 0)];
//// => {"value":["function","function",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"toString\".","remote":true}}]}

//// case: calls while the caller waits
let inside = 0;
const got = await env.ECHO.call(async (again) => { inside += 1; return await again(); }, () => { inside += 10; return inside; });
return [got, inside];
//// => {"value":[11,11]}

//// case: calls of calls of calls
const down = async (n) => (n === 0 ? "bottom" : await env.ECHO.call(down, n - 1));
return await down(8);
//// => {"value":"bottom"}

//// case: a hundred calls at once, in order
const seen = [];
const got = await env.ECHO.echo((n) => { seen.push(n); return n; });
const all = await Promise.all(Array.from({ length: 100 }, (_, n) => got(n)));
return [all.every((n, i) => n === i), seen.every((n, i) => n === i)];
//// => {"value":[true,true]}

//// case: one slow call does not hold up the next
const order = [];
const got = await env.ECHO.echo(async (ms) => { await scheduler.wait(ms); order.push(ms); });
await Promise.all([got(30), got(1)]);
return order;
//// => {"value":[1,30]}

//// case: a call without await is made
let called = 0;
const got = await env.ECHO.echo(() => { called += 1; });
got();
for (let i = 0; i < 100 && called === 0; i++) await scheduler.wait(5);
return called;
//// => {"value":1}

//// case: an argument that cannot be sent
const got = await env.ECHO.echo(() => 1);
let threw = "at once";
try {
  const result = got(Symbol("s"));
  threw = "later";
  await result;
} catch (error) {
  return [threw, error.name, error.message];
}
//// => {"value":["later","DataCloneError","Symbol(s) could not be cloned."]}

//// case: a target with a fetch method
class Target extends RpcTarget { fetch(a, b) { return ["fetch", a, b]; } }
return await (await env.ECHO.echo(new Target())).fetch(1, 2);
//// => {"value":["fetch",1,2]}

//// case: a proxy of a plain object
const got = await env.ECHO.echo(new Proxy({ a: 1 }, {}));
return [typeof got, await settled(got.a)];
//// => {"value":["function",{"value":1}]}

//// case: a proxy of a target that answers any name
const proxy = new Proxy(new RpcTarget(), { get: (t, key) => (key === "dup" || typeof key === "symbol" ? undefined : () => `called ${key}`), has: () => true });
return await (await env.ECHO.echo(proxy)).whatever();
//// => {"value":"called whatever"}

//// case: a proxy of a class instance
class Own {}
return await settled(env.ECHO.echo(new Proxy(new Own(), {})));
//// => {"value":{"error":{"$":"DOMException","name":"DataCloneError","message":"Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must emulate either a plain object or an RpcTarget, as indicated by the Proxy's prototype chain.","code":25}}}

//// case: a stub of an array or a class instance
const out = [];
class Own {}
for (const value of [[1], new Own(), 1, null, undefined, new Map()]) {
  try {
    out.push(typeof new RpcStub(value));
  } catch (error) {
    out.push(`${error.name}: ${error.message}`);
  }
}
return out;
//// => {"value":["TypeError: RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives.","TypeError: RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives.","TypeError: Failed to construct 'JsRpcStub': constructor parameter 1 is not of type 'Object'.","TypeError: Failed to construct 'JsRpcStub': constructor parameter 1 is not of type 'Object'.","TypeError: Failed to construct 'JsRpcStub': constructor parameter 1 is not of type 'Object'.","TypeError: RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives."]}

//// case: a local stub calls later
let ran = false;
const stub = new RpcStub(() => { ran = true; return 1; });
const result = stub();
const before = ran;
return [before, await result, ran];
//// => {"value":[false,1,true]}

//// case: what a local stub is given is a copy
const given = { a: 1 };
const stub = new RpcStub((value) => { value.a = 2; return value; });
const got = await stub(given);
return [given.a, got.a];
//// => {"value":[1,2]}

//// case: a stub sent back home
const target = () => 1;
const there = await env.ECHO.echo(target);
const back = await env.ECHO.echo(there);
return [back === target, await back()];
//// => {"value":[false,1]}

//// case: a service sent as an argument can be called
const got = await env.ECHO.call(async (echo) => await echo.echo(7), env.ECHO);
return got;
//// => {"value":7}

//// case: props reach an entrypoint of one's own
const stub = ctx.exports.Echo({ props: { a: [1, { b: 2 }] } });
return await stub.props();
//// => {"value":{"a":[1,{"b":2}]}}

//// case: props with a service in them
const stub = ctx.exports.Echo({ props: { inner: ctx.exports.Echo({ props: { n: 1 } }) } });
const props = await stub.props();
return await props.inner.props();
//// => {"value":{"n":1}}

//// case: props with what cannot last
const out = [];
for (const value of [() => 1, new RpcStub(() => 1), Symbol("s"), new (class Own {})()]) {
  try {
    ctx.exports.Echo({ props: { value } });
    out.push("taken");
  } catch (error) {
    out.push(`${error.name}: ${error.message}`);
  }
}
return out;
//// => {"value":["DataCloneError: () => 1 could not be cloned.","DataCloneError: RpcStub cannot be serialized in this context because it is not a persistent stub.","DataCloneError: Symbol(s) could not be cloned.","DataCloneError: Could not serialize object of type \"Own\". This type does not support serialization."]}

//// case: exports of this Worker
return [typeof ctx.exports.Echo, typeof ctx.exports.default, Object.prototype.toString.call(ctx.exports.Echo), Object.prototype.toString.call(ctx.exports.Echo({}))];
//// => {"value":["function","function","[object LoopbackServiceStub]","[object Fetcher]"]}

//// case: onRpcBroken of what is there
const stub = await env.ECHO.echo(() => 1);
return await settled(Promise.resolve().then(() => typeof stub.onRpcBroken));
//// => {"value":{"value":"function"}}

//// case: a stub kept beyond the call
let kept;
await env.ECHO.call((f) => { kept = f; }, () => 1);
return await settled(Promise.resolve().then(() => kept()));
//// => {"value":{"error":{"$":"Error","name":"Error","message":"RPC stub used after being disposed."}}}

//// case: a stub kept beyond the call by dup
let kept;
await env.ECHO.call((f) => { kept = f.dup(); }, () => 1);
return await settled(Promise.resolve().then(() => kept()));
//// => {"value":{"value":1}}

//// case: more than 32 MiB of result
return await settled(env.ECHO.call(() => new Uint8Array((32 << 20) + 1)).then((got) => got.length));
//// => {"value":{"error":{"$":"Error","name":"Error","message":"Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: 33554448 bytes.","remote":true}}}

//// case: more than 32 MiB of argument
return await settled(env.ECHO.echo("x".repeat((32 << 20) + 1)).then((got) => got.length));
//// => {"value":{"error":{"$":"Error","name":"Error","message":"Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: 33554445 bytes."}}}

//// case: an entrypoint whose constructor throws
class Bad {}
return await settled(methods(env, "constructor(ctx, env) { super(ctx, env); throw new RangeError('made badly'); } m() { return 1; }").m());
//// => {"value":{"error":{"$":"RangeError","name":"RangeError","message":"made badly","remote":true}}}

//// case: an entrypoint makes one instance for each call
const child = methods(env, "n = 0; count() { return ++this.n; }");
return [await child.count(), await child.count()];
//// => {"value":[1,1]}

//// case: instances are told apart by properties of a result
const child = methods(env, "make() { let n = 0; return { up: () => ++n }; }");
const a = await child.make();
const b = await child.make();
return [await a.up(), await a.up(), await b.up()];
//// => {"value":[1,2,1]}

//// case: reserved names of an entrypoint
const child = methods(env, "alarm() { return 1; } webSocketMessage() { return 1; } webSocketClose() { return 1; } webSocketError() { return 1; } connect() { return 1; } queue() { return 1; } scheduled() { return 1; } tail() { return 1; } test() { return 1; }");
const out = [];
for (const name of ["alarm", "webSocketMessage", "webSocketClose", "webSocketError", "queue", "scheduled", "tail", "test", "trace"]) {
  out.push([name, await settled(Promise.resolve().then(() => child[name]()))]);
}
return out;
//// => {"value":[["alarm",{"error":{"$":"TypeError","name":"TypeError","message":"'alarm' is a reserved method and cannot be called over RPC.","remote":true}}],["webSocketMessage",{"error":{"$":"TypeError","name":"TypeError","message":"'webSocketMessage' is a reserved method and cannot be called over RPC.","remote":true}}],["webSocketClose",{"error":{"$":"TypeError","name":"TypeError","message":"'webSocketClose' is a reserved method and cannot be called over RPC.","remote":true}}],["webSocketError",{"error":{"$":"TypeError","name":"TypeError","message":"'webSocketError' is a reserved method and cannot be called over RPC.","remote":true}}],["queue",{"value":1}],["scheduled",{"value":1}],["tail",{"value":1}],["test",{"value":1}],["trace",{"error":{"$":"TypeError","name":"TypeError","message":"The RPC receiver does not implement the method \"trace\".","remote":true}}]]}
