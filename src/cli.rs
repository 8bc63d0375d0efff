//! What can be typed.

use clap::{Parser, Subcommand};

use crate::completions::CompletionsArgs;
use crate::exec::args::ExecArgs;
use crate::executor::ExecutorArgs;

/// Runs JavaScript that you do not trust, each program in an isolate of its own, within limits that hold.
#[derive(Debug, Parser)]
#[command(name = "loaderd", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one program and print what it returns.
    Exec(Box<ExecArgs>),
    /// Serve programs of others over Cap'n Proto, on a Unix or TCP socket.
    Executor(ExecutorArgs),
    /// Print a completion script for your shell.
    Completions(CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
