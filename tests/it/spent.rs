//! The CPU time of passes that end early: what their answer, the metrics and the log say of it, also where the program is in
//! a builtin that ignores its end, or does not come to start.

use std::time::Duration;

use libtest_mimic::Trial;
use loaderd_schema::executor_capnp as schema;

use crate::admin;
use crate::case::Case;
use crate::doors::capnp::{Connection, block_on, fill};
use crate::healthy;
use crate::json::Json;
use crate::service::{Mode, Service, Start};

/// How long counters and the log may take. A bound against hanging tests, not an expectation.
const PATIENCE: Duration = Duration::from_secs(60);

/// CPU milliseconds that each program may use.
const LIMIT_MILLIS: u32 = 40;

/// Wall-clock time of the programs that are to meet that limit.
const WALL_MILLIS: u64 = 400;

const LOOP: &str = "async () => { for (;;); }";
const DEAF: &str = "async () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)";

/// Programs, and the outcome of their invocation.
const PROGRAMS: [(&str, &str, &str); 8] = [
    ("loop", LOOP, "exceededCpu"),
    ("deaf", DEAF, "exceededCpu"),
    // Some work, and then an error that the program's own answer tells.
    ("throws", "async () => { for (let n = 0; n < 3e5; n++); throw new Error('after some work'); }", "ok"),
    // And then an error that is not the program's own answer.
    (
        "aborts",
        "async () => { for (let n = 0; n < 3e5; n++); (await import('cloudflare:workers')).abortIsolate('after some work'); }",
        "exception",
    ),
    (
        "throws-what-cannot-be-read",
        "async () => { for (let n = 0; n < 3e5; n++); const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; }",
        "ok",
    ),
    (
        "memory",
        "async () => { for (let n = 0; n < 3e5; n++); const keep = globalThis.keep = []; for (let n = 0; n < 9; n++) { keep.push(new ArrayBuffer(1, { maxByteLength: 1e8 })); keep[n].resize(9e7); } await scheduler.wait(1); }",
        "exceededMemory",
    ),
    ("loop-to-the-deadline", LOOP, "exceededWallTime"),
    ("deaf-to-the-deadline", DEAF, "exceededWallTime"),
];

/// Programs that do not start, and what ends them.
const STARTS: [(&str, &str, Option<&str>); 3] = [
    ("start-up-loop", "(() => { for (;;); })()", Some("exceededStartupCpu")),
    ("deaf-start-up", "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", Some("exceededStartupCpu")),
    ("start-up-throws", "(() => { for (let n = 0; n < 3e5; n++); throw new Error('after some work'); })()", None),
];

pub(crate) fn trials() -> Vec<Trial> {
    let start = |(mode, program): (Mode, (&'static str, &'static str, Option<&'static str>))| {
        let name = format!("spent::{}::{}", program.0, mode.name());
        Trial::test(name, move || start(mode, program.1, program.2).map_err(Into::into))
    };
    let starts = Mode::ALL.into_iter().flat_map(|mode| STARTS.map(|program| (mode, program))).map(start);
    let trial = |(mode, program): (Mode, (&'static str, &'static str, &'static str))| {
        let name = format!("spent::{}::{}", program.0, mode.name());
        Trial::test(name, move || run(mode, program.1, program.2).map_err(Into::into))
    };
    Mode::ALL.into_iter().flat_map(|mode| PROGRAMS.map(|program| (mode, program))).map(trial).chain(starts).collect()
}

fn start(mode: Mode, source: &str, ended_by: Option<&str>) -> Result<(), String> {
    let service = service(mode)?;
    let mut case = healthy::case();
    case.request.source = source.to_owned();
    let told = block_on(cpu_millis(&service, &case))?.ok_or("the answer tells no CPU time")?;
    // A start may use a second.
    let least = if ended_by.is_some() { 1_000.0 } else { 1.0 };
    at_least("the answer", told as f64, least)?;

    let counted = admin::number(&admin::metrics(&service)?, "loaderd_startup_cpu_seconds_total")? * 1e3;
    at_least("the metrics", counted + 1.0, told as f64)?;

    let logged = service.logged("start-up ended", PATIENCE)?;
    let fields = logged.get("fields").ok_or("a log line without fields")?;
    let said = fields.get("ended_by").and_then(Json::as_text);
    if said.as_deref() != ended_by {
        return Err(format!("the log should tell {ended_by:?}: {logged}"));
    }
    let micros = fields.get("cpu_us").and_then(Json::as_number).ok_or("no CPU time in the log")?;
    at_least("the log", micros as f64 / 1e3 + 1.0, told as f64)
}

fn service(mode: Mode) -> Result<Service, String> {
    let arguments = [&mode.arguments()[..], &["--admin", "0", "--log-format", "json"]].concat();
    let start = Start { arguments: &arguments, log_level: Some("info,loaderd_loader=debug"), ..Start::default() };
    Service::start_with(&start)
}

fn run(mode: Mode, source: &str, outcome: &str) -> Result<(), String> {
    let service = service(mode)?;
    let mut case = healthy::case();
    case.request.source = source.to_owned();
    if outcome == "exceededWallTime" {
        case.request.limits.cpu_millis = None;
        case.request.limits.wall = Duration::from_millis(WALL_MILLIS);
    } else {
        case.request.limits.cpu_millis = Some(LIMIT_MILLIS);
    }
    let told = block_on(cpu_millis(&service, &case))?.ok_or("the answer tells no CPU time")?;
    let least = if outcome == "exceededCpu" { u64::from(LIMIT_MILLIS) } else { 1 };
    at_least("the answer", told as f64, least as f64)?;

    admin::until(&service, PATIENCE, &[&format!("loaderd_invocations_total{{outcome=\"{outcome}\"}} 1")])?;
    let counted = admin::number(&admin::metrics(&service)?, "loaderd_invocation_cpu_seconds_total")? * 1e3;
    // The answer rounds up.
    at_least("the metrics", counted + 1.0, told as f64)?;

    let logged = service.logged("invocation ended", PATIENCE)?;
    let fields = logged.get("fields").ok_or("a log line without fields")?;
    let said = fields.get("outcome").and_then(Json::as_text);
    if said.as_deref() != Some(outcome) {
        return Err(format!("the log should tell {outcome}: {logged}"));
    }
    let micros = fields.get("cpu_us").and_then(Json::as_number).ok_or("no CPU time in the log")?;
    at_least("the log", micros as f64 / 1e3 + 1.0, told as f64)
}

fn at_least(what: &str, found: f64, least: f64) -> Result<(), String> {
    if found >= least { Ok(()) } else { Err(format!("{what} should tell {least} ms at least, and tells {found}")) }
}

/// What the failure of a pass says that its program had used.
async fn cpu_millis(service: &Service, case: &Case) -> Result<Option<u64>, String> {
    let text = |error: capnp::Error| error.to_string();
    let connection = Connection::open(service).await?;
    let mut request = connection.executor.execute_request();
    fill(request.get().init_request(), &case.request)?;
    let answer = request.send().promise.await.map_err(text)?;
    let outcome = answer.get().and_then(|answer| answer.get_outcome()).map_err(text)?;
    match outcome.which().map_err(|error| error.to_string())? {
        schema::pass_outcome::Failure(error) => match error.map_err(text)?.get_cpu().which() {
            Ok(schema::code_execution_error::cpu::Millis(millis)) => Ok(Some(millis)),
            Ok(schema::code_execution_error::cpu::Unknown(())) => Ok(None),
            Err(error) => Err(error.to_string()),
        },
        _ => Err("should have failed".to_owned()),
    }
}
