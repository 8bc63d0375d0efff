//! `error.stack` without the calls within the platform.

use super::registry;

/// Has `js/stack_traces.js` make the stack of an error, when it is first looked at. `None` with an exception pending.
pub(crate) fn prepare<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Value>,
    sites: v8::Local<'s, v8::Array>,
) -> Option<v8::Local<'s, v8::Value>> {
    let prepare = registry::export(scope, "stack_traces", "prepare")?;
    let prepare = v8::Local::<v8::Function>::try_from(prepare).ok()?;
    let undefined = v8::undefined(scope);
    prepare.call(scope, undefined.into(), &[error, sites.into()])
}
