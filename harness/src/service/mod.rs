//! The executor as a Cap'n Proto service over a Unix or TCP socket.
//!
//! Cap'n Proto's objects stay on one thread, so a few threads each serve a share of the connections; programs run on
//! threads of their own in any case. A connection owns everything its client caused: when it closes, its passes are
//! cancelled and its capabilities released. Malformed bytes, or a broken bound, cost the connection and nothing else.

mod bounds;
mod connection;
mod executor;
mod flow;
mod guard;
mod host;
mod listen;
mod read;
mod refuse;
mod whole;
mod write;

use std::io;
use std::sync::Arc;
use std::time::Duration;

pub use bounds::ServiceBounds;
pub use listen::{ListenAddress, Listener};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::LocalSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::executor::CodeExecutor;
use connection::Serving;
use listen::Socket;
use whole::Unfinished;

/// The most threads that serve connections.
const THREADS_MAX: usize = 4;

/// Refused connections that are being told so. Beyond it they are closed without a word.
const REFUSALS_MAX: usize = 64;

/// How long to wait before accepting again when the system refuses (too many open files, mostly).
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// How much longer than the drain time stopping may take.
const STOP_TIME_SPARE: Duration = Duration::from_secs(2);

/// A connection on its way to the thread that serves it, and its place among the connections.
type Accepted = (Socket, OwnedSemaphorePermit);

/// Serves the executor on a listening socket until `stop` resolves; needs a tokio runtime. Passes in flight may then
/// finish within [`ServiceBounds::drain_time_max`], and are cancelled after it.
///
/// # Errors
/// A thread could not be started.
pub async fn serve(
    executor: CodeExecutor,
    bounds: ServiceBounds,
    listener: Listener,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let unfinished = Unfinished::new(bounds.unfinished_bytes_max);
    let serving = Serving { executor, bounds: bounds.clone(), unfinished, stopping: CancellationToken::new() };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let threads =
        (0..threads).map(|at| ConnectionThread::start(at, serving.clone())).collect::<io::Result<Vec<_>>>()?;

    accept(&listener, &bounds, &threads, stop).await;
    serving.stopping.cancel();
    drop(listener);

    let stopped = futures::future::join_all(threads.into_iter().map(ConnectionThread::stop));
    if tokio::time::timeout(bounds.drain_time_max + STOP_TIME_SPARE, stopped).await.is_err() {
        tracing::warn!("connections were still open when the time to stop was up");
    }
    Ok(())
}

async fn accept(
    listener: &Listener,
    bounds: &ServiceBounds,
    threads: &[ConnectionThread],
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(bounds.connections_max));
    let refusals = TaskTracker::new();
    let mut stop = std::pin::pin!(stop);
    let mut next_thread = (0..threads.len()).cycle();
    loop {
        let socket = tokio::select! {
            () = &mut stop => return,
            accepted = listener.accept() => match accepted {
                Ok(socket) => socket,
                Err(error) => {
                    tracing::warn!("cannot accept a connection: {error}");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                    continue;
                }
            },
        };
        match places.clone().try_acquire_owned() {
            Ok(place) => {
                if let Some(thread) = next_thread.next().and_then(|at| threads.get(at)) {
                    thread.give((socket, place));
                }
            }
            Err(_) if refusals.len() < REFUSALS_MAX => {
                tracing::info!("a connection was refused: {} are open", bounds.connections_max);
                refusals.spawn(refuse::refuse(socket, bounds.connections_max));
            }
            Err(_) => {}
        }
    }
}

/// A thread that serves connections.
struct ConnectionThread {
    /// Bounded by the connections that may be open.
    connections: mpsc::UnboundedSender<Accepted>,
    /// Resolves when the thread has nothing left to serve.
    ended: oneshot::Receiver<()>,
}

impl ConnectionThread {
    fn start(at: usize, serving: Serving) -> io::Result<Self> {
        let (connections, accepted) = mpsc::unbounded_channel();
        let (on_end, ended) = oneshot::channel::<()>();
        let (started, starting) = std::sync::mpsc::sync_channel(1);
        // The runtime is the thread's own: where there is no thread there is none to get rid of, which may not be done here.
        std::thread::Builder::new().name(format!("connections-{at}")).spawn(move || {
            let made = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let (made, runtime) = match made {
                Ok(runtime) => (Ok(()), Some(runtime)),
                Err(error) => (Err(error), None),
            };
            // Whoever starts it waits for this.
            let _ = started.send(made);
            if let Some(runtime) = runtime {
                LocalSet::new().block_on(&runtime, serve_accepted(accepted, serving));
            }
            drop(on_end);
        })?;
        starting.recv().map_err(io::Error::other)??;
        Ok(Self { connections, ended })
    }

    fn give(&self, accepted: Accepted) {
        if self.connections.send(accepted).is_err() {
            tracing::error!("a thread that serves connections has ended");
        }
    }

    /// Takes no further connection and waits for those it has.
    async fn stop(self) {
        drop(self.connections);
        // An error is how the end is told.
        let _ = self.ended.await;
    }
}

async fn serve_accepted(mut accepted: mpsc::UnboundedReceiver<Accepted>, serving: Serving) {
    let connections = TaskTracker::new();
    while let Some((socket, place)) = accepted.recv().await {
        let serving = serving.clone();
        connections.spawn_local(async move {
            connection::serve(socket, serving).await;
            drop(place);
        });
    }
    connections.close();
    connections.wait().await;
}
