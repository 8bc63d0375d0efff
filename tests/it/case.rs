//! What one case says, read from the data files. `tests/contract/README.md` explains the keys to those who write cases.

use std::path::PathBuf;
use std::time::Duration;

use crate::json::Json;

/// The ways in which a pass can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// The library: `loaderd_harness::CodeExecutor` in this process.
    Rust,
    /// The command: `loaderd exec --json`, its host written as a tools module.
    Exec,
    /// The service: `loaderd executor`, over its socket.
    Capnp,
}

impl Door {
    pub(crate) const ALL: [Self; 3] = [Self::Rust, Self::Exec, Self::Capnp];

    /// The name in data files and test names.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Exec => "exec",
            Self::Capnp => "capnp",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) request: Request,
    /// Answers by `namespace.method`, first call first; the last one repeats.
    pub(crate) host: Vec<(String, Vec<Step>)>,
    /// The caller interrupts once the host has seen this many calls.
    pub(crate) interrupt_after_calls: Option<usize>,
    /// Any one of these is right; mostly there is one.
    pub(crate) expect: Vec<Expect>,
    pub(crate) host_saw: Option<Vec<(String, Json)>>,
    pub(crate) host_peak: Option<usize>,
    pub(crate) host_interrupted: Option<usize>,
    /// What the program does where nothing but V8 is between it and the service; read by `abuse`.
    pub(crate) in_process: InProcess,
    /// A loader and a guest in place of the real ones; read by `edge`.
    pub(crate) fake: Option<Json>,
    skip: Vec<(String, String)>,
}

impl Case {
    /// Why a door cannot express this case, if it cannot.
    pub(crate) fn skipped_at(&self, door: Door) -> Option<&str> {
        self.skip.iter().find(|(name, _)| name == door.name()).map(|(_, why)| why.as_str())
    }
}

/// What becomes of a program's thread in in-process mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InProcess {
    /// It stops soon after the program's end.
    Stops,
    /// A builtin that ignores the program's end keeps it for long, or for ever: it can only be abandoned.
    Abandoned,
    /// V8 may give up, which ends the process.
    Aborts,
}

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) source: String,
    pub(crate) namespaces: Vec<(String, Vec<String>)>,
    pub(crate) allowlist: Option<(Vec<String>, Vec<u16>)>,
    pub(crate) limits: Limits,
}

#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) source_bytes: u32,
    pub(crate) wall: Duration,
    pub(crate) cpu_millis: Option<u32>,
    pub(crate) log_bytes: u32,
    pub(crate) result_bytes: u32,
    pub(crate) host_calls: u32,
    pub(crate) host_call_concurrency: Option<u32>,
    pub(crate) host_call_argument_bytes: u32,
    pub(crate) host_call_result_bytes: u32,
}

/// One answer of the scripted host.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) answer: Answer,
    /// Held back until the host has seen this many calls in all.
    pub(crate) after_calls: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Ok(Json),
    Fail(Json),
    /// An outcome as it is, right or wrong.
    Raw(Json),
    /// A success whose value is no JSON: a JavaScript expression.
    NotJson(String),
    Never,
    Panic,
    Interrupt,
}

#[derive(Clone, Debug)]
pub(crate) enum Expect {
    /// Keys to look at.
    Completed(Vec<(String, Json)>),
    Failed(Vec<(String, Json)>),
    Interrupted,
    Defect,
}

/// A data file: its family's letter, its title and its cases.
pub(crate) struct Family {
    pub(crate) letter: String,
    pub(crate) cases: Vec<Case>,
}

/// Reads `tests/<folder>/<file>.json`.
///
/// # Panics
/// On anything a data file may not say: a broken case must not pass for a case that was never written.
pub(crate) fn load(folder: &str, file: &str) -> Family {
    let data = read(&format!("{folder}/{file}.json"));
    let limit_sets = read("contract/limits.json");
    let context = |what: &str| format!("tests/{folder}/{file}.json: {what}");
    let mut letter = None;
    let mut defaults = Defaults::default();
    let mut cases = Vec::new();
    for (key, value) in data.as_object().unwrap_or_else(|| panic!("{}", context("an object"))) {
        match key.as_str() {
            "family" => letter = value.as_text(),
            "title" => {}
            "base" => defaults.base = value.as_text(),
            "namespaces" => defaults.namespaces = Some(value.clone()),
            "source" => defaults.source = Some(value.clone()),
            "cases" => cases = value.as_array().expect("cases is an array").to_vec(),
            other => panic!("{}", context(&format!("unknown key {other}"))),
        }
    }
    let cases = cases
        .into_iter()
        .map(|case| {
            let id = case.get("id").and_then(Json::as_text).unwrap_or_default();
            case.expand()
                .and_then(|case| read_case(&case, &defaults, &limit_sets))
                .unwrap_or_else(|error| panic!("{}", context(&format!("{id}: {error}"))))
        })
        .collect();
    Family { letter: letter.unwrap_or_else(|| panic!("{}", context("family is missing"))), cases }
}

fn read(path: &str) -> Json {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", path].iter().collect();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Json::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What a file says once for all its cases.
#[derive(Default)]
struct Defaults {
    base: Option<String>,
    namespaces: Option<Json>,
    source: Option<Json>,
}

fn read_case(case: &Json, defaults: &Defaults, limit_sets: &Json) -> Result<Case, String> {
    const KEYS: [&str; 18] = [
        "id",
        "title",
        "base",
        "limits",
        "namespaces",
        "network",
        "source",
        "host",
        "interruptAfterCalls",
        "expect",
        "oneOf",
        "why",
        "hostSaw",
        "hostPeak",
        "hostInterrupted",
        "inProcess",
        "fake",
        "skip",
    ];
    let members = case.as_object().ok_or("a case is an object")?;
    if let Some((key, _)) = members.iter().find(|(key, _)| !KEYS.contains(&key.as_str())) {
        return Err(format!("unknown key {key}"));
    }
    let text = |key: &str| case.get(key).and_then(Json::as_text).ok_or_else(|| format!("{key} is missing"));
    let count = |key: &str| case.get(key).and_then(Json::as_number).and_then(|n| usize::try_from(n).ok());
    let base = case.get("base").and_then(Json::as_text).or_else(|| defaults.base.clone()).ok_or("no base")?;
    let namespaces = case.get("namespaces").or(defaults.namespaces.as_ref());
    let expect = match (case.get("expect"), case.get("oneOf"), case.get("why")) {
        (Some(one), None, None) => vec![read_expect(one)?],
        (None, Some(Json::Array(several)), Some(_)) => several.iter().map(read_expect).collect::<Result<_, _>>()?,
        _ => return Err("expect, or oneOf with why".to_owned()),
    };
    Ok(Case {
        id: text("id")?,
        title: text("title")?,
        request: Request {
            source: read_source(case.get("source").or(defaults.source.as_ref()))?,
            namespaces: namespaces.map_or(Ok(Vec::new()), read_namespaces)?,
            allowlist: case.get("network").map(read_allowlist).transpose()?,
            limits: read_limits(limit_sets.get(&base).ok_or("unknown base")?, case.get("limits"))?,
        },
        host: case.get("host").map_or(Ok(Vec::new()), read_host)?,
        interrupt_after_calls: count("interruptAfterCalls"),
        expect,
        host_saw: case.get("hostSaw").map(read_calls).transpose()?,
        host_peak: count("hostPeak"),
        host_interrupted: count("hostInterrupted"),
        in_process: case.get("inProcess").map_or(Ok(InProcess::Stops), read_in_process)?,
        fake: case.get("fake").cloned(),
        skip: case.get("skip").map_or(Ok(Vec::new()), read_skip)?,
    })
}

fn read_in_process(said: &Json) -> Result<InProcess, String> {
    let why = |key| said.get(key).and_then(Json::as_text).filter(|why| !why.is_empty());
    match (why("abandoned"), why("aborts")) {
        (Some(_), None) => Ok(InProcess::Abandoned),
        (None, Some(_)) => Ok(InProcess::Aborts),
        _ => Err("inProcess is abandoned or aborts, and says why".to_owned()),
    }
}

fn read_source(source: Option<&Json>) -> Result<String, String> {
    match source.ok_or("no source")? {
        text @ Json::String(_) => Ok(text.as_text().unwrap_or_default()),
        Json::Array(lines) => {
            let lines: Option<Vec<_>> = lines.iter().map(Json::as_text).collect();
            Ok(lines.ok_or("a line of source is text")?.join("\n"))
        }
        _ => Err("source is text or lines".to_owned()),
    }
}

fn read_namespaces(namespaces: &Json) -> Result<Vec<(String, Vec<String>)>, String> {
    let methods = |value: &Json| -> Result<Vec<String>, String> {
        let names: Option<Vec<_>> = value.as_array().ok_or("methods are an array")?.iter().map(Json::as_text).collect();
        names.ok_or_else(|| "a method is text".to_owned())
    };
    match namespaces {
        Json::Object(members) => members.iter().map(|(name, value)| Ok((name.clone(), methods(value)?))).collect(),
        Json::Array(pairs) => pairs
            .iter()
            .map(|pair| match pair.as_array() {
                Some([name @ Json::String(_), value]) => Ok((name.as_text().unwrap_or_default(), methods(value)?)),
                _ => Err("a namespace is [name, methods]".to_owned()),
            })
            .collect(),
        _ => Err("namespaces are an object, or pairs".to_owned()),
    }
}

fn read_allowlist(network: &Json) -> Result<(Vec<String>, Vec<u16>), String> {
    let list = |key: &str| network.get(key).and_then(Json::as_array).ok_or_else(|| format!("network has no {key}"));
    let domains: Option<Vec<_>> = list("domains")?.iter().map(Json::as_text).collect();
    let ports: Option<Vec<_>> =
        list("ports")?.iter().map(|port| port.as_number().and_then(|n| u16::try_from(n).ok())).collect();
    Ok((domains.ok_or("a domain is text")?, ports.ok_or("a port is a number")?))
}

fn read_limits(base: &Json, overrides: Option<&Json>) -> Result<Limits, String> {
    let known = |key: &str| key == "cpuMillis" || key == "maxHostCallConcurrency" || base.get(key).is_some();
    if let Some((key, _)) = overrides.and_then(Json::as_object).unwrap_or_default().iter().find(|(key, _)| !known(key))
    {
        return Err(format!("unknown limit {key}"));
    }
    let optional = |key: &str| overrides.and_then(|o| o.get(key)).or_else(|| base.get(key));
    let number = |key: &str| {
        optional(key).and_then(Json::as_number).and_then(|n| u32::try_from(n).ok()).ok_or_else(|| format!("no {key}"))
    };
    Ok(Limits {
        source_bytes: number("maxSourceBytes")?,
        wall: Duration::from_millis(number("maxWallMillis")?.into()),
        cpu_millis: optional("cpuMillis").map(|_| number("cpuMillis")).transpose()?,
        log_bytes: number("maxLogBytes")?,
        result_bytes: number("maxResultBytes")?,
        host_calls: number("maxHostCalls")?,
        host_call_concurrency: optional("maxHostCallConcurrency")
            .map(|_| number("maxHostCallConcurrency"))
            .transpose()?,
        host_call_argument_bytes: number("maxHostCallArgumentBytes")?,
        host_call_result_bytes: number("maxHostCallResultBytes")?,
    })
}

fn read_host(host: &Json) -> Result<Vec<(String, Vec<Step>)>, String> {
    host.as_object()
        .ok_or("host is an object")?
        .iter()
        .map(|(method, steps)| {
            let steps = steps.as_array().ok_or("answers are an array")?;
            Ok((method.clone(), steps.iter().map(read_step).collect::<Result<_, String>>()?))
        })
        .collect()
}

fn read_step(step: &Json) -> Result<Step, String> {
    if let Some(word) = step.as_text() {
        let answer = match word.as_str() {
            "never" => Answer::Never,
            "panic" => Answer::Panic,
            "interrupt" => Answer::Interrupt,
            other => return Err(format!("unknown answer {other}")),
        };
        return Ok(Step { answer, after_calls: 0 });
    }
    let mut answer = None;
    let mut after_calls = 0;
    for (key, value) in step.as_object().ok_or("an answer is an object or a word")? {
        match key.as_str() {
            "ok" => answer = Some(Answer::Ok(value.clone())),
            "fail" => answer = Some(Answer::Fail(value.clone())),
            "raw" => answer = Some(Answer::Raw(value.clone())),
            "notJson" => answer = value.as_text().map(Answer::NotJson),
            "after" => {
                let calls = value.get("calls").and_then(Json::as_number).ok_or("after needs calls")?;
                after_calls = usize::try_from(calls).map_err(|error| error.to_string())?;
            }
            other => return Err(format!("unknown answer {other}")),
        }
    }
    Ok(Step { answer: answer.ok_or("an answer answers")?, after_calls })
}

fn read_calls(calls: &Json) -> Result<Vec<(String, Json)>, String> {
    calls
        .as_array()
        .ok_or("hostSaw is an array")?
        .iter()
        .map(|call| match call.as_array() {
            Some([method @ Json::String(_), argument]) => Ok((method.as_text().unwrap_or_default(), argument.clone())),
            _ => Err("a call is [method, argument]".to_owned()),
        })
        .collect()
}

fn read_expect(expect: &Json) -> Result<Expect, String> {
    match expect.as_text().as_deref() {
        Some("interrupted") => return Ok(Expect::Interrupted),
        Some("defect") => return Ok(Expect::Defect),
        Some(other) => return Err(format!("unknown outcome {other}")),
        None => {}
    }
    match expect.as_object() {
        Some([(tag, Json::Object(members))]) if tag == "completed" => Ok(Expect::Completed(members.clone())),
        Some([(tag, Json::Object(members))]) if tag == "failed" => Ok(Expect::Failed(members.clone())),
        _ => Err("an outcome is completed or failed".to_owned()),
    }
}

fn read_skip(skip: &Json) -> Result<Vec<(String, String)>, String> {
    skip.as_object()
        .ok_or("skip is an object")?
        .iter()
        .map(|(door, why)| {
            let known = Door::ALL.iter().any(|known| known.name() == door);
            let why = why.as_text().filter(|why| !why.is_empty() && known).ok_or("skip names a door and says why")?;
            Ok((door.clone(), why))
        })
        .collect()
}
