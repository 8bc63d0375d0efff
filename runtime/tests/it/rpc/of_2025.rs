//! The same with the compatibility date 2025-05-01: errors cross without what is their own, and stubs given as arguments are
//! given away.

pub(super) const CASES: &[(&str, &str, &str)] = &[
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
