//! Modules that are not ES modules: their exports are values made here.

use std::rc::Rc;

use super::builtin::{self, resolve};
use super::link::{link, not_found};
use super::registry::{ModuleId, OriginKind, Space, module_named, origin};
use super::{CommonJs, ModuleContent, wasm};
use crate::compat::Flag;
use crate::guard::callbacks;
use crate::isolate::state::IsolateState;
use crate::js::{string, throw_error, throw_type_error};

/// How deep CommonJS modules may require each other: each level is native stack.
const REQUIRE_DEPTH_MAX: usize = 100;

/// A module whose only export is `default`, and what a CommonJS module is said to export by name.
pub(crate) fn create<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    id: &ModuleId,
    content: &ModuleContent,
) -> Option<v8::Local<'s, v8::Module>> {
    // Errors in the content are the start's errors, so values are made now. CommonJS runs when it is evaluated.
    if let Some(value) = value_of(scope, content)? {
        let value = v8::Global::new(scope, value);
        state.registry.borrow_mut().values.insert(id.clone(), value);
    }
    let key = string(scope, &id.name);
    let mut names = vec![string(scope, "default")];
    if let ModuleContent::CommonJs(module) = content {
        names.extend(module.named_exports.iter().map(|name| string(scope, name)));
    }
    Some(callbacks::synthetic_module(scope, key, &names, evaluate_default))
}

/// A built-in module; `None` when there is none of that name (nothing pending).
pub(crate) fn create_builtin<'s>(scope: &mut v8::PinScope<'s, '_>, id: &ModuleId) -> Option<v8::Local<'s, v8::Module>> {
    let exports = match id.space {
        Space::Worker => None,
        Space::Public => builtin::exports(scope, &id.name),
        Space::Internal => builtin::internal_exports(scope, &id.name),
    }?;
    let state = IsolateState::of(scope);
    let names = exports.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    let names: Vec<v8::Local<v8::String>> = (0..names.length())
        .filter_map(|index| v8::Local::<v8::String>::try_from(names.get_index(scope, index)?).ok())
        .collect();
    let value: v8::Local<v8::Value> = exports.into();
    state.registry.borrow_mut().values.insert(id.clone(), v8::Global::new(scope, value));
    let key = string(scope, &id.name);
    Some(callbacks::synthetic_module(scope, key, &names, evaluate_builtin))
}

/// The default export, for kinds whose value does not depend on running code. Outer `None`: an exception is pending.
fn value_of<'s>(scope: &mut v8::PinScope<'s, '_>, content: &ModuleContent) -> Option<Option<v8::Local<'s, v8::Value>>> {
    Some(match content {
        ModuleContent::Text(text) => Some(v8::String::new(scope, text)?.into()),
        ModuleContent::Json(text) => {
            let text = v8::String::new(scope, text)?;
            Some(v8::json::parse(scope, text)?)
        }
        ModuleContent::Data(bytes) => {
            let store = v8::ArrayBuffer::new_backing_store_from_vec(bytes.to_vec()).make_shared();
            Some(v8::ArrayBuffer::with_backing_store(scope, &store).into())
        }
        ModuleContent::Wasm(bytes) => Some(wasm::compile(scope, bytes)?.into()),
        ModuleContent::EsModule(_)
        | ModuleContent::ServiceWorker(_)
        | ModuleContent::CommonJs(_)
        | ModuleContent::Builtin => None,
    })
}

fn evaluate_default<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    module: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Value>> {
    let state = IsolateState::of(scope);
    let id = state.registry.borrow().id_of(module, scope)?;
    let value = state.registry.borrow().values.get(&id).map(|value| v8::Local::new(scope, value));
    let value = match value {
        Some(value) => value,
        None => require(scope, &state, &id.name)?,
    };
    let default = string(scope, "default");
    module.set_synthetic_module_export(scope, default, value)?;
    let content = state.registry.borrow().content(&id.name);
    if let Some(ModuleContent::CommonJs(CommonJs { named_exports, .. })) = content {
        for name in named_exports.iter() {
            let key = string(scope, name);
            let value = match v8::Local::<v8::Object>::try_from(value) {
                Ok(exports) => exports.get(scope, key.into())?,
                Err(_) => v8::undefined(scope).into(),
            };
            module.set_synthetic_module_export(scope, key, value)?;
        }
    }
    resolved(scope)
}

fn evaluate_builtin<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    module: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Value>> {
    let state = IsolateState::of(scope);
    let id = state.registry.borrow().id_of(module, scope)?;
    let exports = state.registry.borrow().values.get(&id).map(|value| v8::Local::new(scope, value))?;
    let exports = v8::Local::<v8::Object>::try_from(exports).ok()?;
    let names = exports.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    for index in 0..names.length() {
        let Ok(key) = v8::Local::<v8::String>::try_from(names.get_index(scope, index)?) else { continue };
        let value = exports.get(scope, key.into())?;
        module.set_synthetic_module_export(scope, key, value)?;
    }
    resolved(scope)
}

/// V8 wants a promise from evaluation steps.
fn resolved<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Value>> {
    let resolver = v8::PromiseResolver::new(scope)?;
    let undefined = v8::undefined(scope);
    resolver.resolve(scope, undefined.into());
    Some(resolver.get_promise(scope).into())
}

/// What `require` of a module gives: `module.exports` of CommonJS (run once), else the default export when there is
/// one, else the namespace. `None` with an exception pending.
fn require<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &Rc<IsolateState>,
    name: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    let content = state.registry.borrow().content(name);
    if let Some(ModuleContent::CommonJs(module)) = content {
        return run_common_js(scope, state, name, &module.source);
    }
    let module = {
        v8::tc_scope!(let scope, scope);
        let module = module_named(scope, state, Space::Worker, name);
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        module
    };
    let Some(module) = module else {
        throw_error(scope, &not_found(state, name, None));
        return None;
    };
    link(scope, module)?;
    if module.is_graph_async() {
        throw_error(scope, "Top-level await in module is not permitted at this time.");
        return None;
    }
    module.evaluate(scope)?;
    if module.get_status() == v8::ModuleStatus::Errored {
        scope.throw_exception(module.get_exception());
        return None;
    }
    let namespace = v8::Local::<v8::Object>::try_from(module.get_module_namespace()).ok()?;
    let default = string(scope, "default");
    if namespace.has_own_property(scope, default.into())? {
        return namespace.get(scope, default.into());
    }
    Some(namespace.into())
}

/// Runs a CommonJS module unless it has run (or is running: then its exports so far, as everywhere).
fn run_common_js<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &Rc<IsolateState>,
    name: &str,
    source: &str,
) -> Option<v8::Local<'s, v8::Value>> {
    let exports_key = string(scope, "exports");
    let known = state.registry.borrow().common_js.get(name).map(|module| v8::Local::new(scope, module));
    if let Some(module) = known {
        return module.get(scope, exports_key.into());
    }
    if state.registry.borrow().common_js.len() >= REQUIRE_DEPTH_MAX * REQUIRE_DEPTH_MAX {
        throw_error(scope, "Too many CommonJS modules.");
        return None;
    }
    let module_object = v8::Object::new(scope);
    let exports = v8::Object::new(scope);
    module_object.set(scope, exports_key.into(), exports.into())?;
    state.registry.borrow_mut().common_js.insert(name.to_owned(), v8::Global::new(scope, module_object));

    let parameters = ["require", "module", "exports", "__filename", "__dirname"].map(|name| string(scope, name));
    let code = v8::String::new(scope, source)?;
    let place = origin(scope, name, OriginKind::Function);
    let function = v8::script_compiler::compile_function(
        scope,
        &mut v8::script_compiler::Source::new(code, Some(&place)),
        &parameters,
        &[],
        v8::script_compiler::CompileOptions::NoCompileOptions,
        v8::script_compiler::NoCacheReason::NoReason,
    )?;
    let file = string(scope, name);
    let folder = string(scope, name.rsplit_once('/').map_or("", |(folder, _)| folder));
    let require_function = callbacks::function(require_callback).data(file.into()).build(scope)?;
    let receiver = v8::undefined(scope).into();
    let arguments = [require_function.into(), module_object.into(), exports.into(), file.into(), folder.into()];
    if function.call(scope, receiver, &arguments).is_none() {
        // A module that threw is run again when it is asked for again.
        state.registry.borrow_mut().common_js.remove(name);
        return None;
    }
    module_object.get(scope, exports_key.into())
}

/// `require(specifier)` inside a CommonJS module; the function's data is that module's name.
fn require_callback<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    mut result: v8::ReturnValue<'s, v8::Value>,
) {
    let state = IsolateState::of(scope);
    let specifier = args.get(0).to_rust_string_lossy(scope);
    let from = args.data().to_rust_string_lossy(scope);
    let Some(name) = resolve(&state, &specifier, &from) else {
        if state.has_flag(Flag::NewModuleRegistry) {
            return throw_error(scope, &format!("Module not found: {specifier}"));
        }
        return throw_type_error(scope, &format!("Invalid module specifier \"{specifier}\"."));
    };
    if let Some(value) = require(scope, &state, &name) {
        result.set(value);
    }
}
