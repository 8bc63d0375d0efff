//! What a sandbox process says of itself and its Workers' consoles, as Cap'n Proto.

use std::time::Duration;

use loaderd_runtime::channel::ConsoleLevel;
use loaderd_runtime::isolate::LoadReport;
use loaderd_runtime::limits::overshoot::{BUCKETS, Overshoot};
use loaderd_runtime::modules::exports::ExportedEntrypoint;
use loaderd_schema::channel_capnp as schema;

use super::Malformed;
use crate::confine::{LayerState, LayerStatus};

pub(in crate::sandbox) fn write_layer(layer: &LayerStatus, mut builder: schema::layer_status::Builder<'_>) {
    builder.set_layer(layer.layer.as_str());
    builder.set_detail(layer.detail.as_str());
    builder.set_state(match layer.state {
        LayerState::Applied => schema::layer_status::State::Applied,
        LayerState::Partial => schema::layer_status::State::Partial,
        LayerState::Missing => schema::layer_status::State::Missing,
    });
}

pub(in crate::sandbox) fn read_layer(reader: schema::layer_status::Reader<'_>) -> Result<LayerStatus, Malformed> {
    Ok(LayerStatus {
        layer: reader.get_layer()?.to_str()?.to_owned(),
        detail: reader.get_detail()?.to_str()?.to_owned(),
        state: match reader.get_state()? {
            schema::layer_status::State::Applied => LayerState::Applied,
            schema::layer_status::State::Partial => LayerState::Partial,
            schema::layer_status::State::Missing => LayerState::Missing,
        },
    })
}

pub(in crate::sandbox) fn write_console_level(level: ConsoleLevel) -> schema::console::Level {
    match level {
        ConsoleLevel::Debug => schema::console::Level::Debug,
        ConsoleLevel::Info => schema::console::Level::Info,
        ConsoleLevel::Log => schema::console::Level::Log,
        ConsoleLevel::Warn => schema::console::Level::Warn,
        ConsoleLevel::Error => schema::console::Level::Error,
    }
}

pub(in crate::sandbox) fn read_console_level(level: schema::console::Level) -> ConsoleLevel {
    match level {
        schema::console::Level::Debug => ConsoleLevel::Debug,
        schema::console::Level::Info => ConsoleLevel::Info,
        schema::console::Level::Log => ConsoleLevel::Log,
        schema::console::Level::Warn => ConsoleLevel::Warn,
        schema::console::Level::Error => ConsoleLevel::Error,
    }
}

/// Entrypoints of one Worker, and handlers of one entrypoint, that are read; the runtime lists no more.
const LISTED_MAX: u32 = 256;

pub(in crate::sandbox) fn write_load_report(report: &LoadReport, mut builder: schema::loaded::ok::Builder<'_>) {
    builder.set_startup_cpu(u64::try_from(report.startup_cpu.as_micros()).unwrap_or(u64::MAX));
    let listed = report.entrypoints.iter().take(LISTED_MAX as usize);
    let mut entrypoints = builder.init_entrypoints(u32::try_from(listed.len()).unwrap_or(0));
    for (index, entrypoint) in (0..).zip(listed) {
        let mut entry = entrypoints.reborrow().get(index);
        entry.set_name(entrypoint.name.as_str());
        let handlers = entrypoint.handlers.iter().take(LISTED_MAX as usize);
        let mut names = entry.init_handlers(u32::try_from(handlers.len()).unwrap_or(0));
        for (index, handler) in (0..).zip(handlers) {
            names.set(index, handler.as_str());
        }
    }
}

pub(in crate::sandbox) fn read_load_report(reader: schema::loaded::ok::Reader<'_>) -> Result<LoadReport, Malformed> {
    let mut entrypoints = Vec::new();
    for entry in reader.get_entrypoints()?.iter().take(LISTED_MAX as usize) {
        let handlers = entry.get_handlers()?;
        let mut names = Vec::new();
        for index in 0..handlers.len().min(LISTED_MAX) {
            names.push(handlers.get(index)?.to_str()?.to_owned());
        }
        entrypoints.push(ExportedEntrypoint { name: entry.get_name()?.to_str()?.to_owned(), handlers: names });
    }
    Ok(LoadReport { startup_cpu: Duration::from_micros(reader.get_startup_cpu()), entrypoints: entrypoints.into() })
}

/// What a sandbox process counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::sandbox) struct Counters {
    pub(in crate::sandbox) isolates_alive: u32,
    pub(in crate::sandbox) isolates_warm: u32,
    pub(in crate::sandbox) threads_stuck: u32,
    pub(in crate::sandbox) overshoot: Overshoot,
}

pub(in crate::sandbox) fn write_counters(counters: &Counters, mut builder: schema::counters::Builder<'_>) {
    builder.set_isolates_alive(counters.isolates_alive);
    builder.set_isolates_warm(counters.isolates_warm);
    builder.set_threads_stuck(counters.threads_stuck);
    builder.set_overshoot_sum(counters.overshoot.sum_us);
    let counts = &counters.overshoot.counts;
    let mut list = builder.init_overshoot(u32::try_from(counts.len()).unwrap_or(0));
    for (index, count) in (0..).zip(counts) {
        list.set(index, *count);
    }
}

pub(in crate::sandbox) fn read_counters(reader: schema::counters::Reader<'_>) -> Result<Counters, Malformed> {
    let list = reader.get_overshoot()?;
    if list.len() as usize != BUCKETS {
        return Err(Malformed::Unexpected("a histogram of other buckets"));
    }
    let mut counts = [0; BUCKETS];
    for (to, count) in counts.iter_mut().zip(list.iter()) {
        *to = count;
    }
    Ok(Counters {
        isolates_alive: reader.get_isolates_alive(),
        isolates_warm: reader.get_isolates_warm(),
        threads_stuck: reader.get_threads_stuck(),
        overshoot: Overshoot { counts, sum_us: reader.get_overshoot_sum() },
    })
}
