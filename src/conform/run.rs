//! One case file on one binary: a config with a parent Worker for each case, run by `BINARY test`.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::case::{Case, CaseFile};

const PRELUDE: &str = include_str!("prelude.js");

/// The platform that the cases are written for.
const COMPATIBILITY_DATE: &str = "2026-08-15";

/// What a line with an outcome begins with.
const OUTCOME: &str = "@@conform ";

/// How long one file may take.
const FILE_TIME_MAX: Duration = Duration::from_secs(60);

/// Bytes of a complaint that are shown.
const COMPLAINT_BYTES_MAX: usize = 400;

/// What a binary did with a file.
pub(super) struct Observed {
    /// By the names of the cases.
    pub(super) outcomes: HashMap<String, serde_json::Value>,
    /// The end of what it wrote to standard error, for cases without an outcome.
    pub(super) complaint: String,
}

/// Which cases are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    All,
    /// Without those whose outcome is known to differ: workerd may never end them.
    Alike,
}

pub(super) fn observe(binary: &Path, file: &CaseFile, which: Which) -> Result<Observed, String> {
    let cases: Vec<&Case> = file.cases.iter().filter(|case| which == Which::All || case.differs.is_none()).collect();
    if cases.is_empty() {
        return Ok(Observed { outcomes: HashMap::new(), complaint: String::new() });
    }
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).map_err(|error| format!("{name}: {error}"))
    };
    for (index, case) in cases.iter().enumerate() {
        let name = serde_json::Value::from(case.name.as_str());
        write(
            &format!("{index}.js"),
            &format!("{PRELUDE}\nconst CASE = {name};\nasync function run(env, ctx) {{\n{}}}\n", case.code),
        )?;
    }
    write("cases.capnp", &config(file, cases.len()))?;
    let (stdout, stderr) = (folder.path().join("stdout"), folder.path().join("stderr"));
    let create = |path: &Path| std::fs::File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    let child = Command::new(binary)
        .args(["test", "--experimental", "--no-verbose", "cases.capnp"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(create(&stdout)?)
        .stderr(create(&stderr)?)
        .spawn()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    end_within(child, FILE_TIME_MAX);
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let (stdout, stderr) = (read(&stdout)?, read(&stderr)?);
    let mut outcomes = HashMap::new();
    for line in String::from_utf8_lossy(&stdout).lines() {
        let Some(json) = line.strip_prefix(OUTCOME) else { continue };
        if let Ok((name, outcome)) = serde_json::from_str::<(String, serde_json::Value)>(json) {
            outcomes.insert(name, outcome);
        }
    }
    let errors = String::from_utf8_lossy(&stderr);
    let mut from = errors.len().saturating_sub(COMPLAINT_BYTES_MAX);
    while !errors.is_char_boundary(from) {
        from += 1;
    }
    Ok(Observed { outcomes, complaint: errors[from..].trim().replace('\n', " | ") })
}

/// Waits for a process, and ends it when it takes too long: what it has written until then counts.
fn end_within(mut child: Child, time_max: Duration) {
    let deadline = Instant::now() + time_max;
    while Instant::now() < deadline {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    // It may have ended by itself just now, which is as good.
    let _ = child.kill();
    let _ = child.wait();
}

fn config(file: &CaseFile, count: usize) -> String {
    let mut text = String::from(
        "using Workerd = import \"/workerd/workerd.capnp\";\nconst cases :Workerd.Config = (services = [\n",
    );
    let flags: Vec<String> = file.flags.iter().map(|flag| format!(", \"{flag}\"")).collect();
    let flags = flags.concat();
    for index in 0..count {
        let cache = file.cache.as_ref().map_or_else(String::new, |entrypoint| {
            format!("\n    cacheApiOutbound = (name = \"case{index}\", entrypoint = \"{entrypoint}\"),")
        });
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  (name = \"case{index}\", worker = (\n    modules = [(name = \"parent.js\", esModule = embed \"{index}.js\")],\n    \
             compatibilityDate = \"{COMPATIBILITY_DATE}\", compatibilityFlags = [\"experimental\"{flags}],{cache}\n    bindings = [\
             (name = \"LOADER\", workerLoader = ()), (name = \"TEXT\", text = \"a text\"), (name = \"JSON\", json = \"{{\\\"n\\\":1}}\"),\
             \n      (name = \"SELF\", service = \"case{index}\"), (name = \"ECHO\", service = (name = \"case{index}\", entrypoint = \"Echo\", \
             props = (json = \"{{\\\"from\\\":\\\"config\\\"}}\")))],\
             \n    durableObjectNamespaces = [(className = \"Counter\", uniqueKey = \"counter\"), (className = \"Undeclared\", uniqueKey = \"undeclared\")],\
             \n    durableObjectStorage = (inMemory = void))),"
        );
    }
    text.push_str("]);\n");
    text
}
