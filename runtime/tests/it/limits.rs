//! Limits that Workers meet: memory of every kind, summed; CPU time of what is not an invocation's own work.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::isolate::EntrypointSpec;
use loaderd_runtime::limits::{Cause, Outcome, ResourceLimits};
use loaderd_runtime::modules::{CodeCachePolicy, Module, ModuleContent};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Op, Reply};

use crate::rpc::call;
use crate::support::{code, isolate, load};

/// `(module (memory 1) (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))`
///
/// Its memory is its own: neither exported nor made by JavaScript.
const GROWS: &[u8] = b"\0asm\x01\0\0\0\x01\x06\x01\x60\x01\x7f\x01\x7f\x03\x02\x01\0\x05\x03\x01\0\x01\
    \x07\x08\x01\x04grow\0\0\x0a\x08\x01\x06\0\x20\0\x40\0\x0b";

/// Where memory comes from, as the top level of a Worker, and whether it fits.
const MEMORIES: &[(&str, &str, bool)] = &[
    ("one that a module has and grows, within the limit", "made().grow(1000)", true),
    ("several that modules have and grow", "for (let n = 0; n < 3; n++) made().grow(1000)", false),
    ("very many small ones", "for (let n = 0; n < 40; n++) made().grow(100)", false),
    (
        "one of a module beside buffers",
        "made().grow(1000); keep.push(new Uint8Array(40000000), new Uint8Array(40000000))",
        false,
    ),
    (
        "one of a module beside one of JavaScript",
        "made().grow(1500); keep.push(new WebAssembly.Memory({ initial: 1000 }))",
        false,
    ),
    (
        "one that grows while nothing else runs",
        "made().grow(100); for (let n = 0; n < 3; n++) made(); for (;;) for (const k of keep) k.grow(10)",
        false,
    ),
    ("a module's imports, seen by the program", "if (WebAssembly.Module.imports(grows).length > 0) throw 1", true),
    (
        "several that come and go",
        "const one = () => { new WebAssembly.Instance(grows).exports.grow(800); }; for (let n = 0; n < 20; n++) one();",
        true,
    ),
    ("a resizable buffer within the limit", "resizable(50)", true),
    ("resizable buffers that grow", "for (let n = 0; n < 40; n++) resizable(90)", false),
    ("a resizable buffer beside one of a module", "made().grow(1000); resizable(90)", false),
    (
        "resizable buffers that grow by being transferred",
        "for (let n = 0; n < 5; n++) keep.push(new ArrayBuffer(1, { maxByteLength: 90 * MB }).transfer(60 * MB))",
        false,
    ),
    (
        "resizable buffers that are made large",
        "for (let n = 0; n < 3; n++) keep.push(new ArrayBuffer(60 * MB, { maxByteLength: 90 * MB }))",
        false,
    ),
    ("resizable buffers that come and go", "for (let n = 0; n < 40; n++) { resizable(90); keep.length = 0; }", true),
    ("a growable shared buffer within the limit", "growable(50)", true),
    ("growable shared buffers that grow", "for (let n = 0; n < 40; n++) growable(90)", false),
    (
        "growable shared buffers that are made large",
        "for (let n = 0; n < 3; n++) keep.push(new SharedArrayBuffer(60 * MB, { maxByteLength: 90 * MB }))",
        false,
    ),
    (
        "growable shared buffers of a class of one's own",
        "class Own extends SharedArrayBuffer {} for (let n = 0; n < 3; n++) keep.push(new Own(60 * MB, { maxByteLength: 90 * MB }))",
        false,
    ),
    (
        "growable shared buffers by way of a memory's class",
        "const Made = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }).buffer.constructor; for (let n = 0; n < 3; n++) keep.push(new Made(60 * MB, { maxByteLength: 90 * MB }))",
        false,
    ),
    (
        "growable shared buffers that come and go",
        "for (let n = 0; n < 40; n++) { growable(90); keep.length = 0; }",
        true,
    ),
    (
        "clones of a shared memory's buffer",
        "for (let n = 0; n < 3; n++) keep.push(structuredClone(new WebAssembly.Memory({ initial: 1000, maximum: 1000, shared: true }).buffer))",
        false,
    ),
    (
        "clones of one growable shared buffer",
        "growable(90); for (let n = 0; n < 3; n++) keep.push(structuredClone(keep[0]))",
        true,
    ),
    ("shared buffers", "for (let n = 0; n < 3; n++) keep.push(new SharedArrayBuffer(60 * MB))", false),
];

#[test]
fn every_kind_of_memory_beside_the_heap_counts_against_the_one_limit() {
    for (what, source, fits) in MEMORIES {
        let main = format!(
            "import grows from './grows.wasm';\nconst keep = [];\n\
             const MB = 1 << 20;\n\
             const resizable = (mb) => {{ const b = new ArrayBuffer(1, {{ maxByteLength: 100 * MB }}); b.resize(mb * MB); keep.push(b); }};\n\
             const growable = (mb) => {{ const b = new SharedArrayBuffer(1, {{ maxByteLength: 100 * MB }}); b.grow(mb * MB); keep.push(b); }};\n\
             const made = () => {{ const made = new WebAssembly.Instance(grows).exports; keep.push(made); return made; }};\n\
             {source};\nexport default {{}}"
        );
        let mut worker = code(&[("m.js", &main)]);
        worker.source.modules.push(Module {
            name: "grows.wasm".into(),
            content: ModuleContent::Wasm(GROWS.into()),
            code_cache: CodeCachePolicy::None,
        });
        worker.startup_cpu = Duration::from_secs(20);
        let ended = load(&isolate(), worker).map(drop).map_err(|error| (error.cause, error.message));
        match (fits, &ended) {
            (true, Ok(())) | (false, Err((Some(Cause::ExceededMemory), _))) => {}
            _ => panic!("{what}: {ended:?}"),
        }
    }
}

/// Somebody must listen, or nothing is formatted.
struct Nobody;

impl ConsoleSink for Nobody {
    fn line(&self, _: ConsoleLevel, _: &str) {}
}

/// What an invocation with 15 ms of its own does, and what ends it. The busy module takes longer than that, and less
/// than the start-up budget; so does the busy value, and less than the budget for logging.
const ASIDES: &[(&str, &str, Option<Cause>)] = &[
    ("a module's evaluation is not its importer's", "await import('busy.js')", None),
    (
        "nor is what is left of the importer's time the module's",
        "await import('busy.js'); for (;;);",
        Some(Cause::ExceededCpu),
    ),
    (
        "a module that does not end meets the start-up budget",
        "await import('endless.js')",
        Some(Cause::ExceededStartupCpu),
    ),
    ("formatting is not the logger's", "console.log({ get [Symbol.toStringTag]() { return busy(1.5e6); } })", None),
    (
        "formatting has one budget for all that an invocation logs",
        "for (;;) console.log({ get [Symbol.toStringTag]() { return busy(1e5); } })",
        Some(Cause::ExceededCpu),
    ),
    (
        "formatting that does not end",
        "console.log({ get [Symbol.toStringTag]() { for (;;); } })",
        Some(Cause::ExceededCpu),
    ),
];

#[test]
fn imports_and_logs_have_budgets_of_their_own() {
    const BUSY: &str =
        "globalThis.busy = (n) => { let sum = 0; for (let i = 0; i < n; i++) sum += i % 7; return sum; };";
    for (what, source, cause) in ASIDES {
        let main = format!(
            "import {{ WorkerEntrypoint }} from 'cloudflare:workers';\n{BUSY}\n\
             export default class extends WorkerEntrypoint {{ async run() {{ {source}; return 'done'; }} }}"
        );
        let modules =
            [("m.js", &*main), ("busy.js", "export default busy(2e7)"), ("endless.js", "for (;;); export {}")];
        let mut worker = code(&modules);
        worker.channels.console = Some(Arc::new(Nobody));
        let isolate = isolate();
        load(&isolate, worker).expect("it loads");
        let limits = ResourceLimits { cpu_ms: Some(15), sub_requests: None };
        let entrypoint = isolate.entrypoint(EntrypointSpec { limits, ..EntrypointSpec::default() });
        let ended = call(&*entrypoint, &["run"], Vec::new()).map(drop).map_err(|error| error.cause);
        assert_eq!(ended, cause.map_or(Ok(()), |cause| Err(Some(cause))), "{what}");
    }
}

/// One invocation waits for a timer, and another of the same isolate meets its limit: both end, each with a cause of its own,
/// and both are reported, with the CPU time used. Also where the one that meets its limit never comes back from a builtin.
#[test]
fn a_limit_ends_the_others_of_its_isolate_with_another_cause() {
    const MAIN: &str = "import { WorkerEntrypoint } from 'cloudflare:workers';\n\
         export default class extends WorkerEntrypoint {\n\
           async wait() { await new Promise((done) => setTimeout(done, 1e9)); }\n\
           spin() { for (;;); }\n\
           deaf() { return Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1); }\n\
         }";
    const LIMIT: Duration = Duration::from_millis(200);
    for method in ["spin", "deaf"] {
        let isolate = isolate();
        load(&isolate, code(&[("m.js", MAIN)])).expect("it loads");
        let limits = ResourceLimits { cpu_ms: Some(200), sub_requests: None };
        let entrypoint = isolate.entrypoint(EntrypointSpec { limits, ..EntrypointSpec::default() });
        let [waiting, busy] = ["wait", method].map(|name| {
            let ((reply, answer), (ended, end)) = (Reply::channel(), std::sync::mpsc::channel());
            let arguments = Plain::arguments(Vec::new()).expect("no arguments");
            let call = Call::new(vec![name.to_owned()], Op::Call(arguments));
            entrypoint.invoke(call, reply, Some(Box::new(move |report| drop(ended.send(report)))));
            (answer, end)
        });
        for (what, (answer, end), cause, outcome) in [
            (method, busy, Cause::ExceededCpu, Outcome::ExceededCpu),
            ("wait", waiting, Cause::Condemned, Outcome::Canceled),
        ] {
            let answer = block_on(answer).expect("it is answered");
            assert_eq!(
                answer.result.map(drop).map_err(|error| error.cause),
                Err(Some(cause)),
                "{what} beside {method}"
            );
            let report = end.recv().expect("it is reported");
            assert_eq!(report.outcome, outcome, "{what} beside {method}");
            let used = [answer.usage.cpu, report.usage.cpu];
            if cause == Cause::ExceededCpu {
                assert!(used.iter().all(|cpu| *cpu >= LIMIT), "{what} beside {method}: {used:?}");
            } else {
                assert!(used.iter().all(|cpu| !cpu.is_zero() && *cpu < LIMIT), "{what} beside {method}: {used:?}");
            }
        }
    }
}

/// Whoever loaded a Worker lets go of it in the moment in which it has the answer.
#[test]
fn an_invocation_that_has_answered_was_not_canceled() {
    const MAIN: &str = "import { WorkerEntrypoint } from 'cloudflare:workers';\n\
         export default class extends WorkerEntrypoint {\n\
           async answers() { return 1; }\n\
           async waits() { await new Promise((done) => setTimeout(done, 1e9)); }\n\
           async goes_on() { this.ctx.waitUntil(this.waits()); }\n\
         }";
    for (name, outcome) in [("answers", Outcome::Ok), ("goes_on", Outcome::Canceled)] {
        let isolate = isolate();
        load(&isolate, code(&[("m.js", MAIN)])).expect("it loads");
        let entrypoint = isolate.entrypoint(EntrypointSpec::default());
        let (ended, end) = std::sync::mpsc::channel();
        let owner = isolate.clone();
        let reply = Reply::new(move |_| owner.end(Cause::Shutdown));
        let arguments = Plain::arguments(Vec::new()).expect("no arguments");
        let call = Call::new(vec![name.to_owned()], Op::Call(arguments));
        entrypoint.invoke(call, reply, Some(Box::new(move |report| drop(ended.send(report)))));
        assert_eq!(end.recv().expect("it is reported").outcome, outcome, "{name}");
    }
}

/// More programs than processors, all spinning at once: each is ended for its own limit, and none before it.
#[test]
fn many_that_spin_at_once_each_get_what_they_may_use() {
    const MAIN: &str = "import { WorkerEntrypoint } from 'cloudflare:workers';\n\
         export default class extends WorkerEntrypoint { spin() { for (;;); } }";
    const SPINNING: usize = 16;
    const LIMIT: Duration = Duration::from_millis(30);
    let limits = ResourceLimits { cpu_ms: Some(30), sub_requests: None };
    let started: Vec<_> = (0..SPINNING)
        .map(|_| {
            let isolate = isolate();
            load(&isolate, code(&[("m.js", MAIN)])).expect("it loads");
            let entrypoint = isolate.entrypoint(EntrypointSpec { limits, ..EntrypointSpec::default() });
            (isolate, entrypoint)
        })
        .collect();
    let spinning: Vec<_> = started
        .iter()
        .map(|(_, entrypoint)| {
            let ((reply, answer), (ended, end)) = (Reply::channel(), std::sync::mpsc::channel());
            let call =
                Call::new(vec!["spin".to_owned()], Op::Call(Plain::arguments(Vec::new()).expect("no arguments")));
            entrypoint.invoke(call, reply, Some(Box::new(move |report| drop(ended.send(report)))));
            (answer, end)
        })
        .collect();
    for (answer, end) in spinning {
        let answer = block_on(answer).expect("it is answered");
        assert_eq!(answer.result.map(drop).map_err(|error| error.cause), Err(Some(Cause::ExceededCpu)));
        let report = end.recv().expect("it is reported");
        assert_eq!(report.outcome, Outcome::ExceededCpu);
        assert!(answer.usage.cpu >= LIMIT && report.usage.cpu >= LIMIT, "{:?}, {:?}", answer.usage, report.usage);
    }
}
