//! Tail Workers: what they hear of invocations, and that they cannot hurt them.

use std::time::Duration;

use loaderd_loader::config::{BindingValue, Config, ServiceDesignator, Worker};
use loaderd_loader::fetch::FetchRequest;
use loaderd_loader::graph::Graph;
use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::rpc::plain::Plain;

use crate::site;

/// Traces that were not delivered by then are a failure.
const DELIVERED_WITHIN: Duration = Duration::from_secs(20);

const MAIN: &str = r#"
    import { WorkerEntrypoint, tracing } from 'cloudflare:workers';
    export default {
      async fetch(request, env, ctx) {
        switch (new URL(request.url).pathname) {
          case '/log':
            console.log('text', { a: [1] }, null, undefined, new Map());
            console.error(new RangeError('bad'));
            return new Response('done', { status: 201 });
          case '/throw':
            throw new TypeError('thrown');
          case '/late':
            ctx.waitUntil(Promise.reject(new Error('late')));
            return new Response('done');
          case '/loop':
            for (;;);
          case '/deaf':
            return new Response(typeof BigInt('7'.repeat(15_000_000)));
          case '/much':
            console.log('x'.repeat(300_000));
            console.log('y');
            return new Response('done');
          case '/span':
            return tracing.enterSpan('work', (span) => {
              span.setAttributes({ n: 1, t: 'x', b: true, u: undefined });
              console.log('within');
              return new Response(`${span.isTraced}`);
            });
        }
      },
    };
    export class Methods extends WorkerEntrypoint {
      good() { return 1; }
      bad() { throw new Error('bad'); }
    }
"#;

/// Remembers a line for each trace and each event of a stream.
const TAIL: &str = r#"
    const lines = [];
    const at = (stack) => (stack === undefined ? 'nowhere' : stack.trim().split(' ')[1]);
    function event(item) {
      const { request, response, rpcMethod } = item.event;
      if (rpcMethod !== undefined) return `rpc ${rpcMethod}`;
      return `${request.method} ${request.url} ${response?.status}`;
    }
    function name({ event }) {
      switch (event.type) {
        case 'onset': return `onset ${event.info.type}`;
        case 'log': return `log ${JSON.stringify(event.message)}`.slice(0, 40);
        case 'attributes': return event.info.map(({ name, value }) => `${name}=${value}`).join(' ');
        case 'exception': return `exception ${event.message}`;
        case 'spanOpen': return `spanOpen ${event.name}`;
        case 'return': return `return ${event.info?.statusCode}`;
        case 'outcome': return `outcome ${event.outcome}`;
        default: return event.type;
      }
    }
    export default {
      tail([item]) {
        const logs = item.logs.map(({ level, message }) => `${level} ${JSON.stringify(message)}`.slice(0, 40));
        const exceptions = item.exceptions.map(({ name, message, stack }) => `${name} ${message} ${at(stack)}`);
        const cpu = item.outcome !== 'exceededCpu' || item.cpuTime >= 300 ? 'CPU' : `${item.cpuTime} ms`;
        lines.push([item.outcome, event(item), cpu, ...logs, ...exceptions, item.truncated].join('; '));
      },
      tailStream(onset) {
        const names = [name(onset)];
        return (event) => {
          names.push(name(event));
          if (event.event.type === 'outcome') lines.push(names.join('; '));
        };
      },
      note(text) { lines.push(text); },
      seen(_, env, ctx) { return lines.splice(0).sort().join('\n'); },
    };
"#;

async fn start(main: Worker, tail: &str) -> Graph {
    let tail = site::worker(tail, &[], Vec::new());
    let services = vec![site::worker_service("main", main), site::worker_service("tail", tail)];
    let (graph, _host) =
        site::start(&Config { services, ..Config::default() }).await.expect("a configuration that runs");
    graph
}

async fn seen(graph: &Graph) -> String {
    graph.traces_delivered(DELIVERED_WITHIN).await;
    let tail = graph.service(&ServiceDesignator::to("tail"));
    let answer = tail.call_method("seen", vec![Plain::Undefined]).await.expect("an answer");
    Plain::from_message(&answer).ok().and_then(|text| Some(text.as_string()?.to_string_lossy())).expect("a text")
}

fn main_with(tails: &[&str], streaming: &[&str]) -> Worker {
    let designators = |names: &[&str]| names.iter().map(|name| ServiceDesignator::to(*name)).collect();
    Worker {
        tails: designators(tails),
        streaming_tails: designators(streaming),
        limits: ResourceLimits { cpu_ms: Some(300), ..ResourceLimits::default() },
        ..site::worker(MAIN, &[], Vec::new())
    }
}

async fn fetch(graph: &Graph, path: &str) {
    let request = FetchRequest::new("GET", format!("http://host{path}"));
    // What it answers, if it does, is not what is tested.
    let _answer = graph.service(&ServiceDesignator::to("main")).fetch(request).await;
}

#[tokio::test]
async fn an_item_for_each_invocation() {
    let graph = start(main_with(&["tail"], &[]), TAIL).await;
    let cases = [
        (
            "/log",
            "ok; GET http://host/log 201; CPU; log [\"text\",{\"a\":[1]},null,null,\"[object; \
             error [\"RangeError: bad\"]; false",
        ),
        ("/throw", "exception; GET http://host/throw undefined; CPU; TypeError thrown Object.fetch; false"),
        ("/late", "ok; GET http://host/late 200; CPU; Error late Object.fetch; false"),
        ("/much", "ok; GET http://host/much 200; CPU; warn [\"Log size limit exceeded: More tha; true"),
        (
            "/log?token=0123456789abcdef0123456789abcdef",
            "ok; GET http://host/log?token=REDACTED 201; CPU; log [\"text\",{\"a\":[1]},null,null,\"[object; \
             error [\"RangeError: bad\"]; false",
        ),
        (
            "/loop",
            "exceededCpu; GET http://host/loop undefined; CPU; Error Worker exceeded CPU time limit. nowhere; false",
        ),
    ];
    for (path, wanted) in cases {
        fetch(&graph, path).await;
        assert_eq!(seen(&graph).await, wanted, "{path}");
    }
    let methods = ServiceDesignator { entrypoint: Some("Methods".into()), ..ServiceDesignator::to("main") };
    for (method, wanted) in [("good", "ok; rpc good; CPU; false"), ("bad", "ok; rpc bad; CPU; false")] {
        let _answer = graph.service(&methods).call_method(method, Vec::new()).await;
        assert_eq!(seen(&graph).await, wanted, "{method}");
    }
}

/// A Worker meets its limit in a builtin that ignores its end. Its tails hear of that at once, and when the builtin is done at
/// last, not again.
#[tokio::test]
async fn a_producer_that_ignores_its_end_is_heard_of_once() {
    let tail = site::worker(TAIL, &[], Vec::new());
    let main = main_with(&["tail"], &["tail"]);
    let services = vec![site::worker_service("main", main), site::worker_service("tail", tail)];
    let config = Config { services, ..Config::default() };
    let (graph, host) = site::start(&config).await.expect("a configuration that runs");
    fetch(&graph, "/deaf").await;
    let wanted = "exceededCpu; GET http://host/deaf undefined; CPU; Error Worker exceeded CPU time limit. nowhere; \
                  false\nonset fetch; exception Worker exceeded CPU time limit.; outcome exceededCpu";
    assert_eq!(seen(&graph).await, wanted);
    let deadline = tokio::time::Instant::now() + DELIVERED_WITHIN;
    // The tail alone.
    while host.metrics().alive > 1 {
        assert!(tokio::time::Instant::now() < deadline, "the builtin is never done");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(seen(&graph).await, "");
}

#[tokio::test]
async fn events_as_they_happen() {
    let graph = start(main_with(&[], &["tail"]), TAIL).await;
    let cases = [
        ("/throw", "onset fetch; exception thrown; outcome exception"),
        ("/span", "onset fetch; spanOpen work; log [\"within\"]; n=1 t=x b=true; spanClose; return 200; outcome ok"),
        ("/loop", "onset fetch; exception Worker exceeded CPU time limit.; outcome exceededCpu"),
    ];
    for (path, wanted) in cases {
        fetch(&graph, path).await;
        assert_eq!(seen(&graph).await, wanted, "{path}");
    }
}

#[tokio::test]
async fn a_tail_is_no_burden() {
    let throws = "
        export default {
          tail() { throw new Error('tail'); },
          tailStream() { return () => { throw new Error('stream'); }; },
          seen(_, env, ctx) { return 'alive'; },
        };";
    let graph = start(main_with(&["tail", "main"], &["tail", "main"]), throws).await;
    for _ in 0..3 {
        let request = FetchRequest::new("GET", "http://host/log");
        let response = graph.service(&ServiceDesignator::to("main")).fetch(request).await.expect("a response");
        assert_eq!(response.status, 201);
    }
    assert_eq!(seen(&graph).await, "alive");
}

/// Says of each invocation that it hears of which trace it is in, which span it came from and which it is, by letters.
const IDS: &str = "
    const letters = new Map();
    const letter = (id) => {
      if (id === undefined) return '-';
      if (!letters.has(id)) letters.set(id, String.fromCharCode(97 + letters.size));
      return letters.get(id);
    };
    const traces = new Map();
    export default {
      tailStream(onset) {
        const { spanContext: { traceId, spanId }, invocationId, event: { info, entrypoint, spanId: own } } = onset;
        const events = [{ what: info.type, at: [traceId, spanId, own] }];
        traces.set(invocationId, events);
        return ({ event, spanContext: { traceId, spanId } }) => {
          if (event.type === 'spanOpen') events.push({ what: event.name, at: [traceId, spanId, event.spanId] });
        };
      },
      seen() {
        const lines = [];
        for (const events of traces.values()) {
          for (const { what, at } of events) lines.push(`${what} ${at.map(letter).join('')}`);
        }
        traces.clear();
        letters.clear();
        return lines.join('; ');
      },
    };";

#[tokio::test]
async fn what_an_invocation_causes_is_in_its_trace() {
    let main = r#"export default {
      async fetch(request, env) {
        await env.callee.fetch('http://callee/');
        await env.methods.hello();
        return new Response();
      },
    }"#;
    let callee = r#"import { WorkerEntrypoint } from 'cloudflare:workers';
    export class Methods extends WorkerEntrypoint { hello() {} }
    export default { fetch() { return new Response(); } }"#;
    let methods = ServiceDesignator { entrypoint: Some("Methods".into()), ..ServiceDesignator::to("callee") };
    let bindings = vec![
        site::binding("callee", BindingValue::Service(ServiceDesignator::to("callee"))),
        site::binding("methods", BindingValue::Service(methods)),
    ];
    let heard = |worker: Worker| Worker { streaming_tails: vec![ServiceDesignator::to("tail")], ..worker };
    let services = vec![
        site::worker_service("main", heard(site::worker(main, &[], bindings))),
        site::worker_service("callee", heard(site::worker(callee, &[], Vec::new()))),
        site::worker_service("tail", site::worker(IDS, &[], Vec::new())),
    ];
    let config = Config { services, ..Config::default() };
    let (graph, _host) = site::start(&config).await.expect("a configuration that runs");
    // A trace of three invocations and the span of one fetch, and then another trace.
    for _ in 0..2 {
        fetch(&graph, "/").await;
        assert_eq!(seen(&graph).await, "fetch a-b; fetch abc; fetch acd; jsrpc abe");
    }
}

#[tokio::test]
async fn tails_of_each_other_come_to_an_end() {
    let source = "
        let heard = 0;
        export default {
          fetch() { return new Response(); },
          tail() { heard += 1; },
          tailStream() { heard += 1; },
          seen() { return `${heard}`; },
        };";
    let with = |tail: &str| {
        let tails = vec![ServiceDesignator::to(tail)];
        Worker { tails: tails.clone(), streaming_tails: tails, ..site::worker(source, &[], Vec::new()) }
    };
    let services = vec![site::worker_service("main", with("tail")), site::worker_service("tail", with("main"))];
    let config = Config { services, ..Config::default() };
    let (graph, _host) = site::start(&config).await.expect("a configuration that runs");
    fetch(&graph, "/").await;
    // The request's trace is told in two ways, what is done about each of them again in two, and so on.
    assert_eq!(seen(&graph).await, (2 + 8).to_string());
}

/// Loads a Worker with tails of both kinds, one of them an entrypoint of its own.
const LOADING: &str = r#"
    import { WorkerEntrypoint } from 'cloudflare:workers';
    const CHILD = `export default {
      fetch(request) {
        console.log('in the child');
        if (request.url.endsWith('/loop')) for (;;);
        if (request.url.endsWith('/throw')) throw new TypeError('thrown');
        return new Response('done', { status: 202 });
      },
    }`;
    export class Heard extends WorkerEntrypoint {
      async tail([item]) { await this.env.tail.note(`${this.ctx.props.of} ${item.outcome}`); }
    }
    export default {
      async fetch(request, env, ctx) {
        const worker = env.loader.load({
          compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': CHILD }, limits: { cpuMs: 300 },
          tails: [env.tail, ctx.exports.Heard({ props: { of: 'entrypoint' } })],
          streamingTails: [env.tail], allowExperimental: true,
        });
        return worker.getEntrypoint().fetch(request);
      },
    };
"#;

#[tokio::test]
async fn loaded_workers_have_the_tails_that_they_are_given() {
    let bindings = vec![
        site::binding("loader", BindingValue::WorkerLoader { id: None }),
        site::binding("tail", BindingValue::Service(ServiceDesignator::to("tail"))),
    ];
    let graph = start(site::worker(LOADING, &["experimental"], bindings), TAIL).await;
    let cases = [
        (
            "/",
            r#"entrypoint ok
ok; GET http://host/ 202; CPU; log ["in the child"]; false
onset fetch; log ["in the child"]; return 202; outcome ok"#,
        ),
        (
            "/throw",
            r#"entrypoint exception
exception; GET http://host/throw undefined; CPU; log ["in the child"]; TypeError thrown Object.fetch; false
onset fetch; log ["in the child"]; exception thrown; outcome exception"#,
        ),
        (
            "/loop",
            r#"entrypoint exceededCpu
exceededCpu; GET http://host/loop undefined; CPU; log ["in the child"]; Error Worker exceeded CPU time limit. nowhere; false
onset fetch; log ["in the child"]; exception Worker exceeded CPU time limit.; outcome exceededCpu"#,
        ),
    ];
    for (path, wanted) in cases {
        fetch(&graph, path).await;
        assert_eq!(seen(&graph).await, wanted, "{path}");
    }
}
