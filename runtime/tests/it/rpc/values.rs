//! Values and errors on their way.

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
];
