//! The files of Unix sockets: each command that listens on one takes the place of a server that is gone, never that of one
//! that is there or of another file, and leaves nothing behind.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::scratch::Scratch;
use crate::server::Server;
use crate::wait::until;

const CONFIG: &str = r#"using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (modules = [(name = "m.js", esModule = "export default {};")],
    compatibilityDate = "2026-07-01"))],
  sockets = [(name = "http", address = "unix:s", http = (), service = "main")],
);
"#;

/// Commands that listen on `s`, in a folder with the config.
const COMMANDS: [(&str, &[&str]); 2] = [
    ("executor", &["executor", "--listen", "unix:s", "--sandbox", "in-process"]),
    ("serve", &["serve", "config.capnp"]),
];

type Check = fn(&Place) -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 6] = [
        ("is_removed_at_the_end", is_removed),
        ("outlives_a_terminal_that_it_was_told_to_outlive", outlives_its_terminal),
        ("takes_the_place_of_one_that_is_left", replaces),
        ("leaves_one_in_use_alone", refuses_one_in_use),
        ("leaves_another_file_alone", refuses_another_file),
        ("is_left_to_whoever_has_its_name", left_to_others),
    ];
    let trials = COMMANDS.into_iter().flat_map(|(command, arguments)| {
        checks.map(|(name, check)| {
            Trial::test(format!("sockets::{command}::{name}"), move || {
                Place::new(arguments).and_then(|place| check(&place)).map_err(Into::into)
            })
        })
    });
    trials.collect()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A folder, and a command that listens on a socket in it.
struct Place {
    folder: Scratch,
    arguments: &'static [&'static str],
}

impl Place {
    fn new(arguments: &'static [&'static str]) -> Result<Self, String> {
        let folder = Scratch::new()?;
        folder.write("config.capnp", CONFIG)?;
        Ok(Self { folder, arguments })
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    fn start(&self, mut command: Command) -> Result<Server, String> {
        let command = command.args(self.arguments).current_dir(self.folder.path()).env_remove("LOADERD_LOG");
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(text)?;
        let mut server = Server(child);
        let socket = self.socket();
        let mut ended = None;
        until(
            || {
                ended = server.0.try_wait().ok().flatten();
                ended.is_some() || listens(&socket)
            },
            "the server to listen",
        )?;
        ended.map_or(Ok(server), |status| Err(format!("the server ended with {status}")))
    }

    /// Starts it where it cannot listen: it must say so.
    fn is_refused(&self, says: &str) -> Result<(), String> {
        let mut command = loaderd();
        command.args(self.arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        let output = command.output().map_err(text)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() && said.contains(says) {
            return Ok(());
        }
        Err(format!("should say {says:?}: {}: {said}", output.status))
    }
}

fn loaderd() -> Command {
    Command::new(env!("CARGO_BIN_EXE_loaderd"))
}

fn listens(socket: &Path) -> bool {
    UnixStream::connect(socket).is_ok()
}

fn signal(server: &Server, signal: Signal) -> Result<(), String> {
    kill(Pid::from_raw(i32::try_from(server.0.id()).map_err(text)?), signal).map_err(text)
}

/// Waits for an end in good order.
fn ends(server: &mut Server) -> Result<(), String> {
    let status = server.0.wait().map_err(text)?;
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}")) }
}

fn is_removed(place: &Place) -> Result<(), String> {
    for told in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut server = place.start(loaderd())?;
        signal(&server, told)?;
        ends(&mut server).map_err(|error| format!("{told}: {error}"))?;
        if place.socket().exists() {
            return Err(format!("{told} leaves the socket's file"));
        }
    }
    Ok(())
}

/// As under `nohup`.
fn outlives_its_terminal(place: &Place) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg("trap '' HUP; exec \"$0\" \"$@\"").arg(env!("CARGO_BIN_EXE_loaderd"));
    let mut server = place.start(shell)?;
    signal(&server, Signal::SIGHUP)?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.0.id())).map_err(text)?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).map(str::trim).unwrap_or_default();
    if u64::from_str_radix(ignored, 16).map_err(text)? & 1 == 0 {
        return Err("SIGHUP is not ignored".to_owned());
    }
    if !listens(&place.socket()) {
        return Err("it no longer listens".to_owned());
    }
    signal(&server, Signal::SIGTERM)?;
    ends(&mut server)
}

fn replaces(place: &Place) -> Result<(), String> {
    drop(UnixListener::bind(place.socket()).map_err(text)?);
    let mut server = place.start(loaderd())?;
    signal(&server, Signal::SIGTERM)?;
    ends(&mut server)
}

fn refuses_one_in_use(place: &Place) -> Result<(), String> {
    let listener = UnixListener::bind(place.socket()).map_err(text)?;
    place.is_refused("somebody listens there")?;
    drop(UnixStream::connect(place.socket()).map_err(|error| format!("the socket in use is gone: {error}"))?);
    drop(listener);
    Ok(())
}

fn refuses_another_file(place: &Place) -> Result<(), String> {
    place.folder.write("s", "not a socket")?;
    place.is_refused("a file that is no socket is there")?;
    let kept = std::fs::read_to_string(place.socket()).map_err(text)?;
    if kept == "not a socket" { Ok(()) } else { Err(format!("the file is changed: {kept}")) }
}

fn left_to_others(place: &Place) -> Result<(), String> {
    let mut server = place.start(loaderd())?;
    std::fs::remove_file(place.socket()).map_err(text)?;
    let _other = UnixListener::bind(place.socket()).map_err(text)?;
    signal(&server, Signal::SIGTERM)?;
    ends(&mut server)?;
    if listens(&place.socket()) { Ok(()) } else { Err("another server's file was removed".to_owned()) }
}
