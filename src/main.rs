//! The command line of loaderd: one file a subcommand.

mod cli;
mod compile;
mod completions;
mod config;
mod engine;
mod exec;
mod executor;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::usage(&error),
    };
    match &cli.command {
        Command::Completions(arguments) => return completions::run(arguments),
        Command::Compile(arguments) => return compile::run(arguments),
        Command::Exec(_) | Command::Executor(_) => {}
    }
    // V8 first: its set-up must be done before any other thread exists, and tokio starts threads.
    loaderd_runtime::setup::initialize();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::error(&format!("cannot start: {error}"));
            return ExitCode::from(exec::exit::PLATFORM);
        }
    };
    let code = runtime.block_on(async {
        match cli.command {
            Command::Exec(arguments) => exec::run(*arguments).await,
            Command::Executor(arguments) => executor::run(arguments).await,
            // Answered above, without V8.
            Command::Completions(_) | Command::Compile(_) => ExitCode::SUCCESS,
        }
    });
    // An isolate that is being torn down must not keep a finished command waiting.
    runtime.shutdown_background();
    code
}
