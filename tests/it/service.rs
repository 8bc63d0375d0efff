//! A running `loaderd executor`.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use crate::json::Json;
use crate::scratch::Scratch;

/// How long a service may take to listen. A bound against hanging tests, not an expectation.
const LISTEN_WAIT: Duration = Duration::from_secs(30);

/// Where the service keeps V8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    InProcess,
    Process,
}

impl Mode {
    pub(crate) const ALL: [Self; 2] = [Self::InProcess, Self::Process];

    /// The value of `--sandbox`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::Process => "process",
        }
    }

    pub(crate) fn arguments(self) -> [&'static str; 2] {
        ["--sandbox", self.name()]
    }
}

pub(crate) struct Service {
    child: Mutex<Child>,
    socket: PathBuf,
    /// Where its log said that the admin address is.
    admin: OnceLock<String>,
    /// What it logs once it listens, line by line.
    log: OnceLock<Mutex<Receiver<String>>>,
    _scratch: Scratch,
}

/// How a service is started.
#[derive(Clone, Copy, Default)]
pub(crate) struct Start<'a> {
    pub(crate) arguments: &'a [&'a str],
    /// A file that the log goes to, instead of being read here.
    pub(crate) log: Option<&'a str>,
    /// How much it logs.
    pub(crate) log_level: Option<&'a str>,
    /// What it may have of the system, as arguments of the shell's `ulimit`.
    pub(crate) ulimit: Option<&'a str>,
}

impl Service {
    /// Starts a service and waits until it listens.
    pub(crate) fn start(arguments: &[&str]) -> Result<Self, String> {
        Self::start_with(&Start { arguments, ..Start::default() })
    }

    pub(crate) fn start_with(start: &Start<'_>) -> Result<Self, String> {
        let scratch = Scratch::new()?;
        let socket = scratch.path().join("s");
        let log = match start.log {
            None => Stdio::piped(),
            Some(path) => std::fs::OpenOptions::new().write(true).open(path).map_err(|error| error.to_string())?.into(),
        };
        let mut command = command(start.ulimit);
        if let Some(level) = start.log_level {
            command.env("LOADERD_LOG", level);
        }
        let mut child = command
            .arg("executor")
            .arg("--listen")
            .arg(format!("unix:{}", socket.display()))
            .args(start.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| error.to_string())?;
        let log = child.stderr.take();
        let service =
            Self { child: Mutex::new(child), socket, admin: OnceLock::new(), log: OnceLock::new(), _scratch: scratch };
        match log {
            Some(log) => service.read_until_it_listens(log)?,
            None => service.connect_until_it_listens()?,
        }
        Ok(service)
    }

    fn read_until_it_listens(&self, log: ChildStderr) -> Result<(), String> {
        let mut log = BufReader::new(log);
        let mut said = String::new();
        loop {
            let before = said.len();
            match log.read_line(&mut said) {
                Ok(0) => return Err(format!("the service ended before it listened:\n{said}")),
                Ok(_) if said[before..].contains("listening") => break,
                Ok(_) => {
                    if let Some((_, address)) = said[before..].trim_end().split_once("admin address: ") {
                        // As JSON, more follows.
                        let address = address.split('"').next().unwrap_or_default();
                        let _ = self.admin.set(address.to_owned());
                    }
                }
                Err(error) => return Err(error.to_string()),
            }
        }
        // Read on, so that a full pipe never stops the service.
        let (sender, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let _ = self.log.set(Mutex::new(lines));
        Ok(())
    }

    /// The lines logged since it listened that nobody has read yet.
    pub(crate) fn unread_log(&self) -> Vec<String> {
        let Some(lines) = self.log.get() else { return Vec::new() };
        lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner).try_iter().collect()
    }

    /// The next line of a JSON log whose message is this; lines before it are gone.
    pub(crate) fn logged(&self, message: &str, patience: Duration) -> Result<Json, String> {
        let lines = self.log.get().ok_or("the log is not read")?;
        let lines = lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = lines.recv_timeout(left).map_err(|_| format!("never logged: {message}"))?;
            let line = Json::parse(&line).map_err(|error| format!("not JSON: {error}: {line}"))?;
            let said = line.get("fields").and_then(|fields| fields.get("message")).and_then(Json::as_text);
            if said.as_deref() == Some(message) {
                return Ok(line);
            }
        }
    }

    /// All lines of the log until so many of a JSON log have this message, and what follows them at once.
    pub(crate) fn logged_until(&self, message: &str, count: usize, patience: Duration) -> Result<Vec<String>, String> {
        let lines = self.log.get().ok_or("the log is not read")?;
        let lines = lines.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (deadline, wanted) = (Instant::now() + patience, format!("\"message\":\"{message}\""));
        let (mut all, mut found) = (Vec::new(), 0);
        while found < count {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = lines.recv_timeout(left).map_err(|_| format!("logged {found} times only: {message}"))?;
            found += usize::from(line.contains(&wanted));
            all.push(line);
        }
        all.extend(lines.try_iter());
        Ok(all)
    }

    /// For a service whose log cannot be read.
    fn connect_until_it_listens(&self) -> Result<(), String> {
        let deadline = Instant::now() + LISTEN_WAIT;
        while std::os::unix::net::UnixStream::connect(&self.socket).is_err() {
            if !self.runs() || Instant::now() > deadline {
                return Err("the service does not listen".to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// The service that all cases of this process share: what one pass breaks, the others see.
    pub(crate) fn shared() -> Result<&'static Self, String> {
        shared_slot().get_or_init(|| Self::start(&[])).as_ref().map_err(Clone::clone)
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    pub(crate) fn admin(&self) -> Option<String> {
        self.admin.get().cloned()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.lock().id()
    }

    /// Whether it is still there.
    pub(crate) fn runs(&self) -> bool {
        matches!(self.lock().try_wait(), Ok(None))
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) -> Result<(), String> {
        let pid = nix::unistd::Pid::from_raw(i32::try_from(self.pid()).map_err(|error| error.to_string())?);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).map_err(|error| error.to_string())
    }

    /// Waits until it has ended, and in good order.
    pub(crate) fn ended(&self, within: Duration) -> Result<(), String> {
        let deadline = Instant::now() + within;
        loop {
            match self.lock().try_wait().map_err(|error| error.to_string())? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the service ended with {status}")),
                None if Instant::now() > deadline => return Err("the service did not end".to_owned()),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn stop(&self) {
        let mut child = self.lock();
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The built binary, by way of a shell where it may not have all of the system.
pub(crate) fn command(ulimit: Option<&str>) -> Command {
    let binary = env!("CARGO_BIN_EXE_loaderd");
    match ulimit {
        None => Command::new(binary),
        Some(ulimit) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(format!("ulimit {ulimit}; exec \"$0\" \"$@\"")).arg(binary);
            shell
        }
    }
}

fn shared_slot() -> &'static OnceLock<Result<Service, String>> {
    static SHARED: OnceLock<Result<Service, String>> = OnceLock::new();
    &SHARED
}

/// Ends the shared service, if there is one: statics are not dropped.
pub(crate) fn stop_shared() {
    if let Some(Ok(service)) = shared_slot().get() {
        service.stop();
    }
}
