//! What a pool decides, with processes that do not run.

use std::io;
use std::os::fd::OwnedFd;

use super::*;

/// A pool, and the far ends of its processes' sockets.
fn pool(processes: usize, configure: impl FnOnce(&mut SandboxConfig)) -> io::Result<(Sandboxes, Vec<OwnedFd>)> {
    // A process that is started all the same is this binary, which lists its tests and ends.
    let mut config = SandboxConfig::new(["it", "--list"].map(str::to_owned).to_vec());
    configure(&mut config);
    let shared = Shared::new(config)?;
    let owner: Arc<dyn Owner> = shared.clone();
    let mut ends = Vec::new();
    for id in 1..=processes as u64 {
        let setup =
            Setup { isolate: &shared.config.isolate, isolates_warm: 1, isolates_max: 2, send_room: &shared.send_room };
        let (process, theirs) = Process::unstarted(id, &setup, &owner)?;
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

#[test]
fn who_does_not_answer_is_given_nothing_where_there_is_another() -> io::Result<()> {
    const NOW: Duration = Duration::ZERO;
    const LATE: Duration = Duration::from_secs(1);
    const GONE: Duration = Duration::from_secs(5);
    let tenant: Tenant = Some("a".into());
    // What each process was asked how long ago, how many Workers are in it, which belong to the tenant, and where the next
    // Worker goes.
    let cases: [(&str, &[(Option<Duration>, usize)], usize, Option<u64>); 9] = [
        ("an empty one", &[(None, 1), (None, 0)], 2, Some(2)),
        ("one that has just been asked is not late", &[(None, 1), (Some(NOW), 0)], 2, Some(2)),
        ("company before an empty one that is late", &[(None, 1), (Some(LATE), 0)], 2, Some(1)),
        ("nobody's before an own one that is late", &[(Some(LATE), 0), (None, 0)], 1, Some(2)),
        ("nobody's that is late after an own one that is not", &[(None, 1), (Some(LATE), 0)], 1, Some(1)),
        ("a late one where there is no other", &[(Some(LATE), 1), (Some(LATE), 0)], 2, Some(2)),
        ("nobody's late one where there is no other", &[(Some(LATE), 0)], 0, Some(1)),
        ("none that is gone", &[(Some(GONE), 0), (None, 1)], 2, Some(2)),
        ("none at all where all are gone", &[(Some(GONE), 0), (Some(GONE), 0)], 2, None),
    ];
    for (what, processes, own, expected) in cases {
        let (pool, _ends) = pool(processes.len(), |config| config.processes_max = processes.len())?;
        let mut state = pool.0.state.lock();
        let all = state.processes.clone();
        for (process, (asked, active)) in all.iter().zip(processes) {
            if let Some(ago) = asked {
                process.was_asked(*ago);
            }
            process.active.store(*active, SeqCst);
        }
        for process in all.iter().take(own) {
            state.claim(process, &tenant);
        }
        let next = pool.0.room_for(&mut state, &tenant).map(|process| process.id);
        drop(state);
        assert_eq!(next, expected, "{what}");
    }
    Ok(())
}

#[test]
fn a_process_is_started_rather_than_one_used_that_does_not_answer() -> io::Result<()> {
    let (pool, _ends) = pool(1, |config| config.processes_max = 2)?;
    let mut state = pool.0.state.lock();
    let late = state.processes[0].clone();
    late.was_asked(Duration::from_secs(1));
    state.claim(&late, &None);
    let next = pool.0.room_for(&mut state, &None).map(|process| process.id);
    assert_eq!((next, state.processes.len()), (Some(1), 2), "the number is the first that this pool gives out");
    assert!(!Arc::ptr_eq(&state.processes[1], &late));
    drop(state);
    Ok(())
}

#[test]
fn one_process_at_a_time_is_started_because_others_are_late() -> io::Result<()> {
    let (pool, _ends) = pool(2, |config| config.processes_max = 4)?;
    let mut state = pool.0.state.lock();
    let [late, starting] = [0, 1].map(|at| state.processes[at].clone());
    late.was_asked(Duration::from_secs(1));
    state.claim(&late, &None);
    state.claim(&starting, &Some("another".into()));
    let next = pool.0.room_for(&mut state, &None).map(|process| process.id);
    assert_eq!((next, state.processes.len()), (Some(late.id), 2));
    drop(state);
    Ok(())
}

#[test]
fn the_confinement_told_is_that_of_the_process_that_greeted_last() -> io::Result<()> {
    let (pool, _ends) = pool(0, |_| {})?;
    let layers = |state| vec![LayerStatus { layer: "landlock".to_owned(), state, detail: String::new() }];
    for state in [LayerState::Applied, LayerState::Missing, LayerState::Applied] {
        pool.0.welcomed(&layers(state));
        assert_eq!(pool.confinement(), Some(layers(state)));
    }
    Ok(())
}

#[test]
fn a_tenant_whose_programs_bring_processes_down_makes_no_other_wait() -> io::Result<()> {
    let (pool, _ends) = pool(2, |config| config.processes_max = 8)?;
    let mut state = pool.0.state.lock();
    let [crashed, idle] = [0, 1].map(|at| state.processes[at].clone());
    state.claim(&crashed, &Some("a".into()));
    crashed.given.store(1, SeqCst);
    state.processes.clear();
    let starts = |state: &mut State, tenant: &str| pool.0.start_process(state, Some(&Some(tenant.into()))).is_some();
    state.note_failure(&crashed, Instant::now());
    assert_eq!((starts(&mut state, "a"), starts(&mut state, "b")), (false, true), "after one of a's");
    state.note_failure(&idle, Instant::now());
    assert_eq!((starts(&mut state, "a"), starts(&mut state, "b")), (false, false), "after one that ran nothing");
    drop(state);
    Ok(())
}
