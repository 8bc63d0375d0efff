//! What a Node user would pick: `node/bench.mjs` measures one sandbox in a Node process of its own.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;

use crate::figures::Contender;
use crate::stats::Samples;
use crate::{Effort, ISOLATES_HELD, PAUSE};

pub(crate) const SANDBOXES: [&str; 2] = ["isolated-vm", "quickjs-emscripten"];

/// The script's line of output. Durations are in microseconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Output {
    fresh_trivial: Vec<f64>,
    back_to_back: Vec<f64>,
    fresh_one_call: Vec<f64>,
    thousand_calls: Vec<f64>,
    passes_per_second: f64,
    bytes_per_isolate: f64,
}

/// # Errors
/// Node or the package is missing, or the script failed.
pub(crate) fn measure(sandbox: &str, packages: &Path, effort: Effort) -> io::Result<Contender> {
    let output = Command::new("node")
        // Without this isolated-vm and Node's start-up snapshot crash each other.
        .arg("--no-node-snapshot")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/node/bench.mjs"))
        .arg(sandbox)
        .arg(packages)
        .args([effort.passes.to_string(), effort.long_passes.to_string(), effort.rate_time.as_secs().to_string()])
        .args([PAUSE.as_millis().to_string(), ISOLATES_HELD.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("bench.mjs ended with {}", output.status)));
    }
    let output: Output = serde_json::from_slice(&output.stdout)?;
    let samples = |micros: Vec<f64>| Samples::new(micros.iter().map(|us| Duration::from_secs_f64(us / 1e6)).collect());
    Ok(Contender {
        name: sandbox.to_owned(),
        fresh_trivial: samples(output.fresh_trivial),
        // Nothing is prepared ahead there.
        bursts: None,
        back_to_back: samples(output.back_to_back),
        fresh_one_call: samples(output.fresh_one_call),
        thousand_calls: samples(output.thousand_calls),
        passes_per_second: Some(output.passes_per_second),
        bytes_per_isolate: Some(output.bytes_per_isolate),
    })
}
