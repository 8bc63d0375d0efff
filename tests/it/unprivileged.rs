//! loaderd as an ordinary user starts it, with and without the right to make namespaces: which layers of the confinement
//! are in force, what is said of those that are not, and that programs run, are ended, and get no further.
//!
//! Only root can become somebody else: where the tests run as another user, that user is the one that all other tests are
//! about, and these say that they are skipped.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Trial;
use nix::fcntl::OFlag;
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::stat::Mode;

use crate::server::Server;

/// The user that owns nothing.
const NOBODY: u32 = 65_534;

/// The first Linux that counts the threads of a user in each user namespace for itself. Where it does not, or there is no such
/// namespace, they are not limited.
const COUNTS_BY_NAMESPACE: (u32, u32) = (5, 14);

/// Processes and threads that a user who may not make namespaces is limited to, all together: as few as a sandbox process may
/// have alone.
const PROCESSES_MAX: u64 = 1024;

/// How a program is run, and how that must end: exit code, and what is printed.
const RUNS: &[(&str, &str, i32, &str)] = &[
    ("a program", "async () => 6 * 7", 0, "42\n"),
    ("a loop", "async () => { for (;;); }", 3, ""),
    ("a builtin that ignores its end", "async () => Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)", 3, ""),
    ("a file", "async () => (await import('node:fs')).readFileSync('/etc/passwd', 'utf8')", 1, ""),
    ("a connection", "async () => (await fetch('http://127.0.0.1:1/')).status", 1, ""),
    ("code from text", "async () => new Function('return 1')()", 1, ""),
];

/// Whether the user may make namespaces of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Namespaces {
    Allowed,
    Forbidden,
}

/// A test of what such a user gets.
type Check = fn(&Program, Namespaces) -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 4] =
        [("layers", layers), ("programs", programs), ("log", log), ("few_threads", few_threads)];
    let users = [("nobody", Namespaces::Allowed), ("nobody_without_namespaces", Namespaces::Forbidden)];
    let trial = |(name, namespaces): (&str, Namespaces)| {
        checks.map(|(what, check)| {
            Trial::test(format!("unprivileged::{name}::{what}"), move || run(check, namespaces).map_err(Into::into))
        })
    };
    users.into_iter().flat_map(trial).collect()
}

fn run(check: Check, namespaces: Namespaces) -> Result<(), String> {
    if !nix::unistd::geteuid().is_root() {
        println!("skipped: only root can become another user");
        return Ok(());
    }
    let program = Program::open()?;
    if !program.may_make_namespaces()? {
        println!("skipped: users may not make namespaces here, so there is nothing to compare with");
        return Ok(());
    }
    check(&program, namespaces)
}

/// The program under test, open, so that a user who may not reach its folder can run it all the same.
struct Program(OwnedFd);

impl Program {
    fn open() -> Result<Self, String> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
        let file = nix::fcntl::open(env!("CARGO_BIN_EXE_loaderd"), flags, Mode::empty());
        file.map(Self).map_err(|error| error.to_string())
    }

    fn command(&self, namespaces: Namespaces) -> Command {
        let mut command = Command::new(format!("/proc/self/fd/{}", self.0.as_raw_fd()));
        command.uid(NOBODY).gid(NOBODY).current_dir("/").env_remove("TMPDIR");
        if namespaces == Namespaces::Forbidden {
            // SAFETY: makes system calls and nothing else.
            unsafe { command.pre_exec(forbid_namespaces) };
        }
        command
    }

    fn may_make_namespaces(&self) -> Result<bool, String> {
        let status =
            self.command(Namespaces::Forbidden).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        // What fails is the step before the program.
        Ok(status.is_ok_and(|status| status.success()))
    }
}

/// Enters a user namespace in which no further ones may be made. The program that is then run has no right in it, and is
/// limited as a user may be (`ulimit -u`), which says nothing of any one process.
fn forbid_namespaces() -> std::io::Result<()> {
    unshare(CloneFlags::CLONE_NEWUSER)?;
    let limit = nix::fcntl::open(c"/proc/sys/user/max_user_namespaces", OFlag::O_WRONLY, Mode::empty())?;
    nix::unistd::write(&limit, b"0")?;
    setrlimit(Resource::RLIMIT_NPROC, PROCESSES_MAX, PROCESSES_MAX)?;
    Ok(())
}

/// Layers and their states, as `doctor` tells them.
pub(crate) fn doctor(command: &mut Command) -> Result<BTreeMap<String, String>, String> {
    let told = command.arg("doctor").output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&told.stdout).into_owned();
    if !told.status.success() {
        return Err(format!("doctor ended with {}: {text}{}", told.status, String::from_utf8_lossy(&told.stderr)));
    }
    let layers = text.lines().filter_map(|line| line.strip_prefix("  "));
    let layers = layers.filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    });
    Ok(layers.collect())
}

/// Which Linux this is.
fn kernel() -> Result<(u32, u32), String> {
    let told = nix::sys::utsname::uname().map_err(|error| error.to_string())?;
    let release = told.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    Ok((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
}

/// An ordinary user gets every layer that root gets, but for the namespaces where it may not make them.
fn layers(program: &Program, namespaces: Namespaces) -> Result<(), String> {
    let mut of_root = doctor(&mut Command::new(env!("CARGO_BIN_EXE_loaderd")))?;
    let of_user = doctor(&mut program.command(namespaces))?;
    for layer in ["namespaces", "user", "capabilities", "no-new-privs", "rlimits", "threads", "seccomp", "memory"] {
        if !of_user.contains_key(layer) {
            return Err(format!("doctor does not tell of {layer}: {of_user:?}"));
        }
    }
    let limited = namespaces == Namespaces::Allowed && kernel()? >= COUNTS_BY_NAMESPACE;
    if limited && of_user.get("threads").is_none_or(|state| state != "applied") {
        return Err(format!("threads should be limited in a namespace of its own: {of_user:?}"));
    }
    if namespaces == Namespaces::Forbidden {
        for layer in ["namespaces", "threads"] {
            of_root.insert(layer.to_owned(), "missing".to_owned());
        }
    }
    if of_user == of_root { Ok(()) } else { Err(format!("should be {of_root:?}\n  and is {of_user:?}")) }
}

/// Programs run, meet their limits and get nowhere.
fn programs(program: &Program, namespaces: Namespaces) -> Result<(), String> {
    run_programs(|| program.command(namespaces))
}

/// The same, of the program that a command starts.
pub(crate) fn run_programs(command: impl Fn() -> Command) -> Result<(), String> {
    for (what, source, code, printed) in RUNS {
        let mut child = command()
            .args(["exec", "-", "--cpu-ms", "100"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut input = child.stdin.take().ok_or("no standard input")?;
        input.write_all(source.as_bytes()).map_err(|error| error.to_string())?;
        drop(input);
        let ended = child.wait_with_output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stdout);
        if ended.status.code() != Some(*code) || said != *printed {
            let error = String::from_utf8_lossy(&ended.stderr);
            return Err(format!("{what}: should exit with {code}: {}\n{said}{error}", ended.status));
        }
    }
    Ok(())
}

/// What is missing is in the log of a service as soon as its first sandbox process has started; nothing else is.
fn log(program: &Program, namespaces: Namespaces) -> Result<(), String> {
    let mut server = Server(service(&mut program.command(namespaces))?);
    let missing = said_to_be_missing(&mut server)?;
    let told = missing.iter().filter(|layer| *layer == "namespaces").count();
    let expected = usize::from(namespaces == Namespaces::Forbidden);
    if told == expected { Ok(()) } else { Err(format!("should be told {expected} times: {missing:#?}")) }
}

/// Too few threads to start with: one line says so, and nothing hangs. Of a user of its own, as they are counted for each.
fn few_threads(program: &Program, namespaces: Namespaces) -> Result<(), String> {
    const SOMEBODY: u32 = 54_399;
    for few in [2, 3, 6, 12] {
        let mut command = program.command(namespaces);
        command.uid(SOMEBODY).gid(SOMEBODY).args(["executor", "--listen", "127.0.0.1:0"]);
        // SAFETY: makes a system call and nothing else.
        unsafe { command.pre_exec(move || Ok(setrlimit(Resource::RLIMIT_NPROC, few, few)?)) };
        let ended = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&ended.stderr);
        if ended.status.code() != Some(6) || !said.contains("threads are not to be had (`ulimit -u`)") {
            return Err(format!("with {few} it ended with {} and said: {said}", ended.status));
        }
    }
    Ok(())
}

/// Starts a service whose log can be read.
pub(crate) fn service(command: &mut Command) -> Result<Child, String> {
    command
        .args(["executor", "--listen", "127.0.0.1:0"])
        .env("LOADERD_LOG", "info,loaderd_loader=debug")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())
}

/// The layers of the confinement that a service's log says are missing, as often as it says so, when its first sandbox
/// process has started.
pub(crate) fn said_to_be_missing(service: &mut Server) -> Result<Vec<String>, String> {
    let mut missing = Vec::new();
    for line in BufReader::new(service.0.stderr.take().ok_or("no standard error")?).lines().map_while(Result::ok) {
        if line.contains("is confined") {
            return Ok(missing);
        }
        if let Some((_, layer)) = line.split_once(" confinement layer=\"")
            && line.contains("state=\"missing\"")
        {
            missing.push(layer.split('"').next().unwrap_or_default().to_owned());
        }
    }
    Err("the service ended before a sandbox process had started".to_owned())
}
