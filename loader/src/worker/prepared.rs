//! Checked code in the form a placement takes.

use std::sync::Arc;

use loaderd_runtime::channel::Channels;
use loaderd_runtime::isolate::LoadCode;

use crate::cache::MemoryCache;
use crate::code::{self, CheckedCode, GlobalOutbound, WorkerCode};
use crate::error::LoaderError;
use crate::host::{HostShared, LoaderOptions};
use crate::live::CodeRoom;

/// Checked code in the form a placement takes, kept so that an evicted Worker can start again.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(super) load: Arc<LoadCode>,
    pub(super) tenant: Option<Arc<str>>,
    /// Given back with the last copy. `None`: the code is of the configuration, and counts nowhere.
    _room: Option<Arc<CodeRoom>>,
}

impl Prepared {
    pub(crate) fn new(host: &HostShared, options: &LoaderOptions, code: WorkerCode) -> Result<Self, LoaderError> {
        let mut checked = code::check(code, options.experimental, &options.traces)?;
        checked.source.extensions = Arc::clone(&options.extensions);
        let room = host.live.hold_code(checked.held_bytes()).map_err(LoaderError::Overloaded)?;
        Ok(Self { _room: Some(Arc::new(room)), ..Self::of_checked(host, options, checked) })
    }

    pub(crate) fn of_checked(host: &HostShared, options: &LoaderOptions, code: CheckedCode) -> Self {
        let global_outbound = match code.global_outbound {
            GlobalOutbound::Inherit => options.outbound.clone(),
            GlobalOutbound::None => None,
            GlobalOutbound::Cap(cap) => Some(cap),
        };
        let limits = &host.limits;
        Self {
            _room: None,
            tenant: options.tenant.clone(),
            load: Arc::new(LoadCode {
                source: code.source,
                env: code.env,
                channels: Channels {
                    global_outbound,
                    cache: code.cache.or_else(|| options.cache.as_ref().map(MemoryCache::channel)),
                    console: code.console.or_else(|| options.console.clone()),
                    objects: code.objects,
                    refuses_transfer: code.refuses_transfer,
                    traces: code.traces,
                },
                startup_cpu: limits.startup_cpu,
                limits: limits.invocation.lowest(code.limits),
                on_hang: code.on_hang,
                uses: code.uses,
                clock: code.clock,
                compat: code.compat,
            }),
        }
    }
}
