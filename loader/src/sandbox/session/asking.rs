//! Calls that leave, and the answers to them.

use std::sync::Arc;

use loaderd_runtime::rpc::{Answer, Call, Capability, Op, Reply, RpcError};
use loaderd_schema::channel_capnp as schema;

use super::tables::{NO_SCOPE, Question, SCOPE_CALLS_MAX, Scope};
use super::{Session, connection_lost, too_many_calls, too_many_caps};
use crate::sandbox::remote::ResultCap;
use crate::sandbox::wire::{self, Answered, MESSAGE_CAPS_MAX, Malformed, Target};

impl Session {
    /// Sends a call. The reply is answered whatever happens.
    pub(in crate::sandbox) fn call(
        &self,
        scope: Scope,
        target: Target,
        call: Call,
        reply: Reply,
    ) -> Option<Arc<dyn Capability>> {
        self.ask(scope, target, call, reply, None, |_| {}).map(|(_, result)| result as Arc<dyn Capability>)
    }

    /// Sends a call on what a question will answer.
    pub(in crate::sandbox) fn call_result(
        &self,
        base: &Arc<ResultCap>,
        call: Call,
        reply: Reply,
    ) -> Option<Arc<dyn Capability>> {
        let (scope, target) = (base.scope(), Target::Result(base.question()));
        self.ask(scope, target, call, reply, Some(base.clone()), |_| {})
            .map(|(_, result)| result as Arc<dyn Capability>)
    }

    /// Sends a call on an entrypoint; what it is numbered, unless it was answered on the spot. `numbered` is told the
    /// number before the call is sent, so that nothing said of it can come too early.
    pub(in crate::sandbox) fn invoke(
        &self,
        worker: Scope,
        entrypoint: u32,
        call: Call,
        reply: Reply,
        numbered: impl FnOnce(u64),
    ) -> Option<(u64, Arc<ResultCap>)> {
        self.ask(worker, Target::Entrypoint { worker, entrypoint }, call, reply, None, numbered)
    }

    fn ask(
        &self,
        scope: Scope,
        target: Target,
        call: Call,
        reply: Reply,
        base: Option<Arc<ResultCap>>,
        numbered: impl FnOnce(u64),
    ) -> Option<(u64, Arc<ResultCap>)> {
        if let Err(error) = check(&call) {
            reply.send(Err(error));
            return None;
        }
        let session = self.me.upgrade()?;
        let (question, result) = {
            let mut tables = self.tables.lock();
            if tables.closed {
                drop(tables);
                reply.send(Err(self.lost_error()));
                return None;
            }
            let mine = tables.scopes.entry(scope).or_default();
            if mine.questions.len() >= SCOPE_CALLS_MAX {
                drop(tables);
                reply.send(Err(too_many_calls()));
                return None;
            }
            tables.last_question += 1;
            let question = tables.last_question;
            let result = ResultCap::new(session, question, scope);
            tables.scopes.entry(scope).or_default().questions.insert(question);
            let retry = base.map(|base| (base, call.clone()));
            tables.questions.insert(question, Question { reply, scope, result: Arc::downgrade(&result), retry });
            (question, result)
        };
        numbered(question);
        let payload = call_bytes(&call);
        let wants_report = matches!(target, Target::Entrypoint { .. });
        // When the connection is lost, the serving thread learns why and answers all questions with that.
        let _ = self.send_with_caps(scope, payload, |frame, lower| {
            wire::write_call(question, target, &call, wants_report, frame.init_call(), lower);
        });
        Some((question, result))
    }

    fn take_question(&self, question: u64) -> Option<Question> {
        let mut tables = self.tables.lock();
        let asked = tables.questions.remove(&question)?;
        if let Some(scope) = tables.scopes.get_mut(&asked.scope) {
            scope.questions.remove(&question);
        }
        Some(asked)
    }

    /// Answers all that a worker was asked with `error`; what its process says later is ignored.
    pub(in crate::sandbox) fn fail_scope(&self, scope: Scope, error: &RpcError) {
        let asked: Vec<Question> = {
            let mut tables = self.tables.lock();
            let questions = match tables.scopes.get_mut(&scope) {
                Some(scope) => std::mem::take(&mut scope.questions),
                None => return,
            };
            questions.iter().filter_map(|question| tables.questions.remove(question)).collect()
        };
        for question in asked {
            question.reply.send(Err(error.clone()));
        }
    }

    /// Tells the other end that one of its objects is not referred to from here any more.
    pub(in crate::sandbox) fn release(&self, export: u64) {
        // When the connection is lost there is nothing to release.
        let _ = self.send(0, |mut frame| frame.set_release(export));
    }

    pub(in crate::sandbox) fn finish(&self, question: u64) {
        let _ = self.send(0, |mut frame| frame.set_finish(question));
    }

    pub(super) fn answered(&self, reader: schema::answer::Reader<'_>) -> Result<(), Malformed> {
        let question = reader.get_question();
        let held = reader.get_pipeline_held();
        let asked = self.take_question(question);
        let scope = match &asked {
            Some(asked) => asked.scope,
            None if question <= self.tables.lock().last_question => NO_SCOPE,
            None => return Err(Malformed::Unexpected("an answer to no question")),
        };
        // Read also when nobody waits any more: what it mentions is released by being dropped.
        let read = wire::read_answer(reader, &mut |cap| self.raise(scope, cap));
        let (answered, usage) = match read {
            Ok(read) => read,
            Err(malformed) => {
                if let Some(asked) = asked {
                    asked.reply.send(Err(connection_lost()));
                }
                return Err(malformed);
            }
        };
        let result = match answered {
            Answered::Value(message) => Ok(message),
            Answered::Error(error) => Err(error),
            Answered::NotPipelined => {
                match asked.map(|asked| (asked.retry, asked.reply)) {
                    Some((Some((base, call)), reply)) => base.call_when_known(call, reply),
                    Some((None, reply)) => {
                        reply.send(Err(connection_lost()));
                        return Err(Malformed::Unexpected("a pipelined answer to another call"));
                    }
                    None => {}
                }
                return Ok(());
            }
        };
        match asked.as_ref().and_then(|asked| asked.result.upgrade()) {
            Some(cap) => cap.answered(held, &result),
            None if held => self.finish(question),
            None => {}
        }
        if let Some(asked) = asked {
            asked.reply.send(Answer { result, usage });
        }
        Ok(())
    }
}

/// Whether the other end would accept this call at all.
fn check(call: &Call) -> Result<(), RpcError> {
    Call::check_path(&call.path)?;
    match &call.op {
        Op::Call(arguments) | Op::Event(arguments) if arguments.caps.len() > MESSAGE_CAPS_MAX => Err(too_many_caps()),
        Op::Call(arguments) | Op::Event(arguments) => arguments.check_size(),
        Op::Get => Ok(()),
    }
}

fn call_bytes(call: &Call) -> usize {
    /// Pointer and padding of one name.
    const NAME_BYTES: usize = 16;
    let path: usize = call.path.iter().map(|name| name.len() + NAME_BYTES).sum();
    match &call.op {
        Op::Call(arguments) | Op::Event(arguments) => path + wire::message_bytes(arguments),
        Op::Get => path,
    }
}
