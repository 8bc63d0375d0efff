//! The pool of never-used isolates: made ahead on threads of their own, each given out once.
//!
//! One thread, `isolate-pool`, decides when to make the next one; making it happens on the isolate's own thread.
//! Requests come first: those that found the pool empty are served in order, a few at once. As many are made at once while
//! the pool is less than half full and not very many are in use. Filling it up from there waits until things are quiet, and
//! makes one at a time, so that it does not take the cores from what runs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loaderd_runtime::isolate::{Isolate, IsolateConfig, SpawnError};
use loaderd_runtime::limits::{Cause, stuck_threads};
use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::error::{LoaderError, Overload};
use crate::freed::{GIVE_BACK_AFTER, give_back};
use crate::mappings::Mappings;

/// Requests that may wait for an isolate to be made. Over it they are refused as overloaded.
pub const WAITING_STARTS_MAX: usize = 1024;

/// Threads of this process that may be in builtins that ignore their end, for as long as isolates are still given out: each
/// keeps its memory and what is left of a processor. Some of these builtins never end.
pub const STUCK_THREADS_MAX: usize = 16;

/// With no request for this long, the pool fills up.
const QUIET: Duration = Duration::from_millis(5);

/// How long the pool rests after the system refused it a thread.
const RETRY: Duration = Duration::from_millis(100);

/// How the pool is kept.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// What each isolate is created with.
    pub isolate: IsolateConfig,
    /// Never-used isolates to keep ready. 0: each is made when it is asked for.
    pub target: usize,
    /// Isolates made at once while requests wait or the pool is less than half full. One more than there are cores is a good
    /// choice: making one waits for the kernel now and then. At least 1.
    pub making_max: usize,
}

impl Default for PoolConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { isolate: IsolateConfig::default(), target: 4 * cores, making_max: cores + 1 }
    }
}

/// Counters of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolMetrics {
    /// Never-used isolates ready now.
    pub pooled: usize,
    /// Isolates being made now.
    pub making: usize,
    /// Requests that wait for one now.
    pub waiting: usize,
    /// Isolates made so far.
    pub made: u64,
    /// Isolates of this pool that exist now, ready ones and those being torn down included.
    pub alive: usize,
}

/// What is done with an isolate, once there is one.
pub(crate) type Job = Box<dyn FnOnce(Result<Isolate, LoaderError>) + Send>;

/// See the module. Dropping it ends the ready isolates and answers who waits.
pub(crate) struct Pool(Arc<Shared>);

struct Shared {
    config: PoolConfig,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    ready: VecDeque<Isolate>,
    waiting: VecDeque<Job>,
    making: usize,
    made: u64,
    alive: usize,
    last_taken: Instant,
    /// When the first isolate ended whose memory has not been given back.
    freed_at: Option<Instant>,
    mappings: Mappings,
    closed: bool,
}

/// What the pool's thread does next.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Make,
    /// Look again when something changes, or after this long.
    Wait(Option<Duration>),
}

/// What the next step depends on.
#[derive(Clone, Copy)]
struct Counts {
    ready: usize,
    making: usize,
    waiting: usize,
    /// Given out, those being torn down included: where there are many, making more must not keep them from going.
    in_use: usize,
    /// Time since the last request.
    quiet: Duration,
}

fn next_step(counts: Counts, target: usize, making_max: usize) -> Step {
    let Counts { ready, making, waiting, in_use, quiet } = counts;
    if waiting > making {
        return if making < making_max { Step::Make } else { Step::Wait(None) };
    }
    // Those that nobody waits for.
    let ahead = ready + making - waiting;
    let at_once = if in_use > 2 * target { 1 } else { making_max };
    if making >= at_once || ahead >= target {
        return Step::Wait(None);
    }
    // Half empty is reason enough, and to make several at once: passes that come one after the other wait for nothing
    // else. More than that is made one by one, in a quiet moment.
    match 2 * ahead < target {
        true => Step::Make,
        false if making > 0 => Step::Wait(None),
        false if quiet >= QUIET => Step::Make,
        false => Step::Wait(Some(QUIET - quiet)),
    }
}

impl Pool {
    /// A pool that begins to fill at once.
    pub(crate) fn new(config: PoolConfig) -> Result<Self, LoaderError> {
        let shared = Arc::new(Shared {
            config: PoolConfig { making_max: config.making_max.max(1), ..config },
            state: Mutex::new(State {
                ready: VecDeque::new(),
                waiting: VecDeque::new(),
                making: 0,
                made: 0,
                alive: 0,
                last_taken: Instant::now(),
                freed_at: None,
                mappings: Mappings::measure(),
                closed: false,
            }),
            changed: Condvar::new(),
        });
        let keeper = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("isolate-pool".into())
            .spawn(move || keep(&keeper))
            .map_err(|error| LoaderError::Platform(format!("cannot start the pool's thread: {error}")))?;
        Ok(Self(shared))
    }

    /// Gives `job` an isolate, unless too many threads are stuck: at once where one is ready, else when one is made, in the order of asking.
    pub(crate) fn take(&self, job: Job) {
        let stuck = stuck_threads();
        if stuck >= STUCK_THREADS_MAX {
            let overload = Overload::StuckThreads { stuck, max: STUCK_THREADS_MAX };
            return job(Err(LoaderError::Overloaded(overload)));
        }
        let mut state = self.0.state.lock();
        state.last_taken = Instant::now();
        if let Some(isolate) = state.ready.pop_front() {
            // The thread is only woken when it has something to decide now; it looks again by itself otherwise.
            let wake = state.making < self.0.config.making_max;
            drop(state);
            if wake {
                self.0.changed.notify_one();
            }
            return job(Ok(isolate));
        }
        let refused = if state.waiting.len() >= WAITING_STARTS_MAX {
            Some(Overload::Starting { max: WAITING_STARTS_MAX })
        } else {
            state.mappings.refuse(state.alive + state.waiting.len())
        };
        if let Some(overload) = refused {
            drop(state);
            return job(Err(LoaderError::Overloaded(overload)));
        }
        state.waiting.push_back(job);
        drop(state);
        self.0.changed.notify_one();
    }

    /// Takes back an isolate that was given out and not used.
    pub(crate) fn put_back(&self, isolate: Isolate) {
        let state = self.0.state.lock();
        self.0.offer(isolate, state);
    }

    pub(crate) fn metrics(&self) -> PoolMetrics {
        let state = self.0.state.lock();
        PoolMetrics {
            pooled: state.ready.len(),
            making: state.making,
            waiting: state.waiting.len(),
            made: state.made,
            alive: state.alive,
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let (ready, waiting) = {
            let mut state = self.0.state.lock();
            state.closed = true;
            (std::mem::take(&mut state.ready), std::mem::take(&mut state.waiting))
        };
        self.0.changed.notify_one();
        drop(ready);
        for job in waiting {
            job(Err(LoaderError::Ended(Cause::Shutdown)));
        }
    }
}

impl Shared {
    /// Gives an isolate to whoever waits longest, or keeps it.
    fn offer(&self, isolate: Isolate, mut state: MutexGuard<'_, State>) {
        if state.closed || isolate.ended().is_some() {
            drop(state);
            return drop(isolate);
        }
        match state.waiting.pop_front() {
            Some(job) => {
                drop(state);
                job(Ok(isolate));
            }
            None => state.ready.push_back(isolate),
        }
    }
}

/// The pool's thread.
fn keep(shared: &Arc<Shared>) {
    let mut state = shared.state.lock();
    while !state.closed {
        let freed_for = state.freed_at.map(|since| since.elapsed());
        if freed_for.is_some_and(|time| time >= GIVE_BACK_AFTER) {
            state.freed_at = None;
            drop(state);
            give_back();
            state = shared.state.lock();
            continue;
        }
        let counts = Counts {
            ready: state.ready.len(),
            making: state.making,
            waiting: state.waiting.len(),
            in_use: state.alive.saturating_sub(state.ready.len() + state.making),
            quiet: state.last_taken.elapsed(),
        };
        match next_step(counts, shared.config.target, shared.config.making_max) {
            Step::Make if counts.waiting == 0 && state.mappings.refuse(state.alive).is_some() => {
                // No room to keep one ready; look again when something ends or is asked for.
                shared.changed.wait(&mut state);
            }
            Step::Make => {
                state.making += 1;
                state.made += 1;
                state.alive += 1;
                drop(state);
                let made = make(shared);
                state = shared.state.lock();
                match made {
                    Ok(()) => {
                        let alive = state.alive - state.making;
                        state.mappings.grown(alive);
                    }
                    Err(error) => {
                        let waiting = state.waiting.pop_front();
                        drop(state);
                        tracing::error!("{error}");
                        if let Some(job) = waiting {
                            job(Err(LoaderError::Platform(error.to_string())));
                        }
                        state = shared.state.lock();
                        shared.changed.wait_for(&mut state, RETRY);
                    }
                }
            }
            Step::Wait(pause) => {
                let until_freed = freed_for.map(|time| GIVE_BACK_AFTER.saturating_sub(time));
                match pause.into_iter().chain(until_freed).min() {
                    None => shared.changed.wait(&mut state),
                    Some(pause) => {
                        shared.changed.wait_for(&mut state, pause);
                    }
                }
            }
        }
    }
}

/// Starts making one isolate, which is counted already.
fn make(shared: &Arc<Shared>) -> Result<(), SpawnError> {
    let (alive, making) = (Alive(Arc::clone(shared)), Making(Some(Arc::clone(shared))));
    let (sender, handle) = std::sync::mpsc::sync_channel(1);
    let isolate = Isolate::spawn_then(shared.config.isolate.clone(), move || {
        // The handle was sent when the thread had hardly begun.
        if let Ok(isolate) = handle.recv() {
            making.done(isolate);
        }
    })?;
    isolate.on_end(move |_| drop(alive));
    // The receiver is gone where V8's part failed; the isolate goes with it.
    let _failed = sender.send(isolate);
    Ok(())
}

/// An isolate exists. Dropped when nothing of it is left.
struct Alive(Arc<Shared>);

impl Drop for Alive {
    fn drop(&mut self) {
        {
            let mut state = self.0.state.lock();
            state.alive -= 1;
            state.freed_at.get_or_insert_with(Instant::now);
        }
        self.0.changed.notify_one();
    }
}

/// An isolate is being made.
struct Making(Option<Arc<Shared>>);

impl Making {
    fn done(mut self, isolate: Isolate) {
        if let Some(shared) = self.0.take() {
            let mut state = shared.state.lock();
            state.making -= 1;
            shared.offer(isolate, state);
            shared.changed.notify_one();
        }
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.state.lock().making -= 1;
            shared.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    #[test]
    fn requests_come_first_and_filling_up_waits_for_a_quiet_moment() {
        let cases = [
            // (ready, making, waiting, quiet) with a target of 4, two at once
            ((0, 0, 1, NOW), Step::Make),
            ((0, 1, 2, NOW), Step::Make),
            ((0, 2, 5, NOW), Step::Wait(None)),
            ((0, 1, 1, NOW), Step::Make),
            ((0, 2, 1, NOW), Step::Wait(None)),
            ((1, 0, 0, NOW), Step::Make),
            ((0, 1, 0, NOW), Step::Make),
            ((0, 2, 0, NOW), Step::Wait(None)),
            ((1, 1, 0, NOW), Step::Wait(None)),
            ((2, 1, 0, QUIET), Step::Wait(None)),
            ((3, 1, 0, QUIET), Step::Wait(None)),
            ((2, 0, 0, NOW), Step::Wait(Some(QUIET))),
            ((3, 0, 0, QUIET / 2), Step::Wait(Some(QUIET / 2))),
            ((3, 0, 0, QUIET), Step::Make),
            ((4, 0, 0, QUIET), Step::Wait(None)),
        ];
        for ((ready, making, waiting, quiet), step) in cases {
            let counts = Counts { ready, making, waiting, in_use: 0, quiet };
            assert_eq!(next_step(counts, 4, 2), step, "ready {ready}, making {making}, waiting {waiting}, {quiet:?}");
        }
    }

    #[test]
    fn where_many_are_in_use_they_are_made_one_by_one() {
        let counts = Counts { ready: 0, making: 1, waiting: 0, in_use: 8, quiet: NOW };
        assert_eq!(next_step(counts, 4, 2), Step::Make);
        assert_eq!(next_step(Counts { in_use: 9, ..counts }, 4, 2), Step::Wait(None));
        assert_eq!(next_step(Counts { in_use: 9, making: 0, ..counts }, 4, 2), Step::Make);
        // Whoever waits is not kept waiting for that.
        assert_eq!(next_step(Counts { in_use: 9, waiting: 2, ..counts }, 4, 2), Step::Make);
    }

    #[test]
    fn without_a_target_nothing_is_made_ahead() {
        let counts = Counts { ready: 0, making: 0, waiting: 0, in_use: 0, quiet: QUIET };
        assert_eq!(next_step(counts, 0, 1), Step::Wait(None));
    }
}
