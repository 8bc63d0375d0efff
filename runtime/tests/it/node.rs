//! Node's modules, against what workerd printed for the same programs with `nodejs_compat`.
//!
//! Each case is `node/NAME.js`, a Worker module whose `test()` writes to the console, and `node/NAME.out`, the lines the
//! oracle printed for it (`api/record` makes them).

use std::path::Path;
use std::sync::{Arc, Mutex};

use loaderd_runtime::channel::{Channels, ConsoleLevel, ConsoleSink};
use loaderd_runtime::compat::{CompatFlags, DateCheck, Experimental};
use loaderd_runtime::isolate::{EntrypointSpec, LoadCode};
use loaderd_runtime::rpc::plain::Plain;

use crate::api::check_recorded;
use crate::rpc::call;
use crate::support::{code, isolate, load};

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl ConsoleSink for Lines {
    fn line(&self, _: ConsoleLevel, text: &str) {
        self.0.lock().expect("no test panics holding it").extend(text.split('\n').map(str::to_owned));
    }
}

/// Runs one case and answers with what it printed.
fn run(case: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(case).expect("a readable case");
    let lines = Arc::new(Lines::default());
    let flags = ["nodejs_compat"];
    let compat = CompatFlags::resolve("2026-07-01", &flags, Experimental::Refused, DateCheck::Unchecked);
    let modules =
        [("main", "import worker from 'worker'; export default { run: () => worker.test() };"), ("worker", &*source)];
    let channels = Channels { console: Some(lines.clone()), ..Channels::default() };
    let worker = LoadCode { compat: compat.expect("a known flag"), channels, ..code(&modules) };
    let isolate = isolate();
    load(&isolate, worker).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    let result = call(&*isolate.entrypoint(EntrypointSpec::default()), &["run"], vec![Plain::Null]);
    result.unwrap_or_else(|error| panic!("{}: {error}", case.display()));
    std::mem::take(&mut *lines.0.lock().expect("not poisoned"))
}

#[test]
fn prints_what_workerd_prints() {
    check_recorded("tests/it/node", run);
}
