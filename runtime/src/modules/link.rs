//! Linking: what V8 asks for the imports of a module, and what a module tells of itself in `import.meta`.

use super::ModuleContent;
use super::builtin::resolve;
use super::registry::{ModuleId, module_named};
use crate::compat::Flag;
use crate::guard::callbacks;
use crate::isolate::state::IsolateState;
use crate::js::{string, throw_error, throw_type_error};

/// Where modules are, for Workers with the new module registry: their places are URLs.
const BUNDLE: &str = "file:///bundle/";

/// A module's place, as stacks show it.
pub(super) fn place_of(state: &IsolateState, name: &str) -> String {
    if state.has_flag(Flag::NewModuleRegistry) { format!("{BUNDLE}{name}") } else { name.to_owned() }
}

/// The name of the module at a place.
pub(super) fn name_at(place: &str) -> &str {
    place.strip_prefix(BUNDLE).unwrap_or(place)
}

/// What is said of a module that there is not. `importer`, for static imports: who asked.
pub(super) fn not_found(state: &IsolateState, name: &str, importer: Option<&str>) -> String {
    if state.has_flag(Flag::NewModuleRegistry) {
        let place = if name.contains(':') { name.to_owned() } else { place_of(state, name) };
        return format!("Module not found: {place}");
    }
    match importer {
        Some(importer) => format!("No such module \"{name}\".\n  imported from \"{importer}\""),
        None => format!("No such module \"{name}\"."),
    }
}

/// Links a module and all that it imports. `None` with an exception pending.
pub(super) fn link(scope: &mut v8::PinScope<'_, '_>, module: v8::Local<'_, v8::Module>) -> Option<bool> {
    callbacks::link(scope, module, resolve_import, resolve_source)
}

/// V8 asks for the module a static import means.
fn resolve_import<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: v8::Local<'s, v8::String>,
    attributes: v8::Local<'s, v8::FixedArray>,
    referrer: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Module>> {
    Some(static_import(scope, specifier, attributes, referrer)?.0)
}

/// V8 asks for what `import source` means: the content of the module, as an object.
fn resolve_source<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: v8::Local<'s, v8::String>,
    attributes: v8::Local<'s, v8::FixedArray>,
    referrer: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Object>> {
    let (_, id, importer) = static_import(scope, specifier, attributes, referrer)?;
    let state = IsolateState::of(scope);
    let source = source_of(scope, &state, &id);
    if source.is_none() {
        throw_no_source(scope, &format!("{}.\n  imported from \"{importer}\"", id.name));
    }
    source
}

/// The module that a static import means, its id, and the name of the module that asks. `None` with an exception pending.
fn static_import<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    specifier: v8::Local<'s, v8::String>,
    attributes: v8::Local<'s, v8::FixedArray>,
    referrer: v8::Local<'s, v8::Module>,
) -> Option<(v8::Local<'s, v8::Module>, ModuleId, String)> {
    let state = IsolateState::of(scope);
    if refuses_attributes(&state, attributes) {
        throw_error(scope, UNKNOWN_ATTRIBUTES);
        return None;
    }
    let specifier = specifier.to_rust_string_lossy(scope);
    let referrer = state.registry.borrow().id_of(referrer, scope);
    let ModuleId { space, name: from } = referrer.unwrap_or_else(|| ModuleId::of_worker(""));
    let Some(name) = resolve(&state, &specifier, &from) else {
        throw_type_error(scope, &format!("Invalid module specifier \"{specifier}\".\n  imported from \"{from}\"."));
        return None;
    };
    let module = {
        v8::tc_scope!(let scope, scope);
        let module = module_named(scope, &state, space, &name);
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        module
    };
    let Some(module) = module else {
        throw_error(scope, &not_found(&state, &name, Some(&from)));
        return None;
    };
    let id = state.registry.borrow().id_of(module, scope)?;
    Some((module, id, from))
}

/// What is said of attributes that nobody knows; there are none that anybody knows.
pub(super) const UNKNOWN_ATTRIBUTES: &str = "Unrecognized import attributes specified";

/// Whether an import is to be refused for its attributes.
pub(super) fn refuses_attributes(state: &IsolateState, attributes: v8::Local<'_, v8::FixedArray>) -> bool {
    attributes.length() > 0 && state.has_flag(Flag::ThrowOnUnrecognizedImportAssertion)
}

/// The source of a module that has one as an object: of WebAssembly. The module must have been asked for.
pub(super) fn source_of<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    id: &ModuleId,
) -> Option<v8::Local<'s, v8::Object>> {
    let registry = state.registry.borrow();
    if !matches!(registry.content(&id.name), Some(ModuleContent::Wasm(_))) {
        return None;
    }
    let value = v8::Local::new(scope, registry.values.get(id)?);
    v8::Local::<v8::Object>::try_from(value).ok()
}

pub(super) fn throw_no_source(scope: &mut v8::PinScope<'_, '_>, which: &str) {
    let message = string(scope, &format!("Source phase import not available for module: {which}"));
    let error = v8::Exception::syntax_error(scope, message);
    scope.throw_exception(error);
}

/// V8 makes a module's `import.meta`. Only the new module registry has anything to say there.
pub(crate) fn import_meta(
    scope: &mut v8::PinScope<'_, '_>,
    module: v8::Local<'_, v8::Module>,
    meta: v8::Local<'_, v8::Object>,
) {
    let state = IsolateState::of(scope);
    if !state.has_flag(Flag::NewModuleRegistry) {
        return;
    }
    let Some(id) = state.registry.borrow().id_of(module, scope) else { return };
    let url = place_of(&state, &id.name);
    let path = url.trim_start_matches("file://");
    let folder = path.rsplit_once('/').map_or("/", |(folder, _)| folder);
    let is_main = state.registry.borrow().is_main(&id);
    let main = v8::Boolean::new(scope, is_main);
    let url_text = string(scope, &url);
    let mut values = vec![
        ("main", main.into()),
        ("url", url_text.into()),
        ("filename", string(scope, path).into()),
        ("dirname", string(scope, folder).into()),
    ];
    if let Some(resolve) = callbacks::function(resolve_url).data(url_text.into()).build(scope) {
        values.push(("resolve", resolve.into()));
    }
    for (name, value) in values {
        let name = string(scope, name);
        if meta.create_data_property(scope, name.into(), value).is_none() {
            return;
        }
    }
}

/// `import.meta.resolve(specifier)`; the function's data is the module's own URL.
fn resolve_url<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    mut result: v8::ReturnValue<'s, v8::Value>,
) {
    if args.length() == 0 {
        return throw_type_error(scope, "import.meta.resolve requires a specifier argument");
    }
    let Some(specifier) = args.get(0).to_string(scope) else { return };
    let specifier = specifier.to_rust_string_lossy(scope);
    let state = IsolateState::of(scope);
    let specifier = super::builtin::node_specifier(&state, &specifier).unwrap_or(specifier);
    let base = args.data().to_rust_string_lossy(scope);
    match url::Url::parse(&base).and_then(|base| base.join(&specifier)) {
        Ok(url) => result.set(string(scope, url.as_str()).into()),
        Err(_) => throw_type_error(scope, &format!("Invalid module specifier: {specifier}")),
    }
}
