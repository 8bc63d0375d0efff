//! Fetches, and objects of the API in values.

pub(super) const CASES: &[(&str, &str, &str)] = &[
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
];
