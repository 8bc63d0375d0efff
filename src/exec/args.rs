//! The arguments of `loaderd exec`.

use crate::engine::Sandbox;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use loaderd_harness::{CodeExecutionLimits, Tenant};

/// CPU milliseconds of a program where nothing is said.
const CPU_MILLIS_DEFAULT: u32 = 10_000;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  echo 'async () => 6 * 7' | loaderd exec -
  loaderd exec report.js --tools billing.js --max-wall-ms 5000
  loaderd exec --request request.json --json

Exit codes:
  0  the program returned a value
  1  the program failed
  2  wrong usage
  3  a limit was met: time, output or host calls
  4  the source is no program
  5  the request asks for something that is not supported
  6  the platform failed")]
pub(crate) struct ExecArgs {
    /// A file with one JavaScript function expression, or `-` for standard input.
    #[arg(value_name = "PROGRAM.js", required_unless_present = "request")]
    pub(crate) program: Option<PathBuf>,

    /// An ES module whose exports the program can call: each export that is an object of functions becomes a global of
    /// that name. It is trusted: it runs apart from the program, with access to the network.
    #[arg(long, value_name = "TOOLS.js")]
    pub(crate) tools: Option<PathBuf>,

    /// Take the whole request, limits included, from a file in JSON wire form; `-` for standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["program", "limits"])]
    pub(crate) request: Option<PathBuf>,

    /// Print the answer as one line of JSON on standard output, and nothing else there.
    #[arg(long)]
    pub(crate) json: bool,

    /// Where the program runs.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) sandbox: Sandbox,

    /// On whose behalf the program runs. Programs of different tenants never share a sandbox process.
    #[arg(long, value_name = "LABEL")]
    pub(crate) tenant: Option<Tenant>,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
#[group(id = "limits", multiple = true)]
pub(crate) struct LimitArgs {
    /// Bytes of the program's source.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().max_source_bytes)]
    max_source_bytes: u32,

    /// Milliseconds from start to answer, waiting included.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    max_wall_ms: u64,

    /// Milliseconds of CPU time of the program.
    #[arg(long, value_name = "MS", default_value_t = CPU_MILLIS_DEFAULT)]
    cpu_ms: u32,

    /// Bytes of everything the program writes to its console.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().max_log_bytes)]
    max_log_bytes: u32,

    /// Bytes of the returned value as JSON.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().max_result_bytes)]
    max_result_bytes: u32,

    /// Calls to tools.
    #[arg(long, value_name = "CALLS", default_value_t = defaults().max_host_calls)]
    max_host_calls: u32,

    /// Calls to tools running at once.
    #[arg(long, value_name = "CALLS", default_value_t = defaults().host_call_concurrency())]
    max_host_call_concurrency: u32,

    /// Bytes of the argument of one call to a tool, as JSON.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().max_host_call_argument_bytes)]
    max_host_call_argument_bytes: u32,

    /// Bytes of the answer of one call to a tool, as JSON.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().max_host_call_result_bytes)]
    max_host_call_result_bytes: u32,
}

fn defaults() -> CodeExecutionLimits {
    CodeExecutionLimits::default()
}

impl LimitArgs {
    /// The limits; ranges are checked when a request is made of them.
    pub(crate) fn limits(&self) -> CodeExecutionLimits {
        CodeExecutionLimits {
            max_source_bytes: self.max_source_bytes,
            max_wall_time: Duration::from_millis(self.max_wall_ms),
            cpu_millis: Some(self.cpu_ms),
            max_log_bytes: self.max_log_bytes,
            max_result_bytes: self.max_result_bytes,
            max_host_calls: self.max_host_calls,
            max_host_call_concurrency: Some(self.max_host_call_concurrency),
            max_host_call_argument_bytes: self.max_host_call_argument_bytes,
            max_host_call_result_bytes: self.max_host_call_result_bytes,
        }
    }
}

/// How a limit is raised on the command line, by its name in the contract.
pub(crate) fn option_of(field: &str) -> Option<&'static str> {
    Some(match field.strip_prefix("limits.")? {
        "maxSourceBytes" => "--max-source-bytes",
        "maxWallTime" => "--max-wall-ms",
        "cpuMillis" => "--cpu-ms",
        "maxLogBytes" => "--max-log-bytes",
        "maxResultBytes" => "--max-result-bytes",
        "maxHostCalls" => "--max-host-calls",
        "maxHostCallConcurrency" => "--max-host-call-concurrency",
        "maxHostCallArgumentBytes" => "--max-host-call-argument-bytes",
        "maxHostCallResultBytes" => "--max-host-call-result-bytes",
        _ => return None,
    })
}
