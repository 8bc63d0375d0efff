//! Compiling modules, with a code cache for those the host vouches for.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::registry::{OriginKind, origin};
use super::{CodeCachePolicy, ModuleContent};
use crate::code_cache::{CodeCache, Experience};
use crate::isolate::state::IsolateState;

/// Sources kept; the host has a handful of fixed modules. Over it, further ones are compiled afresh.
const SOURCES_MAX: usize = 64;

/// Modules of the host that are compiled ahead for the next Worker, and how long each may be, in bytes.
const AHEAD_MAX: usize = 8;
const AHEAD_BYTES_MAX: usize = 64 << 10;

/// The modules of the latest Worker that the host vouches for, by name: the next one probably has the same.
static LATEST: Mutex<Vec<(String, Arc<str>)>> = Mutex::new(Vec::new());

/// By the whole text: a version of V8 and its flags are those of this process.
static CACHES: LazyLock<Mutex<HashMap<Arc<str>, Arc<CodeCache>>>> = LazyLock::new(Mutex::default);

fn cache_of(source: &Arc<str>) -> Option<Arc<CodeCache>> {
    let mut caches = CACHES.lock();
    if let Some(cache) = caches.get(source) {
        return Some(cache.clone());
    }
    if caches.len() >= SOURCES_MAX {
        return None;
    }
    let cache = Arc::new(CodeCache::new());
    caches.insert(source.clone(), cache.clone());
    Some(cache)
}

/// Compiles an ES module; `None` with an exception pending.
pub(crate) fn compile_module<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: &str,
    source: &Arc<str>,
    policy: CodeCachePolicy,
) -> Option<v8::Local<'s, v8::Module>> {
    let code = v8::String::new(scope, source)?;
    let origin = origin(scope, name, OriginKind::Module);
    let cached = match policy {
        CodeCachePolicy::None => None,
        CodeCachePolicy::Shared => cache_of(source).and_then(|cache| cache.get()),
    };
    let Some(bytes) = cached else {
        return v8::script_compiler::compile_module(scope, &mut v8::script_compiler::Source::new(code, Some(&origin)));
    };
    let data = v8::script_compiler::CachedData::new(&bytes);
    // A cache that V8 rejects is compiled from source; nothing is lost but time.
    v8::script_compiler::compile_module2(
        scope,
        &mut v8::script_compiler::Source::new_with_cached_data(code, Some(&origin), data),
        v8::script_compiler::CompileOptions::ConsumeCodeCache,
        v8::script_compiler::NoCacheReason::NoReason,
    )
}

/// Compiles in a new isolate what the latest Worker had of the host's modules. V8 remembers, by name and text, what an
/// isolate has compiled, so a Worker that has the same finds it done.
pub(crate) fn compile_ahead(scope: &mut v8::PinScope<'_, '_>) {
    let latest = LATEST.lock().clone();
    for (name, source) in &latest {
        // One that does not compile says so when it is loaded.
        let _ = compile_module(scope, name, source, CodeCachePolicy::Shared);
    }
}

/// Notes what the next isolates are to compile ahead.
fn note_latest(state: &IsolateState) {
    let registry = state.registry.borrow();
    let modules = registry.shared_modules().filter_map(|(id, content, _)| match content {
        ModuleContent::EsModule(source) if source.len() <= AHEAD_BYTES_MAX => Some((&id.name, source)),
        _ => None,
    });
    let modules: Vec<_> = modules.take(AHEAD_MAX).collect();
    let mut latest = LATEST.lock();
    let same = latest.len() == modules.len()
        && modules.iter().all(|(name, source)| latest.iter().any(|(known, text)| known == *name && text == *source));
    if !same && !modules.is_empty() {
        *latest = modules.into_iter().map(|(name, source)| (name.clone(), source.clone())).collect();
    }
}

/// Leaves behind what an isolate that is about to go has compiled of the host's modules.
pub(crate) fn offer_all(scope: &mut v8::PinScope<'_, '_>, state: &IsolateState, experience: Experience) {
    note_latest(state);
    for (_, content, module) in state.registry.borrow().shared_modules() {
        let ModuleContent::EsModule(source) = content else { continue };
        let Some(cache) = cache_of(source).filter(|cache| cache.wants_more(experience)) else { continue };
        let module = v8::Local::new(scope, module);
        if let Some(data) = module.get_unbound_module_script(scope).create_code_cache() {
            cache.offer(&data, experience);
        }
    }
}
