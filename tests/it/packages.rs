//! Packages from npm, unchanged, bundled as a user would and served: `tests/packages/requests` says what each answers.
//!
//! With `LOADERD_TEST_ORACLE` set to a workerd binary, that one serves instead, and must answer the same.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use ureq::http;

use crate::scratch::Scratch;
use crate::server;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/packages");

/// The longest answer that is read, in bytes.
const ANSWER_MAX: u64 = 16 << 20;

const CONFIG: &str = r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.js", esModule = embed "worker.js")],
    compatibilityDate = "2026-08-15",
    bindings = [(name = "WHO", text = "a tester"), (name = "LOADER", workerLoader = (id = "programs"))],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
"#;

/// One trial for each file of requests; ignored, and named so, where `tools/packages.sh` has installed nothing.
pub(crate) fn trials() -> Vec<Trial> {
    let there = esbuild().exists();
    let mut files: Vec<PathBuf> = std::fs::read_dir(Path::new(FOLDER).join("requests"))
        .expect("tests/packages/requests is readable")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    let name = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let trial = |file: PathBuf| {
        Trial::test(format!("packages::{}", name(&file)), move || run(&file))
            .with_kind(if there { "" } else { "run tools/packages.sh first" })
            .with_ignored_flag(!there)
    };
    files.into_iter().map(trial).collect()
}

pub(crate) fn esbuild() -> PathBuf {
    Path::new(FOLDER).join("node_modules/.bin/esbuild")
}

fn run(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let spec: Value = serde_json::from_str(&text)?;
    let folder = Scratch::new()?;
    bundle(spec["worker"].as_str().ok_or("no `worker`")?, &folder.path().join("worker.js"))?;
    folder.write("config.capnp", CONFIG)?;

    let oracle = std::env::var_os("LOADERD_TEST_ORACLE").filter(|path| !path.is_empty());
    let mut command = Command::new(oracle.unwrap_or_else(|| env!("CARGO_BIN_EXE_loaderd").into()));
    command.args(["serve", "--experimental", "--control-fd=1", "config.capnp"]).current_dir(folder.path());
    let (_server, port) = server::start(&mut command)?;

    let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build();
    let agent = ureq::Agent::new_with_config(config);
    let requests = spec["requests"].as_array().ok_or("no `requests`")?;
    let wrong: Vec<String> = requests
        .iter()
        .enumerate()
        .filter_map(|(at, request)| {
            let fault = exchange(&agent, port, request).err()?;
            Some(format!("request {at}, {}: {fault}", request["path"].as_str().unwrap_or_default()))
        })
        .collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn bundle(worker: &str, to: &Path) -> Result<(), Failed> {
    let mut command = Command::new(esbuild());
    command.current_dir(FOLDER).arg(worker).arg(format!("--outfile={}", to.display()));
    command.args(["--bundle", "--format=esm", "--log-level=warning", "--conditions=workerd,worker,browser"]);
    command.args(["--external:cloudflare:*", "--external:node:*"]);
    // Where the examples, which have no packages of their own here, find them.
    command.env("NODE_PATH", Path::new(FOLDER).join("node_modules"));
    let output = command.output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned().into()) }
}

/// Sends one request and compares the answer with what its row expects of it.
fn exchange(agent: &ureq::Agent, port: u16, row: &Value) -> Result<(), Box<dyn std::error::Error>> {
    let path = row["path"].as_str().ok_or("no `path`")?;
    if let Some(steps) = row["webSocket"].as_array() {
        return crate::websocket::play(port, path, steps);
    }
    let mut request = http::Request::builder()
        .method(row["method"].as_str().unwrap_or("GET"))
        .uri(format!("http://127.0.0.1:{port}{path}"));
    for (name, value) in row["send"].as_object().into_iter().flatten() {
        request = request.header(name, value.as_str().ok_or("a header that is no string")?);
    }
    let body = match &row["sendJson"] {
        Value::Null => row["sendBody"].as_str().unwrap_or_default().to_owned(),
        json => {
            request = request.header("content-type", "application/json");
            json.to_string()
        }
    };
    let mut answer = if body.is_empty() { agent.run(request.body(())?)? } else { agent.run(request.body(body)?)? };
    let bytes = answer.body_mut().with_config().limit(ANSWER_MAX).read_to_vec()?;
    let text = String::from_utf8_lossy(&bytes);

    let status = row["status"].as_u64().unwrap_or(200);
    if u64::from(answer.status().as_u16()) != status {
        return Err(format!("expected status {status}, got {} with {text}", answer.status()).into());
    }
    if let Some(expected) = row.get("json")
        && serde_json::from_str::<Value>(&text).ok().as_ref() != Some(expected)
    {
        return Err(format!("expected {expected}, got {text}").into());
    }
    if let Some(expected) = row["body"].as_str()
        && text != expected
    {
        return Err(format!("expected {expected:?}, got {text:?}").into());
    }
    if let Some(expected) = row["length"].as_u64()
        && bytes.len() as u64 != expected
    {
        return Err(format!("expected {expected} bytes, got {}", bytes.len()).into());
    }
    for (name, expected) in row["headers"].as_object().into_iter().flatten() {
        let got = answer.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
        if got.as_deref() != expected.as_str() {
            return Err(format!("expected {name}: {expected}, got {got:?}").into());
        }
    }
    Ok(())
}
