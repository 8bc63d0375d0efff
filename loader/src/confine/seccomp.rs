//! Which system calls a sandbox process has left.
//!
//! Three filters, of which the kernel applies the strictest: an allow list whose default is death; within it, calls
//! that libraries try and do without, which fail politely; and `clone3`, which must look unimplemented, because its
//! flags are behind a pointer that a filter cannot follow. `clone` is then used, and only makes threads.

use std::collections::BTreeMap;

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::{BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch};

/// Why the filters are not in force.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterError {
    #[error("no filter for this processor")]
    Architecture,
    #[error("cannot be made: {0}")]
    Make(#[from] seccompiler::BackendError),
    #[error("cannot be applied: {0}")]
    Apply(#[from] seccompiler::Error),
}

/// Memory, threads, time, and the descriptors that are there.
const ALLOWED: &[libc::c_long] = &[
    // Memory: V8 maps, protects and unmaps, code included.
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_pkey_mprotect,
    libc::SYS_pkey_alloc,
    libc::SYS_pkey_free,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_brk,
    libc::SYS_membarrier,
    // Threads.
    libc::SYS_futex,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_restart_syscall,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    // Time, and what was used.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_timerfd_settime,
    libc::SYS_gettimeofday,
    libc::SYS_getrusage,
    libc::SYS_getrandom,
    // The socket, and what wakes threads.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_close,
    libc::SYS_ppoll,
    libc::SYS_eventfd2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_time,
];

/// What libraries try at times and do without.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_openat,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_readlinkat,
    libc::SYS_getcwd,
    libc::SYS_ioctl,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getppid,
    libc::SYS_mlock,
    libc::SYS_sched_setaffinity,
    libc::SYS_setpriority,
    libc::SYS_getpriority,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_setscheduler,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_open,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_access,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
];

/// The only things a process may still set about itself: names, of threads and of memory, and how exact a timer is.
const PRCTL_ALLOWED: &[libc::c_int] =
    &[libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA, libc::PR_SET_TIMERSLACK];

/// What the process is called in a process namespace of its own, where it can name no thread of another process.
const FIRST_IN_NAMESPACE: u32 = 1;

/// Puts the filters into force for every thread of the process.
pub(super) fn apply() -> Result<(), FilterError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|_| FilterError::Architecture)?;
    let errno = |number: libc::c_int| SeccompAction::Errno(number.unsigned_abs());
    // One filter has one answer, so there are several. The allow list comes last, because installing a filter takes
    // calls that it does not have.
    let programs = [
        program(unimplemented(), errno(libc::ENOSYS), SeccompAction::Allow, architecture)?,
        program(refused()?, errno(libc::EACCES), SeccompAction::Allow, architecture)?,
        program(prctl_refused()?, errno(libc::EPERM), SeccompAction::Allow, architecture)?,
        program(allowed()?, SeccompAction::Allow, SeccompAction::KillProcess, architecture)?,
    ];
    for program in programs {
        seccompiler::apply_filter_all_threads(&program)?;
    }
    Ok(())
}

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

fn program(
    rules: Rules,
    matched: SeccompAction,
    otherwise: SeccompAction,
    architecture: TargetArch,
) -> Result<BpfProgram, FilterError> {
    Ok(SeccompFilter::new(rules, otherwise, matched, architecture)?.try_into()?)
}

fn unimplemented() -> Rules {
    BTreeMap::from([(libc::SYS_clone3, Vec::new())])
}

fn refused() -> Result<Rules, FilterError> {
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    // Priorities of threads: lower ones, that is, since the process has no right to higher ones. The watchdog sets those
    // of others; where threads of other processes can be named, it may not, and each thread has only its own.
    if std::process::id() != FIRST_IN_NAMESPACE {
        let another = SeccompCondition::new(0, Dword, SeccompCmpOp::Ne, 0)?;
        rules.insert(libc::SYS_sched_setattr, vec![SeccompRule::new(vec![another])?]);
    }
    Ok(rules)
}

fn prctl_refused() -> Result<Rules, FilterError> {
    let others = PRCTL_ALLOWED
        .iter()
        // Installing the next filter sets it, again.
        .chain([&libc::PR_SET_NO_NEW_PRIVS])
        .map(|option| SeccompCondition::new(0, Dword, SeccompCmpOp::Ne, u64::from(option.unsigned_abs())))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(BTreeMap::from([(libc::SYS_prctl, vec![SeccompRule::new(others)?])]))
}

fn allowed() -> Result<Rules, FilterError> {
    let mut rules: Rules = ALLOWED.iter().chain(REFUSED).map(|call| (*call, Vec::new())).collect();
    for decided_by_the_others in [libc::SYS_clone3, libc::SYS_prctl, libc::SYS_sched_setattr] {
        rules.insert(decided_by_the_others, Vec::new());
    }
    let flag = |flag: libc::c_int| u64::from(flag.unsigned_abs());
    // A thread of this process: never a process, a namespace, or somebody to be traced.
    let threads = flag(libc::CLONE_VM) | flag(libc::CLONE_SIGHAND) | flag(libc::CLONE_THREAD);
    let never = flag(libc::CLONE_NEWUSER)
        | flag(libc::CLONE_NEWNS)
        | flag(libc::CLONE_NEWPID)
        | flag(libc::CLONE_NEWNET)
        | flag(libc::CLONE_NEWIPC)
        | flag(libc::CLONE_NEWUTS)
        | flag(libc::CLONE_NEWCGROUP)
        | flag(libc::CLONE_VFORK)
        | flag(libc::CLONE_PTRACE);
    let only_threads = SeccompCondition::new(0, Qword, SeccompCmpOp::MaskedEq(threads | never), threads)?;
    rules.insert(libc::SYS_clone, vec![SeccompRule::new(vec![only_threads])?]);

    // Signals only to itself: how a failed assertion ends a process.
    let own_process = u64::from(std::process::id());
    let to_itself = SeccompCondition::new(0, Dword, SeccompCmpOp::Eq, own_process)?;
    rules.insert(libc::SYS_tgkill, vec![SeccompRule::new(vec![to_itself])?]);

    // Reading its own limits, not setting them.
    let own = SeccompCondition::new(0, Dword, SeccompCmpOp::Eq, 0)?;
    let read = SeccompCondition::new(2, Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![own, read])?]);

    let descriptor_flags = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL]
        .into_iter()
        .map(|command| {
            let is = SeccompCondition::new(1, Dword, SeccompCmpOp::Eq, u64::from(command.unsigned_abs()))?;
            SeccompRule::new(vec![is])
        })
        .collect::<Result<Vec<_>, _>>()?;
    rules.insert(libc::SYS_fcntl, descriptor_flags);
    Ok(rules)
}
