//! Sockets that only this configuration's own services can reach, by name: for tests.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::connect::BoxStream;

/// Connections that wait to be accepted. Over it connecting waits.
const BACKLOG_MAX: usize = 128;

/// Bytes on their way, in each direction.
const PIPE_BYTES: usize = 64 << 10;

/// The names that are listened on. Cheap to clone; clones share them.
#[derive(Clone, Default)]
pub(super) struct Loopbacks(Arc<Mutex<HashMap<String, mpsc::Sender<BoxStream>>>>);

impl Loopbacks {
    /// Listens on a name. `None`: somebody else does.
    pub(super) fn listen(&self, name: &str) -> Option<mpsc::Receiver<BoxStream>> {
        let mut names = self.0.lock();
        if names.contains_key(name) {
            return None;
        }
        let (sender, receiver) = mpsc::channel(BACKLOG_MAX);
        names.insert(name.to_owned(), sender);
        Some(receiver)
    }

    pub(super) async fn connect(&self, name: &str) -> io::Result<BoxStream> {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let listener = self.0.lock().get(name).cloned().ok_or_else(refused)?;
        let (ours, theirs) = tokio::io::duplex(PIPE_BYTES);
        listener.send(Box::new(theirs)).await.map_err(|_| refused())?;
        Ok(Box::new(ours))
    }
}
