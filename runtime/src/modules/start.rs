//! Turning sources into a running Worker: compile, link, evaluate, each with its errors.

use super::ModuleContent;
use super::diagnostics::{Capture, capture_stacks, uncaught};
use super::exports;
use super::link::link;
use super::registry::{Space, module_named};
use crate::compat::Flag;
use crate::error::Blame;
use crate::isolate::state::IsolateState;
use crate::isolate::{LoadError, LoadPhase};
use crate::js::string;
use crate::rpc::ERROR_TEXT_BYTES_MAX;
use crate::trace::prefix;

/// Loads the modules of the isolate's registry and runs their top level, microtasks included. The result is the main module's namespace.
///
/// Errors are the platform's texts; when a limit ended it instead, the caller knows from the isolate's cause.
pub(crate) fn start<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
) -> Result<v8::Local<'s, v8::Object>, LoadError> {
    capture_stacks(scope, Capture::On);
    let context = scope.get_current_context();
    context.set_allow_generation_from_strings(state.has_flag(Flag::AllowEvalDuringStartup) || always_evals(state));
    let result = start_captured(scope, state);
    context.set_allow_generation_from_strings(always_evals(state));
    capture_stacks(scope, Capture::Off);
    result
}

fn always_evals(state: &IsolateState) -> bool {
    state.has_flag(Flag::AllowInsecureInefficientLoggedEval)
}

fn start_captured<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
) -> Result<v8::Local<'s, v8::Object>, LoadError> {
    let (main_module, repeated) = {
        let registry = state.registry.borrow();
        (registry.main.clone(), registry.repeated.clone())
    };
    if let Some(path) = repeated {
        return Err(failed(LoadPhase::Compile, &format!("Uncaught Error: Module \"{path}\" already added to bundle")));
    }
    let main = state.registry.borrow().content(&main_module);
    match main {
        None => return Err(failed(LoadPhase::Compile, &format!("Uncaught Error: No such module: {main_module}"))),
        Some(ModuleContent::EsModule(_)) => {}
        Some(ModuleContent::ServiceWorker(source)) => return run_script(scope, state, &main_module, &source),
        Some(_) => {
            return Err(failed(LoadPhase::Compile, "Uncaught TypeError: Main module must be an ES module."));
        }
    }
    v8::tc_scope!(let scope, scope);

    // Every ES module is compiled, also those that nothing imports yet: a syntax error anywhere fails the start.
    let names = state.registry.borrow().es_modules();
    for name in std::iter::once(main_module.clone()).chain(names) {
        if module_named(scope, state, Space::Worker, &name).is_none() {
            return Err(thrown(scope, LoadPhase::Compile));
        }
    }
    let Some(main) = module_named(scope, state, Space::Worker, &main_module) else {
        return Err(thrown(scope, LoadPhase::Compile));
    };
    if link(scope, main).is_none() {
        return Err(thrown(scope, LoadPhase::Compile));
    }
    let Some(evaluation) = main.evaluate(scope) else {
        return Err(thrown(scope, LoadPhase::Evaluate));
    };
    scope.perform_microtask_checkpoint();
    let Ok(evaluation) = v8::Local::<v8::Promise>::try_from(evaluation) else {
        return Err(failed(LoadPhase::Evaluate, "Uncaught Error: Module evaluation gave no promise."));
    };
    match evaluation.state() {
        v8::PromiseState::Fulfilled => {}
        v8::PromiseState::Pending => {
            return Err(failed(LoadPhase::Evaluate, "Uncaught Error: Top-level await in module is unsettled."));
        }
        v8::PromiseState::Rejected => {
            evaluation.mark_as_handled();
            let exception = evaluation.result(scope);
            let report = uncaught(scope, exception);
            return Err(failed(LoadPhase::Evaluate, &report));
        }
    }
    let namespace = v8::Local::<v8::Object>::try_from(main.get_module_namespace())
        .map_err(|_| failed(LoadPhase::Evaluate, "Uncaught Error: Module has no namespace."))?;
    match exports::mistake(scope, namespace) {
        None => Ok(namespace),
        Some(mistake) => Err(failed(LoadPhase::Evaluate, &mistake)),
    }
}

/// Runs a service worker, which has its bindings as globals. What stands for its exports dispatches events to it.
fn run_script<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    name: &str,
    source: &str,
) -> Result<v8::Local<'s, v8::Object>, LoadError> {
    v8::tc_scope!(let scope, scope);
    if bindings_as_globals(scope, state).is_none() {
        return Err(thrown(scope, LoadPhase::Evaluate));
    }
    let compiled = v8::String::new(scope, source).and_then(|source| {
        let name = string(scope, name);
        let origin = v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, false, None);
        v8::Script::compile(scope, source, Some(&origin))
    });
    let Some(script) = compiled else { return Err(thrown(scope, LoadPhase::Compile)) };
    if script.run(scope).is_none() {
        return Err(thrown(scope, LoadPhase::Evaluate));
    }
    scope.perform_microtask_checkpoint();
    let make = crate::api::export(scope, "service_worker", "main");
    let make = make.and_then(|make| v8::Local::<v8::Function>::try_from(make).ok());
    let undefined = v8::undefined(scope).into();
    let main = make.and_then(|make| make.call(scope, undefined, &[]));
    main.and_then(|main| v8::Local::<v8::Object>::try_from(main).ok()).ok_or_else(|| thrown(scope, LoadPhase::Evaluate))
}

fn bindings_as_globals(scope: &mut v8::PinScope<'_, '_>, state: &IsolateState) -> Option<()> {
    let worker = state.worker.borrow().clone()?;
    let env = v8::Local::new(scope, worker.env.borrow().as_ref()?);
    let global = scope.get_current_context().global(scope);
    let names = env.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    for index in 0..names.length() {
        let name = names.get_index(scope, index)?;
        let value = env.get(scope, name)?;
        global.create_data_property(scope, v8::Local::<v8::Name>::try_from(name).ok()?, value)?;
    }
    Some(())
}

/// An exception that ended the start in `phase`.
pub(crate) fn thrown<'s>(
    scope: &mut v8::PinnedRef<'s, v8::TryCatch<'_, '_, v8::HandleScope<'_>>>,
    phase: LoadPhase,
) -> LoadError {
    match scope.exception().filter(|_| !scope.has_terminated()) {
        Some(exception) => {
            scope.reset();
            let report = uncaught(scope, exception);
            failed(phase, &report)
        }
        None => failed(phase, "Uncaught Error: Script execution was terminated."),
    }
}

fn failed(phase: LoadPhase, report: &str) -> LoadError {
    let mut message = format!("Failed to start Worker:\n{report}");
    message.truncate(prefix(&message, ERROR_TEXT_BYTES_MAX).len());
    LoadError { message, phase, cause: None, blame: Blame::Program, startup_cpu: None }
}
