//! JS RPC: calls into an isolate, out of it, and between two.

mod cases;

use std::sync::mpsc;

use loaderd_runtime::isolate::{EntrypointSpec, Isolate};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Answer, Call, Capability, Op, Reply, RpcError};

use crate::support::{code, isolate, load};

/// Starts a call.
fn start(target: &dyn Capability, path: &[&str], arguments: Vec<Plain>) -> mpsc::Receiver<Answer> {
    let (sender, receiver) = mpsc::channel();
    let message = Plain::arguments(arguments).expect("small arguments");
    let call = Call { path: path.iter().map(|name| (*name).into()).collect(), op: Op::Call(message) };
    // A test that failed has stopped waiting.
    let _ = target.call(call, Reply::new(move |answer| drop(sender.send(answer))));
    receiver
}

/// Calls and waits.
fn call(target: &dyn Capability, path: &[&str], arguments: Vec<Plain>) -> Result<Plain, Box<RpcError>> {
    let answer = start(target, path, arguments).recv().expect("an answer");
    Ok(Plain::from_message(&answer.result?).expect("a plain value"))
}

fn worker(source: &str) -> Isolate {
    let isolate = isolate();
    load(&isolate, code(&[("m.js", source)])).expect("it loads");
    isolate
}

fn text(value: &Plain) -> String {
    value.as_string().expect("a string").to_string_lossy()
}

#[test]
fn programs_see_what_the_platform_shows() {
    let bodies: String = cases::CASES
        .iter()
        .map(|(name, body, _)| format!("{:?}: async (service, ctx) => {{ {body} }},\n", name))
        .collect();
    let isolate = worker(&include_str!("rpc/service.js").replace("/* CASES */", &bodies));
    let entrypoint = isolate.entrypoint(EntrypointSpec::default());
    let mut differences = Vec::new();
    for (name, _, expected) in cases::CASES {
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
