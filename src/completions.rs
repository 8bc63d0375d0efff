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
    match terminal::print(String::from_utf8_lossy(&script).trim_end()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            terminal::error(&problem);
            ExitCode::FAILURE
        }
    }
}
