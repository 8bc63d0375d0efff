//! One trace on its way to one streaming tail. The onset goes first, alone; the tail's answer says whether it wants the
//! rest, and where. Then everything that has gathered is sent, one batch at a time.

use std::sync::Arc;

use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Answer, Call, Capability, Op, Reply};
use loaderd_runtime::trace::Origin;
use parking_lot::Mutex;

use super::Activity;
use super::encode::{Kind, Streamed};

/// Bytes that may wait for a tail. Over it events are dropped and counted; how a trace ends is always told.
pub(super) const QUEUE_BYTES_MAX: usize = 2 << 20;

/// What an event costs beside its texts, in bytes.
const EVENT_BYTES: usize = 64;

/// See the module.
pub(super) struct Stream {
    state: Mutex<State>,
    origin: Origin,
    activity: Activity,
}

struct State {
    to: To,
    queue: Vec<Plain>,
    bytes: usize,
    dropped: u64,
    /// Something was sent that is not answered yet.
    sending: bool,
}

/// Where events go.
enum To {
    /// The onset goes to the service.
    Service(Arc<dyn Capability>),
    Session(Arc<dyn Capability>),
    /// The tail wants nothing more, or has had everything.
    Nobody,
}

impl Stream {
    pub(super) fn new(service: Arc<dyn Capability>, origin: Origin, activity: Activity) -> Arc<Self> {
        let state = State { to: To::Service(service), queue: Vec::new(), bytes: 0, dropped: 0, sending: false };
        Arc::new(Self { state: Mutex::new(state), origin, activity })
    }

    /// Puts an event into the stream. Never blocks.
    pub(super) fn push(self: &Arc<Self>, event: &Streamed, sequence: u64) {
        {
            let mut state = self.state.lock();
            if matches!(state.to, To::Nobody) {
                return;
            }
            if state.bytes >= QUEUE_BYTES_MAX && event.kind == Kind::Ordinary {
                state.dropped += 1;
                return;
            }
            let mut sequence = sequence;
            if event.kind == Kind::Outcome && state.dropped > 0 {
                let told = event.dropped(state.dropped, sequence);
                state.queue.push(told);
                sequence += 1;
            }
            state.queue.push(event.value(sequence));
            state.bytes += EVENT_BYTES + event.bytes;
        }
        self.send();
    }

    /// Sends what there is, unless an answer is awaited: what gathers meanwhile goes with the next batch.
    fn send(self: &Arc<Self>) {
        let (target, path, events) = {
            let mut state = self.state.lock();
            if state.sending || state.queue.is_empty() {
                return;
            }
            let (target, path, count) = match &state.to {
                To::Service(service) => (Arc::clone(service), "tailStream", 1),
                To::Session(session) => (Arc::clone(session), "report", state.queue.len()),
                To::Nobody => return,
            };
            state.sending = true;
            let events: Vec<_> = state.queue.drain(..count).collect();
            if state.queue.is_empty() {
                state.bytes = 0;
            }
            (target, path, events)
        };
        let is_onset = path == "tailStream";
        let arguments = if is_onset { events } else { vec![Plain::Array(events)] };
        let Ok(arguments) = Plain::arguments(arguments) else { return self.close() };
        let op = if is_onset { Op::Event(arguments) } else { Op::Call(arguments) };
        let (stream, busy) = (Arc::clone(self), self.activity.begin());
        let reply = Reply::new(move |answer| {
            stream.answered(answer);
            drop(busy);
        });
        // What stands for the result is of no use: the answer is awaited.
        let call = Call { path: vec![path.to_owned()], op, origin: self.origin };
        drop(target.call(call, reply));
    }

    /// The onset is answered with a session or null, a batch with whether to stop. A tail that failed gets no more.
    fn answered(self: &Arc<Self>, answer: Answer) {
        let answer = answer.result.ok().and_then(|message| Plain::from_message(&message).ok());
        let next = match answer {
            Some(Plain::Cap(session)) => Some(To::Session(session.target)),
            Some(Plain::Bool(false)) => None,
            _ => Some(To::Nobody),
        };
        {
            let mut state = self.state.lock();
            state.sending = false;
            let before = next.map(|next| std::mem::replace(&mut state.to, next));
            if matches!(state.to, To::Nobody) {
                state.queue = Vec::new();
            }
            drop(state);
            // A session is let go outside the lock: its isolate may be told at once.
            drop(before);
        }
        self.send();
    }

    fn close(&self) {
        let before = std::mem::replace(&mut self.state.lock().to, To::Nobody);
        drop(before);
    }
}
