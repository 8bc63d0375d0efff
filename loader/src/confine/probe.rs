//! Trying what must not work. Only for a process made for this: most probes end it when the confinement holds.

use nix::errno::Errno;

/// What a probe should come to in a confined process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// The process is killed in the middle of it.
    Killed,
    /// The call fails, and the process goes on.
    Refused,
    /// The call works: programs need it.
    Works,
}

/// One thing to try.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    pub name: &'static str,
    pub expected: Expected,
    run: fn() -> Result<(), Errno>,
}

impl Probe {
    /// Tries it. Does not return when the process is killed for it.
    ///
    /// # Errors
    ///
    /// What the kernel said.
    pub fn run(&self) -> Result<(), Errno> {
        (self.run)()
    }
}

macro_rules! syscall {
    ($($argument:expr),+) => {
        // SAFETY: the arguments are null, plain numbers or strings with their NUL; what the call makes is not used.
        Errno::result(unsafe { libc::syscall($($argument),+) }).map(drop)
    };
}

/// Everything there is to try.
pub const PROBES: &[Probe] = &[
    Probe {
        name: "read a file",
        expected: Expected::Refused,
        run: || syscall!(libc::SYS_openat, libc::AT_FDCWD, c"/etc/passwd".as_ptr(), libc::O_RDONLY),
    },
    Probe {
        name: "create a file",
        expected: Expected::Refused,
        run: || {
            let flags = libc::O_WRONLY | libc::O_CREAT;
            syscall!(libc::SYS_openat, libc::AT_FDCWD, c"/tmp/loaderd-probe".as_ptr(), flags, 0o600)
        },
    },
    Probe {
        name: "openat2",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_openat2, libc::AT_FDCWD, c"/etc/passwd".as_ptr(), 0, 0),
    },
    Probe {
        name: "network socket",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_socket, libc::AF_INET, libc::SOCK_STREAM, 0),
    },
    Probe {
        name: "unix socket",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_socket, libc::AF_UNIX, libc::SOCK_STREAM, 0),
    },
    Probe {
        name: "connect",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_connect, super::launch::SOCKET_FD, 0, 0),
    },
    Probe {
        name: "execute a program",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_execve, c"/bin/true".as_ptr(), 0, 0),
    },
    Probe { name: "fork", expected: Expected::Killed, run: || syscall!(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) },
    Probe { name: "clone3", expected: Expected::Refused, run: || syscall!(libc::SYS_clone3, 0, 0) },
    Probe {
        name: "trace a process",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_ptrace, libc::PTRACE_ATTACH, 1, 0, 0),
    },
    Probe {
        name: "read another process's memory",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_process_vm_readv, 1, 0, 0, 0, 0, 0),
    },
    Probe { name: "signal a process", expected: Expected::Killed, run: || syscall!(libc::SYS_kill, -1, 0) },
    Probe { name: "io_uring", expected: Expected::Killed, run: || syscall!(libc::SYS_io_uring_setup, 1, 0) },
    Probe { name: "bpf", expected: Expected::Killed, run: || syscall!(libc::SYS_bpf, 0, 0, 0) },
    Probe { name: "userfaultfd", expected: Expected::Killed, run: || syscall!(libc::SYS_userfaultfd, 0) },
    Probe { name: "keyctl", expected: Expected::Killed, run: || syscall!(libc::SYS_keyctl, 0, 0, 0, 0, 0) },
    Probe {
        name: "new user namespace",
        expected: Expected::Killed,
        run: || syscall!(libc::SYS_unshare, libc::CLONE_NEWUSER),
    },
    Probe { name: "mount", expected: Expected::Killed, run: || syscall!(libc::SYS_mount, 0, 0, 0, 0, 0) },
    Probe {
        name: "raise a limit",
        expected: Expected::Killed,
        run: || {
            let limit = libc::rlimit { rlim_cur: 1024, rlim_max: 1024 };
            syscall!(libc::SYS_prlimit64, 0, libc::RLIMIT_NOFILE, &raw const limit, 0)
        },
    },
    Probe {
        name: "become dumpable",
        expected: Expected::Refused,
        run: || syscall!(libc::SYS_prctl, libc::PR_SET_DUMPABLE, 1, 0, 0, 0),
    },
    Probe {
        name: "start a thread",
        expected: Expected::Works,
        run: || match std::thread::Builder::new().spawn(|| ()) {
            Ok(thread) => thread.join().map_err(|_| Errno::ECHILD),
            Err(_) => Err(Errno::EAGAIN),
        },
    },
    Probe {
        name: "read the CPU clock",
        expected: Expected::Works,
        run: || nix::time::clock_gettime(nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID).map(drop),
    },
    Probe {
        name: "map code",
        expected: Expected::Works,
        run: || {
            const BYTES: usize = 4096;
            let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
            syscall!(libc::SYS_mmap, 0, BYTES, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        },
    },
];
