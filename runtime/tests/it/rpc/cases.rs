//! What a program sees of JS RPC, each line as the platform has it. A case is the body of an asynchronous function
//! with `service` (a stub of `Service` in service.js) and `ctx`, and the JSON text of its result, or its error.

pub(super) const CASES: &[(&str, &str, &str)] = &[
    // Values.
    ("numbers", "return service.echo([1, -0, 1.5, 1e300])", "[1,0,1.5,1e+300]"),
    ("undefined", "return [await service.echo(undefined), await service.echo()]", "[null,null]"),
    ("map", "return [...await service.echo(new Map([['a', 1]]))]", r#"[["a",1]]"#),
    ("set", "return [...await service.echo(new Set([1, 2]))]", "[1,2]"),
    ("date", "return service.echo(new Date(5))", "\"1970-01-01T00:00:00.005Z\""),
    ("bytes", "return [...await service.echo(new Uint8Array([1, 2]))]", "[1,2]"),
    ("bigint", "return String(await service.echo(-5n))", "\"-5\""),
    ("regexp", "return String(await service.echo(/a/g))", "\"/a/g\""),
    ("lone surrogate", "return await service.echo('\\ud800') === '\\ud800'", "true"),
    ("cycle", "const a = {}; a.a = a; const b = await service.echo(a); return b.a === b", "true"),
    ("proto", "return Object.hasOwn(await service.echo(JSON.parse('{\"__proto__\": 1}')), '__proto__')", "true"),
    ("getter", "return service.echo({ get a() { return 1 } })", "{\"a\":1}"),
    (
        "class instance",
        "class A {}; return service.echo(new A())",
        "DataCloneError: Could not serialize object of type \"A\". This type does not support serialization.",
    ),
    (
        "class instance in a result",
        "return service.notATarget()",
        "DataCloneError: Could not serialize object of type \"NotATarget\". This type does not support serialization. \
         (remote)",
    ),
    (
        "null prototype",
        "return service.echo(Object.create(null))",
        "DataCloneError: Could not serialize object of type \"Object\". This type does not support serialization.",
    ),
    ("symbol", "return service.echo(Symbol('x'))", "DataCloneError: Symbol(x) could not be cloned."),
    (
        "symbol beside a function",
        "return service.echo([() => 1, Symbol('x')])",
        "DataCloneError: Symbol(x) could not be cloned.",
    ),
    ("throwing getter", "return service.echo({ get a() { throw new Error('g') } })", "Error: g"),
    (
        "too large an argument",
        "return service.echo('x'.repeat(33 << 20))",
        "Error: Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: \
         34603020 bytes.",
    ),
    (
        "too large a result",
        "return service.big(33 << 20)",
        "Error: Serialized RPC arguments or return values are limited to 32MiB, but the size of this value was: \
         34603015 bytes. (remote)",
    ),
    (
        "an error as a value",
        "const e = await service.echo(new CustomError('m')); return [e.name, e.message, e.extra, e.stack, e instanceof Error, e.remote]",
        r#"["CustomError","m",{"a":1},"CustomError: m",true,null]"#,
    ),
    (
        "a DOMException as a value",
        "const e = await service.echo(new DOMException('m', 'AbortError')); return [e instanceof DOMException, e.code]",
        "[true,20]",
    ),
    // Errors thrown.
    ("TypeError", "return service.throws('type')", "TypeError: t (remote)"),
    (
        "own properties",
        "return service.throws('custom').catch((e) => [e.name, e.extra, e.constructor.name, e.remote])",
        r#"["CustomError",{"a":1},"Error",true]"#,
    ),
    ("thrown string", "return service.throws('string')", "Error: text (remote)"),
    ("thrown object", "return service.throws('object').catch((e) => e)", r#"{"a":1,"remote":true}"#),
    ("thrown undefined", "return service.throws('undefined')", "Error: undefined (remote)"),
    (
        "thrown DOMException",
        "return service.throws('dom').catch((e) => [e instanceof DOMException, e.name])",
        r#"[true,"AbortError"]"#,
    ),
    ("cause", "return service.throws('cause').catch((e) => e.cause.message)", "\"inner\""),
    ("stack is local", "return service.throws('type').catch((e) => e.stack.includes('Service.throws'))", "false"),
    ("error of a callback", "return service.call(() => { throw new RangeError('cb') })", "RangeError: cb (remote)"),
    // What can be called.
    (
        "missing method",
        "return service.nope()",
        "TypeError: The RPC receiver does not implement the method \"nope\". (remote)",
    ),
    (
        "instance field",
        "return service.instanceField",
        "TypeError: The RPC receiver does not implement the method \"instanceField\". (remote)",
    ),
    ("env", "return service.env", "TypeError: The RPC receiver does not implement the method \"env\". (remote)"),
    ("not a function", "return service.property()", "TypeError: \"property\" is not a function. (remote)"),
    ("property", "return service.property.list", "[1,2]"),
    ("deep function", "return service.property.deep.add(2, 3)", "5"),
    (
        "reserved",
        "return service.alarm()",
        "TypeError: 'alarm' is a reserved method and cannot be called over RPC. (remote)",
    ),
    (
        "own property of a target",
        "return service.counter().secret",
        "TypeError: The RPC receiver does not implement the method \"secret\". (remote)",
    ),
    ("stub as function", "return (await service.counter())()", "TypeError: \"(this)\" is not a function. (remote)"),
    (
        "too deep",
        "let p = service; for (let i = 0; i < 100; i++) p = p.x; return p",
        "TypeError: RPC pipelined property path is too deep (max 64).",
    ),
    ("handler", "return ctx.exports.handler.one(5)", r#"[5,"object","ExecutionContext"]"#),
    (
        "handler with two arguments",
        "return ctx.exports.handler.one(5, 6)",
        "TypeError: Attempted to call RPC function \"one\" with the wrong number of arguments. When calling a \
         top-level handler function that is not declared as part of a class, you must always send exactly one \
         argument. In order to support variable numbers of arguments, the server must use class-based syntax \
         (extending WorkerEntrypoint) instead. (remote)",
    ),
    (
        "handler function of four parameters",
        "return ctx.exports.handler.two(5)",
        "TypeError: Cannot call handler function \"two\" over RPC because it has the wrong number of arguments. A \
         simple function handler can only be called over RPC if it has exactly the arguments (arg, env, ctx), where \
         only the first argument comes from the client. To support multi-argument RPC functions, use class-based \
         syntax (extending WorkerEntrypoint) instead. (remote)",
    ),
    // Stubs.
    ("target", "const c = await service.counter(5); return [await c.increment(), await c.increment(2)]", "[6,8]"),
    (
        "order",
        "const c = await service.counter(0); return Promise.all([c.increment(), c.increment(), c.increment()])",
        "[1,2,3]",
    ),
    (
        "object of stubs",
        "const o = await service.object(1); return [o.label, await o.counter.increment(), await o.add(1, 2)]",
        r#"["object",2,3]"#,
    ),
    ("function", "return service.call((a, b) => a * b, 3, 4)", "12"),
    ("function's own property", "const f = () => 1; f.own = 'p'; return service.call((f) => f.own, f)", "\"p\""),
    ("async callback", "return service.call(async (x) => { await null; return x + 1 }, 1)", "2"),
    (
        "target as argument",
        "const c = new Counter(1); await service.call((c) => c.increment(4), c); return c.increment(0)",
        "5",
    ),
    ("proxy of a plain object", "const s = await service.echo(new Proxy({ f: () => 7 }, {})); return s.f()", "7"),
    (
        "proxy of an array",
        "return service.echo(new Proxy([], {}))",
        "DataCloneError: Proxy could not be serialized because it is not a valid RPC receiver type. The Proxy must \
         emulate either a plain object or an RpcTarget, as indicated by the Proxy's prototype chain.",
    ),
    ("new RpcStub", "const s = new RpcStub({ add: (a, b) => a + b }); return s.add(1, 2)", "3"),
    (
        "new RpcStub of a number",
        "new RpcStub(5)",
        "TypeError: Failed to construct 'JsRpcStub': constructor parameter 1 is not of type 'Object'.",
    ),
    (
        "new RpcStub of a Map",
        "new RpcStub(new Map())",
        "TypeError: RpcStubs can only wrap plain objects, functions, and RpcTarget derivatives.",
    ),
    (
        "classes",
        "const s = await service.counter(); return [s instanceof RpcStub, s.x instanceof RpcProperty, s.increment() instanceof RpcPromise, typeof s, Object.keys(s).length, 'x' in s, s.then === undefined, String(s)]",
        r#"[true,true,true,"function",0,true,true,"[object JsRpcStub]"]"#,
    ),
    (
        "promise in a value",
        "return service.echo([service.echo(1)])",
        "DataCloneError: Could not serialize object of type \"RpcPromise\". This type does not support serialization.",
    ),
    (
        "loopback in a value",
        "return service.echo(service)",
        "DataCloneError: Could not serialize object of type \"LoopbackServiceStub\". This type does not support serialization.",
    ),
    (
        "service stub in a value",
        "const s = await service.echo(service({ props: { a: 1 } })); return [s instanceof ServiceStub, await s.props()]",
        r#"[true,{"a":1}]"#,
    ),
    (
        "props that are no object",
        "return service({ props: 5 }).props()",
        "TypeError: Incorrect type for the 'props' field on 'Options': the provided value is not of type 'Object'.",
    ),
    (
        "function in props",
        "return service({ props: { f() {} } }).props()",
        "DataCloneError: f() {} could not be cloned.",
    ),
    (
        "target in props",
        "return service({ props: { t: new Counter() } }).props()",
        "DataCloneError: Remote RPC references can only be serialized for RPC.",
    ),
    // Pipelining.
    ("pipelined call", "return service.counter(12).increment(3)", "15"),
    ("pipelined property", "return service.object(5).label", "\"object\""),
    ("pipelined into an object", "return service.object(5).counter.increment(7)", "12"),
    ("pipelined getter", "return service.counter(4).value.twice()", "8"),
    (
        "pipelined on a number",
        "return service.echo(5).foo()",
        "TypeError: The RPC receiver does not implement the method \"foo\". (remote)",
    ),
    ("pipelined on a failure", "return service.throws('type').a.b()", "TypeError: t (remote)"),
    (
        "pipelined order",
        "const c = service.counter(0); return Promise.all([c.increment(), c.increment(), c.increment()])",
        "[1,2,3]",
    ),
    (
        "used after it resolved",
        "const p = service.object(1); await p; return [await p.label, await p.add(1, 1)]",
        r#"["object",2]"#,
    ),
    (
        "number used after it resolved",
        "const p = service.echo(5); await p; return p.x()",
        "TypeError: Can't pipeline on RPC that did not return an object.",
    ),
    // Disposal.
    (
        "disposed stub",
        "const s = await service.counter(); s[Symbol.dispose](); return s.increment()",
        "Error: RPC stub used after being disposed.",
    ),
    (
        "dup outlives",
        "const s = await service.counter(1); const d = s.dup(); s[Symbol.dispose](); return d.increment()",
        "2",
    ),
    (
        "disposed result",
        "const o = await service.object(1); o[Symbol.dispose](); return o.counter.increment()",
        "Error: RPC stub used after being disposed.",
    ),
    (
        "disposed promise",
        "const p = service.object(1); await p; p[Symbol.dispose](); return p.add(1, 2)",
        "Error: RPC promise used after being disposed.",
    ),
    (
        "result's disposer",
        "using r = await service.withDisposer(); const before = await service.released(); r[Symbol.dispose](); return [r.value, before, await service.released()]",
        r#"[1,false,true]"#,
    ),
    (
        "arguments last for the call",
        "await service.keep(() => 1); return service.call(async () => { try { return await kept.original() } catch (e) { return e.message } })",
        "\"RPC stub used after being disposed.\"",
    ),
    (
        "target's disposer",
        "const c = new Counter(); await service.call((c) => c.increment(), c); return c.disposed.promise",
        "\"disposed\"",
    ),
    (
        "stub argument stays the caller's",
        "const s = await service.counter(1); await service.forward(s); return s.increment()",
        "2",
    ),
    // Fetches, and objects of the API in values.
    (
        "fetch",
        "const r = await service.fetch('http://host/path?q', { method: 'POST', headers: { a: 'b' }, body: 'hello' }); \
         return [r.status, r.statusText, r.headers.get('x-method'), await r.text(), r instanceof Response, r.url]",
        r#"[201,"Created","POST","http://host/path?q b hello",true,"http://host/path?q"]"#,
    ),
    (
        "fetch streams both ways",
        "const { readable, writable } = new TransformStream(); const w = writable.getWriter(); \
         const r = service.fetch('http://host/stream', { method: 'PUT', body: readable }); \
         const e = new TextEncoder(); w.write(e.encode('ab')); w.write(e.encode('cd')); w.close(); \
         return (await r).text()",
        "\"<abcd>\"",
    ),
    ("fetch of a handler", "return (await ctx.exports.handler.fetch('http://a/')).text()", "\"handler\""),
    (
        "fetch without a handler",
        "return ctx.exports.noFetch.fetch('http://a/')",
        "Error: Handler does not export a fetch() function. (remote)",
    ),
    (
        "fetch that gives no response",
        "return service.fetch('http://host/bad')",
        "TypeError: Incorrect type for Promise: the Promise did not resolve to 'Response'. (remote)",
    ),
    ("fetch that throws", "return service.fetch('http://host/throw')", "RangeError: no (remote)"),
    (
        "aborted fetch",
        "return service.fetch('http://a/', { signal: AbortSignal.abort() })",
        "AbortError: The operation was aborted",
    ),
    (
        "headers",
        "const h = await service.echo(new Headers([['a', '1'], ['set-cookie', 'x'], ['set-cookie', 'y']])); \
         return [h instanceof Headers, [...h]]",
        r#"[true,[["a","1"],["set-cookie","x"],["set-cookie","y"]]]"#,
    ),
    (
        "request",
        "const r = await service.echo(new Request('http://a/', { method: 'PUT', body: 'x', redirect: 'manual', cf: { c: 1 } })); \
         return [r.url, r.method, r.redirect, r.cf, await r.text()]",
        r#"["http://a/","PUT","manual",{"c":1},"x"]"#,
    ),
    (
        "response",
        "const r = await service.echo(new Response('body', { status: 404, headers: { a: 'b' } })); \
         return [r.status, r.headers.get('a'), await r.text()]",
        r#"[404,"b","body"]"#,
    ),
    (
        "blob",
        "const b = await service.echo({ b: new Blob(['x'], { type: 'text/a' }) }); return [b.b.type, await b.b.text()]",
        r#"["text/a","x"]"#,
    ),
    (
        "readable stream",
        "const s = await service.echo(new Blob(['a'.repeat(200000)]).stream()); return (await new Response(s).text()).length",
        "200000",
    ),
    (
        "writable stream",
        "const { readable, writable } = new IdentityTransformStream(); const done = service.writeTo(writable); \
         const text = await new Response(readable).text(); await done; return text",
        "\"foo, bar\"",
    ),
    (
        "stream that breaks off",
        "const { readable, writable } = new IdentityTransformStream(); const read = service.readFrom(readable); \
         const w = writable.getWriter(); await w.write(new Uint8Array([1])); w.abort('why').catch(() => {}); return read",
        "Error: ReadableStream received over RPC disconnected prematurely. (remote)",
    ),
    (
        "stream that is aborted",
        "let reason; const w = new WritableStream({ abort(r) { reason = r } }); await service.abortTo(w); \
         return reason.message",
        "\"WritableStream received over RPC was disconnected because the remote execution context has ended.\"",
    ),
    (
        "locked stream",
        "const s = new Blob(['a']).stream(); s.getReader(); return service.echo(s)",
        "TypeError: The ReadableStream has been locked to a reader.",
    ),
    (
        "stream in props",
        "return service({ props: { s: new Blob(['a']).stream() } }).props()",
        "DataCloneError: ReadableStream can only be serialized for RPC.",
    ),
    (
        "URL",
        "return service.echo(new URL('http://a/'))",
        "DataCloneError: Could not serialize object of type \"URL\". This type does not support serialization.",
    ),
    (
        "abort signal",
        "return service.echo(AbortSignal.abort())",
        "DataCloneError: AbortSignal serialization is not enabled.",
    ),
    ("method by name", "return service.getRpcMethodForTestOnly('echo')(5)", "5"),
    (
        "method that every object has",
        "return service.getRpcMethodForTestOnly('toString')()",
        "TypeError: The RPC receiver does not implement the method \"toString\". (remote)",
    ),
    (
        "argument with dup()",
        "class D extends Counter { dup() { return new Counter(10) } }; return service.call((c) => c.increment(), new D())",
        "11",
    ),
    // The rest.
    (
        "hang",
        "return service.hang()",
        "Error: The Workers runtime canceled this request because it detected that your Worker's code had hung and \
         would never generate a response. Refer to: https://developers.cloudflare.com/workers/observability/errors/",
    ),
    ("withEnv", "return withEnv({ a: 1 }, async () => { await null; return env.a })", "1"),
    ("imported waitUntil", "return waitUntil(Promise.resolve(1))", "undefined"),
    // What is let go of, and what goes on by itself.
    (
        "disposing of a stub that came back reaches its target",
        "const c = new Counter(); const s = await service.echo(c); s[Symbol.dispose](); return c.disposed.promise",
        "\"disposed\"",
    ),
    (
        "disposing of a stub of one's own reaches its target",
        "const c = new Counter(); new RpcStub(c)[Symbol.dispose](); return c.disposed.promise",
        "\"disposed\"",
    ),
    (
        "an invocation is not hung while what may wake it is in the inbox",
        "const p = service.waits().catch((e) => e.message.slice(0, 30)); await service.wakes(); return p",
        "\"woken\"",
    ),
    (
        "a promise that another invocation would resolve later is hung",
        "const p = service.waits().catch((e) => e.message.slice(0, 30)); await service.echo(1); await service.wakes(); \
         return p",
        "\"The Workers runtime canceled t\"",
    ),
    (
        "a received stream takes what nobody has read yet",
        "const { readable, writable } = await service.echoPair(); const w = writable.getWriter(); \
         await w.write(new TextEncoder().encode('there ')); await w.write(new TextEncoder().encode('and back')); \
         await w.close(); return new Response(readable).text()",
        "\"there and back\"",
    ),
    (
        "streams do not go through a program's replacements",
        "const seen = []; const trap = (of, name) => { const own = of[name]; of[name] = function (...args) { \
         seen.push(name); return own.apply(this, args); }; return () => { of[name] = own; }; }; \
         const { readable, writable } = new IdentityTransformStream(); const writing = service.writeTo(writable); \
         const W = WritableStreamDefaultWriter.prototype; const undo = [trap(WritableStream.prototype, 'getWriter'), \
         trap(W, 'write'), trap(W, 'close'), trap(ReadableStream.prototype, 'getReader')]; \
         const made = new ReadableStream({ start(c) { c.enqueue(new Uint8Array([65])); c.close(); } }); \
         const all = [await new Response(readable).text(), await service.readFrom(made)]; await writing; \
         for (const f of undo) f(); return [...all, seen.length]",
        r#"["foo, bar","A",4]"#,
    ),
    // Redirects are followed on the side that fetches.
    (
        "a redirect is followed",
        "const r = await service.fetch('http://a.test/redirect?301&http://a.test/x', { headers: { a: '1' } }); \
         return [await r.text(), r.url, r.redirected]",
        r#"["http://a.test/x 1 ","http://a.test/x",true]"#,
    ),
    (
        "a redirect of a POST that keeps it",
        "return (await service.fetch('http://a.test/redirect?307&/x', { method: 'POST', body: 'b' })).text()",
        "\"http://a.test/x null b\"",
    ),
    (
        "a redirect of a POST that makes it a GET",
        "return (await service.fetch('http://a.test/redirect?303&/x', { method: 'POST', body: 'b' })).text()",
        "\"http://a.test/x null \"",
    ),
    (
        "a redirect elsewhere loses the authorization",
        "const get = (to) => service.fetch('http://a.test/redirect?302&' + to, { headers: { authorization: 's' } }); \
         return Promise.all(['/authorization', 'http://b.test/authorization'].map(async (to) => (await get(to)).text()))",
        r#"["s","null"]"#,
    ),
    (
        "a redirect that is not followed",
        "const r = await service.fetch('http://a.test/redirect?302&/x', { redirect: 'manual' }); \
         return [r.status, r.headers.get('location'), r.redirected]",
        r#"[302,"/x",false]"#,
    ),
    (
        "redirects in a circle",
        "try { await service.fetch('http://a.test/circle') } catch (e) { return e.message.replace(/(, )?http:..a.test.circle/g, '.') }",
        r#""Too many redirects......................""#,
    ),
    (
        "a redirect of a stream",
        "const { readable, writable } = new IdentityTransformStream(); writable.close(); \
         return service.fetch('http://a.test/redirect?307&/x', { method: 'POST', body: readable })",
        "TypeError: A request with a one-time-use body (it was initialized from a stream, not a buffer) encountered a \
         redirect requiring the body to be retransmitted. To avoid this error in the future, construct this request \
         from a buffer-like body initializer.",
    ),
    (
        "a signal of a value is refused",
        "return service.echo(new AbortController().signal)",
        "DataCloneError: AbortSignal serialization is not enabled.",
    ),
    // Of the global scope.
    (
        "an error of a microtask is an event",
        "const told = new Promise((done) => addEventListener('error', (e) => { done(e.message); return true; }, \
         { once: true })); queueMicrotask(() => { throw new Error('m'); }); return told",
        "\"Uncaught Error: m\"",
    ),
    (
        "a late handler is told of",
        "const told = new Promise((done) => addEventListener('rejectionhandled', () => done('late'), { once: true })); \
         addEventListener('unhandledrejection', (e) => { e.promise.catch(() => {}); return true; }, { once: true }); \
         Promise.reject('r'); return told",
        "\"late\"",
    ),
    (
        "timers are bounded",
        "for (let i = 0; i < 10_000; i++) setTimeout(() => {}, 1e6); setTimeout(() => {})",
        "QuotaExceededError: You have exceeded the number of active timeouts you may set. max active timeouts: 10000, \
         current active timeouts: 10000, finished timeouts: 0",
    ),
    (
        "a URL with a user and no password",
        "const u = new URL('ws://user@a.test'); u.username = ''; return [u.href, u.password]",
        r#"["ws://a.test/",""]"#,
    ),
    (
        "the platform's classes are marked",
        "const mark = Symbol.for('cloudflare:internal-class'); return Headers.prototype[mark] === mark",
        "true",
    ),
    // Ending an invocation from inside.
    ("ctx.abort with an error", "return service.abort(new RangeError('r'))", "RangeError: r"),
    ("ctx.abort with text", "return service.abort('why')", "Error: why"),
    (
        "ctx.abort without a reason",
        "return service.abort()",
        "Error: Worker execution was aborted due to call to ctx.abort().",
    ),
    (
        "ctx.abort cannot be caught",
        "await service.abort(1, 0).catch(() => {}); return service.afterAbort()",
        "[\"before\"]",
    ),
    ("ctx.abort in a later turn", "return service.abort(new TypeError('t'), 1)", "TypeError: t"),
    (
        "ctx.abort breaks what was handed out",
        "const f = await service.abortLater(); await f().catch(() => {}); return f()",
        "Error: The execution context which hosts this callback is no longer running.",
    ),
    ("ctx.access", "return ['access' in ctx, ctx.access]", "[true,null]"),
    (
        "a cloned error keeps what is its own",
        "const e = structuredClone(Object.assign(new TypeError('m'), { extra: 1 })); \
         return [e.name, e.message, e.extra, e.stack]",
        r#"["TypeError","m",1,"TypeError: m"]"#,
    ),
    ("exports", "return Object.keys(ctx.exports).sort()", r#"["Service","default","handler","noFetch"]"#),
];

/// Signals, with `enable_abortsignal_rpc` and `enable_request_signal`.
pub(super) const CASES_OF_SIGNALS: &[(&str, &str, &str)] = &[
    (
        "it aborts over there",
        "const c = new AbortController(); const p = service.aborted(c.signal); await service.echo(1); c.abort('why'); \
         return p",
        "\"why\"",
    ),
    (
        "its default reason",
        "const c = new AbortController(); const p = service.aborted(c.signal).then((e) => [e.name, e.message]); \
         await service.echo(1); c.abort(); return p",
        r#"["AbortError","The operation was aborted"]"#,
    ),
    ("it has aborted", "const s = await service.echo(AbortSignal.abort(1)); return [s.aborted, s.reason]", "[true,1]"),
    ("it comes back", "return (await service.echo(new AbortController().signal)).constructor.name", "\"AbortSignal\""),
    (
        "it goes on from there",
        "const c = new AbortController(); const p = service.abortedBeyond(c.signal); await service.echo(1); \
         c.abort('far'); return p",
        "\"far\"",
    ),
    (
        "its sender goes without aborting it",
        "const s = await service.signal(); await service.echo(1); return [s.aborted, s.reason]",
        "[false,null]",
    ),
    (
        "who does not listen to it is hung",
        "return service.ignores(new AbortController().signal).catch((e) => e.message.slice(0, 20))",
        "\"The Workers runtime \"",
    ),
    (
        "a reason that does not cross",
        "const c = new AbortController(); await service.echo(c.signal); c.abort(() => 1)",
        "DataCloneError: () => 1 could not be cloned.",
    ),
    (
        "it belongs to the invocation that sent it",
        "await service.sendsSignal(); return service.abortsSent().catch((e) => e.message.slice(0, 51))",
        "\"Cannot perform I/O on behalf of a different request\"",
    ),
    (
        "it goes with a request",
        "const c = new AbortController(); \
         const p = service.abortedRequest(new Request('http://a.test', { signal: c.signal })); \
         await service.echo(1); c.abort('with'); return p",
        "\"with\"",
    ),
    (
        "clones of it are refused",
        "return structuredClone(new AbortController().signal)",
        "DataCloneError: AbortSignal can only be serialized for RPC.",
    ),
    (
        "a fetch that is aborted tells the other side",
        "const c = new AbortController(); const p = service.fetch('http://a.test/waits', { signal: c.signal }); \
         await service.echo(1); c.abort('enough'); const e = await p.catch((e) => e); return [e, await service.client()]",
        r#"["enough","The client has disconnected"]"#,
    ),
    (
        "a response that is not read to its end tells the other side",
        "const r = await service.fetch('http://a.test/endless'); const reader = r.body.getReader(); \
         await reader.read(); await reader.cancel(); return service.client()",
        "\"The client has disconnected\"",
    ),
    (
        "an abort breaks off the response",
        "const c = new AbortController(); const r = await service.fetch('http://a.test/endless', { signal: c.signal }); \
         c.abort(new RangeError('r')); return r.text()",
        "RangeError: r",
    ),
];

/// The same with the compatibility date 2025-05-01: errors cross without what is their own, and stubs given as
/// arguments are given away.
pub(super) const CASES_OF_2025: &[(&str, &str, &str)] = &[
    ("TypeError", "return service.throws('type')", "TypeError: t (remote)"),
    (
        "named error",
        "return service.throws('custom').catch((e) => [e.name, e.message, e.extra, e.remote])",
        r#"["Error","CustomError: c",null,true]"#,
    ),
    ("thrown object", "return service.throws('object')", "Error: #<Object> (remote)"),
    ("thrown string", "return service.throws('string')", "Error: text (remote)"),
    (
        "thrown DOMException",
        "return service.throws('dom').catch((e) => [e instanceof DOMException, e.name])",
        r#"[true,"AbortError"]"#,
    ),
    (
        "cause",
        "return service.throws('cause').catch((e) => [e.name, e.message, e.cause])",
        r#"["RangeError","r",null]"#,
    ),
    (
        "an error as a value",
        "const e = await service.echo(new CustomError('m')); return [e.name, e.message, e.extra]",
        r#"["Error","m",null]"#,
    ),
    (
        "stub argument is given away",
        "const s = await service.counter(1); await service.forward(s); return s.increment()",
        "Error: RPC stub used after being disposed.",
    ),
    (
        "dup of a stub argument",
        "const s = await service.counter(1); await service.forward(s.dup()); return s.increment()",
        "2",
    ),
];
