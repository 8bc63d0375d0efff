//! The executor's admin address, over plain sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scratch::Scratch;

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

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("admin::health_readiness_and_metrics", || run().map_err(Into::into))]
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

fn ask(address: &str, request: &str) -> Result<String, String> {
    let mut stream = TcpStream::connect(address).map_err(text)?;
    write!(stream, "{request} HTTP/1.1\r\nhost: x\r\n\r\n").map_err(text)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(text)?;
    Ok(answer)
}

/// It ends by itself when it is told to.
fn stop(child: &mut Child) -> Result<(), String> {
    let pid = i32::try_from(child.id()).map_err(text)?;
    kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(text)?;
    let status = child.wait().map_err(text)?;
    if status.success() { Ok(()) } else { Err(format!("told to stop, it ended with {status}")) }
}
