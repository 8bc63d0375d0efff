//! `import()`: modules that a running program asks for.

use super::builtin::resolve;
use super::link::{UNKNOWN_ATTRIBUTES, link, name_at, not_found, refuses_attributes, source_of, throw_no_source};
use super::registry::{Space, module_named};
use crate::compat::Flag;
use crate::guard::callbacks;
use crate::isolate::state::IsolateState;
use crate::js::{string, throw_error, throw_type_error};
use crate::limits::aside::Aside;

/// An import whose module is still being evaluated.
pub(super) struct Unsettled {
    evaluation: v8::Global<v8::Promise>,
    resolver: v8::Global<v8::PromiseResolver>,
}

/// An import of a module that was being evaluated when it was asked for.
pub(super) struct Early {
    module: v8::Global<v8::Module>,
    resolver: v8::Global<v8::PromiseResolver>,
}

/// `import(specifier)`, which finds what the Worker may import, whoever says it.
fn import_evaluated<'s, 'i>(
    scope: &mut v8::PinScope<'s, 'i>,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    let resolver = v8::PromiseResolver::new(scope)?;
    v8::tc_scope!(let scope, scope);
    let state = IsolateState::of(scope);
    let imported = state.aside(Aside::DynamicImport, || {
        let module = module_meant(scope, &state, referrer, specifier, attributes)?;
        now_or_later(scope, &state, module, resolver)
    });
    if imported.is_none() {
        reject_with_caught(scope, resolver);
    }
    came_through(scope).then(|| resolver.get_promise(scope))
}

/// V8 asks for `import(specifier)` or `import.source(specifier)`.
pub(crate) fn import<'s, 'i>(
    scope: &mut v8::PinScope<'s, 'i>,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    phase: v8::ModuleImportPhase,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    if phase != v8::ModuleImportPhase::kSource {
        return import_evaluated(scope, referrer, specifier, attributes);
    }
    let resolver = v8::PromiseResolver::new(scope)?;
    v8::tc_scope!(let scope, scope);
    let state = IsolateState::of(scope);
    let found = module_meant(scope, &state, referrer, specifier, attributes).and_then(|module| {
        let id = state.registry.borrow().id_of(module, scope)?;
        let source = source_of(scope, &state, &id);
        if source.is_none() {
            throw_no_source(scope, &id.name);
        }
        source
    });
    match found {
        Some(source) => {
            resolver.resolve(scope, source.into());
        }
        None => reject_with_caught(scope, resolver),
    }
    came_through(scope).then(|| resolver.get_promise(scope))
}

/// The promise of an import rejects with what was caught, unless that is the isolate's end.
fn reject_with_caught(
    scope: &mut v8::PinnedRef<'_, v8::TryCatch<'_, '_, v8::HandleScope<'_>>>,
    resolver: v8::Local<'_, v8::PromiseResolver>,
) {
    if let Some(exception) = scope.exception().filter(|_| !scope.has_terminated()) {
        scope.reset();
        resolver.reject(scope, exception);
    }
}

/// Whether the promise of an import is what is to be returned. Otherwise an exception is pending: there was not even the
/// stack to settle it, or the isolate is being ended.
fn came_through(scope: &mut v8::PinnedRef<'_, v8::TryCatch<'_, '_, v8::HandleScope<'_>>>) -> bool {
    let caught = scope.has_caught();
    if caught && !scope.has_terminated() {
        scope.rethrow();
    }
    !caught
}

struct Imported<'s> {
    namespace: v8::Local<'s, v8::Value>,
    /// Still pending when the module awaits at its top level.
    evaluation: Option<v8::Local<'s, v8::Promise>>,
}

/// The module that an import means. `None` with an exception pending.
fn module_meant<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Module>> {
    if refuses_attributes(state, attributes) {
        throw_error(scope, UNKNOWN_ATTRIBUTES);
        return None;
    }
    let from = referrer.to_rust_string_lossy(scope);
    let specifier = specifier.to_rust_string_lossy(scope);
    let Some(name) = resolve(state, &specifier, name_at(&from)) else {
        throw_type_error(scope, &format!("Invalid module specifier \"{specifier}\"."));
        return None;
    };
    let module = {
        v8::tc_scope!(let scope, scope);
        let module = module_named(scope, state, Space::Worker, &name);
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        module
    };
    if module.is_none() {
        throw_error(scope, &not_found(state, &name, None));
    }
    module
}

/// Imports a module: a module that imports itself, or one that waits for it, not before what runs has ended. `None` with an
/// exception pending.
fn now_or_later<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    module: v8::Local<'s, v8::Module>,
    resolver: v8::Local<'s, v8::PromiseResolver>,
) -> Option<()> {
    if matches!(module.get_status(), v8::ModuleStatus::Instantiating | v8::ModuleStatus::Evaluating) {
        return later(scope, state, module, resolver);
    }
    let imported = namespace_of(scope, module)?;
    settle(scope, state, resolver, imported)
}

/// Has a module imported in a microtask. `None` with an exception pending.
fn later<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    module: v8::Local<'s, v8::Module>,
    resolver: v8::Local<'s, v8::PromiseResolver>,
) -> Option<()> {
    let early = Early { module: v8::Global::new(scope, module), resolver: v8::Global::new(scope, resolver) };
    let key = {
        let mut registry = state.registry.borrow_mut();
        let key = registry.next_import();
        registry.early.insert(key, early);
        key
    };
    let key = v8::Number::new(scope, key as f64).into();
    let go_on = callbacks::function(go_on).data(key).build(scope)?;
    scope.enqueue_microtask(go_on);
    Some(())
}

/// What ran when a module was imported has ended.
fn go_on<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    _: v8::ReturnValue<'s, v8::Value>,
) {
    let state = IsolateState::of(scope);
    let Some(key) = args.data().integer_value(scope).and_then(|key| u64::try_from(key).ok()) else { return };
    let Some(Early { module, resolver }) = state.registry.borrow_mut().early.remove(&key) else { return };
    let (module, resolver) = (v8::Local::new(scope, module), v8::Local::new(scope, resolver));
    v8::tc_scope!(let scope, scope);
    if state.aside(Aside::DynamicImport, || now_or_later(scope, &state, module, resolver)).is_none() {
        reject_with_caught(scope, resolver);
    }
}

/// The promise of an import resolves, now or when its module's (asynchronous) evaluation is done. `None` with an exception
/// pending.
fn settle<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    resolver: v8::Local<'s, v8::PromiseResolver>,
    Imported { namespace, evaluation }: Imported<'s>,
) -> Option<()> {
    match evaluation {
        Some(evaluation) => settle_with(scope, state, resolver, evaluation, namespace),
        None => resolver.resolve(scope, namespace).map(|_| ()),
    }
}

/// Links and evaluates a module; `None` with an exception pending.
fn namespace_of<'s>(scope: &mut v8::PinScope<'s, '_>, module: v8::Local<'s, v8::Module>) -> Option<Imported<'s>> {
    link(scope, module)?;
    let evaluation = v8::Local::<v8::Promise>::try_from(module.evaluate(scope)?).ok();
    if module.get_status() == v8::ModuleStatus::Errored {
        // Whoever imports it is told by an exception: nobody else waits for this promise.
        if let Some(evaluation) = evaluation {
            evaluation.mark_as_handled();
        }
        scope.throw_exception(module.get_exception());
        return None;
    }
    Some(Imported { namespace: module.get_module_namespace(), evaluation })
}

/// Settles an import once its module's (asynchronous) evaluation is done.
fn settle_with<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    resolver: v8::Local<'s, v8::PromiseResolver>,
    evaluation: v8::Local<'s, v8::Promise>,
    namespace: v8::Local<'s, v8::Value>,
) -> Option<()> {
    let unsettled =
        Unsettled { evaluation: v8::Global::new(scope, evaluation), resolver: v8::Global::new(scope, resolver) };
    let key = {
        let mut registry = state.registry.borrow_mut();
        let key = registry.next_import();
        registry.unsettled.insert(key, unsettled);
        key
    };
    let key: v8::Local<v8::Value> = v8::Number::new(scope, key as f64).into();
    let data = v8::Array::new_with_elements(scope, &[key, namespace]);
    let fulfilled = callbacks::function(on_evaluated).data(data.into()).build(scope)?;
    let rejected = callbacks::function(on_failed).data(key).build(scope)?;
    evaluation.then2(scope, fulfilled, rejected)?;
    Some(())
}

fn on_evaluated<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    _: v8::ReturnValue<'s, v8::Value>,
) {
    let Ok(data) = v8::Local::<v8::Array>::try_from(args.data()) else { return };
    let (Some(key), Some(namespace)) = (data.get_index(scope, 0), data.get_index(scope, 1)) else { return };
    if let Some(resolver) = take(scope, key) {
        resolver.resolve(scope, namespace);
    }
}

fn on_failed<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    _: v8::ReturnValue<'s, v8::Value>,
) {
    if let Some(resolver) = take(scope, args.data()) {
        resolver.reject(scope, args.get(0));
    }
}

/// The resolver of an import that nobody has settled.
fn take<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    key: v8::Local<'s, v8::Value>,
) -> Option<v8::Local<'s, v8::PromiseResolver>> {
    let key = u64::try_from(key.integer_value(scope)?).ok()?;
    let unsettled = IsolateState::of(scope).registry.borrow_mut().unsettled.remove(&key)?;
    Some(v8::Local::new(scope, unsettled.resolver))
}

/// Rejects the imports whose modules still wait for something after all microtasks have run; whether there were any, so
/// that there are microtasks again. Only the old module registry does so; the new one waits, as the specification says.
pub(crate) fn give_up_unsettled(scope: &mut v8::PinScope<'_, '_>) -> bool {
    let state = IsolateState::of(scope);
    if state.registry.borrow().unsettled.is_empty() || state.has_flag(Flag::NewModuleRegistry) {
        return false;
    }
    let unsettled = std::mem::take(&mut state.registry.borrow_mut().unsettled);
    let mut any = false;
    v8::scope!(let scope, scope);
    for Unsettled { evaluation, resolver } in unsettled.into_values() {
        if v8::Local::new(scope, evaluation).state() != v8::PromiseState::Pending {
            continue;
        }
        let message = string(scope, "Top-level await in module is unsettled.");
        let error = v8::Exception::error(scope, message);
        v8::Local::new(scope, resolver).reject(scope, error);
        any = true;
    }
    any
}
