//! What a program may make as long as its memory allows: names, messages, stacks. None of it may cost its process, where
//! others are.

use std::any::Any;
use std::sync::Arc;

use libtest_mimic::Trial;
use loaderd_loader::{LoaderOptions, ModuleSource, WorkerCode, WorkerStub};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{
    Answer, Call, Cap, CapKind, Capability, ERROR_TEXT_BYTES_MAX, Message, Op, Reply, RpcError,
};

use super::{Broker, PATIENCE, REAL, expect};
use crate::doors::rust::runtime;

/// Longer than any frame between the processes may be, in UTF-8 bytes. In a program's memory it takes two thirds of that.
const LONG: usize = 90 << 20;

/// What becomes of a call.
#[derive(Clone, Copy)]
enum Then {
    /// It is refused for its size.
    Refused,
    /// It fails with as much of the text as may cross.
    Cut,
    /// It fails with this text.
    Fails(&'static str),
    Succeeds,
}
use Then::{Cut, Fails, Refused, Succeeds};

/// What a Worker does with an object of the host's.
const CALLS: &[(&str, &str, Then)] = &[
    ("name of a method", "await object[long()]()", Refused),
    ("name of a property", "await object[long()]", Refused),
    (
        "names on a path",
        "const name = long(16); let at = object; for (let i = 0; i < 30; i++) at = at[name]; await at()",
        Refused,
    ),
    ("argument", "await object.take(long())", Refused),
    ("result", "return long()", Refused),
    ("message that is thrown", "throw new Error(long())", Cut),
    ("text that is thrown", "throw long()", Cut),
    ("name of an error", "const error = new TypeError('x'); error.name = long(); throw error", Fails("x")),
    ("stack of an error", "const error = new Error('x'); error.stack = long(); throw error", Fails("x")),
    (
        "message of what its object throws",
        "await object.back(new class extends RpcTarget { back() { throw new Error(long()); } })",
        Cut,
    ),
    ("reason of an abort", "this.ctx.abort(new Error(long())); await object.take(1)", Cut),
    ("line of the console", "console.log(long())", Succeeds),
    ("message of what an object of the host throws", "await object.fails()", Cut),
    ("answer of an object of the host", "await object.answers()", Refused),
];

/// What a Worker does when it starts.
const STARTS: &[(&str, &str, Then)] = &[
    ("message that a module throws", "throw new Error(long());", Cut),
    ("text that a module throws", "throw long();", Cut),
    ("name of a module that is not there", "await import(long());", Fails("Script startup exceeded CPU time limit.")),
];

pub(crate) fn trials() -> Vec<Trial> {
    let calls = CALLS.iter().map(|(name, text, then)| (name, module("", text), *then));
    let starts = STARTS.iter().map(|(name, text, then)| (name, module(text, ""), *then));
    let all = calls.chain(starts);
    all.map(|(name, module, then)| {
        Trial::test(format!("sandboxes::oversize::{}", name.replace(' ', "_")), move || {
            runtime().block_on(beside_a_neighbour(&module, then)).map_err(Into::into)
        })
    })
    .collect()
}

fn module(top: &str, body: &str) -> String {
    format!(
        "import {{ WorkerEntrypoint, RpcTarget }} from 'cloudflare:workers';
         const long = (parts = 1) => '€'.repeat({LONG} / 3 / parts);
         {top}
         export default class extends WorkerEntrypoint {{ async run(object) {{ {body} }} }}"
    )
}

/// An object of the host's: it calls back what it is given, and may itself say too much.
struct Object;

impl Capability for Object {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        match (call.path.first().map_or("", String::as_str), call.op) {
            ("fails", _) => reply.send(Err(RpcError::new("Error", "€".repeat(LONG / 3)))),
            ("answers", _) => reply.send(Ok(Message { bytes: vec![0; LONG].into(), caps: Vec::new() })),
            (_, Op::Call(Message { caps, .. })) if !caps.is_empty() => {
                return caps[0].target.call(Call::new(vec!["back".to_owned()], Op::Call(no_arguments())), reply);
            }
            _ => reply.send(Ok(Plain::Null.to_message().expect("null can be written"))),
        }
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn no_arguments() -> Message {
    Plain::arguments(Vec::new()).expect("no arguments can be written")
}

fn worker(broker: &Broker, text: &str) -> Result<WorkerStub, String> {
    let code = WorkerCode::new("2026-07-01", "m.js").module("m.js", ModuleSource::ByName(text.to_owned().into()));
    broker.host.loader(LoaderOptions::default()).load(code).map_err(|error| error.to_string())
}

async fn call(stub: &WorkerStub) -> Result<Answer, String> {
    let object = Plain::from(Cap { kind: CapKind::Object, target: Arc::new(Object) });
    let arguments = Plain::arguments(vec![object]).map_err(|error| error.to_string())?;
    let answering = stub.entrypoint(None, None, Default::default()).call_method("run", arguments);
    tokio::time::timeout(PATIENCE, answering).await.map_err(|_| "it was never answered".to_owned())
}

async fn beside_a_neighbour(text: &str, then: Then) -> Result<(), String> {
    const REFUSAL: &str = "Serialized RPC arguments or return values are limited to 32MiB";
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let neighbour = worker(&broker, &module("", "return 1"))?;
    neighbour.ready().await.map_err(|error| error.to_string())?;
    let said = call(&worker(&broker, text)?).await?.result.map(drop).map_err(|error| error.message);
    let as_wanted = match (then, &said) {
        (Succeeds, Ok(())) => true,
        (Refused, Err(message)) => message.starts_with(REFUSAL),
        // At most two bytes short, since a character has three.
        (Cut, Err(message)) => {
            message.contains("€€€") && (ERROR_TEXT_BYTES_MAX - 2..=ERROR_TEXT_BYTES_MAX).contains(&message.len())
        }
        (Fails(text), Err(message)) => message == text,
        _ => false,
    };
    if !as_wanted {
        let start = said.map_err(|message| (message.len(), message.chars().take(100).collect::<String>()));
        return Err(format!("it should have ended otherwise than {start:?}"));
    }
    let answer = call(&neighbour).await?.result.map_err(|error| error.message)?;
    let answer = Plain::from_message(&answer).map_err(|error| error.to_string())?;
    expect("the neighbour's answer", &answer.as_number(), &Some(1.0))?;
    expect("processes that had to be replaced", &broker.sandboxes.metrics().restarts, &Default::default())
}
