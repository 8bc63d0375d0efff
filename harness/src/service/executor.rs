//! The `CodeExecutor` of one connection.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use futures::future::join;
use loaderd_schema::executor_capnp as schema;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::bounds::ServiceBounds;
use super::flow::Flow;
use super::write::Refusal;
use super::{host, read, write};
use crate::executor::CodeExecutor;
use crate::host::NoHost;
use crate::request::CodeExecutionRequest;

/// Serves one connection, on its thread.
pub(super) struct Server {
    executor: CodeExecutor,
    bounds: Rc<ServiceBounds>,
    flow: Rc<Flow>,
    /// Set when the service is told to stop.
    stopping: CancellationToken,
    passes: Rc<Passes>,
}

/// The passes in flight on one connection.
#[derive(Default)]
pub(super) struct Passes {
    count: Cell<u32>,
    ended: Notify,
}

impl Passes {
    /// Resolves when none is in flight.
    pub(super) async fn idle(&self) {
        while self.count.get() > 0 {
            self.ended.notified().await;
        }
    }

    fn begin(self: &Rc<Self>, bound: u32) -> Result<PassInFlight, Refusal> {
        if self.count.get() >= bound {
            return Err(Refusal::TooManyPasses(bound));
        }
        self.count.set(self.count.get() + 1);
        Ok(PassInFlight(self.clone()))
    }
}

/// Counts as a pass in flight until it is dropped.
struct PassInFlight(Rc<Passes>);

impl Drop for PassInFlight {
    fn drop(&mut self) {
        self.0.count.set(self.0.count.get() - 1);
        self.0.ended.notify_one();
    }
}

impl Server {
    pub(super) fn new(
        executor: CodeExecutor,
        bounds: Rc<ServiceBounds>,
        flow: Rc<Flow>,
        stopping: CancellationToken,
    ) -> Self {
        Self { executor, bounds, flow, stopping, passes: Rc::default() }
    }

    pub(super) fn passes(&self) -> Rc<Passes> {
        self.passes.clone()
    }

    fn admit(
        &self,
        request: schema::code_execution_request::Reader<'_>,
    ) -> Result<(CodeExecutionRequest, CodeExecutor, PassInFlight), Refusal> {
        if self.stopping.is_cancelled() {
            return Err(Refusal::ShuttingDown);
        }
        if request.get_protocol_version() != schema::PROTOCOL_VERSION {
            return Err(Refusal::UnsupportedProtocolVersion);
        }
        let pass = self.passes.begin(self.bounds.passes_in_flight_max)?;
        let executor = match read::tenant(request).map_err(Refusal::InvalidRequest)? {
            Some(tenant) => self.executor.for_tenant(tenant),
            None => self.executor.clone(),
        };
        let request = read::request(request).map_err(Refusal::InvalidRequest)?;
        Ok((request, executor, pass))
    }
}

impl schema::code_executor::Server for Server {
    async fn execute(
        self: Rc<Self>,
        params: schema::code_executor::ExecuteParams,
        mut results: schema::code_executor::ExecuteResults,
    ) -> Result<(), capnp::Error> {
        let given = params.get()?;
        let (request, executor, pass) = match self.admit(given.get_request()?) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                write::refusal(results.get().init_outcome(), &refusal);
                return Ok(());
            }
        };
        let client = if given.has_host() { Some(given.get_host()?) } else { None };
        // The message holds the source a second time; the pass may take long.
        drop(params);
        let outcome = match client {
            None => executor.execute(request, Arc::new(NoHost)).await,
            Some(client) => {
                let (host, driver) = host::remote(client, self.flow.clone());
                let (outcome, ()) = join(executor.execute(request, Arc::new(host)), driver).await;
                outcome
            }
        };
        write::outcome(results.get().init_outcome(), &outcome);
        drop(pass);
        Ok(())
    }

    async fn describe(
        self: Rc<Self>,
        _params: schema::code_executor::DescribeParams,
        mut results: schema::code_executor::DescribeResults,
    ) -> Result<(), capnp::Error> {
        write::description(results.get().init_description(), self.executor.implementation(), &self.bounds);
        Ok(())
    }
}
