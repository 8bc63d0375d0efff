//! `loaderd compile`: a config with everything it embeds, as one encoded file.

use std::io::Write;
use std::process::ExitCode;

use crate::config::{ConfigArgs, refuse, stdout_is_terminal};

#[derive(clap::Args, Debug)]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// Write the encoded config alone; the only form loaderd writes
    #[arg(long)]
    config_only: bool,

    /// The constant to use, where the file defines several of type `Config`
    const_name: Option<String>,
}

pub(crate) fn run(arguments: &CompileArgs) -> ExitCode {
    if !arguments.config_only {
        eprintln!(
            "loaderd does not make self-contained executables. Use --config-only, and run the result with `loaderd \
             serve --binary`."
        );
        return ExitCode::FAILURE;
    }
    let encoded = match arguments.config.read(arguments.const_name.as_deref()) {
        Ok(encoded) => encoded,
        Err(problems) => return refuse(&problems),
    };
    // A config that loaderd cannot serve is refused now rather than where it is deployed.
    if let Err(problems) = encoded.decode() {
        return refuse(&problems);
    }
    if stdout_is_terminal() {
        eprintln!("Refusing to write binary to the terminal. Please use `>` to send the output to a file.");
        return ExitCode::FAILURE;
    }
    let bytes = match encoded.to_bytes() {
        Ok(bytes) => bytes,
        Err(problem) => return refuse(&[problem]),
    };
    match std::io::stdout().lock().write_all(&bytes) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}
