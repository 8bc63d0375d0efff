//! Compiling modules, with V8's code cache for those the host vouches for.
//!
//! A cache entry is bytecode that V8 trusts, so only sources the host marked [`CodeCachePolicy::Shared`] are cached,
//! under their whole text: nothing a program wrote is ever a key or a value here.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;

use super::CodeCachePolicy;
use super::registry::{OriginKind, origin};

/// Sources kept; the host has a handful of fixed modules. Over it, further ones are compiled afresh.
const ENTRIES_MAX: usize = 64;

static CACHE: LazyLock<Mutex<HashMap<Arc<str>, Arc<[u8]>>>> = LazyLock::new(Mutex::default);

/// Compiles an ES module; `None` with an exception pending.
pub(crate) fn compile_module<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: &str,
    source: &Arc<str>,
    policy: CodeCachePolicy,
) -> Option<v8::Local<'s, v8::Module>> {
    let code = v8::String::new(scope, source)?;
    let origin = origin(scope, name, OriginKind::Module);
    if policy == CodeCachePolicy::None {
        return v8::script_compiler::compile_module(scope, &mut v8::script_compiler::Source::new(code, Some(&origin)));
    }
    let cached = CACHE.lock().get(source).cloned();
    if let Some(bytes) = &cached {
        let data = v8::script_compiler::CachedData::new(bytes);
        let mut with_cache = v8::script_compiler::Source::new_with_cached_data(code, Some(&origin), data);
        let module = v8::script_compiler::compile_module2(
            scope,
            &mut with_cache,
            v8::script_compiler::CompileOptions::ConsumeCodeCache,
            v8::script_compiler::NoCacheReason::NoReason,
        );
        // A rejected cache has compiled from source; nothing is lost but time.
        return module;
    }
    let module =
        v8::script_compiler::compile_module(scope, &mut v8::script_compiler::Source::new(code, Some(&origin)))?;
    remember(scope, source, module);
    Some(module)
}

fn remember<'s>(scope: &mut v8::PinScope<'s, '_>, source: &Arc<str>, module: v8::Local<'s, v8::Module>) {
    let script = module.get_unbound_module_script(scope);
    let Some(data) = script.create_code_cache() else { return };
    let mut cache = CACHE.lock();
    if cache.len() < ENTRIES_MAX {
        cache.insert(source.clone(), Arc::from(&**data));
    }
}
