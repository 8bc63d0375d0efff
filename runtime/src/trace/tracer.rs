//! The trace of one invocation while it runs.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::{
    Attribute, EVENT_BYTES_MAX, ErrorInfo, EventInfo, Log, Onset, Origin, SpanId, Trace, TraceEvent, TraceId, Traced,
    prefix,
};
use crate::channel::InvocationReport;
use crate::limits::{Outcome, Usage};

/// Spans that may be open at once in one invocation; what is opened beyond is not traced.
const OPEN_SPANS_MAX: usize = 1024;

/// Bytes of a program's own attributes on one span. What goes over is left out, and the span says so.
const SPAN_BYTES_MAX: usize = 64 << 10;

/// Bytes of a span's name.
const SPAN_NAME_BYTES_MAX: usize = 64;

/// See the module.
pub(crate) struct Tracer {
    trace: Arc<dyn Trace>,
    /// What the invocation belongs to.
    id: TraceId,
    /// The span that caused it.
    parent: Option<SpanId>,
    root: SpanId,
    began: Cell<bool>,
    returned: Cell<bool>,
    /// In the order they were opened.
    open: RefCell<Vec<OpenSpan>>,
}

/// A trace as it can be ended by who is not on its isolate's thread.
pub(crate) struct RootTrace {
    trace: Arc<dyn Trace>,
    root: SpanId,
}

impl RootTrace {
    /// The isolate's thread will not come to end it: says why, and how the invocation ended. Spans that are open stay so.
    pub(crate) fn end(&self, at_ms: f64, message: &str, report: &InvocationReport) {
        let error = ErrorInfo { name: "Error".into(), message: message.into(), stack: None };
        let outcome = Traced::Outcome { outcome: report.outcome, cpu: report.usage.cpu, wall: report.usage.wall };
        for what in [Traced::Exception(error), outcome] {
            self.trace.event(TraceEvent { at_ms, span: Some(self.root), what });
        }
    }
}

struct OpenSpan {
    id: SpanId,
    attributes: Vec<(String, Attribute)>,
    bytes: usize,
}

impl Tracer {
    pub(crate) fn new(trace: Arc<dyn Trace>, origin: Origin) -> Self {
        let (id, parent) = origin.span.unzip();
        Self {
            trace,
            id: id.unwrap_or_else(TraceId::random),
            parent,
            root: SpanId::random(),
            began: Cell::new(false),
            returned: Cell::new(false),
            open: RefCell::default(),
        }
    }

    /// The trace, for whoever may have to end it from outside.
    pub(crate) fn root(&self) -> RootTrace {
        RootTrace { trace: self.trace.clone(), root: self.root }
    }

    fn send(&self, at_ms: f64, span: Option<SpanId>, what: Traced) {
        if !self.began.replace(true) && !matches!(what, Traced::Onset(_)) {
            // It never came to the point where its kind is known.
            self.onset(at_ms, EventInfo::Custom);
        }
        self.trace.event(TraceEvent { at_ms, span, what });
    }

    /// Says what started the invocation. Only the first time counts.
    pub(crate) fn begin(&self, at_ms: f64, info: EventInfo) {
        if !self.began.replace(true) {
            self.onset(at_ms, info);
        }
    }

    fn onset(&self, at_ms: f64, info: EventInfo) {
        let onset = Onset { trace: self.id, invocation: TraceId::random(), span: self.root, info };
        self.trace.event(TraceEvent { at_ms, span: self.parent, what: Traced::Onset(onset) });
    }

    /// `span` is the one the program is in; `None` is the invocation's own.
    pub(crate) fn log(&self, at_ms: f64, span: Option<SpanId>, log: Log) {
        self.send(at_ms, self.within(span), Traced::Log(log));
    }

    pub(crate) fn exception(&self, at_ms: f64, span: Option<SpanId>, error: ErrorInfo) {
        self.send(at_ms, self.within(span), Traced::Exception(error));
    }

    pub(crate) fn diagnostic(&self, at_ms: f64, span: Option<SpanId>, channel: String, message: bytes::Bytes) {
        self.send(at_ms, self.within(span), Traced::DiagnosticChannel { channel, message });
    }

    /// Attributes of the invocation itself.
    pub(crate) fn attributes(&self, at_ms: f64, attributes: Vec<(String, Attribute)>) {
        self.send(at_ms, Some(self.root), Traced::Attributes(attributes));
    }

    /// The handler returned. Only the first time counts.
    pub(crate) fn returned(&self, at_ms: f64, status: Option<u16>) {
        if !self.returned.replace(true) {
            self.send(at_ms, Some(self.root), Traced::Return { status });
        }
    }

    /// What a call belongs to that is made in `span`.
    pub(crate) fn context(&self, span: Option<SpanId>) -> (TraceId, SpanId) {
        (self.id, span.filter(|span| self.is_open(*span)).unwrap_or(self.root))
    }

    fn within(&self, span: Option<SpanId>) -> Option<SpanId> {
        Some(self.context(span).1)
    }

    /// Opens a span. `None`: it is not traced.
    pub(crate) fn open_span(&self, at_ms: f64, parent: Option<SpanId>, name: &str) -> Option<SpanId> {
        if !self.trace.wants_spans() || self.open.borrow().len() >= OPEN_SPANS_MAX {
            return None;
        }
        let (id, around) = (SpanId::random(), self.within(parent));
        self.open.borrow_mut().push(OpenSpan { id, attributes: Vec::new(), bytes: 0 });
        let name = prefix(name, SPAN_NAME_BYTES_MAX).to_owned();
        self.send(at_ms, around, Traced::SpanOpen { id, name });
        Some(id)
    }

    pub(crate) fn is_open(&self, span: SpanId) -> bool {
        self.open.borrow().iter().any(|open| open.id == span)
    }

    /// Sets an attribute of an open span; of another, nothing happens.
    pub(crate) fn set_attribute(&self, span: SpanId, key: String, value: Attribute) {
        let mut open = self.open.borrow_mut();
        let Some(span) = open.iter_mut().find(|open| open.id == span) else { return };
        if span.bytes > SPAN_BYTES_MAX {
            return;
        }
        span.bytes = span.bytes.saturating_add(key.len() + value.size());
        if span.bytes <= SPAN_BYTES_MAX {
            return span.set(key, value);
        }
        let shown = match key.len() {
            0..=64 => format!("\"{key}\""),
            length => format!("\"{}...\" (key length {length})", prefix(&key, 64)),
        };
        let message =
            format!("exceeded span data limit while trying to record attribute {shown} of size {}", value.size());
        span.set("cloudflare.warning.type".into(), Attribute::Text("span_data_limit_exceeded".into()));
        span.set("cloudflare.warning.message".into(), Attribute::Text(message));
    }

    pub(crate) fn close_span(&self, at_ms: f64, span: SpanId) {
        let found = {
            let mut open = self.open.borrow_mut();
            open.iter().position(|open| open.id == span).map(|at| open.remove(at))
        };
        let Some(OpenSpan { id, attributes, .. }) = found else { return };
        let bytes: usize = attributes.iter().map(|(key, value)| key.len() + value.size()).sum();
        if !attributes.is_empty() && bytes <= EVENT_BYTES_MAX {
            self.send(at_ms, Some(id), Traced::Attributes(attributes));
        }
        self.send(at_ms, Some(id), Traced::SpanClose);
    }

    fn innermost(&self) -> Option<SpanId> {
        self.open.borrow().last().map(|open| open.id)
    }

    /// Nothing is left of the invocation. Spans that are still open end with it.
    pub(crate) fn end(&self, at_ms: f64, outcome: Outcome, usage: Usage) {
        while let Some(span) = self.innermost() {
            self.close_span(at_ms, span);
        }
        let what = Traced::Outcome { outcome, cpu: usage.cpu, wall: usage.wall };
        self.send(at_ms, Some(self.root), what);
    }
}

impl OpenSpan {
    fn set(&mut self, key: String, value: Attribute) {
        match self.attributes.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((key, value)),
        }
    }
}
