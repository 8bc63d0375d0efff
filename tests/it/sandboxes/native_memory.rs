//! Memory that V8's libraries and builtins, and ours, allocate on a program's behalf, which no limit of its isolate sees: in a
//! process of its own a program does not get far with it.

use libtest_mimic::Trial;
use loaderd_harness::{CodeExecutionLimits, PassFailure};
use loaderd_loader::sandbox::Restart;

use super::{Broker, Gate, PATIENCE, REAL, expect, pass, wall};
use crate::doors::rust::runtime;

/// Each would take gigabytes, and hold next to nothing in its heap.
const PROGRAMS: &[(&str, &str)] = &[
    ("plural_rules", "async () => { const keep = []; for (;;) keep.push(new Intl.PluralRules('ar')); }"),
    (
        "segments",
        "async () => { const keep = [], by = new Intl.Segmenter('en'), text = 'ab\u{1234}'.repeat(3e6); for (;;) keep.push(by.segment(text)); }",
    ),
    (
        "a_formatted_list",
        "async () => { const text = Array(1e7).fill('x'.repeat(1000)); return new Intl.ListFormat('en').format(text).length; }",
    ),
    ("a_clone", "async () => structuredClone(Array(1000).fill('\u{1234}'.repeat(2e6))).length"),
    (
        "an_argument",
        "async () => { const { RpcStub } = await import('cloudflare:workers'); return new RpcStub((it) => it.length)(Array(1000).fill('\u{1234}'.repeat(2e6))); }",
    ),
    (
        "a_query",
        "async () => { const query = new URLSearchParams(), text = '\u{1234}'.repeat(1e7); for (let n = 0; n < 20; n++) query.append('a', text); return query.toString().length; }",
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let all = PROGRAMS.iter().map(|(name, source)| {
        Trial::test(format!("sandboxes::native_memory::{name}"), move || {
            runtime().block_on(ends(source)).map_err(Into::into)
        })
    });
    all.collect()
}

async fn ends(source: &str) -> Result<(), String> {
    let broker = Broker::start(&[REAL], |config| config.processes_max = 1)?;
    let limits = CodeExecutionLimits { cpu_millis: Some(30_000), ..wall(PATIENCE) };
    match pass(&broker.executor, &Gate::new(), source, limits).await {
        Err(PassFailure::Error(error)) if error.error.to_string().contains("memory limit") => {}
        other => return Err(format!("it should have met its memory limit: {other:?}")),
    }
    // A builtin that does not look costs the process; V8 is never brought to give up, nor the kernel to kill.
    let metrics = broker.sandboxes.metrics();
    let others = metrics.restarts.iter().sum::<u64>() - metrics.restarted(Restart::Stuck);
    expect("processes that ended for other reasons", &others, &0)
}
