//! Metrics in Prometheus' text format.

use std::fmt::{Display, Write};

use loaderd_harness::CodeExecutor;
use loaderd_harness::metrics::{ENDS, HOST_CALL_BOUNDS_US};
use loaderd_loader::live::{CAUSES, OUTCOMES};
use loaderd_loader::sandbox::RESTARTS;
use loaderd_runtime::limits::{overshoot, stuck_threads};

use crate::engine::Engine;

const MICROS_PER_SECOND: f64 = 1e6;

/// Everything that is counted, as of now.
pub(crate) fn metrics(engine: &Engine, executor: &CodeExecutor) -> String {
    let mut page = Page(String::new());
    let passes = executor.metrics();
    page.gauge("loaderd_passes_in_flight", "Passes running now.", passes.in_flight);
    page.family("loaderd_passes_total", "Passes that ended, by how.", "counter");
    for (end, count) in ENDS.iter().zip(passes.ended) {
        page.sample("loaderd_passes_total", &format!("{{end=\"{end}\"}}"), count);
    }
    let took = passes.host_calls_time.as_secs_f64();
    page.histogram(
        "loaderd_host_call_seconds",
        "How long hosts took to answer calls.",
        (&HOST_CALL_BOUNDS_US, &passes.host_calls),
        took,
    );
    let overshoot = overshoot::snapshot();
    page.histogram(
        "loaderd_cpu_limit_overshoot_seconds",
        "CPU time used beyond the limit when a program was ended at it.",
        (&overshoot::BUCKET_BOUNDS_US, &overshoot.counts),
        overshoot.sum_us as f64 / MICROS_PER_SECOND,
    );

    let loader = engine.loader_metrics();
    page.counter("loaderd_loads_total", "Workers that were loaded.", loader.loads);
    page.counter("loaderd_load_failures_total", "Loads that failed.", loader.load_failures);
    page.counter("loaderd_loads_refused_total", "Loads refused for want of room.", loader.refused);
    page.gauge("loaderd_code_bytes", "Bytes of code that dynamic Workers hold.", loader.held_code_bytes);
    page.gauge("loaderd_isolates_alive", "Isolates with code in them, alive now.", loader.alive);
    page.family("loaderd_isolates_ended_total", "Isolates that ended, by cause.", "counter");
    for (cause, count) in CAUSES.iter().zip(loader.ended) {
        page.sample("loaderd_isolates_ended_total", &format!("{{cause=\"{}\"}}", cause.name()), count);
    }
    page.family("loaderd_invocations_total", "Invocations that ended, by outcome.", "counter");
    for (outcome, count) in OUTCOMES.iter().zip(loader.invocations) {
        page.sample("loaderd_invocations_total", &format!("{{outcome=\"{}\"}}", outcome.name()), count);
    }
    page.counter("loaderd_invocation_cpu_seconds_total", "CPU time charged to invocations.", loader.cpu.as_secs_f64());
    page.counter(
        "loaderd_startup_cpu_seconds_total",
        "CPU time used by starting Workers, those that did not start included.",
        loader.startup_cpu.as_secs_f64(),
    );

    let sandboxes = engine.sandbox_metrics();
    let stuck = stuck_threads() as u64 + sandboxes.map_or(0, |sandboxes| sandboxes.threads_stuck);
    page.gauge("loaderd_threads_stuck", "Threads in a builtin that ignores its program's end.", stuck);
    const POOLED: (&str, &str) = ("loaderd_isolates_pooled", "Never-used isolates that are ready.");
    if let Some(pool) = engine.pool_metrics() {
        page.gauge(POOLED.0, POOLED.1, pool.pooled);
        page.gauge("loaderd_isolates_making", "Isolates that are being made.", pool.making);
        page.counter("loaderd_isolates_made_total", "Isolates that were made.", pool.made);
    }
    if let Some(sandboxes) = sandboxes {
        page.gauge(POOLED.0, POOLED.1, sandboxes.isolates_warm);
        page.gauge("loaderd_sandbox_processes", "Sandbox processes alive.", sandboxes.processes);
        page.gauge(
            "loaderd_sandbox_processes_silent",
            "Sandbox processes alive that do not give a sign of life in time.",
            sandboxes.silent,
        );
        page.gauge("loaderd_sandbox_workers", "Workers in sandbox processes.", sandboxes.workers);
        page.gauge("loaderd_sandbox_waiting", "Workers that wait for a sandbox process.", sandboxes.waiting);
        page.counter("loaderd_sandbox_started_total", "Sandbox processes started.", sandboxes.started);
        page.family(
            "loaderd_sandbox_restarts_total",
            "Sandbox processes that had to be replaced, by reason: stuck, hung and garbage were killed for it.",
            "counter",
        );
        for (why, count) in RESTARTS.iter().zip(sandboxes.restarts) {
            page.sample("loaderd_sandbox_restarts_total", &format!("{{reason=\"{}\"}}", why.name()), count);
        }
        page.counter(
            "loaderd_sandbox_abandoned_cpu_seconds_total",
            "CPU time used by programs that did not stop, from their answer until their process was killed.",
            sandboxes.abandoned_cpu.as_secs_f64(),
        );
        page.counter(
            "loaderd_sandbox_retired_for_memory_total",
            "Sandbox processes retired because their memory did not return.",
            sandboxes.retired_for_memory,
        );
        page.gauge(
            "loaderd_sandbox_resident_memory_bytes",
            "Resident memory of sandbox processes.",
            sandboxes.rss_bytes,
        );
    }
    page.counter(
        "loaderd_log_lines_dropped_total",
        "Lines of the log that were dropped because nobody read it.",
        crate::terminal::dropped_log_lines(),
    );
    if let Some(bytes) = resident_bytes() {
        page.gauge("process_resident_memory_bytes", "Resident memory of this process.", bytes);
    }
    page.0
}

/// A page of metrics. Writing to a string does not fail.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, help: &str, kind: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "gauge");
        self.sample(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: impl Display) {
        self.family(name, help, "counter");
        self.sample(name, "", value);
    }

    /// `bounds` are the upper ends of the buckets in microseconds; `counts` has one bucket more, and each counts its
    /// own only.
    fn histogram(&mut self, name: &str, help: &str, (bounds, counts): (&[u64], &[u64]), sum_seconds: f64) {
        self.family(name, help, "histogram");
        let bucket = format!("{name}_bucket");
        let mut total = 0;
        for (at, count) in counts.iter().enumerate() {
            total += count;
            let bound = bounds.get(at).map_or("+Inf".to_owned(), |us| (*us as f64 / MICROS_PER_SECOND).to_string());
            self.sample(&bucket, &format!("{{le=\"{bound}\"}}"), total);
        }
        self.sample(&format!("{name}_sum"), "", sum_seconds);
        self.sample(&format!("{name}_count"), "", total);
    }
}

/// `None` where the system does not say.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let mut page = Page(String::new());
        page.histogram("x_seconds", "Help.", (&[50, 1_000_000], &[2, 3, 1]), 1.5);
        let expected = "# HELP x_seconds Help.\n# TYPE x_seconds histogram\nx_seconds_bucket{le=\"0.00005\"} 2\n\
                        x_seconds_bucket{le=\"1\"} 5\nx_seconds_bucket{le=\"+Inf\"} 6\nx_seconds_sum 1.5\n\
                        x_seconds_count 6\n";
        assert_eq!(page.0, expected);
    }
}
