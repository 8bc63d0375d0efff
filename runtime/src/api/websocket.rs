//! The Rust half of WebSockets: turns and holds of the invocation that a socket belongs to, and attachments.

use v8::{ValueDeserializerHelper, ValueSerializerHelper};

use super::args::{new_array_buffer, set_function, throw_dom_exception, throw_error};
use super::imports::{current_invocation, id};
use super::timers;
use crate::guard::callbacks;
use crate::invocation::{Hold, HoldKind};
use crate::isolate::state::IsolateState;
use crate::rpc::state::{RpcState, foreign};

/// The largest serialized attachment, in bytes, as on the platform.
const ATTACHMENT_BYTES_MAX: usize = 16 << 10;

/// Functions that may wait for turns of their own in one isolate.
const TURNS_MAX: usize = 10_000;

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    install_pipe(scope, native)?;
    timers::install_handler_errors(scope, native)?;
    set_function(scope, native, "requireInvocation", require_invocation)?;
    set_function(scope, native, "requireOwner", require_owner)?;
    set_function(scope, native, "refill", refill)?;
    set_function(scope, native, "opened", opened)?;
    set_function(scope, native, "closed", closed)?;
    set_function(scope, native, "serialize", serialize)?;
    set_function(scope, native, "deserialize", deserialize)
}

pub(super) fn install_pipe(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "current", current_invocation)?;
    set_function(scope, native, "later", later)
}

/// `later(invocation, callback)`: calls it in a turn of that invocation, after what is in the inbox already. When the
/// invocation is over, nothing is called.
fn later<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let owner = id(arguments.get(0));
    let Ok(callback) = v8::Local::<v8::Function>::try_from(arguments.get(1)) else { return };
    let (isolate, rpc) = (IsolateState::of(scope), RpcState::of(scope));
    let Some(invocation) = isolate.invocation(owner) else { return };
    let turn = rpc.next_id();
    {
        let mut turns = rpc.turns.borrow_mut();
        if turns.len() >= TURNS_MAX {
            drop(turns);
            return throw_error(scope, "This Worker has too many WebSocket events pending.");
        }
        let callback = v8::Global::new(scope, callback);
        turns.insert(turn, (owner, callback, Hold::new(&invocation, HoldKind::Io)));
    }
    isolate.shared.post_task(Some(owner), move |scope| {
        let waiting = RpcState::of(scope).turns.borrow_mut().remove(&turn);
        let Some((_, callback, _hold)) = waiting else { return };
        let callback = v8::Local::new(scope, callback);
        let receiver = v8::undefined(scope).into();
        // The room's functions catch what handlers throw; what is left is the isolate's end.
        let _ = callback.call(scope, receiver, &[]);
    });
}

/// `requireInvocation()`: throws the platform's refusal in global scope.
fn require_invocation<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, _: Returned<'_>) {
    timers::require_invocation(scope);
}

/// `requireOwner(invocation)`: throws unless the socket of that invocation may be used now. The events of Durable
/// Objects share what they open.
fn require_owner<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let owner = id(arguments.get(0));
    if !timers::require_invocation(scope) {
        return;
    }
    let Some(current) = IsolateState::of(scope).current() else { return };
    if current.id != owner && !current.is_of_object() {
        throw_error(scope, &foreign("Native"));
    }
}

/// `refill(invocation) → boolean`: something is about to be delivered to it in a turn of its own. Whether it belongs to
/// a Durable Object, and now has its budget whole again.
fn refill<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let owner = id(arguments.get(0));
    returned.set_bool(IsolateState::of(scope).invocation(owner).is_some_and(|invocation| invocation.refill()));
}

/// `opened(invocation) → task`: the invocation has a socket that is being read, which keeps it as `waitUntil` does.
fn opened<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let owner = id(arguments.get(0));
    let Some(invocation) = IsolateState::of(scope).invocation(owner) else { return };
    match RpcState::of(scope).start_task(owner, Hold::new(&invocation, HoldKind::WaitUntil)) {
        Some(task) => returned.set_double(task as f64),
        None => throw_error(scope, "This Worker has too many WebSockets open."),
    }
}

/// `closed(task)`.
fn closed<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let task = id(arguments.get(0));
    RpcState::of(scope).end_task(task);
}

/// Attachments hold what V8 itself can write, and nothing of the platform's.
struct Plain;

impl v8::ValueSerializerImpl for Plain {
    fn throw_data_clone_error<'s>(&self, scope: &mut v8::PinScope<'s, '_>, message: v8::Local<'s, v8::String>) {
        let message = message.to_rust_string_lossy(scope);
        throw_dom_exception(scope, "DataCloneError", &message);
    }
}

impl v8::ValueDeserializerImpl for Plain {}

/// `serialize(value) → ArrayBuffer`.
fn serialize<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let context = scope.get_current_context();
    let bytes = {
        let serializer = callbacks::serializer(scope, Plain);
        serializer.write_header();
        if serializer.write_value(context, arguments.get(0)) != Some(true) {
            return;
        }
        serializer.release()
    };
    let length = bytes.len();
    if length > ATTACHMENT_BYTES_MAX {
        // Without a space, as the platform has it.
        let message = format!(
            "A WebSocket 'attachment' cannot be larger than {ATTACHMENT_BYTES_MAX} bytes.'attachment' was {length} bytes."
        );
        return throw_error(scope, &message);
    }
    if let Some(buffer) = new_array_buffer(scope, &bytes) {
        returned.set(buffer.into());
    }
}

/// `deserialize(bytes) → value`.
fn deserialize<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(bytes) = super::args::with_bytes(arguments.get(0), <[u8]>::to_vec) else { return };
    let context = scope.get_current_context();
    let deserializer = callbacks::deserializer(scope, Plain, &bytes);
    if deserializer.read_header(context) == Some(true)
        && let Some(value) = deserializer.read_value(context)
    {
        returned.set(value);
    }
}
