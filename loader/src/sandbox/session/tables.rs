//! What both ends of a connection may refer to, and the bounds on it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, Weak};

use loaderd_runtime::rpc::{Answer, Call, Cap, Capability, Reply, RpcError};

use super::{Session, connection_lost};
use crate::sandbox::remote::{Broken, RemoteCap, ResultCap};
use crate::sandbox::wire::{CapPlace, Malformed, WireCap};

/// The worker something belongs to.
pub(in crate::sandbox) type Scope = u64;

/// Nobody's.
pub(in crate::sandbox) const NO_SCOPE: Scope = 0;

/// The most calls of one scope that may await their answers, in each direction: more than an isolate may have pending, which
/// is what a program is to hear of.
pub(in crate::sandbox) const SCOPE_CALLS_MAX: usize = 16 << 10;

/// The most objects that one scope may have the other end refer to.
pub(in crate::sandbox) const SCOPE_EXPORTS_MAX: usize = 64 << 10;

#[derive(Default)]
pub(super) struct Tables {
    pub(super) last_question: u64,
    pub(super) last_export: u64,
    /// Calls the other end has not answered.
    pub(super) questions: HashMap<u64, Question>,
    /// What the other end may call.
    pub(super) exports: HashMap<u64, Export>,
    /// Calls of the other end: running, or answered and still called through their result.
    pub(super) results: HashMap<u64, Asked>,
    pub(super) scopes: HashMap<Scope, ScopeTables>,
    /// The connection is lost and all questions are answered: nobody would answer another.
    pub(super) closed: bool,
}

#[derive(Default)]
pub(super) struct ScopeTables {
    pub(super) questions: HashSet<u64>,
    pub(super) exports: HashSet<u64>,
    pub(super) results: HashSet<u64>,
    /// Of `results`, those not answered yet.
    pub(super) running: usize,
    /// Set once the worker is gone: what calls on its objects are answered.
    pub(super) gone: Arc<OnceLock<RpcError>>,
}

pub(super) struct Question {
    pub(super) reply: Reply,
    pub(super) scope: Scope,
    /// What stands for the result, while somebody holds it.
    pub(super) result: Weak<ResultCap>,
    /// A pipelined call, to be made again when its base turns out to have nothing to wait at.
    pub(super) retry: Option<(Arc<ResultCap>, Call)>,
}

pub(super) struct Export {
    pub(super) target: Arc<dyn Capability>,
    pub(super) scope: Scope,
}

/// A question of the other end.
pub(super) struct Asked {
    pub(super) scope: Scope,
    pub(super) slot: ResultSlot,
}

/// What the other end can call through the result of its question.
pub(super) enum ResultSlot {
    /// Being started, on the thread that reads; an answer that comes meanwhile waits here.
    Starting(Option<Answer>),
    Running(Option<Arc<dyn Capability>>),
    Held(Arc<dyn Capability>),
}

impl Tables {
    pub(super) fn take_result(&mut self, question: u64) -> Option<Asked> {
        let asked = self.results.remove(&question)?;
        if let Some(scope) = self.scopes.get_mut(&asked.scope) {
            scope.results.remove(&question);
        }
        Some(asked)
    }
}

impl Session {
    /// Drops all that belongs to a worker that is gone.
    pub(in crate::sandbox) fn forget_scope(&self, scope: Scope, error: &RpcError) {
        self.fail_scope(scope, error);
        let dropped: (Vec<Export>, Vec<Asked>) = {
            let mut tables = self.tables.lock();
            let Some(mine) = tables.scopes.remove(&scope) else { return };
            // Once: the scope goes with it.
            let _ = mine.gone.set(error.clone());
            (
                mine.exports.iter().filter_map(|export| tables.exports.remove(export)).collect(),
                mine.results.iter().filter_map(|question| tables.results.remove(question)).collect(),
            )
        };
        // Outside the lock: dropping a capability may do anything.
        drop(dropped);
    }

    /// Drops everything; those who still wait get `error`.
    pub(super) fn forget_all(&self, error: &RpcError) {
        let tables = std::mem::replace(&mut *self.tables.lock(), Tables { closed: true, ..Tables::default() });
        for (_, question) in tables.questions {
            question.reply.send(Err(error.clone()));
        }
        drop((tables.exports, tables.results));
    }

    /// What a capability is called at the other end: a new reference to one of ours, or one of theirs coming home.
    pub(super) fn lower(&self, scope: Scope, cap: &Cap) -> WireCap {
        let place = match cap.target.as_any().downcast_ref::<RemoteCap>() {
            Some(remote) if remote.is_of(self) => CapPlace::Receiver(remote.export()),
            _ => {
                let mut tables = self.tables.lock();
                let mine = tables.scopes.entry(scope).or_default();
                if mine.exports.len() >= SCOPE_EXPORTS_MAX {
                    CapPlace::Nowhere(RpcError {
                        overloaded: true,
                        ..RpcError::new("Error", "Too many stubs are held of this Worker's objects.")
                    })
                } else {
                    tables.last_export += 1;
                    let export = tables.last_export;
                    tables.scopes.entry(scope).or_default().exports.insert(export);
                    tables.exports.insert(export, Export { target: cap.target.clone(), scope });
                    CapPlace::Sender(export)
                }
            }
        };
        WireCap { kind: cap.kind, counts_as_subrequest: cap.target.counts_as_subrequest(), place }
    }

    /// What a capability that arrived in `scope` is here.
    pub(in crate::sandbox) fn raise(&self, scope: Scope, cap: WireCap) -> Result<Cap, Malformed> {
        let session = self.me.upgrade().ok_or(Malformed::Unexpected("a frame after the end"))?;
        let target: Arc<dyn Capability> = match cap.place {
            CapPlace::Sender(export) => {
                let gone = self.tables.lock().scopes.entry(scope).or_default().gone.clone();
                Arc::new(RemoteCap::new(session, export, scope, gone, cap.counts_as_subrequest))
            }
            CapPlace::Receiver(export) => {
                let tables = self.tables.lock();
                match tables.exports.get(&export) {
                    Some(export) => export.target.clone(),
                    None if export <= tables.last_export => Arc::new(Broken::new(connection_lost())),
                    None => return Err(Malformed::Unexpected("an object that never was")),
                }
            }
            CapPlace::Nowhere(error) => Arc::new(Broken::new(error)),
        };
        Ok(Cap { kind: cap.kind, target })
    }

    /// The other end dropped its reference to an object of ours.
    pub(super) fn released(&self, export: u64) -> Result<(), Malformed> {
        let dropped = {
            let mut tables = self.tables.lock();
            let dropped = tables.exports.remove(&export);
            match &dropped {
                Some(gone) => {
                    let scope = gone.scope;
                    if let Some(scope) = tables.scopes.get_mut(&scope) {
                        scope.exports.remove(&export);
                    }
                }
                None if export > tables.last_export => return Err(Malformed::Unexpected("an object that never was")),
                None => {}
            }
            dropped
        };
        drop(dropped);
        Ok(())
    }
}
