//! What a never-used isolate does before it is given a Worker: the modules that the next Worker probably has.
//!
//! The latest Worker is the best guess. A Worker that has the same modules of the host, under the same names, finds them
//! compiled, and those that import nothing evaluated too; one that has others loads its own, and what was made ahead is
//! dropped. Nothing a program wrote is made ahead.

use std::sync::Arc;

use parking_lot::Mutex;

use super::ModuleContent;
use super::link::link;
use super::registry::{ModuleId, Space, module_named};
use crate::isolate::state::IsolateState;

/// Modules of the host that are made ahead for the next Worker, and how long each may be, in bytes.
const AHEAD_MAX: usize = 8;
const AHEAD_BYTES_MAX: usize = 64 << 10;

/// The one built-in module that is the same for every Worker, whatever its flags.
const WORKERS: &str = "cloudflare:workers";

/// What the latest Worker had.
struct Latest {
    /// The modules that the host vouches for, by name.
    modules: Vec<(String, Arc<str>)>,
    imports_workers: bool,
}

static LATEST: Mutex<Latest> = Mutex::new(Latest { modules: Vec::new(), imports_workers: false });

/// Makes them in a new isolate, in its context, before any code of a Worker runs.
pub(crate) fn prepare(scope: &mut v8::PinScope<'_, '_>) {
    let (modules, imports_workers) = {
        let latest = LATEST.lock();
        (latest.modules.clone(), latest.imports_workers)
    };
    let state = IsolateState::of(scope);
    state.registry.borrow_mut().expect(&modules);
    // What cannot be made now says why when it is loaded.
    if imports_workers {
        let _ = evaluated(scope, &state, Space::Public, WORKERS);
    }
    for (name, _) in &modules {
        let _ = evaluated(scope, &state, Space::Worker, name);
    }
}

/// Compiles a module, and evaluates it where it neither imports nor waits. `None`: it cannot be.
fn evaluated(scope: &mut v8::PinScope<'_, '_>, state: &IsolateState, space: Space, name: &str) -> Option<()> {
    v8::tc_scope!(let scope, scope);
    let module = module_named(scope, state, space, name)?;
    if module.is_source_text_module() && module.get_module_requests().length() > 0 {
        return Some(());
    }
    link(scope, module)?;
    if module.is_graph_async() {
        return Some(());
    }
    module.evaluate(scope)?;
    if module.get_status() == v8::ModuleStatus::Errored {
        // A Worker that has it is told when it is evaluated for that Worker.
        state.registry.borrow_mut().forget(&ModuleId { space, name: name.to_owned() });
    }
    Some(())
}

/// Notes what the next isolates are to make ahead.
pub(crate) fn note_latest(state: &IsolateState) {
    let registry = state.registry.borrow();
    let modules = registry.shared_modules().filter_map(|(id, content, _)| match content {
        ModuleContent::EsModule(source) if id.space == Space::Worker && source.len() <= AHEAD_BYTES_MAX => {
            Some((&id.name, source))
        }
        _ => None,
    });
    let modules: Vec<_> = modules.take(AHEAD_MAX).collect();
    if modules.is_empty() {
        return;
    }
    let imports_workers = registry.has_made(&ModuleId { space: Space::Public, name: WORKERS.to_owned() });
    let mut latest = LATEST.lock();
    let same = latest.modules.len() == modules.len()
        && modules
            .iter()
            .all(|(name, source)| latest.modules.iter().any(|(known, text)| known == *name && text == *source));
    if !same {
        latest.modules = modules.into_iter().map(|(name, source)| (name.clone(), source.clone())).collect();
    }
    latest.imports_workers = imports_workers;
}
