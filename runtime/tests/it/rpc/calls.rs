//! What can be called, stubs, and calls of what is not there yet.

pub(super) const CASES: &[(&str, &str, &str)] = &[
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
    (
        "a long chain of calls on the result of one that fails",
        "let fail; let p = service.call(() => new Promise((_, reject) => { fail = reject; })); const all = [p];
         for (let n = 0; n < 5000; n++) all.push(p = p.x());
         await service.echo(1); fail(new Error('no'));
         return new Set((await Promise.allSettled(all)).map(({ reason }) => String(reason))).size",
        "1",
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
];
