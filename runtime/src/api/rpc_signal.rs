//! The Rust half of the room `rpc_signal`: signals to send, and waiting for those that came.

use std::sync::Arc;

use super::args::{set_function, throw_error};
use super::imports::{drop_import, id, number};
use crate::isolate::state::IsolateState;
use crate::rpc::serialize::{Purpose, serialize};
use crate::rpc::signal::{Trigger, TriggerCap};
use crate::rpc::state::{Keep, RpcState, foreign};
use crate::rpc::{Cap, CapKind, outgoing};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "newTrigger", new_trigger)?;
    set_function(scope, native, "trigger", trigger)?;
    set_function(scope, native, "dropTrigger", drop_import)?;
    set_function(scope, native, "listen", listen)?;
    set_function(scope, native, "clientGone", client_gone)
}

/// `newTrigger()`: `[trigger, signal]`, imports of the current invocation. The signal is to be sent once.
fn new_trigger<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(current) = IsolateState::of(scope).current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    let rpc = RpcState::of(scope);
    let (trigger, signal) = Trigger::new();
    let trigger = Cap { kind: CapKind::Object, target: Arc::new(TriggerCap(trigger)) };
    let imported = rpc
        .import(trigger, Some(current.id), Keep::UntilDropped)
        .and_then(|trigger| Ok([trigger, rpc.import(signal, Some(current.id), Keep::ForOneUse)?]));
    match imported {
        Ok(imported) => {
            let imported = imported.map(|import| number(scope, import));
            returned.set(v8::Array::new_with_elements(scope, &imported).into());
        }
        Err(error) => throw_error(scope, &error.message()),
    }
}

/// `trigger(trigger, reasons)`: aborts. Only the invocation that sent the signal may.
fn trigger<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let current = IsolateState::of(scope).current().map(|invocation| invocation.id);
    let cap = match RpcState::of(scope).imported(id(arguments.get(0)), current) {
        Ok(cap) => cap,
        // A trigger goes only with the invocation that made it, so that one is over where there is none.
        Err(_) => {
            let message = foreign("RefcountedCanceler");
            return throw_error(scope, &message);
        }
    };
    let Some(reason) = serialize(scope, arguments.get(1), Purpose::Thrown) else { return };
    if let Some(TriggerCap(trigger)) = cap.target.as_any().downcast_ref() {
        trigger.abort(&reason);
    }
}

/// `listen(call)`: from now on the answer of a quiet call is something that the invocation waits for.
fn listen<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    outgoing::wait_for(scope, id(arguments.get(0)));
}

/// `clientGone()`: nobody waits for what the current invocation was asked for any more.
fn client_gone<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, _: Returned<'_>) {
    let isolate = IsolateState::of(scope);
    if let Some(current) = isolate.current() {
        current.cancel(isolate.turn_cpu_ns());
    }
}
