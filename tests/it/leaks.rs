//! What passes take, they give back: threads, file descriptors, processes. Counted from outside, in both modes.

use futures::future::try_join_all;
use libtest_mimic::Trial;

use crate::case;
use crate::doors::capnp::{Connection, block_on, pass_on};
use crate::expect::Outcome;
use crate::healthy;
use crate::proc;
use crate::service::{Mode, Service};

/// Passes one after another.
const IN_A_ROW: usize = 1_000;
/// Passes at the same time, over several connections since one has a bound.
const AT_ONCE: usize = 50;
const CONNECTIONS: usize = 10;

type Check = fn(Mode) -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let tests: Vec<(&str, Check)> = vec![
        ("a_thousand_passes_in_a_row", |mode| with_service(mode, in_a_row)),
        ("fifty_passes_at_once", |mode| with_service(mode, at_once)),
        ("clients_that_vanish_mid_pass", |mode| with_service(mode, vanishing)),
    ];
    tests
        .into_iter()
        .flat_map(|(name, test)| {
            Mode::ALL.map(|mode| {
                Trial::test(format!("leaks::{name}::{}", mode.name()), move || test(mode).map_err(Into::into))
            })
        })
        .collect()
}

fn with_service(mode: Mode, test: fn(&Service) -> Result<(), String>) -> Result<(), String> {
    let service = Service::start(&mode.arguments())?;
    // Whatever is started once, on first use, is started now.
    at_once(&service).or_else(|_| at_once(&service))?;
    let before = proc::at_rest(service.pid())?;
    test(&service)?;
    let after = proc::at_rest(service.pid())?;
    proc::settles(service.pid(), &before.with_processes_of(&after)?)
}

fn in_a_row(service: &Service) -> Result<(), String> {
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(service).await?;
        for _ in 0..IN_A_ROW {
            healthy::checked(&connection, &healthy).await?;
        }
        Ok(())
    })
}

fn at_once(service: &Service) -> Result<(), String> {
    let healthy = healthy::case();
    block_on(async {
        let connections = try_join_all((0..CONNECTIONS).map(|_| Connection::open(service))).await?;
        let passes = connections.iter().cycle().take(AT_ONCE);
        try_join_all(passes.map(|connection| healthy::checked(connection, &healthy))).await.map(drop)
    })
}

/// Clients that go away while their host is being called, and while their program runs.
fn vanishing(service: &Service) -> Result<(), String> {
    let mut waits = case::load("contract", "kit").cases.into_iter().filter(|case| case.interrupt_after_calls.is_some());
    let waits = waits.next().ok_or("no case waits for its host")?;
    for _ in 0..20 {
        block_on(async {
            let connection = Connection::open(service).await?;
            // Interrupted once the host has been reached; the runtime, and with it the socket, goes right after.
            match pass_on(&connection, &waits).await? {
                (Outcome::Interrupted, _) => Ok(()),
                (other, _) => Err(format!("should have waited for its host: {other:?}")),
            }
        })?;
    }
    Ok(())
}
