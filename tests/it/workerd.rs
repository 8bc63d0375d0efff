//! The commands that take workerd's arguments, `test`, `serve` and `compile`, and the comparison with workerd.

use std::io::{BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::Trial;

use crate::scratch::Scratch;
use crate::server::{Server, start};
use crate::wait::until;

/// One use of a command, in a folder with `config.capnp` and `worker.js`.
struct Use {
    name: &'static str,
    arguments: &'static [&'static str],
    exit: i32,
    /// All of standard output.
    stdout: &'static str,
    /// Parts of standard error, in this order.
    stderr: &'static [&'static str],
}

const CONFIG: &str = r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "files", disk = ())],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  bindings = [(name = "WHO", text = "you")],
);
"#;

const WORKER: &str = "export default {
  fetch(request, env) { return new Response(`hello ${env.WHO} at ${new URL(request.url).pathname}`); },
  async test(controller, env) { console.log('testing', env.WHO); console.error('aside'); },
};
export const fails = { test() { throw new TypeError('as it should'); } };
export const passes = { async test() { await null; } };
";

const USES: &[Use] = &[
    Use {
        name: "all_tests",
        arguments: &["test", "config.capnp", "--compat-date=2026-08-15", "-dfiles=."],
        exit: 1,
        stdout: "testing you\n",
        stderr: &[
            "[ TEST ] main\n",
            "aside\n",
            "[ PASS ] main (",
            "[ TEST ] main:fails\n",
            "TypeError: as it should",
            "[ FAIL ] main:fails (",
            "[ TEST ] main:passes\n",
            "[ PASS ] main:passes (",
            "Tests failed!\n",
        ],
    },
    Use {
        name: "filtered_tests",
        arguments: &["test", "--compat-date", "2026-08-15", "config.capnp", "m*:p*", "--directory-path=files=."],
        exit: 0,
        stdout: "",
        stderr: &["[ TEST ] main:passes\n", "[ PASS ] main:passes ("],
    },
    Use {
        name: "no_tests",
        arguments: &["test", "config.capnp", "nothing", "--compat-date=2026-08-15", "-dfiles=."],
        exit: 1,
        stdout: "",
        stderr: &["No tests found!\nTests failed!\n"],
    },
    Use {
        name: "config_errors",
        arguments: &["test", "config.capnp"],
        exit: 1,
        stdout: "",
        stderr: &[
            "config.capnp:6:32: services[0].worker.compatibilityDate: service main: Worker must specify compatibilityDate.",
            "config.capnp:3:67: services[1].disk.path: Directory \"files\" has no path in the config",
        ],
    },
    Use {
        name: "an_unknown_flag_of_a_worker",
        arguments: &["test", "config.capnp", "--compat-date=never", "-dfiles=."],
        exit: 1,
        stdout: "",
        stderr: &[
            "config.capnp:6:32: services[0].worker.compatibilityDate: service main: Invalid compatibility date: never\n",
        ],
    },
    Use {
        name: "an_override_without_a_match",
        arguments: &["serve", "config.capnp", "-s", "gone=*:1"],
        exit: 1,
        stdout: "",
        stderr: &[
            "Config did not define any socket named \"gone\" to match the override provided on the command line.",
        ],
    },
    Use {
        name: "an_override_without_a_value",
        arguments: &["serve", "config.capnp", "-d", "files"],
        exit: 1,
        stdout: "",
        stderr: &["Expected <name>=<value>"],
    },
    Use { name: "no_config", arguments: &["serve"], exit: 1, stdout: "", stderr: &["CONFIG_FILE"] },
    Use {
        name: "a_config_that_is_not_there",
        arguments: &["serve", "gone.capnp"],
        exit: 1,
        stdout: "",
        stderr: &["gone.capnp: No such file.\n"],
    },
    Use {
        name: "a_config_from_standard_input_has_to_be_encoded",
        arguments: &["serve", "-"],
        exit: 1,
        stdout: "",
        stderr: &["-: Reading config from stdin is only allowed with --binary.\n"],
    },
    Use {
        name: "a_flag_that_loaderd_lacks",
        arguments: &["serve", "--inspector-addr=127.0.0.1:9", "config.capnp"],
        exit: 1,
        stdout: "",
        stderr: &["--inspector-addr is not supported by loaderd.\n"],
    },
    Use {
        name: "a_constant_that_is_not_there",
        arguments: &["serve", "config.capnp", "gone"],
        exit: 1,
        stdout: "",
        stderr: &["config.capnp: gone: No such constant is defined in the config file.\n"],
    },
    Use {
        name: "an_import_path_that_is_not_there",
        arguments: &["serve", "config.capnp", "-I", "gone"],
        exit: 1,
        stdout: "",
        stderr: &["--import-path=gone: No such directory.\n"],
    },
    Use {
        name: "text_is_no_encoded_config",
        arguments: &["test", "--binary", "config.capnp"],
        exit: 1,
        stdout: "",
        stderr: &["config.capnp: The config is not a Cap'n Proto message: "],
    },
    Use {
        name: "a_descriptor_that_is_not_open",
        arguments: &["serve", "config.capnp", "-S", "http=777"],
        exit: 1,
        stdout: "",
        stderr: &["--socket-fd=http=777: File descriptor is not open.\n"],
    },
    Use {
        name: "a_descriptor_that_is_no_socket",
        arguments: &["serve", "config.capnp", "-Shttp=0"],
        exit: 1,
        stdout: "",
        stderr: &["--socket-fd=http=0: File descriptor is not a socket.\n"],
    },
    Use {
        name: "a_socket_that_is_given_twice",
        arguments: &["serve", "config.capnp", "-Shttp=0", "-s", "http=*:0"],
        exit: 1,
        stdout: "",
        stderr: &["Socket \"http\" is given both --socket-addr and --socket-fd; use one.\n"],
    },
    Use {
        name: "a_socket_of_a_test_with_another_address",
        arguments: &["test", "config.capnp", "main:passes", "--compat-date=2026-08-15", "-dfiles=.", "-sgone=*:0"],
        exit: 1,
        stdout: "",
        stderr: &["Config did not define any socket named \"gone\""],
    },
];

/// Configs that are well-formed and cannot be served: the body of each, and how the one complaint about it begins.
const UNSERVED: &[(&str, &str)] = &[
    (
        "services = [(name = \"d\", disk = (path = \"gone\"))]",
        "c.capnp:2:45: services[0]: service d: Directory named \"d\" not found: gone\n",
    ),
    (
        "services = [(name = \"n\", network = (allow = [\"nope\"]))]",
        "c.capnp:2:45: services[0]: service n: \"nope\" is neither a CIDR block",
    ),
    (
        "services = [(name = \"w\", worker = (compatibilityDate = \"2026-01-01\", compatibilityFlags = [\"nope\"], \
         modules = [(name = \"m\", esModule = \"\")]))]",
        "c.capnp:2:102: services[0].worker.compatibilityFlags: service w: No such compatibility flag: nope\n",
    ),
    (
        "services = [(name = \"w\", worker = (compatibilityDate = \"2026-01-01\", \
         modules = [(name = \"m\", esModule = \"\")], bindings = [(name = \"k\", kvNamespace = \"w\")]))]",
        "c.capnp:2:155: services[0].worker.bindings[0]: service w: Worker \"w\"'s binding \"k\": bindings of kind \
         `kvNamespace` are not supported by loaderd.\n",
    ),
    (
        "services = [(name = \"w\", worker = (compatibilityDate = \"2026-01-01\", \
         modules = [(name = \"m\", esModule = \"\")], bindings = [(name = \"s\", service = (name = \"w\", entrypoint = \"E\"))]))]",
        "c.capnp:2:168: services[0].worker.bindings[0].service: Worker \"w\"'s binding \"s\" refers to service \"w\" with a \
         named entrypoint \"E\", but \"w\" has no such named entrypoint.\n",
    ),
    (
        "services = [(name = \"w\", worker = (compatibilityDate = \"2026-01-01\", \
         modules = [(name = \"m\", esModule = \"\"), (name = \"m\", text = \"\")]))]",
        "c.capnp:2:143: services[0].worker.modules[1].name: service w: Module \"m\" already added to bundle.\n",
    ),
    (
        "services = [(name = \"w\", worker = (compatibilityDate = \"2026-01-01\", \
         modules = [(name = \"m\", esModule = \"oops(\")]))]",
        "service w: Uncaught SyntaxError: Unexpected end of input\n  at m:1:5\n",
    ),
    ("v8Flags = [\"--no-such-flag\"]", "error: V8 does not know these flags of the config: --no-such-flag\n"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let uses = USES.iter().map(|it| Trial::test(format!("workerd::{}", it.name), || check(it).map_err(Into::into)));
    type Check = fn() -> Result<(), String>;
    let more: [(&str, Check); 11] = [
        ("workerd::clients_are_told_apart", tells_clients),
        ("workerd::configs_that_are_not_served", unserved),
        ("workerd::flags_that_want_v8_to_have_threads", stays_single_threaded),
        ("workerd::serve_again_when_files_change", watches),
        ("workerd::serve_announces_answers_and_stops", serves),
        ("workerd::compile_and_serve_from_standard_input", compiles),
        ("workerd::compile_an_executable", compiles_executable),
        ("workerd::serve_on_a_descriptor", serves_descriptor),
        ("workerd::serve_has_no_loopback", refuses_loopback),
        ("workerd::a_cap_on_dynamic_workers", caps_dynamic_workers),
        ("conform::as_recorded", conforms),
    ];
    let more = more.map(|(name, run)| Trial::test(name, move || run().map_err(Into::into)));
    uses.chain(more).collect()
}

fn folder() -> Result<Scratch, String> {
    let folder = Scratch::new()?;
    folder.write("config.capnp", CONFIG)?;
    folder.write("worker.js", WORKER)?;
    Ok(folder)
}

/// V8's platform has no threads here, and a config cannot talk V8 into using them: a collection would look for one.
fn stays_single_threaded() -> Result<(), String> {
    let folder = Scratch::new()?;
    folder.write(
        "c.capnp",
        "using W = import \"/workerd/workerd.capnp\"; const c :W.Config = (v8Flags = [\"--no-single-threaded\"],
         services = [(name = \"w\", worker = (compatibilityDate = \"2026-01-01\",
         modules = [(name = \"m\", esModule = embed \"m.js\")]))]);",
    )?;
    let collects =
        "for (let n = 0; n < 200; n++) Array.from({ length: 2e4 }, (_, m) => [m]).concat(new Array(2e5).fill(n));";
    folder.write("m.js", &format!("export default {{ test() {{ {collects} }} }};"))?;
    let output = run(&mut loaderd(&folder, &["test", "c.capnp"]))?;
    if output.status.success() { Ok(()) } else { Err(format!("{output:?}")) }
}

fn loaderd(folder: &Scratch, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loaderd"));
    command.args(arguments).current_dir(folder.path()).env_remove("LOADERD_LOG").stdin(Stdio::null());
    command
}

fn run(command: &mut Command) -> Result<Output, String> {
    command.output().map_err(|error| format!("loaderd: {error}"))
}

fn check(it: &Use) -> Result<(), String> {
    let output = run(&mut loaderd(&folder()?, it.arguments))?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let mut rest = &*stderr;
    for part in it.stderr {
        let at = rest.find(part).ok_or_else(|| format!("no {part:?} in its place in\n{stderr}"))?;
        rest = &rest[at + part.len()..];
    }
    if stdout != it.stdout || output.status.code() != Some(it.exit) {
        return Err(format!("exit {:?}, standard output {stdout:?}, standard error\n{stderr}", output.status.code()));
    }
    Ok(())
}

fn get(port: u16, path: &str) -> Result<String, String> {
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    Ok(answer)
}

fn expect_hello(port: u16) -> Result<(), String> {
    let answer = get(port, "/path")?;
    let right = answer.starts_with("HTTP/1.1 200 ") && answer.contains("hello you at /path");
    if right { Ok(()) } else { Err(format!("not the answer that was wanted: {answer}")) }
}

const DATED: &str = "  compatibilityDate = \"2026-08-15\",\n  modules";

fn serves() -> Result<(), String> {
    let folder = folder()?;
    folder.write("config.capnp", &CONFIG.replacen("  modules", DATED, 1))?;
    let arguments = ["serve", "--control-fd=1", "-shttp=127.0.0.1:0", "config.capnp", "config", "-d", "files=."];
    let (mut server, port) = start(&mut loaderd(&folder, &arguments))?;
    expect_hello(port)?;
    terminate(&mut server)
}

fn compiles() -> Result<(), String> {
    let folder = folder()?;
    folder.write("config.capnp", &CONFIG.replacen("  modules", DATED, 1))?;
    let compiled = run(&mut loaderd(&folder, &["compile", "--config-only", "config.capnp"]))?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    let path = folder.path().join("config.bin");
    std::fs::write(&path, &compiled.stdout).map_err(|error| error.to_string())?;
    // What was embedded is inside: the sources may go.
    std::fs::remove_file(folder.path().join("worker.js")).map_err(|error| error.to_string())?;
    let encoded = std::fs::File::open(&path).map_err(|error| error.to_string())?;
    let arguments = ["serve", "-b", "-", "--control-fd", "1", "-s", "http=127.0.0.1:0", "-d", "files=."];
    let (_server, port) = start(loaderd(&folder, &arguments).stdin(encoded))?;
    expect_hello(port)
}

fn compiles_executable() -> Result<(), String> {
    let folder = folder()?;
    folder.write("config.capnp", &CONFIG.replacen("  modules", DATED, 1))?;
    let path = folder.path().join("server");
    let file = std::fs::File::create(&path).map_err(|error| error.to_string())?;
    let compiled = run(loaderd(&folder, &["compile", "config.capnp"]).stdout(file))?;
    if !compiled.status.success() {
        return Err(String::from_utf8_lossy(&compiled.stderr).into_owned());
    }
    for source in ["worker.js", "config.capnp"] {
        std::fs::remove_file(folder.path().join(source)).map_err(|error| error.to_string())?;
    }
    let mut server = Command::new(&path);
    server.args(["--control-fd=1", "-shttp=127.0.0.1:0", "-dfiles=."]).current_dir(folder.path()).stdin(Stdio::null());
    let (_server, port) = start(&mut server)?;
    expect_hello(port)
}

fn serves_descriptor() -> Result<(), String> {
    let folder = folder()?;
    folder.write("config.capnp", &CONFIG.replacen("  modules", DATED, 1))?;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let arguments = ["serve", "config.capnp", "--control-fd=1", "--socket-fd=http=0", "-dfiles=."];
    let listener = std::os::fd::OwnedFd::from(listener);
    let (_server, port) = start(loaderd(&folder, &arguments).stdin(Stdio::from(listener)))?;
    expect_hello(port)
}

fn refuses_loopback() -> Result<(), String> {
    let folder = folder()?;
    folder.write("config.capnp", &CONFIG.replacen("  modules", DATED, 1))?;
    let output = run(&mut loaderd(&folder, &["serve", "config.capnp", "-shttp=loopback:x", "-dfiles=."]))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let said = stderr.contains("sockets[0].address: `loopback:` addresses exist in `loaderd test` only.");
    if said && output.status.code() == Some(1) { Ok(()) } else { Err(stderr.into_owned()) }
}

fn unserved() -> Result<(), String> {
    let folder = Scratch::new()?;
    for (body, complaint) in UNSERVED {
        let import = "using Workerd = import \"/workerd/workerd.capnp\";";
        folder.write("c.capnp", &format!("{import}\nconst config :Workerd.Config = ({body});\n"))?;
        let output = run(&mut loaderd(&folder, &["serve", "c.capnp"]))?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if !stderr.starts_with(complaint) || output.status.code() != Some(1) {
            return Err(format!("exit {:?} and {stderr}\nfor {body}", output.status.code()));
        }
    }
    Ok(())
}

/// A change of a file that is served, and what is answered when it has been noticed; nothing where it breaks the server.
struct Change {
    file: &'static str,
    text: Option<&'static str>,
    answer: Option<&'static str>,
}

const CHANGES: &[Change] = &[
    Change { file: "worker.js", text: Some(SECOND), answer: Some("second you, first note") },
    Change { file: "note.txt", text: Some("next note"), answer: Some("second you, next note") },
    Change { file: "who.capnp", text: Some("const who :Text = \"them\";"), answer: Some("second them, next note") },
    Change { file: "who.capnp", text: Some("const who :Text = ;"), answer: None },
    Change { file: "who.capnp", text: Some("const who :Text = \"us\";"), answer: Some("second us, next note") },
    Change { file: "worker.js", text: Some("oops("), answer: None },
    Change { file: "worker.js", text: Some(SECOND), answer: Some("second us, next note") },
    Change { file: "note.txt", text: None, answer: None },
    Change { file: "note.txt", text: Some("last note"), answer: Some("second us, last note") },
];

const SECOND: &str = "import note from 'note.txt';
export default { fetch(request, env) { return new Response(`second ${env.WHO}, ${note}`); } };
";

const WATCHED: &str = r#"using Workerd = import "/workerd/workerd.capnp";
using Who = import "who.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    compatibilityDate = "2026-08-15",
    modules = [(name = "worker.js", esModule = embed "worker.js"), (name = "note.txt", text = embed "note.txt")],
    bindings = [(name = "WHO", text = Who.who)],
  ))],
  sockets = [(name = "http", address = "unix:socket", http = (), service = "main")],
);
"#;

/// On a Unix socket, whose address is the same each time, with its file left over from a server that was killed.
fn watches() -> Result<(), String> {
    let folder = Scratch::new()?;
    folder.write("config.capnp", WATCHED)?;
    folder.write("who.capnp", "const who :Text = \"you\";")?;
    folder.write("note.txt", "first note")?;
    folder.write("worker.js", &SECOND.replace("second", "first"))?;
    let socket = folder.path().join("socket");
    drop(std::os::unix::net::UnixListener::bind(&socket).map_err(|error| error.to_string())?);
    let arguments = ["serve", "--watch", "config.capnp", "--control-fd=1"];
    let mut command = loaderd(&folder, &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().map_err(|error| error.to_string())?;
    let mut server = Server(child);
    answers(&socket, "first you, first note")?;
    for change in CHANGES {
        match change.text {
            Some(text) => drop(folder.write(change.file, text)?),
            None => std::fs::remove_file(folder.path().join(change.file)).map_err(|error| error.to_string())?,
        }
        match change.answer {
            Some(answer) => answers(&socket, answer)?,
            None => until(|| ask(&socket).is_err(), "the server to stop")?,
        }
    }
    terminate(&mut server)?;
    if socket.exists() {
        return Err("the socket's file is left".into());
    }
    let mut control = String::new();
    let stdout = server.0.stdout.take().ok_or("no standard output")?;
    BufReader::new(stdout).read_to_string(&mut control).map_err(|error| error.to_string())?;
    let announced = control.lines().filter(|line| *line == r#"{"event":"listen","socket":"http","port":0}"#).count();
    let wanted = 1 + CHANGES.iter().filter(|change| change.answer.is_some()).count();
    // Writing a file can be seen as two changes.
    if announced >= wanted { Ok(()) } else { Err(format!("announced {announced} of {wanted} times: {control}")) }
}

/// `request.cf` says who the client is, where no header is to say it.
fn tells_clients() -> Result<(), String> {
    let folder = folder()?;
    let sockets = ", (name = \"unix\", address = \"unix:socket\", http = (), service = \"main\"),
        (name = \"told\", address = \"unix:told\", http = (cfBlobHeader = \"CF\"), service = \"main\")],\n);";
    let config = CONFIG.replacen("  modules", DATED, 1).replacen("],\n);", sockets, 1);
    folder.write("config.capnp", &config)?;
    folder.write("worker.js", "export default { fetch(request) { return Response.json(request.cf ?? null); } };")?;
    let arguments = ["serve", "config.capnp", "--control-fd=1", "-dfiles=."];
    let (_server, port) = start(&mut loaderd(&folder, &arguments))?;
    let answer = get(port, "/")?;
    if !answer.contains("{\"clientIp\":\"127.0.0.1:") {
        return Err(answer);
    }
    let user = nix::unistd::getuid();
    let this = format!("{{\"clientPid\":{},\"clientUid\":{user}}}", std::process::id());
    answers(&folder.path().join("socket"), &this)?;
    answers(&folder.path().join("told"), "null")
}

fn terminate(server: &mut Server) -> Result<(), String> {
    let pid = server.0.id().to_string();
    let told = Command::new("kill").args(["-TERM", &pid]).status().map_err(|error| error.to_string())?;
    let ended = server.0.wait().map_err(|error| error.to_string())?;
    if told.success() && ended.success() { Ok(()) } else { Err(format!("it ended with {ended}")) }
}

/// The body of the answer to a request on a Unix socket.
fn ask(socket: &Path) -> std::io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_once("\r\n\r\n").unwrap_or_default().1.to_owned())
}

fn answers(socket: &Path, wanted: &str) -> Result<(), String> {
    until(|| ask(socket).is_ok_and(|answer| answer == wanted), wanted)
}

/// Loads two Workers that run at the same time, and says what that led to.
const LOADS: &str = "const source = `export default {
  async fetch(request, env) { return new Response(await (await env.BACK.fetch('http://back/')).text()); },
}`;
export default {
  fetch() { return new Response('back'); },
  async test(controller, { LOADER, SELF }) {
    const code = { compatibilityDate: '2026-07-01', mainModule: 'm.js', modules: { 'm.js': source }, env: { BACK: SELF } };
    const run = async () => (await LOADER.load(code).getEntrypoint().fetch('http://x/')).text();
    const results = await Promise.allSettled([run(), run()]);
    for (const { value, reason } of results) console.log(value ?? reason.message);
  },
};";

fn caps_dynamic_workers() -> Result<(), String> {
    let folder = folder()?;
    let bindings = "[(name = \"LOADER\", workerLoader = ()), (name = \"SELF\", service = \"main\")]";
    folder.write("config.capnp", &CONFIG.replacen("[(name = \"WHO\", text = \"you\")]", bindings, 1))?;
    folder.write("worker.js", LOADS)?;
    let limit = "Dynamic worker concurrency limit exceeded: each request may have up to 1 concurrent dynamic worker \
                 invocations. Wait for one to finish before starting another.";
    for (cap, expected) in [(None, "back\nback\n".to_owned()), (Some("1"), format!("back\n{limit}\n"))] {
        let mut command =
            loaderd(&folder, &["test", "config.capnp", "--experimental", "--compat-date=2026-08-15", "-dfiles=."]);
        command.args(cap.map(|cap| format!("--dynamic-workers-per-request={cap}")));
        let output = run(&mut command)?;
        if String::from_utf8_lossy(&output.stdout) != expected || !output.status.success() {
            return Err(format!("with a cap of {cap:?}: {output:?}"));
        }
    }
    let refused = run(&mut loaderd(&folder, &["serve", "config.capnp", "--dynamic-workers-per-object=0"]))?;
    if refused.status.success() { Err("a cap of 0 was taken".to_owned()) } else { Ok(()) }
}

fn conforms() -> Result<(), String> {
    let folder = Scratch::new()?;
    let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conform");
    let output = run(&mut loaderd(&folder, &["conform", cases]))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stdout).into_owned()) }
}
