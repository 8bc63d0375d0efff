//! The checks on code that need no isolate, with the platform's texts.

use loaderd_loader::code::{CODE_BYTES_MAX, CodeError, ENV_BYTES_MAX, check};
use loaderd_loader::tails::Activity;
use loaderd_loader::{ModuleSource, WorkerCode};
use loaderd_runtime::compat::Experimental;
use loaderd_runtime::modules::ModuleContent;
use loaderd_runtime::rpc::Message;

fn js(name: &str) -> WorkerCode {
    WorkerCode::new("2026-07-01", "m.js").module(name, ModuleSource::ByName("export default {}".into()))
}

fn flags(date: &str, flags: &[&str]) -> WorkerCode {
    let compatibility_flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
    WorkerCode { compatibility_date: date.into(), compatibility_flags, ..js("m.js") }
}

fn zeros(bytes: usize) -> ModuleContent {
    ModuleContent::Data(vec![0; bytes].into())
}

#[test]
fn refused_code() {
    let python = |name: &str| js("m.js").module(name, ModuleSource::Python("pass".into()));
    let cases: Vec<(WorkerCode, &str, &str)> = vec![
        (WorkerCode::new("2026-07-01", "m.js"), "TypeError", "Dynamic Worker code must contain at least one module."),
        (
            js("m.mjs"),
            "TypeError",
            "Module name must end with '.js' or '.py' (or the content must be an object indicating the type \
             explicitly). Got: m.mjs",
        ),
        (
            js("m.tsx"),
            "TypeError",
            "Module name must end with '.js' or '.py' (or the content must be an object indicating the type \
             explicitly). Got: m.tsx. If you're trying to load TypeScript, bundle it first with \
             '@cloudflare/worker-bundler' and pass the generated JavaScript modules.",
        ),
        (python("x"), "TypeError", "Module \"x\" is a Python module, but the main module isn't a Python module."),
        (
            js("m.js").module("x.py", ModuleSource::ByName("pass".into())),
            "TypeError",
            "Module \"x.py\" is a Python module, but the main module isn't a Python module.",
        ),
        (
            WorkerCode { main_module: "x.py".into(), ..python("x.py") },
            "TypeError",
            "Python Workers are not supported by loaderd: \"x.py\" is a Python module. Give the Worker a JavaScript \
             main module.",
        ),
        (
            js("m.js").module("m.js", ModuleContent::Text("".into())),
            "TypeError",
            "Module \"m.js\" is given more than once.",
        ),
        (
            js("m.js").module("d", zeros(CODE_BYTES_MAX)),
            "Error",
            "Dynamic Worker code size (67108881 bytes) exceeds the maximum allowed size of 67108864 bytes.",
        ),
        (
            WorkerCode {
                env: Some(Message { bytes: vec![0; ENV_BYTES_MAX + 1].into(), caps: Vec::new() }),
                ..js("m.js")
            },
            "Error",
            "Dynamic Worker env size (1048577 bytes) exceeds the maximum allowed size of 1048576 bytes.",
        ),
        (
            WorkerCode { allow_experimental: true, ..js("m.js") },
            "Error",
            "'allowExperimental' is only allowed when the calling worker has the 'experimental' compat flag set.",
        ),
        (flags("undefined", &[]), "Error", "Invalid compatibility date: undefined"),
        (
            flags("2099-01-01", &[]),
            "Error",
            "This Worker requires compatibility date \"2099-01-01\", but the newest date supported by this server \
             binary is \"2026-11-24\".",
        ),
        (flags("2026-07-01", &["nope"]), "Error", "No such compatibility flag: nope"),
        (
            flags("2026-07-01", &["nodejs_compat", "no_nodejs_compat"]),
            "Error",
            "Compatibility flags are mutually contradictory: nodejs_compat vs no_nodejs_compat",
        ),
        (
            flags("2026-07-01", &["experimental"]),
            "Error",
            "The compatibility flag experimental is experimental and may break or be removed in a future version of \
             workerd. To use this flag, you must pass --experimental on the command line.",
        ),
    ];
    for (code, class, text) in cases {
        let error = check(code, Experimental::Refused, &Activity::default())
            .err()
            .unwrap_or_else(|| panic!("accepted, not: {text}"));
        assert_eq!((error.class(), error.to_string().as_str()), (class, text));
    }
}

#[test]
fn accepted_code() {
    let cases = [
        ("one module", js("m.js")),
        // Reported when it starts, as on the platform.
        ("a main module that is not there", js("other.js")),
        ("every kind", {
            js("m.js")
                .module("c", ModuleContent::CommonJs("".into()))
                .module("t", ModuleContent::Text("".into()))
                .module("d", zeros(0))
                .module("j", ModuleContent::Json("{}".into()))
                .module("w", ModuleContent::Wasm(Vec::new().into()))
        }),
        ("just not too much code", js("m.js").module("d", zeros(CODE_BYTES_MAX - 17))),
        ("a flag that the date turns on anyway", flags("2026-07-01", &["formdata_parser_supports_files"])),
    ];
    for (what, code) in cases {
        assert_eq!(check(code, Experimental::Refused, &Activity::default()).err(), None, "{what}");
    }
    let experimental = WorkerCode { allow_experimental: true, ..flags("2026-07-01", &["experimental"]) };
    assert_eq!(check(experimental, Experimental::Allowed, &Activity::default()).err(), None);
}

#[test]
fn a_module_must_have_one_kind() {
    let error = CodeError::ModuleKinds { name: "a".into(), count: 2 };
    assert_eq!(
        error.to_string(),
        "Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module 'a' \
         contained 2 properties."
    );
}
