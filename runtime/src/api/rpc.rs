//! The Rust halves of the rooms `rpc` and `rpc_serve`: conversions between JavaScript's arguments and [`crate::rpc`].

use super::args::{set_function, throw_error};
use super::imports::{current_invocation, drop_import, held, id, number, returned_import};
use super::rpc_values;
use crate::compat::Flag;
use crate::isolate::state::IsolateState;
use crate::rpc::exports::Access;
use crate::rpc::outgoing::Waits;
use crate::rpc::serve::{self, Member, Settled, ThrownBy};
use crate::rpc::state::{ImportError, Keep, RpcState, foreign};
use crate::rpc::{CapKind, errors, exports, outgoing};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "call", call)?;
    set_function(scope, native, "transfersStubs", transfers_stubs)?;
    set_function(scope, native, "hasRpc", has_rpc)?;
    set_function(scope, native, "sendsEvents", sends_events)?;
    set_function(scope, native, "take", take)?;
    set_function(scope, native, "failedBy", failed_by)?;
    set_function(scope, native, "drop", drop_import)?;
    set_function(scope, native, "held", held)?;
    set_function(scope, native, "dup", dup)?;
    set_function(scope, native, "export", export)?;
    set_function(scope, native, "exportOnce", export_for_one_use)?;
    set_function(scope, native, "currentInvocation", current_invocation)?;
    set_function(scope, native, "requireCurrent", require_current)?;
    set_function(scope, native, "throwDataCloneError", rpc_values::data_clone_error)
}

pub(super) fn install_serve(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "succeed", succeed)?;
    set_function(scope, native, "fail", fail)?;
    set_function(scope, native, "onRelease", on_release)
}

fn function<'s>(value: v8::Local<'s, v8::Value>) -> Option<v8::Local<'s, v8::Function>> {
    v8::Local::try_from(value).ok()
}

/// `call(import, names, arguments?, quietly)`: `[arrived, call, pipeline]`.
fn call<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let import = id(arguments.get(0));
    let Ok(names) = v8::Local::<v8::Array>::try_from(arguments.get(1)) else { return };
    let mut path = Vec::with_capacity(names.length() as usize);
    for index in 0..names.length() {
        let Some(name) = names.get_index(scope, index) else { return };
        path.push(name.to_rust_string_lossy(scope));
    }
    let values = match arguments.get(2) {
        values if values.is_undefined() => outgoing::Content::Get,
        values => outgoing::Content::Call(values),
    };
    let waits = if arguments.get(3).is_true() { Waits::NotYet } else { Waits::Yes };
    let Some(started) = outgoing::start(scope, import, path, values, waits) else { return };
    let (call, pipeline) = (number(scope, started.call), number(scope, started.pipeline.unwrap_or(0)));
    returned.set(v8::Array::new_with_elements(scope, &[started.arrived.into(), call, pipeline]).into());
}

/// Whether the Worker's stubs of services have methods beside `fetch` and `connect`: not for Workers from before there was
/// RPC, unless they asked for what is experimental. Before it is loaded they have.
fn has_rpc<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let state = IsolateState::of(scope);
    let off = state
        .worker
        .borrow()
        .as_ref()
        .is_some_and(|worker| !worker.compat.has(Flag::Rpc) && !worker.compat.has(Flag::Experimental));
    returned.set_bool(!off);
}

/// `transfersStubs()`: whether stubs given as arguments are the callee's from then on.
fn transfers_stubs<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(!IsolateState::of(scope).has_flag(Flag::RpcParamsDupStubs));
}

/// `sendsEvents()`: whether services have methods for events other than fetches.
fn sends_events<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(IsolateState::of(scope).has_flag(Flag::ServiceBindingExtraHandlers));
}

/// `take(call)`: `[value, stubs]`, or throws what the callee threw.
fn take<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let call = id(arguments.get(0));
    if let Some(taken) = outgoing::take(scope, call) {
        returned.set(taken);
    }
}

/// `failedBy(thrown)`: by what a call failed that its callee did not throw, as a number; `undefined` where it did.
fn failed_by<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    if let Some(by) = errors::failed_by(scope, arguments.get(0)) {
        returned.set(by);
    }
}

/// `dup(import)`: another import of the same capability, with the same owner.
fn dup<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let import = id(arguments.get(0));
    let rpc = RpcState::of(scope);
    let current = IsolateState::of(scope).current().map(|invocation| invocation.id);
    let copied = rpc.owner_of(import).and_then(|owner| {
        let cap = rpc.imported(import, current)?;
        rpc.import_as(cap, owner, Keep::UntilDropped, rpc.met(import), rpc.class(import))
    });
    returned_import(scope, copied, &mut returned);
}

/// `export(object, ownAccess, callable, disposer?)`: an import that stands for the object.
fn export<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    export_as(scope, &arguments, &mut returned, Keep::UntilDropped);
}

/// The same, gone after its first use.
pub(super) fn export_for_one_use<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: Arguments<'s>,
    mut returned: Returned<'_>,
) {
    export_as(scope, &arguments, &mut returned, Keep::ForOneUse);
}

fn export_as<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: &Arguments<'s>, returned: &mut Returned<'_>, keep: Keep) {
    let Ok(target) = v8::Local::<v8::Object>::try_from(arguments.get(0)) else { return };
    let kind = if arguments.get(2).is_true() { CapKind::Function } else { CapKind::Object };
    let member = Member { target, access: access(arguments.get(1)) };
    let Some(current) = IsolateState::of(scope).current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    let Some(cap) = serve::export_own(scope, member, kind, function(arguments.get(3))) else {
        return throw_error(scope, &ImportError::TooMany.message());
    };
    let import = RpcState::of(scope).import(cap, Some(current.id), keep);
    returned_import(scope, import, returned);
}

fn access(own: v8::Local<'_, v8::Value>) -> Access {
    if own.is_true() { Access::Own } else { Access::Class }
}

/// `requireCurrent(invocation)`: throws unless it is that invocation's turn.
fn require_current<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let wanted = id(arguments.get(0));
    let current = IsolateState::of(scope).current().map_or(0, |invocation| invocation.id);
    if wanted != current {
        let message = foreign("JsRpcPromise");
        throw_error(scope, &message);
    }
}

/// `succeed(reply, result, value, target, ownAccess, disposer?)`.
fn succeed<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let Ok(target) = v8::Local::<v8::Object>::try_from(arguments.get(3)) else { return };
    let settled = Settled {
        reply: id(arguments.get(0)),
        result: Some(id(arguments.get(1))).filter(|result| *result != 0),
        value: arguments.get(2),
        member: Member { target, access: access(arguments.get(4)) },
        disposer: function(arguments.get(5)),
    };
    // `None`: an exception is pending, and V8 throws it when this returns.
    let _ = serve::succeeded(scope, settled);
}

/// `fail(reply, result, error, by)`.
fn fail<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let reply = id(arguments.get(0));
    let result = Some(id(arguments.get(1))).filter(|result| *result != 0);
    let by = match arguments.get(3).integer_value(scope) {
        Some(1) => ThrownBy::Method,
        Some(2) => ThrownBy::Platform,
        _ => ThrownBy::Callee,
    };
    serve::failed(scope, reply, result, arguments.get(2), by);
}

/// `onRelease(result, callback)`: false when nobody holds the result any more.
fn on_release<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let result = id(arguments.get(0));
    let Some(callback) = function(arguments.get(1)) else { return };
    let callback = v8::Global::new(scope, callback);
    returned.set_bool(exports::on_release(&RpcState::of(scope), result, callback));
}
