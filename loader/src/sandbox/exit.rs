//! Why a sandbox process had to be replaced, told from how it ended.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use loaderd_runtime::fatal::Fatal;
use nix::poll::{PollFd, PollFlags, PollTimeout};
use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;

use super::socket::Lost;

/// What a sandbox process exits with when V8 in it gives up, by reason.
const EXIT_OUT_OF_MEMORY: i32 = 70;
const EXIT_V8_CHECK: i32 = 71;
const EXIT_V8_ABORT: i32 = 72;

/// How long a process that closed its socket may take to end by itself before it is made to: its own end says more. Its
/// passes are answered meanwhile, so this holds up nobody; the system may still have namespaces of it to take down, on a
/// machine whose processors are all busy.
const END_WITHIN: Duration = Duration::from_secs(2);

/// Why a sandbox process had to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// The broker killed it: a Worker in it did not stop when it was ended.
    Stuck,
    /// The broker killed it: it gave no sign of life.
    Hung,
    /// The broker killed it: it broke the protocol, or closed its socket and ran on.
    Garbage,
    /// V8 gave up, because a program wanted more memory than there is.
    OutOfMemory,
    /// V8 gave up, because a program wanted something larger than V8 can make.
    V8Abort,
    /// V8 gave up: a check of its own failed.
    V8Check,
    /// It made a system call that it may not make, and died of it.
    ForbiddenCall,
    /// It died of a fault of its own: a signal such as SIGSEGV or SIGABRT.
    Crashed,
    /// Somebody else killed it: the kernel for want of memory, or a person.
    Killed,
    /// It exited without being asked to.
    Exited,
    /// The system refused it, or it ended by itself before it was used: the machine does not run it.
    NeverStarted,
}

/// All of them, in the order in which they are counted.
pub const RESTARTS: [Restart; 11] = [
    Restart::Stuck,
    Restart::Hung,
    Restart::Garbage,
    Restart::OutOfMemory,
    Restart::V8Abort,
    Restart::V8Check,
    Restart::ForbiddenCall,
    Restart::Crashed,
    Restart::Killed,
    Restart::Exited,
    Restart::NeverStarted,
];

impl Restart {
    /// As logs and metrics spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stuck => "stuck",
            Self::Hung => "hung",
            Self::Garbage => "garbage",
            Self::OutOfMemory => "out-of-memory",
            Self::V8Abort => "v8-abort",
            Self::V8Check => "v8-check",
            Self::ForbiddenCall => "forbidden-call",
            Self::Crashed => "crashed",
            Self::Killed => "killed",
            Self::Exited => "exited",
            Self::NeverStarted => "never-started",
        }
    }

    /// Whether the broker killed a process that would have gone on.
    #[must_use]
    pub fn by_broker(self) -> bool {
        matches!(self, Self::Stuck | Self::Hung | Self::Garbage)
    }

    /// Whether nobody ended it: neither the broker nor anybody else.
    pub(super) fn by_its_own_doing(self) -> bool {
        !self.by_broker() && self != Self::Killed
    }

    /// Its place among [`RESTARTS`].
    pub(super) fn index(self) -> usize {
        RESTARTS.iter().position(|known| *known == self).unwrap_or(RESTARTS.len() - 1)
    }
}

/// What a process exits with in which V8 gives up.
pub(super) fn exit_code(why: Fatal) -> i32 {
    match why {
        Fatal::OutOfMemory => EXIT_OUT_OF_MEMORY,
        Fatal::Abort => EXIT_V8_ABORT,
        Fatal::Check => EXIT_V8_CHECK,
    }
}

/// Waits a little for a process whose connection is gone to end by itself; whether it did.
pub(super) fn ends_by_itself(pidfd: &OwnedFd) -> bool {
    let deadline = Instant::now() + END_WITHIN;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        // A descriptor of a process can be read from when that has ended.
        let mut fds = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        match nix::poll::poll(&mut fds, PollTimeout::try_from(left).unwrap_or(PollTimeout::ZERO)) {
            Err(nix::Error::EINTR) => {}
            ended => return ended.is_ok_and(|ended| ended > 0),
        }
    }
}

/// Why a process went that the broker did not send away. `lost` is how its connection ended; `alone`: it had ended before
/// anybody killed it.
pub(super) fn why(lost: &Lost, status: Option<WaitStatus>, alone: bool) -> Restart {
    if matches!(lost, Lost::Malformed(_) | Lost::Stalled) || !alone {
        return Restart::Garbage;
    }
    match status {
        Some(WaitStatus::Exited(_, EXIT_OUT_OF_MEMORY)) => Restart::OutOfMemory,
        Some(WaitStatus::Exited(_, EXIT_V8_ABORT)) => Restart::V8Abort,
        Some(WaitStatus::Exited(_, EXIT_V8_CHECK)) => Restart::V8Check,
        Some(WaitStatus::Signaled(_, Signal::SIGSYS, _)) => Restart::ForbiddenCall,
        Some(WaitStatus::Signaled(_, Signal::SIGKILL | Signal::SIGTERM | Signal::SIGINT | Signal::SIGHUP, _)) => {
            Restart::Killed
        }
        Some(WaitStatus::Signaled(..)) => Restart::Crashed,
        _ => Restart::Exited,
    }
}

#[cfg(test)]
mod tests {
    use nix::unistd::Pid;

    use super::*;
    use crate::sandbox::wire::Malformed;

    #[test]
    fn the_end_of_a_process_says_why() {
        let pid = Pid::from_raw(1);
        let exited = |code| Some(WaitStatus::Exited(pid, code));
        let signalled = |signal| Some(WaitStatus::Signaled(pid, signal, false));
        let garbage = Lost::Malformed(Malformed::Encoding);
        for (lost, status, alone, expected) in [
            (&Lost::Closed, exited(exit_code(Fatal::OutOfMemory)), true, Restart::OutOfMemory),
            (&Lost::Closed, exited(exit_code(Fatal::Check)), true, Restart::V8Check),
            (&Lost::Closed, exited(exit_code(Fatal::Abort)), true, Restart::V8Abort),
            (&Lost::Closed, exited(0), true, Restart::Exited),
            (&Lost::Closed, signalled(Signal::SIGSYS), true, Restart::ForbiddenCall),
            (&Lost::Closed, signalled(Signal::SIGKILL), true, Restart::Killed),
            (&Lost::Closed, signalled(Signal::SIGSEGV), true, Restart::Crashed),
            (&Lost::Closed, signalled(Signal::SIGABRT), true, Restart::Crashed),
            (&Lost::Closed, signalled(Signal::SIGKILL), false, Restart::Garbage),
            (&garbage, signalled(Signal::SIGKILL), false, Restart::Garbage),
            (&Lost::Stalled, signalled(Signal::SIGKILL), false, Restart::Garbage),
            (&Lost::Closed, None, true, Restart::Exited),
        ] {
            assert_eq!(why(lost, status, alone), expected, "{lost:?} {status:?}");
        }
        for (index, restart) in RESTARTS.iter().enumerate() {
            assert_eq!(restart.index(), index, "{restart:?}");
        }
    }
}
