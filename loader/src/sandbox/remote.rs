//! What lives in the other process, as capabilities of this one.

use std::any::Any;
use std::sync::{Arc, OnceLock, Weak};

use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Capability, Message, Op, Reply, RpcError};
use parking_lot::Mutex;

use super::session::{SCOPE_CALLS_MAX, Scope, Session};
use super::wire::Target;

/// An object at the other end. Dropping it releases the object there.
pub(super) struct RemoteCap {
    session: Arc<Session>,
    export: u64,
    scope: Scope,
    /// Why its worker is gone, once it is.
    gone: Arc<OnceLock<RpcError>>,
    counts_as_subrequest: bool,
}

impl RemoteCap {
    pub(super) fn new(
        session: Arc<Session>,
        export: u64,
        scope: Scope,
        gone: Arc<OnceLock<RpcError>>,
        counts_as_subrequest: bool,
    ) -> Self {
        Self { session, export, scope, gone, counts_as_subrequest }
    }

    /// Whether it came over this connection, and so goes home over it.
    pub(super) fn is_of(&self, session: &Session) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.session), session)
    }

    pub(super) fn export(&self) -> u64 {
        self.export
    }
}

impl Capability for RemoteCap {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        if let Some(why) = self.gone.get() {
            reply.send(Err(why.clone()));
            return None;
        }
        self.session.call(self.scope, Target::Export(self.export), call, reply)
    }

    fn counts_as_subrequest(&self) -> bool {
        self.counts_as_subrequest
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for RemoteCap {
    fn drop(&mut self) {
        self.session.release(self.export);
    }
}

/// The result of a call before it is known: calls on it travel behind the call itself.
///
/// When the other end has nothing that such calls could wait at, they wait here and find their way through the
/// answered value, as JavaScript would after an `await`.
pub(super) struct ResultCap {
    me: Weak<ResultCap>,
    session: Arc<Session>,
    question: u64,
    scope: Scope,
    state: Mutex<State>,
}

enum State {
    /// Calls that wait for the value.
    Asked(Vec<(Call, Reply)>),
    /// The other end can still be called through the question.
    Held,
    /// Calls find their way through this.
    Known(Result<Message, RpcError>),
}

impl ResultCap {
    pub(super) fn new(session: Arc<Session>, question: u64, scope: Scope) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            session,
            question,
            scope,
            state: Mutex::new(State::Asked(Vec::new())),
        })
    }

    pub(super) fn question(&self) -> u64 {
        self.question
    }

    pub(super) fn scope(&self) -> Scope {
        self.scope
    }

    /// The answer arrived. `held`: the other end still takes calls on it.
    pub(super) fn answered(&self, held: bool, result: &Result<Message, RpcError>) {
        let state = if held { State::Held } else { State::Known(result.clone()) };
        let waiting = match std::mem::replace(&mut *self.state.lock(), state) {
            State::Asked(waiting) => waiting,
            State::Held | State::Known(_) => Vec::new(),
        };
        for (call, reply) in waiting {
            through(result, call, reply);
        }
    }

    /// Makes a call on the value here, as soon as it is known.
    pub(super) fn call_when_known(&self, call: Call, reply: Reply) {
        let result = {
            let mut state = self.state.lock();
            match &mut *state {
                State::Asked(waiting) if waiting.len() < SCOPE_CALLS_MAX => {
                    waiting.push((call, reply));
                    return;
                }
                State::Asked(_) => Err(RpcError {
                    overloaded: true,
                    ..RpcError::new("Error", "Too many calls wait for the result of one call.")
                }),
                State::Known(result) => result.clone(),
                State::Held => Err(not_callable(&call)),
            }
        };
        through(&result, call, reply);
    }
}

impl Capability for ResultCap {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let known = match &*self.state.lock() {
            State::Known(result) => Some(result.clone()),
            State::Asked(_) | State::Held => None,
        };
        match (known, self.me.upgrade()) {
            (Some(result), _) => through(&result, call, reply),
            (None, Some(me)) => self.session.call_result(&me, call, reply),
            // Only while it is being dropped, when nobody can call it.
            (None, None) => None,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for ResultCap {
    fn drop(&mut self) {
        if matches!(self.state.get_mut(), State::Held) {
            self.session.finish(self.question);
        }
    }
}

/// Makes a call on a member of an answered value.
fn through(result: &Result<Message, RpcError>, mut call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
    let message = match result {
        Ok(message) => message,
        Err(error) => {
            reply.send(Err(error.clone()));
            return None;
        }
    };
    let mut value = match Plain::from_message(message) {
        Ok(value) => value,
        Err(error) => {
            reply.send(Err(RpcError::new("TypeError", error.to_string())));
            return None;
        }
    };
    let mut names = call.path.iter();
    let mut taken = 0;
    loop {
        value = match value {
            Plain::Cap(cap) => {
                call.path.drain(..taken);
                return cap.target.call(call, reply);
            }
            Plain::Object(mut object) => match names.next() {
                Some(name) => object.remove(name).unwrap_or_default(),
                None => break answer(&Plain::Object(object), &call, reply),
            },
            value => match names.next() {
                Some(_) => break answer(&Plain::Undefined, &call, reply),
                None => break answer(&value, &call, reply),
            },
        };
        taken += 1;
    }
    None
}

fn answer(value: &Plain, call: &Call, reply: Reply) {
    reply.send(match call.op {
        Op::Get => value.to_message().map_err(|error| RpcError::new("TypeError", error.to_string())),
        Op::Call(_) | Op::Event(_) => Err(not_callable(call)),
    });
}

fn not_callable(call: &Call) -> RpcError {
    let name = call.path.last().map_or("", String::as_str);
    RpcError::new("TypeError", format!("The RPC receiver does not implement the method \"{name}\"."))
}

/// A capability that did not survive its journey.
pub(super) struct Broken(RpcError);

impl Broken {
    pub(super) fn new(error: RpcError) -> Self {
        Self(error)
    }
}

impl Capability for Broken {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        reply.send(Err(self.0.clone()));
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
