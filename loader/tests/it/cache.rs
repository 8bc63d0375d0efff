//! The Cache API of Workers: what its memory keeps and for whom, and a service in its place.

use loaderd_loader::cache::{CacheLimits, MemoryCache};
use loaderd_loader::config::{BindingValue, Config, ServiceDesignator, Worker};
use loaderd_loader::fetch::{FetchRequest, FetchResponse};
use loaderd_runtime::rpc::Reply;

use crate::site::{binding, start, test_of, worker, worker_service};

/// A Worker whose `test()` gives what `body` returns, as JSON.
fn tested(body: &str) -> Worker {
    let source = format!(
        "import {{ WorkerEntrypoint }} from 'cloudflare:workers';
         const cache = caches.default;
         const show = async (r) => r && [r.status, await r.text(), r.headers.get('cf-cache-status')];
         const outcome = (f) => f().then((v) => v, (e) => `${{e.name}}: ${{e.message}}`);
         export default class extends WorkerEntrypoint {{
           async test() {{ return JSON.stringify(await (async (env) => {{ {body} }})(this.env)); }}
           async fetch(request) {{ return new Response(JSON.stringify(await show(await cache.match('http://a/shared')))); }}
         }}"
    );
    let loader = BindingValue::WorkerLoader { id: None };
    let other = BindingValue::Service(ServiceDesignator::to("other"));
    worker(&source, &[], vec![binding("LOADER", loader), binding("OTHER", other)])
}

async fn run(body: &str) -> String {
    let services = vec![worker_service("main", tested(body)), worker_service("other", tested("return 0;"))];
    let config = Config { services, ..Config::default() };
    let (graph, _host) = start(&config).await.expect("the configuration is in order");
    test_of(&graph).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_put_is_found() {
    let cases = [
        ("return [await cache.match('http://a/') ?? null, await cache.delete('http://a/')];", "[null,false]"),
        (
            "await cache.put('http://a/', new Response('x', { status: 201, statusText: 'Made', headers: { 'x-a': '1', 'cache-control': 'max-age=60' } }));
             const r = await cache.match('http://a/');
             return [r.statusText, r.headers.get('x-a'), r.headers.get('content-length'), r.headers.get('age'), await show(r), await cache.match('http://a/b') ?? null];",
            r#"["Made","1","1","0",[201,"x","HIT"],null]"#,
        ),
        (
            "await cache.put('http://a/', new Response('x'));
             return [await show(await cache.match(new Request('http://a/', { method: 'POST' }), { ignoreMethod: true })),
               await cache.match(new Request('http://a/', { method: 'POST' })) ?? null,
               await cache.delete('http://a/'), await cache.delete('http://a/'), await cache.match('http://a/') ?? null];",
            r#"[[200,"x","HIT"],null,true,false,null]"#,
        ),
        (
            "const named = await caches.open('mine');
             await named.put('http://a/', new Response('named'));
             return [await cache.match('http://a/') ?? null, await show(await (await caches.open('mine')).match('http://a/')),
               await (await caches.open('other')).match('http://a/') ?? null];",
            r#"[null,[200,"named","HIT"],null]"#,
        ),
        // What is not kept.
        (
            "const all = [];
             for (const headers of [{ 'cache-control': 'no-store' }, { 'cache-control': 'private' }, { 'set-cookie': 'a=b' }, { expires: '0' },
               { 'cache-control': 'private=Set-Cookie', 'set-cookie': 'a=b' }]) {
               await cache.put('http://a/', new Response('x', { headers }));
               const found = await cache.match('http://a/');
               all.push(found ? [found.headers.get('set-cookie'), await found.text()] : null);
             }
             await cache.put('http://b/', new Response('x', { status: 500 }));
             return [all, await cache.match('http://b/') ?? null];",
            r#"[[null,null,null,null,[null,"x"]],null]"#,
        ),
        // Conditions and ranges.
        (
            "const headers = { etag: '\"v1\"', 'last-modified': 'Wed, 21 Oct 2020 07:28:00 GMT' };
             await cache.put('http://a/', new Response('0123456789', { headers }));
             const ask = async (headers) => {
               const r = await cache.match(new Request('http://a/', { headers }));
               return [r.status, r.headers.get('content-range'), await r.text()];
             };
             return [await ask({ 'if-none-match': 'W/\"v1\"' }), await ask({ 'if-none-match': '\"v2\"' }),
               await ask({ 'if-modified-since': 'Wed, 21 Oct 2020 07:28:00 GMT' }), await ask({ 'if-modified-since': 'Wed, 21 Oct 2020 07:27:00 GMT' }),
               await ask({ range: 'bytes=2-4' }), await ask({ range: 'bytes=20-' }), await ask({ range: 'bytes=2-4', 'if-range': '\"v2\"' })];",
            r#"[[304,null,""],[200,null,"0123456789"],[304,null,""],[200,null,"0123456789"],[206,"bytes 2-4/10","234"],[416,"bytes */10",""],[200,null,"0123456789"]]"#,
        ),
        // Bodies: streams, encoded ones, broken ones, large ones.
        (
            "const { readable, writable } = new TransformStream();
             const put = cache.put('http://a/', new Response(readable));
             const w = writable.getWriter();
             for (let i = 0; i < 3; i++) await w.write(new TextEncoder().encode('part '));
             await w.close();
             await put;
             await cache.put('http://b/', new Response('hello', { headers: { 'content-encoding': 'gzip' } }));
             const b = await cache.match('http://b/');
             const broken = await outcome(() => cache.put('http://a/', new Response(new ReadableStream({ pull(c) { c.error(new RangeError('broken')); } }))));
             const large = new Uint8Array(3 << 20).fill(7);
             await cache.put('http://c/', new Response(large));
             const c = await (await cache.match('http://c/')).bytes();
             return [await show(await cache.match('http://a/')), await show(b), broken, c.length, c.every((x) => x === 7)];",
            r#"[[200,"part part part ","HIT"],[200,"hello","HIT"],"RangeError: broken",3145728,true]"#,
        ),
        (
            "const chunk = new Uint8Array(4 << 20);
             let left = 10;
             await cache.put('http://a/', new Response(new ReadableStream({ pull(c) { if (left-- > 0) c.enqueue(chunk); else c.close(); } })));
             return [await cache.match('http://a/') ?? null, left > 0];",
            "[null,true]",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(run(body).await, expected, "{body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_finds_what_another_put() {
    let child = |body: &str| {
        format!(
            "env.LOADER.load({{ compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: {{ 'm.js':
               `export default {{ async fetch() {{ {body} }} }}` }} }}).getEntrypoint().fetch('http://x/').then((r) => r.text())"
        )
    };
    let put = "await caches.default.put('http://a/shared', new Response('child')); \
               return (await caches.default.match('http://a/shared'));";
    let look =
        "return new Response(await caches.default.match('http://a/shared') === undefined ? 'nothing' : 'found');";
    let body = format!(
        "await cache.put('http://a/shared', new Response('parent'));
         return [await {}, await {}, await {}, await env.OTHER.fetch('http://x/').then((r) => r.text()),
           await show(await cache.match('http://a/shared'))];",
        child(look),
        child(put),
        child(look),
    );
    assert_eq!(run(&body).await, r#"["nothing","child","nothing","",[200,"parent","HIT"]]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_count_as_subrequests() {
    let body = "const worker = env.LOADER.load({ compatibilityDate: '2026-07-01', mainModule: 'm.js', limits: { subRequests: 2 }, modules: { 'm.js':
           `export default { async fetch() {
              let done = 0;
              try { for (;;) { await caches.default.match('http://a/'); done += 1; } } catch (e) { return new Response(done + e.message.slice(0, 20)); }
            } }` } });
         return worker.getEntrypoint().fetch('http://x/').then((r) => r.text());";
    assert_eq!(run(body).await, r#""2Too many subrequests""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_takes_its_place() {
    let mut main = tested(
        "await cache.put('http://a/x', new Response('kept', { headers: { 'x-a': '1' } }));
         return [await show(await cache.match('http://a/x')), await cache.match('http://a/y') ?? null, await cache.delete('http://a/x')];",
    );
    main.cache_api_outbound = Some(ServiceDesignator::to("backend"));
    let backend = worker(
        "const kept = new Map();
         export default { async fetch(request) {
           if (request.method === 'PUT') { kept.set(request.url, (await request.text()).split('\\r\\n\\r\\n')[1]); return new Response(null, { status: 204 }); }
           if (request.method === 'PURGE') return new Response(null, { status: kept.delete(request.url) ? 200 : 404 });
           const body = kept.get(request.url);
           const status = body === undefined ? 'MISS' : 'HIT';
           return new Response(body ?? null, { status: body === undefined ? 504 : 203, headers: { 'cf-cache-status': status } });
         } }",
        &[],
        Vec::new(),
    );
    let services = vec![
        worker_service("main", main),
        worker_service("backend", backend),
        worker_service("other", tested("return 0;")),
    ];
    let config = Config { services, ..Config::default() };
    let (graph, _host) = start(&config).await.expect("the configuration is in order");
    assert_eq!(test_of(&graph).await, r#"[[203,"kept","HIT"],null,true]"#);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_of_the_protocol_is_refused() {
    let limits = CacheLimits { entry_bytes_max: 700, ..CacheLimits::loaded(10_000) };
    let cache = MemoryCache::new(limits, tokio::runtime::Handle::current());
    let channel = cache.channel();
    let ask = |method: &str, body: &str| {
        let mut request = FetchRequest::new(method, "http://a/");
        request.body = loaderd_loader::fetch::Body::Bytes(body.to_owned().into());
        let (reply, answer) = Reply::channel();
        channel.target.call(request.into_call().expect("it is small"), reply);
        async { FetchResponse::from_answer(answer.await.expect("an answer")).expect("a response").status }
    };
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(ask("POST", "").await, 405);
    assert_eq!(ask("PUT", "nonsense\r\n\r\n").await, 400);
    assert_eq!(ask("PUT", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx").await, 400);
    assert_eq!(ask("PUT", &format!("{head}{}", "x".repeat(200))).await, 413, "larger than an entry may be");
    assert_eq!((ask("GET", "").await, cache.bytes()), (504, 0));
    assert_eq!(ask("PUT", &format!("{head}x")).await, 204);
    assert_eq!(ask("GET", "").await, 200);
    assert_eq!((ask("PURGE", "").await, ask("PURGE", "").await, cache.bytes()), (200, 404, 0));
}
