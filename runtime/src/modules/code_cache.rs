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

/// Leaves behind what an isolate that is about to go has compiled of the host's modules.
pub(crate) fn offer_all(scope: &mut v8::PinScope<'_, '_>, state: &IsolateState, experience: Experience) {
    for (_, content, module) in state.registry.borrow().shared_modules() {
        let ModuleContent::EsModule(source) = content else { continue };
        let Some(cache) = cache_of(source).filter(|cache| cache.wants_more(experience)) else { continue };
        let module = v8::Local::new(scope, module);
        if let Some(data) = module.get_unbound_module_script(scope).create_code_cache() {
            cache.offer(&data, experience);
        }
    }
}
