//! What is measured of each contender, and the table that sets them side by side.

use std::time::Duration;

use crate::BURST;
use crate::served::ServedFigures;
use crate::stats::{Samples, show};
use crate::table::Table;

/// One thing that runs programs, and what was measured of it. What could not be measured is absent.
pub(crate) struct Contender {
    pub(crate) name: String,
    /// Load a program in a fresh isolate, run it, have its answer; with a pause before, as between two requests.
    pub(crate) fresh_trivial: Option<Samples>,
    /// The same with a pause before each few.
    pub(crate) bursts: Option<Samples>,
    /// The same without a pause.
    pub(crate) back_to_back: Option<Samples>,
    /// With a pause before, and one host call.
    pub(crate) fresh_one_call: Option<Samples>,
    /// With a pause before, and a thousand host calls, one after the other.
    pub(crate) thousand_calls: Option<Samples>,
    /// Fresh trivial passes per second, two at a time.
    pub(crate) passes_per_second: Option<f64>,
    /// Resident memory for each isolate that stays alive.
    pub(crate) bytes_per_isolate: Option<f64>,
}

impl Contender {
    /// One host call there and back: what a thousand of them add to a fresh pass.
    fn call_round_trip(&self) -> Option<Duration> {
        let many = self.thousand_calls.as_ref()?.p50();
        Some(many.saturating_sub(self.fresh_trivial.as_ref()?.p50()) / 1000)
    }
}

/// Prints one table: a row a figure, a column a contender, each with its ratio to the first contender's.
pub(crate) fn print(contenders: &[Contender]) {
    let heading = contenders.iter().map(|contender| contender.name.clone());
    let mut table = Table::new(std::iter::once("p50 / p99 (how many times the first)".to_owned()).chain(heading));
    samples_row(&mut table, "fresh isolate, trivial program", contenders, |of| of.fresh_trivial.as_ref());
    samples_row(&mut table, &format!("the same, {BURST} after each pause"), contenders, |of| of.bursts.as_ref());
    samples_row(&mut table, "the same, back to back", contenders, |of| of.back_to_back.as_ref());
    samples_row(&mut table, "trivial program with one host call", contenders, |of| of.fresh_one_call.as_ref());
    samples_row(&mut table, "program with 1,000 host calls", contenders, |of| of.thousand_calls.as_ref());
    number_row(&mut table, "one host call there and back", contenders, |of| {
        of.call_round_trip().map(|time| (time.as_secs_f64(), show(time)))
    });
    number_row(&mut table, "fresh passes per second, 2 at a time", contenders, |of| {
        of.passes_per_second.map(|rate| (rate, format!("{rate:.0}")))
    });
    number_row(&mut table, "memory per live isolate", contenders, |of| {
        of.bytes_per_isolate.map(|bytes| (bytes, format!("{:.2} MB", bytes / 1e6)))
    });
    table.print();
}

/// Takes one figure out of a server's, as a number and as text.
type ServedFigure = fn(&ServedFigures) -> Option<(f64, String)>;

/// Prints what only servers have: both serve the same Worker from the same config, asked over loopback.
pub(crate) fn print_served(servers: &[ServedFigures]) {
    let mut table = Table::new(std::iter::once("over HTTP, p50 / p99").chain(servers.iter().map(|server| server.name)));
    let first =
        |of: fn(&ServedFigures) -> Option<(f64, String)>| servers.first().and_then(of).map(|(number, _)| number);
    let rows: [(&str, ServedFigure); 3] = [
        ("hello world", |of| of.hello.as_ref().map(shown)),
        ("hello worlds per second, 8 connections", |of| {
            Some((of.hello_per_second, format!("{:.0}", of.hello_per_second)))
        }),
        ("call of a Worker that get() keeps loaded", |of| of.warm_call.as_ref().map(shown)),
    ];
    for (label, of) in rows {
        let cells = servers.iter().enumerate().map(|(index, server)| cell(index, of(server), first(of)));
        table.row(std::iter::once(label.to_owned()).chain(cells));
    }
    table.print();
}

fn shown(samples: &Samples) -> (f64, String) {
    (samples.p50().as_secs_f64(), format!("{} / {}", show(samples.p50()), show(samples.p99())))
}

fn samples_row(table: &mut Table, label: &str, all: &[Contender], of: impl Fn(&Contender) -> Option<&Samples>) {
    number_row(table, label, all, |contender| of(contender).map(shown));
}

fn number_row(table: &mut Table, label: &str, all: &[Contender], of: impl Fn(&Contender) -> Option<(f64, String)>) {
    let first = all.first().and_then(&of).map(|(number, _)| number);
    let cells = all.iter().enumerate().map(|(index, contender)| cell(index, of(contender), first));
    table.row(std::iter::once(label.to_owned()).chain(cells));
}

/// A figure, and how many times the first column's it is.
pub(crate) fn cell(column: usize, figure: Option<(f64, String)>, first: Option<f64>) -> String {
    match (figure, first) {
        (None, _) => "–".to_owned(),
        (Some((number, text)), Some(first)) if column > 0 && first > 0.0 => format!("{text} ({:.1}×)", number / first),
        (Some((_, text)), _) => text,
    }
}
