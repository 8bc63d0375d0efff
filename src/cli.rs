//! What can be typed.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::compile::CompileArgs;
use crate::completions::CompletionsArgs;
use crate::conform::ConformArgs;
use crate::dev::DevArgs;
use crate::exec::args::ExecArgs;
use crate::executor::ExecutorArgs;
use crate::serve::{ServeArgs, ServerArgs};
use crate::test::TestArgs;

/// Runs JavaScript that you do not trust, each program in an isolate of its own, within limits that hold.
#[derive(Debug, Parser)]
#[command(name = "loaderd", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command line of an executable that `compile` made.
#[derive(Debug, Parser)]
#[command(version, about = "Serves the config that this executable carries", max_term_width = 100)]
pub(crate) struct Compiled {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one program and print what it returns.
    Exec(Box<ExecArgs>),
    /// Serve programs of others over Cap'n Proto, on a Unix or TCP socket.
    Executor(ExecutorArgs),
    /// Serve what a workerd config describes, with workerd's arguments.
    Serve(Box<ServeArgs>),
    /// Run the tests that the Workers of a workerd config export, with workerd's arguments.
    Test(Box<TestArgs>),
    /// Run wrangler projects as they are, and again when they change.
    Dev(DevArgs),
    /// Turn a workerd config and all the files it embeds into one executable that serves it, on standard output.
    ///
    /// It takes the options of `serve`, and needs none of the files. With --config-only the result is the config alone, for
    /// `loaderd serve --binary`.
    Compile(CompileArgs),
    /// Run cases on loaderd and on workerd, and print where they differ.
    Conform(ConformArgs),
    /// Say what of the sandbox's confinement works on this machine.
    Doctor,
    /// Print a completion script for your shell.
    Completions(CompletionsArgs),
}

/// Subcommands that take workerd's arguments and end with its exit codes.
const WORKERD_COMMANDS: [&str; 3] = ["serve", "test", "compile"];

/// Prints help, or what is wrong with the arguments.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let printed = error.print();
    if !error.use_stderr() && printed.is_ok() {
        return ExitCode::SUCCESS;
    }
    // A compiled server has no subcommand, and is workerd's kind too.
    let command = std::env::args().nth(1).filter(|first| !first.starts_with('-')).unwrap_or_else(|| "serve".to_owned());
    ExitCode::from(if WORKERD_COMMANDS.contains(&command.as_str()) { 1 } else { 2 })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
