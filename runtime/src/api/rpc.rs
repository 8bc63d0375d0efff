//! The Rust halves of the rooms `rpc`, `rpc_fetch`, `caches` and `workers`: conversions between JavaScript's arguments and [`crate::rpc`].

use std::cell::Cell;

use std::any::Any;
use std::sync::Arc;

use super::args::{set_function, throw_error};
use super::imports::{imported, number, own_export};
use super::tracing;
use crate::channel::Channels;
use crate::compat::Flag;
use crate::invocation::{Hold, HoldKind};
use crate::isolate::Entrypoint;
use crate::isolate::state::IsolateState;
use crate::js::string;
use crate::limits::Cause;
use crate::rpc::exports::Access;
use crate::rpc::outgoing::Waits;
use crate::rpc::serialize::throw_data_clone_error;
use crate::rpc::serve::{self, Member, Settled, ThrownBy};
use crate::rpc::state::{ImportError, ImportId, Keep, RpcState};
use crate::rpc::{Call, Cap, CapKind, Capability, Reply, RpcError, errors, exports, outgoing};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install_rpc(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "call", call)?;
    set_function(scope, native, "transfersStubs", transfers_stubs)?;
    set_function(scope, native, "hasRpc", has_rpc)?;
    set_function(scope, native, "sendsEvents", sends_events)?;
    set_function(scope, native, "take", take)?;
    set_function(scope, native, "drop", drop_import)?;
    set_function(scope, native, "dup", dup)?;
    set_function(scope, native, "export", export)?;
    set_function(scope, native, "exportForMessage", export_for_one_use)?;
    set_function(scope, native, "exportOnce", export_for_one_use)?;
    set_function(scope, native, "currentInvocation", current_invocation)?;
    set_function(scope, native, "requireCurrent", require_current)?;
    set_function(scope, native, "isProxy", is_proxy)?;
    set_function(scope, native, "isMap", is_map)?;
    set_function(scope, native, "isSet", is_set)?;
    set_function(scope, native, "isPlainObject", is_plain_object)?;
    set_function(scope, native, "placeholder", placeholder)?;
    set_function(scope, native, "refusesTransfer", refuses_transfer)?;
    set_function(scope, native, "throwDataCloneError", data_clone_error)?;
    set_function(scope, native, "succeed", succeed)?;
    set_function(scope, native, "fail", fail)?;
    set_function(scope, native, "onRelease", on_release)
}

pub(super) fn install_workers(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "startTask", start_task)?;
    set_function(scope, native, "endTask", end_task)?;
    set_function(scope, native, "taskThrew", task_threw)?;
    set_function(scope, native, "abort", abort)?;
    set_function(scope, native, "abortIsolate", abort_isolate)?;
    set_function(scope, native, "loopback", loopback)?;
    set_function(scope, native, "mainExports", main_exports)?;
    set_function(scope, native, "env", env)?;
    set_function(scope, native, "traced", tracing::traced)?;
    set_function(scope, native, "invocation", tracing::current_invocation)?;
    set_function(scope, native, "addTracing", tracing::add_tracing)?;
    super::async_context::install(scope, native)
}

pub(super) fn install_fetch(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "traced", tracing::traced)?;
    set_function(scope, native, "threw", tracing::threw)?;
    set_function(scope, native, "outbound", outbound)
}

pub(super) fn install_caches(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "traced", tracing::traced)?;
    set_function(scope, native, "warn", tracing::warn)?;
    set_function(scope, native, "cache", cache)
}

/// Ids are whole numbers below 2⁵³, made here; anything else is not an id.
fn id(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> u64 {
    value.number_value(scope).filter(|number| *number >= 0.0).map_or(0, |number| number as u64)
}

fn function<'s>(value: v8::Local<'s, v8::Value>) -> Option<v8::Local<'s, v8::Function>> {
    v8::Local::try_from(value).ok()
}

/// `call(import, names, arguments?, quietly)`: `[arrived, call, pipeline]`.
fn call<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let import = id(scope, arguments.get(0));
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
    let call = id(scope, arguments.get(0));
    if let Some(taken) = outgoing::take(scope, call) {
        returned.set(taken);
    }
}

fn drop_import<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let import = id(scope, arguments.get(0));
    RpcState::of(scope).drop_import(import);
}

/// `dup(import)`: another import of the same capability, with the same owner.
fn dup<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let import = id(scope, arguments.get(0));
    let rpc = RpcState::of(scope);
    let current = IsolateState::of(scope).current().map(|invocation| invocation.id);
    let copied = rpc.owner_of(import).and_then(|owner| {
        let cap = rpc.imported(import, current)?;
        rpc.import(cap, owner, Keep::UntilDropped)
    });
    returned_import(scope, copied, &mut returned);
}

fn returned_import(
    scope: &mut v8::PinScope<'_, '_>,
    import: Result<ImportId, ImportError>,
    returned: &mut Returned<'_>,
) {
    match import {
        Ok(import) => returned.set(number(scope, import)),
        Err(error) => throw_error(scope, error.message()),
    }
}

/// `export(object, ownAccess, callable, disposer?)`: an import that stands for the object.
fn export<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    export_as(scope, &arguments, &mut returned, Keep::UntilDropped);
}

/// The same, gone after its first use.
fn export_for_one_use<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
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
        return throw_error(scope, ImportError::TooMany.message());
    };
    let import = RpcState::of(scope).import(cap, Some(current.id), keep);
    returned_import(scope, import, returned);
}

fn access(own: v8::Local<'_, v8::Value>) -> Access {
    if own.is_true() { Access::Own } else { Access::Class }
}

fn current_invocation<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let current = IsolateState::of(scope).current().map_or(0, |invocation| invocation.id);
    returned.set(number(scope, current));
}

/// `requireCurrent(invocation)`: throws unless it is that invocation's turn.
fn require_current<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let wanted = id(scope, arguments.get(0));
    let current = IsolateState::of(scope).current().map_or(0, |invocation| invocation.id);
    if wanted != current {
        let message = ImportError::Foreign.message().replace("Client", "JsRpcPromise");
        throw_error(scope, &message);
    }
}

fn is_proxy<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_proxy());
}

fn is_map<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_map());
}

fn is_set<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_set());
}

/// Whether V8 would write it as a plain object.
fn is_plain_object<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let value = arguments.get(0);
    let Some(js) = RpcState::of(scope).js(scope) else { return };
    let Ok(object) = v8::Local::<v8::Object>::try_from(value) else { return };
    let special = value.is_native_error() || value.is_arguments_object() || value.is_generator_object();
    let plain = v8::Local::new(scope, &js.object_prototype);
    returned.set_bool(!special && object.internal_field_count() == 0 && object.get_prototype(scope) == Some(plain));
}

/// `placeholder(value)`: an object that stands for the value while a message is written.
fn placeholder<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(js) = RpcState::of(scope).js(scope) else { return };
    // Without a prototype, so that the serializer asks about it.
    let null = v8::null(scope).into();
    let object = v8::Object::with_prototype_and_properties(scope, null, &[], &[]);
    let key = v8::Local::new(scope, &js.placeholder);
    if object.set_private(scope, key, arguments.get(0)).is_some() {
        returned.set(object.into());
    }
}

fn data_clone_error<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let message = arguments.get(0).to_rust_string_lossy(scope);
    throw_data_clone_error(scope, &message);
}

/// `succeed(reply, result, value, target, ownAccess, disposer?)`.
fn succeed<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let Ok(target) = v8::Local::<v8::Object>::try_from(arguments.get(3)) else { return };
    let settled = Settled {
        reply: id(scope, arguments.get(0)),
        result: Some(id(scope, arguments.get(1))).filter(|result| *result != 0),
        value: arguments.get(2),
        member: Member { target, access: access(arguments.get(4)) },
        disposer: function(arguments.get(5)),
    };
    // `None`: an exception is pending, and V8 throws it when this returns.
    let _ = serve::succeeded(scope, settled);
}

/// `fail(reply, result, error, remote)`. `remote`: the callee threw it.
fn fail<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let reply = id(scope, arguments.get(0));
    let result = Some(id(scope, arguments.get(1))).filter(|result| *result != 0);
    let by = if arguments.get(3).is_true() { ThrownBy::Callee } else { ThrownBy::Platform };
    serve::failed(scope, reply, result, arguments.get(2), by);
}

/// `onRelease(result, callback)`: false when nobody holds the result any more.
fn on_release<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let result = id(scope, arguments.get(0));
    let Some(callback) = function(arguments.get(1)) else { return };
    let callback = v8::Global::new(scope, callback);
    returned.set_bool(exports::on_release(&RpcState::of(scope), result, callback));
}

/// `startTask()`: a `waitUntil` task of the current invocation.
fn start_task<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(current) = IsolateState::of(scope).current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    let task = RpcState::of(scope).start_task(current.id, Hold::new(&current, HoldKind::WaitUntil));
    match task {
        Some(task) => returned.set(number(scope, task)),
        None => throw_error(scope, "This Worker has too many waitUntil() tasks pending."),
    }
}

fn end_task<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let task = id(scope, arguments.get(0));
    RpcState::of(scope).end_task(task);
}

fn task_threw<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    if let Some(host) = super::host(scope) {
        host.report_exception(scope, arguments.get(0), super::Uncaught::Thrown);
    }
}

/// `abort(reason)`: ends the current invocation and stops what runs; JavaScript is stopped at the next branch it takes.
fn abort<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let isolate = IsolateState::of(scope);
    let Some(current) = isolate.current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    let error = RpcError { remote: false, ..errors::from_js(scope, arguments.get(0)) };
    current.abort(&error, isolate.turn_cpu_ns());
    isolate.set_aborted();
    scope.terminate_execution();
}

/// `abortIsolate()`: ends the isolate and stops what runs. Whoever waits for one of its invocations gets an internal
/// error; the next call starts a new isolate.
fn abort_isolate<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, _: Returned<'_>) {
    let isolate = IsolateState::of(scope);
    if isolate.current().is_none() {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    }
    let mut reference = [0; 12];
    if getrandom::fill(&mut reference).is_err() {
        return throw_error(scope, "This system has no random numbers.");
    }
    let reference: String = reference.iter().map(|byte| format!("{byte:02x}")).collect();
    ::tracing::warn!(reference, "a Worker ended its own isolate");
    let message = format!("internal error; reference = {reference}");
    let error = RpcError { remote: false, ..RpcError::new("Error", message) };
    // Ended first: who hears of it and calls again finds that it is.
    isolate.shared.end(Cause::Shutdown);
    isolate.abort_all(&error);
}

/// `loopback(name, props?)`: an import of one of this Worker's own entrypoints, for any invocation.
fn loopback<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(spec) = own_export(scope, &arguments) else { return };
    let state = IsolateState::of(scope);
    // While the isolate is going, nobody can call it.
    let Some(isolate) = state.isolate() else { return };
    let entrypoint = isolate.entrypoint(spec);
    let refuses_transfer = state.worker.borrow().as_ref().and_then(|worker| worker.channels.refuses_transfer);
    let target: Arc<dyn Capability> = match refuses_transfer {
        None => entrypoint,
        Some(reason) => Arc::new(Staying { entrypoint, reason }),
    };
    let import = RpcState::of(scope).import(Cap { kind: CapKind::Service, target }, None, Keep::UntilDropped);
    returned_import(scope, import, &mut returned);
}

/// `refusesTransfer(import)`: why it may not be handed to other Workers; undefined: it may.
fn refuses_transfer<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(cap) = imported(scope, arguments.get(0)) else { return };
    if let Some(reason) = cap.target.refuses_transfer() {
        returned.set(string(scope, reason).into());
    }
}

/// An entrypoint that its Worker may use and not give away.
struct Staying {
    entrypoint: Arc<Entrypoint>,
    reason: &'static str,
}

impl Capability for Staying {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        self.entrypoint.call(call, reply)
    }

    fn counts_as_subrequest(&self) -> bool {
        self.entrypoint.counts_as_subrequest()
    }

    fn refuses_transfer(&self) -> Option<&'static str> {
        Some(self.reason)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// `outbound()`: the import of where global `fetch()` goes; undefined when nowhere.
fn outbound<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    channel(scope, &mut returned, |rpc| &rpc.outbound, |channels| channels.global_outbound.as_ref());
}

/// `cache()`: the import of where the Cache API's requests go; undefined when nowhere.
fn cache<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    channel(scope, &mut returned, |rpc| &rpc.cache, |channels| channels.cache.as_ref());
}

/// Imports a channel of the Worker, once, for any invocation.
fn channel(
    scope: &mut v8::PinScope<'_, '_>,
    returned: &mut Returned<'_>,
    place: impl Fn(&RpcState) -> &Cell<Option<ImportId>>,
    pick: impl FnOnce(&Channels) -> Option<&Cap>,
) {
    let rpc = RpcState::of(scope);
    if let Some(import) = place(&rpc).get() {
        return returned.set(number(scope, import));
    }
    let worker = IsolateState::of(scope).worker.borrow().clone();
    let Some(cap) = worker.and_then(|worker| pick(&worker.channels).cloned()) else { return };
    let import = rpc.import(Cap { kind: CapKind::Service, ..cap }, None, Keep::UntilDropped);
    place(&rpc).set(import.ok());
    returned_import(scope, import, returned);
}

fn main_exports<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let worker = IsolateState::of(scope).worker.borrow().clone();
    if let Some(main) = worker.as_ref().and_then(|worker| worker.main.borrow().clone()) {
        returned.set(v8::Local::new(scope, main).into());
    }
}

fn env<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let worker = IsolateState::of(scope).worker.borrow().clone();
    if let Some(env) = worker.as_ref().and_then(|worker| worker.env.borrow().clone()) {
        returned.set(v8::Local::new(scope, env).into());
    }
}
