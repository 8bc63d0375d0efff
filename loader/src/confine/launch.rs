//! Starting a confined process: a new program image in new namespaces, with an empty environment and one socket.
//!
//! The process is made with `clone` directly, because the namespaces it needs (a process namespace above all) cannot
//! be entered by a process that exists already. Not with `clone3`, which containers commonly forbid: what they want to look
//! at is out of their filters' sight there. Between that call and the exec, the child is a copy of one thread of a program
//! with many: it makes system calls and nothing else.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;

use super::{LayerState, LayerStatus};

/// Where the started process finds its socket.
pub const SOCKET_FD: RawFd = 3;

/// Where the program image is, until the exec closes it.
const IMAGE_FD: RawFd = 4;

/// Who the process is when the broker is root: the user that owns nothing.
const NOBODY: libc::uid_t = 65534;

/// The limit of niceness that stands for 0, as `RLIMIT_NICE` has it. Anybody may lower it to this; giving it takes
/// `CAP_SYS_RESOURCE`.
const NICENESS_USUAL: libc::rlim_t = 20;

/// Threads that a process may have where the system counts them for it alone: several times what its Workers and their ends
/// take. Whoever got out of V8 could else make so many that none are left for the machine.
const THREADS_MAX: libc::rlim_t = 1024;

/// The last argument of a process for which the launch has set that limit: one that is merely inherited may be as low, and
/// counts others too.
pub(super) const THREADS_LIMITED: &CStr = c"threads-limited";

/// The first Linux that counts the threads of a user in each user namespace for itself. Before, and without a namespace, the
/// limit is on those of all processes of the user together, so a process that keeps it can still be refused a thread.
const COUNTS_BY_NAMESPACE: (u32, u32) = (5, 14);

/// What the child exits with when it did not get as far as the exec.
const EXIT_NOT_STARTED: libc::c_int = 127;

/// The namespaces that need no right when a user namespace comes with them.
const NAMESPACES: &[(libc::c_int, &str)] = &[
    (libc::CLONE_NEWNET, "net"),
    (libc::CLONE_NEWPID, "pid"),
    (libc::CLONE_NEWIPC, "ipc"),
    (libc::CLONE_NEWNS, "mount"),
    (libc::CLONE_NEWUTS, "uts"),
    (libc::CLONE_NEWCGROUP, "cgroup"),
];

/// The program that is started: this one.
#[derive(Debug)]
pub struct Image {
    file: OwnedFd,
    arguments: Vec<CString>,
    /// Open on `/dev/null`.
    null: OwnedFd,
}

/// Where the process's standard error goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stderr {
    /// V8 prints parts of programs when it gives up: they do not belong in anybody's log.
    #[default]
    Discard,
    /// For people who debug loaderd.
    Inherit,
}

/// A process that was started.
#[derive(Debug)]
pub struct Child {
    pub pid: libc::pid_t,
    /// Refers to the process without a race, also after it is gone.
    pub pidfd: OwnedFd,
    /// What the launch itself could and could not apply.
    pub layers: Vec<LayerStatus>,
}

impl Image {
    /// The running program, which will be given `arguments` (the first is its name), and one more where its threads are
    /// limited. It stays the same program when
    /// its file is replaced meanwhile.
    ///
    /// # Errors
    ///
    /// When `/proc` is not there, or the program cannot be opened.
    pub fn of_this_program(arguments: &[&str]) -> io::Result<Self> {
        let open = |path: &CStr, flags: libc::c_int| {
            // SAFETY: `path` is a NUL-terminated string; the call has no other precondition.
            let fd = Errno::result(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) })?;
            // SAFETY: a descriptor just returned by the kernel, owned by nobody else.
            let fd = unsafe { OwnedFd::from_raw_fd(fd) };
            above_fixed(fd)
        };
        let arguments = arguments
            .iter()
            .map(|argument| CString::new(*argument))
            .collect::<Result<_, _>>()
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(Self { file: open(c"/proc/self/exe", libc::O_RDONLY)?, arguments, null: open(c"/dev/null", libc::O_RDWR)? })
    }

    /// Starts a process with `socket` at [`SOCKET_FD`] and nothing else but standard streams.
    ///
    /// It is killed when the *thread* that calls this ends, so that must be one that lives as long as it is needed.
    ///
    /// # Errors
    ///
    /// When the system refuses a process altogether. That the program image could not be started shows in the
    /// process's exit.
    pub fn launch(&self, socket: OwnedFd, stderr: Stderr) -> io::Result<Child> {
        let socket = above_fixed(socket)?;
        let given = || self.arguments.iter().map(|argument| argument.as_ptr());
        let arguments: Vec<*const libc::c_char> = given().chain([std::ptr::null()]).collect();
        let arguments_limited: Vec<*const libc::c_char> =
            given().chain([THREADS_LIMITED.as_ptr(), std::ptr::null()]).collect();
        let environment: [*const libc::c_char; 1] = [std::ptr::null()];
        let root = nix::unistd::geteuid().is_root();
        let plan = Plan {
            socket: socket.as_raw_fd(),
            image: self.file.as_raw_fd(),
            null: self.null.as_raw_fd(),
            stderr,
            arguments: arguments.as_ptr(),
            arguments_limited: arguments_limited.as_ptr(),
            environment: environment.as_ptr(),
            drop_root: root,
            in_user_namespace: false,
            counts_by_namespace: counts_by_namespace(&release()),
        };
        let mut last = io::Error::from(io::ErrorKind::Other);
        for flags in attempts(root) {
            let plan = Plan { in_user_namespace: flags & libc::CLONE_NEWUSER != 0, ..plan };
            match clone(flags, &plan) {
                Ok((pid, pidfd)) => return Ok(Child { pid, pidfd, layers: vec![describe(flags)] }),
                // No right to one of the namespaces, none of them in this kernel, or none left: try fewer.
                Err(error @ (Errno::EPERM | Errno::EINVAL | Errno::ENOSPC | Errno::EUSERS)) => last = error.into(),
                Err(error) => return Err(error.into()),
            }
        }
        Err(last)
    }
}

/// Everything the child needs, made before it exists.
struct Plan {
    socket: RawFd,
    image: RawFd,
    null: RawFd,
    stderr: Stderr,
    arguments: *const *const libc::c_char,
    /// The same with [`THREADS_LIMITED`].
    arguments_limited: *const *const libc::c_char,
    environment: *const *const libc::c_char,
    drop_root: bool,
    /// It is made in a user namespace of its own.
    in_user_namespace: bool,
    /// The system counts threads in each of these for itself.
    counts_by_namespace: bool,
}

/// The kernel's version, as it calls itself.
fn release() -> String {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default()
}

fn counts_by_namespace(release: &str) -> bool {
    let mut numbers = release.trim().split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= COUNTS_BY_NAMESPACE
}

/// Sets of namespaces to ask for, the best first.
fn attempts(root: bool) -> Vec<libc::c_int> {
    let all = NAMESPACES.iter().fold(0, |flags, (flag, _)| flags | flag);
    let without_cgroup = all & !libc::CLONE_NEWCGROUP;
    // Root makes them by right, and becomes nobody inside; anybody else makes them in a user namespace.
    let user = if root { 0 } else { libc::CLONE_NEWUSER };
    let mut attempts = vec![all | user, without_cgroup | user, libc::CLONE_NEWNET | user, user, 0];
    attempts.dedup();
    attempts
}

fn describe(flags: libc::c_int) -> LayerStatus {
    let mut names: Vec<&str> = NAMESPACES.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, name)| *name).collect();
    let state = match names.len() {
        0 => LayerState::Missing,
        count if count == NAMESPACES.len() => LayerState::Applied,
        _ => LayerState::Partial,
    };
    if flags & libc::CLONE_NEWUSER != 0 {
        names.insert(0, "user");
    }
    let detail = if names.is_empty() { "the system allows none".to_owned() } else { names.join(" ") };
    LayerStatus::new("namespaces", state, detail)
}

/// Moves a descriptor out of the way of the numbers the child will use.
fn above_fixed(fd: OwnedFd) -> io::Result<OwnedFd> {
    const FREE_FROM: RawFd = 10;
    if fd.as_raw_fd() >= FREE_FROM {
        return Ok(fd);
    }
    // SAFETY: `fd` is open; the call only makes another descriptor.
    let moved = Errno::result(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, FREE_FROM) })?;
    // SAFETY: a descriptor just returned by the kernel, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(moved) })
}

fn clone(namespaces: libc::c_int, plan: &Plan) -> Result<(libc::pid_t, OwnedFd), Errno> {
    let mut pidfd: RawFd = -1;
    let flags = namespaces | libc::CLONE_PIDFD | libc::SIGCHLD;
    // SAFETY: without CLONE_VM the child runs on a copy of this thread's memory and stack, so nothing of ours is shared. It
    // executes `become_sandbox` only, which neither returns nor allocates nor takes a lock. The descriptor is stored in
    // `pidfd`, which outlives the call; the arguments after it are not looked at with these flags.
    let result = unsafe {
        libc::syscall(
            libc::SYS_clone,
            libc::c_long::from(flags),
            std::ptr::null_mut::<libc::c_void>(),
            &raw mut pidfd,
            std::ptr::null_mut::<libc::c_int>(),
            std::ptr::null_mut::<libc::c_void>(),
        )
    };
    match Errno::result(result)? {
        0 => become_sandbox(plan),
        pid => {
            // SAFETY: the kernel stored a descriptor there, owned by nobody else.
            let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
            Ok((libc::pid_t::try_from(pid).unwrap_or(0), pidfd))
        }
    }
}

/// Closes all descriptors from this one on, also where the kernel cannot do so at once. Runs in the child, too.
///
/// # Safety
/// Nothing that owns one of them is used, or dropped, afterwards.
unsafe fn close_from(first: RawFd) -> bool {
    // SAFETY: system calls that touch no memory but `limit`, which outlives its call. Whose descriptors these are matters
    // only to a program that the child does not run any more.
    unsafe {
        if libc::syscall(libc::SYS_close_range, first, libc::c_int::MAX, 0) == 0 {
            return true;
        }
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return false;
        }
        let last = RawFd::try_from(limit.rlim_cur).unwrap_or(RawFd::MAX);
        for fd in first..last {
            libc::close(fd);
        }
        true
    }
}

/// Runs in the child: sets up what an exec keeps, and execs. System calls only.
fn become_sandbox(plan: &Plan) -> ! {
    let stderr = match plan.stderr {
        Stderr::Discard => plan.null,
        Stderr::Inherit => libc::STDERR_FILENO,
    };
    // SAFETY: all pointers in `plan` were valid before the clone and are in this process's copy; the calls are system
    // calls that a child of a process with many threads may make.
    unsafe {
        let placed = libc::dup2(plan.socket, SOCKET_FD) == SOCKET_FD
            && libc::dup3(plan.image, IMAGE_FD, libc::O_CLOEXEC) == IMAGE_FD
            && libc::dup2(plan.null, libc::STDIN_FILENO) >= 0
            && libc::dup2(plan.null, libc::STDOUT_FILENO) >= 0
            && libc::dup2(stderr, libc::STDERR_FILENO) >= 0
            && close_from(IMAGE_FD + 1);
        if !placed {
            libc::_exit(EXIT_NOT_STARTED);
        }
        // So that it may take back what it has its own threads give up of their priority; no more than what is usual.
        let niceness = libc::rlimit { rlim_cur: NICENESS_USUAL, rlim_max: NICENESS_USUAL };
        libc::setrlimit(libc::RLIMIT_NICE, &raw const niceness);
        if plan.drop_root {
            // The process looks at who it is once it runs, and reports that. Raw calls, because libc's would try to
            // do the same in threads that only the parent has.
            libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>());
            libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY);
            libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY);
        }
        // Hides even that user's identity and rights; fails where users may not have namespaces.
        let alone = plan.in_user_namespace || (plan.drop_root && libc::unshare(libc::CLONE_NEWUSER) == 0);
        let mut arguments = plan.arguments;
        if alone && plan.counts_by_namespace {
            let mut threads: libc::rlimit = std::mem::zeroed();
            if libc::getrlimit(libc::RLIMIT_NPROC, &raw mut threads) == 0 {
                threads.rlim_max = threads.rlim_max.min(THREADS_MAX);
                threads.rlim_cur = threads.rlim_max;
                if libc::setrlimit(libc::RLIMIT_NPROC, &raw const threads) == 0 {
                    arguments = plan.arguments_limited;
                }
            }
        }
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
        libc::syscall(libc::SYS_execveat, IMAGE_FD, c"".as_ptr(), arguments, plan.environment, libc::AT_EMPTY_PATH);
        libc::_exit(EXIT_NOT_STARTED)
    }
}

#[cfg(test)]
mod tests {
    use super::counts_by_namespace;

    #[test]
    fn kernels_that_count_threads_by_namespace_are_known_by_their_version() {
        let cases = [
            ("5.14.0-427.13.1.el9_4.x86_64\n", true),
            ("6.18.44-fc-v669", true),
            ("5.15.167.4-microsoft-standard-WSL2", true),
            ("10.0.0", true),
            ("5.13.19", false),
            ("5.4.0-200-generic", false),
            ("4.18.0-553.el8", false),
            ("", false),
            ("new", false),
        ];
        for (release, expected) in cases {
            assert_eq!(counts_by_namespace(release), expected, "{release:?}");
        }
    }
}
