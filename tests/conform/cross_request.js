// What one request of a Worker has to do with another.
//// case: a promise that all requests share
let made = 0;
const parts = await Promise.all([1, 2, 3].map((n) => ctx.exports.Shared.first(n)));
return parts;
//// => {"value":[[1,"made once",1],[2,"made once",2],[3,"made once",3]]}

//// case: a promise that a request leaves behind
await ctx.exports.Shared.leaves(20);
return await ctx.exports.Shared.awaits();
//// => {"value":"left behind"}

//// case: what follows is the waiter's own
await ctx.exports.Shared.leaves(20);
return await Promise.all([ctx.exports.Shared.goesOn(1), ctx.exports.Shared.goesOn(2)]);
//// => {"value":[[1,"own",1,"parent http://a.test/"],[2,"own",2,"parent http://a.test/"]]}

//// case: a stub of one request in another
await ctx.exports.Shared.keepsStub();
return await settled(ctx.exports.Shared.usesStub());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"Cannot perform I/O on behalf of a different request. I/O objects (such as streams, request/response bodies, and others) created in the context of one request handler cannot be accessed from a different request's handler. This is a limitation of Cloudflare Workers which allows us to improve overall performance. (I/O type: Client)","remote":true}}}

//// case: a request that never answers
return await settled(ctx.exports.Shared.hangs());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"}}}

//// case: a request that never answers, behind another
return await settled(ctx.exports.Shared.hangsBehind());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/","remote":true}}}

//// case: a promise that was never asked for
return await settled(ctx.exports.Shared.awaitsNothing());
//// => {"value":{"error":{"$":"Error","name":"Error","message":"The Workers runtime canceled this request because it detected that your Worker's code had hung and would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/"}}}
