//! wrangler projects on disk.

use std::num::NonZeroU32;
use std::path::Path;

use loaderd_loader::CallerCaps;
use loaderd_loader::config::{
    BindingValue, Config, DurableObjectStorage, Experimental, Listen, Validation, Worker, WorkerCode,
};
use loaderd_runtime::modules::ModuleContent;
use loaderd_wrangler_compat::project::{Project, assemble};

/// A project in a folder of its own, which goes when the test ends.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            let path = folder.0.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn open(&self, environment: Option<&str>) -> Result<Project, Vec<String>> {
        Project::open(self.path(), environment).map_err(|unopened| {
            let folder = format!("{}/", self.path().display());
            unopened.problems.iter().map(|problem| problem.to_string().replace(&folder, "")).collect()
        })
    }

    fn config(&self, environment: Option<&str>) -> Config {
        assemble(vec![self.open(environment).unwrap()], Listen::Address("127.0.0.1:0".into())).unwrap()
    }
}

fn only_worker(config: &Config) -> &Worker {
    config.services[0].worker().unwrap()
}

fn module_names(worker: &Worker) -> Vec<&str> {
    match &worker.code {
        WorkerCode::Modules(modules) => modules.iter().map(|module| module.name.as_str()).collect(),
        WorkerCode::ServiceWorker(_) => panic!("not modules"),
    }
}

/// Bindings as `NAME: kind: value`.
fn bindings(worker: &Worker) -> Vec<String> {
    let shown = worker.bindings.iter().map(|binding| {
        let value = match &binding.value {
            BindingValue::Text(value) | BindingValue::Json(value) => value.clone(),
            BindingValue::Service(to) => format!("{}#{:?}{:?}", to.service, to.entrypoint, to.props_json),
            other => other.kind().to_owned(),
        };
        format!("{}: {}: {value}", binding.name, binding.value.kind())
    });
    shown.collect()
}

const MAIN: (&str, &str) = ("src/index.js", "export default {}");

#[test]
fn toml_and_jsonc_mean_the_same() {
    let toml = r#"
name = "shop"
main = "src/index.js"
compatibility_date = "2026-01-01"
compatibility_flags = ["nodejs_compat"]
workers_dev = true
limits = { cpu_ms = 50, subrequests = 7, dynamic_workers_per_request = 4, dynamic_workers_per_object = 10 }
services = [
  { binding = "API", service = "shop", entrypoint = "Api", props = { level = 3 } },
]

[vars]
ANSWER = 42
GREETING = "hello"
NESTED = { a = [1, 2.5, true] }
SECRET = "overridden"

[[worker_loaders]]
binding = "LOADER"

[[tail_consumers]]
service = "shop"

[dev]
port = 8787
"#;
    let jsonc = r#"{
  // comments
  "$schema": "node_modules/wrangler/config-schema.json",
  "name": "shop", "main": "src/index.js", "compatibility_date": "2026-01-01",
  "compatibility_flags": ["nodejs_compat"],
  "limits": { "cpu_ms": 50, "subrequests": 7, "dynamic_workers_per_request": 4, "dynamic_workers_per_object": 10 },
  "vars": { "ANSWER": 42, "GREETING": "hello", "NESTED": { "a": [1, 2.5, true] }, "SECRET": "overridden" },
  "services": [{ "binding": "API", "service": "shop", "entrypoint": "Api", "props": { "level": 3 } }],
  "worker_loaders": [{ "binding": "LOADER" }],
  "tail_consumers": [{ "service": "shop" }],
  "dev": { "port": 8787 }, /* and trailing commas */
}"#;
    for (name, text) in [("wrangler.toml", toml), ("wrangler.jsonc", jsonc), ("wrangler.json", jsonc)] {
        let folder = Folder::new(&[(name, text), MAIN, (".dev.vars", "SECRET=from file\nEXTRA=1")]);
        let project = folder.open(None).unwrap();
        assert_eq!((project.name(), project.dev().port), ("shop", Some(8787)));
        assert!(project.files().contains(&folder.path().join(".dev.vars")));
        let config = folder.config(None);
        let worker = only_worker(&config);
        assert_eq!(module_names(worker), ["src/index.js"]);
        assert_eq!(worker.compatibility.date.as_deref(), Some("2026-01-01"));
        assert_eq!(worker.compatibility.flags, ["nodejs_compat"]);
        assert_eq!((worker.limits.cpu_ms, worker.limits.sub_requests), (Some(50), Some(7)));
        let caps = CallerCaps { request: NonZeroU32::new(4), durable_object: NonZeroU32::new(10) };
        assert_eq!(worker.caller_caps, caps);
        assert_eq!(worker.tails[0].service, "shop");
        let wanted = [
            "ANSWER: json: 42",
            "GREETING: text: hello",
            "NESTED: json: {\"a\":[1,2.5,true]}",
            "SECRET: text: from file",
            "EXTRA: text: 1",
            "API: service: shop#Some(\"Api\")Some(\"{\\\"level\\\":3}\")",
            "LOADER: workerLoader: workerLoader",
        ];
        assert_eq!(bindings(worker), wanted, "{name}");
        assert_eq!(config.sockets[0].listen, Some(Listen::Address("127.0.0.1:0".into())));
        assert_eq!(config.sockets[0].service.service, "shop");
    }
}

#[test]
fn environments_inherit_what_the_platform_lets_them() {
    let toml = r#"
name = "w"
main = "src/index.js"
compatibility_date = "2026-01-01"
kv_namespaces = [{ binding = "KV", id = "x" }]
[vars]
A = "top"
[env.staging]
compatibility_date = "2026-02-02"
[env.staging.vars]
B = "staging"
[env.named]
name = "other"
"#;
    let folder =
        Folder::new(&[("wrangler.toml", toml), MAIN, (".dev.vars", "S=default"), (".dev.vars.staging", "S=staging")]);
    // The binding that loaderd lacks belongs to the top level only.
    assert!(folder.open(None).unwrap_err()[0].starts_with("wrangler.toml:5:1: `kv_namespaces` is not supported."));
    let staging = folder.config(Some("staging"));
    assert_eq!(staging.services[0].name, "w-staging");
    assert_eq!(only_worker(&staging).compatibility.date.as_deref(), Some("2026-02-02"));
    assert_eq!(bindings(only_worker(&staging)), ["B: text: staging", "S: text: staging"]);
    let named = folder.config(Some("named"));
    assert_eq!(named.services[0].name, "other");
    assert_eq!(bindings(only_worker(&named)), ["S: text: default"]);
    assert_eq!(
        folder.open(Some("gone")).unwrap_err(),
        ["wrangler.toml:1:1: There is no environment \"gone\". Defined are: named, staging."]
    );
    // As wrangler: a project without any environment is run whichever is asked for, in a folder with others.
    let plain = Folder::new(&[("wrangler.toml", PLAIN), MAIN, (".dev.vars.gone", "S=gone")]);
    let project = plain.open(Some("gone")).unwrap();
    assert_eq!(project.name(), "w");
    assert_eq!(project.notes()[0].message, "There is no environment \"gone\". What is at the top level is run.");
    assert_eq!(bindings(only_worker(&plain.config(Some("gone")))), ["S: text: gone"]);
}

#[test]
fn mistakes_point_at_line_and_column() {
    let head = "name = \"w\"\nmain = \"src/index.js\"\ncompatibility_date = \"2026-01-01\"\n";
    let cases: [(&str, &[&str]); 15] = [
        ("nonsense = 1", &["wrangler.toml:4:1: `nonsense` is not a key of a wrangler file that loaderd knows."]),
        ("vars = 1", &["wrangler.toml:4:8: `vars` must be a table, not a number."]),
        (
            "limits = { cpu_ms = -1 }",
            &["wrangler.toml:4:21: `cpu_ms` must be a whole number that is not negative, not a number."],
        ),
        (
            "limits = { memory = 1 }",
            &[
                "wrangler.toml:4:12: `memory` is not supported under `limits`; known are: cpu_ms, subrequests, dynamic_workers_per_request, dynamic_workers_per_object.",
            ],
        ),
        (
            "limits = { dynamic_workers_per_request = 0 }",
            &["wrangler.toml:4:42: `dynamic_workers_per_request` must be at least 1."],
        ),
        ("services = [{ binding = \"A\" }]", &["wrangler.toml:4:13: `services` needs `service`."]),
        (
            "services = [{ binding = \"A\", service = \"w\", remote = true }]",
            &[
                "wrangler.toml:4:45: `remote` is not supported under `services`; known are: binding, service, entrypoint, props.",
            ],
        ),
        (
            "rules = [{ type = \"PythonModule\", globs = [\"**/*.py\"] }]",
            &[
                "wrangler.toml:4:19: Rules of type \"PythonModule\" are not supported; known are ESModule, CommonJS, CompiledWasm, Text, Data.",
            ],
        ),
        ("rules = [{ type = \"Text\" }]", &["wrangler.toml:4:10: `rules` needs `globs`."]),
        ("dev = { port = 70000 }", &["wrangler.toml:4:16: `port` must be at most 65535."]),
        ("x = ", &["wrangler.toml:4:5: string values must be quoted, expected literal string"]),
        (
            "vars = { A = 1 }\nworker_loaders = [{ binding = \"A\" }]",
            &["wrangler.toml:5:19: \"A\" is bound already, in line 4."],
        ),
        ("define = { A = 1 }", &["wrangler.toml:4:16: `A` must be a string, not a number."]),
        (
            "durable_objects = { bindings = [{ name = \"A\" }] }",
            &["wrangler.toml:4:33: `durable_objects` needs `class_name`."],
        ),
        ("env = { a = { env = {} } }", &["wrangler.toml:4:15: An environment cannot contain environments."]),
    ];
    for (line, problems) in cases {
        let folder = Folder::new(&[("wrangler.toml", &format!("{head}{line}\n")), MAIN]);
        let environment = line.starts_with("env").then_some("a");
        assert_eq!(folder.open(environment).unwrap_err(), problems, "{line}");
    }

    let folder = Folder::new(&[("wrangler.jsonc", "{\n  \"name\": 5,\n  \"main\": \"x\" \"y\"\n}")]);
    assert_eq!(folder.open(None).unwrap_err(), ["wrangler.jsonc:3:14: Expected comma."]);
    let folder = Folder::new(&[("wrangler.jsonc", "{}")]);
    assert_eq!(
        folder.open(None).unwrap_err(),
        [
            "wrangler.jsonc:1:1: `name` is missing.",
            "wrangler.jsonc:1:1: `compatibility_date` is missing.",
            "wrangler.jsonc:1:1: `main` is missing.",
        ]
    );
    let folder = Folder::new(&[]);
    assert!(
        folder.open(None).unwrap_err()[0]
            .ends_with("There is no wrangler.json or wrangler.jsonc or wrangler.toml in it.")
    );
}

/// Every key of wrangler's schema that is not run here, and whether a named environment inherits it.
const LACKING: &[(&str, bool)] = &[
    ("ai", false),
    ("ai_search", false),
    ("ai_search_namespaces", false),
    ("analytics_engine_datasets", false),
    ("artifacts", false),
    ("assets", true),
    ("base_dir", true),
    ("browser", false),
    ("build", true),
    ("cloudchamber", false),
    ("containers", false),
    ("d1_databases", false),
    ("data_blobs", true),
    ("dispatch_namespaces", false),
    ("find_additional_modules", true),
    ("flagship", false),
    ("hyperdrive", false),
    ("images", false),
    ("kv_namespaces", false),
    ("logfwdr", true),
    ("media", false),
    ("mtls_certificates", false),
    ("pages_build_output_dir", true),
    ("pipelines", false),
    ("preserve_file_names", true),
    ("python_modules", true),
    ("queues", false),
    ("r2_buckets", false),
    ("ratelimits", false),
    ("secrets", false),
    ("secrets_store_secrets", false),
    ("send_email", false),
    ("site", true),
    ("stream", false),
    ("text_blobs", true),
    ("unsafe", false),
    ("unsafe_hello_world", false),
    ("vectorize", false),
    ("version_metadata", false),
    ("vpc_networks", false),
    ("vpc_services", false),
    ("wasm_modules", true),
    ("workflows", false),
];

#[test]
fn every_binding_that_is_lacking_is_refused_by_name() {
    for (key, inherited) in LACKING {
        let text = format!(
            "{{\"name\": \"w\", \"main\": \"src/index.js\", \"compatibility_date\": \"2026-01-01\",\n \"{key}\": [], \
             \"env\": {{\"a\": {{}}, \"b\": {{\n \"{key}\": []}}}}}}"
        );
        let folder = Folder::new(&[("wrangler.json", &text), MAIN]);
        let refused = |environment, line: usize| {
            let problems = folder.open(environment).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            let start = format!("wrangler.json:{line}:2: `{key}` is not supported. ");
            let advice = problems[0].strip_prefix(&start).unwrap_or_else(|| panic!("{problems:?}"));
            assert!(advice.ends_with('.') && advice.len() > 10, "{advice}");
        };
        refused(None, 2);
        refused(Some("b"), 3);
        if *inherited {
            refused(Some("a"), 2);
        } else {
            folder.open(Some("a")).unwrap();
        }
    }
}

#[test]
fn what_has_no_effect_is_noted() {
    let text = r#"{"name": "w", "main": "src/index.js", "compatibility_date": "2026-01-01",
 "triggers": {"crons": []}, "dev": {"inspector_port": 1}}"#;
    let folder = Folder::new(&[("wrangler.json", text), MAIN]);
    let project = folder.open(None).unwrap();
    let notes: Vec<String> = project.notes().iter().map(|note| note.message.clone()).collect();
    assert_eq!(
        notes,
        [
            "`triggers` has no effect: schedules do not fire here.",
            "`dev.inspector_port` has no effect; `ip` and `port` have."
        ]
    );
}

const PLAIN: &str = "name = \"w\"\nmain = \"./src/index.js\"\ncompatibility_date = \"2026-01-01\"\n";

#[test]
fn modules_are_found_by_following_imports_and_kinded_by_rules() {
    let rules = "rules = [{ type = \"Text\", globs = [\"**/*.md\"], fallthrough = true }]\n";
    let folder = Folder::new(&[
        ("wrangler.toml", &format!("{PLAIN}{rules}")),
        (
            "src/index.js",
            "import a from '../lib/a.js'; import 'cloudflare:workers'; import text from './x.md'; import t from './t.txt';",
        ),
        (
            "lib/a.js",
            "export * from './b.mjs'; import wasm from './m.wasm'; const c = await import('./c.cjs'); import 'node:assert'",
        ),
        ("lib/b.mjs", "import '../src/index.js'; import data from './d.bin'"),
        ("lib/c.cjs", "require('./e.cjs')"),
        ("lib/e.cjs", ""),
        ("lib/m.wasm", "\0asm"),
        ("lib/d.bin", "\u{1}"),
        ("src/x.md", "# x"),
        ("src/t.txt", "t"),
        ("src/unused.js", "never read"),
    ]);
    let config = folder.config(None);
    let worker = only_worker(&config);
    assert_eq!(
        module_names(worker),
        [
            "src/index.js",
            "lib/a.js",
            "lib/b.mjs",
            "lib/c.cjs",
            "lib/d.bin",
            "lib/e.cjs",
            "lib/m.wasm",
            "src/t.txt",
            "src/x.md"
        ]
    );
    let WorkerCode::Modules(modules) = &worker.code else { panic!("modules") };
    assert!(matches!(modules[3].content, ModuleContent::CommonJs(_)));
    assert!(matches!(modules[4].content, ModuleContent::Data(_)));
    assert!(matches!(modules[6].content, ModuleContent::Wasm(_)));
    assert!(matches!(modules[8].content, ModuleContent::Text(_)));
}

#[test]
fn durable_objects_are_in_memory() {
    let toml = |name: &str, more: &str| {
        format!("name = \"{name}\"\nmain = \"src/index.js\"\ncompatibility_date = \"2026-01-01\"\n{more}\n")
    };
    let owner = toml(
        "owner",
        "durable_objects.bindings = [{ name = \"A\", class_name = \"First\" }]\n\
         migrations = [{ tag = \"1\", new_classes = [\"First\", \"Gone\"], new_sqlite_classes = [\"Old\"] },\n\
         { tag = \"2\", renamed_classes = [{ from = \"Old\", to = \"New\" }], deleted_classes = [\"Gone\"] }]",
    );
    let user = toml(
        "user",
        "durable_objects.bindings = [{ name = \"B\", class_name = \"First\", script_name = \"owner\" },\n\
         { name = \"C\", class_name = \"Unbound\", script_name = \"owner\" }]",
    );
    let (owner, user) =
        (Folder::new(&[("wrangler.toml", &owner), MAIN]), Folder::new(&[("wrangler.toml", &user), MAIN]));
    let projects = vec![user.open(None).unwrap(), owner.open(None).unwrap()];
    assert!(projects[0].notes()[0].message.starts_with("Durable Objects are in memory"));
    let config = assemble(projects, Listen::Address("x".into())).unwrap();
    let classes = |name: &str| {
        let worker = config.service(name).unwrap().worker().unwrap();
        let classes = worker.durable_object_namespaces.iter();
        let classes: Vec<_> = classes.map(|it| (it.class_name.as_str(), it.enable_sql)).collect();
        (worker.durable_object_storage.clone(), classes)
    };
    assert_eq!(classes("user"), (DurableObjectStorage::None, vec![]));
    let wanted = vec![("First", false), ("New", true), ("Unbound", false)];
    assert_eq!(classes("owner"), (DurableObjectStorage::InMemory, wanted));
    let against = Validation { experimental: Experimental::Refused, compat_date: None };
    assert_eq!(config.validate(&against), []);
    let alone = assemble(vec![user.open(None).unwrap()], Listen::Address("x".into())).unwrap_err();
    assert!(alone[0].message.starts_with("There is no project named \"owner\"."), "{alone:?}");
}

/// What is watched includes what would mend it.
#[test]
fn files_that_decide() {
    let broken = format!("{PLAIN}name = 1\n");
    type Case<'c> = (&'c [(&'c str, &'c str)], &'c [&'c str]);
    let cases: [Case<'_>; 5] = [
        (&[], &["wrangler.json", "wrangler.jsonc", "wrangler.toml"]),
        (&[("wrangler.toml", &broken)], &["wrangler.toml"]),
        (&[("wrangler.toml", PLAIN), ("src/index.js", "import './gone.js'")], &["src", "src/index.js", ".dev.vars"]),
        (
            &[("wrangler.toml", PLAIN), ("src/index.js", "import './a.ts'"), ("src/a.ts", "("), ("lib/b.ts", "")],
            &["src/a.ts", "lib", "lib/b.ts"],
        ),
        (&[("wrangler.toml", PLAIN), MAIN], &["wrangler.toml", "src/index.js", ".dev.vars", ".dev.vars.e"]),
    ];
    for (files, wanted) in cases {
        let folder = Folder::new(files);
        let decide = match Project::open(folder.path(), Some("e")) {
            Ok(project) => project.files().to_vec(),
            Err(unopened) => unopened.files,
        };
        for file in wanted {
            assert!(decide.contains(&folder.path().join(file)), "{file} for {files:?}: {decide:?}");
        }
    }
}

#[test]
fn imports_that_lead_nowhere_have_a_place() {
    let cases: [(&[(&str, &str)], &str); 3] = [
        (
            &[("src/index.js", "\nimport './gone.js'")],
            "src/index.js:2:8: Imports \"./gone.js\", but there is no src/gone.js.",
        ),
        (
            &[("src/index.js", "import x from './x.png'"), ("src/x.png", "")],
            "src/x.png: No rule says what kind of module this is. Add one under `rules` for its extension.",
        ),
        (&[], "wrangler.toml:2:8: src/index.js: Cannot be read: No such file or directory (os error 2)"),
    ];
    for (files, problem) in cases {
        let mut all = vec![("wrangler.toml", PLAIN)];
        all.extend(files);
        assert_eq!(Folder::new(&all).open(None).unwrap_err(), [problem]);
    }
}

#[test]
fn code_that_needs_bundling_is_refused_where_that_is_forbidden() {
    type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], &'c str);
    let defined = format!("{PLAIN}define = {{ A = \"1\" }}\n");
    let cases: [Case<'_>; 4] = [
        (&defined, &[MAIN], "wrangler.toml:4:12: `define` has its effect in a bundler."),
        (PLAIN, &[("src/index.js", "import h from 'hono'")], "src/index.js:1:15: Imports the package \"hono\"."),
        (
            PLAIN,
            &[("src/index.js", "import a from './a'"), ("src/a.ts", "")],
            "src/index.js:1:15: \"./a\" does not name a file exactly.",
        ),
        (
            "name = \"w\"\nmain = \"i.ts\"\ncompatibility_date = \"2026-01-01\"\n",
            &[("i.ts", "")],
            "i.ts: This is TypeScript or JSX.",
        ),
    ];
    for (toml, files, problem) in cases {
        let toml = format!("{toml}no_bundle = true\n");
        let mut all = vec![("wrangler.toml", toml.as_str())];
        all.extend(files);
        let wanted = format!("{problem} It has to be bundled, which `no_bundle` forbids.");
        assert_eq!(Folder::new(&all).open(None).unwrap_err(), [wanted]);
    }
}

/// Stands in for esbuild: writes down its arguments and makes the files that esbuild would make.
#[cfg(unix)]
const FAKE_ESBUILD: &str = r#"#!/bin/sh
for argument; do
  case "$argument" in
    --outdir=*) out="${argument#--outdir=}" ;;
    --metafile=*) meta="${argument#--metafile=}" ;;
    --loader:.fail=*) echo "broken code" >&2; exit 1 ;;
  esac
  echo "$argument" >> arguments.txt
done
echo 'import wasm from "./m-HASH.wasm"; export default {}' > "$out/index.js"
printf 'wasm' > "$out/m-HASH.wasm"
echo '{"inputs": {"src/index.ts": {}, "node_modules/hono/index.js": {}}}' > "$meta"
"#;

#[cfg(unix)]
#[test]
fn the_projects_own_esbuild_bundles() {
    use std::os::unix::fs::PermissionsExt;
    let toml = "name = \"w\"\nmain = \"src/index.ts\"\ncompatibility_date = \"2026-01-01\"\ncompatibility_flags = [\"nodejs_compat\"]\n\
                tsconfig = \"other.json\"\nalias = { a = \"b\" }\ndefine = { X = \"'x'\" }\n";
    let make = |toml: &str| {
        let folder =
            Folder::new(&[("wrangler.toml", toml), ("src/index.ts", ""), ("node_modules/.bin/esbuild", FAKE_ESBUILD)]);
        let program = folder.path().join("node_modules/.bin/esbuild");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        folder
    };
    let folder = make(toml);
    let project = folder.open(None).unwrap();
    assert!(project.files().contains(&folder.path().join("node_modules/hono/index.js")));
    let config = assemble(vec![project], Listen::Address("x".into())).unwrap();
    assert_eq!(module_names(only_worker(&config)), ["w.js", "m-HASH.wasm"]);
    let arguments = std::fs::read_to_string(folder.path().join("arguments.txt")).unwrap();
    for wanted in [
        "src/index.ts",
        "--bundle",
        "--external:cloudflare:*",
        "--alias:buffer=node:buffer",
        "--loader:.wasm=copy",
        "--tsconfig=other.json",
        "--alias:a=b",
        "--define:X='x'",
    ] {
        assert!(arguments.lines().any(|argument| argument == wanted), "{wanted} in {arguments}");
    }

    let failing = make(&format!("{toml}rules = [{{ type = \"Text\", globs = [\"**/*.fail\"] }}]\n"));
    assert_eq!(
        failing.open(None).unwrap_err(),
        ["wrangler.toml:2:8: esbuild cannot bundle src/index.ts:\nbroken code"]
    );
}

#[test]
fn projects_refer_to_each_other_by_name() {
    let project = |name: &str, other: &str| {
        let text = format!(
            "name = \"{name}\"\nmain = \"src/index.js\"\ncompatibility_date = \"2026-01-01\"\n\
             services = [{{ binding = \"O\", service = \"{other}\" }}]\n"
        );
        Folder::new(&[("wrangler.toml", &text), MAIN])
    };
    let (a, b) = (project("a", "b"), project("b", "a"));
    let listen = || Listen::Address("x".into());
    let config = assemble(vec![a.open(None).unwrap(), b.open(None).unwrap()], listen()).unwrap();
    let names: Vec<&str> = config.services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!((names.as_slice(), config.sockets[0].service.service.as_str()), (["a", "b"].as_slice(), "a"));

    let problems = assemble(vec![a.open(None).unwrap()], listen()).unwrap_err();
    assert_eq!(
        problems[0].message,
        "There is no project named \"b\". Give its folder as a further argument. Given are: a."
    );
    assert_eq!(problems[0].place.as_ref().map(|place| (place.line, place.column)), Some((4, 40)));
    let problems = assemble(vec![b.open(None).unwrap(), b.open(None).unwrap()], listen()).unwrap_err();
    assert_eq!(problems[0].message, "Two projects are named \"b\".");
}
