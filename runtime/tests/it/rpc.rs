//! JS RPC: calls into an isolate, out of it, and between two.
//!
//! Tables of cases are in rooms of their own, by subject. A case is what it shows, the body of an asynchronous function with
//! `service` (a stub of `Service` in service.js) and `ctx`, and the JSON text of its result, or its error: as the platform has
//! it, unless a case says that it is ours.

mod calls;
mod lifetimes;
mod objects;
mod of_2025;
mod scope;
mod signals;
mod values;

use std::any::Any;
use std::sync::{Arc, mpsc};

use loaderd_runtime::compat::{CompatFlags, DateCheck, Experimental};
use loaderd_runtime::isolate::{EntrypointSpec, Isolate, LoadCode};
use loaderd_runtime::limits::{Cause, Outcome};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Answer, Call, Cap, CapKind, Capability, Message, Op, Reply, RpcError};

use crate::support::{code, isolate, load};

/// Starts a call.
fn start(target: &dyn Capability, path: &[&str], arguments: Vec<Plain>) -> mpsc::Receiver<Answer> {
    let (sender, receiver) = mpsc::channel();
    let message = Plain::arguments(arguments).expect("small arguments");
    let call = Call::new(path.iter().map(|name| (*name).into()).collect(), Op::Call(message));
    // A test that failed has stopped waiting.
    let _ = target.call(call, Reply::new(move |answer| drop(sender.send(answer))));
    receiver
}

/// Calls and waits.
pub(crate) fn call(target: &dyn Capability, path: &[&str], arguments: Vec<Plain>) -> Result<Plain, Box<RpcError>> {
    let answer = start(target, path, arguments).recv().expect("an answer");
    Ok(Plain::from_message(&answer.result?).expect("a plain value"))
}

fn worker(source: &str) -> Isolate {
    worker_of("2026-07-01", source)
}

/// A Worker with the behaviours of a compatibility date.
fn worker_of(date: &str, source: &str) -> Isolate {
    worker_with(date, &[], source)
}

/// The same, with flags of its own.
fn worker_with(date: &str, flags: &[&str], source: &str) -> Isolate {
    let isolate = isolate();
    load(&isolate, LoadCode { compat: compat(date, flags), ..code(&[("m.js", source)]) }).expect("it loads");
    isolate
}

fn compat(date: &str, flags: &[&str]) -> CompatFlags {
    CompatFlags::resolve(date, flags, Experimental::Allowed, DateCheck::today()).expect("known flags")
}

fn text(value: &Plain) -> String {
    value.as_string().expect("a string").to_string_lossy()
}

#[test]
fn programs_see_what_the_platform_shows() {
    let cases = [values::CASES, calls::CASES, lifetimes::CASES, objects::CASES, scope::CASES].concat();
    check("2026-07-01", &[], &cases);
}

#[test]
fn older_dates_keep_their_behaviours() {
    check("2025-05-01", &[], of_2025::CASES);
}

#[test]
fn signals_cross_where_a_worker_asks_for_it() {
    check("2026-07-01", &["enable_abortsignal_rpc", "enable_request_signal"], signals::CASES);
}

/// Runs cases in one Worker of a compatibility date and flags.
fn check(date: &str, flags: &[&str], cases: &[(&str, &str, &str)]) {
    let bodies: String =
        cases.iter().map(|(name, body, _)| format!("{name:?}: async (service, ctx) => {{ {body} }},\n")).collect();
    let isolate = worker_with(date, flags, &include_str!("rpc/service.js").replace("/* CASES */", &bodies));
    let entrypoint = isolate.entrypoint(EntrypointSpec::default());
    let mut differences = Vec::new();
    for (name, _, expected) in cases {
        let got = match call(&*entrypoint, &["run"], vec![(*name).into()]) {
            Ok(outcome) => text(&outcome),
            Err(error) => format!("the call failed: {error}"),
        };
        if got != *expected {
            differences.push(format!("{name}\n   expected {expected}\n   got      {got}"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// What a [`Host`] does with a call's path and arguments.
type Answering = dyn Fn(&[String], Vec<Plain>) -> Result<Plain, Box<RpcError>> + Send + Sync;

/// A host's object: answers at once, on the caller's thread, and cannot pipeline.
struct Host(Box<Answering>);

impl Capability for Host {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let arguments = match &call.op {
            Op::Get => Vec::new(),
            Op::Call(message) | Op::Event(message) => match Plain::from_message(message) {
                Ok(Plain::Array(arguments)) => arguments,
                _ => panic!("arguments are an array"),
            },
        };
        let result = (self.0)(&call.path, arguments);
        reply.send(result.map(|value| value.to_message().expect("a small value")).map_err(|error| *error));
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn host(answer: impl Fn(&[String], Vec<Plain>) -> Result<Plain, Box<RpcError>> + Send + Sync + 'static) -> Plain {
    Plain::Cap(Cap { kind: CapKind::Object, target: Arc::new(Host(Box::new(answer))) })
}

fn stub(value: Plain) -> Arc<dyn Capability> {
    match value {
        Plain::Cap(cap) => cap.target,
        _ => panic!("not a capability"),
    }
}

#[test]
fn a_host_is_called_back_while_the_call_is_open() {
    let isolate = worker(
        "import { WorkerEntrypoint } from 'cloudflare:workers';
         export default class extends WorkerEntrypoint {
           async run(host) {
             const [a, b] = await Promise.all([host.query({ id: 1 }), host.query({ id: 2 })]);
             const c = await host.nested.deep.query({ id: 3 });
             const failed = await host.fail('x').catch((e) => [e.name, e.message, e.remote, e.constructor === TypeError]);
             return { a, b, c, failed };
           }
         }",
    );
    let tools = host(|path, arguments| match path.last().map(String::as_str) {
        Some("query") => {
            let id = arguments[0].as_object().and_then(|object| object.get("id")?.as_number()).expect("an id");
            Ok(Plain::from(format!("{}:{id}", path.join("."))))
        }
        _ => Err(Box::new(RpcError::new("TypeError", "no"))),
    });
    let result = call(&*isolate.entrypoint(EntrypointSpec::default()), &["run"], vec![tools]).expect("a result");
    assert_eq!(
        result.to_json().expect("JSON").expect("a value"),
        r#"{"a":"query:1","b":"query:2","c":"nested.deep.query:3","failed":["TypeError","no",true,true]}"#
    );
}

#[test]
fn calls_on_a_host_that_cannot_pipeline_wait_for_its_answer() {
    let isolate = worker(
        "export default { async run(host) {
           const open = host.open();
           return [await open.read('a'), await open.read('b'), await host.open().name];
         } }",
    );
    let tools = host(|_, _| {
        let file = host(|path, arguments| Ok(Plain::from(format!("{} {}", path.join("."), text(&arguments[0])))));
        Ok(Plain::Object([("read", file), ("name", Plain::from("file"))].into_iter().collect()))
    });
    let result = call(&*isolate.entrypoint(EntrypointSpec::default()), &["run"], vec![tools]).expect("a result");
    assert_eq!(result.to_json().expect("JSON").expect("a value"), r#"[" a"," b","file"]"#);
}

/// A Worker whose `env.other` is the default entrypoint of another.
fn with_other(source: &str, other: &Isolate) -> Isolate {
    let cap = Cap { kind: CapKind::Service, target: other.entrypoint(EntrypointSpec::default()) };
    let env = Plain::Object([("other", Plain::Cap(cap))].into_iter().collect());
    let isolate = isolate();
    let code = LoadCode {
        env: Some(env.to_message().expect("a small env")),
        compat: compat("2026-07-01", &[]),
        ..code(&[("m.js", source)])
    };
    load(&isolate, code).expect("it loads");
    isolate
}

const COUNTER: &str = "
    import { WorkerEntrypoint, RpcTarget } from 'cloudflare:workers';
    class Counter extends RpcTarget {
      #value = 0;
      increment(by = 1) { return this.#value += by; }
    }
    export default class extends WorkerEntrypoint {
      counter() { return new Counter(); }
      async each(list, f) { const out = []; for (const item of list) out.push(await f(item)); return out; }
      throws() { throw new RangeError('over there'); }
      spin() { for (;;); }
    }";

#[test]
fn two_isolates_call_each_other() {
    let other = worker(COUNTER);
    let isolate = with_other(
        "export default { async run(_, env) {
           const piped = await env.other.counter().increment(5);
           const counter = await env.other.counter();
           const counts = await Promise.all([counter.increment(), counter.increment()]);
           const each = await env.other.each([1, 2, 3], (x) => counter.increment(x));
           const error = await env.other.throws().catch((e) => [e instanceof RangeError, e.message, e.remote]);
           return { piped, counts, each, error };
         } }",
        &other,
    );
    let result = call(&*isolate.entrypoint(EntrypointSpec::default()), &["run"], vec![Plain::Null]).expect("a result");
    assert_eq!(
        result.to_json().expect("JSON").expect("a value"),
        r#"{"piped":5,"counts":[1,2],"each":[3,5,8],"error":[true,"over there",true]}"#
    );
}

#[test]
fn a_limit_met_over_there_is_an_error_here() {
    let other = worker(COUNTER);
    let isolate = with_other(
        "export default { async run(host, env) {
           const counter = await env.other.counter();
           const spun = env.other.spin().catch((e) => [e.message, e.overloaded, e.remote]);
           await host.endIt();
           return [await spun, await counter.increment().catch((e) => e.message)];
         } }",
        &other,
    );
    let tools = host(move |_, _| {
        other.end(Cause::ExceededCpu);
        Ok(Plain::Undefined)
    });
    let result = call(&*isolate.entrypoint(EntrypointSpec::default()), &["run"], vec![tools]).expect("a result");
    assert_eq!(
        result.to_json().expect("JSON").expect("a value"),
        r#"[["Worker exceeded CPU time limit.",true,true],"Worker exceeded CPU time limit."]"#
    );
}

#[test]
fn a_session_lasts_while_its_stubs_are_held() {
    let other = worker(COUNTER);
    let entrypoint = other.entrypoint(EntrypointSpec::default());
    let (sender, ended) = mpsc::channel();
    let (answered, answer) = mpsc::channel();
    let message = Plain::arguments(vec![]).expect("no arguments");
    let invocation = entrypoint.invoke(
        Call::new(vec!["counter".into()], Op::Call(message)),
        Reply::new(move |answer| answered.send(answer).expect("the test waits")),
        Some(Box::new(move |report| sender.send(report).expect("the test waits"))),
    );
    let result = answer.recv().expect("an answer").result.expect("a result");
    let counter = stub(Plain::from_message(&result).expect("a plain value"));
    drop(result);
    assert_eq!(call(&*counter, &["increment"], vec![]).expect("a number").as_number(), Some(1.0));
    assert_eq!(call(&*counter, &["increment"], vec![]).expect("a number").as_number(), Some(2.0));
    assert!(ended.try_recv().is_err());
    drop(counter);
    assert_eq!(ended.recv().expect("a report").outcome, Outcome::Ok);
    drop(invocation);
}

#[test]
fn a_stub_outliving_its_invocation_says_so() {
    let other = worker(COUNTER);
    let entrypoint = other.entrypoint(EntrypointSpec::default());
    let (answered, answer) = mpsc::channel();
    let message = Plain::arguments(vec![]).expect("no arguments");
    let invocation = entrypoint.invoke(
        Call::new(vec!["counter".into()], Op::Call(message)),
        Reply::new(move |answer| answered.send(answer).expect("the test waits")),
        None,
    );
    let result = answer.recv().expect("an answer").result.expect("a result");
    let counter = stub(Plain::from_message(&result).expect("a plain value"));
    invocation.end(Cause::Canceled);
    let error = call(&*counter, &["increment"], vec![]).err().expect("it is over");
    assert_eq!(error.message, "The execution context which hosts this callback is no longer running.");
}

#[test]
fn hostile_messages_are_errors() {
    let isolate = worker("export default { run(value) { return typeof value; } }");
    let entrypoint = isolate.entrypoint(EntrypointSpec::default());
    let bodies: [&[u8]; 12] = [
        b"",
        b"\xff",
        b"\xff\x0f",
        b"\xff\x0fA\xff\xff\xff\xff\x0f",
        b"\xff\x0f\\\x00\x00",
        b"\xff\x0f\\\x01\"\x01a",
        b"\xff\x0f\\\x02\x00",
        b"\xff\x0f\\\x63",
        b"\xfe\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\xfe\x01\x03\xff\x0f0\xff\x0f_",
        b"\xfe\xff\xff\x03",
        b"\xff\x0fo{\x00",
    ];
    for body in bodies {
        let (sender, receiver) = mpsc::channel();
        let message = Message { bytes: body.to_vec().into(), caps: Vec::new() };
        let call = Call::new(vec!["run".into()], Op::Call(message));
        let _ = entrypoint.call(call, Reply::new(move |answer| drop(sender.send(answer))));
        assert!(receiver.recv().expect("an answer").result.is_err(), "{body:?}");
    }
    let result = call(&*entrypoint, &["run"], vec![Plain::Null]).expect("it still runs");
    assert_eq!(text(&result), "object");
}

#[test]
fn what_passes_through_javascript_comes_back_equal() {
    let isolate = worker("export default { run(value) { return value; } }");
    let entrypoint = isolate.entrypoint(EntrypointSpec::default());
    for json in [
        "null",
        "[1,-1,1.5,1e+21,2147483648,-2147483649]",
        r#"{"9":1,"10":2,"b":3,"a":4,"__proto__":5,"4294967295":6}"#,
        "[\"\",\"a\u{e9}\",\"\u{20ac}\",\"\u{1f600}\",\"\\ud800\"]",
        "[[[[{}]]]]",
    ] {
        let value = Plain::from_json(json).expect("JSON");
        let back = call(&*entrypoint, &["run"], vec![value]).expect("a value");
        assert_eq!(back.to_json().expect("JSON").as_deref(), Some(json));
    }
}

/// Tells when it is dropped.
struct Dropped(mpsc::Sender<()>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // A test that failed has stopped waiting.
        let _ = self.0.send(());
    }
}

#[test]
fn everything_given_to_an_invocation_is_let_go_of() {
    const ROUNDS: usize = 50;
    let isolate = worker(
        "import { WorkerEntrypoint, RpcStub } from 'cloudflare:workers';
         export default class extends WorkerEntrypoint {
           async used(host) { await host.a(); await host.b().c; }
           async duplicated(host) { globalThis.kept = host.dup(); await host.a(); }
           async unawaited(host) { host.a(); host.b(); }
           async wrapped(host) { const s = new RpcStub({ host: () => 1 }); await s.host(); host.dup().x; }
           async givesCallbacks(host) { await host.a(() => 1, { b: () => 2 }); }
           async throws(host) { await host.a(); throw new Error('no'); }
           async returned(host) { return { host: host.dup(), more: () => 1 }; }
         }",
    );
    let entrypoint = isolate.entrypoint(EntrypointSpec::default());
    let (sender, dropped) = mpsc::channel();
    let methods = ["used", "duplicated", "unawaited", "wrapped", "givesCallbacks", "throws", "returned"];
    for _ in 0..ROUNDS {
        for method in methods {
            let guard = Dropped(sender.clone());
            let tools = host(move |_, _| {
                let _held = &guard;
                Ok(Plain::Object([("c", Plain::from(1_u32))].into_iter().collect()))
            });
            let answer = start(&*entrypoint, &[method], vec![tools]).recv().expect("an answer");
            assert_eq!(answer.result.is_err(), method == "throws", "{method}");
        }
    }
    for _ in 0..ROUNDS * methods.len() {
        dropped.recv().expect("each is dropped");
    }
}
