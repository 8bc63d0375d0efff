//! How long things last: disposal, what is let go of and goes on by itself, and ends from inside.

pub(super) const CASES: &[(&str, &str, &str)] = &[
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
    // Ours: the platform gives up on a promise that its own invocation has made.
    (
        "a promise that another invocation resolves",
        "const p = service.waits(); await service.echo(1); await service.wakes(); return p",
        "\"woken\"",
    ),
    (
        "a promise that another invocation makes and resolves",
        "await service.startsShared(); return service.awaitsShared()",
        "\"shared\"",
    ),
    (
        "what follows another invocation's promise is one's own",
        "await service.startsShared(); return Promise.all([service.callsAfterShared(1), service.callsAfterShared(2)])",
        "[[1,\"own\",1],[2,\"own\",2]]",
    ),
    (
        "a promise that nobody resolves any more",
        "return service.hang().catch((e) => e.message.slice(0, 30))",
        "\"The Workers runtime canceled t\"",
    ),
    (
        "a promise that an object resolves which waits for the hung one itself",
        "return service.call(() => ctx.exports.Service.hang()).catch((e) => e.message.slice(0, 30))",
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
