//! Behaviour through the public doors. Cases are data, in `tests/contract` and `tests/abuse`; this is what runs them.
//!
//! The list of tests comes from the data, so this binary has a `main` of its own; it takes the arguments that any test
//! binary takes.

mod abuse;
mod admin;
mod case;
mod cli;
mod context;
mod contract;
mod dev;
mod doors;
mod edge;
mod examples;
mod expect;
mod faults;
mod flow;
mod healthy;
mod host;
mod hostile;
mod json;
mod layers;
mod leaks;
mod load;
mod mutations;
mod packages;
mod proc;
mod raw_host;
mod sandboxes;
mod scratch;
mod server;
mod service;
mod soak;
mod sockets;
mod spent;
mod streaming;
mod stuck;
mod unprivileged;
mod wait;
mod websocket;
mod workerd;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    // Some tests start this binary as a sandbox process, which gives up its rights while it is one thread.
    if let Some(code) = sandboxes::run_as_process() {
        return code;
    }
    let arguments = Arguments::from_args();
    // Before any other thread exists, as V8 demands.
    loaderd_runtime::setup::initialize();
    let trials = [
        contract::trials(),
        cli::trials(),
        admin::trials(),
        edge::trials(),
        context::trials(),
        layers::trials(),
        leaks::trials(),
        load::trials(),
        faults::trials(),
        mutations::trials(),
        sandboxes::trials(),
        flow::trials(),
        hostile::trials(),
        abuse::trials(),
        examples::trials(),
        packages::trials(),
        soak::trials(),
        sockets::trials(),
        spent::trials(),
        streaming::trials(),
        stuck::trials(),
        unprivileged::trials(),
        workerd::trials(),
        dev::trials(),
    ];
    let conclusion = libtest_mimic::run(&arguments, trials.into_iter().flatten().collect());
    service::stop_shared();
    conclusion.exit_code()
}
