//! workerd's configs in text form.

use std::path::Path;

use loaderd_loader::config::{
    BindingValue, DurableObjectStorage, HttpStyle, Listen, NamespaceKind, ServiceKind, SocketProtocol, TlsVersion,
    WorkerCode,
};
use loaderd_runtime::modules::ModuleContent;
use loaderd_wrangler_compat::{Document, FileSource, InMemory};

use super::{IMPORT, evaluate, files, read, read_value};

#[test]
fn a_whole_config() {
    let text = r#"
# Comments go anywhere.
@0xabcdefabcdef1234;
using Workerd = import "/workerd/workerd.capnp";
using Shop = import "shop.capnp";
using Module = Workerd.Worker.Module;
using import "/shared.capnp".flags;
$Some.annotation("x");

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "net", network = (allow = ["private", "10.0.0.0/8"], tlsOptions = (trustBrowserCas = true))),
    (name = "files", disk = (path = "/srv", writable = true)),
    (name = "backend", external = (address = "unix:/sock", https = (
      options = (style = proxy, injectRequestHeaders = [(name = "a", value = "b"), (name = "c")]),
      tlsOptions = (minVersion = tls1Dot3, trustedCertificates = ["PEM"]),
      certificateHost = "backend.example"))),
  ],
  sockets = [
    (name = "http", address = "*:8080", http = (cfBlobHeader = "CF"), service = "main"),
    (name = "raw", tcp = (), service = (name = "main", entrypoint = "raw", props = (json =
      `{"n":
      `1}
    ))),
  ],
  v8Flags = ["--expose-gc"],
  extensions = [Shop.extension],
  logging = (structuredLogging = true, stdoutPrefix = "> "),
);

const mainModule :Module = (name = "worker", esModule = embed "src/worker.js");

const main :Workerd.Worker = (
  modules = [
    .mainModule,
    (name = "lib", commonJsModule = "module.exports = 1", namedExports = ["a", "b"]),
    (name = "t", text = "one " "two"),
    (name = "d", data = 0x"00 ff"),
    (name = "j", json = "{\"a\":\t1}"),
  ],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = flags,
  bindings = [
    (name = "SELF", service = "main"),
    (name = "LOADER", workerLoader = ()),
    (name = "SHARED", workerLoader = "id"),
    (name = "DO", durableObjectNamespace = "Counter"),
    (name = "EVAL", unsafeEval = void),
    (name = "CACHE", memoryCache = (id = "c", limits = (maxKeys = 10, maxValueSize = 0x10, maxTotalValueSize = 10000000000))),
    (name = "WRAPPED", wrapped = (moduleName = "shop:api", innerBindings = [(name = "N", json = "1")])),
  ],
  durableObjectNamespaces = [(className = "Counter", uniqueKey = "k", enableSql = true), (className = "E", ephemeralLocal = void)],
  durableObjectStorage = (inMemory = void),
  tails = ["main"],
);
"#;
    let shared = "const flags :List(Text) = [\"nodejs_compat\"];";
    let shop = r#"using W = import "/workerd/workerd.capnp"; using Ext = W.Extension;
        const extension :Ext = (modules = [(name = "shop:api", internal = true, esModule = "export {}")]);"#;
    let config = read(&[
        ("config.capnp", text),
        ("shop.capnp", shop),
        ("lib/shared.capnp", shared),
        ("src/worker.js", "export default {};"),
    ])
    .unwrap();

    let worker = config.service("main").unwrap().worker().unwrap();
    let WorkerCode::Modules(modules) = &worker.code else { panic!("modules") };
    assert!(matches!(&modules[0].content, ModuleContent::EsModule(source) if &**source == "export default {};"));
    assert!(matches!(&modules[1].content, ModuleContent::CommonJs(_)));
    assert_eq!(modules[1].named_exports, ["a", "b"]);
    assert!(matches!(&modules[2].content, ModuleContent::Text(text) if &**text == "one two"));
    assert!(matches!(&modules[3].content, ModuleContent::Data(bytes) if **bytes == [0, 255]));
    assert!(matches!(&modules[4].content, ModuleContent::Json(text) if &**text == "{\"a\":\t1}"));
    assert_eq!(worker.compatibility.flags, ["nodejs_compat"]);
    assert_eq!(worker.global_outbound.service, "internet");
    assert_eq!(worker.tails[0].service, "main");
    assert_eq!(worker.durable_object_storage, DurableObjectStorage::InMemory);
    assert_eq!(worker.durable_object_namespaces[1].kind, NamespaceKind::EphemeralLocal);
    assert!(worker.durable_object_namespaces[0].enable_sql);
    let kinds: Vec<&str> = worker.bindings.iter().map(|binding| binding.value.kind()).collect();
    let wanted =
        ["service", "workerLoader", "workerLoader", "durableObjectNamespace", "unsafeEval", "memoryCache", "wrapped"];
    assert_eq!(kinds, wanted);
    assert!(matches!(&worker.bindings[1].value, BindingValue::WorkerLoader { id: None }));
    assert!(matches!(&worker.bindings[2].value, BindingValue::WorkerLoader { id: Some(id) } if id == "id"));
    assert!(matches!(&worker.bindings[5].value,
        BindingValue::MemoryCache(cache) if cache.limits.value_bytes_max == 16 && cache.limits.total_value_bytes_max == 10_000_000_000));
    assert!(matches!(&worker.bindings[6].value,
        BindingValue::Wrapped(wrapped) if wrapped.entrypoint == "default" && wrapped.inner_bindings.len() == 1));

    let ServiceKind::Network(network) = &config.service("net").unwrap().kind else { panic!("network") };
    assert_eq!(network.rules.allow, ["private", "10.0.0.0/8"]);
    assert!(network.tls.as_ref().unwrap().trust_browser_cas);
    let ServiceKind::External(server) = &config.service("backend").unwrap().kind else { panic!("external") };
    let loaderd_loader::config::ExternalProtocol::Https { options, tls, certificate_host } = &server.protocol else {
        panic!("https")
    };
    assert_eq!(options.style, HttpStyle::Proxy);
    assert_eq!(options.inject_request_headers[1].value, None);
    assert_eq!(tls.min_version, TlsVersion::Tls1Dot3);
    assert_eq!(certificate_host.as_deref(), Some("backend.example"));

    assert_eq!(config.sockets[0].listen, Some(Listen::Address("*:8080".into())));
    assert!(
        matches!(&config.sockets[0].protocol, SocketProtocol::Http(it) if it.cf_blob_header.as_deref() == Some("CF"))
    );
    assert_eq!(config.sockets[1].listen, None);
    assert_eq!(config.sockets[1].service.entrypoint.as_deref(), Some("raw"));
    assert_eq!(config.sockets[1].service.props_json.as_deref(), Some("{\"n\":\n1}\n"));
}

#[test]
fn mistakes_have_a_place_and_a_field() {
    let cases: &[(&str, &[&str])] = &[
        (
            "(services = [(nam = \"x\"), (name = 5)])",
            &[
                "config.capnp:2:46: services[0]: Struct has no field named 'nam'.",
                "config.capnp:2:66: services[1].name: Type mismatch; expected Text.",
            ],
        ),
        ("(sockets = [(http = 5)])", &["config.capnp:2:52: sockets[0].http: Type mismatch; expected HttpOptions."]),
        ("(sockets = [(tcp = \"x\")])", &["config.capnp:2:51: sockets[0].tcp: Type mismatch; expected group."]),
        ("(v8Flags = \"x\")", &["config.capnp:2:43: v8Flags: Type mismatch; expected List(Text)."]),
        ("(structuredLogging = maybe)", &["config.capnp:2:53: structuredLogging: Not defined: maybe"]),
        (
            "(services = [(name = embed \"gone\")])",
            &["config.capnp:2:53: services[0].name: Couldn't read embed: gone: no such file"],
        ),
        (
            "(services = [(name = embed \"/gone\")])",
            &["config.capnp:2:53: services[0].name: Couldn't read embed: lib/gone: no such file"],
        ),
        ("(services = .config)", &["config.capnp:2:44: services: Type mismatch; expected List(Service)."]),
        ("(services = [(\"x\", name = \"y\")])", &["config.capnp:2:46: Missing field name."]),
        ("(services = [", &["config.capnp:2:45: Expected a value, found `;`."]),
        ("(services = [())", &["config.capnp:2:47: Expected `]`, found `)`."]),
        (
            "(services = [(name = \"c\", worker = (bindings = [(name = \"b\", memoryCache = (limits = (maxKeys = 4294967296)))]))])",
            &[
                "config.capnp:2:128: services[0].worker.bindings[0].memoryCache.limits.maxKeys: Integer value out of range.",
            ],
        ),
        (
            "(services = [(name = \"c\", worker = (bindings = [(name = \"b\", memoryCache = (limits = (maxKeys = -1)))]))])",
            &[
                "config.capnp:2:128: services[0].worker.bindings[0].memoryCache.limits.maxKeys: Integer value out of range.",
            ],
        ),
    ];
    for (value, problems) in cases {
        assert_eq!(read_value(value).unwrap_err(), *problems, "{value}");
    }
}

#[test]
fn what_loaderd_lacks_is_refused_by_name() {
    let worker = |fields: &str| format!("(services = [(name = \"w\", worker = ({fields}))])");
    let module = |field: &str| worker(&format!("modules = [(name = \"m\", {field})]"));
    let binding = |field: &str| worker(&format!("modules = [], bindings = [(name = \"b\", {field})]"));
    let cases = [
        (worker("inherit = \"x\""), "services[0].worker.inherit: `inherit` is not supported by loaderd."),
        (
            module("pythonModule = \"\""),
            "services[0].worker.modules[0].pythonModule: Python modules are not supported by loaderd.",
        ),
        (
            module("obsolete = \"\""),
            "services[0].worker.modules[0].obsolete: This obsolete kind of module is not supported",
        ),
        (
            module("obsoletePythonRequirement = \"\""),
            "services[0].worker.modules[0].obsoletePythonRequirement: Python requirements are not supported",
        ),
        (
            worker("modules = [], moduleFallback = \"x\""),
            "services[0].worker.moduleFallback: `moduleFallback` is not supported",
        ),
        (
            worker("modules = [], durableObjectUniqueKeyModifier = \"x\""),
            "services[0].worker.durableObjectUniqueKeyModifier: `durableObjectUniqueKeyModifier` is not supported",
        ),
        (
            worker("modules = [], accessBlobHeader = \"x\""),
            "services[0].worker.accessBlobHeader: `accessBlobHeader` is not supported",
        ),
        (
            worker("modules = [], containerEngine = (localDocker = ())"),
            "services[0].worker.containerEngine: `containerEngine` is not supported",
        ),
        (
            worker("modules = [], durableObjectNamespaces = [(className = \"C\", uniqueKey = \"k\", container = ())]"),
            "services[0].worker.durableObjectNamespaces[0].container: `container` is not supported",
        ),
        (
            binding("parameter = (type = (text = void))"),
            "services[0].worker.bindings[0].parameter: `parameter` is not supported",
        ),
        (
            binding("workerdDebugPort = void"),
            "services[0].worker.bindings[0].workerdDebugPort: `workerdDebugPort` is not",
        ),
        (
            binding("obsolete0 = \"x\""),
            "services[0].worker.bindings[0].obsolete0: This obsolete kind of binding is not",
        ),
        (
            binding("unspecified = void"),
            "services[0].worker.bindings[0]: Binding \"b\" does not specify any binding value.",
        ),
        (
            binding("cryptoKey = (hex = \"zz\", algorithm = (name = \"AES-GCM\"))"),
            "services[0].worker.bindings[0].cryptoKey.hex: CryptoKey binding \"b\" contained invalid hex.",
        ),
        ("(services = [(name = \"s\")])".into(), "services[0]: Service named \"s\" does not specify what to serve."),
        (
            "(sockets = [(https = (tlsOptions = (cipherList = \"x\")))])".into(),
            "sockets[0].https.tlsOptions.cipherList: `cipherList` is not supported",
        ),
        (
            "(sockets = [(https = (tlsOptions = (minVersion = tls1Dot0)))])".into(),
            "sockets[0].https.tlsOptions.minVersion: TLS versions before 1.2 are not supported",
        ),
    ];
    for (value, problem) in cases {
        let problems = read_value(&value).unwrap_err();
        assert_eq!(problems.len(), 1, "{value}: {problems:?}");
        let (place, message) = problems[0].split_once(": ").unwrap();
        assert!(place.starts_with("config.capnp:2:"), "{value}: {place}");
        assert!(message.starts_with(problem), "{value}: {message}");
    }
}

#[test]
fn the_config_constant_is_found() {
    let two = format!(
        "{IMPORT}\nconst a :Workerd.Config = (v8Flags = [\"a\"]);\nusing C = Workerd.Config; const b :C = .a; const n :Text = \"x\";"
    );
    let table = files(&[("config.capnp", &two)]);
    let open = || loaderd_wrangler_compat::Document::open(&table, "config.capnp".as_ref(), &[]).unwrap();
    let cases = [
        (
            None,
            Err(
                "config.capnp: The config file defines multiple top-level constants of type 'Config', so you must specify which one to use. The options are: a, b",
            ),
        ),
        (Some("a"), Ok("a")),
        (Some("b"), Ok("a")),
        (Some("c"), Err("config.capnp: c: No such constant is defined in the config file.")),
        (Some("n"), Err("config.capnp: n: Constant is not of type 'Config'.")),
        (Some("C"), Err("config.capnp: C: Symbol is not a constant.")),
        (
            Some("x.a"),
            Err(
                "config.capnp: x.a: No such constant is defined in the config file (the parent scope 'x' does not exist).",
            ),
        ),
    ];
    for (name, outcome) in cases {
        let evaluated = open().evaluate(name);
        let found =
            evaluated.map_err(|problems| problems[0].to_string()).map(|it| it.decode().unwrap().v8_flags[0].clone());
        assert_eq!(found, outcome.map(str::to_owned).map_err(str::to_owned), "{name:?}");
    }
    let none = read(&[("config.capnp", IMPORT)]).unwrap_err();
    assert_eq!(none, ["config.capnp: The config file does not define any top-level constants of type 'Config'."]);
}

#[test]
fn declarations_that_are_wrong() {
    let cases = [
        (
            "struct A {}",
            "config.capnp:1:1: A config file holds constants and imports; loaderd does not support `struct` in it.",
        ),
        ("const a :Nope.Config = ();", "config.capnp:1:10: Not defined: Nope"),
        (
            "using A = B; using B = A; const c :A = ();",
            "config.capnp:1:11: This name is an alias of itself, or more than 64 aliases deep.",
        ),
        (
            "using A = import \"gone.capnp\"; const c :A.X = ();",
            "config.capnp:1:11: Couldn't read import: gone.capnp: no such file",
        ),
        ("using A = import \"bad.capnp\"; const c :A.X = ();", "bad.capnp:1:1: Unknown declaration `nonsense`."),
        (
            "const a :Text = \"\";\nusing a = Text;",
            "config.capnp:2:7: 'a' is already defined in this scope, in line 1.",
        ),
        ("const a :Set(Text) = [];", "config.capnp:1:10: Not defined: Set"),
        ("const a :List(Text, Text) = [];", "config.capnp:1:21: Missing field name."),
        ("const a", "config.capnp:1:8: Expected `:`, found the end of the file."),
    ];
    for (text, problem) in cases {
        assert_eq!(read(&[("config.capnp", text), ("bad.capnp", "nonsense 1;")]).unwrap_err(), [problem], "{text}");
    }
}

#[test]
fn constants_that_refer_to_themselves_or_explode_end() {
    let endless = format!(
        "{IMPORT}\nconst config :Workerd.Config = (services = .s);\nconst s :List(Workerd.Service) = .t;\nconst t :List(Workerd.Service) = .s;"
    );
    let problems = read(&[("config.capnp", &endless)]).unwrap_err();
    assert!(problems[0].contains("nested deeper than 128 levels"), "{problems:?}");

    // Each constant holds the one before ten times: far more values than any config has.
    let mut bomb =
        format!("{IMPORT}\nusing B = Workerd.Worker.Binding;\nconst b0 :List(B) = [(name = \"x\", text = \"y\")];\n");
    for level in 1..9 {
        let inner = format!("(name = \"w\", wrapped = (innerBindings = .b{})), ", level - 1).repeat(10);
        bomb.push_str(&format!("const b{level} :List(B) = [{inner}];\n"));
    }
    bomb.push_str("const config :Workerd.Config = (services = [(worker = (bindings = .b8))]);");
    let problems = read(&[("config.capnp", &bomb)]).unwrap_err();
    assert!(problems[0].contains("more than 262144 values"), "{problems:?}");

    let deep = format!("{IMPORT}\nconst config :Workerd.Config = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    let problems = read(&[("config.capnp", &deep)]).unwrap_err();
    assert!(problems[0].contains("nested deeper than 64 levels"), "{problems:?}");
}

/// Writes down what is read, and hands on to a table.
struct Recording(InMemory, std::cell::RefCell<Vec<String>>);

impl FileSource for Recording {
    fn read(&self, path: &Path, bytes_max: usize) -> std::io::Result<Vec<u8>> {
        self.1.borrow_mut().push(path.display().to_string());
        self.0.read(path, bytes_max)
    }
}

/// So that whoever watches files sees what mends a config: everything that was looked for, found or not.
#[test]
fn all_files_are_asked_of_the_source() {
    let text = format!("{IMPORT}\nusing A = import \"a/b.capnp\";\nconst config :Workerd.Config = (services = A.s);");
    let other = format!("{IMPORT}\nconst s :List(Workerd.Service) = [(name = embed \"../name.txt\", network = ())];");
    let whole = files(&[("config.capnp", &text), ("a/b.capnp", &other), ("name.txt", "n")]);
    let without_text = files(&[("config.capnp", &text), ("a/b.capnp", &other)]);
    let without_import = files(&[("config.capnp", &text)]);
    let cases = [
        (whole, &["config.capnp", "a/b.capnp", "name.txt"][..], true),
        (without_text, &["config.capnp", "a/b.capnp", "name.txt"], false),
        (without_import, &["config.capnp", "a/b.capnp"], false),
    ];
    for (table, wanted, good) in cases {
        let recording = Recording(table, Default::default());
        let mut document = Document::open(&recording, Path::new("config.capnp"), &[]).unwrap();
        assert_eq!(document.evaluate(None).is_ok(), good);
        let mut read = recording.1.take();
        read.dedup();
        assert_eq!(read, wanted);
    }
}

#[test]
fn checks_of_the_whole_point_into_the_file() {
    use loaderd_loader::config::{Experimental, Validation};
    let text = format!(
        "{IMPORT}\nconst config :Workerd.Config = (\n  services = [(name = \"a\", worker = .w), (name = \"a\", network = ())],\n  \
         sockets = [(name = \"s\", service = \"gone\")],\n);\n\
         const w :Workerd.Worker = (modules = [(name = \"m\", esModule = \"\")],\n  bindings = [(name = \"X\", service = \"nope\")]);\n"
    );
    let table = files(&[("config.capnp", &text)]);
    let encoded = evaluate(&table, &[]).unwrap();
    let against = Validation { experimental: Experimental::Refused, compat_date: None };
    let errors = encoded.decode().unwrap().validate(&against);
    let errors: Vec<String> = errors.iter().map(|error| encoded.diagnose(error).to_string()).collect();
    assert_eq!(
        errors,
        [
            "config.capnp:6:27: services[0].worker.compatibilityDate: service a: Worker must specify compatibilityDate.",
            "config.capnp:7:28: services[0].worker.bindings[0].service: Worker \"a\"'s binding \"X\" refers to a service \"nope\", but no such service is defined.",
            "config.capnp:3:43: services[1].name: Config defines multiple services named \"a\".",
            "config.capnp:4:27: sockets[0].service: Socket \"s\" refers to a service \"gone\", but no such service is defined.",
            "config.capnp:4:14: sockets[0].address: Socket \"s\" has no address in the config, so must be specified on the command line with `--socket-addr`.",
        ]
    );
}
