//! What people read: colours where a terminal shows them, plain text everywhere else.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

/// How a piece of text on standard error looks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    /// What went wrong.
    Error,
    /// What to do about it.
    Help,
    /// What is there, but not the point.
    Dim,
}

impl Style {
    fn codes(self) -> &'static str {
        match self {
            Self::Error => "\x1b[1;31m",
            Self::Help => "\x1b[1;36m",
            Self::Dim => "\x1b[2m",
        }
    }
}

static COLOURED: LazyLock<bool> = LazyLock::new(|| {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let plain = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    std::io::stderr().is_terminal() && !unwanted && !plain
});

/// Text in a style, where standard error is a terminal that wants it (see <https://no-color.org>).
pub(crate) fn styled(style: Style, text: impl Display) -> String {
    if *COLOURED { format!("{}{text}\x1b[0m", style.codes()) } else { text.to_string() }
}

/// Writes one line, or several, to standard error. Nobody reading it is no reason to fail.
pub(crate) fn say(text: &str) {
    let mut error = std::io::stderr().lock();
    let _ = writeln!(error, "{text}");
}

/// Writes a result to standard output, as one line or several; what stood in the way of that. A reader that went away has seen
/// enough.
pub(crate) fn print(text: &str) -> Result<(), String> {
    let mut output = std::io::stdout().lock();
    match writeln!(output, "{text}").and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {error}"))
        }
        _ => Ok(()),
    }
}

/// The exit code of a command that has printed its result: `code`, or `unwritten` where that could not be written, which it
/// says then.
pub(crate) fn exit_code(printed: Result<(), String>, code: ExitCode, unwritten: u8) -> ExitCode {
    match printed {
        Ok(()) => code,
        Err(problem) => {
            error(&problem);
            ExitCode::from(unwritten)
        }
    }
}

/// Says what went wrong.
pub(crate) fn error(text: &str) {
    say(&format!("{} {text}", styled(Style::Error, "error:")));
}

/// Says what can be done about it.
pub(crate) fn help(text: &str) {
    say(&format!("{} {text}", styled(Style::Help, "help:")));
}

/// The environment variable that says how much is logged, in the syntax of `tracing`.
const LOG_VARIABLE: &str = "LOADERD_LOG";

/// How log lines look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of text.
    #[default]
    Text,
    /// A JSON object on a line.
    Json,
}

/// Lets logs go to standard error; `level` holds where the environment does not say.
pub(crate) fn start_logging(level: &str, format: LogFormat) {
    start_logging_to(level, format, BoxMakeWriter::new(std::io::stderr));
}

/// Lines that may wait until somebody reads what a server logs; more are dropped, and counted.
const WAITING_LINES_MAX: usize = 8192;

static DROPPED_LINES: OnceLock<ErrorCounter> = OnceLock::new();

/// Drops when the lines that wait are to be written.
static WRITING: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// The same for a server: nothing it does waits for whoever reads the log, since a thread that logs may have others waiting
/// for it.
pub(crate) fn start_server_logging(level: &str, format: LogFormat) {
    let builder = NonBlockingBuilder::default().lossy(true).buffered_lines_limit(WAITING_LINES_MAX).thread_name("log");
    let (writer, writing) = builder.finish(std::io::stderr());
    // The first one, and the only one.
    let _ = DROPPED_LINES.set(writer.error_counter());
    *WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(writing);
    start_logging_to(level, format, BoxMakeWriter::new(writer));
}

/// Writes what a server has logged, or gives up after a second. Before the process ends.
pub(crate) fn finish_logging() {
    drop(WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take());
}

/// Lines of the log that nobody read in time.
pub(crate) fn dropped_log_lines() -> u64 {
    DROPPED_LINES.get().map_or(0, |dropped| dropped.dropped_lines() as u64)
}

/// The same, with every line rewritten before a person sees it.
pub(crate) fn start_logging_rewritten(level: &str, rewrite: impl Fn(&str) -> String + Send + Sync + 'static) {
    let rewrite = Arc::new(rewrite);
    let writer = BoxMakeWriter::new(move || Rewriting(Arc::clone(&rewrite)));
    start_logging_to(level, LogFormat::Text, writer);
}

struct Rewriting<F>(Arc<F>);

impl<F: Fn(&str) -> String> Write for Rewriting<F> {
    /// A whole line of the log at once, as `tracing` writes it.
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        std::io::stderr().lock().write_all(self.0(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().lock().flush()
    }
}

fn start_logging_to(level: &str, format: LogFormat, writer: BoxMakeWriter) {
    let filter = EnvFilter::try_from_env(LOG_VARIABLE).unwrap_or_else(|_| EnvFilter::new(level));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(*COLOURED)
        .with_writer(writer)
        // Said on standard error as well, which is what cannot be written to; the attempt would end the process.
        .log_internal_errors(false);
    let started = match format {
        LogFormat::Text => logs.try_init(),
        LogFormat::Json => logs.json().try_init(),
    };
    if let Err(error) = started {
        self::error(&format!("logging does not work: {error}"));
    }
}
