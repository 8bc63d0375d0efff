//! A service on a socket of its own, and a Cap'n Proto client of it.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, twoparty};
use futures::AsyncReadExt;
use loaderd_harness::service::{self, ListenAddress, Listener, ServiceBounds};
use loaderd_schema::executor_capnp::{self as schema, code_executor, pass_host, pass_outcome};
use tokio::net::UnixStream;
use tokio::sync::{Notify, oneshot, watch};
use tokio::task::{JoinHandle, LocalSet};
use tokio_util::compat::TokioAsyncReadCompatExt;

use crate::fake;

/// Runs a test on a thread that Cap'n Proto's objects may live on.
pub(crate) fn on_one_thread(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    LocalSet::new().block_on(&runtime, test);
}

/// A running service.
pub(crate) struct Service {
    pub(crate) path: PathBuf,
    /// Workers loaded now.
    pub(crate) alive: watch::Receiver<usize>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<std::io::Result<()>>,
}

impl Service {
    pub(crate) async fn start(bounds: ServiceBounds) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("loaderd-it-{}-{}.sock", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        let listener = Listener::bind(&ListenAddress::Unix(path.clone())).await.expect("a socket");
        let (executor, alive) = fake::executor();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::task::spawn_local(service::serve(executor, bounds, listener, async move {
            // A dropped sender stops it as well.
            let _ = stopped.await;
        }));
        Self { path, alive, stop: Some(stop), serving }
    }

    /// Tells it to stop, without waiting.
    pub(crate) fn tell_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until it has stopped.
    pub(crate) async fn stopped(mut self) {
        self.tell_to_stop();
        self.serving.await.expect("no panic").expect("no error");
    }

    /// Waits until so many Workers are loaded.
    pub(crate) async fn alive(&mut self, count: usize) {
        self.alive.wait_for(|alive| *alive == count).await.expect("the service is there");
    }

    pub(crate) async fn socket(&self) -> UnixStream {
        UnixStream::connect(&self.path).await.expect("a connection")
    }

    pub(crate) async fn connect(&self) -> Connection {
        Connection::over(self.socket().await)
    }
}

/// A connection. Dropping it closes the socket.
pub(crate) struct Connection {
    pub(crate) executor: code_executor::Client,
    pub(crate) system: JoinHandle<Result<(), capnp::Error>>,
}

impl Connection {
    fn over(stream: UnixStream) -> Self {
        let (input, output) = stream.compat().split();
        let network = twoparty::VatNetwork::new(input, output, Side::Client, Default::default());
        let mut system = RpcSystem::new(Box::new(network), None);
        let executor = system.bootstrap(Side::Server);
        Self { executor, system: tokio::task::spawn_local(system) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.system.abort();
    }
}

/// What a test's host does with its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    Answer,
    AnswerWhatIsNoJson,
    Fail,
    Vanish,
    Never,
}

/// A host that notes what happens to it.
pub(crate) struct Host {
    does: Does,
    pub(crate) calls: RefCell<Vec<String>>,
    pub(crate) called: Notify,
    pub(crate) dropped: Notify,
}

impl Host {
    pub(crate) fn new(does: Does) -> Rc<Self> {
        Rc::new(Self { does, calls: RefCell::default(), called: Notify::new(), dropped: Notify::new() })
    }
}

struct NoteDrop(Rc<Host>);

impl Drop for NoteDrop {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

impl pass_host::Server for Host {
    async fn call(
        self: Rc<Self>,
        params: pass_host::CallParams,
        mut results: pass_host::CallResults,
    ) -> Result<(), capnp::Error> {
        let call = params.get()?.get_call()?;
        let method = call.get_method()?.to_string()?;
        let text = format!("{}.{method} {}", call.get_namespace()?.to_str()?, call.get_argument()?.to_str()?);
        self.calls.borrow_mut().push(text);
        self.called.notify_one();
        if method == "forget" {
            let _note = NoteDrop(self.clone());
            return std::future::pending().await;
        }
        match self.does {
            Does::Answer => results.get().init_outcome().set_success(r#"{ "done": 1e999, "done": 1.0 }"#),
            Does::AnswerWhatIsNoJson => results.get().init_outcome().set_success("NaN"),
            Does::Fail => return Err(capnp::Error::failed("out of order".to_owned())),
            Does::Vanish => return Err(capnp::Error::disconnected("gone".to_owned())),
            Does::Never => {
                let _note = NoteDrop(self.clone());
                return std::future::pending().await;
            }
        }
        Ok(())
    }
}

/// A request for a program, not yet sent.
pub(crate) fn request(
    executor: &code_executor::Client,
    source: &str,
    host: Option<&Rc<Host>>,
) -> capnp::capability::Request<code_executor::execute_params::Owned, code_executor::execute_results::Owned> {
    let mut call = executor.execute_request();
    if let Some(host) = host {
        call.get().set_host(capnp_rpc::new_client_from_rc(host.clone()));
    }
    let mut request = call.get().init_request();
    request.set_protocol_version(schema::PROTOCOL_VERSION);
    request.set_source(source);
    let mut limits = request.init_limits();
    limits.set_source_bytes(1 << 20);
    limits.set_wall_time(3_600_000_000_000);
    limits.set_log_bytes(1024);
    limits.set_result_bytes(1024);
    limits.set_host_calls(8);
    limits.set_host_call_argument_bytes(1024);
    limits.set_host_call_result_bytes(1024);
    call
}

/// Runs a program and says what came of it: `success VALUE`, the contract's error, or why there is neither.
pub(crate) async fn execute(executor: &code_executor::Client, source: &str, host: Option<&Rc<Host>>) -> String {
    match request(executor, source, host).send().promise.await {
        Ok(answer) => answer.get().and_then(|answer| answer.get_outcome()).and_then(read).expect("an outcome"),
        Err(error) => format!("exception: {}", error.extra),
    }
}

pub(crate) fn read(outcome: pass_outcome::Reader<'_>) -> Result<String, capnp::Error> {
    use pass_outcome::Which;
    Ok(match outcome.which()? {
        Which::Success(result) => format!("success {}", result?.get_value()?.to_str()?),
        Which::Failure(error) => match error?.which()? {
            schema::code_execution_error::Which::Protocol(error) => {
                format!("protocol error: {}", error?.get_message()?.to_str()?)
            }
            _ => "another error".to_owned(),
        },
        Which::HostDefect(defect) => {
            let defect = defect?;
            format!("host defect {:?}: {}", defect.get_kind()?, defect.get_message()?.to_str()?)
        }
        Which::HostInterrupted(()) => "host interrupted".to_owned(),
        Which::Refused(refusal) => match refusal?.which()? {
            schema::refusal::Which::UnsupportedProtocolVersion(version) => format!("refused: we speak {version}"),
            schema::refusal::Which::InvalidRequest(invalid) => {
                let invalid = invalid?;
                format!("refused: {} {}", invalid.get_field()?.to_str()?, invalid.get_message()?.to_str()?)
            }
            schema::refusal::Which::TooManyPasses(bound) => format!("refused: {bound} in flight"),
            schema::refusal::Which::ShuttingDown(()) => "refused: shutting down".to_owned(),
        },
    })
}
