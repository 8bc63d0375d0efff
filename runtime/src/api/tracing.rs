//! The Rust half of the rooms `tracing` and `handlers`: what the running invocation tells of itself, and values on their
//! way through a queue.

use std::rc::Rc;

use super::args::{copy_bytes, new_array_buffer, set_function, throw_error};
use super::imports::current_invocation;
use crate::channel::ConsoleLevel;
use crate::guard::callbacks;
use crate::invocation::InvocationState;
use crate::isolate::state::IsolateState;
use crate::rpc::deserialize::{Stack, deserialize};
use crate::rpc::serialize::{Purpose, serialize};
use crate::rpc::{Message, outgoing};
use crate::trace::redact;
use crate::trace::tracer::Tracer;
use crate::trace::{Attribute, ErrorInfo, EventInfo, Log, SpanId};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;
type Value<'s> = v8::Local<'s, v8::Value>;

/// The functions of every room that has to do with traces and events.
pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "traced", traced)?;
    set_function(scope, native, "beginFetch", begin_fetch)?;
    set_function(scope, native, "beginConnect", begin_connect)?;
    set_function(scope, native, "beginRpc", begin_rpc)?;
    set_function(scope, native, "beginScheduled", begin_scheduled)?;
    set_function(scope, native, "beginAlarm", begin_alarm)?;
    set_function(scope, native, "beginQueue", begin_queue)?;
    set_function(scope, native, "beginTrace", begin_trace)?;
    set_function(scope, native, "returned", returned)?;
    set_function(scope, native, "uncaught", uncaught)?;
    set_function(scope, native, "failed", failed)?;
    set_function(scope, native, "warn", warn)?;
    set_function(scope, native, "publish", publish)?;
    set_function(scope, native, "openSpan", open_span)?;
    set_function(scope, native, "isOpen", is_open)?;
    set_function(scope, native, "setAttribute", set_attribute)?;
    set_function(scope, native, "closeSpan", close_span)?;
    set_function(scope, native, "event", event)?;
    set_function(scope, native, "writeValue", write_value)?;
    set_function(scope, native, "readValue", read_value)?;
    set_function(scope, native, "currentInvocation", current_invocation)?;
    set_function(scope, native, "now", now)?;
    set_function(scope, native, "isPromise", is_promise)?;
    set_function(scope, native, "isDate", is_date)?;
    set_function(scope, native, "isBuffer", is_buffer)?;
    set_function(scope, native, "redactUrl", redact_url)?;
    set_function(scope, native, "redactHeader", redact_header)?;
    super::async_context::install(scope, native)
}

/// The running invocation, if it is traced. The program's clock stands for when things happen.
fn current(scope: &v8::Isolate) -> Option<(Rc<InvocationState>, f64)> {
    // The rooms' tests have a host of their own and no such state.
    let state = scope.get_slot::<Rc<IsolateState>>()?;
    let invocation = state.current()?;
    invocation.tracer()?;
    Some((invocation, state.now_ms()))
}

fn with_tracer(scope: &v8::Isolate, tell: impl FnOnce(&Tracer, f64)) {
    if let Some((invocation, now)) = current(scope)
        && let Some(tracer) = invocation.tracer()
    {
        tell(tracer, now);
    }
}

/// The span the program is in, which follows it through its asynchronous calls.
pub(crate) fn current_span(scope: &mut v8::PinScope<'_, '_>) -> Option<SpanId> {
    let frame = v8::Local::<v8::Object>::try_from(super::async_context::current_frame(scope)).ok()?;
    let name = v8::String::new(scope, "span")?;
    // A frame is an object of our own making, without a prototype.
    let span = frame.get(scope, name.into()).filter(|span| span.is_string())?;
    SpanId::parse(&span.to_rust_string_lossy(scope))
}

fn text(scope: &mut v8::PinScope<'_, '_>, value: Value<'_>) -> String {
    value.to_rust_string_lossy(scope)
}

fn texts(scope: &mut v8::PinScope<'_, '_>, value: Value<'_>) -> Vec<Option<String>> {
    let Ok(list) = v8::Local::<v8::Array>::try_from(value) else { return Vec::new() };
    let mut texts = Vec::with_capacity(list.length() as usize);
    for index in 0..list.length() {
        let item = list.get_index(scope, index).filter(|item| item.is_string());
        texts.push(item.map(|item| item.to_rust_string_lossy(scope)));
    }
    texts
}

fn millis(value: Value<'_>) -> f64 {
    v8::Local::<v8::Number>::try_from(value).map_or(0.0, |number| number.value())
}

pub(super) fn traced<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(current(scope).is_some());
}

/// `beginFetch(method, url, headers, cf?)`: `headers` is a flat list of names and values, `cf` JSON.
fn begin_fetch<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let (method, url) = (text(scope, arguments.get(0)), text(scope, arguments.get(1)));
    let mut lines = texts(scope, arguments.get(2)).into_iter().map(Option::unwrap_or_default);
    let mut headers = Vec::new();
    while let Some((name, value)) = lines.next().zip(lines.next()) {
        headers.push((name, value));
    }
    headers.sort();
    let cf = Some(arguments.get(3)).filter(|cf| cf.is_string()).map(|cf| text(scope, cf));
    with_tracer(scope, |tracer, now| tracer.begin(now, EventInfo::Fetch { method, url, headers, cf }));
}

fn begin_connect<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, _: Returned<'_>) {
    with_tracer(scope, |tracer, now| tracer.begin(now, EventInfo::Connect));
}

/// `beginRpc(method)`.
fn begin_rpc<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let method = text(scope, arguments.get(0));
    with_tracer(scope, |tracer, now| {
        tracer.begin(now, EventInfo::JsRpc { method: method.clone() });
        tracer.attributes(now, vec![("jsrpc.method".to_owned(), Attribute::Text(method))]);
    });
}

/// `beginScheduled(timeMs, cron)`.
fn begin_scheduled<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let (time_ms, cron) = (millis(arguments.get(0)), text(scope, arguments.get(1)));
    with_tracer(scope, |tracer, now| tracer.begin(now, EventInfo::Scheduled { time_ms, cron }));
}

/// `beginAlarm(timeMs)`.
fn begin_alarm<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let time_ms = millis(arguments.get(0));
    with_tracer(scope, |tracer, now| tracer.begin(now, EventInfo::Alarm { time_ms }));
}

/// `beginQueue(name, batchSize)`.
fn begin_queue<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let (name, batch_size) = (text(scope, arguments.get(0)), millis(arguments.get(1)) as u32);
    with_tracer(scope, |tracer, now| tracer.begin(now, EventInfo::Queue { name, batch_size }));
}

/// `beginTrace(scripts)`: names, or null.
fn begin_trace<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let scripts = texts(scope, arguments.get(0));
    with_tracer(scope, |tracer, now| tracer.begin(now, EventInfo::Trace { scripts }));
}

/// `returned(status?)`.
fn returned<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let status = Some(arguments.get(0)).filter(|status| status.is_number()).map(|status| millis(status) as u16);
    with_tracer(scope, |tracer, now| tracer.returned(now, status));
}

/// What a diagnostics channel's message is replaced with when it cannot be written.
const NOT_SERIALIZABLE: &str = "[[ Diagnostic event was not serializable ]]";

/// `publish(channel, message)`: a message on a diagnostics channel.
fn publish<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    if current(scope).is_none() {
        return;
    }
    let channel = text(scope, arguments.get(0));
    let bytes = {
        v8::tc_scope!(let scope, scope);
        let written =
            serialize(scope, arguments.get(1), Purpose::Environment).filter(|written| written.caps.is_empty());
        scope.reset();
        match written {
            Some(written) => written.bytes,
            None => match crate::rpc::plain::Plain::from(NOT_SERIALIZABLE).to_message() {
                Ok(message) => message.bytes,
                Err(_) => return,
            },
        }
    };
    let span = current_span(scope);
    with_tracer(scope, |tracer, now| tracer.diagnostic(now, span, channel, bytes));
}

/// `openSpan(name)`: the span's id, or undefined where it is not traced.
fn open_span<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some((invocation, now)) = current(scope) else { return };
    let name = text(scope, arguments.get(0));
    let parent = current_span(scope);
    let Some(span) = invocation.tracer().and_then(|tracer| tracer.open_span(now, parent, &name)) else { return };
    returned.set(crate::js::string(scope, &span.to_string()).into());
}

/// The invocation that a span belongs to, and the span: the first two arguments.
fn span_of(scope: &mut v8::PinScope<'_, '_>, arguments: &Arguments<'_>) -> Option<(Rc<InvocationState>, SpanId)> {
    let invocation = IsolateState::of(scope).invocation(millis(arguments.get(0)) as u64)?;
    let span = SpanId::parse(&text(scope, arguments.get(1)))?;
    Some((invocation, span))
}

/// `isOpen(invocation, span)`.
fn is_open<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some((invocation, span)) = span_of(scope, &arguments) else { return returned.set_bool(false) };
    returned.set_bool(invocation.tracer().is_some_and(|tracer| tracer.is_open(span)));
}

/// `setAttribute(invocation, span, key, value)`.
fn set_attribute<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let Some((invocation, span)) = span_of(scope, &arguments) else { return };
    let (key, value) = (text(scope, arguments.get(2)), arguments.get(3));
    let value = if value.is_boolean() {
        Attribute::Bool(value.is_true())
    } else if value.is_number() {
        Attribute::Number(millis(value))
    } else if let Ok(count) = v8::Local::<v8::BigInt>::try_from(value) {
        Attribute::Count(count.u64_value().0)
    } else {
        Attribute::Text(text(scope, value))
    };
    if let Some(tracer) = invocation.tracer() {
        tracer.set_attribute(span, key, value);
    }
}

/// `closeSpan(invocation, span)`.
fn close_span<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let Some((invocation, span)) = span_of(scope, &arguments) else { return };
    let now = IsolateState::of(scope).now_ms();
    if let Some(tracer) = invocation.tracer() {
        tracer.close_span(now, span);
    }
}

/// `event(import, kind, arguments)`: delivers an event to a service. Answers as a call does.
fn event<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let import = millis(arguments.get(0)) as u64;
    let kind = text(scope, arguments.get(1));
    let values = outgoing::Content::Event(arguments.get(2));
    let Some(started) = outgoing::start(scope, import, vec![kind], values, outgoing::Waits::Yes) else { return };
    let call = v8::Number::new(scope, started.call as f64).into();
    let pipeline = v8::Number::new(scope, started.pipeline.unwrap_or(0) as f64).into();
    returned.set(v8::Array::new_with_elements(scope, &[started.arrived.into(), call, pipeline]).into());
}

/// `threw(error)`: the handler of the current event threw, and whoever called it is told.
pub(super) fn threw<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    if let Some(current) = IsolateState::of(scope).current() {
        current.note_exception();
    }
    exception(scope, arguments.get(0));
}

/// `uncaught(error)`: the handler of the current event threw, and nobody is told.
fn uncaught<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    if let Some(current) = IsolateState::of(scope).current() {
        current.note_exception();
    }
    if let Some(host) = super::host(scope) {
        host.report_exception(scope, arguments.get(0), super::Uncaught::Thrown);
    }
}

/// `failed()`: what the current event was to do has failed, whatever its handler says.
fn failed<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, _: Returned<'_>) {
    if let Some(current) = IsolateState::of(scope).current() {
        current.note_exception();
    }
}

/// `warn(text)`: what the platform warns the program of.
pub(super) fn warn<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let warning = text(scope, arguments.get(0));
    if let Some(sink) = super::host(scope).and_then(|host| host.console()) {
        sink.line(ConsoleLevel::Warn, &warning);
    }
    let span = current_span(scope);
    let message = serde_json_array(&warning);
    with_tracer(scope, |tracer, now| {
        tracer.log(now, span, Log { level: ConsoleLevel::Warn, message, errors: Vec::new() });
    });
}

/// A JSON array of one string.
fn serde_json_array(text: &str) -> String {
    let text = crate::rpc::plain::Plain::from(text).to_json().ok().flatten();
    format!("[{}]", text.unwrap_or_else(|| "\"\"".to_owned()))
}

/// `writeValue(value)`: its bytes, as a message of a queue has them.
fn write_value<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(message) = serialize(scope, arguments.get(0), Purpose::Environment) else { return };
    if !message.caps.is_empty() {
        return throw_error(scope, "A service cannot be the message of a queue.");
    }
    if let Some(bytes) = new_array_buffer(scope, &message.bytes) {
        returned.set(bytes.into());
    }
}

/// `readValue(bytes)`: throws where they are not a value.
fn read_value<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(bytes) = copy_bytes(arguments.get(0)) else { return };
    let message = Message { bytes: bytes.into(), caps: Vec::new() };
    let owner = IsolateState::of(scope).current().map(|invocation| invocation.id);
    if let Some(received) = deserialize(scope, &message, owner, Stack::None) {
        returned.set(received.value);
    }
}

fn now<'s>(scope: &mut v8::PinScope<'s, '_>, _: Arguments<'s>, mut returned: Returned<'_>) {
    let now = IsolateState::of(scope).now_ms();
    returned.set(v8::Number::new(scope, now).into());
}

fn is_promise<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_promise());
}

fn is_date<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_date());
}

fn is_buffer<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_array_buffer());
}

/// `redactUrl(url)`: without what looks like a secret in it.
fn redact_url<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let redacted = redact::url(&text(scope, arguments.get(0)));
    returned.set(crate::js::string(scope, &redacted).into());
}

/// `redactHeader(name)`: whether the value of a header may be a secret.
fn redact_header<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let name = text(scope, arguments.get(0));
    returned.set_bool(redact::is_secret_header(&name));
}

/// `addSpan(prototype)`: gives it the class `Span`, made when it is first looked at.
pub(super) fn add_span<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    add_lazily(scope, arguments.get(0), "Span", span_class);
}

/// Gives an object a property that is made when it is first looked at.
pub(super) fn add_lazily(
    scope: &mut v8::PinScope<'_, '_>,
    holder: v8::Local<'_, v8::Value>,
    name: &str,
    make: impl callbacks::Getter,
) {
    let Ok(holder) = v8::Local::<v8::Object>::try_from(holder) else { return };
    let Some(name) = v8::String::new(scope, name) else { return };
    // Fails only when the isolate is being ended.
    let nothing = v8::undefined(scope).into();
    let _ = callbacks::set_lazy_property(scope, holder, name.into(), make, nothing, v8::PropertyAttribute::NONE);
}

fn span_class(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::Local<'_, v8::Name>,
    _: v8::PropertyCallbackArguments<'_>,
    mut returned: v8::ReturnValue<'_, v8::Value>,
) {
    if let Some(class) = super::registry::export(scope, "tracing", "Span") {
        returned.set(class);
    }
}

/// Records an exception that no JavaScript will catch. Runs the program's own accessors, whose exceptions are nobody's.
pub(crate) fn exception(scope: &mut v8::PinScope<'_, '_>, thrown: Value<'_>) {
    if current(scope).is_none() {
        return;
    }
    let error = {
        v8::tc_scope!(let scope, scope);
        let error = error_info(scope, thrown);
        scope.reset();
        error
    };
    let (Some(error), span) = (error, current_span(scope)) else { return };
    with_tracer(scope, |tracer, now| tracer.exception(now, span, error));
}

/// An error as traces show it. `None` with an exception pending: reading it threw.
fn error_info(scope: &mut v8::PinScope<'_, '_>, thrown: Value<'_>) -> Option<ErrorInfo> {
    let (mut name, mut message, mut stack) = (None, None, None);
    if let Ok(object) = v8::Local::<v8::Object>::try_from(thrown) {
        for (key, field) in [("name", &mut name), ("message", &mut message), ("stack", &mut stack)] {
            let key = v8::String::new(scope, key)?;
            let value = object.get(scope, key.into())?;
            if !value.is_undefined() {
                *field = Some(value.to_string(scope)?.to_rust_string_lossy(scope));
            }
        }
    }
    let name = name.unwrap_or_else(|| "Error".to_owned());
    let message = match message {
        Some(message) => message,
        None => thrown.to_string(scope)?.to_rust_string_lossy(scope),
    };
    let stack = stack.and_then(|stack| {
        // In JavaScript a stack begins with the error's name and message.
        let rest = stack.strip_prefix(&name).map_or(&*stack, |rest| rest.strip_prefix(": ").unwrap_or(rest));
        let rest = rest.strip_prefix(&message).map_or(rest, |rest| rest.strip_prefix('\n').unwrap_or(rest));
        // Frames of our own are nothing to the program.
        let lines: Vec<_> = rest.lines().filter(|line| !line.contains("loaderd:")).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    });
    Some(ErrorInfo { name, message, stack })
}

/// Records a line of the console. Runs the program's own code (`toJSON`, accessors), whose exceptions are nobody's.
pub(super) fn log(scope: &mut v8::PinScope<'_, '_>, level: ConsoleLevel, arguments: &Arguments<'_>) {
    if current(scope).is_none() {
        return;
    }
    let mut message = String::from("[");
    let mut errors: Vec<Option<ErrorInfo>> = Vec::new();
    for index in 0..arguments.length() {
        v8::tc_scope!(let scope, scope);
        let value = arguments.get(index);
        let shown = json(scope, value);
        if scope.has_terminated() {
            return;
        }
        scope.reset();
        if value.is_native_error() {
            let error = error_info(scope, value);
            scope.reset();
            if let Some(error) = error {
                errors.resize(index as usize, None);
                errors.push(Some(error));
            }
        }
        if index > 0 {
            message.push_str(", ");
        }
        message.push_str(shown.as_deref().unwrap_or("{}"));
    }
    message.push(']');
    if !errors.is_empty() {
        errors.resize(arguments.length() as usize, None);
    }
    let span = current_span(scope);
    with_tracer(scope, |tracer, now| tracer.log(now, span, Log { level, message, errors }));
}

/// An argument of a console method, as JSON: data as such, other objects as the string they turn into.
fn json(scope: &mut v8::PinScope<'_, '_>, value: Value<'_>) -> Option<String> {
    let is_data = value.is_null_or_undefined()
        || value.is_number()
        || value.is_boolean()
        || value.is_string()
        || value.is_array()
        || is_plain_or_says_how(scope, value)?;
    let value = if is_data { v8::Local::new(scope, value) } else { value.to_string(scope)?.into() };
    let json = v8::json::stringify(scope, value)?.to_rust_string_lossy(scope);
    Some(if json == "undefined" { "null".to_owned() } else { json })
}

/// Whether a value is an object that `{}` could have made, or one with a `toJSON` method.
fn is_plain_or_says_how(scope: &mut v8::PinScope<'_, '_>, value: Value<'_>) -> Option<bool> {
    let Ok(object) = v8::Local::<v8::Object>::try_from(value) else { return Some(false) };
    let plain = v8::Object::new(scope).get_prototype(scope);
    let prototype = object.get_prototype(scope);
    if prototype.is_some_and(|prototype| prototype.is_null()) || prototype == plain {
        return Some(true);
    }
    let name = v8::String::new(scope, "toJSON")?;
    let method = object.get_real_named_property(scope, name.into());
    Some(method.is_some_and(|method| method.is_function()))
}
