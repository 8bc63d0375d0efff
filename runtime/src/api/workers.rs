//! The Rust halves of the rooms `workers`, `rpc_fetch` and `caches`: tasks and ends of the current invocation, and what the Worker
//! has of its own: its exports, its `env`, where its fetches go.

use std::any::Any;
use std::cell::Cell;
use std::sync::Arc;

use super::args::{set_function, throw_error};
use super::imports::{current_invocation, id, number, own_export, props_bytes, returned_import, weigh};
use super::tracing;
use crate::channel::Channels;
use crate::invocation::{Hold, HoldKind, SubrequestClass};
use crate::isolate::Entrypoint;
use crate::isolate::state::IsolateState;
use crate::js::string;
use crate::limits::Cause;
use crate::rpc::state::{ImportId, Keep, Met, RpcState};
use crate::rpc::{Call, Cap, CapKind, Capability, Reply, RpcError, errors};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "startTask", start_task)?;
    set_function(scope, native, "endTask", end_task)?;
    set_function(scope, native, "taskThrew", task_threw)?;
    set_function(scope, native, "abort", abort)?;
    set_function(scope, native, "abortIsolate", abort_isolate)?;
    set_function(scope, native, "loopback", loopback)?;
    set_function(scope, native, "mainExports", main_exports)?;
    set_function(scope, native, "env", env)?;
    set_function(scope, native, "traced", tracing::traced)?;
    set_function(scope, native, "invocation", current_invocation)?;
    set_function(scope, native, "addToContext", add_to_context)?;
    set_function(scope, native, "addSpan", tracing::add_span)?;
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

pub(super) fn install_hosts(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "randomName", random_name)
}

/// `addToContext(context, name)`: gives an execution context a member that is made when it is first looked at.
fn add_to_context<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let name = arguments.get(1).to_rust_string_lossy(scope);
    tracing::add_lazily(scope, arguments.get(0), &name, context_member);
}

fn context_member(
    scope: &mut v8::PinScope<'_, '_>,
    name: v8::Local<'_, v8::Name>,
    _: v8::PropertyCallbackArguments<'_>,
    mut returned: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(member) = made_for_context(scope, name) {
        returned.set(member);
    }
}

/// `None` with an exception pending.
fn made_for_context<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: v8::Local<'_, v8::Name>,
) -> Option<v8::Local<'s, v8::Value>> {
    let members = super::registry::export(scope, "workers", "contextMembers")?;
    let make = v8::Local::<v8::Object>::try_from(members).ok()?.get(scope, name.into())?;
    let undefined = v8::undefined(scope).into();
    v8::Local::<v8::Function>::try_from(make).ok()?.call(scope, undefined, &[])
}

/// `randomName()`: 32 hexadecimal digits that nobody guesses.
fn random_name<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    if let Some(name) = random_digits::<16>(scope) {
        returned.set(string(scope, &name).into());
    }
}

/// Two hexadecimal digits for each byte. `None` with an exception pending.
fn random_digits<const BYTES: usize>(scope: &mut v8::PinScope<'_, '_>) -> Option<String> {
    let mut random = [0; BYTES];
    if getrandom::fill(&mut random).is_err() {
        throw_error(scope, "This system has no random numbers.");
        return None;
    }
    Some(random.iter().map(|byte| format!("{byte:02x}")).collect())
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
    let task = id(arguments.get(0));
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
    let reset = current.is_of_object();
    let error = RpcError { remote: false, reset, ..errors::from_js(scope, arguments.get(0)) };
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
    let Some(reference) = random_digits::<12>(scope) else { return };
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
    // With props it is a service like any other.
    let class = if spec.props.is_none() { SubrequestClass::InHouse } else { SubrequestClass::External };
    let props = props_bytes(spec.props.as_ref());
    let entrypoint = isolate.entrypoint(spec);
    let refuses_transfer = state.worker.borrow().as_ref().and_then(|worker| worker.channels.refuses_transfer);
    let target: Arc<dyn Capability> = match refuses_transfer {
        None => entrypoint,
        Some(reason) => Arc::new(Staying { entrypoint, reason }),
    };
    let cap = Cap { kind: CapKind::Service, target };
    let import = RpcState::of(scope).import_as(cap, None, Keep::UntilDropped, Met::Elsewhere, class);
    if let Ok(import) = import {
        weigh(scope, import, props);
    }
    returned_import(scope, import, &mut returned);
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
