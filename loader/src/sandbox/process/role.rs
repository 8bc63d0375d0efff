//! What a sandbox process says, and what follows from it for its Workers.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, OnceLock, Weak};

use loaderd_runtime::isolate::LoadReport;
use loaderd_runtime::rpc::{Capability, RpcError};
use loaderd_schema::channel_capnp as schema;

use super::{Owner, Process};
use crate::confine::LayerStatus;
use crate::error::LoaderError;
use crate::sandbox::priority::prefer_watchdog;
use crate::sandbox::session::{Invoke, Role, Session};
use crate::sandbox::socket::Lost;
use crate::sandbox::wire::{self, Malformed, PROTOCOL_VERSION};

/// The session's role: it cannot own the process that owns the session.
pub(super) struct BrokerRole {
    pub(super) process: OnceLock<Weak<Process>>,
    pub(super) owner: Weak<dyn Owner>,
}

impl Role for Arc<BrokerRole> {
    fn frame(&self, _: &Arc<Session>, frame: schema::frame::Reader<'_>) -> Result<(), Malformed> {
        let Some(process) = self.process.get().and_then(Weak::upgrade) else { return Ok(()) };
        match frame.which()? {
            schema::frame::Welcome(welcome) => {
                let welcome = welcome?;
                if welcome.get_version() != PROTOCOL_VERSION {
                    return Err(Malformed::Unexpected("another version of the protocol"));
                }
                if process.welcomed.load(SeqCst) {
                    return Err(Malformed::Unexpected("a second greeting"));
                }
                let said =
                    welcome.get_confinement()?.iter().take(64).map(wire::read_layer).collect::<Result<Vec<_>, _>>()?;
                process.welcomed.store(true, SeqCst);
                prefer_watchdog(process.pid());
                process.lives();
                let launched = process.launch_layers.get().cloned().unwrap_or_default();
                let layers: Vec<LayerStatus> = launched.into_iter().chain(said).collect();
                if let Some(owner) = self.owner.upgrade() {
                    owner.welcomed(&layers);
                }
                Ok(())
            }
            schema::frame::Loaded(loaded) => {
                let loaded = loaded?;
                let result = load_result(loaded)?;
                if let Some(worker) = process.worker(loaded.get_worker()) {
                    worker.told_started(result);
                }
                Ok(())
            }
            schema::frame::Ended(end) => {
                let end = end?;
                let cause = wire::read_cause(end.get_cause()?);
                if let Some(worker) = process.worker(end.get_worker()) {
                    worker.told_ended(cause);
                    process.wake_supervisor();
                }
                Ok(())
            }
            schema::frame::Gone(end) => {
                let end = end?;
                let (id, cause) = (end.get_worker(), wire::read_cause(end.get_cause()?));
                // What ended it here, or was told of before, is the cause.
                let cause = process.worker(id).map_or(cause, |worker| worker.told_ended(cause));
                process.worker_gone(id, &RpcError::ended(cause), self.owner.upgrade().as_ref());
                Ok(())
            }
            schema::frame::Report(report) => {
                let report = report?;
                let question = report.get_question();
                process.reported(question, wire::read_report(report)?);
                Ok(())
            }
            schema::frame::Console(console) => {
                let console = console?;
                if let Some(worker) = process.worker(console.get_worker()) {
                    worker.console(
                        wire::read_console_level(console.get_level()?),
                        console.get_text()?.to_str()?,
                        console.get_dropped(),
                    );
                }
                Ok(())
            }
            schema::frame::Pong(pong) => {
                let pong = pong?;
                if pong.get_nonce() != process.id {
                    return Err(Malformed::Unexpected("an answer to no ping"));
                }
                process.lives();
                process.counted(wire::read_counters(pong.get_counters()?)?);
                Ok(())
            }
            schema::frame::Counters(counters) => {
                process.counted(wire::read_counters(counters?)?);
                Ok(())
            }
            _ => Err(Malformed::Unexpected("a frame only a broker sends")),
        }
    }

    fn invoke(&self, _: &Arc<Session>, _: Invoke) -> Result<Option<Arc<dyn Capability>>, Malformed> {
        Err(Malformed::Unexpected("a call on an entrypoint of the broker"))
    }

    fn admits_guest(&self) -> bool {
        false
    }

    fn lost(&self, _: &Arc<Session>, _: &Lost) {
        let Some(process) = self.process.get().and_then(Weak::upgrade) else { return };
        process.lost.store(true, SeqCst);
        // How one ended that never greeted says whether any can be started here: they are told when that is known.
        if process.welcomed.load(SeqCst) {
            process.all_gone();
        }
    }
}

fn load_result(loaded: schema::loaded::Reader<'_>) -> Result<Result<LoadReport, LoaderError>, Malformed> {
    Ok(match loaded.which()? {
        schema::loaded::Ok(ok) => Ok(wire::read_load_report(ok)?),
        schema::loaded::Error(error) => Err(LoaderError::Start(wire::read_load_error(error?)?)),
    })
}
