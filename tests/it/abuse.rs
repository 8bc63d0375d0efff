//! Every program of the abuse corpus, in both modes, beside a healthy neighbour.
//!
//! Each runs against a service of its own: what it leaves behind (a thread that does not stop) harms no other test.

use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;

use crate::admin;
use crate::case::{self, Case, InProcess};
use crate::doors::capnp::{Connection, block_on};
use crate::healthy;
use crate::service::{Mode, Service};

pub(crate) const FILES: [&str; 8] = ["loops", "deaf", "memory", "stack", "escapes", "protocol", "web", "again"];

/// How long a thread may need to come out of a builtin after its program's end, where the case does not say that it can
/// only be abandoned. A bound against hanging tests, not an expectation.
const STOP_WAIT: Duration = Duration::from_secs(300);

/// Whether a mode is one that this program may be run in. In-process mode cannot hold programs at which V8 gives up, as
/// SECURITY.md says.
pub(crate) fn holds(mode: Mode, case: &Case) -> bool {
    mode == Mode::Process || case.in_process != InProcess::Aborts
}

pub(crate) fn trials() -> Vec<Trial> {
    let families = FILES.iter().map(|file| case::load("abuse", file));
    let cases =
        families.flat_map(|family| family.cases.into_iter().map(move |case| (family.letter.clone(), Arc::new(case))));
    cases
        .flat_map(|(family, case)| {
            Mode::ALL.into_iter().filter(|mode| holds(*mode, &case)).collect::<Vec<_>>().into_iter().map(move |mode| {
                let case = Arc::clone(&case);
                let name = format!("abuse::{family}::{}::{}", case.id, mode.name());
                Trial::test(name, move || run(&case, mode).map_err(Into::into))
            })
        })
        .collect()
}

fn run(case: &Case, mode: Mode) -> Result<(), String> {
    let service = Service::start(&[&mode.arguments()[..], &["--admin", "0"]].concat())?;
    let result = block_on(beside_neighbour(&service, case));
    if !service.runs() {
        return Err(format!("{} ended the service: {result:?}", case.id));
    }
    result?;
    if case.in_process == InProcess::Abandoned && mode == Mode::InProcess {
        return Ok(());
    }
    admin::until(&service, STOP_WAIT, &["loaderd_threads_stuck 0"])
}

/// Runs the program while a neighbour, on a connection of its own, runs one healthy pass after another; and one more
/// when the program has ended. Every one of them succeeds: two passes do not share a sandbox process while there may be
/// more processes.
async fn beside_neighbour(service: &Service, case: &Case) -> Result<(), String> {
    let (hostile, neighbour) = (Connection::open(service).await?, Connection::open(service).await?);
    let healthy = healthy::case();
    let beside = async {
        loop {
            healthy::checked(&neighbour, &healthy).await?;
        }
    };
    // The neighbour's first pass is under way when the program starts.
    let result = tokio::select! {
        biased;
        harmed = beside => harmed,
        result = healthy::checked(&hostile, case) => result,
    };
    result?;
    healthy::checked(&neighbour, &healthy).await?;
    healthy::checked(&hostile, &healthy).await
}
