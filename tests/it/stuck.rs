//! In-process mode where builtins that ignore their end have too many threads: no more programs are started, and whoever asks
//! is told why.

use std::time::Duration;

use libtest_mimic::Trial;
use loaderd_loader::pool::STUCK_THREADS_MAX;

use crate::admin;
use crate::case::{Case, Expect};
use crate::doors::capnp::{Connection, block_on, pass_on};
use crate::expect;
use crate::healthy;
use crate::json::Json;
use crate::service::{Mode, Service};

/// How long it may take until all threads are counted. A bound against hanging tests, not an expectation.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("stuck::no_more_programs_are_started", || run().map_err(Into::into))]
}

fn run() -> Result<(), String> {
    let service = Service::start(&[&Mode::InProcess.arguments()[..], &["--admin", "0"]].concat())?;
    let healthy = healthy::case();
    let mut deaf = failing(&healthy, &[("_tag", "CodeExecutionTimeoutError"), ("kind", "cpu")]);
    deaf.request.source = "async () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)".to_owned();
    deaf.request.limits.cpu_millis = Some(10);
    let refused =
        failing(&healthy, &[("_tag", "CodeExecutorStartError"), ("messageHas", "Too many threads are stuck")]);
    for stuck in 0..STUCK_THREADS_MAX {
        ready(&service, "HTTP/1.1 200", "ready")?;
        block_on(pass(&service, &healthy))?;
        block_on(pass(&service, &deaf))?;
        admin::until(&service, PATIENCE, &[&format!("loaderd_threads_stuck {}", stuck + 1)])?;
    }
    block_on(pass(&service, &refused))?;
    ready(&service, "HTTP/1.1 503", "too many threads are stuck")
}

/// The same pass, which is to fail like this.
fn failing(case: &Case, with: &[(&str, &str)]) -> Case {
    let keys = with.iter().map(|(key, text)| ((*key).to_owned(), Json::text(text)));
    let mut case = case.clone();
    case.expect = vec![Expect::Failed(keys.collect())];
    case
}

async fn pass(service: &Service, case: &Case) -> Result<(), String> {
    let connection = Connection::open(service).await?;
    let (outcome, _) = pass_on(&connection, case).await?;
    expect::check(case, &outcome)
}

fn ready(service: &Service, status: &str, why: &str) -> Result<(), String> {
    let address = service.admin().ok_or("the service named no admin address")?;
    let answer = admin::ask(&address, "GET /readyz")?;
    if answer.starts_with(status) && answer.contains(why) {
        Ok(())
    } else {
        Err(format!("should be {status}: {answer}"))
    }
}
