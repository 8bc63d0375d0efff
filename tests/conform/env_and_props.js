// What a loaded Worker is given: env, props, and what it may not be given.
//// case: env is empty when none is given
return await methods(env, 'm() { return this.env; }').m();
//// => {"value":{}}

//// case: values in env
return await methods(env, 'm() { return this.env; }', { env: { a: 1, b: [true, null], c: new Map([[1, 2]]) } }).m();
//// => {"value":{"a":1,"b":[true,null],"c":{"$":"Map","value":[[1,2]]}}}

//// case: env by import
return await env.LOADER.load(worker("import { env } from 'cloudflare:workers'; export default { async m() { return env.a; } }", { env: { a: 5 } })).getEntrypoint().m(undefined);
//// => {"value":5}

//// case: env of a plain handler
return await env.LOADER.load(worker('export default { async m(x, env) { return env.a; } }', { env: { a: 5 } })).getEntrypoint().m(1);
//// => {"value":5}

//// case: a service in env
return await methods(env, 'async m() { return await this.env.S.echo(5); }', { env: { S: env.ECHO } }).m();
//// => {"value":5}

//// case: a loopback entrypoint in env
return await methods(env, 'async m() { return await this.env.S.props(); }', { env: { S: ctx.exports.Echo({ props: { p: 1 } }) } }).m();
//// => {"value":{"p":1}}

//// case: a function in env
return await methods(env, 'async m() { return await this.env.f(5); }', { env: { f: (x) => x } }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"(x) => x could not be cloned.","code":25}}

//// case: a target in env
return await methods(env, 'async m() { return await this.env.t.f(); }', { env: { t: new (class extends RpcTarget { f() { return 1; } })() } }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Remote RPC references can only be serialized for RPC.","code":25}}

//// case: a symbol in env
return await methods(env, 'm() { return 1; }', { env: { s: Symbol('s') } }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Symbol(s) could not be cloned.","code":25}}

//// case: env that is a string
return await methods(env, 'm() { return 1; }', { env: 'text' }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}}

//// case: env that is null
return await methods(env, 'm() { return this.env; }', { env: null }).m();
//// => {"error":{"$":"TypeError","name":"TypeError","message":"Incorrect type for the 'env' field on 'WorkerCode': the provided value is not of type 'Object'."}}

//// case: env is not shared between loads
const code = worker('export default { async m(x, env) { return (env.n = (env.n ?? 0) + 1); } }', { env: {} });
return [await env.LOADER.load(code).getEntrypoint().m(0), await env.LOADER.load(code).getEntrypoint().m(0)];
//// => {"value":[1,1]}

//// case: changing env afterwards changes nothing
const e = { a: 1 };
const stub = env.LOADER.load(worker('export default { async m(x, env) { return env.a; } }', { env: e }));
e.a = 2;
return await stub.getEntrypoint().m(0);
//// => {"value":1}

//// case: changing modules afterwards changes nothing
const code = worker('export default { async m() { return 1; } }');
const stub = env.LOADER.load(code);
code.modules['main.js'] = 'export default { async m() { return 2; } }';
return await stub.getEntrypoint().m(undefined);
//// => {"value":1}

//// case: props are empty when none are given
return await methods(env, 'm() { return this.ctx.props; }').m();
//// => {"value":{}}

//// case: props of an entrypoint
return await env.LOADER.load(worker("import { WorkerEntrypoint as W } from 'cloudflare:workers'; export default class extends W { m() { return this.ctx.props; } }")).getEntrypoint(null, { props: { a: [1] } }).m();
//// => {"value":{"a":[1]}}

//// case: props of two entrypoints of one Worker
const w = env.LOADER.load(worker("import { WorkerEntrypoint as W } from 'cloudflare:workers'; export default class extends W { m() { return this.ctx.props.n; } }"));
return [await w.getEntrypoint(null, { props: { n: 1 } }).m(), await w.getEntrypoint(null, { props: { n: 2 } }).m()];
//// => {"value":[1,2]}

//// case: props from the config
return await env.ECHO.props();
//// => {"value":{"from":"config"}}

//// case: props with a service inside
return await env.LOADER.load(worker("import { WorkerEntrypoint as W } from 'cloudflare:workers'; export default class extends W { async m() { return await this.ctx.props.s.echo(3); } }")).getEntrypoint(null, { props: { s: env.ECHO } }).m();
//// => {"value":3}

//// case: a loopback entrypoint with props
return await ctx.exports.Echo({ props: { here: true } }).props();
//// => {"value":{"here":true}}

//// case: a loaded entrypoint cannot be passed on
return await env.ECHO.echo(methods(env, 'm() {}'));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Entrypoints to dynamically-loaded workers cannot be transferred to other Workers, because the system does not know how to reload this Worker from scratch. Instead, have the parent Worker expose an entrypoint which constructs the dynamic worker and forwards to it.","code":25}}

//// case: a loaded Worker cannot be passed on
return await env.ECHO.echo(env.LOADER.load(worker('export default {}')));
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerStub\". This type does not support serialization.","code":25}}

//// case: the loader cannot be passed on
return await env.ECHO.echo(env.LOADER);
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}}

//// case: a loaded Worker can load if it is given a loader
return await methods(env, 'm() { return typeof this.env.L; }', { env: { L: env.LOADER } }).m();
//// => {"error":{"$":"DOMException","name":"DataCloneError","message":"Could not serialize object of type \"WorkerLoader\". This type does not support serialization.","code":25}}

//// case: text and json bindings
return [env.TEXT, env.JSON];
//// => {"value":["a text",{"n":1}]}

//// case: ctx.exports of a loaded Worker
return await env.LOADER.load(worker("import { WorkerEntrypoint as W } from 'cloudflare:workers'; export class A extends W { x() { return 'a'; } } export default class extends W { async m() { return await this.ctx.exports.A.x(); } }")).getEntrypoint().m();
//// => {"value":"a"}
