//! Trying what must not work in a sandbox process, and what must.
//!
//! Each attempt has a process to itself, since most end it where the confinement holds: this binary, started by the
//! launcher of sandbox processes, that gives up what those give up. `TRY_ALL` starts one after the other.

use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use loaderd_loader::confine::inside;
use loaderd_loader::confine::launch::{Image, SOCKET_FD, Stderr};
use nix::errno::Errno;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use End::{Killed, Open, Refused, Works};

/// The argument that has this binary try everything, and tell of it on standard output: a line an attempt.
pub(crate) const TRY_ALL: &str = "try-all";
/// The argument that has it try one thing; the next one says which.
pub(super) const TRY: &str = "try";

/// What an attempt comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The process is killed in the middle of it.
    Killed,
    /// The call fails, and the process goes on.
    Refused,
    /// The call works.
    Works,
    /// Either: nothing is promised.
    Open,
}

/// What there is of the confinement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confined {
    /// Seccomp, with or without the others.
    WithSeccomp,
    /// Everything but that.
    WithoutSeccomp,
    /// No namespaces and no landlock either: another user without rights, and resource limits.
    Hardly,
}

/// One thing to try.
struct Probe {
    name: &'static str,
    /// In the order of [`Confined`].
    ends: [End; 3],
    run: fn() -> Result<(), Errno>,
}

macro_rules! syscall {
    ($($argument:expr),+) => {
        // SAFETY: the arguments are null, plain numbers or strings with their NUL; what the call makes is not used.
        Errno::result(unsafe { libc::syscall($($argument),+) }).map(drop)
    };
}

/// Everything there is to try.
const PROBES: &[Probe] = &[
    Probe {
        name: "read a file",
        ends: [Refused, Refused, Open],
        run: || syscall!(libc::SYS_openat, libc::AT_FDCWD, c"/etc/passwd".as_ptr(), libc::O_RDONLY),
    },
    Probe {
        name: "create a file",
        ends: [Refused, Refused, Open],
        run: || {
            let flags = libc::O_WRONLY | libc::O_TMPFILE;
            syscall!(libc::SYS_openat, libc::AT_FDCWD, c"/tmp".as_ptr(), flags, 0o600)
        },
    },
    Probe {
        name: "openat2",
        ends: [Killed, Refused, Open],
        run: || syscall!(libc::SYS_openat2, libc::AT_FDCWD, c"/etc/passwd".as_ptr(), 0, 0),
    },
    Probe {
        name: "network socket",
        ends: [Killed, Open, Open],
        run: || syscall!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0),
    },
    Probe {
        name: "reach another machine",
        ends: [Killed, Refused, Open],
        run: || {
            // SAFETY: the address is plain data for which all zeroes is valid, and outlives the call that reads it.
            unsafe {
                let socket = Errno::result(libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0))?;
                let mut address: libc::sockaddr_in = std::mem::zeroed();
                address.sin_family = 2;
                address.sin_port = 9_u16.to_be();
                // Of a network that is for documentation; nothing is sent.
                address.sin_addr.s_addr = u32::from_ne_bytes([192, 0, 2, 1]);
                let bytes = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or(0);
                Errno::result(libc::connect(socket, (&raw const address).cast(), bytes)).map(drop)
            }
        },
    },
    Probe {
        name: "unix socket",
        ends: [Killed, Open, Open],
        run: || syscall!(libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0),
    },
    Probe { name: "connect", ends: [Killed, Refused, Open], run: || syscall!(libc::SYS_connect, SOCKET_FD, 0, 0) },
    Probe {
        name: "execute a program",
        ends: [Killed, Refused, Open],
        run: || syscall!(libc::SYS_execve, c"/bin/true".as_ptr(), 0, 0),
    },
    Probe {
        name: "fork",
        ends: [Killed, Open, Open],
        run: || {
            // SAFETY: the child, a copy of this process, ends at once.
            unsafe {
                match Errno::result(libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0))? {
                    0 => libc::_exit(0),
                    _ => Ok(()),
                }
            }
        },
    },
    Probe { name: "clone3", ends: [Refused, Refused, Refused], run: || syscall!(libc::SYS_clone3, 0, 0) },
    Probe {
        name: "trace a process",
        ends: [Killed, Refused, Refused],
        run: || syscall!(libc::SYS_ptrace, libc::PTRACE_ATTACH, 1, 0, 0),
    },
    Probe {
        name: "read another process's memory",
        ends: [Killed, Refused, Refused],
        run: || syscall!(libc::SYS_process_vm_readv, 1, 0, 0, 0, 0, 0),
    },
    Probe { name: "signal a process", ends: [Killed, Refused, Open], run: || syscall!(libc::SYS_kill, -1, 0) },
    Probe { name: "io_uring", ends: [Killed, Open, Open], run: || syscall!(libc::SYS_io_uring_setup, 1, 0) },
    Probe { name: "bpf", ends: [Killed, Open, Open], run: || syscall!(libc::SYS_bpf, 0, 0, 0) },
    Probe { name: "userfaultfd", ends: [Killed, Open, Open], run: || syscall!(libc::SYS_userfaultfd, 0) },
    Probe { name: "keyctl", ends: [Killed, Open, Open], run: || syscall!(libc::SYS_keyctl, 0, 0, 0, 0, 0) },
    Probe {
        name: "new user namespace",
        ends: [Killed, Open, Open],
        run: || syscall!(libc::SYS_unshare, libc::CLONE_NEWUSER),
    },
    Probe { name: "mount", ends: [Killed, Refused, Refused], run: || syscall!(libc::SYS_mount, 0, 0, 0, 0, 0) },
    Probe {
        name: "raise a limit",
        ends: [Killed, Refused, Refused],
        run: || {
            let limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
            syscall!(libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, &raw const limit, 0)
        },
    },
    Probe {
        name: "become dumpable",
        ends: [Refused, Open, Open],
        run: || syscall!(libc::SYS_prctl, libc::PR_SET_DUMPABLE, 1, 0, 0, 0),
    },
    Probe {
        name: "start a thread",
        ends: [Works, Works, Works],
        run: || match std::thread::Builder::new().spawn(|| ()) {
            Ok(thread) => thread.join().map_err(|_| Errno::ECHILD),
            Err(_) => Err(Errno::EAGAIN),
        },
    },
    Probe {
        name: "read the CPU clock",
        ends: [Works, Works, Works],
        run: || nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).map(drop),
    },
    Probe {
        name: "map code",
        ends: [Works, Works, Works],
        run: || {
            const BYTES: usize = 4096;
            let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
            syscall!(libc::SYS_mmap, 0, BYTES, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        },
    },
];

/// Tries everything, each thing in a process of its own.
pub(super) fn try_all() -> ExitCode {
    for (number, probe) in PROBES.iter().enumerate() {
        match try_one(number) {
            Ok(end) => println!("{}: {end:?}", probe.name),
            Err(error) => {
                eprintln!("{}: {error}", probe.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn try_one(number: usize) -> Result<End, String> {
    let text = |error: std::io::Error| error.to_string();
    let image = Image::of_this_program(&["it", TRY, &number.to_string()]).map_err(text)?;
    let (mut ours, theirs) = UnixStream::pair().map_err(text)?;
    let child = image.launch(theirs.into(), Stderr::Discard).map_err(text)?;
    let mut said = String::new();
    ours.read_to_string(&mut said).map_err(text)?;
    let status = waitpid(Pid::from_raw(child.pid), None).map_err(|error| error.to_string())?;
    match (said.as_str(), status) {
        ("tries;works;", WaitStatus::Exited(_, 0)) => Ok(Works),
        ("tries;refused;", WaitStatus::Exited(_, 0)) => Ok(Refused),
        ("tries;", WaitStatus::Signaled(..)) => Ok(Killed),
        // It has become another program.
        ("tries;", WaitStatus::Exited(_, 0)) => Ok(Works),
        _ => Err(format!("{said} {status:?}")),
    }
}

/// Gives up what a sandbox process gives up, and tries one thing. Says so at its socket.
pub(super) fn try_here(number: &str) -> ExitCode {
    let Some(probe) = number.parse().ok().and_then(|number: usize| PROBES.get(number)) else {
        return ExitCode::FAILURE;
    };
    let _layers = inside::before_v8();
    let _seccomp = inside::before_programs();
    // SAFETY: whoever started this process put the socket there, and nothing else uses it.
    let mut socket = UnixStream::from(unsafe { OwnedFd::from_raw_fd(SOCKET_FD) });
    let mut say = |text: &str| socket.write_all(text.as_bytes()).is_ok();
    let told = say("tries;")
        && match (probe.run)() {
            Ok(()) => say("works;"),
            Err(_) => say("refused;"),
        };
    if told { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compares what [`try_all`] said with what it must say.
pub(crate) fn check(said: &str, confined: Confined) -> Result<(), String> {
    let mut tried = said.lines();
    for probe in PROBES {
        let expected = probe.ends[confined as usize];
        let end = tried.next().and_then(|line| line.strip_prefix(probe.name)?.strip_prefix(": "));
        if end.is_none_or(|end| expected != Open && end != format!("{expected:?}")) {
            return Err(format!("{} should be {expected:?}:\n{said}", probe.name));
        }
    }
    Ok(())
}
