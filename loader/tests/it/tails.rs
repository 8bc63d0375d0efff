//! Tail Workers: what they hear of invocations, and that they cannot hurt them.

use std::time::Duration;

use loaderd_loader::config::{Config, ServiceDesignator, Worker};
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
