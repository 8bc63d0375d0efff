//! A placement that does what the test says, when it says so.

use std::sync::{Arc, Mutex};

use loaderd_loader::placement::{
    Invoked, OnInvocationEnd, PlacedEntrypoint, PlacedInvocation, PlacedIsolate, Placement, StartRequest,
};
use loaderd_loader::{HostLimits, LoaderError, LoaderHost};
use loaderd_runtime::channel::InvocationReport;
use loaderd_runtime::isolate::{EntrypointSpec, LoadCode, LoadReport};
use loaderd_runtime::limits::{Cause, Outcome, Usage};
use loaderd_runtime::rpc::{Call, Message, Reply, RpcError};

/// Starts that the loader asked for, in order.
#[derive(Default)]
pub(crate) struct Scripted {
    isolates: Mutex<Vec<Arc<Fake>>>,
    /// Why it starts nothing, while there is a reason.
    refuses: Mutex<Option<LoaderError>>,
}

type OnStarted = Box<dyn FnOnce(Result<LoadReport, LoaderError>) + Send>;
type OnEnd = Box<dyn FnOnce(Cause) + Send>;

/// One isolate that is not there.
pub(crate) struct Fake {
    pub(crate) code: Arc<LoadCode>,
    started: Mutex<Option<OnStarted>>,
    ended: Mutex<Option<OnEnd>>,
    cause: Mutex<Option<Cause>>,
    calls: Mutex<Vec<FakeCall>>,
}

/// A call that reached the isolate.
pub(crate) struct FakeCall {
    pub(crate) method: String,
    pub(crate) spec: EntrypointSpec,
    pub(crate) ended: Arc<Mutex<Option<Cause>>>,
    reply: Option<Reply>,
    on_end: Option<OnInvocationEnd>,
}

impl Scripted {
    /// A placement and a host over it.
    pub(crate) fn host(limits: HostLimits) -> (Arc<Self>, LoaderHost) {
        let placement = Arc::new(Self::default());
        let host = LoaderHost::new(placement.clone(), limits, tokio::runtime::Handle::current());
        (placement, host)
    }

    /// From now on starts are refused at once, or not.
    pub(crate) fn refuse(&self, why: Option<LoaderError>) {
        *self.refuses.lock().expect("no panics") = why;
    }

    pub(crate) fn starts(&self) -> usize {
        self.isolates.lock().expect("no panics").len()
    }

    pub(crate) fn isolate(&self, index: usize) -> Arc<Fake> {
        self.isolates.lock().expect("no panics")[index].clone()
    }
}

impl Placement for Scripted {
    fn start(&self, request: StartRequest) -> Arc<dyn PlacedIsolate> {
        let fake = Arc::new(Fake {
            code: request.code,
            started: Mutex::new(Some(request.on_started)),
            ended: Mutex::new(Some(request.on_end)),
            cause: Mutex::default(),
            calls: Mutex::default(),
        });
        self.isolates.lock().expect("no panics").push(fake.clone());
        let refused = self.refuses.lock().expect("no panics").clone();
        if let Some(why) = refused {
            fake.start(Err(why));
            fake.gone();
        }
        fake_handle(fake)
    }
}

/// The handle the loader holds, so that tests can tell the fake from it.
fn fake_handle(fake: Arc<Fake>) -> Arc<dyn PlacedIsolate> {
    Arc::new(Handle(fake))
}

struct Handle(Arc<Fake>);

impl PlacedIsolate for Handle {
    fn entrypoint(&self, spec: EntrypointSpec) -> Arc<dyn PlacedEntrypoint> {
        Arc::new(FakeEntrypoint { isolate: self.0.clone(), spec })
    }

    fn end(&self, cause: Cause) {
        self.0.condemn(cause);
    }

    fn ended(&self) -> Option<Cause> {
        *self.0.cause.lock().expect("no panics")
    }
}

impl Fake {
    pub(crate) fn start(&self, result: Result<LoadReport, LoaderError>) {
        let started = self.started.lock().expect("no panics").take().expect("started once");
        started(result);
    }

    /// Marks it as ended, as the real one is from the moment a limit is met, and nothing more.
    pub(crate) fn condemn(&self, cause: Cause) {
        self.cause.lock().expect("no panics").get_or_insert(cause);
    }

    pub(crate) fn cause(&self) -> Option<Cause> {
        *self.cause.lock().expect("no panics")
    }

    /// Nothing of it is left.
    pub(crate) fn gone(&self) {
        let cause = self.cause().unwrap_or(Cause::Shutdown);
        self.condemn(cause);
        let ended = self.ended.lock().expect("no panics").take().expect("gone once");
        ended(cause);
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        self.calls.lock().expect("no panics").iter().map(|call| call.method.clone()).collect()
    }

    pub(crate) fn spec(&self, index: usize) -> EntrypointSpec {
        self.calls.lock().expect("no panics")[index].spec.clone()
    }

    pub(crate) fn call_ended(&self, index: usize) -> Option<Cause> {
        *self.calls.lock().expect("no panics")[index].ended.lock().expect("no panics")
    }

    /// Answers a call with an empty message and ends its invocation.
    pub(crate) fn answer(&self, index: usize) {
        let (reply, on_end) = {
            let call = &mut self.calls.lock().expect("no panics")[index];
            (call.reply.take().expect("answered once"), call.on_end.take().expect("ended once"))
        };
        reply.send(Ok::<_, RpcError>(Message::default()));
        on_end(InvocationReport { outcome: Outcome::Ok, usage: Usage::default() });
    }
}

struct FakeEntrypoint {
    isolate: Arc<Fake>,
    spec: EntrypointSpec,
}

impl PlacedEntrypoint for FakeEntrypoint {
    fn invoke(&self, call: Call, reply: Reply, on_end: OnInvocationEnd) -> Invoked {
        let ended = Arc::new(Mutex::new(None));
        self.isolate.calls.lock().expect("no panics").push(FakeCall {
            method: call.path.join("."),
            spec: self.spec.clone(),
            ended: ended.clone(),
            reply: Some(reply),
            on_end: Some(on_end),
        });
        Invoked { invocation: Arc::new(FakeInvocation(ended)), pipeline: None }
    }
}

struct FakeInvocation(Arc<Mutex<Option<Cause>>>);

impl PlacedInvocation for FakeInvocation {
    fn end(&self, cause: Cause) {
        self.0.lock().expect("no panics").get_or_insert(cause);
    }
}
