//! The one absolute deadline of a pass.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

/// A point on the monotonic clock, or none when it lies beyond what the clock can say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Option<Instant>);

impl Deadline {
    pub(super) fn after(start: Instant, time: Duration) -> Self {
        Self(start.checked_add(time))
    }

    pub(super) fn passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() >= at)
    }

    /// Resolves when the deadline has passed.
    pub(super) async fn wait(self) {
        match self.0 {
            Some(at) => tokio::time::sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// What the future gives if it gives it in time. The future is dropped before this returns.
    pub(super) async fn bound<F: Future>(self, future: F) -> Option<F::Output> {
        match self.0 {
            Some(at) => tokio::time::timeout_at(at, future).await.ok(),
            None => Some(future.await),
        }
    }
}
