// AbortSignals on their way: before, during and after a call.
//// flags: enable_abortsignal_rpc
//// case: it aborts while a call waits
const controller = new AbortController();
const result = ctx.exports.Shared.waitsFor(controller.signal);
await env.ECHO.echo(1);
controller.abort();
return await result;
//// => {"value":[true,"AbortError"]}

//// case: it has aborted before it is sent
const got = await env.ECHO.echo(AbortSignal.abort("early"));
return [got.aborted, got.reason, got.constructor.name, await ctx.exports.Shared.aborted(AbortSignal.abort("early"))];
//// => {"value":[true,"early","AbortSignal",true]}

//// case: it aborts after the call
const controller = new AbortController();
const got = await env.ECHO.echo(controller.signal);
controller.abort("late");
await scheduler.wait(5);
return [got.aborted, got === controller.signal];
//// => {"value":[false,false]}

//// case: it is looked at before and after
const controller = new AbortController();
const result = ctx.exports.Shared.looksAt(controller.signal, (n) => { if (n === 1) controller.abort("now"); });
return await result;
//// => {"value":[false,true,true]}

//// case: its default reason crosses
const controller = new AbortController();
const result = ctx.exports.Shared.reasonOf(controller.signal);
await env.ECHO.echo(1);
controller.abort();
const reason = await result;
return [reason.constructor.name, reason.name, reason.message, reason.code];
//// => {"value":["DOMException","AbortError","The operation was aborted",20]}

//// case: reasons of many kinds
const out = [];
for (const reason of [1, null, "text", { a: [1] }, new RangeError("r"), new DOMException("d", "TimeoutError"), 5n, new Map([[1, 2]])]) {
  const controller = new AbortController();
  const result = ctx.exports.Shared.reasonOf(controller.signal);
  await env.ECHO.echo(1);
  controller.abort(reason);
  out.push(show(await result));
}
return out;
//// => {"value":[1,null,"text",{"a":[1]},{"$":"RangeError","name":"RangeError","message":"r"},{"$":"DOMException","name":"TimeoutError","message":"d","code":23},{"$":"bigint","value":"5"},{"$":"Map","value":[[1,2]]}]}

//// case: an error as the reason keeps what is its own
const controller = new AbortController();
const result = ctx.exports.Shared.reasonOf(controller.signal);
await env.ECHO.echo(1);
controller.abort(Object.assign(new TypeError("m"), { extra: 1 }));
const reason = await result;
return [reason.name, reason.message, reason.extra, reason.remote];
//// => {"value":["TypeError","m",1,{"$":"undefined"}]}

//// case: throwIfAborted throws the reason
const got = await env.ECHO.echo(AbortSignal.abort(new RangeError("r")));
try {
  got.throwIfAborted();
} catch (error) {
  return [error.name, error.message, error.remote];
}
//// => {"value":["RangeError","r",{"$":"undefined"}]}

//// case: aborting twice
const controller = new AbortController();
const result = ctx.exports.Shared.reasonOf(controller.signal);
await env.ECHO.echo(1);
controller.abort(1);
controller.abort(2);
return await result;
//// => {"value":1}

//// case: a time-out
const reason = await ctx.exports.Shared.reasonOf(AbortSignal.timeout(5));
return [reason.name, reason.message];
//// => {"value":["TimeoutError","The operation was aborted due to timeout"]}

//// case: one of any
const controller = new AbortController();
const result = ctx.exports.Shared.reasonOf(AbortSignal.any([controller.signal, new AbortController().signal]));
await env.ECHO.echo(1);
controller.abort("one");
return await result;
//// => {"value":"one"}

//// case: any of what came
const controller = new AbortController();
const result = ctx.exports.Shared.reasonOfAny(controller.signal);
await env.ECHO.echo(1);
controller.abort("any");
return await result;
//// => {"value":"any"}

//// case: one signal in two places
const controller = new AbortController();
const [a, b] = await env.ECHO.echo([controller.signal, controller.signal]);
return a === b;
//// => {"value":true}

//// case: it goes with a fetch
const controller = new AbortController();
controller.abort("no");
return await settled(env.SELF.fetch("http://a.test/", { signal: controller.signal }));
//// => {"value":{"error":"no"}}

//// case: its controller is gone
const got = await env.ECHO.call(() => new AbortController().signal);
await env.ECHO.echo(1);
return got.aborted;
//// => {"value":false}

//// case: who does not listen is hung
const controller = new AbortController();
return await settled(ctx.exports.Shared.ignores(controller.signal));
//// => {"value":{"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"}}}

//// case: structuredClone of it
return structuredClone(new AbortController().signal);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal can only be serialized for RPC.","code":25}}

//// case: an AbortController
return await env.ECHO.echo(new AbortController());
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"AbortController\". This type does not support serialization.","code":25}}

//// case: it is no prop
return ctx.exports.Echo({ props: { signal: new AbortController().signal } });
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"AbortSignal can only be serialized for RPC.","code":25}}
