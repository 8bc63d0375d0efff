//! Layers of the confinement that a machine does not have: a filter of system calls makes them fail for the program under
//! test and all that it starts, as old kernels and containers do. Programs run all the same, are ended and get no further;
//! what is missing is told, once, and the layers that are there hold.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt;
use std::process::Command;

use libtest_mimic::Trial;

use crate::proc;
use crate::sandboxes::probes::{self, Confined};
use crate::server::Server;
use crate::unprivileged;
use crate::wait::until;

/// A machine without some layers.
struct Machine {
    name: &'static str,
    calls: &'static [Call],
    /// What is missing there.
    missing: &'static [&'static str],
    confined: Confined,
}

/// A system call that fails.
struct Call {
    number: libc::c_long,
    when: When,
    errno: libc::c_int,
}

/// With which arguments.
#[derive(Clone, Copy)]
enum When {
    Always,
    /// The first argument is this.
    Is(libc::c_int),
    /// The first argument has one of these bits.
    Has(libc::c_int),
}

const fn always(number: libc::c_long, errno: libc::c_int) -> Call {
    Call { number, when: When::Always, errno }
}

const NAMESPACES: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

const NO_LANDLOCK: Call = always(libc::SYS_landlock_create_ruleset, libc::ENOSYS);
const NO_SECCOMP: Call = always(libc::SYS_seccomp, libc::ENOSYS);
const NO_SECCOMP_OPTION: Call =
    Call { number: libc::SYS_prctl, when: When::Is(libc::PR_SET_SECCOMP), errno: libc::EINVAL };
// As containers forbid them.
const NO_CLONE3: Call = always(libc::SYS_clone3, libc::ENOSYS);
const NO_NEW_NAMESPACES: Call = Call { number: libc::SYS_clone, when: When::Has(NAMESPACES), errno: libc::EPERM };
const NO_UNSHARING: Call = Call { number: libc::SYS_unshare, when: When::Has(NAMESPACES), errno: libc::EPERM };

const MACHINES: &[Machine] = &[
    Machine { name: "all_there", calls: &[], missing: &[], confined: Confined::WithSeccomp },
    Machine { name: "no_landlock", calls: &[NO_LANDLOCK], missing: &["landlock"], confined: Confined::WithSeccomp },
    Machine {
        name: "landlock_switched_off",
        calls: &[always(libc::SYS_landlock_create_ruleset, libc::EOPNOTSUPP)],
        missing: &["landlock"],
        confined: Confined::WithSeccomp,
    },
    Machine {
        name: "no_namespaces",
        calls: &[NO_CLONE3, NO_NEW_NAMESPACES, NO_UNSHARING],
        missing: &["namespaces", "threads"],
        confined: Confined::WithSeccomp,
    },
    Machine {
        name: "no_seccomp",
        calls: &[NO_SECCOMP, NO_SECCOMP_OPTION],
        missing: &["seccomp"],
        confined: Confined::WithoutSeccomp,
    },
    Machine {
        name: "none_of_them",
        calls: &[NO_LANDLOCK, NO_SECCOMP, NO_SECCOMP_OPTION, NO_CLONE3, NO_NEW_NAMESPACES, NO_UNSHARING],
        missing: &["namespaces", "threads", "landlock", "seccomp"],
        confined: Confined::Hardly,
    },
    Machine {
        name: "old_calls_only",
        calls: &[NO_CLONE3, always(libc::SYS_close_range, libc::ENOSYS)],
        missing: &[],
        confined: Confined::WithSeccomp,
    },
];

type Check = fn(&'static Machine) -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 4] =
        [("doctor", doctor), ("programs", programs), ("service", service), ("attempts", attempts)];
    let trials = MACHINES.iter().flat_map(|machine| {
        checks.map(|(what, check)| {
            Trial::test(format!("layers::{}::{what}", machine.name), move || check(machine).map_err(Into::into))
        })
    });
    trials.collect()
}

impl Machine {
    /// A command on it.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_remove("LOADERD_LOG");
        if !self.calls.is_empty() {
            let filter = filter(self.calls);
            // SAFETY: makes two system calls and nothing else; the filter was made before.
            unsafe { command.pre_exec(move || install(&filter)) };
        }
        command
    }

    fn loaderd(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_loaderd"))
    }
}

/// Instructions that make these calls fail and let all others through.
fn filter(calls: &[Call]) -> Vec<libc::sock_filter> {
    const NUMBER: u32 = 0;
    const FIRST_ARGUMENT: u32 = 16;
    let instruction = |code: u32, k: u32, yes: u8, no: u8| libc::sock_filter {
        code: u16::try_from(code).unwrap_or(0),
        jt: yes,
        jf: no,
        k,
    };
    let load = |from: u32| instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, from, 0, 0);
    let end = |value: u32| instruction(libc::BPF_RET | libc::BPF_K, value, 0, 0);
    let jump = |kind: u32, value: u32, no: u8| instruction(libc::BPF_JMP | kind | libc::BPF_K, value, 0, no);
    let mut filter = Vec::new();
    for call in calls {
        let number = u32::try_from(call.number).unwrap_or(u32::MAX);
        let argument = match call.when {
            When::Always => None,
            When::Is(value) => Some((libc::BPF_JEQ, value)),
            When::Has(bits) => Some((libc::BPF_JSET, bits)),
        };
        filter.push(load(NUMBER));
        // To the next call's instructions, where it is not this one.
        filter.push(jump(libc::BPF_JEQ, number, if argument.is_some() { 3 } else { 1 }));
        if let Some((kind, value)) = argument {
            filter.push(load(FIRST_ARGUMENT));
            filter.push(jump(kind, value.cast_unsigned(), 1));
        }
        filter.push(end(libc::SECCOMP_RET_ERRNO | call.errno.unsigned_abs()));
    }
    filter.push(end(libc::SECCOMP_RET_ALLOW));
    filter
}

/// Applies a filter to the calling process, for good.
fn install(filter: &[libc::sock_filter]) -> std::io::Result<()> {
    let program =
        libc::sock_fprog { len: u16::try_from(filter.len()).unwrap_or(0), filter: filter.as_ptr().cast_mut() };
    // SAFETY: the kernel copies the program, which outlives the call.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if installed { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// What `doctor` says without a filter.
fn here() -> Result<BTreeMap<String, String>, String> {
    unprivileged::doctor(&mut Command::new(env!("CARGO_BIN_EXE_loaderd")))
}

/// `doctor` says that the layers are missing which are, and tells of the others what it tells without the filter.
fn doctor(machine: &Machine) -> Result<(), String> {
    let mut expected = here()?;
    for layer in machine.missing {
        if expected.insert((*layer).to_owned(), "missing".to_owned()).is_none() {
            return Err(format!("doctor does not tell of {layer}"));
        }
    }
    let told: BTreeMap<String, String> = unprivileged::doctor(&mut machine.loaderd())?;
    if told == expected { Ok(()) } else { Err(format!("should be {expected:?}\n  and is {told:?}")) }
}

fn programs(machine: &'static Machine) -> Result<(), String> {
    unprivileged::run_programs(|| machine.loaderd())
}

/// Resource limits of a sandbox process, as `/proc` tells them: soft and hard.
const LIMITS: &[(&str, &str)] = &[
    ("Max core file size", "0"),
    ("Max file size", "0"),
    ("Max open files", "64"),
    ("Max locked memory", "0"),
    ("Max msgqueue size", "0"),
    ("Max realtime priority", "0"),
];

/// Threads that a sandbox process may have, at most.
const THREADS_MAX: u32 = 1024;

/// A service says once what is missing, and its sandbox processes are limited by all resource limits.
fn service(machine: &Machine) -> Result<(), String> {
    let mut service = Server(unprivileged::service(&mut machine.loaderd())?);
    let mut missing = unprivileged::said_to_be_missing(&mut service)?;
    // Not what this machine itself does not have.
    let here = here()?;
    let is_here = |layer: &str| here.get(layer).is_some_and(|state| state == "applied");
    missing.retain(|layer| is_here(layer));
    let expected: Vec<&str> = machine.missing.iter().copied().filter(|layer| is_here(layer)).collect();
    if missing != expected {
        return Err(format!("should be said to be missing: {expected:?}\n  and are: {missing:?}"));
    }
    let mut sandboxes = Vec::new();
    until(
        || {
            sandboxes = proc::children(service.0.id()).unwrap_or_default();
            !sandboxes.is_empty()
        },
        "a sandbox process",
    )?;
    for sandbox in sandboxes {
        let limits = std::fs::read_to_string(format!("/proc/{sandbox}/limits")).map_err(|error| error.to_string())?;
        let values = |name: &str| -> Option<Vec<&str>> {
            Some(limits.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().take(2).collect())
        };
        for (name, value) in LIMITS {
            if values(name).as_deref() != Some(&[*value, *value]) {
                return Err(format!("{name} should be {value}:\n{limits}"));
            }
        }
        if is_here("threads") && !machine.missing.contains(&"threads") {
            let max = values("Max processes").and_then(|values| values[0].parse::<u32>().ok());
            if max.is_none_or(|max| max > THREADS_MAX) {
                return Err(format!("threads should be limited:\n{limits}"));
            }
        }
        if values("Max data size").is_none_or(|values| values.contains(&"unlimited")) {
            return Err(format!("memory should be limited:\n{limits}"));
        }
    }
    Ok(())
}

/// What must not work does not, and what programs need does. A limit on threads, which kernels before 5.14 cannot give, takes
/// no part in that.
fn attempts(machine: &Machine) -> Result<(), String> {
    let less = |(layer, state): &(String, String)| layer != "threads" && state != "applied";
    if let Some((layer, state)) = here()?.into_iter().find(less) {
        println!("skipped: {layer} is {state} on this machine itself, so less holds on it");
        return Ok(());
    }
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = machine.command(&this.to_string_lossy());
    let tried = command.arg(probes::TRY_ALL).output().map_err(|error| error.to_string())?;
    if !tried.status.success() {
        return Err(format!("{}: {}", tried.status, String::from_utf8_lossy(&tried.stderr)));
    }
    probes::check(&String::from_utf8_lossy(&tried.stdout), machine.confined)
}
