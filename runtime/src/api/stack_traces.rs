//! `error.stack` without the calls within the platform.

use super::registry;

/// Lets `js/stack_traces.js` make the stack of every error of this isolate, when it is first looked at.
pub(super) fn watch(scope: &mut v8::PinScope<'_, '_>) {
    scope.set_prepare_stack_trace_callback(prepare);
}

fn prepare<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Value>,
    sites: v8::Local<'s, v8::Array>,
) -> v8::Local<'s, v8::Value> {
    let made = make(scope, error, sites);
    // What was thrown, the end of the isolate for one, is on its way; nobody sees this value.
    made.unwrap_or_else(|| v8::undefined(scope).into())
}

fn make<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Value>,
    sites: v8::Local<'s, v8::Array>,
) -> Option<v8::Local<'s, v8::Value>> {
    let prepare = registry::export(scope, "stack_traces", "prepare")?;
    let prepare = v8::Local::<v8::Function>::try_from(prepare).ok()?;
    let undefined = v8::undefined(scope);
    prepare.call(scope, undefined.into(), &[error, sites.into()])
}
