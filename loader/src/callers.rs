//! The optional cap on how many distinct dynamic Workers one caller may have running at once.

use std::collections::HashMap;
use std::sync::Arc;

use loaderd_runtime::rpc::RpcError;
use parking_lot::Mutex;

/// One caller (a request to a Worker, or a Durable Object) and its running dynamic Workers. Several calls to one
/// Worker count once. Cheap to clone; clones count together.
#[derive(Clone)]
pub struct Caller(Arc<Counts>);

struct Counts {
    max: usize,
    /// Open invocations by Worker.
    running: Mutex<HashMap<u64, usize>>,
}

/// One open invocation of a caller; dropping it gives the place back.
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

    /// Counts one invocation of a Worker, or says why not. Nothing is loaded for a call that is refused.
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
