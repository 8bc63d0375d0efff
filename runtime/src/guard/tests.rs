//! A panic in each kind of callback costs its isolate, and nothing else.

use std::cell::Cell;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use super::Callback::{self, *};
use crate::channel::Channels;
use crate::compat::{CompatFlags, DateCheck, Experimental};
use crate::isolate::{EntrypointSpec, Isolate, IsolateConfig, LoadCode};
use crate::limits::{Cause, ResourceLimits};
use crate::modules::{Module, ModuleContent, WorkerSource};
use crate::rpc::plain::Plain;
use crate::rpc::{Call, Op, Reply, RpcError};

extern "C" fn set_up() {
    crate::setup::initialize();
}

// SAFETY: the C runtime calls this once on the main thread before `main`; it uses nothing that `main` sets up. V8 wants
// to be set up before other threads exist, and the test harness makes them.
#[used]
#[unsafe(link_section = ".init_array")]
static SET_UP: extern "C" fn() = set_up;

thread_local! {
    static ASKED: Cell<Option<Callback>> = const { Cell::new(None) };
}

/// Panics when this thread was asked to do so in such a callback; once.
pub(super) fn panic_if_asked(callback: Callback) {
    if ASKED.get() == Some(callback) {
        ASKED.set(None);
        panic!("on purpose, in a callback: {}", callback.name());
    }
}

/// What has V8 call us: the statements of an asynchronous function of a module.
const CASES: &[(Callback, &str)] = &[
    (Function, "structuredClone(1)"),
    (Getter, "TextEncoder"),
    (
        Setter,
        "await new HTMLRewriter().on('a', { element(a) { a.tagName = 'b'; } }).transform(new Response('<a>')).text()",
    ),
    (Import, ""),
    (SourceImport, ""),
    (DynamicImport, "await import('other.js')"),
    (DynamicImport, "await import.source('m.wasm')"),
    (ImportMeta, "import.meta"),
    (SyntheticModule, ""),
    (Rejection, "Promise.reject(1)"),
    // Between turns too.
    (
        Message,
        "const all = new FinalizationRegistry(() => { throw 1; }); for (;;) { for (let n = 0; n < 1000; n++) all.register({}, n); new Array(1e5).fill(1); await scheduler.wait(1); }",
    ),
    (StackTrace, "new Error('e').stack"),
    (Serialize, "structuredClone({})"),
    (Deserialize, "structuredClone(new Error('e'))"),
    (Collected, GARBAGE),
    (HeapLimit, "const kept = []; for (;;) kept.push(new Array(1e5).fill(kept.length))"),
    // V8 calls finalizers between turns.
    (
        Finalizer,
        "for (;;) { for (let n = 0; n < 100; n++) new crypto.DigestStream('MD5'); new Array(1e5).fill(1); await scheduler.wait(1); }",
    ),
    (Interrupt, "const memory = new WebAssembly.Memory({ initial: 1 }); for (;;);"),
    (WasmFromBytes, "new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))"),
    (Allocate, "new ArrayBuffer(8)"),
];

const GARBAGE: &str = "let kept; for (;;) kept = Array.from({ length: 1e5 }, (_, n) => ({ n }))";

/// A module whose function runs these statements.
pub(crate) fn code(statements: &str) -> LoadCode {
    let main = format!(
        "import source wasm from 'm.wasm';
         import text from 'm.txt';
         import 'other.js';
         // What the program goes on with, were it let.
         const on = () => {{ for (;;); }};
         export default {{ async run() {{ try {{ {statements} }} finally {{ on(); }} }} }};"
    );
    let modules = vec![
        Module::es_module("main.js", main),
        Module::es_module("other.js", ""),
        Module::new("m.txt", ModuleContent::Text("text".into())),
        Module::new("m.wasm", ModuleContent::Wasm(b"\0asm\x01\0\0\0".to_vec().into())),
    ];
    let flags = CompatFlags::resolve(
        "2026-07-01",
        &["enhanced_error_serialization"],
        Experimental::Allowed,
        DateCheck::Unchecked,
    );
    LoadCode {
        source: WorkerSource { main_module: "main.js".into(), modules, extensions: Default::default() },
        env: None,
        channels: Channels::default(),
        startup_cpu: Duration::from_secs(60),
        // Where there was no panic after all.
        limits: ResourceLimits { cpu_ms: Some(10_000), ..ResourceLimits::default() },
        on_hang: Default::default(),
        uses: Default::default(),
        clock: Default::default(),
        compat: flags.expect("flags"),
    }
}

/// An isolate, and what it will say of its end.
pub(crate) fn isolate() -> (Isolate, Receiver<Cause>) {
    let config = IsolateConfig { memory_bytes_max: 32 << 20, ..IsolateConfig::default() };
    let isolate = Isolate::spawn(config).expect("a thread");
    let (ended, end) = mpsc::channel();
    isolate.on_end(move |cause| ended.send(cause).expect("the test waits"));
    (isolate, end)
}

/// Starts the module's function; what it will answer.
pub(crate) fn start(isolate: &Isolate) -> Receiver<Result<(), RpcError>> {
    let (answered, answer) = mpsc::channel();
    let reply = Reply::new(move |answer| answered.send(answer.result.map(drop)).expect("the test waits"));
    let arguments = Plain::arguments(vec![Plain::Undefined]).expect("one argument");
    let call = Call::new(vec!["run".into()], Op::Call(arguments));
    isolate.entrypoint(EntrypointSpec::default()).invoke(call, reply, None);
    answer
}

fn run(isolate: &Isolate) -> Result<(), RpcError> {
    start(isolate).recv().expect("an answer")
}

/// Whether something can still be done on the isolate's thread.
fn lives(isolate: &Isolate) -> bool {
    let (answered, answer) = mpsc::channel();
    isolate.shared().post_task(None, move |_| answered.send(()).expect("the test waits"));
    answer.recv().is_ok() && isolate.ended().is_none()
}

#[test]
fn a_panic_costs_its_isolate_alone() {
    let (neighbour, _end) = isolate();
    let mut kinds: Vec<_> = CASES.iter().map(|(callback, _)| *callback as usize).collect();
    kinds.dedup();
    // In their order, the last one of all at the end.
    assert!(kinds.into_iter().eq(0..=Allocate as usize), "a kind of callback without a case");
    let mut wrong = Vec::new();
    for (callback, statements) in CASES {
        let (unlucky, end) = isolate();
        unlucky.shared().post_task(None, |_| ASKED.set(Some(*callback)));
        unlucky.load(code(statements), |_| {});
        let error = run(&unlucky).expect_err("it cannot go on");
        // The finalizers of what lives are called when the isolate goes.
        unlucky.end(Cause::Shutdown);
        let cause = end.recv().expect("it ends");
        if (error.cause, cause) != (Some(Cause::InternalError), Cause::InternalError) || !lives(&neighbour) {
            wrong.push((callback, cause, error));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A panic between V8's callbacks unwinds the thread, with V8's isolate on it.
#[test]
fn a_turn_that_panics_costs_its_isolate_alone() {
    let ((neighbour, _end), (unlucky, end)) = (isolate(), isolate());
    unlucky.load(code("new CompressionStream('gzip')"), |_| {});
    unlucky.shared().post_task(None, |_| panic!("on purpose, in a turn"));
    assert_eq!(end.recv(), Ok(Cause::InternalError));
    assert!(lives(&neighbour));
}
