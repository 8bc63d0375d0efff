//! Service-worker syntax: scripts that listen for their events, with bindings as globals.

use loaderd_loader::config::{BindingValue, Compatibility, Config, ServiceDesignator, Worker, WorkerCode};
use loaderd_loader::fetch::{Body, FetchRequest};

use crate::site;

/// A WebAssembly module that exports nothing.
const EMPTY_WASM: [u8; 8] = [0, 97, 115, 109, 1, 0, 0, 0];

async fn run(script: &str) -> String {
    let compatibility = Compatibility { date: Some("2026-07-01".into()), flags: Vec::new() };
    let bindings = vec![
        site::binding("WHO", BindingValue::Text("you".into())),
        site::binding("NUMBERS", BindingValue::Json("[1, 2]".into())),
        site::binding("OTHER", BindingValue::Service(ServiceDesignator::to("other"))),
        site::binding("WASM", BindingValue::WasmModule(EMPTY_WASM.to_vec().into())),
    ];
    let main = Worker {
        bindings,
        global_outbound: ServiceDesignator::to("other"),
        ..Worker::new(WorkerCode::ServiceWorker(script.into()), compatibility)
    };
    let other = "export default { fetch(request) { return new Response(`other got ${request.url}`); } };";
    let other = site::worker(other, &[], Vec::new());
    let services = vec![site::worker_service("main", main), site::worker_service("other", other)];
    let (graph, _host) = match site::start(&Config { services, ..Config::default() }).await {
        Ok(started) => started,
        Err(errors) => return errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
    };
    let request = FetchRequest::new("GET", "http://host/path");
    match graph.service(&ServiceDesignator::to("main")).fetch(request).await {
        Ok(response) => match response.body {
            Body::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Body::Empty | Body::Stream { .. } => "no text at hand".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn scripts_answer_events() {
    let cases = [
        (
            "addEventListener('fetch', (event) => event.respondWith(new Response(`hello ${WHO} ${NUMBERS[1]}`)))",
            "hello you 2",
        ),
        (
            "addEventListener('fetch', async (event) => { event.respondWith(OTHER.fetch('http://x/y')); })",
            "other got http://x/y",
        ),
        (
            "addEventListener('fetch', (event) => {
               event.respondWith((async () => new Response(await (await OTHER.fetch('http://x/y')).text()))());
             })",
            "other got http://x/y",
        ),
        ("addEventListener('fetch', (event) => {})", "other got http://host/path"),
        ("", "other got http://host/path"),
        (
            "self.addEventListener('fetch', (event) => event.respondWith(new Response(String(event instanceof FetchEvent))))",
            "true",
        ),
        (
            "addEventListener('fetch', (event) => event.respondWith(new Response(String(WASM instanceof WebAssembly.Module))))",
            "true",
        ),
        (
            "addEventListener('fetch', (event) => event.preventDefault())",
            "Error: preventDefault() called but respondWith() not called",
        ),
        ("addEventListener('fetch', () => { throw new RangeError('as it should'); })", "RangeError: as it should"),
        (
            "addEventListener('fetch', (event) => {
               event.respondWith(new Response('one'));
               try { event.respondWith(new Response('two')); } catch (error) { globalThis.said = error.name; }
             });
             addEventListener('fetch', () => { throw new Error('never asked'); });",
            "one",
        ),
        (
            "addEventListener('fetch', (event) => event.respondWith(1))",
            "TypeError: Incorrect type for Promise: the Promise did not resolve to 'Response'.",
        ),
        ("const = 1", "service main: Uncaught SyntaxError: Unexpected token '='"),
        ("export default {}", "service main: Uncaught SyntaxError: Unexpected token 'export'"),
        ("throw new Error('at the start')", "service main: Uncaught Error: at the start"),
    ];
    for (script, expected) in cases {
        let got = run(script).await;
        assert_eq!(got.split("\n  at ").next(), Some(expected), "{script}");
    }
}
