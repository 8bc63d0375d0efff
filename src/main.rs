//! The command line of loaderd: one file a subcommand.

mod admin;
mod cli;
mod compile;
mod completions;
mod config;
mod conform;
mod dev;
mod doctor;
mod engine;
mod exec;
mod executor;
mod room;
mod sandbox;
mod serve;
mod services;
mod stop;
mod terminal;
mod test;
mod watch;

use std::process::ExitCode;

use clap::Parser;
use loaderd_runtime::fatal::Fatal;

use cli::{Cli, Command};

fn main() -> ExitCode {
    // Before anything else, and not for people: a sandbox process gives up its rights while it is one thread.
    if std::env::args().nth(1).as_deref() == Some(sandbox::SUBCOMMAND) {
        return sandbox::run();
    }
    outlive_full_files();
    let code = run();
    terminal::finish_logging();
    code
}

/// A file that may not grow any further (`ulimit -f`) is an error for whoever writes to it, like a full disk, and not the
/// end of this process.
fn outlive_full_files() {
    // SAFETY: no handler is installed: the signal is ignored.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

fn run() -> ExitCode {
    match compile::carried() {
        Ok(Some(config)) => return serve_compiled(&config),
        Ok(None) => {}
        // Without /proc nothing can be carried, and everything else says by itself what it misses.
        Err(error) => tracing::debug!("cannot read this executable: {error}"),
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return cli::usage(&error),
    };
    match cli.command {
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Compile(arguments) => compile::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Dev(arguments) => dev::run(&arguments),
        Command::Conform(arguments) => conform::run(&arguments),
        Command::Doctor => with_v8(&[], doctor::run()),
        Command::Exec(arguments) => with_v8(&[], in_a_task(exec::run(*arguments))),
        Command::Executor(arguments) => {
            arguments.prepare();
            with_v8(&[], executor::run(arguments))
        }
    }
}

/// What is said when this process ends because V8 gives up. It has no isolates of its own where sandbox processes are used.
fn v8_gave_up(why: Fatal) -> &'static str {
    match why {
        Fatal::OutOfMemory => "V8 gave up: a program wants more memory than can be had; this process ends",
        Fatal::Abort => "V8 gave up: a program wants something larger than V8 can make; this process ends",
        Fatal::Check => "V8 gave up: a check of its own failed; this process ends",
    }
}

/// What an executable does that `compile` made.
fn serve_compiled(config: &[u8]) -> ExitCode {
    match cli::Compiled::try_parse() {
        Ok(arguments) => serve::run_compiled(&arguments.server, config),
        Err(error) => cli::usage(&error),
    }
}

/// Runs a command in a task: what it waits for wakes it on the thread that has seen it arrive.
async fn in_a_task(work: impl Future<Output = ExitCode> + Send + 'static) -> ExitCode {
    match tokio::spawn(work).await {
        Ok(code) => code,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

/// Runs a command that needs isolates, with further flags for V8.
fn with_v8(flags: &[String], work: impl Future<Output = ExitCode>) -> ExitCode {
    if let Err(missing) = room::check() {
        terminal::error(&missing);
        return ExitCode::from(exec::exit::PLATFORM);
    }
    // V8 first: its set-up must be done before any other thread exists, and tokio starts threads.
    if let Err(unknown) = loaderd_runtime::setup::initialize_with_flags(flags) {
        terminal::error(&format!("V8 does not know these flags of the config: {}", unknown.join(" ")));
        return ExitCode::FAILURE;
    }
    loaderd_runtime::fatal::on_fatal(|why| {
        terminal::finish_logging();
        terminal::error(v8_gave_up(why));
    });
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            terminal::error(&format!("cannot start: {error}"));
            return ExitCode::from(exec::exit::PLATFORM);
        }
    };
    let code = runtime.block_on(work);
    // An isolate that is being torn down must not keep a finished command waiting.
    runtime.shutdown_background();
    code
}
