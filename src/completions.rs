//! `loaderd completions SHELL`.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::terminal;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to write a script for.
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::cli::Cli::command(), "loaderd", &mut script);
    /// As any command that fails without saying how.
    const UNWRITTEN: u8 = 1;
    let printed = terminal::print(String::from_utf8_lossy(&script).trim_end());
    terminal::exit_code(printed, ExitCode::SUCCESS, UNWRITTEN)
}
