//! The executor's admin address, over plain sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::doors::capnp::{Connection, block_on, pass_on};
use crate::healthy;
use crate::scratch::Scratch;
use crate::service::{Mode, Service, Start};

/// How long counters may take to be complete. A bound against hanging tests, not an expectation.
const COUNT_WAIT: Duration = Duration::from_secs(30);

/// Request line, and how the answer begins and what it holds.
const ANSWERS: &[(&str, &str, &str)] = &[
    ("GET /healthz", "HTTP/1.1 200", "ok"),
    ("GET /readyz", "HTTP/1.1 200", "ready"),
    ("GET /metrics", "HTTP/1.1 200", "\nloaderd_passes_total{end=\"completed\"} 0\n"),
    ("GET /metrics", "HTTP/1.1 200", "\nloaderd_cpu_limit_overshoot_seconds_bucket{le=\"+Inf\"} 0\n"),
    ("GET /metrics", "HTTP/1.1 200", "\nloaderd_isolates_alive 0\n"),
    ("HEAD /metrics", "HTTP/1.1 200", ""),
    ("POST /metrics", "HTTP/1.1 405", ""),
    ("GET /anything", "HTTP/1.1 404", ""),
    ("nonsense", "HTTP/1.1 400", ""),
];

/// What an operator builds on: names and types.
const FAMILIES: &[(&str, &str)] = &[
    ("loaderd_loads_total", "counter"),
    ("loaderd_load_failures_total", "counter"),
    ("loaderd_code_bytes", "gauge"),
    ("loaderd_isolates_alive", "gauge"),
    ("loaderd_isolates_pooled", "gauge"),
    ("loaderd_passes_in_flight", "gauge"),
    ("loaderd_passes_total", "counter"),
    ("loaderd_isolates_ended_total", "counter"),
    ("loaderd_invocations_total", "counter"),
    ("loaderd_invocation_cpu_seconds_total", "counter"),
    ("loaderd_cpu_limit_overshoot_seconds", "histogram"),
    ("loaderd_host_call_seconds", "histogram"),
    ("loaderd_threads_stuck", "gauge"),
    ("loaderd_log_lines_dropped_total", "counter"),
    ("process_resident_memory_bytes", "gauge"),
];

/// The same, where there are sandbox processes.
const SANDBOX_FAMILIES: &[(&str, &str)] = &[
    ("loaderd_sandbox_processes", "gauge"),
    ("loaderd_sandbox_processes_silent", "gauge"),
    ("loaderd_sandbox_started_total", "counter"),
    ("loaderd_sandbox_restarts_total", "counter"),
    ("loaderd_sandbox_abandoned_cpu_seconds_total", "counter"),
    ("loaderd_sandbox_resident_memory_bytes", "gauge"),
];

/// A text in every program, argument, console line and result of these tests, which is nowhere else.
const SECRET: &str = "kqzvx";

pub(crate) fn trials() -> Vec<Trial> {
    let counted = Mode::ALL.map(|mode| {
        let name = format!("admin::what_passes_do_is_counted::{}", mode.name());
        Trial::test(name, move || counts(mode).map_err(Into::into))
    });
    let answers = Trial::test("admin::health_readiness_and_metrics", || run().map_err(Into::into));
    std::iter::once(answers).chain(counted).collect()
}

fn run() -> Result<(), String> {
    let scratch = Scratch::new()?;
    let listen = format!("unix:{}", scratch.path().join("s").display());
    let mut child = Command::new(env!("CARGO_BIN_EXE_loaderd"))
        .args(["executor", "--listen", &listen, "--admin", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .map_err(text)?;
    let checked = check(&mut child);
    let stopped = stop(&mut child);
    checked.and(stopped)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn check(child: &mut Child) -> Result<(), String> {
    let log = child.stderr.take().ok_or("no standard error")?;
    let line = BufReader::new(log)
        .lines()
        .map_while(Result::ok)
        .find(|line| line.contains("admin address: "))
        .ok_or("the service ended before it had an admin address")?;
    let address = line.rsplit(' ').next().unwrap_or_default();
    for (request, status, holds) in ANSWERS {
        let answer = ask(address, request)?;
        if !answer.starts_with(status) || !answer.contains(holds) {
            return Err(format!("{request}: {answer}"));
        }
    }
    Ok(())
}

/// What the address answers to a request line.
pub(crate) fn ask(address: &str, request: &str) -> Result<String, String> {
    let mut stream = TcpStream::connect(address).map_err(text)?;
    write!(stream, "{request} HTTP/1.1\r\nhost: x\r\n\r\n").map_err(text)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(text)?;
    Ok(answer)
}

/// Passes that end in different ways, and what is counted of them. In a sandbox process as well as here: what happens
/// there is told over its socket.
fn counts(mode: Mode) -> Result<(), String> {
    let arguments = [&mode.arguments()[..], &["--admin", "0", "--log-format", "json"]].concat();
    let start = Start { arguments: &arguments, log_level: Some("debug"), ..Start::default() };
    let service = Service::start_with(&start)?;
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(&service).await?;
        healthy::checked(&connection, &healthy).await?;
        for source in [
            "async () => { for (;;); }",
            "(() => { for (;;); })()",
            "async () => { const keep = []; for (;;) keep.push(new Array(100000).fill({})); }",
            "async () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
        ] {
            let mut case = healthy.clone();
            case.request.source = format!("{source} /* {SECRET} */");
            case.request.limits.cpu_millis = Some(if source.contains("keep") { 20_000 } else { 20 });
            pass_on(&connection, &case).await?;
        }
        let mut tells = healthy.clone();
        tells.request.source =
            format!("async () => {{ console.log('{SECRET}'); await warehouse.query('{SECRET}'); throw '{SECRET}'; }}");
        pass_on(&connection, &tells).await.map(drop)
    })?;
    let mut expected = vec![
        "loaderd_passes_total{end=\"completed\"} 1",
        "loaderd_passes_total{end=\"CodeExecutionTimeoutError\"} 3",
        "loaderd_passes_total{end=\"CodeExecutorTerminatedError\"} 1",
        "loaderd_passes_in_flight 0",
        "loaderd_passes_total{end=\"CodeProgramFailedError\"} 1",
        "loaderd_host_call_seconds_count 3",
        "loaderd_loads_total 6",
        "loaderd_load_failures_total 1",
        "loaderd_isolates_ended_total{cause=\"exceededStartupCpu\"} 1",
        "loaderd_isolates_ended_total{cause=\"exceededMemory\"} 1",
        "loaderd_invocations_total{outcome=\"ok\"} 2",
        "loaderd_invocations_total{outcome=\"exceededMemory\"} 1",
        // The one whose thread does not stop included.
        "loaderd_invocations_total{outcome=\"exceededCpu\"} 2",
    ];
    expected.extend(match mode {
        // The thread in the builtin stays.
        Mode::InProcess => {
            &["loaderd_cpu_limit_overshoot_seconds_count 2", "loaderd_threads_stuck 1", "loaderd_isolates_alive 1"][..]
        }
        Mode::Process => &[
            "loaderd_cpu_limit_overshoot_seconds_count 3",
            "loaderd_threads_stuck 0",
            "loaderd_isolates_alive 0",
            "loaderd_isolates_ended_total{cause=\"exceededCpu\"} 2",
            "loaderd_sandbox_restarts_total{reason=\"stuck\"} 1",
            "loaderd_sandbox_restarts_total{reason=\"crashed\"} 0",
        ],
    });
    let positive =
        ["loaderd_isolates_pooled ", "process_resident_memory_bytes ", "loaderd_invocation_cpu_seconds_total "];
    until(&service, COUNT_WAIT, &expected)?;
    let page = metrics(&service)?;
    let sandbox = if mode == Mode::Process { SANDBOX_FAMILIES } else { &[] };
    let untyped =
        FAMILIES.iter().chain(sandbox).find(|(name, kind)| !page.contains(&format!("# TYPE {name} {kind}\n")));
    if let Some((name, kind)) = untyped {
        return Err(format!("there should be a {kind} {name}\n{page}"));
    }
    let log = service.logged_until("pass ended", 6, COUNT_WAIT)?;
    if let Some(said) = std::iter::once(&page).chain(&log).find(|said| said.contains(SECRET)) {
        return Err(format!("tells of a program: {said}"));
    }
    match positive.iter().find(|name| !is_positive(&page, name)) {
        Some(name) => Err(format!("{name}should be positive\n{page}")),
        None => Ok(()),
    }
}

/// What the service counts now.
pub(crate) fn metrics(service: &Service) -> Result<String, String> {
    ask(&service.admin().ok_or("the service named no admin address")?, "GET /metrics")
}

/// One number of a page of metrics: what follows the name and its labels.
pub(crate) fn number(page: &str, sample: &str) -> Result<f64, String> {
    let line = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok()).ok_or_else(|| format!("no {sample}\n{page}"))
}

/// Waits until the service's page of metrics has all these lines.
pub(crate) fn until(service: &Service, patience: Duration, lines: &[&str]) -> Result<(), String> {
    let deadline = Instant::now() + patience;
    loop {
        let page = metrics(service)?;
        let missing: Vec<&&str> = lines.iter().filter(|line| !page.contains(&format!("\n{line}\n"))).collect();
        if missing.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(format!("never counted: {missing:#?}\n{page}"));
        }
        // Counters say nothing when they change, so this asks again.
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn is_positive(page: &str, name: &str) -> bool {
    page.lines().filter_map(|line| line.strip_prefix(name)).any(|number| number.parse().is_ok_and(|n: f64| n > 0.0))
}

/// It ends by itself when it is told to.
fn stop(child: &mut Child) -> Result<(), String> {
    let pid = i32::try_from(child.id()).map_err(text)?;
    kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(text)?;
    let status = child.wait().map_err(text)?;
    if status.success() { Ok(()) } else { Err(format!("told to stop, it ended with {status}")) }
}
