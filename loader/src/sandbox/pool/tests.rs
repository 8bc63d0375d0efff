//! What a pool decides, with processes that do not run.

use std::io;
use std::os::fd::OwnedFd;

use super::*;

/// A pool, and the far ends of its processes' sockets.
fn pool(processes: usize, configure: impl FnOnce(&mut SandboxConfig)) -> io::Result<(Sandboxes, Vec<OwnedFd>)> {
    let mut config = SandboxConfig::new(vec!["none".to_owned()]);
    configure(&mut config);
    let shared = Shared::new(config)?;
    let owner: Arc<dyn Owner> = shared.clone();
    let mut ends = Vec::new();
    for id in 1..=processes as u64 {
        let (process, theirs) = Process::unstarted(id, &IsolateConfig::default(), (1, 2), &owner)?;
        shared.state.lock().processes.push(process);
        ends.push(theirs);
    }
    Ok((Sandboxes(shared), ends))
}

#[test]
fn workers_can_be_placed_while_the_system_is_asked_about_processes() -> io::Result<()> {
    let (pool, _ends) = pool(3, |_| {})?;
    let metrics = pool.metrics_with(|_| u64::from(pool.0.state.try_lock().is_some()));
    assert_eq!((metrics.processes, metrics.rss_bytes), (3, 3), "asked outside of the lock each time");
    Ok(())
}
