//! V8 for tests: set up before the test harness starts its threads, since threads inherit the rights to V8's pages.

use std::sync::mpsc;

use loaderd_runtime::channel::Channels;
use loaderd_runtime::isolate::{Isolate, IsolateConfig, LoadCode, LoadError, LoadReport};
use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::modules::{Module, WorkerSource};

extern "C" fn set_up() {
    loaderd_runtime::setup::initialize();
}

// SAFETY: the C runtime calls this once on the main thread before `main`; it uses nothing that `main` sets up.
#[used]
#[unsafe(link_section = ".init_array")]
static SET_UP: extern "C" fn() = set_up;

/// A never-used isolate.
pub(crate) fn isolate() -> Isolate {
    Isolate::spawn(IsolateConfig::default()).expect("a thread")
}

/// Code with defaults for everything but its modules; the first is the main module.
pub(crate) fn code(modules: &[(&str, &str)]) -> LoadCode {
    LoadCode {
        source: WorkerSource {
            main_module: modules[0].0.into(),
            modules: modules.iter().map(|(name, source)| Module::es_module(*name, *source)).collect(),
            extensions: Default::default(),
        },
        env: None,
        channels: Channels::default(),
        startup_cpu: std::time::Duration::from_secs(1),
        limits: ResourceLimits::default(),
        on_hang: Default::default(),
        uses: Default::default(),
        clock: Default::default(),
        compat: Default::default(),
    }
}

/// Loads and waits.
pub(crate) fn load(isolate: &Isolate, code: LoadCode) -> Result<LoadReport, LoadError> {
    let (sender, receiver) = mpsc::channel();
    isolate.load(code, move |result| sender.send(result).expect("the test waits"));
    receiver.recv().expect("an answer")
}
