//! Events as the values that Tail Workers get. Texts of JSON and bytes of V8 are sent as such; the Tail Worker's side makes
//! values of them (`runtime/js/trace_items.js`).

use loaderd_runtime::rpc::plain::{BigInt, BytesKind, Plain, PlainObject};
use loaderd_runtime::trace::{
    Attribute, EVENT_BYTES_MAX, ErrorInfo, EventInfo, Log, Onset, SpanId, TraceEvent, TraceId, Traced, prefix,
};

/// What is known of the Worker a trace is of.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) entrypoint: Option<String>,
}

/// How a Worker runs that is no Durable Object; events of those are not traced.
pub(super) const EXECUTION_MODEL: &str = "stateless";

/// The ids that every event of a trace carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ids {
    trace: TraceId,
    invocation: TraceId,
}

impl Ids {
    pub(super) fn of(onset: &Onset) -> Self {
        Self { trace: onset.trace, invocation: onset.invocation }
    }
}

/// An event on its way into streams.
pub(super) struct Streamed {
    ids: Ids,
    at_ms: f64,
    span: Option<SpanId>,
    event: Plain,
    pub(super) kind: Kind,
    /// Its size as far as bounds are concerned, in bytes.
    pub(super) bytes: usize,
}

/// What a stream must know of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Onset,
    /// May be dropped.
    Ordinary,
    Return,
    Outcome,
}

/// Members of an object, in order; those without a value are left out.
pub(super) fn object<const N: usize>(members: [(&str, Option<Plain>); N]) -> Plain {
    let members = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Plain::Object(members.collect::<PlainObject>())
}

pub(super) fn text(text: &str) -> Option<Plain> {
    Some(Plain::from(text))
}

pub(super) fn number(number: f64) -> Option<Plain> {
    Some(Plain::Number(number))
}

/// An event for streams. `None`: it is too large, and a part of it would make no sense.
pub(super) fn streamed(ids: Ids, names: &Names, event: &TraceEvent) -> Option<Streamed> {
    let (value, kind, bytes) = match &event.what {
        Traced::Onset(onset) => {
            let small = onset.info.size() <= EVENT_BYTES_MAX;
            (onset_value(onset, names, small), Kind::Onset, 0)
        }
        Traced::Log(log) => {
            let errors: usize = log.errors.iter().flatten().map(ErrorInfo::size).sum();
            (log_value(log), Kind::Ordinary, log.message.len().min(EVENT_BYTES_MAX) + errors)
        }
        Traced::Exception(error) => {
            let error = cut(error);
            let value = object([
                ("type", text("exception")),
                ("name", text(&error.name)),
                ("message", text(&error.message)),
                ("stack", error.stack.as_deref().and_then(text)),
            ]);
            (value, Kind::Ordinary, error.size())
        }
        Traced::DiagnosticChannel { channel, message } => {
            let bytes = channel.len() + message.len();
            if bytes > EVENT_BYTES_MAX {
                return None;
            }
            let message = Plain::Bytes(BytesKind::ArrayBuffer, message.clone());
            let value =
                object([("type", text("diagnosticChannel")), ("channel", text(channel)), ("message", Some(message))]);
            (value, Kind::Ordinary, bytes)
        }
        Traced::SpanOpen { id, name } => {
            let value = object([("type", text("spanOpen")), ("name", text(name)), ("spanId", text(&id.to_string()))]);
            (value, Kind::Ordinary, name.len())
        }
        Traced::Attributes(attributes) => {
            let bytes = attributes.iter().map(|(key, value)| key.len() + value.size()).sum();
            let value = object([("type", text("attributes")), ("info", Some(attribute_values(attributes)))]);
            (value, Kind::Ordinary, bytes)
        }
        Traced::SpanClose => (object([("type", text("spanClose")), ("outcome", text("ok"))]), Kind::Ordinary, 0),
        Traced::Return { status } => {
            let info =
                status.map(|status| object([("type", text("fetch")), ("statusCode", number(f64::from(status)))]));
            (object([("type", text("return")), ("info", info)]), Kind::Return, 0)
        }
        Traced::Outcome { outcome, cpu, wall } => {
            let value = object([
                ("type", text("outcome")),
                ("outcome", text(outcome.name())),
                ("cpuTime", number(cpu.as_millis() as f64)),
                ("wallTime", number(wall.as_millis() as f64)),
            ]);
            (value, Kind::Outcome, 0)
        }
    };
    Some(Streamed { ids, at_ms: event.at_ms, span: event.span, event: value, kind, bytes })
}

impl Streamed {
    /// The event under its place in the stream.
    pub(super) fn value(&self, sequence: u64) -> Plain {
        self.around(self.event.clone(), sequence)
    }

    /// An event in its place that tells of others that were dropped.
    pub(super) fn dropped(&self, count: u64, sequence: u64) -> Plain {
        let diagnostic = object([("diagnosticsType", text("droppedEvents")), ("count", number(count as f64))]);
        self.around(object([("type", text("streamDiagnostic")), ("diagnostic", Some(diagnostic))]), sequence)
    }

    fn around(&self, event: Plain, sequence: u64) -> Plain {
        let span = self.span.and_then(|span| text(&span.to_string()));
        let context = object([("traceId", text(&self.ids.trace.to_string())), ("spanId", span)]);
        object([
            ("spanContext", Some(context)),
            ("invocationId", text(&self.ids.invocation.to_string())),
            ("timestamp", Some(Plain::Date(self.at_ms))),
            ("sequence", number(sequence as f64)),
            ("event", Some(event)),
        ])
    }
}

fn onset_value(onset: &Onset, names: &Names, small: bool) -> Plain {
    object([
        ("type", text("onset")),
        ("executionModel", text(EXECUTION_MODEL)),
        ("spanId", text(&onset.span.to_string())),
        ("entrypoint", names.entrypoint.as_deref().and_then(text)),
        ("scriptTags", Some(Plain::Array(Vec::new()))),
        ("info", Some(info_value(&onset.info, small, None))),
    ])
}

/// What started an invocation. Of a fetch that is not `small` only the method is told; `status` is its response's.
pub(super) fn info_value(info: &EventInfo, small: bool, status: Option<u16>) -> Plain {
    match info {
        EventInfo::Fetch { method, url, headers, cf } => {
            let line = |(name, value): &(String, String)| object([("name", text(name)), ("value", text(value))]);
            let headers: Vec<_> = if small { headers.iter().map(line).collect() } else { Vec::new() };
            object([
                ("type", text("fetch")),
                ("method", text(method)),
                ("url", text(if small { url } else { "" })),
                ("cfJson", cf.as_deref().filter(|_| small).and_then(text)),
                ("headers", Some(Plain::Array(headers))),
                ("status", status.and_then(|status| number(f64::from(status)))),
            ])
        }
        EventInfo::Connect => object([("type", text("connect"))]),
        EventInfo::JsRpc { method } => object([("type", text("jsrpc")), ("method", text(method))]),
        EventInfo::Scheduled { time_ms, cron } => {
            object([("type", text("scheduled")), ("scheduledTime", Some(Plain::Date(*time_ms))), ("cron", text(cron))])
        }
        EventInfo::Alarm { time_ms } => {
            object([("type", text("alarm")), ("scheduledTime", Some(Plain::Date(*time_ms)))])
        }
        EventInfo::Queue { name, batch_size } => {
            object([("type", text("queue")), ("queueName", text(name)), ("batchSize", number(f64::from(*batch_size)))])
        }
        EventInfo::Trace { scripts } => {
            let name = |script: &Option<String>| script.as_deref().map_or(Plain::Null, Plain::from);
            let names = scripts.iter().map(name).collect();
            object([("type", text("trace")), ("traces", Some(Plain::Array(names)))])
        }
        EventInfo::Custom => object([("type", text("custom"))]),
    }
}

fn log_value(log: &Log) -> Plain {
    let truncated = log.message.len() > EVENT_BYTES_MAX;
    object([
        ("type", text("log")),
        ("level", text(log.level.name())),
        ("message", text(prefix(&log.message, EVENT_BYTES_MAX))),
        ("truncated", truncated.then_some(Plain::Bool(true))),
        ("errorInfo", errors_value(&log.errors)),
    ])
}

/// By argument of a console method, the error it is or null.
pub(super) fn errors_value(errors: &[Option<ErrorInfo>]) -> Option<Plain> {
    let value = |error: &Option<ErrorInfo>| match error {
        None => Plain::Null,
        Some(error) => object([
            ("name", text(&error.name)),
            ("message", text(&error.message)),
            ("stack", error.stack.as_deref().and_then(text)),
        ]),
    };
    (!errors.is_empty()).then(|| Plain::Array(errors.iter().map(value).collect()))
}

fn attribute_values(attributes: &[(String, Attribute)]) -> Plain {
    let value = |(name, value): &(String, Attribute)| {
        let value = match value {
            Attribute::Bool(value) => Plain::Bool(*value),
            Attribute::Number(value) => Plain::Number(*value),
            Attribute::Count(value) => Plain::BigInt(Box::new(BigInt::from(*value))),
            Attribute::Text(value) => Plain::from(value.as_str()),
        };
        object([("name", text(name)), ("value", Some(value))])
    };
    Plain::Array(attributes.iter().map(value).collect())
}

/// An error whose texts fit into one event.
fn cut(error: &ErrorInfo) -> ErrorInfo {
    let name = prefix(&error.name, EVENT_BYTES_MAX);
    let message = prefix(&error.message, EVENT_BYTES_MAX - name.len());
    let left = EVENT_BYTES_MAX - name.len() - message.len();
    let stack = error.stack.as_deref().map(|stack| prefix(stack, left).to_owned());
    ErrorInfo { name: name.to_owned(), message: message.to_owned(), stack }
}
