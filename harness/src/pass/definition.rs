//! The Worker that runs a program: the harness module, the program's own module, and what both are told.

use std::sync::{Arc, LazyLock};

use super::PassSettings;
use super::worker::{LogObserver, ModuleOrigin, PassConfig, PassModule, PassWorker, PassWorkerLimits};
use crate::request::CodeExecutionRequest;

/// The main module: the guest's side of a pass.
const HARNESS_MODULE: &str = "harness.js";
/// What the harness needs of the language, taken before the program's module is evaluated.
const INTRINSICS_MODULE: &str = "harness-intrinsics.js";
/// The program.
const PROGRAM_MODULE: &str = "program.js";

/// Calls on services that a guest may make beside its host calls.
const SUB_REQUESTS_SPARE: u32 = 8;

static HARNESS: LazyLock<Arc<str>> = LazyLock::new(|| include_str!("../../js/harness.js").into());
static INTRINSICS: LazyLock<Arc<str>> = LazyLock::new(|| include_str!("../../js/harness-intrinsics.js").into());

/// The Worker of one pass.
pub(super) fn worker(
    request: &CodeExecutionRequest,
    settings: &PassSettings,
    observer: Option<Arc<dyn LogObserver>>,
) -> PassWorker {
    let limits = request.limits();
    PassWorker {
        tenant: settings.tenant.clone(),
        compatibility_date: settings.compatibility_date.clone(),
        main_module: HARNESS_MODULE.to_owned(),
        modules: vec![
            module(HARNESS_MODULE, HARNESS.clone(), ModuleOrigin::Harness),
            module(INTRINSICS_MODULE, INTRINSICS.clone(), ModuleOrigin::Harness),
            module(PROGRAM_MODULE, program(request.source()), ModuleOrigin::Program),
        ],
        config: PassConfig {
            namespaces: request.namespaces().to_vec(),
            max_log_bytes: limits.max_log_bytes,
            max_result_bytes: limits.max_result_bytes,
            max_host_calls: limits.max_host_calls,
            max_host_call_argument_bytes: limits.max_host_call_argument_bytes,
        },
        limits: limits
            .cpu_millis
            .map(|cpu_ms| PassWorkerLimits { cpu_ms, sub_requests: limits.max_host_calls + SUB_REQUESTS_SPARE }),
        observer,
    }
}

fn module(name: &str, source: Arc<str>, origin: ModuleOrigin) -> PassModule {
    PassModule { name: name.to_owned(), source, origin }
}

/// The program as a module. The newline before the parenthesis lets the source end in a line comment.
fn program(source: &str) -> Arc<str> {
    format!("export default (\n{source}\n);").into()
}
