//! When a server is told to stop.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Resolves when the process is told to stop: by SIGTERM, by Ctrl-C, or because its terminal goes, unless it was started to
/// outlive that (`nohup`). Signals are caught from now on, not from when this is polled.
pub(crate) fn told_to_stop() -> io::Result<impl Future<Output = ()>> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let mut hangup = if hangup_is_ignored() { None } else { Some(signal(SignalKind::hangup())?) };
    Ok(async move {
        let hung_up = async {
            match &mut hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hung_up => {}
        }
    })
}

/// Whether whoever started the process had it ignore SIGHUP. Without `/proc` it is taken not to be.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim);
    // The first signal is the lowest bit.
    let hangup = 1 << (libc::SIGHUP - 1);
    ignored.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & hangup != 0)
}
