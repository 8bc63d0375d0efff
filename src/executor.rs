//! `loaderd executor`: the code executor as a Cap'n Proto service.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, value_parser};
use loaderd_harness::service::{self, ListenAddress, Listener, ServiceBounds};
use loaderd_harness::{CodeExecutor, Tenant};
use loaderd_loader::freed::keep_little;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::admin::{self, Admin};
use crate::engine::{Engine, Sandbox};
use crate::exec::exit;
use crate::stop;
use crate::terminal::{self, LogFormat};

#[derive(Debug, Args)]
#[command(after_help = "\
The service speaks the protocol of schema/executor.capnp. It stops on SIGTERM, on Ctrl-C and when its terminal goes.
LOADERD_LOG says how much it logs: error, warn, info, debug or trace.")]
pub(crate) struct ExecutorArgs {
    /// Where to listen: unix:PATH or HOST:PORT (a port of 0 takes a free one, and the log says which).
    #[arg(long, value_name = "ADDRESS")]
    listen: ListenAddress,

    /// Serve health (/healthz), readiness (/readyz) and metrics (/metrics) over HTTP: PORT on this machine alone, or
    /// HOST:PORT.
    #[arg(long, value_name = "ADDRESS", value_parser = admin::parse_address)]
    admin: Option<SocketAddr>,

    /// How log lines look.
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,

    /// Where programs run.
    #[arg(long, value_enum, default_value_t)]
    sandbox: Sandbox,

    /// On whose behalf programs run whose request does not say. Programs of different tenants never share a sandbox
    /// process.
    #[arg(long, value_name = "LABEL")]
    tenant: Option<Tenant>,

    #[command(flatten)]
    bounds: BoundArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Bounds")]
struct BoundArgs {
    /// Connections open at once.
    #[arg(long, value_name = "COUNT", default_value_t = defaults().connections_max, value_parser = connections)]
    max_connections: usize,

    /// Passes in flight on one connection.
    #[arg(long, value_name = "COUNT", default_value_t = defaults().passes_in_flight_max, value_parser = value_parser!(u32).range(1..))]
    max_passes: u32,

    /// Calls of any kind in flight on one connection.
    #[arg(long, value_name = "COUNT", default_value_t = defaults().calls_in_flight_max, value_parser = value_parser!(u32).range(1..))]
    max_calls: u32,

    /// Capabilities that one message may carry.
    #[arg(long, value_name = "COUNT", default_value_t = defaults().capabilities_per_message_max, value_parser = value_parser!(u32).range(1..))]
    max_message_capabilities: u32,

    /// Bytes of one message.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().message_bytes_max, value_parser = bytes)]
    max_message_bytes: usize,

    /// Bytes of the calls in flight on one connection, their answers included until the client is done with them.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().call_bytes_max, value_parser = bytes)]
    max_call_bytes: usize,

    /// Bytes that wait to be sent on one connection; while there are more, nothing is read from it.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().unsent_bytes_max, value_parser = bytes)]
    max_unsent_bytes: usize,

    /// Bytes of messages that are not whole yet, of all connections together.
    #[arg(long, value_name = "BYTES", default_value_t = defaults().unfinished_bytes_max, value_parser = bytes)]
    max_unfinished_bytes: usize,

    /// Milliseconds that passes in flight may go on when the service is told to stop.
    #[arg(long, value_name = "MS", default_value_t = 5_000)]
    max_drain_ms: u64,
}

/// The most connections that may be allowed: more descriptors than a process has.
const CONNECTIONS_MAX: usize = 1 << 20;

/// The fewest bytes that a bound may be set to: a message that says something.
const BYTES_MIN: usize = 1_024;

fn connections(text: &str) -> Result<usize, String> {
    between(text, 1, CONNECTIONS_MAX)
}

fn bytes(text: &str) -> Result<usize, String> {
    between(text, BYTES_MIN, usize::MAX)
}

fn between(text: &str, least: usize, most: usize) -> Result<usize, String> {
    let number = text.parse().map_err(|error| format!("{error}"))?;
    if (least..=most).contains(&number) { Ok(number) } else { Err(format!("{number} is not in {least}..={most}")) }
}

fn defaults() -> ServiceBounds {
    ServiceBounds::default()
}

impl BoundArgs {
    fn bounds(&self) -> ServiceBounds {
        ServiceBounds {
            connections_max: self.max_connections,
            passes_in_flight_max: self.max_passes,
            calls_in_flight_max: self.max_calls,
            capabilities_per_message_max: self.max_message_capabilities,
            message_bytes_max: self.max_message_bytes,
            call_bytes_max: self.max_call_bytes,
            unsent_bytes_max: self.max_unsent_bytes,
            unfinished_bytes_max: self.max_unfinished_bytes,
            drain_time_max: Duration::from_millis(self.max_drain_ms),
        }
    }
}

impl ExecutorArgs {
    /// What is to be done on the main thread, before there are others.
    pub(crate) fn prepare(&self) {
        if let Sandbox::Process = self.sandbox {
            keep_little();
        }
    }
}

pub(crate) async fn run(arguments: ExecutorArgs) -> ExitCode {
    terminal::start_server_logging("info", arguments.log_format);
    match serve(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error(&error);
            ExitCode::from(exit::PLATFORM)
        }
    }
}

async fn serve(arguments: &ExecutorArgs) -> Result<(), String> {
    let told_to_stop = stop::told_to_stop().map_err(|error| format!("cannot wait for signals: {error}"))?;
    let engine = Engine::start(arguments.sandbox)?;
    let executor = engine.executor(arguments.tenant.clone());
    let stopping = CancellationToken::new();
    let admin = match arguments.admin {
        Some(address) => Some(start_admin(address, &engine, &executor, &stopping).await?),
        None => None,
    };
    let listener = Listener::bind(&arguments.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", arguments.listen))?;
    tracing::info!("listening on {}", listener.address());
    let stop = async {
        told_to_stop.await;
        tracing::info!("stopping");
        stopping.cancel();
    };
    let served = service::serve(executor, arguments.bounds.bounds(), listener, stop).await;
    if let Some(admin) = admin {
        admin.abort();
    }
    served.map_err(|error| format!("cannot serve: {error}"))?;
    tracing::info!("stopped");
    Ok(())
}

async fn start_admin(
    address: SocketAddr,
    engine: &Engine,
    executor: &CodeExecutor,
    stopping: &CancellationToken,
) -> Result<JoinHandle<()>, String> {
    let failed = |error: std::io::Error| format!("cannot listen on {address} for the admin address: {error}");
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    tracing::info!("admin address: {}", listener.local_addr().map_err(failed)?);
    let told = Admin { engine: engine.clone(), executor: executor.clone(), stopping: stopping.clone() };
    Ok(tokio::spawn(admin::serve(listener, told)))
}
