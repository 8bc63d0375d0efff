//! Calls that arrive, and what they are answered.

use std::sync::Arc;

use loaderd_runtime::limits::Usage;
use loaderd_runtime::rpc::{Answer, Capability, Reply, RpcError};
use loaderd_schema::channel_capnp as schema;

use super::tables::{Asked, NO_SCOPE, ResultSlot, SCOPE_CALLS_MAX, SCOPE_EXPORTS_MAX, Scope};
use super::{Invoke, Session, connection_lost, too_many_calls, too_many_caps};
use crate::sandbox::socket::Lost;
use crate::sandbox::wire::{self, Answered, MESSAGE_CAPS_MAX, Malformed, Target};

impl Session {
    pub(super) fn called(self: &Arc<Self>, reader: schema::call::Reader<'_>) -> Result<(), Malformed> {
        enum On {
            Capability(Arc<dyn Capability>),
            Entrypoint,
            Gone,
            NotPipelined,
        }
        let head = wire::read_call_head(reader)?;
        let question = head.question;
        let (on, scope) = {
            let tables = self.tables.lock();
            if tables.results.contains_key(&question) {
                return Err(Malformed::Unexpected("a question asked twice"));
            }
            match head.target {
                Target::Export(export) => match tables.exports.get(&export) {
                    Some(export) => (On::Capability(export.target.clone()), export.scope),
                    None if export <= tables.last_export => (On::Gone, NO_SCOPE),
                    None => return Err(Malformed::Unexpected("an object that never was")),
                },
                Target::Result(base) => match tables.results.get(&base) {
                    Some(Asked { scope, slot: ResultSlot::Running(Some(target)) | ResultSlot::Held(target) }) => {
                        (On::Capability(target.clone()), *scope)
                    }
                    _ => (On::NotPipelined, NO_SCOPE),
                },
                Target::Entrypoint { worker, .. } => (On::Entrypoint, worker),
            }
        };
        let call = wire::read_call(reader, &mut |cap| self.raise(scope, cap))?;
        let target = match on {
            On::Gone => return self.refuse(question, Answered::Error(connection_lost())),
            On::NotPipelined => return self.refuse(question, Answered::NotPipelined),
            On::Capability(target) => Some(target),
            On::Entrypoint => None,
        };
        {
            let mut tables = self.tables.lock();
            let mine = tables.scopes.entry(scope).or_default();
            if mine.running >= SCOPE_CALLS_MAX || mine.results.len() >= SCOPE_EXPORTS_MAX {
                drop(tables);
                return self.refuse(question, Answered::Error(too_many_calls()));
            }
            mine.running += 1;
            mine.results.insert(question);
            tables.results.insert(question, Asked { scope, slot: ResultSlot::Starting(None) });
        }
        let session = self.clone();
        let reply = Reply::new(move |answer| session.answer(question, scope, answer));
        let pipeline = match (target, on_entrypoint(head.target)) {
            (Some(target), _) => target.call(call, reply),
            (None, Some(entrypoint)) => {
                let wants_report = head.wants_report;
                let invoke = Invoke { question, worker: scope, entrypoint, call, reply, wants_report };
                self.role.invoke(self, invoke)?
            }
            (None, None) => None,
        };
        self.started(question, scope, pipeline);
        Ok(())
    }

    /// The call is on its way: sends the answer, should it be there already.
    fn started(&self, question: u64, scope: Scope, pipeline: Option<Arc<dyn Capability>>) {
        let answer = {
            let mut tables = self.tables.lock();
            match tables.results.get_mut(&question).map(|asked| &mut asked.slot) {
                Some(slot @ ResultSlot::Starting(_)) => match std::mem::replace(slot, ResultSlot::Running(pipeline)) {
                    ResultSlot::Starting(answer) => answer,
                    ResultSlot::Running(_) | ResultSlot::Held(_) => None,
                },
                _ => None,
            }
        };
        if let Some(answer) = answer {
            self.answer(question, scope, answer);
        }
    }

    /// Sends the answer to a question of the other end. From any thread, once a question.
    fn answer(&self, question: u64, scope: Scope, answer: Answer) {
        let (pipeline_held, dropped) = {
            let mut tables = self.tables.lock();
            if let Some(Asked { slot: ResultSlot::Starting(early @ None), .. }) = tables.results.get_mut(&question) {
                *early = Some(answer);
                return;
            }
            let (held, dropped) = match tables.take_result(question) {
                Some(Asked { slot: ResultSlot::Running(Some(target)), .. }) if answer.result.is_ok() => {
                    tables.scopes.entry(scope).or_default().results.insert(question);
                    tables.results.insert(question, Asked { scope, slot: ResultSlot::Held(target) });
                    (true, None)
                }
                other => (false, other),
            };
            if let Some(scope) = tables.scopes.get_mut(&scope) {
                scope.running = scope.running.saturating_sub(1);
            }
            (held, dropped)
        };
        drop(dropped);
        let usage = answer.usage;
        let answered = match answer.result.and_then(|message| message.check_size().map(|()| message)) {
            Ok(message) if message.caps.len() > MESSAGE_CAPS_MAX => Answered::Error(too_many_caps()),
            Ok(message) => Answered::Value(message),
            Err(error) => Answered::Error(error.clipped()),
        };
        let _ = self.send_answer(question, scope, &answered, usage, pipeline_held);
    }

    fn refuse(&self, question: u64, answered: Answered) -> Result<(), Malformed> {
        let _ = self.send_answer(question, NO_SCOPE, &answered, Usage::default(), false);
        Ok(())
    }

    fn send_answer(
        &self,
        question: u64,
        scope: Scope,
        answered: &Answered,
        usage: Usage,
        pipeline_held: bool,
    ) -> Result<(), Lost> {
        let payload = match answered {
            Answered::Value(message) => wire::message_bytes(message),
            Answered::Error(error) => error_bytes(error),
            Answered::NotPipelined => 0,
        };
        self.send_with_caps(scope, payload, |frame, lower| {
            wire::write_answer(question, answered, usage, pipeline_held, frame.init_answer(), lower);
        })
    }
}

fn on_entrypoint(target: Target) -> Option<u32> {
    match target {
        Target::Entrypoint { entrypoint, .. } => Some(entrypoint),
        Target::Export(_) | Target::Result(_) => None,
    }
}

fn error_bytes(error: &RpcError) -> usize {
    let thrown = error.thrown.as_ref().map_or(0, |thrown| wire::message_bytes(&thrown.0));
    error.name.len() + error.message.len() + error.stack.as_ref().map_or(0, String::len) + thrown
}
