//! The report of an uncaught error at start-up, in workerd's form.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Frames a report shows.
const FRAMES_MAX: usize = 10;

/// Class names that stand in a report as they are; any other text is preceded by `Error: `.
const KNOWN_CLASSES: [&str; 10] = [
    "Error",
    "TypeError",
    "RangeError",
    "SyntaxError",
    "ReferenceError",
    "EvalError",
    "URIError",
    "AggregateError",
    "CompileError",
    "LinkError",
];

/// Turns stack capture on for errors thrown from now on. Costs every throw a little, so it is on only during start.
pub(crate) fn capture_stacks(isolate: &mut v8::Isolate, capture: Capture) {
    isolate.set_capture_stack_trace_for_uncaught_exceptions(capture == Capture::On, FRAMES_MAX as i32);
}

/// Whether errors record where they were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capture {
    On,
    Off,
}

/// `Uncaught …`, then one line a frame.
pub(crate) fn uncaught<'s>(scope: &mut v8::PinScope<'s, '_>, exception: v8::Local<'s, v8::Value>) -> String {
    let message = v8::Exception::create_message(scope, exception);
    let text = message.get(scope).to_rust_string_lossy(scope);
    let detail = text.strip_prefix("Uncaught ").unwrap_or(&text);
    let is_dom_exception = crate::api::is_dom_exception(scope, exception);
    let detail = match detail.split_once(": ") {
        Some((name, message)) if is_dom_exception => Cow::from(format!("DOMException({name}): {message}")),
        _ => Cow::from(detail),
    };
    let known = is_dom_exception
        || KNOWN_CLASSES.iter().any(|class| detail.strip_prefix(class).is_some_and(|rest| rest.starts_with(':')))
        || KNOWN_CLASSES.contains(&&*detail);
    let mut report = format!("Uncaught {}{detail}", if known { "" } else { "Error: " });
    if !exception.is_native_error() && !is_dom_exception {
        return report;
    }
    let frames = message.get_stack_trace(scope).or_else(|| v8::Exception::get_stack_trace(scope, exception));
    match frames {
        Some(frames) if frames.get_frame_count() > 0 => write_frames(scope, frames, &mut report),
        _ => write_location(scope, message, &mut report),
    }
    report
}

fn write_frames<'s>(scope: &mut v8::PinScope<'s, '_>, frames: v8::Local<'s, v8::StackTrace>, report: &mut String) {
    for index in 0..frames.get_frame_count().min(FRAMES_MAX) {
        let Some(frame) = frames.get_frame(scope, index) else { continue };
        let script = frame
            .get_script_name(scope)
            .map_or_else(|| "(unknown)".to_owned(), |name| name.to_rust_string_lossy(scope));
        // What the platform does itself is native code elsewhere, and has no frames.
        if script.starts_with(crate::api::SCRIPT_PREFIX) {
            continue;
        }
        let function = frame.get_function_name(scope).map(|name| name.to_rust_string_lossy(scope));
        let _ = write!(report, "\n  at {script}");
        write_place(report, frame.get_line_number(), frame.get_column());
        if let Some(function) = function.filter(|name| !name.is_empty()) {
            let _ = write!(report, " in {function}");
        }
    }
}

/// Errors of the parser and the linker have a place but no frames; its column counts from 0, as workerd prints it.
fn write_location<'s>(scope: &mut v8::PinScope<'s, '_>, message: v8::Local<'s, v8::Message>, report: &mut String) {
    // A column that V8 does not know is a negative number, which arrives here as a huge one.
    let column = Some(message.get_start_column()).filter(|column| i32::try_from(*column).is_ok()).unwrap_or(0);
    let Some(line) = message.get_line_number(scope) else { return };
    match message.get_script_resource_name(scope).filter(|name| name.is_string()) {
        Some(script) => {
            let _ = write!(report, "\n  at {}", script.to_rust_string_lossy(scope));
        }
        // Text that is no script, such as a module's JSON.
        None if line != 0 => report.push('\n'),
        None => {}
    }
    write_place(report, line, column);
}

/// To V8 a line or a column of 0 is one that it does not know; workerd leaves out what is not known, and so a true
/// column 0 as well.
fn write_place(report: &mut String, line: usize, column: usize) {
    for number in [line, column].into_iter().filter(|number| *number != 0) {
        let _ = write!(report, ":{number}");
    }
}
