//! The scripted pass host: answers as its case says, and remembers what it saw.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use crate::case::{Answer, Case, Step};
use crate::json::Json;

/// How long a host call may take to notice that its pass is over. A bound against hanging tests, not an expectation.
const IDLE_WAIT: Duration = Duration::from_secs(20);

/// What a host saw. Read it after [`ScriptedHost::idle`].
#[derive(Clone, Debug, Default)]
pub(crate) struct HostRecord {
    pub(crate) saw: Vec<(String, Json)>,
    pub(crate) active: usize,
    pub(crate) peak: usize,
    /// Calls dropped before they were answered.
    pub(crate) interrupted: usize,
    /// Calls the case has no answer for.
    pub(crate) unscripted: Vec<String>,
}

pub(crate) struct ScriptedHost {
    script: HashMap<String, Vec<Step>>,
    record: Mutex<HostRecord>,
    /// Calls seen so far, and calls active now: what waiters wait for.
    seen: watch::Sender<usize>,
    active: watch::Sender<usize>,
}

impl ScriptedHost {
    pub(crate) fn new(case: &Case) -> Arc<Self> {
        Arc::new(Self {
            script: case.host.iter().cloned().collect(),
            record: Mutex::default(),
            seen: watch::channel(0).0,
            active: watch::channel(0).0,
        })
    }

    /// Answers one call. Dropping the future is the interruption of the call, and is remembered as one.
    pub(crate) async fn call(self: Arc<Self>, namespace: &str, method: &str, argument: Json) -> Answer {
        let name = format!("{namespace}.{method}");
        let (active, step) = self.begin(name, argument);
        if step.after_calls > 0 {
            let mut seen = self.seen.subscribe();
            // An error means that the sender is gone, and `self` holds it.
            let _ = seen.wait_for(|seen| *seen >= step.after_calls).await;
        }
        if matches!(step.answer, Answer::Never) {
            std::future::pending::<()>().await;
        }
        active.answered();
        step.answer
    }

    /// Waits until the host has seen so many calls.
    pub(crate) async fn seen(&self, calls: usize) {
        let _ = self.seen.subscribe().wait_for(|seen| *seen >= calls).await;
    }

    /// What the host saw, once its last call is over (or is not going to be).
    pub(crate) async fn idle(&self) -> HostRecord {
        let mut active = self.active.subscribe();
        let _ = tokio::time::timeout(IDLE_WAIT, active.wait_for(|active| *active == 0)).await;
        self.lock().clone()
    }

    /// What the host saw until now.
    pub(crate) fn record(&self) -> HostRecord {
        self.lock().clone()
    }

    fn begin(self: &Arc<Self>, name: String, argument: Json) -> (Active, Step) {
        let mut record = self.lock();
        let earlier = record.saw.iter().filter(|(seen, _)| *seen == name).count();
        let step = match self.script.get(&name).and_then(|steps| steps.get(earlier).or(steps.last())) {
            Some(step) => step.clone(),
            None => {
                record.unscripted.push(name.clone());
                Step { answer: Answer::Ok(Json::Null), after_calls: 0 }
            }
        };
        record.saw.push((name, argument));
        record.active += 1;
        record.peak = record.peak.max(record.active);
        self.active.send_replace(record.active);
        self.seen.send_replace(record.saw.len());
        (Active { host: Arc::clone(self), answered: false }, step)
    }

    fn lock(&self) -> MutexGuard<'_, HostRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call that is running.
struct Active {
    host: Arc<ScriptedHost>,
    answered: bool,
}

impl Active {
    fn answered(mut self) {
        self.answered = true;
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        let mut record = self.host.lock();
        record.active -= 1;
        if !self.answered {
            record.interrupted += 1;
        }
        let active = record.active;
        drop(record);
        self.host.active.send_replace(active);
    }
}
