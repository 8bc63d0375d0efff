//! Starting Workers: what is accepted, and the text of each refusal.

use std::sync::mpsc;

use loaderd_runtime::isolate::LoadPhase;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::modules::CodeCachePolicy;

use crate::support::{code, isolate, load};

/// Names and sources.
type Modules = &'static [(&'static str, &'static str)];

/// Modules (the first is the main one) and the expected report, without its first line.
const REPORTS: &[(Modules, LoadPhase, &str)] = &[
    (
        &[("m.js", "function f(){ throw new Error('boom') }\nfunction g(){ f() }\ng();\nexport default {}")],
        LoadPhase::Evaluate,
        "Uncaught Error: boom\n  at m.js:1:21 in f\n  at m.js:2:15 in g\n  at m.js:3:1",
    ),
    (&[("m.js", "throw 'str'")], LoadPhase::Evaluate, "Uncaught Error: str"),
    (&[("m.js", "throw {a:1}")], LoadPhase::Evaluate, "Uncaught Error: #<Object>"),
    (&[("m.js", "throw undefined")], LoadPhase::Evaluate, "Uncaught Error: undefined"),
    (
        &[(
            "m.js",
            "class MyErr extends Error{ constructor(m){super(m); this.name='MyErr'; this.code=5} }; throw new MyErr('zz')",
        )],
        LoadPhase::Evaluate,
        "Uncaught Error: MyErr: zz\n  at m.js:1:94",
    ),
    (
        &[("m.js", "null.x")],
        LoadPhase::Evaluate,
        "Uncaught TypeError: Cannot read properties of null (reading 'x')\n  at m.js:1:6",
    ),
    (
        &[("m.js", "let a = 1;\nlet a = 2;")],
        LoadPhase::Compile,
        "Uncaught SyntaxError: Identifier 'a' has already been declared\n  at m.js:2:4",
    ),
    (
        &[("m.js", "import './b.js'; export {}"), ("b.js", "let x = ;")],
        LoadPhase::Compile,
        "Uncaught SyntaxError: Unexpected token ';'\n  at b.js:1:8",
    ),
    (
        &[("m.js", "export {}"), ("unused.js", "let x = ;")],
        LoadPhase::Compile,
        "Uncaught SyntaxError: Unexpected token ';'\n  at unused.js:1:8",
    ),
    (
        &[("m.js", "import {nope} from './b.js'; export {}"), ("b.js", "export let x = 1;")],
        LoadPhase::Compile,
        "Uncaught SyntaxError: The requested module './b.js' does not provide an export named 'nope'\n  at m.js:1:8",
    ),
    (
        &[("m.js", "import './sub/c.js'; export {}")],
        LoadPhase::Compile,
        "Uncaught Error: No such module \"sub/c.js\".\n  imported from \"m.js\"",
    ),
    (
        &[("m.js", "import './sub/b.js'; export {}"), ("sub/b.js", "import '../x.js'; import './y.js'")],
        LoadPhase::Compile,
        "Uncaught Error: No such module \"x.js\".\n  imported from \"sub/b.js\"",
    ),
    (
        &[("m.js", "import 'node:nope'; export {}")],
        LoadPhase::Compile,
        "Uncaught Error: No such module \"node:nope\".\n  imported from \"m.js\"",
    ),
    (
        &[("m.js", "import '../../b.js'; export {}"), ("b.js", "export {}")],
        LoadPhase::Compile,
        "Uncaught TypeError: Invalid module specifier \"../../b.js\".\n  imported from \"m.js\".",
    ),
    (
        &[("m.js", "await new Promise(()=>{}); export {}")],
        LoadPhase::Evaluate,
        "Uncaught Error: Top-level await in module is unsettled.",
    ),
    (
        &[("m.js", "import './b.js'; export {}"), ("b.js", "await new Promise(()=>{});")],
        LoadPhase::Evaluate,
        "Uncaught Error: Top-level await in module is unsettled.",
    ),
    (
        &[("m.js", "await Promise.reject(new Error('rej')); export {}")],
        LoadPhase::Evaluate,
        "Uncaught Error: rej\n  at m.js:1:22",
    ),
    (
        &[("m.js", "eval('1')")],
        LoadPhase::Evaluate,
        "Uncaught EvalError: Code generation from strings disallowed for this context\n  at m.js:1:1",
    ),
    // The platform's own frames are not shown.
    (
        &[("m.js", "function f() { new URL('none') }\nf()")],
        LoadPhase::Evaluate,
        "Uncaught TypeError: Invalid URL string.\n  at m.js:1:16 in f\n  at m.js:2:1",
    ),
    (
        &[("m.js", "throw new DOMException('d', 'AbortError')")],
        LoadPhase::Evaluate,
        "Uncaught DOMException(AbortError): d\n  at m.js:1:7",
    ),
    // Exports are functions or objects of handlers.
    (
        &[("m.js", "export default {}; export const n = 5")],
        LoadPhase::Evaluate,
        "Uncaught TypeError: Incorrect type for map entry 'n': the provided value is not of type 'function or \
         ExportedHandler'.",
    ),
    (
        &[("m.js", "export default Object.create(null)")],
        LoadPhase::Evaluate,
        "Exported value's prototype chain does not end in Object.",
    ),
    // Names are paths.
    (
        &[("m.js", "export default {}"), ("a.js", ""), ("./b/../a.js", "")],
        LoadPhase::Compile,
        "Uncaught Error: Module \"a.js\" already added to bundle",
    ),
];

#[test]
fn failures_read_as_on_the_platform() {
    for (modules, phase, report) in REPORTS {
        let error = load(&isolate(), code(modules)).expect_err(report);
        assert_eq!(error.message, format!("Failed to start Worker:\n{report}"));
        assert_eq!(error.phase, *phase, "{report}");
    }
}

#[test]
fn modules_find_each_other() {
    let main = "import a from 'b.js'; import b from '/sub/b.js'; import c from './sub/../sub/c.js';
        const d = (await import('./sub/b.js')).default;
        if (a + b + c + d !== 'rootsubroot+subsub') throw new Error(a + b + c + d);
        export default {};";
    let modules = [
        ("m.js", main),
        ("b.js", "export default 'root'"),
        ("sub/b.js", "export default 'sub'"),
        ("sub/c.js", "import a from '../b.js'; import b from './b.js'; export default a + '+' + b"),
    ];
    load(&isolate(), code(&modules)).expect("loads");
}

#[test]
fn an_endless_start_meets_the_startup_budget() {
    for source in [
        "for (;;) {}",
        "await (async () => { for (;;) await null; })()",
        "export default { get x() { } }; while (true) { try { while (true) {} } finally { continue } }",
    ] {
        let isolate = isolate();
        let mut code = code(&[("m.js", source)]);
        code.startup_cpu = std::time::Duration::from_millis(20);
        let error = load(&isolate, code).expect_err(source);
        assert_eq!(error.cause, Some(Cause::ExceededStartupCpu), "{source}");
        assert_eq!(error.message, "Script startup exceeded CPU time limit.");
    }
}

#[test]
fn memory_is_limited_and_the_process_lives() {
    for source in [
        "const a = []; for (;;) a.push(new Array(1000).fill(a.length))",
        "let s = 'x'.repeat(1000); const a = []; for (;;) { s += s + 'y'.repeat(100); a.push(s.replaceAll('x', 'zz')) }",
        "const a = []; for (;;) a.push(new Uint8Array(1 << 20))",
        "const a = []; for (;;) a.push(new ArrayBuffer(100))",
    ] {
        let isolate = isolate();
        let mut code = code(&[("m.js", source)]);
        code.startup_cpu = std::time::Duration::from_secs(60);
        let error = load(&isolate, code).expect_err(source);
        assert!(
            error.cause == Some(Cause::ExceededMemory) || error.message.contains("Invalid string length"),
            "{source}: {error:?}"
        );
    }
}

#[test]
fn the_report_lists_entrypoints_without_running_their_code() {
    let main = r#"
        import { WorkerEntrypoint } from "cloudflare:workers";
        export default { fetch() {}, test() {}, get trap() { throw new Error("ran"); }, not: 1 };
        export class Service extends WorkerEntrypoint { greet() {} static helper() {} }
        export const proxy = new Proxy({ test() {} }, { ownKeys() { throw new Error("ran"); } });
        export const promise = Promise.resolve({ test() {} });
        export function plain() {}
        export const handlers = { test: () => {} };
    "#;
    let isolate = isolate();
    let report = load(&isolate, code(&[("main.js", main)])).expect("it loads");
    let listed: Vec<String> =
        report.entrypoints.iter().map(|it| format!("{}: {}", it.name, it.handlers.join(" "))).collect();
    assert_eq!(listed, ["default: fetch test", "Service: greet", "handlers: test", "plain: "]);
    assert!(report.entrypoints[0].handles("test") && !report.entrypoints[1].handles("helper"));
}

/// An isolate makes ahead what the latest Worker had of the host's modules. Each Worker sees its own all the same.
#[test]
fn what_was_made_ahead_serves_only_workers_that_have_the_same() {
    use CodeCachePolicy::{None, Shared};
    let one = "globalThis.runs = (globalThis.runs ?? 0) + 1; export const text = 'one';";
    let other = "export const text = 'other';";
    let importing = "import { WorkerEntrypoint } from 'cloudflare:workers'; export const text = WorkerEntrypoint.name;";
    let waiting = "await null; export const text = 'waited';";
    let thrown = "throw new Error('of the host'); export let text;";
    // A module's name, source and policy, and the text it must have; `None` there: the Worker does not start.
    let workers = [
        ("host.js", one, Shared, Some("one")),
        ("host.js", one, Shared, Some("one")),
        ("host.js", other, Shared, Some("other")),
        ("host.js", one, None, Some("one")),
        ("host.js", other, Shared, Some("other")),
        ("sub/host.js", other, Shared, Some("other")),
        ("host.js", importing, Shared, Some("WorkerEntrypoint")),
        ("host.js", importing, Shared, Some("WorkerEntrypoint")),
        ("host.js", waiting, Shared, Some("waited")),
        ("host.js", waiting, Shared, Some("waited")),
        ("host.js", thrown, Shared, Option::None),
        ("host.js", thrown, Shared, Option::None),
        ("host.js", one, Shared, Some("one")),
        ("host.js", other, None, Some("other")),
    ];
    for (turn, (name, source, policy, text)) in workers.into_iter().enumerate() {
        let main = format!(
            "import {{ WorkerEntrypoint }} from 'cloudflare:workers'; import {{ text }} from '{name}';\n\
             if (text !== '{}' || globalThis.runs > 1) throw new Error(`${{text}}, ${{globalThis.runs}} times`);\n\
             export default class extends WorkerEntrypoint {{}}",
            text.unwrap_or_default()
        );
        let mut code = code(&[("m.js", &main), (name, source)]);
        code.source.modules[1].code_cache = policy;
        let (isolate, gone) = (isolate(), mpsc::channel());
        isolate.on_end(move |_| gone.0.send(()).expect("the test waits"));
        let loaded = load(&isolate, code);
        assert_eq!(loaded.is_ok(), text.is_some(), "{turn}: {loaded:?}");
        isolate.end(Cause::Shutdown);
        gone.1.recv().expect("its end");
    }
}
