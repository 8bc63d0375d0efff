//! `loaderd compile`: a config with everything it embeds, as an executable that serves it, or as one encoded file.
//!
//! The executable is this one with the encoded config behind it. Its last bytes say so: the config's length, then
//! [`MARK`].

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use loaderd_wrangler_compat::ENCODED_BYTES_MAX;

use crate::config::{ConfigArgs, refuse, stdout_is_terminal};
use crate::watch::Watcher;

/// What an executable with a config ends with.
const MARK: [u8; 16] = *b"loaderd compiled";

/// The config's length, little-endian, and the mark.
const TRAILER_BYTES: u64 = 8 + MARK.len() as u64;

#[derive(clap::Args, Debug)]
pub(crate) struct CompileArgs {
    #[command(flatten)]
    config: ConfigArgs,

    /// Write the encoded config alone, for `serve --binary`
    #[arg(long)]
    config_only: bool,

    /// The constant to use, where the file defines several of type `Config`
    const_name: Option<String>,
}

pub(crate) fn run(arguments: &CompileArgs) -> ExitCode {
    let encoded = match arguments.config.read(arguments.const_name.as_deref(), &Watcher::default()) {
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
    let config = match encoded.to_bytes() {
        Ok(config) => config,
        Err(problem) => return refuse(&[problem]),
    };
    let written = match arguments.config_only {
        true => io::stdout().lock().write_all(&config),
        false => write_executable(&config),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes this executable with the config behind it, and makes it executable where it is a file.
fn write_executable(config: &[u8]) -> io::Result<()> {
    let mut this = File::open("/proc/self/exe")?;
    let end = trailer(&mut this)?.map_or(this.metadata()?.len(), |found| found.start);
    this.rewind()?;
    let mut out = io::stdout().lock();
    io::copy(&mut this.take(end), &mut out)?;
    out.write_all(config)?;
    out.write_all(&(config.len() as u64).to_le_bytes())?;
    out.write_all(&MARK)?;
    out.flush()?;
    make_executable(&File::from(out.as_fd().try_clone_to_owned()?))
}

fn make_executable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(());
    }
    let mut permissions = metadata.permissions();
    // Whoever may read it may run it.
    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
    file.set_permissions(permissions)
}

/// Where in an executable its config is.
struct Carried {
    start: u64,
    length: u64,
}

fn trailer(executable: &mut File) -> io::Result<Option<Carried>> {
    let length = executable.metadata()?.len();
    let Some(config_end) = length.checked_sub(TRAILER_BYTES) else { return Ok(None) };
    executable.seek(SeekFrom::Start(config_end))?;
    let (mut size, mut mark) = ([0; 8], [0; MARK.len()]);
    executable.read_exact(&mut size)?;
    executable.read_exact(&mut mark)?;
    let size = u64::from_le_bytes(size);
    let start = config_end.checked_sub(size).filter(|_| mark == MARK && size <= ENCODED_BYTES_MAX as u64);
    Ok(start.map(|start| Carried { start, length: size }))
}

/// The config that this executable carries, if it was made by `compile`.
pub(crate) fn carried() -> io::Result<Option<Vec<u8>>> {
    let mut this = File::open("/proc/self/exe")?;
    let Some(Carried { start, length }) = trailer(&mut this)? else { return Ok(None) };
    this.seek(SeekFrom::Start(start))?;
    let mut config = Vec::new();
    this.take(length).read_to_end(&mut config)?;
    Ok(Some(config))
}
