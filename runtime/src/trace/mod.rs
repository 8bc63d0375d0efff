//! What an invocation tells of itself while it runs: the events of one trace, and the traits through which they leave.
//!
//! | File | Owns |
//! |---|---|
//! | `mod` | events and sinks, as the rest of the program sees them |
//! | `ids` | the ids of traces, invocations and spans |
//! | `redact` | what is left out of URLs and headers |
//! | `tracer` | the trace of one invocation, on its isolate's thread |
//!
//! Nothing is collected, and no event made, for an invocation that no sink wants.

mod ids;
pub(crate) mod redact;
pub(crate) mod tracer;

use std::sync::Arc;
use std::time::Duration;

pub use ids::{SpanId, TraceId};

use crate::channel::ConsoleLevel;
use crate::limits::Outcome;

/// The most bytes of text one event carries; what is longer is cut, or left out where a part makes no sense.
pub const EVENT_BYTES_MAX: usize = 256 << 10;

/// Receives the traces of one Worker. Called on its isolate's thread; must not block.
pub trait TraceSink: Send + Sync {
    /// An invocation begins. `None`: nobody wants to hear of it.
    fn begin(&self, start: &TraceStart) -> Option<Arc<dyn Trace>>;
}

/// An invocation that is about to begin.
#[derive(Clone, Debug)]
pub struct TraceStart {
    /// The entrypoint's name; `None` is the default one.
    pub entrypoint: Option<String>,
    /// It delivers the trace of another invocation, so that whoever tails itself can stop there.
    pub delivers_trace: bool,
    /// What led to it.
    pub origin: Origin,
}

/// What led to a call, as far as traces are concerned. Programs neither see nor choose it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The trace that the call belongs to, and the span that it was made in. `None`: a trace begins with it.
    pub span: Option<(TraceId, SpanId)>,
    /// How many deliveries of traces led to it, each of them of a trace of what the one before led to.
    pub tail_depth: u8,
}

/// The trace of one invocation. Its first event is an onset and its last one an outcome. Called on the isolate's thread or,
/// where that ignores its end, for the last events on the watchdog's; must not block.
pub trait Trace: Send + Sync {
    /// Whether it has a use for spans.
    fn wants_spans(&self) -> bool;

    /// The next event.
    fn event(&self, event: TraceEvent);
}

/// Something that happened in an invocation.
#[derive(Clone, Debug)]
pub struct TraceEvent {
    /// Ms since the epoch, as the program sees time.
    pub at_ms: f64,
    /// The span it happened in; for what opens a span, the span around it. `None`: there is none around it.
    pub span: Option<SpanId>,
    pub what: Traced,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Traced {
    Onset(Onset),
    Log(Log),
    Exception(ErrorInfo),
    DiagnosticChannel {
        channel: String,
        /// A value in V8's structured-clone format.
        message: bytes::Bytes,
    },
    SpanOpen {
        id: SpanId,
        name: String,
    },
    Attributes(Vec<(String, Attribute)>),
    SpanClose,
    /// The handler returned; for a fetch with the response's status.
    Return {
        status: Option<u16>,
    },
    Outcome {
        outcome: Outcome,
        cpu: Duration,
        wall: Duration,
    },
}

/// How a trace begins.
#[derive(Clone, Debug)]
pub struct Onset {
    pub trace: TraceId,
    pub invocation: TraceId,
    /// The span of the whole invocation.
    pub span: SpanId,
    pub info: EventInfo,
}

/// What an invocation was started by.
#[derive(Clone, Debug)]
pub enum EventInfo {
    Fetch {
        method: String,
        url: String,
        /// Sorted by name.
        headers: Vec<(String, String)>,
        /// JSON.
        cf: Option<String>,
    },
    Connect,
    JsRpc {
        method: String,
    },
    Scheduled {
        /// Ms since the epoch.
        time_ms: f64,
        cron: String,
    },
    Alarm {
        /// Ms since the epoch.
        time_ms: f64,
    },
    Queue {
        name: String,
        batch_size: u32,
    },
    /// The traces of other invocations, by their scripts' names.
    Trace {
        scripts: Vec<Option<String>>,
    },
    Custom,
}

/// A line a program wrote to its console.
#[derive(Clone, Debug)]
pub struct Log {
    pub level: ConsoleLevel,
    /// The arguments: a JSON array.
    pub message: String,
    /// By argument, what is known of those that are errors. Empty when none is.
    pub errors: Vec<Option<ErrorInfo>>,
}

/// An error as traces show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorInfo {
    pub name: String,
    pub message: String,
    /// Without the name and message it begins with in JavaScript.
    pub stack: Option<String>,
}

/// The value of a span's attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    Bool(bool),
    Number(f64),
    /// A number of the platform's own, which tails show as a `bigint`.
    Count(u64),
    Text(String),
}

impl Attribute {
    /// Its size as far as bounds are concerned, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Bool(_) | Self::Number(_) | Self::Count(_) => 8,
            Self::Text(text) => text.len(),
        }
    }
}

impl ErrorInfo {
    /// Its size as far as bounds are concerned, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.name.len() + self.message.len() + self.stack.as_ref().map_or(0, String::len)
    }
}

impl EventInfo {
    /// Its size as far as bounds are concerned, in bytes: only a fetch's head counts.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Fetch { url, headers, cf, .. } => {
                let headers: usize = headers.iter().map(|(name, value)| name.len() + value.len()).sum();
                url.len() + headers + cf.as_ref().map_or(0, String::len)
            }
            _ => 0,
        }
    }
}

/// The longest start of a text that has at most `max` bytes.
#[must_use]
pub fn prefix(text: &str, max: usize) -> &str {
    let end = text.len().min(max);
    let end = (0..=end).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}
