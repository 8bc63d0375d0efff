//! `loaderd exec` as a person uses it: what it prints, where, and how it exits. One row a situation.

use std::io::Write;
use std::process::{Command, Stdio};

use libtest_mimic::Trial;

use crate::scratch::Scratch;
use crate::service::{Mode, command};

/// One use of the command.
struct Use {
    name: &'static str,
    arguments: &'static [&'static str],
    /// What is given on standard input.
    input: &'static str,
    exit: i32,
    /// All of standard output.
    stdout: &'static str,
    /// Parts of standard error, in this order.
    stderr: &'static [&'static str],
}

const TOOLS: &str = "export const shop = { price({ item }) { if (item === 'tea') return 3; throw { _tag: 'NoSuchItem', \
                     item }; }, broken() { throw new RangeError('out of order'); }, silent() {} };";

const USES: &[Use] = &[
    Use {
        name: "value_logs_and_use",
        arguments: &["exec", "-"],
        input: "async () => { console.log('at', 1); return { a: [1, 'x'], b: {} }; }",
        exit: 0,
        stdout: "{\n  \"a\": [\n    1,\n    \"x\"\n  ],\n  \"b\": {}\n}\n",
        stderr: &["at 1\n", "used ", " wall", " CPU", "0 host calls", "4 log bytes", "20 result bytes"],
    },
    Use {
        name: "a_tool",
        arguments: &["exec", "-", "--tools", "tools.js"],
        input: "async () => await shop.price({ item: 'tea' })",
        exit: 0,
        stdout: "3\n",
        stderr: &["1 host call,"],
    },
    Use {
        name: "a_tool_that_fails",
        arguments: &["exec", "-", "--tools", "tools.js"],
        input: "async () => await shop.price({ item: 'milk' })",
        exit: 1,
        stdout: "",
        stderr: &["error: the program failed with {\"_tag\":\"NoSuchItem\",\"item\":\"milk\"}", "help: "],
    },
    Use {
        name: "a_tool_that_throws_an_error",
        arguments: &["exec", "-", "--tools", "tools.js"],
        input: "async () => { try { await shop.broken({}); } catch (caught) { return caught; } }",
        exit: 0,
        stdout: "{\n  \"_tag\": \"RangeError\",\n  \"message\": \"out of order\"\n}\n",
        stderr: &[],
    },
    Use {
        name: "a_tool_that_returns_nothing",
        arguments: &["exec", "-", "--tools", "tools.js"],
        input: "async () => await shop.silent({})",
        exit: 6,
        stdout: "",
        stderr: &["shop.silent returned undefined, which is no JSON value", "error: ", "help: a tool must return"],
    },
    Use {
        name: "an_error_thrown",
        arguments: &["exec", "-"],
        input: "async () => { throw new TypeError('not this'); }",
        exit: 1,
        stdout: "",
        stderr: &["error: the program threw TypeError: not this"],
    },
    Use {
        name: "exceptions_of_finalizers",
        arguments: &["exec", "-", "--sandbox", "in-process"],
        input: "async () => { const all = new FinalizationRegistry(() => { throw new Error('nobody catches this'); });
            for (let n = 0; n < 100000; n++) all.register({}, n); await new Promise((done) => setTimeout(done)); return 1; }",
        exit: 0,
        stdout: "1\n",
        stderr: &["used "],
    },
    Use {
        name: "a_syntax_error_is_pointed_at",
        arguments: &["exec", "-"],
        input: "async () => {\n  return 1 +;\n}",
        exit: 4,
        stdout: "",
        stderr: &[
            "error: the source does not compile: ",
            "SyntaxError: Unexpected token ';'",
            "--> standard input:2:13",
            "2 |   return 1 +;",
            "  |             ^",
            "help: ",
        ],
    },
    Use {
        name: "not_a_function",
        arguments: &["exec", "-"],
        input: "6 * 7",
        exit: 4,
        stdout: "",
        stderr: &["error: The source expression evaluated to number", "help: wrap it into a function"],
    },
    Use {
        name: "a_cpu_limit_is_named",
        arguments: &["exec", "-", "--cpu-ms", "20"],
        input: "async () => { for (;;); }",
        exit: 3,
        stdout: "",
        stderr: &["error: the program met its limit of 20 ms of CPU time", "help: ", "--cpu-ms"],
    },
    Use {
        name: "the_start_up_budget_is_named",
        arguments: &["exec", "-", "--cpu-ms", "20", "--tenant", "somebody"],
        input: "(() => { for (;;); })()",
        exit: 3,
        stdout: "",
        stderr: &["error: evaluating the expression met the start-up budget of 1000 ms of CPU time", "help: "],
    },
    Use {
        name: "a_result_limit_is_named",
        arguments: &["exec", "-", "--max-result-bytes", "10"],
        input: "async () => 'x'.repeat(10)",
        exit: 3,
        stdout: "",
        stderr: &["error: the result met its limit of 10 bytes (12 bytes)", "help: ", "--max-result-bytes"],
    },
    Use {
        name: "json_is_one_line",
        arguments: &["exec", "-", "--json", "--max-host-calls", "0", "--tools", "tools.js"],
        input: "async () => { console.log('unseen'); await shop.price({}); }",
        exit: 3,
        stdout: "{\"failure\":{\"_tag\":\"CodeHostCallLimitError\",\"implementation\":{\"isolation\":\"isolated\",\
                 \"identity\":\"loaderd\"},\"limit\":0,\"logs\":[\"unseen\"]}}\n",
        stderr: &[],
    },
    Use {
        name: "a_network_allowlist_is_unsupported",
        arguments: &["exec", "--request", "allowlist.json"],
        input: "",
        exit: 5,
        stdout: "",
        stderr: &["error: The Dynamic Worker executor denies all egress"],
    },
    Use {
        name: "a_wrong_request_is_answered_with_the_place",
        arguments: &["exec", "--json", "--request", "wrong.json"],
        input: "",
        exit: 2,
        stdout: "",
        stderr: &["error: wrong.json: limits.maxWallTime must be finite"],
    },
    Use {
        name: "a_limit_out_of_range",
        arguments: &["exec", "-", "--max-host-calls", "10001"],
        input: "async () => 1",
        exit: 2,
        stdout: "",
        stderr: &["error: --max-host-calls must be from 0 to 10000, and is 10001"],
    },
    Use {
        name: "a_file_that_is_not_there",
        arguments: &["exec", "nowhere.js"],
        input: "",
        exit: 2,
        stdout: "",
        stderr: &["error: cannot read nowhere.js: "],
    },
    Use {
        name: "tools_that_do_not_compile",
        arguments: &["exec", "-", "--tools", "wrong.json"],
        input: "async () => 1",
        exit: 2,
        stdout: "",
        stderr: &["error: the tools in wrong.json cannot be used: ", "SyntaxError"],
    },
    Use {
        name: "two_files_on_standard_input",
        arguments: &["exec", "-", "--tools", "-"],
        input: "async () => 1",
        exit: 2,
        stdout: "",
        stderr: &["error: only one file can be standard input"],
    },
    Use {
        name: "a_limit_beside_a_request",
        arguments: &["exec", "--request", "allowlist.json", "--cpu-ms", "5"],
        input: "",
        exit: 2,
        stdout: "",
        stderr: &["error: ", "cannot be used with"],
    },
];

/// Commands whose result goes to a full disk: none is a success, and none dies of it.
const UNWRITTEN: &[(&str, &[&str], i32)] = &[
    ("a_value", &["exec", "-"], 6),
    ("an_answer", &["exec", "-", "--json"], 6),
    ("what_doctor_found", &["doctor"], 6),
    ("completions", &["completions", "bash"], 1),
];

/// Too little of the system to start, and what is said of it, in each mode.
const WITHOUT_ROOM: [(&str, &str); 4] = [
    ("-n 8", "error: cannot start: 16 files cannot be opened (`ulimit -n`): "),
    ("-n 16", "error: cannot start: 16 files cannot be opened (`ulimit -n`): "),
    (
        "-v 1000000",
        "error: cannot start: V8 needs 33 GiB of address space, most of it unused, and this process may have ",
    ),
    (
        "-v 16000000",
        "error: cannot start: V8 needs 33 GiB of address space, most of it unused, and this process may have ",
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let uses = USES.iter().map(|case| Trial::test(format!("cli::{}", case.name), || run(case).map_err(Into::into)));
    let unwritten = UNWRITTEN.iter().map(|(name, arguments, exit)| {
        Trial::test(format!("cli::unwritten::{name}"), || unwritten(arguments, *exit).map_err(Into::into))
    });
    let without_room = WITHOUT_ROOM.iter().flat_map(|(limit, said)| {
        Mode::ALL.map(|mode| {
            let name =
                format!("cli::without_room::{}::{}", limit.trim_start_matches('-').replace(' ', ""), mode.name());
            Trial::test(name, move || without_room(limit, mode, said).map_err(Into::into))
        })
    });
    uses.chain(unwritten).chain(without_room).collect()
}

/// One line says what is missing, and nothing is run.
fn without_room(limit: &str, mode: Mode, said: &str) -> Result<(), String> {
    let mut command = command(Some(limit));
    command.args(["exec", "-"]).args(mode.arguments());
    let ended = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&ended.stderr);
    if ended.status.code() == Some(6)
        && ended.stdout.is_empty()
        && stderr.starts_with(said)
        && stderr.lines().count() == 1
    {
        return Ok(());
    }
    Err(format!("{:?}\n--- stderr\n{stderr}", ended.status))
}

fn unwritten(arguments: &[&str], exit: i32) -> Result<(), String> {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").map_err(|error| error.to_string())?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_loaderd"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A command that does not read its input has closed it.
        let _ = input.write_all(b"async () => 1");
    }
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    let stderr = String::from_utf8_lossy(&ended.stderr);
    if ended.status.code() == Some(exit) && stderr.contains("error: cannot write to standard output") {
        return Ok(());
    }
    Err(format!("exit {:?}\n--- stderr\n{stderr}", ended.status.code()))
}

fn run(case: &Use) -> Result<(), String> {
    let scratch = Scratch::new()?;
    scratch.write("tools.js", TOOLS)?;
    scratch.write("allowlist.json", &request(r#"{"_tag":"NetworkAllowlist","domains":[],"ports":[]}"#, "Millis"))?;
    scratch.write("wrong.json", &request(r#"{"_tag":"NetworkDisabled"}"#, "Infinity"))?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_loaderd"))
        .args(case.arguments)
        .current_dir(scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut input) = child.stdin.take() {
        // A command that does not read its input has closed it.
        let _ = input.write_all(case.input.as_bytes());
    }
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    let (stdout, stderr) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if ended.status.code() != Some(case.exit) || stdout != case.stdout {
        return Err(format!("exit {:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", ended.status.code()));
    }
    let mut rest = &*stderr;
    for part in case.stderr {
        let Some((_, after)) = rest.split_once(part) else {
            return Err(format!("{part:?} is not there, or not in its order\n--- stderr\n{stderr}"));
        };
        rest = after;
    }
    Ok(())
}

fn request(network: &str, wall: &str) -> String {
    format!(
        r#"{{"language":"javascript","source":"async () => 1","namespaces":[],"network":{network},"limits":{{
           "maxSourceBytes":1000,"maxWallTime":{{"_tag":"{wall}","value":5000}},"maxLogBytes":1000,
           "maxResultBytes":1000,"maxHostCalls":1,"maxHostCallArgumentBytes":1000,"maxHostCallResultBytes":1000}}}}"#
    )
}
