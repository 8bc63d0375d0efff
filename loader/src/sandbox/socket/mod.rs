//! One Unix socket: frames out from any thread, frames in on one at a time.
//!
//! | Room | Owns |
//! |---|---|
//! | `room` | how much may wait for several peers together |
//! | `sender` | sending, which never blocks, and what waits for the peer |
//! | `inbox` | bytes received and not yet taken as frames |
//! | `receiver` | the thread that serves a connection, and guests that read in its place |
//! | `lead` | which of them reads |

mod inbox;
mod lead;
mod receiver;
mod room;
mod sender;

use std::io;

use super::wire::Malformed;
pub(super) use inbox::reader_options;
pub(super) use receiver::{Concerns, Left, Receiver};
pub(super) use room::SendRoom;
pub(super) use sender::Sender;

/// The most segments a frame may come in; ours fit one or a few.
const SEGMENTS_MAX: usize = 64;

const WORD_BYTES: usize = 8;

/// Why a socket is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Lost {
    #[error("it closed the connection")]
    Closed,
    #[error("it stopped reading")]
    Stalled,
    #[error("it sent {0}")]
    Malformed(#[from] Malformed),
    #[error("the connection failed: {0}")]
    Io(io::ErrorKind),
}

fn lost(error: nix::Error) -> Lost {
    match error {
        nix::Error::EPIPE | nix::Error::ECONNRESET => Lost::Closed,
        error => Lost::Io(io::Error::from(error).kind()),
    }
}
