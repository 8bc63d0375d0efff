//! `loaderd doctor`: what of the confinement this machine allows.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use loaderd_loader::confine::LayerState;
use loaderd_loader::sandbox::{SandboxConfig, Sandboxes};

use crate::exec::exit;
use crate::{sandbox, terminal};

/// How long a sandbox process may take to start.
const START_WITHIN: Duration = Duration::from_secs(10);

/// Starts one sandbox process and prints what it says of itself.
pub(crate) async fn run() -> ExitCode {
    let mut report = format!("V8 {}\n", loaderd_runtime::setup::v8_version());
    let sandboxes = match Sandboxes::new(SandboxConfig::new(sandbox::command_line())) {
        Ok(sandboxes) => sandboxes,
        Err(error) => {
            terminal::error(&format!("no sandbox process can be started: {error}"));
            return ExitCode::from(exit::PLATFORM);
        }
    };
    let started = Instant::now();
    let layers = loop {
        if let Some(layers) = sandboxes.confinement() {
            break layers;
        }
        if started.elapsed() > START_WITHIN {
            terminal::error("a sandbox process was started and does not answer; --sandbox in-process does without");
            return ExitCode::from(exit::PLATFORM);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    // Writing to a string does not fail.
    let _ = writeln!(report, "sandbox process: started in {} ms", started.elapsed().as_millis());
    for layer in &layers {
        let _ = writeln!(report, "  {:<15} {:<8} {}", layer.layer, layer.state.name(), layer.detail);
    }
    report.push_str(match layers.iter().all(|layer| layer.state == LayerState::Applied) {
        true => "every layer of the confinement is in force",
        false => "some layers are missing: SECURITY.md says what the boundary is made of",
    });
    terminal::exit_code(terminal::print(&report), ExitCode::SUCCESS, exit::PLATFORM)
}
