//! Signals, with `enable_abortsignal_rpc` and `enable_request_signal`.

pub(super) const CASES: &[(&str, &str, &str)] = &[
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
