//! `loaderd completions SHELL`.

use std::process::ExitCode;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to write a script for.
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArgs) -> ExitCode {
    clap_complete::generate(arguments.shell, &mut crate::cli::Cli::command(), "loaderd", &mut std::io::stdout());
    ExitCode::SUCCESS
}
