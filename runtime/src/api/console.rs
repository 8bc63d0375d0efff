//! `console`: V8's own object (whose other methods reach only an inspector, as on the platform) with `debug`, `error`,
//! `info`, `log` and `warn` replaced by functions that hand one formatted line to the host's sink.

use super::{host, registry};
use crate::channel::ConsoleLevel;
use crate::guard::callbacks;

/// The replaced methods, by the place of their level in this table.
const METHODS: [(&str, ConsoleLevel); 5] = [
    ("debug", ConsoleLevel::Debug),
    ("error", ConsoleLevel::Error),
    ("info", ConsoleLevel::Info),
    ("log", ConsoleLevel::Log),
    ("warn", ConsoleLevel::Warn),
];

/// Replaces the five methods of the global `console`.
pub(super) fn replace_methods(scope: &mut v8::PinScope<'_, '_>, global: v8::Local<'_, v8::Object>) -> Option<()> {
    let name = v8::String::new(scope, "console")?;
    let console = v8::Local::<v8::Object>::try_from(global.get(scope, name.into())?).ok()?;
    for (index, (name, _)) in METHODS.iter().enumerate() {
        let name = v8::String::new_from_utf8(scope, name.as_bytes(), v8::NewStringType::Internalized)?;
        let data = v8::Integer::new_from_unsigned(scope, u32::try_from(index).ok()?);
        let method = callbacks::function(write)
            .data(data.into())
            .constructor_behavior(v8::ConstructorBehavior::Throw)
            .build(scope)?;
        console.set(scope, name.into(), method.into())?;
    }
    Some(())
}

fn write(scope: &mut v8::PinScope<'_, '_>, args: v8::FunctionCallbackArguments<'_>, _: v8::ReturnValue<'_, v8::Value>) {
    let Some(index) = args.data().uint32_value(scope) else { return };
    let Some((_, level)) = METHODS.get(index as usize) else { return };
    let Some(host) = host(scope) else { return };
    let mut line = None;
    host.log(&mut || {
        super::tracing::log(scope, *level, &args);
        if host.console().is_some() {
            line = shown_text(scope, &args);
        }
    });
    if let (Some(line), Some(sink)) = (line, host.console()) {
        sink.line(*level, &line);
    }
}

/// The line. As on the platform, what formatting throws (the program's own accessors, say) is shown and not thrown.
/// `None`: the isolate is being ended.
fn shown_text(scope: &mut v8::PinScope<'_, '_>, args: &v8::FunctionCallbackArguments<'_>) -> Option<String> {
    v8::tc_scope!(let scope, scope);
    let text = text(scope, args);
    if scope.has_terminated() {
        return None;
    }
    let thrown = scope.exception();
    scope.reset();
    text.or_else(|| Some(format!("<Formatting threw ({})>", shown(scope, thrown?))))
}

/// An exception as its stack, where that is there without asking the program.
fn shown(scope: &mut v8::PinScope<'_, '_>, thrown: v8::Local<'_, v8::Value>) -> String {
    let stack = v8::Local::<v8::Object>::try_from(thrown).ok().filter(|_| thrown.is_native_error()).and_then(|error| {
        let name = v8::String::new(scope, "stack")?;
        error.get_real_named_property(scope, name.into()).filter(|stack| stack.is_string())
    });
    v8::tc_scope!(let scope, scope);
    let text = stack.unwrap_or(v8::Local::new(scope, thrown)).to_rust_string_lossy(scope);
    scope.reset();
    text
}

/// The line. `None` with an exception pending when formatting threw.
fn text(scope: &mut v8::PinScope<'_, '_>, args: &v8::FunctionCallbackArguments<'_>) -> Option<String> {
    match args.length() {
        0 => return Some(String::new()),
        1 if args.get(0).is_string() => return Some(args.get(0).to_rust_string_lossy(scope)),
        _ => {}
    }
    let format = registry::export(scope, "inspect_format", "format")?;
    let format = v8::Local::<v8::Function>::try_from(format).ok()?;
    let values: Vec<_> = (0..args.length()).map(|index| args.get(index)).collect();
    let undefined = v8::undefined(scope);
    let text = format.call(scope, undefined.into(), &values)?;
    Some(text.to_rust_string_lossy(scope))
}
