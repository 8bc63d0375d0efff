//! A sandbox process that has been taken over says whatever it likes to its broker. The broker lives, other processes'
//! passes go on, and each pass of the liar ends once, in an error that is typed.

use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

use capnp::message::ReaderOptions;
use libtest_mimic::Trial;
use loaderd_schema::channel_capnp as schema;

use super::attacks::{ATTACKS, Attack, Moment, frame};
use super::{Broker, FAKE, Gate, PATIENCE, REAL, end_of, expect, pass, wall};
use crate::doors::rust::runtime;

/// How long a pass may take whose process says nothing that matters.
const WALL: Duration = Duration::from_millis(1500);

/// What may become of a pass whose process attacks.
const TYPED: [&str; 5] = [
    "CodeExecutorTerminatedError",
    "CodeExecutorStartError",
    "CodeExecutionTimeoutError",
    "CodeExecutionProtocolError",
    "CodeHostCallLimitError",
];

pub(crate) fn trials() -> Vec<Trial> {
    ATTACKS
        .iter()
        .map(|attack| {
            let name = format!("sandboxes::garbage::{}", attack.name);
            Trial::test(name, move || runtime().block_on(survives(attack)).map_err(Into::into))
        })
        .collect()
}

async fn survives(attack: &'static Attack) -> Result<(), String> {
    let (liar, honest) = (Broker::start(&[FAKE, attack.name], |config| config.processes_max = 1)?, Gate::new());
    let real = Broker::start(&[REAL], |_| {})?;
    honest.open();
    // The liar's calls stay unanswered, so that it cannot have a number of theirs again.
    let silent = Gate::new();
    let limits = wall(if attack.ends == "CodeExecutionTimeoutError" { WALL } else { PATIENCE });
    let ended = pass(&liar.executor, &silent, "async () => await host.call(1)", limits).await;
    expect("the pass of the liar", &end_of(&ended), &Err(attack.ends.to_owned()))?;
    expect("whether its end is typed", &TYPED.contains(&attack.ends), &true)?;
    expect("passes that ended", &liar.executor.metrics().ended.iter().sum::<u64>(), &1)?;
    let beside = pass(&real.executor, &honest, "async () => await host.call(2)", wall(PATIENCE)).await;
    expect("a pass in another process", &end_of(&beside), &Ok("2".to_owned()))
}

/// The process: behaves until the moment of its attack, then sends it, and waits to be closed.
pub(super) fn fake(name: &str) -> ExitCode {
    let Some(attack) = ATTACKS.iter().find(|attack| attack.name == name) else { return ExitCode::FAILURE };
    // SAFETY: whoever started this process put the socket there, and nothing else uses it.
    let socket = unsafe { OwnedFd::from_raw_fd(loaderd_loader::confine::launch::SOCKET_FD) };
    let mut socket = UnixStream::from(socket);
    match play(&mut socket, attack) {
        Ok(()) => ExitCode::SUCCESS,
        // The broker closed, as it should.
        Err(_) => ExitCode::FAILURE,
    }
}

fn play(socket: &mut UnixStream, attack: &Attack) -> capnp::Result<()> {
    let strike = |socket: &mut UnixStream| -> capnp::Result<()> {
        match (attack.bytes)() {
            // The attack is to go away.
            None => Err(capnp::Error::disconnected("as planned".to_owned())),
            Some(bytes) => {
                socket.write_all(&bytes)?;
                // What the broker says from here on is of no interest; that it closes is.
                socket.read_to_end(&mut Vec::new())?;
                Ok(())
            }
        }
    };
    if attack.at == Moment::Greeting {
        return strike(socket);
    }
    socket.write_all(&frame(|frame| frame.init_welcome().set_version(schema::PROTOCOL_VERSION)))?;
    loop {
        let message = capnp::serialize::read_message(&mut *socket, ReaderOptions::new())?;
        match message.get_root::<schema::frame::Reader<'_>>()?.which()? {
            schema::frame::Load(_) if attack.at == Moment::Load => return strike(socket),
            schema::frame::Load(load) => {
                let worker = load?.get_worker();
                socket.write_all(&frame(|frame| {
                    let mut loaded = frame.init_loaded();
                    loaded.set_worker(worker);
                    loaded.init_ok();
                }))?;
            }
            schema::frame::Call(_) => return strike(socket),
            _ => {}
        }
    }
}
