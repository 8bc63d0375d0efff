//! `loaderd exec`: runs one program, with tools from a module of the user's.

pub(crate) mod args;
pub(crate) mod exit;
mod place;
mod pretty;
mod report;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use loaderd_harness::tools::{ToolsError, ToolsHost};
use loaderd_harness::{
    CodeExecutionRequest, CodeExecutionResult, InvalidRequest, LogObserver, NetworkPolicy, NoHost, PassFailure,
    PassHost,
};
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use tokio::io::AsyncReadExt;

use crate::engine::Engine;
use crate::terminal::{self, Style, styled};
use args::ExecArgs;
use report::Program;

/// The most bytes that are read of a program, a tools module or a request.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Why nothing was run.
enum Stop {
    Usage(String),
    Platform(String),
}

pub(crate) async fn run(arguments: ExecArgs) -> ExitCode {
    let interrupted = tokio::signal::ctrl_c();
    tokio::select! {
        code = execute(&arguments) => code,
        // Dropping the pass cancels it.
        Ok(()) = interrupted => ExitCode::from(exit::INTERRUPTED),
    }
}

async fn execute(arguments: &ExecArgs) -> ExitCode {
    let (engine, tools, request, program) = match prepare(arguments).await {
        Ok(prepared) => prepared,
        Err(Stop::Usage(text)) => {
            terminal::error(&text);
            return ExitCode::from(exit::USAGE);
        }
        Err(Stop::Platform(text)) => {
            terminal::error(&text);
            return ExitCode::from(exit::PLATFORM);
        }
    };
    let host: Arc<dyn PassHost> = match tools {
        Some(tools) => Arc::new(tools),
        None => Arc::new(NoHost),
    };
    let executor = engine.executor(arguments.tenant.clone());
    let outcome = if arguments.json {
        executor.execute(request, host).await
    } else {
        executor.execute_observed(request, host, Arc::new(Logs)).await
    };
    let printed = match &outcome {
        _ if arguments.json => terminal::print(&answer_line(&outcome)),
        Ok(result) => report::completed(result),
        Err(failure) => {
            report::failed(failure, &program);
            Ok(())
        }
    };
    let code = outcome.err().map_or(ExitCode::SUCCESS, |failure| ExitCode::from(exit::of(&failure)));
    terminal::exit_code(printed, code, exit::PLATFORM)
}

/// Reads and checks everything, and starts what it takes.
async fn prepare(arguments: &ExecArgs) -> Result<(Engine, Option<ToolsHost>, CodeExecutionRequest, Program), Stop> {
    let from_standard_input = [&arguments.program, &arguments.tools, &arguments.request];
    if from_standard_input.into_iter().flatten().filter(|path| is_standard_input(path)).count() > 1 {
        return Err(Stop::Usage("only one file can be standard input".to_owned()));
    }
    let (input, file) = match (&arguments.program, &arguments.request) {
        (Some(path), _) | (None, Some(path)) => (read(path).await?, path),
        (None, None) => return Err(Stop::Usage("a program is missing".to_owned())),
    };
    let engine = Engine::start(arguments.sandbox).map_err(Stop::Platform)?;
    let tools = match &arguments.tools {
        None => None,
        Some(path) => Some(load_tools(&engine, path).await?),
    };
    let request = if arguments.request.is_some() {
        CodeExecutionRequest::from_json(&input).map_err(|error| Stop::Usage(format!("{}: {error}", file.display())))?
    } else {
        let namespaces = tools.as_ref().map_or_else(Vec::new, |tools| tools.namespaces().to_vec());
        CodeExecutionRequest::new(input, namespaces, NetworkPolicy::Disabled, arguments.limits.limits())
            .map_err(|error| invalid(&error, file))?
    };
    let program = Program {
        name: if is_standard_input(file) { "standard input".to_owned() } else { file.display().to_string() },
        source: request.source().to_owned(),
        cpu_millis: request.limits().cpu_millis,
    };
    Ok((engine, tools, request, program))
}

async fn load_tools(engine: &Engine, path: &Path) -> Result<ToolsHost, Stop> {
    let source = read(path).await?;
    let loader = engine.trusted_loader().map_err(Stop::Platform)?;
    ToolsHost::load(&loader, &source, Arc::new(ToolsConsole)).await.map_err(|error| match error {
        ToolsError::Unreadable => Stop::Platform(error.to_string()),
        _ => Stop::Usage(format!("the tools in {} cannot be used: {error}", path.display())),
    })
}

/// What is wrong with what was typed.
fn invalid(error: &InvalidRequest, file: &Path) -> Stop {
    match args::option_of(&error.field) {
        Some(option) => Stop::Usage(format!("{option} {}", error.message)),
        None => Stop::Usage(format!("{}: {error}", file.display())),
    }
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

async fn read(path: &Path) -> Result<String, Stop> {
    let failed = |error: std::io::Error| Stop::Usage(format!("cannot read {}: {error}", path.display()));
    let mut text = String::new();
    let length = if is_standard_input(path) {
        tokio::io::stdin().take(FILE_BYTES_MAX + 1).read_to_string(&mut text).await.map_err(failed)?
    } else {
        let file = tokio::fs::File::open(path).await.map_err(failed)?;
        file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).await.map_err(failed)?
    };
    if length as u64 > FILE_BYTES_MAX {
        return Err(Stop::Usage(format!("{} is longer than {FILE_BYTES_MAX} bytes", path.display())));
    }
    Ok(text)
}

/// The answer in the contract's form; where the tools broke, which that form has no words for, in a form of our own.
fn answer_line(outcome: &Result<CodeExecutionResult, PassFailure>) -> String {
    match outcome {
        Ok(result) => result.to_answer_json(),
        Err(PassFailure::Error(error)) => error.to_answer_json(),
        Err(PassFailure::HostDefect(defect)) => serde_json::json!({ "defect": defect.message }).to_string(),
        Err(PassFailure::HostInterrupted) => serde_json::json!({ "interrupted": true }).to_string(),
    }
}

/// Shows the program's console as it writes to it.
struct Logs;

impl LogObserver for Logs {
    fn line(&self, line: &str) {
        terminal::say(&styled(Style::Dim, line));
    }
}

/// Shows the tools' console.
struct ToolsConsole;

impl ConsoleSink for ToolsConsole {
    fn line(&self, _level: ConsoleLevel, text: &str) {
        terminal::say(text);
    }
}
