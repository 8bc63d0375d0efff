//! Imports, calls, invocations and what else an isolate numbers, as the rooms' JavaScript holds them.

use std::rc::{Rc, Weak};

use super::args::throw_error;
use super::resources;
use crate::isolate::EntrypointSpec;
use crate::isolate::state::IsolateState;
use crate::rpc::serialize::{Purpose, serialize};
use crate::rpc::state::{ImportError, ImportId, RpcState};
use crate::rpc::{Cap, Message};

/// The number that a room names something by: whole and below 2^53, made here. 0, which there never is, for anything else.
pub(super) fn id(value: v8::Local<'_, v8::Value>) -> u64 {
    v8::Local::<v8::Number>::try_from(value).map_or(0, |number| number.value() as u64)
}

pub(super) fn number<'s>(scope: &mut v8::PinScope<'s, '_>, id: u64) -> v8::Local<'s, v8::Value> {
    v8::Number::new(scope, id as f64).into()
}

/// `currentInvocation()`: the invocation whose turn it is; 0 in global scope.
pub(super) fn current_invocation<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    _: v8::FunctionCallbackArguments<'s>,
    mut returned: v8::ReturnValue<'_, v8::Value>,
) {
    let current = IsolateState::of(scope).current().map_or(0, |invocation| invocation.id);
    returned.set(number(scope, current));
}

/// Gives JavaScript an import, or throws why there is none.
pub(super) fn returned_import(
    scope: &mut v8::PinScope<'_, '_>,
    import: Result<ImportId, ImportError>,
    returned: &mut v8::ReturnValue<'_, v8::Value>,
) {
    match import {
        Ok(import) => returned.set(number(scope, import)),
        Err(error) => throw_error(scope, &error.message()),
    }
}

/// `drop(import)`.
pub(super) fn drop_import<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: v8::FunctionCallbackArguments<'s>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    RpcState::of(scope).drop_import(id(arguments.get(0)));
}

/// `held(import)`: what drops the import when it is collected, for objects that nobody disposes of.
pub(super) fn held<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: v8::FunctionCallbackArguments<'s>,
    mut returned: v8::ReturnValue<'_, v8::Value>,
) {
    let held = Held { rpc: Rc::downgrade(&RpcState::of(scope)), import: id(arguments.get(0)) };
    returned.set(resources::keep(scope, held).into());
}

/// An import that lives as long as this.
struct Held {
    rpc: Weak<RpcState>,
    import: ImportId,
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(rpc) = self.rpc.upgrade() {
            rpc.drop_import(self.import);
        }
    }
}

/// Counts what an import holds against the isolate's memory limit: `props`, which a program may make as many of as it has
/// stubs.
pub(super) fn weigh(scope: &mut v8::PinScope<'_, '_>, import: ImportId, props: usize) {
    if props > 0 {
        let isolate = IsolateState::of(scope);
        RpcState::of(scope).weigh(import, props, &isolate);
        isolate.look_at_memory(scope);
    }
}

/// The bytes of `props`.
pub(super) fn props_bytes(props: Option<&Message>) -> usize {
    props.map_or(0, |props| props.bytes.len())
}

/// What an import of the current invocation (or of the isolate) stands for. `None` with an exception pending.
pub(super) fn imported(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Cap> {
    let current = IsolateState::of(scope).current().map(|invocation| invocation.id);
    match RpcState::of(scope).imported(id(value), current) {
        Ok(cap) => Some(cap),
        Err(error) => {
            throw_error(scope, &error.message());
            None
        }
    }
}

/// One of the Worker's own exports, from the arguments `(name, props?)`. `None` with an exception pending.
pub(super) fn own_export<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: &v8::FunctionCallbackArguments<'s>,
) -> Option<EntrypointSpec> {
    let name = arguments.get(0).to_rust_string_lossy(scope);
    let props = match arguments.get(1) {
        props if props.is_undefined() => None,
        props => Some(serialize(scope, props, Purpose::Environment)?),
    };
    Some(EntrypointSpec { name: Some(name), props, ..EntrypointSpec::default() })
}
