//! Tail Workers: what an invocation told of itself, brought to the services that asked for it.
//!
//! | File | Owns |
//! |---|---|
//! | `mod` | which tails hear of an invocation, and that none of them can hold it up |
//! | `item` | the trace of an invocation as one item, for `tail(events)` |
//! | `stream` | its events one after the other, for `tailStream(event)` |
//! | `encode` | events as the values a Tail Worker gets |
//!
//! A tail is called like any service. Whether it answers, fails or sleeps is its own affair: what waits for it is bounded,
//! and what goes over is dropped.

mod encode;
mod item;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Capability, Op, Reply};
use loaderd_runtime::trace::{Origin, Trace, TraceEvent, TraceSink, TraceStart, Traced};
use parking_lot::Mutex;
use tokio::sync::watch;

use encode::Names;
use item::Item;
use stream::Stream;

/// Traces on their way to one tail that it has not answered yet. Over it they are dropped.
pub const DELIVERIES_MAX: usize = 256;

/// How far traces of deliveries of traces go. Two Workers may be each other's tails, or call one another from theirs; what
/// they do about the trace of a trace, so many times over, is nobody's to hear.
pub const TAIL_DEPTH_MAX: u8 = 4;

/// An entrypoint of this name is for tests of the platform; nobody hears of its invocations.
const UNTRACED: &str = "test";

/// A service that hears of invocations.
#[derive(Clone)]
pub struct Tail {
    service: Arc<dyn Capability>,
    relation: Relation,
    /// Traces it has not answered yet.
    waiting: Arc<AtomicUsize>,
}

/// Whether a Worker's tail is that Worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Itself: it hears of all it does, except of hearing.
    Own,
    Other,
}

impl Tail {
    #[must_use]
    pub fn new(service: Arc<dyn Capability>, relation: Relation) -> Self {
        Self { service, relation, waiting: Arc::default() }
    }
}

/// The tails of one Worker.
pub struct Tails {
    items: Vec<Tail>,
    streams: Vec<Tail>,
    activity: Activity,
}

impl Tails {
    /// `None` when there are none.
    #[must_use]
    pub fn sink(items: Vec<Tail>, streams: Vec<Tail>, activity: Activity) -> Option<Arc<dyn TraceSink>> {
        let none = items.is_empty() && streams.is_empty();
        (!none).then(|| Arc::new(Self { items, streams, activity }) as Arc<dyn TraceSink>)
    }
}

impl TraceSink for Tails {
    fn begin(&self, start: &TraceStart) -> Option<Arc<dyn Trace>> {
        if start.entrypoint.as_deref() == Some(UNTRACED) {
            return None;
        }
        let hears = |tail: &&Tail| !(start.delivers_trace && tail.relation == Relation::Own);
        if start.origin.tail_depth >= TAIL_DEPTH_MAX {
            return None;
        }
        let items: Vec<_> = self.items.iter().filter(hears).cloned().collect();
        let streams: Vec<_> = self.streams.iter().filter(hears).cloned().collect();
        if items.is_empty() && streams.is_empty() {
            return None;
        }
        let names = Names { entrypoint: start.entrypoint.clone() };
        let origin = Origin { span: None, tail_depth: start.origin.tail_depth + 1 };
        Some(Arc::new(OpenTrace {
            item: Mutex::new((!items.is_empty()).then(Item::default)),
            items,
            streams: streams.into_iter().map(|tail| Stream::new(tail.service, origin, self.activity.clone())).collect(),
            origin,
            names,
            onset: Mutex::new(None),
            sequence: AtomicU64::new(0),
            activity: self.activity.clone(),
            open: Mutex::new(Some(self.activity.begin())),
        }))
    }
}

/// The trace of an invocation that is running.
struct OpenTrace {
    /// Who gets the item.
    items: Vec<Tail>,
    item: Mutex<Option<Item>>,
    streams: Vec<Arc<Stream>>,
    /// Of what it is delivered with.
    origin: Origin,
    names: Names,
    onset: Mutex<Option<encode::Ids>>,
    sequence: AtomicU64,
    activity: Activity,
    open: Mutex<Option<Busy>>,
}

impl Trace for OpenTrace {
    fn wants_spans(&self) -> bool {
        !self.streams.is_empty()
    }

    fn event(&self, event: TraceEvent) {
        if let Traced::Onset(onset) = &event.what {
            *self.onset.lock() = Some(encode::Ids::of(onset));
        }
        if !self.streams.is_empty()
            && let Some(ids) = *self.onset.lock()
            && let Some(streamed) = encode::streamed(ids, &self.names, &event)
        {
            let sequence = self.sequence.fetch_add(1, Ordering::Relaxed);
            for stream in &self.streams {
                stream.push(&streamed, sequence);
            }
        }
        let is_outcome = matches!(event.what, Traced::Outcome { .. });
        if let Some(item) = &mut *self.item.lock() {
            item.add(event);
        }
        if is_outcome {
            self.deliver();
            self.open.lock().take();
        }
    }
}

impl OpenTrace {
    fn deliver(&self) {
        let Some(item) = self.item.lock().take() else { return };
        let item = item.into_plain(&self.names);
        for tail in &self.items {
            if tail.waiting.fetch_add(1, Ordering::Relaxed) >= DELIVERIES_MAX {
                tail.waiting.fetch_sub(1, Ordering::Relaxed);
                tracing::warn!("a Tail Worker does not keep up; a trace was dropped");
                continue;
            }
            let Ok(arguments) = Plain::arguments(vec![Plain::Array(vec![item.clone()])]) else { continue };
            let (waiting, busy) = (Arc::clone(&tail.waiting), self.activity.begin());
            let reply = Reply::new(move |_| {
                waiting.fetch_sub(1, Ordering::Relaxed);
                drop(busy);
            });
            let call = Call { path: vec!["tail".to_owned()], op: Op::Event(arguments), origin: self.origin };
            // Nothing is asked of its result.
            drop(tail.service.call(call, reply));
        }
    }
}

/// How many traces are open or on their way. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Activity(Arc<watch::Sender<usize>>);

/// Counts as one trace for as long as it lives.
#[derive(Debug)]
pub struct Busy(Arc<watch::Sender<usize>>);

impl Default for Activity {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }
}

impl Activity {
    fn begin(&self) -> Busy {
        self.0.send_modify(|count| *count += 1);
        Busy(Arc::clone(&self.0))
    }

    /// Completes when no trace is open and none on its way, at the latest after `at_most`. May be dropped.
    pub async fn settled(&self, at_most: Duration) {
        let mut count = self.0.subscribe();
        // The sender is here, so only time can end this early.
        let _early = tokio::time::timeout(at_most, count.wait_for(|count| *count == 0)).await;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
