//! Isolates in processes of their own: a placement whose isolates live at the far end of a socket.
//!
//! | Room | Owns |
//! |---|---|
//! | `attacked` | the broker's end under attack, for fuzzing |
//! | [`child`] | the sandbox process: isolates in it, one socket to the broker |
//! | `follow` | where the broker reads a process's frames |
//! | [`exit`] | why a process had to be replaced |
//! | [`pool`] | the broker's placement: which process a Worker goes to, when processes start and retire |
//! | `place` | a Worker's place in a process, and the wish for one |
//! | `process` | one sandbox process, seen by the broker: its thread, its Workers, its end |
//! | `priority` | the place of its watchdog ahead of programs |
//! | `worker` | one Worker there, as the loader sees it |
//! | `session` | a connection's tables: what each end may call of the other's |
//! | `remote` | what lives at the other end, as capabilities |
//! | `socket` | frames over a Unix socket, bounded both ways |
//! | `wire` | values and frames as Cap'n Proto |

#[cfg(any(test, fuzzing))]
pub mod attacked;
pub mod child;
pub mod exit;
mod follow;
mod place;
pub mod pool;
mod priority;
mod process;
mod remote;
mod session;
mod socket;
mod wire;
mod worker;

pub use exit::{RESTARTS, Restart};
pub use pool::{SandboxConfig, SandboxMetrics, Sandboxes};
