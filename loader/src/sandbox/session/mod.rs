//! One connection: frames in, frames out, and what each end may call of the other's.
//!
//! | Room | Owns |
//! |---|---|
//! | `tables` | what both ends may refer to, and the bounds on it |
//! | `asking` | calls that leave, and the answers to them |
//! | `answering` | calls that arrive, and what they are answered |
//!
//! Calls leave on the thread that makes them, and answers arrive on the thread that reads and go straight to whoever
//! waits. No lock of the tables is held while anything outside this room runs; frames are handled one at a time.
//!
//! Everything belongs to a *scope*: the worker it concerns (0: none). When a worker is gone, so is its scope, however
//! much of it a hostile peer failed to release.

mod answering;
mod asking;
mod tables;

use std::os::fd::BorrowedFd;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use loaderd_runtime::isolate::Sleeper;
use loaderd_runtime::limits::Cause;
use loaderd_runtime::rpc::{Call, Capability, Reply, RpcError};
use loaderd_schema::channel_capnp as schema;
use parking_lot::Mutex;

use super::socket::{Concerns, Left, Lost, Receiver, Sender, reader_options};
use super::wire::{self, MESSAGE_CAPS_MAX, Malformed};
use tables::Tables;
pub(super) use tables::{NO_SCOPE, SCOPE_CALLS_MAX, Scope};

/// What only one of the two ends does.
pub(super) trait Role: Send + Sync + 'static {
    /// A frame that is not a session's own.
    fn frame(&self, session: &Arc<Session>, frame: schema::frame::Reader<'_>) -> Result<(), Malformed>;

    /// A call on an entrypoint. The reply must be answered.
    fn invoke(&self, session: &Arc<Session>, invoke: Invoke) -> Result<Option<Arc<dyn Capability>>, Malformed>;

    /// Whether whoever a frame has just been read for may read the next ones itself while it waits.
    fn admits_guest(&self) -> bool;

    /// The connection is lost; called once. It answers those it knows more for than that, and may say why
    /// ([`Session::set_lost`]); the rest is answered after it.
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
    receiver: Receiver,
    tables: Mutex<Tables>,
    lost: OnceLock<RpcError>,
    frame_bytes_max: usize,
    role: Box<dyn Role>,
}

impl Session {
    pub(super) fn new(sender: Sender, receiver: Receiver, frame_bytes_max: usize, role: Box<dyn Role>) -> Arc<Self> {
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            sender,
            receiver,
            tables: Mutex::new(Tables::default()),
            lost: OnceLock::new(),
            frame_bytes_max,
            role,
        })
    }

    /// Serves the connection on this thread until it is lost.
    pub(super) fn run(self: &Arc<Self>) -> Lost {
        let why = self.receiver.serve(&self.sender, &|bytes| self.bytes(bytes), &|| self.role.admits_guest());
        self.give_up(&why);
        why
    }

    /// Reads what is there, on this thread, in place of the one that serves the connection, which hears of an error itself.
    pub(super) fn read(self: &Arc<Self>) -> Result<Left, Lost> {
        self.receiver.read(&self.sender, &|bytes| self.bytes(bytes))
    }

    /// Reads in place of that thread, if it has offered that, while an isolate's thread waits: see
    /// [`Idle`](loaderd_runtime::isolate::Idle).
    pub(super) fn read_while_idle(self: &Arc<Self>, inbox: &dyn Sleeper, until: Option<Instant>) {
        self.receiver.read_while_idle(&self.sender, &|bytes| self.bytes(bytes), inbox, until);
    }

    /// Ends the waiting of an isolate's thread that reads.
    pub(super) fn wake_guest(&self) {
        self.receiver.wake_guest();
    }

    /// Somebody calls [`read`](Self::read) whenever there is something, until [`give_back`](Self::give_back).
    pub(super) fn lend(&self) {
        self.receiver.lend(&self.sender);
    }

    /// The serving thread reads itself from now on.
    pub(super) fn give_back(&self) {
        self.receiver.give_back(&self.sender);
    }

    /// The connection's socket.
    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.sender.socket()
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

    /// Takes bytes as if they had arrived, frame by frame, and gives the connection up.
    #[cfg(any(test, fuzzing))]
    pub(super) fn attacked_with(self: &Arc<Self>, mut bytes: &[u8]) {
        let options = reader_options(self.frame_bytes_max);
        while !bytes.is_empty() {
            // Frames are read in place, so they begin where words do.
            let words = capnp::Word::allocate_zeroed_vec(bytes.len().div_ceil(8));
            let mut words = words;
            capnp::Word::words_to_bytes_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
            let mut rest = capnp::Word::words_to_bytes(&words);
            let read = capnp::serialize::read_message_from_flat_slice(&mut rest, options);
            let taken = words.len() * 8 - rest.len();
            let answered = read.map_err(Malformed::from).and_then(|message| self.frame(message.get_root()?));
            if answered.is_err() {
                break;
            }
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        self.give_up(&Lost::Closed);
    }

    /// Takes the bytes of one frame.
    fn bytes(self: &Arc<Self>, mut bytes: &[u8]) -> Result<Concerns, Malformed> {
        let options = reader_options(self.frame_bytes_max);
        let message = capnp::serialize::read_message_from_flat_slice(&mut bytes, options)?;
        let frame: schema::frame::Reader<'_> = message.get_root()?;
        let concerns = match frame.which()? {
            schema::frame::Call(_) | schema::frame::Answer(_) | schema::frame::Load(_) => Concerns::Worker,
            _ => Concerns::Nobody,
        };
        self.frame(frame)?;
        Ok(concerns)
    }

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

    fn give_up(self: &Arc<Self>, why: &Lost) {
        self.sender.close(why.clone());
        self.role.lost(self, why);
        let error = self.lost.get_or_init(connection_lost).clone();
        self.forget_all(&error);
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
