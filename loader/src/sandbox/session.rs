//! One connection's tables: what the other end may call here, and what it has not answered yet.
//!
//! Calls leave on the thread that makes them, and answers arrive on the receiving thread and go straight to whoever
//! waits, so a round trip costs one wake-up on each side. No lock is held while anything outside this room runs.
//!
//! Everything belongs to a *scope*: the worker it concerns (0: none). When a worker is gone, so is its scope, however
//! much of it a hostile peer failed to release.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, Weak};

use loaderd_runtime::limits::{Cause, Usage};
use loaderd_runtime::rpc::{Answer, Call, Cap, Capability, Message, PATH_MAX, Reply, RpcError};
use loaderd_schema::channel_capnp as schema;
use parking_lot::Mutex;

use super::remote::{RemoteCap, ResultCap};
use super::socket::{self, Lost, Sender};
use super::wire::{self, Answered, CapPlace, MESSAGE_CAPS_MAX, Malformed, Target, WireCap};

/// The worker something belongs to.
pub(super) type Scope = u64;

/// Nobody's.
pub(super) const NO_SCOPE: Scope = 0;

/// The most calls of one scope that may await their answers, in each direction.
pub(super) const SCOPE_CALLS_MAX: usize = 1024;

/// The most objects that one scope may have the other end refer to.
pub(super) const SCOPE_EXPORTS_MAX: usize = 64 << 10;

/// What only one of the two ends does.
pub(super) trait Role: Send + Sync + 'static {
    /// A frame that is not a session's own.
    fn frame(&self, session: &Arc<Session>, frame: schema::frame::Reader<'_>) -> Result<(), Malformed>;

    /// A call on an entrypoint. The reply must be answered.
    fn invoke(&self, session: &Arc<Session>, invoke: Invoke) -> Result<Option<Arc<dyn Capability>>, Malformed>;

    /// The connection is lost; called once, after everything that waited was answered.
    fn lost(&self, session: &Arc<Session>, why: &Lost);
}

/// A call on an entrypoint, as it arrived.
pub(super) struct Invoke {
    pub(super) question: u64,
    pub(super) worker: Scope,
    pub(super) entrypoint: u32,
    pub(super) call: Call,
    pub(super) reply: Reply,
    pub(super) wants_report: bool,
}

/// One connection.
pub(super) struct Session {
    me: Weak<Session>,
    sender: Sender,
    tables: Mutex<Tables>,
    lost: OnceLock<RpcError>,
    frame_bytes_max: usize,
    role: Box<dyn Role>,
}

#[derive(Default)]
struct Tables {
    last_question: u64,
    last_export: u64,
    /// Calls the other end has not answered.
    questions: HashMap<u64, Question>,
    /// What the other end may call.
    exports: HashMap<u64, Export>,
    /// Calls of the other end: running, or answered and still called through their result.
    results: HashMap<u64, Asked>,
    scopes: HashMap<Scope, ScopeTables>,
}

#[derive(Default)]
struct ScopeTables {
    questions: HashSet<u64>,
    exports: HashSet<u64>,
    results: HashSet<u64>,
    /// Of `results`, those not answered yet.
    running: usize,
}

struct Question {
    reply: Reply,
    scope: Scope,
    /// What stands for the result, while somebody holds it.
    result: Weak<ResultCap>,
    /// A pipelined call, to be made again when its base turns out to have nothing to wait at.
    retry: Option<(Arc<ResultCap>, Call)>,
}

struct Export {
    target: Arc<dyn Capability>,
    scope: Scope,
}

/// A question of the other end.
struct Asked {
    scope: Scope,
    slot: ResultSlot,
}

/// What the other end can call through the result of its question.
enum ResultSlot {
    /// Being started, on the receiving thread; an answer that comes meanwhile waits here.
    Starting(Option<Answer>),
    Running(Option<Arc<dyn Capability>>),
    Held(Arc<dyn Capability>),
}

impl Tables {
    fn take_result(&mut self, question: u64) -> Option<Asked> {
        let asked = self.results.remove(&question)?;
        if let Some(scope) = self.scopes.get_mut(&asked.scope) {
            scope.results.remove(&question);
        }
        Some(asked)
    }
}

impl Session {
    pub(super) fn new(sender: Sender, frame_bytes_max: usize, role: Box<dyn Role>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            sender,
            tables: Mutex::new(Tables::default()),
            lost: OnceLock::new(),
            frame_bytes_max,
            role,
        })
    }

    /// Serves the connection on this thread until it is lost.
    pub(super) fn run(self: &Arc<Self>) -> Lost {
        let options = socket::reader_options(self.frame_bytes_max);
        let why = socket::receive(&self.sender, self.frame_bytes_max, |mut bytes| {
            let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, options)?;
            self.frame(message.get_root()?)
        });
        self.give_up(&why);
        why
    }

    /// Ends the connection; [`Session::run`] returns soon after.
    pub(super) fn close(&self, why: Lost) {
        self.sender.close(why);
    }

    pub(super) fn backlog(&self) -> usize {
        self.sender.backlog()
    }

    /// Sends a frame without capabilities.
    pub(super) fn send(&self, payload_bytes: usize, fill: impl FnOnce(schema::frame::Builder<'_>)) -> Result<(), Lost> {
        let mut message = wire::frame(payload_bytes);
        fill(message.init_root());
        self.sender.send(&message)
    }

    /// Sends a frame with capabilities of `scope`.
    pub(super) fn send_with_caps(
        &self,
        scope: Scope,
        payload_bytes: usize,
        fill: impl FnOnce(schema::frame::Builder<'_>, wire::Lower<'_>),
    ) -> Result<(), Lost> {
        let mut message = wire::frame(payload_bytes);
        fill(message.init_root(), &mut |cap| self.lower(scope, cap));
        self.sender.send(&message)
    }

    // Calls that leave.

    /// Sends a call. The reply is answered whatever happens.
    pub(super) fn call(&self, scope: Scope, target: Target, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        self.ask(scope, target, call, reply, None).map(|(_, result)| result as Arc<dyn Capability>)
    }

    /// Sends a call on what a question will answer.
    pub(super) fn call_result(&self, base: &Arc<ResultCap>, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let (scope, target) = (base.scope(), Target::Result(base.question()));
        self.ask(scope, target, call, reply, Some(base.clone())).map(|(_, result)| result as Arc<dyn Capability>)
    }

    /// Sends a call on an entrypoint; what it is numbered, unless it was answered on the spot.
    pub(super) fn invoke(
        &self,
        worker: Scope,
        entrypoint: u32,
        call: Call,
        reply: Reply,
    ) -> Option<(u64, Arc<ResultCap>)> {
        self.ask(worker, Target::Entrypoint { worker, entrypoint }, call, reply, None)
    }

    fn ask(
        &self,
        scope: Scope,
        target: Target,
        call: Call,
        reply: Reply,
        base: Option<Arc<ResultCap>>,
    ) -> Option<(u64, Arc<ResultCap>)> {
        if let Err(error) = check(&call) {
            reply.send(Err(error));
            return None;
        }
        if let Some(lost) = self.lost.get() {
            reply.send(Err(lost.clone()));
            return None;
        }
        let session = self.me.upgrade()?;
        let (question, result) = {
            let mut tables = self.tables.lock();
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
        let payload = call_bytes(&call);
        let wants_report = matches!(target, Target::Entrypoint { .. });
        let sent = self.send_with_caps(scope, payload, |frame, lower| {
            wire::write_call(question, target, &call, wants_report, frame.init_call(), lower);
        });
        match sent {
            Ok(()) => Some((question, result)),
            Err(_) => {
                // The receiving thread answers everything with the reason once it sees the loss; this one may have
                // come too late for that.
                if let Some(asked) = self.take_question(question) {
                    asked.reply.send(Err(self.lost.get().cloned().unwrap_or_else(connection_lost)));
                }
                None
            }
        }
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
    pub(super) fn fail_scope(&self, scope: Scope, error: &RpcError) {
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

    /// Drops all that belongs to a worker that is gone.
    pub(super) fn forget_scope(&self, scope: Scope, error: &RpcError) {
        self.fail_scope(scope, error);
        let dropped: (Vec<Export>, Vec<Asked>) = {
            let mut tables = self.tables.lock();
            let Some(mine) = tables.scopes.remove(&scope) else { return };
            (
                mine.exports.iter().filter_map(|export| tables.exports.remove(export)).collect(),
                mine.results.iter().filter_map(|question| tables.results.remove(question)).collect(),
            )
        };
        // Outside the lock: dropping a capability may do anything.
        drop(dropped);
    }

    /// Tells the other end that one of its objects is not referred to from here any more.
    pub(super) fn release(&self, export: u64) {
        // When the connection is lost there is nothing to release.
        let _ = self.send(0, |mut frame| frame.set_release(export));
    }

    pub(super) fn finish(&self, question: u64) {
        let _ = self.send(0, |mut frame| frame.set_finish(question));
    }

    fn lower(&self, scope: Scope, cap: &Cap) -> WireCap {
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
    pub(super) fn raise(&self, scope: Scope, cap: WireCap) -> Result<Cap, Malformed> {
        let session = self.me.upgrade().ok_or(Malformed::Unexpected("a frame after the end"))?;
        let target: Arc<dyn Capability> = match cap.place {
            CapPlace::Sender(export) => Arc::new(RemoteCap::new(session, export, scope, cap.counts_as_subrequest)),
            CapPlace::Receiver(export) => {
                let tables = self.tables.lock();
                match tables.exports.get(&export) {
                    Some(export) => export.target.clone(),
                    None if export <= tables.last_export => Arc::new(super::remote::Broken::new(connection_lost())),
                    None => return Err(Malformed::Unexpected("an object that never was")),
                }
            }
            CapPlace::Nowhere(error) => Arc::new(super::remote::Broken::new(error)),
        };
        Ok(Cap { kind: cap.kind, target })
    }

    // Frames that arrive.

    fn frame(self: &Arc<Self>, frame: schema::frame::Reader<'_>) -> Result<(), Malformed> {
        match frame.which()? {
            schema::frame::Call(call) => self.called(call?),
            schema::frame::Answer(answer) => self.answered(answer?),
            schema::frame::Release(export) => self.released(export),
            schema::frame::Finish(question) => {
                // Unknown when its worker is gone already. Dropped outside the lock.
                let dropped = self.tables.lock().take_result(question);
                drop(dropped);
                Ok(())
            }
            _ => self.role.frame(self, frame),
        }
    }

    fn released(&self, export: u64) -> Result<(), Malformed> {
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

    fn called(self: &Arc<Self>, reader: schema::call::Reader<'_>) -> Result<(), Malformed> {
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
        let answered = match answer.result {
            Ok(message) if message.caps.len() > MESSAGE_CAPS_MAX => Answered::Error(too_many_caps()),
            Ok(message) => Answered::Value(message),
            Err(error) => Answered::Error(error),
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

    fn answered(&self, reader: schema::answer::Reader<'_>) -> Result<(), Malformed> {
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

    fn give_up(self: &Arc<Self>, why: &Lost) {
        let error = self.lost.get_or_init(connection_lost).clone();
        self.sender.close(why.clone());
        let tables = std::mem::take(&mut *self.tables.lock());
        for (_, question) in tables.questions {
            question.reply.send(Err(error.clone()));
        }
        drop((tables.exports, tables.results));
        self.role.lost(self, why);
    }

    /// Why nothing can be called over this connection any more.
    pub(super) fn lost_error(&self) -> RpcError {
        self.lost.get().cloned().unwrap_or_else(connection_lost)
    }

    /// What everybody who waits is told when the connection is lost, if that is known before it happens.
    pub(super) fn set_lost(&self, error: RpcError) {
        // The first reason wins.
        let _ = self.lost.set(error);
    }
}

fn on_entrypoint(target: Target) -> Option<u32> {
    match target {
        Target::Entrypoint { entrypoint, .. } => Some(entrypoint),
        Target::Export(_) | Target::Result(_) => None,
    }
}

/// Whether the other end would accept this call at all.
fn check(call: &Call) -> Result<(), RpcError> {
    if call.path.len() > PATH_MAX {
        return Err(RpcError::new("Error", format!("A property path of a call may name at most {PATH_MAX} members.")));
    }
    match &call.op {
        loaderd_runtime::rpc::Op::Call(arguments) => check_message(arguments),
        loaderd_runtime::rpc::Op::Get => Ok(()),
    }
}

/// Whether the other end would accept this message at all.
pub(super) fn check_message(message: &Message) -> Result<(), RpcError> {
    if message.caps.len() > MESSAGE_CAPS_MAX { Err(too_many_caps()) } else { Ok(()) }
}

fn call_bytes(call: &Call) -> usize {
    /// Pointer and padding of one name.
    const NAME_BYTES: usize = 16;
    let path: usize = call.path.iter().map(|name| name.len() + NAME_BYTES).sum();
    match &call.op {
        loaderd_runtime::rpc::Op::Call(arguments) => path + wire::message_bytes(arguments),
        loaderd_runtime::rpc::Op::Get => path,
    }
}

fn error_bytes(error: &RpcError) -> usize {
    let thrown = error.thrown.as_ref().map_or(0, |thrown| wire::message_bytes(&thrown.0));
    error.name.len() + error.message.len() + error.stack.as_ref().map_or(0, String::len) + thrown
}

fn too_many_calls() -> RpcError {
    let message = format!("Too many calls of this Worker wait for an answer: at most {SCOPE_CALLS_MAX} may.");
    RpcError { overloaded: true, ..RpcError::new("Error", message) }
}

fn too_many_caps() -> RpcError {
    RpcError::new("Error", format!("A message may mention at most {MESSAGE_CAPS_MAX} stubs."))
}

/// What a call on something out of reach is answered with.
pub(super) fn connection_lost() -> RpcError {
    RpcError {
        disconnected: true,
        cause: Some(Cause::Shutdown),
        ..RpcError::new("Error", "The process on the other side of this call is gone.")
    }
}
