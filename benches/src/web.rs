//! Everyday tasks of a Worker (`worker/web.js`): requests per second from several connections, and the CPU time of the
//! server for each.

use std::io;
use std::time::{Duration, Instant};

use crate::Effort;
use crate::figures::cell;
use crate::memory::cpu_time;
use crate::served::Server;
use crate::stats::show;
use crate::table::Table;

/// Connections that ask at the same time.
const CONNECTIONS: usize = 4;
const MEBIBYTE: usize = 1 << 20;

struct Task {
    label: &'static str,
    path: &'static str,
    body: Body,
    /// Bytes of a right answer.
    answer: usize,
}

enum Body {
    None,
    Json,
    Mebibyte,
}

const JSON: &[u8] =
    br#"{"order":17,"lines":[{"item":"tea","count":2},{"item":"cake","count":1}],"note":"warm, please","paid":true}"#;

const TASKS: &[Task] = &[
    Task { label: "hello world", path: "/hello", body: Body::None, answer: 11 },
    Task { label: "JSON echo", path: "/json", body: Body::Json, answer: JSON.len() },
    Task { label: "1 MiB down", path: "/download", body: Body::None, answer: MEBIBYTE },
    Task { label: "1 MiB up", path: "/upload", body: Body::Mebibyte, answer: 7 },
    Task { label: "1 MiB through", path: "/pass", body: Body::Mebibyte, answer: MEBIBYTE },
    Task { label: "TransformStream, 256 chunks", path: "/transform", body: Body::None, answer: MEBIBYTE },
    Task { label: "SHA-256 of 64 KiB", path: "/digest", body: Body::None, answer: 2 },
    Task { label: "100 URLs", path: "/urls", body: Body::None, answer: 4 },
];

/// What was measured of one task; in the order of [`TASKS`].
pub(crate) struct TaskFigures {
    per_second: f64,
    cpu_per_request: Duration,
}

/// # Errors
/// The server broke off or answered another length than the task's.
pub(crate) fn measure(server: &Server, effort: Effort) -> io::Result<Vec<TaskFigures>> {
    let measured = TASKS.iter().map(|task| {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", task.label));
        measure_task(server, task, effort.rate_time).map_err(named)
    });
    measured.collect()
}

fn measure_task(server: &Server, task: &Task, time: Duration) -> io::Result<TaskFigures> {
    let mebibyte = vec![b'x'; MEBIBYTE];
    let body = match task.body {
        Body::None => None,
        Body::Json => Some(JSON),
        Body::Mebibyte => Some(mebibyte.as_slice()),
    };
    let ask_until = |deadline: Instant| -> io::Result<u64> {
        let mut connection = server.connect()?;
        let mut requests = 0;
        while Instant::now() < deadline {
            let length = connection.exchange(task.path, body)?;
            if length != task.answer {
                return Err(io::Error::other(format!("{} answered {length} bytes", task.path)));
            }
            requests += 1;
        }
        Ok(requests)
    };
    // What a Worker compiles and fills at its first requests is not measured.
    ask_until(Instant::now() + time / 5)?;

    let (started, cpu_before) = (Instant::now(), cpu_time(server.process()));
    let requests = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(|| ask_until(started + time))).collect();
        let panicked = |_| io::Error::other("a client panicked");
        clients.into_iter().map(|client| client.join().map_err(panicked)?).sum::<io::Result<u64>>()
    })?;
    let cpu = cpu_time(server.process()).saturating_sub(cpu_before);
    Ok(TaskFigures {
        per_second: requests as f64 / started.elapsed().as_secs_f64(),
        cpu_per_request: cpu.div_f64(requests.max(1) as f64),
    })
}

/// Prints a row a task, a column a server, with the ratio to the first server's.
pub(crate) fn print(servers: &[(&str, Vec<TaskFigures>)]) {
    let heading = format!("requests per second, {CONNECTIONS} connections (CPU per request)");
    let mut table = Table::new(std::iter::once(heading.as_str()).chain(servers.iter().map(|(name, _)| *name)));
    for (index, task) in TASKS.iter().enumerate() {
        let first = servers.first().map(|(_, figures)| figures[index].per_second);
        let cells = servers.iter().enumerate().map(|(column, (_, figures))| {
            let figures = &figures[index];
            let text = format!("{:.0} ({})", figures.per_second, show(figures.cpu_per_request));
            cell(column, Some((figures.per_second, text)), first)
        });
        table.row(std::iter::once(task.label.to_owned()).chain(cells));
    }
    table.print();
}
