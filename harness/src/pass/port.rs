//! The one capability a guest gets: where its host calls enter, are counted, checked and queued.
//!
//! Calls arrive on the isolate's thread, are served inside the future of the pass, and are answered back to the
//! isolate. What the guest sends and receives is JSON text, so nothing is counted or snapshotted twice.

use std::any::Any;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;

use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{self, Call, Capability, Message, Op, Reply, RpcError};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::error::{CodeError, Surface};
use crate::host::CodeHostCall;
use crate::request::CodeExecutionLimits;
use crate::wire;

use super::PassEnd;

/// Why a dispatched call gets no outcome, as the program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError {
    /// The pass is over, or about to be. Such a call was not counted.
    #[error("Code Mode pass is closing")]
    Closing,
    /// One call too many, or one whose argument is too large, which ends the pass.
    #[error("host-call limit exceeded")]
    LimitExceeded,
    /// What the guest sent is no host call. It was counted, and the pass goes on.
    #[error("host calls must match the CodeHostCall schema")]
    Malformed,
    /// The host's answer, or its absence, ended the pass.
    #[error("Code Mode host call failed")]
    HostCallFailed,
}

impl DispatchError {
    /// The class of the Error that the guest's promise rejects with.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Malformed => "TypeError",
            Self::Closing | Self::LimitExceeded | Self::HostCallFailed => "Error",
        }
    }
}

/// The guest's way to its host. Usable from any thread; nothing in it blocks.
#[derive(Clone)]
pub struct HostPort(Arc<Shared>);

struct Shared {
    /// The most calls that are let through, and the most bytes that the argument of each may have: the bounds of the queue.
    max_host_calls: u32,
    max_argument_bytes: u32,
    state: Mutex<State>,
    queued: Notify,
}

struct State {
    open: bool,
    /// Calls dispatched while open.
    issued: u32,
    queue: VecDeque<Work>,
    /// The first failure on the host's side. It decides the pass, whatever the guest answers.
    failure: Option<PassEnd>,
}

/// What a server takes from the queue.
pub(super) enum Work {
    Call(CodeHostCall, Answer),
    /// The guest called too often, or sent too much; whoever takes this ends the pass.
    LimitExceeded,
}

/// Where the outcome of one call goes. Dropped without one, it says that the pass is closing.
pub(super) struct Answer(Option<AnswerFn>);

type AnswerFn = Box<dyn FnOnce(Result<String, DispatchError>) + Send>;

impl Answer {
    pub(super) fn send(mut self, outcome: Result<String, DispatchError>) {
        if let Some(answer) = self.0.take() {
            answer(outcome);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(answer) = self.0.take() {
            answer(Err(DispatchError::Closing));
        }
    }
}

impl HostPort {
    pub(super) fn new(limits: &CodeExecutionLimits) -> Self {
        let state = State { open: true, issued: 0, queue: VecDeque::new(), failure: None };
        Self(Arc::new(Shared {
            max_host_calls: limits.max_host_calls,
            max_argument_bytes: limits.max_host_call_argument_bytes,
            state: Mutex::new(state),
            queued: Notify::new(),
        }))
    }

    /// Dispatches a call, given as the JSON text of `{namespace, method, argument}`, and answers with the JSON text
    /// of its outcome. The call is dispatched before this returns; the future only waits for the answer.
    pub fn call(&self, text: &str) -> impl Future<Output = Result<String, DispatchError>> + Send + use<> {
        let (sender, receiver) = futures::channel::oneshot::channel();
        self.dispatch(Some(text), Box::new(move |outcome| drop(sender.send(outcome))));
        async { receiver.await.unwrap_or(Err(DispatchError::Closing)) }
    }

    /// The checks of a dispatch, in their order. `text` is `None` when the guest sent something else than text.
    fn dispatch(&self, text: Option<&str>, answer: AnswerFn) {
        // Declared before the lock, so that answers run after it is released.
        let answer = Answer(Some(answer));
        let refused = {
            let mut state = self.0.state.lock();
            if !state.open {
                DispatchError::Closing
            } else {
                state.issued = state.issued.saturating_add(1);
                let max = self.0.max_host_calls;
                if state.issued > max {
                    if state.issued == max.saturating_add(1) {
                        let error = CodeError::HostCallLimit { limit: max.into(), logs: Vec::new() };
                        self.exceeded(&mut state, error);
                    }
                    DispatchError::LimitExceeded
                } else if let Some(call) = text.and_then(wire::host_call) {
                    let (limit, observed) = (u64::from(self.0.max_argument_bytes), call.argument.bytes() as u64);
                    if observed <= limit {
                        state.queue.push_back(Work::Call(call, answer));
                        self.0.queued.notify_one();
                        return;
                    }
                    // The harness has counted it as well, and would not have sent it.
                    let surface = Surface::HostCallArgument;
                    let error = CodeError::OutputLimit { surface, limit, observed, logs: Vec::new() };
                    self.exceeded(&mut state, error);
                    DispatchError::LimitExceeded
                } else {
                    DispatchError::Malformed
                }
            }
        };
        answer.send(Err(refused));
    }

    /// The guest went past a limit, which decides the pass if nothing has yet.
    fn exceeded(&self, state: &mut State, error: CodeError) {
        state.failure.get_or_insert(PassEnd::Error(error));
        state.queue.push_back(Work::LimitExceeded);
        self.0.queued.notify_one();
    }

    /// The next queued item, in the order of dispatch. Cancel safe: nothing is taken by a future that is dropped.
    pub(super) async fn next(&self) -> Work {
        loop {
            let queued = self.0.queued.notified();
            if let Some(work) = self.0.state.lock().queue.pop_front() {
                return work;
            }
            queued.await;
        }
    }

    /// Records a failure on the host's side; the first one stays.
    pub(super) fn fail(&self, failure: PassEnd) {
        self.0.state.lock().failure.get_or_insert(failure);
    }

    /// The first failure on the host's side, if there was one.
    pub(super) fn failure(&self) -> Option<PassEnd> {
        self.0.state.lock().failure.clone()
    }

    /// Admits no further call, and answers those that no server has taken yet. Idempotent.
    pub(super) fn close(&self) {
        let unserved = {
            let mut state = self.0.state.lock();
            state.open = false;
            std::mem::take(&mut state.queue)
        };
        drop(unserved);
    }
}

/// To the guest a function: it takes the JSON text of a call and answers with that of its outcome.
impl Capability for HostPort {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        match call.op {
            Op::Call(arguments) if call.path.is_empty() => {
                let text = text_argument(&arguments);
                self.dispatch(text.as_deref(), Box::new(move |outcome| reply.send(rpc_answer(outcome))));
            }
            _ => {
                let method = call.path.join(".");
                let text = format!("The RPC receiver does not implement the method \"{method}\".");
                reply.send(Err(RpcError::new("TypeError", text)));
            }
        }
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The one argument, when it is text.
fn text_argument(arguments: &Message) -> Option<String> {
    let Ok(Plain::Array(arguments)) = Plain::from_message(arguments) else { return None };
    Some(arguments.first()?.as_string()?.to_string_lossy())
}

fn rpc_answer(outcome: Result<String, DispatchError>) -> rpc::Answer {
    let result = match outcome {
        Ok(text) => Plain::from(text).to_message().map_err(|too_long| RpcError::new("Error", too_long.to_string())),
        Err(refused) => Err(RpcError::new(refused.class(), refused.to_string())),
    };
    result.into()
}
