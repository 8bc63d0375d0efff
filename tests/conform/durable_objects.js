// Durable Objects, in memory: calls, errors, and what ends them.
//// case: an object keeps what it counts
const counter = ctx.exports.Counter.getByName("a");
return [await counter.add(1), await counter.add(2), await ctx.exports.Counter.getByName("a").add(3), await ctx.exports.Counter.getByName("b").add(1)];
//// => {"value":[1,3,6,1]}

//// case: ids and names
const { Counter } = ctx.exports;
const id = Counter.idFromName("n");
const stub = Counter.get(id);
return [id.name, stub.name, stub.id.equals(id), `${id}`.length, Counter.idFromString(`${id}`).name, Counter.newUniqueId().equals(Counter.newUniqueId())];
//// => {"value":["n","n",true,64,{"$":"undefined"},false]}

//// case: what an object says of itself
return [Object.prototype.toString.call(ctx.exports.Counter), Object.prototype.toString.call(ctx.exports.Counter.getByName("a")), typeof ctx.exports.Counter.getByName("a").anything, await ctx.exports.Counter.getByName("said").about()];
//// => {"value":["[object LoopbackDurableObjectNamespace]","[object DurableObject]","function",["[object DurableObjectState]","function","said"]]}

//// case: events are delivered in order
const counter = ctx.exports.Counter.getByName("order");
return await Promise.all(Array.from({ length: 10 }, () => counter.add(1)));
//// => {"value":[1,2,3,4,5,6,7,8,9,10]}

//// case: an error names its object
const { Counter } = ctx.exports;
const stub = Counter.getByName("err");
const error = await stub.fail("RangeError", "bad").catch((error) => error);
return [error.name, error.message, error.durableObjectId === `${Counter.idFromName("err")}`, Object.keys(error).sort()];
//// => {"value":["RangeError","bad",true,["durableObjectId","remote"]]}

//// case: so does that of a target of it
const stub = ctx.exports.Counter.getByName("err2");
const error = await (await stub.target()).fail().catch((error) => error);
return [error.message, error.durableObjectId === `${stub.id}`];
//// => {"value":["target",true]}

//// case: a method that is not there names none
const error = await ctx.exports.Counter.getByName("err3").nothing().catch((error) => error);
return [error.message, Object.keys(error).sort()];
//// => {"value":["The RPC receiver does not implement the method \"nothing\".",["remote"]]}

//// case: an error of fetch names none
const error = await ctx.exports.Counter.getByName("err4").fetch("http://a.test/fail").catch((error) => error);
return [error.message, Object.keys(error).sort()];
//// => {"value":["fetch",["remote"]]}

//// case: a frozen error stays as it is
const error = await ctx.exports.Counter.getByName("err5").frozen().catch((error) => error);
return [error.message, Object.keys(error).sort()];
//// => {"value":["frozen",["remote"]]}

//// case: an aborted object breaks its stubs for good
const { Counter } = ctx.exports;
const a = Counter.getByName("ab"), b = Counter.getByName("ab"), unused = Counter.getByName("ab");
const out = [await a.add(1), await b.add(1)];
for (const call of [() => a.abort("why"), () => a.add(1), () => b.add(1), () => a.fetch("http://a.test/"), () => unused.add(1), () => Counter.getByName("ab").add(1), () => a.add(1)]) out.push(await settled(call()));
return out;
//// => {"value":[1,2,{"error":{"$":"Error","name":"Error","message":"why","durableObjectReset":true}},{"error":{"$":"Error","name":"Error","message":"why","durableObjectReset":true}},{"error":{"$":"Error","name":"Error","message":"why","durableObjectReset":true}},{"error":{"$":"Error","name":"Error","message":"why","durableObjectReset":true}},{"value":1},{"value":2},{"error":{"$":"Error","name":"Error","message":"why","durableObjectReset":true}}]}

//// case: aborting with nothing, and with an error
return [await settled(ctx.exports.Counter.getByName("ab2").abort()), await settled(ctx.exports.Counter.getByName("ab3").abort(new RangeError("r")))];
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"Application called abort() to reset Durable Object.","durableObjectReset":true}},{"error":{"$":"Error","name":"Error","message":"RangeError: r","durableObjectReset":true}}]}

//// case: calls on their way when it is aborted
const stub = ctx.exports.Counter.getByName("way");
const target = await stub.target();
const hangs = target.hang();
hangs.catch(() => {});
await target.ping();
const aborts = target.abort();
const pings = target.ping();
const out = [];
for (const result of [aborts, pings, hangs]) out.push((await result.catch((error) => error)).message);
out.push((await target.ping().catch((error) => error)).message, (await stub.add(1).catch((error) => error)).message);
return out;
//// => {"value":["aborted by a target","aborted by a target","aborted by a target","The execution context which hosts this callback is no longer running.","aborted by a target"]}

//// case: blockConcurrencyWhile holds events back
const stub = ctx.exports.Counter.getByName("block");
const order = [];
await Promise.all([stub.block(10).then(() => order.push("block")), stub.add(1).then(() => order.push("add"))]);
return order;
//// => {"value":["block","add"]}

//// case: blockConcurrencyWhile that fails ends the object
const { Counter } = ctx.exports;
const stub = Counter.getByName("blockfail");
await stub.add(1);
return [await settled(stub.blockFails("no")), await settled(stub.add(1)), await settled(Counter.getByName("blockfail").add(1))];
//// => {"value":[{"error":{"$":"Error","name":"Error","message":"no","durableObjectReset":true}},{"error":{"$":"Error","name":"Error","message":"no","durableObjectReset":true}},{"value":1}]}

//// case: a class that does not say that it is one
return [await (await ctx.exports.Undeclared.getByName("u").fetch("http://a.test/")).text(), await settled(ctx.exports.Undeclared.getByName("u").method())];
//// => {"value":["undeclared",{"error":{"$":"TypeError","name":"TypeError","message":"The receiving Durable Object does not support RPC, because its class was not declared with `extends DurableObject`. In order to enable RPC, make sure your class extends the special class `DurableObject`, which can be imported from the module \"cloudflare:workers\".","remote":true}}]}

//// case: stubs of objects cross
const got = await env.ECHO.echo(ctx.exports.Counter.getByName("cross"));
return [Object.prototype.toString.call(got), await got.add(4)];
//// => {"value":["[object Fetcher]",4]}

//// case: namespaces and ids do not cross
return [await settled(env.ECHO.echo(ctx.exports.Counter)), await settled(env.ECHO.echo(ctx.exports.Counter.idFromName("x")))];
//// => {"value":[{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"LoopbackDurableObjectNamespace\". This type does not support serialization.","code":25}},{"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"DurableObjectId\". This type does not support serialization.","code":25}}]}

//// case: an object calls itself back while it waits
const stub = ctx.exports.Counter.getByName("again");
return await stub.through(async () => await stub.add(5));
//// => {"value":5}

//// case: what is stored outlives an abort
const { Counter } = ctx.exports;
await Counter.getByName("kept").store("k", { a: 1 });
await Counter.getByName("kept").abort("x").catch(() => {});
return await Counter.getByName("kept").stored("k");
//// differs: In memory, workerd keeps what is stored only as long as the object lives. Here it is as it is with storage that lasts.
//// => {"value":{"a":1}}

//// case: what callers may reach, in order
return [Object.keys(ctx.exports), Object.values(ctx.exports).map((value) => Object.prototype.toString.call(value))];
//// => {"value":[["default","CacheBackend","Echo","Outbound","Shared","Counter","Undeclared"],["[object LoopbackServiceStub]","[object LoopbackServiceStub]","[object LoopbackServiceStub]","[object LoopbackServiceStub]","[object LoopbackServiceStub]","[object LoopbackDurableObjectNamespace]","[object LoopbackDurableObjectNamespace]"]]}
