//! A client's host, as passes see it. Cap'n Proto's objects stay on their thread, a [`PassHost`] may be called from
//! any, so calls go through a queue to a driver on the connection's thread.

use std::rc::Rc;

use capnp::{Error, ErrorKind};
use futures::StreamExt;
use futures::channel::{mpsc, oneshot};
use futures::stream::FuturesUnordered;
use loaderd_schema::executor_capnp::{code_host_call_outcome, pass_host};

use super::flow::Flow;
use crate::host::{CodeHostCall, CodeHostCallOutcome, HostCallFuture, HostDefect, HostDefectKind, HostEnd, PassHost};
use crate::json::Json;

type Answer = Result<CodeHostCallOutcome, HostEnd>;

/// The end that a pass holds. The queue is bounded by the calls a pass has running at once.
pub(super) struct RemoteHost(mpsc::UnboundedSender<(CodeHostCall, oneshot::Sender<Answer>)>);

/// A host for one pass, and the driver that must be polled while the pass runs. The driver ends when the host is
/// dropped, after it has dropped every call to the client that was still in flight.
pub(super) fn remote(client: pass_host::Client, flow: Rc<Flow>) -> (RemoteHost, impl Future<Output = ()>) {
    let (sender, mut receiver) = mpsc::unbounded();
    let driver = async move {
        let mut calls = FuturesUnordered::new();
        loop {
            futures::select_biased! {
                () = calls.select_next_some() => {}
                queued = receiver.next() => match queued {
                    Some((call, answer)) => calls.push(forward(client.clone(), flow.clone(), call, answer)),
                    None => break,
                },
            }
        }
    };
    (RemoteHost(sender), driver)
}

impl PassHost for RemoteHost {
    fn call(&self, call: CodeHostCall) -> HostCallFuture<'_> {
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            let gone = || defect(HostDefectKind::Disconnected, "the connection to the host is closed");
            self.0.unbounded_send((call, sender)).map_err(|_| gone())?;
            receiver.await.unwrap_or_else(|_| Err(gone()))
        })
    }
}

/// Calls the client until it answers or nobody waits any more.
async fn forward(client: pass_host::Client, flow: Rc<Flow>, call: CodeHostCall, mut answer: oneshot::Sender<Answer>) {
    let answered = {
        let calling = std::pin::pin!(ask(&client, &flow, &call));
        match futures::future::select(calling, answer.cancellation()).await {
            futures::future::Either::Left((answered, _)) => answered,
            futures::future::Either::Right(_) => return,
        }
    };
    // Whether the pass still waits is its own affair.
    drop(answer.send(answered));
}

async fn ask(client: &pass_host::Client, flow: &Flow, call: &CodeHostCall) -> Answer {
    flow.has_room().await;
    let mut request = client.call_request();
    let mut to = request.get().init_call();
    to.set_namespace(call.namespace.as_str());
    to.set_method(call.method.as_str());
    to.set_argument(call.argument.as_str());
    let response = request.send().promise.await.map_err(|error| of_exception(&error))?;
    let outcome = response.get().and_then(|results| results.get_outcome());
    Ok(outcome.ok().and_then(read).unwrap_or(CodeHostCallOutcome::OutsideSchema))
}

/// `None`: the outcome is outside its schema, be it the union or the text in it.
fn read(outcome: code_host_call_outcome::Reader<'_>) -> Option<CodeHostCallOutcome> {
    use code_host_call_outcome::Which;
    let json = |text: capnp::Result<capnp::text::Reader<'_>>| Json::parse(text.ok()?.to_str().ok()?).ok();
    match outcome.which().ok()? {
        Which::Success(value) => json(value).map(CodeHostCallOutcome::Success),
        Which::Failure(error) => json(error).map(CodeHostCallOutcome::Failure),
    }
}

fn of_exception(error: &Error) -> HostEnd {
    let kind = match error.kind {
        ErrorKind::Disconnected => HostDefectKind::Disconnected,
        ErrorKind::Overloaded => HostDefectKind::Overloaded,
        ErrorKind::Unimplemented => HostDefectKind::Unimplemented,
        _ => HostDefectKind::Failed,
    };
    defect(kind, &error.extra)
}

fn defect(kind: HostDefectKind, message: &str) -> HostEnd {
    HostDefect { kind, message: message.to_owned() }.into()
}
