//! `loaderd sandbox-process`: what a broker starts to run isolates in. Not for people.

use std::process::ExitCode;

/// The hidden subcommand's name.
pub(crate) const SUBCOMMAND: &str = "sandbox-process";

/// How a broker starts one.
pub(crate) fn command_line() -> Vec<String> {
    vec!["loaderd".to_owned(), SUBCOMMAND.to_owned()]
}

/// Runs one. Called before anything else of the program, on the main thread.
pub(crate) fn run() -> ExitCode {
    loaderd_loader::sandbox::child::main()
}
