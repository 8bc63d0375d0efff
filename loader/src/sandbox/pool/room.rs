//! Which process a Worker goes to, and whose process makes room for it.

use std::cmp::Reverse;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Weak};
use std::time::Duration;

use loaderd_runtime::limits::Cause;

use super::{Shared, State};
use crate::error::LoaderError;
use crate::sandbox::place::Wish;
use crate::sandbox::process::Process;
use crate::shares::Tenant;

/// Of how many processes one is left to tenants that have none.
const ROOM_FOR_OTHERS: usize = 4;

/// How long a tenant without a process waits until one that is never idle is emptied for it, also the only one of its owner.
/// Where tenants are more than processes, they have them in turn, each for about so long: many times what it takes to start one.
const TURN: Duration = Duration::from_millis(250);

impl Shared {
    /// Gives waiting Workers to processes with room, tenants in turn, as far as there is room. A tenant for whom there is
    /// none does not hold up the others. Takes as long as there are tenants that wait and Workers that are placed.
    pub(super) fn place_waiting(&self) {
        let (placed, unwanted) = {
            let mut state = self.state.lock();
            let (mut passed_over, mut placed, mut unwanted) = (0, Vec::new(), Vec::new());
            while let Some(tenant) = state.waiting.turn(passed_over).cloned() {
                if state.waiting.first_of(&tenant).is_some_and(|wish| wish.unwanted().is_some()) {
                    // It is to take nobody's room, and to have no process started.
                    unwanted.extend(state.waiting.take(passed_over));
                    continue;
                }
                let Some(process) = self.room_for(&mut state, &tenant) else {
                    passed_over += 1;
                    continue;
                };
                let Some(wish) = state.waiting.take(passed_over) else { break };
                // Counted while the lock is held, so that nobody else sees room that is taken.
                process.active.fetch_add(1, SeqCst);
                placed.push((process, wish));
            }
            if passed_over > 0 && !state.looked_after {
                state.looked_after = true;
                self.bell.notify_one();
            }
            (placed, unwanted)
        };
        unwanted.into_iter().for_each(let_go);
        for (process, wish) in placed {
            let pool = self.me.clone();
            wish.give(&process, move |wish| place_again(&pool, wish));
            process.ask();
            process.uncount();
        }
    }

    /// Lets go of those that were ended while they waited.
    pub(super) fn drop_unwanted(&self) {
        let unwanted = self.state.lock().waiting.extract(|wish| wish.unwanted().is_some());
        unwanted.into_iter().for_each(let_go);
    }

    /// A process for one more Worker of a tenant. Who shares a process shares its fate, so company is for when there
    /// is no room for solitude; and one tenant leaves some room for the others as long as it can do with company.
    /// A process that does not answer is for when there is no other.
    pub(super) fn room_for(&self, state: &mut State, tenant: &Tenant) -> Option<Arc<Process>> {
        let free = |process: &&Arc<Process>| {
            let has_room = process.active.load(SeqCst) < self.config.workers_per_process_max;
            has_room && !process.is_closed() && !process.is_silent()
        };
        let theirs = |process: &&Arc<Process>| process.tenant.get() == Some(tenant);
        let least = state.processes.iter().filter(free).filter(theirs);
        let least = least.min_by_key(|process| (!process.answers(), process.active.load(SeqCst))).cloned();
        if least.as_ref().is_some_and(|process| process.active.load(SeqCst) == 0 && process.answers()) {
            return least;
        }
        let unclaimed = state.processes.iter().filter(free).filter(|process| process.tenant.get().is_none());
        let unclaimed = unclaimed.min_by_key(|process| !process.answers()).cloned();
        let claimed = state.processes.len() - usize::from(unclaimed.is_some());
        let for_others = (self.config.processes_max / ROOM_FOR_OTHERS).max(1);
        if let Some(company) = least.as_ref().filter(|process| process.answers())
            && claimed + for_others >= self.config.processes_max
        {
            return Some(company.clone());
        }
        let room_for_more = state.processes.len() < self.config.processes_max;
        let (sound, doubtful) = match unclaimed {
            Some(process) if process.answers() => (Some(process), None),
            unclaimed => (None, unclaimed),
        };
        if let Some(late) = least.as_ref().filter(|process| process.active.load(SeqCst) == 0)
            && sound.is_none()
            && state.processes.iter().any(|process| !process.is_welcomed() && !process.is_closed())
        {
            // One is being started. On a machine where all are late, one more for each Worker would make all of them later.
            return Some(late.clone());
        }
        let new = sound.or_else(|| if room_for_more { self.start_process(state, Some(tenant)) } else { None });
        if let Some(process) = new.or_else(|| doubtful.filter(|_| least.is_none())) {
            state.claim(&process, tenant);
            return Some(process);
        }
        if !room_for_more {
            self.make_room(state, tenant);
        }
        least
    }

    /// All processes belong to somebody: one of another tenant makes room, unless that would only take from who has little.
    /// Its end comes back to `place_waiting`.
    fn make_room(&self, state: &State, tenant: &Tenant) {
        let mut closed = state.processes.iter().filter(|process| process.is_closed());
        if closed.clone().any(|process| process.active.load(SeqCst) == 0) {
            // One is on its way out already.
            return;
        }
        let one_is_being_emptied = closed.next().is_some();
        let of = |process: &Process| process.tenant.get().cloned().flatten();
        let mine = state.held_by(tenant);
        let others = || state.processes.iter().filter(|process| of(process) != *tenant);
        let has_more = |process: &Process| state.held_by(&of(process)) > mine + 1;
        let its_turn = mine == 0 && state.waiting.first_of(tenant).is_some_and(|wish| wish.age() >= TURN);
        // Whoever has none takes what is idle. So does anybody else, but not what its owner used only just now.
        let idle = others()
            .filter(|process| process.active.load(SeqCst) == 0)
            .filter(|process| mine == 0 || has_more(process) || process.unused_for() >= self.config.idle_kept)
            .max_by_key(|process| process.unused_for());
        // Else one that is emptied by taking no more, of whoever has most; the one that will be empty soonest.
        let crowded = || {
            let from = others().filter(|process| its_turn || has_more(process));
            from.max_by_key(|process| (state.held_by(&of(process)), Reverse(process.active.load(SeqCst))))
        };
        if let Some(process) = idle.or_else(|| if one_is_being_emptied { None } else { crowded() }) {
            process.retire();
        }
    }
}

/// Tells whoever ended it that it is over.
fn let_go(wish: Wish) {
    let cause = wish.unwanted().unwrap_or(Cause::Shutdown);
    wish.refuse(LoaderError::Ended(cause));
}

/// Puts a Worker whose process died back to where it was, ahead of those that came after it.
fn place_again(pool: &Weak<Shared>, wish: Wish) {
    let refused = match pool.upgrade() {
        Some(shared) => {
            let mut state = shared.state.lock();
            if state.closing {
                Some(wish)
            } else {
                // Its process was one of `processes_max`, so these are few. Placed when that is gone.
                state.waiting.put_back(&wish.tenant().cloned(), wish);
                None
            }
        }
        None => Some(wish),
    };
    if let Some(wish) = refused {
        wish.refuse(LoaderError::Ended(Cause::Shutdown));
    }
}
