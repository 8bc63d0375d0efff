//! The command's door: `loaderd exec --json --request FILE --tools TOOLS.js`, the host written as a tools module.

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use crate::case::{Answer, Case, Request, Step};
use crate::expect::Outcome;
use crate::host::HostRecord;
use crate::json::Json;
use crate::scratch::Scratch;

/// What the tools module writes before each note on standard error.
const NOTE: &str = "@case ";

pub(crate) fn run(case: &Case) -> Result<(Outcome, HostRecord), String> {
    let scratch = Scratch::new()?;
    let request = scratch.write("request.json", &request(&case.request))?;
    let tools = scratch.write("tools.js", &tools(case)?)?;
    let run = Command::new(env!("CARGO_BIN_EXE_loaderd"))
        .args(["exec", "--json", "--request"])
        .arg(request)
        .arg("--tools")
        .arg(tools)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let (stdout, stderr) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let line = stdout.strip_suffix('\n').filter(|line| !line.contains('\n'));
    let line = line.ok_or_else(|| format!("standard output is not one line: {stdout:?}\n{stderr}"))?;
    let answer =
        Json::parse(line).map_err(|error| format!("standard output is not JSON: {error}: {line}\n{stderr}"))?;
    let code = exit_code(&answer);
    if run.status.code() != Some(code) {
        return Err(format!(
            "the exit code should be {code}, and is {:?}\n  answer: {line}\n{stderr}",
            run.status.code()
        ));
    }
    Ok((Outcome::Answer(answer), record(&stderr)?))
}

/// The exit code that belongs to an answer.
fn exit_code(answer: &Json) -> i32 {
    let tag = answer.get("failure").and_then(|error| error.get("_tag")).and_then(Json::as_text);
    match tag.as_deref() {
        None => 0,
        Some("CodeProgramFailedError") => 1,
        Some("CodeExecutionTimeoutError" | "CodeOutputLimitError" | "CodeHostCallLimitError") => 3,
        Some("CodeSourceError") => 4,
        Some("CodeExecutorUnsupportedError") => 5,
        Some(_) => 6,
    }
}

/// A request in the contract's JSON wire form.
pub(crate) fn request(from: &Request) -> String {
    let object = |members: Vec<(&str, Json)>| {
        Json::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    };
    let texts = |texts: &[String]| Json::Array(texts.iter().map(|text| Json::text(text)).collect());
    let limits = &from.limits;
    let wall = vec![("_tag", Json::text("Millis")), ("value", Json::number(limits.wall.as_millis()))];
    let mut members = vec![
        ("maxSourceBytes", Json::number(limits.source_bytes)),
        ("maxWallTime", object(wall)),
        ("maxLogBytes", Json::number(limits.log_bytes)),
        ("maxResultBytes", Json::number(limits.result_bytes)),
        ("maxHostCalls", Json::number(limits.host_calls)),
        ("maxHostCallArgumentBytes", Json::number(limits.host_call_argument_bytes)),
        ("maxHostCallResultBytes", Json::number(limits.host_call_result_bytes)),
    ];
    let optional = [("cpuMillis", limits.cpu_millis), ("maxHostCallConcurrency", limits.host_call_concurrency)];
    members.extend(optional.into_iter().filter_map(|(key, value)| Some((key, Json::number(value?)))));
    let namespace =
        |(name, methods): &(String, Vec<String>)| object(vec![("name", Json::text(name)), ("methods", texts(methods))]);
    let network = match &from.allowlist {
        None => vec![("_tag", Json::text("NetworkDisabled"))],
        Some((domains, ports)) => vec![
            ("_tag", Json::text("NetworkAllowlist")),
            ("domains", texts(domains)),
            ("ports", Json::Array(ports.iter().map(Json::number).collect())),
        ],
    };
    object(vec![
        ("language", Json::text("javascript")),
        ("source", Json::text(&from.source)),
        ("namespaces", Json::Array(from.namespaces.iter().map(namespace).collect())),
        ("network", object(network)),
        ("limits", object(members)),
    ])
    .to_string()
}

/// The scripted host as a tools module. It does what `host.rs` does, and notes on standard error what it sees.
fn tools(case: &Case) -> Result<String, String> {
    let mut script = String::new();
    for (name, steps) in &case.host {
        let steps = steps.iter().map(step).collect::<Result<Vec<_>, _>>()?.join(", ");
        let _ = writeln!(script, "  [{}, [{steps}]],", Json::text(name));
    }
    let mut module = format!("const script = new Map([\n{script}]);\n{TOOLS}");
    // A namespace given twice is one object here.
    let mut names: Vec<&str> = case.request.namespaces.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for (at, name) in names.into_iter().enumerate() {
        let methods =
            case.request.namespaces.iter().filter(|(known, _)| known == name).flat_map(|(_, methods)| methods);
        let _ = writeln!(module, "const namespace{at} = {{");
        for method in methods {
            let path = Json::text(&format!("{name}.{method}"));
            let _ = writeln!(module, "  [{}]: (argument) => answer({path}, argument),", Json::text(method));
        }
        let _ = writeln!(module, "}};\nexport {{ namespace{at} as {name} }};");
    }
    Ok(module)
}

const TOOLS: &str = "
const counts = new Map();
let seen = 0;
let active = 0;
let waiting = [];

async function answer(name, argument) {
  const at = counts.get(name) ?? 0;
  counts.set(name, at + 1);
  seen++;
  active++;
  const steps = script.get(name);
  console.error('@case ' + JSON.stringify([name, argument, active, steps !== undefined]));
  for (const wake of waiting.splice(0)) wake();
  const step = steps?.[Math.min(at, steps.length - 1)];
  while (seen < (step?.after ?? 0)) await new Promise((wake) => waiting.push(wake));
  await step?.wait;
  active--;
  if (step && 'fail' in step) throw step.fail;
  return step ? step.ok : null;
}
";

fn step(step: &Step) -> Result<String, String> {
    // By way of its text: a literal would take `__proto__` for the prototype.
    let value = |value: &Json| format!("JSON.parse({})", Json::text(&value.to_string()));
    let answer = match &step.answer {
        Answer::Ok(ok) => format!("ok: {}", value(ok)),
        Answer::Fail(fail) => format!("fail: {}", value(fail)),
        Answer::NotJson(expression) => format!("ok: {expression}"),
        Answer::Never => "wait: new Promise(() => {})".to_owned(),
        Answer::Raw(outcome) => match (outcome.get("_tag").and_then(Json::as_text).as_deref(), outcome.get("value")) {
            (Some("CodeHostCallSuccess"), Some(ok)) => format!("ok: {}", value(ok)),
            _ => return Err("a tools module answers with values, never with outcomes".to_owned()),
        },
        Answer::Panic | Answer::Interrupt => return Err("a tools module can neither break nor interrupt".to_owned()),
    };
    Ok(format!("{{ {answer}, after: {} }}", step.after_calls))
}

/// What the tools module noted.
fn record(stderr: &str) -> Result<HostRecord, String> {
    let mut record = HostRecord::default();
    for note in stderr.lines().filter_map(|line| line.split_once(NOTE)).map(|(_, note)| note) {
        let note = Json::parse(note).map_err(|error| format!("a note is not JSON: {error}: {note}"))?;
        let Some([name, argument, Json::Number(active), Json::Bool(scripted)]) = note.as_array() else {
            return Err(format!("not a note: {note}"));
        };
        let name = name.as_text().unwrap_or_default();
        if !scripted {
            record.unscripted.push(name.clone());
        }
        record.peak = record.peak.max(active.parse().unwrap_or(0));
        record.saw.push((name, argument.clone()));
    }
    Ok(record)
}
