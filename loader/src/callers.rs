//! The optional cap on how many distinct dynamic Workers one caller may have running at once.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use loaderd_runtime::dynamic::{self, CallerKind};
use loaderd_runtime::rpc::RpcError;
use parking_lot::Mutex;

/// How many distinct dynamic Workers one caller of a kind may have running at once. `None`: any number. The platform has 4
/// for a request and 10 for a Durable Object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallerCaps {
    pub request: Option<NonZeroU32>,
    pub durable_object: Option<NonZeroU32>,
}

impl CallerCaps {
    /// The lower of two, each kind by itself.
    #[must_use]
    pub fn lowest(self, other: Self) -> Self {
        let lowest = |a: Option<NonZeroU32>, b: Option<NonZeroU32>| a.into_iter().chain(b).min();
        Self {
            request: lowest(self.request, other.request),
            durable_object: lowest(self.durable_object, other.durable_object),
        }
    }

    /// What is counted of a Worker's invocation or object; `None` where nothing is.
    pub(crate) fn count(self, caller: &dynamic::Caller) -> Option<Caller> {
        let max = match caller.kind() {
            CallerKind::Request => self.request,
            CallerKind::DurableObject => self.durable_object,
        }?;
        caller.keep(|| Caller::new(max.get() as usize)).cloned()
    }
}

/// One caller (a request to a Worker, or a Durable Object) and its running dynamic Workers. Several calls to one
/// Worker count once. Cheap to clone; clones count together.
#[derive(Clone)]
pub struct Caller(Arc<Counts>);

struct Counts {
    max: usize,
    /// Unanswered calls by Worker.
    running: Mutex<HashMap<u64, usize>>,
}

/// One call of a caller that is not answered yet; dropping it gives the place back.
pub(crate) struct Place {
    caller: Caller,
    worker: u64,
}

/// A caller met its cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Dynamic worker concurrency limit exceeded: each request may have up to {max} concurrent dynamic worker \
     invocations. Wait for one to finish before starting another."
)]
pub(crate) struct TooMany {
    max: usize,
}

impl TooMany {
    pub(crate) fn to_rpc(self) -> RpcError {
        RpcError { overloaded: true, remote: false, ..RpcError::new("Error", self.to_string()) }
    }
}

impl Caller {
    /// A caller that may have at most `max` distinct dynamic Workers running (4 for a request on the platform, 10 for
    /// a Durable Object).
    #[must_use]
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Counts { max, running: Mutex::default() }))
    }

    /// Counts one call of a Worker, or says why not. Nothing is loaded for a call that is refused.
    pub(crate) fn enter(&self, worker: u64) -> Result<Place, TooMany> {
        let mut running = self.0.running.lock();
        if !running.contains_key(&worker) && running.len() >= self.0.max {
            return Err(TooMany { max: self.0.max });
        }
        *running.entry(worker).or_default() += 1;
        Ok(Place { caller: self.clone(), worker })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = self.caller.0.running.lock();
        if let Some(count) = running.get_mut(&self.worker) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.worker);
            }
        }
    }
}
