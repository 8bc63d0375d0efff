//! The trace of an invocation as one item. What it holds is bounded: once something does not fit, nothing further of its
//! kind is kept, and the item says that it is truncated.

use loaderd_runtime::channel::ConsoleLevel;
use loaderd_runtime::limits::Outcome;
use loaderd_runtime::rpc::plain::{BytesKind, Plain};
use loaderd_runtime::trace::{ErrorInfo, EventInfo, Log, TraceEvent, Traced};

use super::encode::{EXECUTION_MODEL, Names, errors_value, info_value, number, object, text};

/// Bytes of one item: logs, exceptions, channel messages and the head of a fetch together.
pub(super) const ITEM_BYTES_MAX: usize = 256 << 10;

/// What an entry costs beside its texts, in bytes: empty lines are not free.
const ENTRY_BYTES: usize = 64;

const LOGS_FULL: &str = "[\"Log size limit exceeded: More than 256KB of data (across console.log statements, exception, \
                         request metadata and headers) was logged during a single request. Subsequent data for this \
                         request will not be recorded in logs, appear when tailing this Worker's logs, or in Tail \
                         Workers.\"]";
const EXCEPTIONS_FULL: &str = "Trace resource limit exceeded; subsequent exceptions not recorded.";
const CHANNELS_FULL: &str = "workerd.LimitExceeded";
const HEAD_TOO_LARGE: &str = "[\"Trace resource limit exceeded; could not capture event info.\"]";

/// See the module.
#[derive(Default)]
pub(super) struct Item {
    info: Option<EventInfo>,
    head: Head,
    began_ms: f64,
    status: Option<u16>,
    logs: List,
    exceptions: List,
    channels: List,
    bytes: usize,
    truncated: bool,
    outcome: Option<(Outcome, std::time::Duration, std::time::Duration)>,
}

/// How much of a fetch's head is kept.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Head {
    #[default]
    Whole,
    Method,
}

#[derive(Default)]
struct List {
    entries: Vec<Plain>,
    full: bool,
}

impl Item {
    pub(super) fn add(&mut self, event: TraceEvent) {
        let at_ms = event.at_ms;
        match event.what {
            Traced::Onset(onset) => {
                self.began_ms = at_ms;
                let size = onset.info.size();
                if size > ITEM_BYTES_MAX {
                    self.truncated = true;
                    self.head = Head::Method;
                    let warning = Log { level: ConsoleLevel::Warn, message: HEAD_TOO_LARGE.into(), errors: Vec::new() };
                    self.logs.entries.push(log_value(at_ms, &warning));
                } else {
                    self.bytes = size;
                }
                self.info = Some(onset.info);
            }
            Traced::Log(log) => {
                let errors: usize = log.errors.iter().flatten().map(ErrorInfo::size).sum();
                let size = log.message.len() + errors;
                let full = || Log { level: ConsoleLevel::Warn, message: LOGS_FULL.into(), errors: Vec::new() };
                self.keep(|item| &mut item.logs, size, log_value(at_ms, &log), || log_value(at_ms, &full()));
            }
            Traced::Exception(error) => {
                let full = || ErrorInfo { name: "Error".into(), message: EXCEPTIONS_FULL.into(), stack: None };
                let value = exception_value(at_ms, &error);
                self.keep(|item| &mut item.exceptions, error.size(), value, || exception_value(at_ms, &full()));
            }
            Traced::DiagnosticChannel { channel, message } => {
                let size = channel.len() + message.len();
                let nothing = || channel_value(at_ms, CHANNELS_FULL, Plain::Undefined);
                let message = Plain::Bytes(BytesKind::ArrayBuffer, message);
                self.keep(|item| &mut item.channels, size, channel_value(at_ms, &channel, message), nothing);
            }
            Traced::Return { status } => self.status = status,
            Traced::Outcome { outcome, cpu, wall } => self.outcome = Some((outcome, cpu, wall)),
            // Spans are for streams.
            Traced::SpanOpen { .. } | Traced::Attributes(_) | Traced::SpanClose => {}
        }
    }

    /// Adds an entry to a list, or, the first time one does not fit, what says so.
    fn keep(&mut self, list: fn(&mut Self) -> &mut List, size: usize, entry: Plain, full: impl FnOnce() -> Plain) {
        if list(self).full {
            return;
        }
        let size = ENTRY_BYTES + size;
        if self.bytes + size > ITEM_BYTES_MAX {
            self.truncated = true;
            list(self).full = true;
            return list(self).entries.push(full());
        }
        self.bytes += size;
        list(self).entries.push(entry);
    }

    /// The item as a Tail Worker's side takes it.
    pub(super) fn into_plain(self, names: &Names) -> Plain {
        let (outcome, cpu, wall) = self.outcome.unwrap_or((Outcome::Canceled, Default::default(), Default::default()));
        let event = info_value(&self.info.unwrap_or(EventInfo::Custom), self.head == Head::Whole, self.status);
        object([
            ("wallTime", number(wall.as_millis() as f64)),
            ("cpuTime", number(cpu.as_millis() as f64)),
            ("truncated", Some(Plain::Bool(self.truncated))),
            ("executionModel", text(EXECUTION_MODEL)),
            ("outcome", text(outcome.name())),
            ("entrypoint", names.entrypoint.as_deref().and_then(text)),
            ("channelEvents", Some(Plain::Array(self.channels.entries))),
            ("exceptions", Some(Plain::Array(self.exceptions.entries))),
            ("logs", Some(Plain::Array(self.logs.entries))),
            ("eventTimestamp", number(self.began_ms)),
            ("event", Some(event)),
        ])
    }
}

fn log_value(at_ms: f64, log: &Log) -> Plain {
    object([
        ("errorInfo", errors_value(&log.errors)),
        ("message", text(&log.message)),
        ("level", text(log.level.name())),
        ("timestamp", number(at_ms)),
    ])
}

fn exception_value(at_ms: f64, error: &ErrorInfo) -> Plain {
    object([
        ("stack", error.stack.as_deref().and_then(text)),
        ("name", text(&error.name)),
        ("message", text(&error.message)),
        ("timestamp", number(at_ms)),
    ])
}

fn channel_value(at_ms: f64, channel: &str, message: Plain) -> Plain {
    object([("message", Some(message)), ("channel", text(channel)), ("timestamp", number(at_ms))])
}
