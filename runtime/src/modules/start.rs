//! Turning sources into a running Worker: compile, link, evaluate, each with its errors.

use super::ModuleContent;
use super::diagnostics::{Capture, capture_stacks, uncaught};
use super::registry::{Space, module_named, resolve_import};
use crate::compat::Flag;
use crate::error::Blame;
use crate::isolate::state::IsolateState;
use crate::isolate::{LoadError, LoadPhase};

/// Loads the modules of the isolate's registry and runs their top level, microtasks included. The result is the main module's namespace.
///
/// Errors are the platform's texts; when a limit ended it instead, the caller knows from the isolate's cause.
pub(crate) fn start<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    main_module: String,
) -> Result<v8::Local<'s, v8::Object>, LoadError> {
    capture_stacks(scope, Capture::On);
    let context = scope.get_current_context();
    context.set_allow_generation_from_strings(state.has_flag(Flag::AllowEvalDuringStartup) || always_evals(state));
    let result = start_captured(scope, state, main_module);
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
    main_module: String,
) -> Result<v8::Local<'s, v8::Object>, LoadError> {
    match state.registry.borrow().content(&main_module) {
        None => return Err(failed(LoadPhase::Compile, &format!("Uncaught Error: No such module: {main_module}"))),
        Some(ModuleContent::EsModule(_)) => {}
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
    if main.instantiate_module(scope, resolve_import).is_none() {
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
    v8::Local::<v8::Object>::try_from(main.get_module_namespace())
        .map_err(|_| failed(LoadPhase::Evaluate, "Uncaught Error: Module has no namespace."))
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
    LoadError { message: format!("Failed to start Worker:\n{report}"), phase, cause: None, blame: Blame::Program }
}
