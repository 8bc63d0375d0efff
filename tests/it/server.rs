//! Servers that a test starts: `loaderd serve`, or workerd with the same arguments.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server that is ended with the test.
pub(crate) struct Server(pub(crate) Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a server whose control messages come on its standard output, and waits for the first one.
pub(crate) fn start(command: &mut Command) -> Result<(Server, u16), String> {
    let child = command.stdout(Stdio::piped()).spawn().map_err(|error| format!("loaderd: {error}"))?;
    let mut server = Server(child);
    let stdout = server.0.stdout.take().ok_or("no standard output")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).map_err(|error| error.to_string())?;
    let message: serde_json::Value = serde_json::from_str(&line).map_err(|error| format!("{line:?}: {error}"))?;
    let port = message["port"].as_u64().and_then(|port| u16::try_from(port).ok());
    match (message["event"].as_str(), message["socket"].as_str(), port) {
        (Some("listen"), Some("http"), Some(port)) => Ok((server, port)),
        _ => Err(format!("not the message that was wanted: {line}")),
    }
}
