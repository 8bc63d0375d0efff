//! The modules of one isolate: what was given, what is compiled, and V8's questions about both.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroI32;

use super::builtin::resolve;
use super::synthetic;
use super::{CodeCachePolicy, Module, ModuleContent, code_cache};
use crate::isolate::state::IsolateState;
use crate::js::{string, throw_error, throw_type_error};

/// One module: its content and, once asked for, V8's module.
struct Entry {
    content: ModuleContent,
    code_cache: CodeCachePolicy,
    module: Option<v8::Global<v8::Module>>,
}

/// A compiled module and its name. V8 gives modules hashes, which several may share.
type Named = (v8::Global<v8::Module>, String);

/// All modules an isolate knows.
#[derive(Default)]
pub(crate) struct Registry {
    entries: HashMap<String, Entry>,
    names: RefCell<HashMap<NonZeroI32, Vec<Named>>>,
    /// `module.exports` of CommonJS modules that have run or are running.
    pub(crate) common_js: HashMap<String, v8::Global<v8::Object>>,
    /// Default exports that were made ahead of evaluation.
    pub(crate) values: HashMap<String, v8::Global<v8::Value>>,
}

impl Registry {
    pub(crate) fn new(modules: Vec<Module>) -> Self {
        let entries = modules
            .into_iter()
            .map(|module| (module.name, Entry { content: module.content, code_cache: module.code_cache, module: None }))
            .collect();
        Self { entries, ..Self::default() }
    }

    pub(crate) fn content(&self, name: &str) -> Option<ModuleContent> {
        self.entries.get(name).map(|entry| entry.content.clone())
    }

    /// Names of all ES modules given.
    pub(crate) fn es_modules(&self) -> Vec<String> {
        let is_es = |entry: &Entry| matches!(entry.content, ModuleContent::EsModule(_));
        let mut names: Vec<_> =
            self.entries.iter().filter(|(_, entry)| is_es(entry)).map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// The compiled modules whose code the host lets others use.
    pub(super) fn shared_modules(&self) -> impl Iterator<Item = (&ModuleContent, &v8::Global<v8::Module>)> {
        let shared = |entry: &&Entry| entry.code_cache == CodeCachePolicy::Shared;
        self.entries.values().filter(shared).filter_map(|entry| Some((&entry.content, entry.module.as_ref()?)))
    }

    pub(super) fn name_of(&self, module: v8::Local<v8::Module>, scope: &v8::Isolate) -> Option<String> {
        let names = self.names.borrow();
        names
            .get(&module.get_identity_hash())?
            .iter()
            .find(|(known, _)| *known == v8::Global::new(scope, module))
            .map(|(_, name)| name.clone())
    }

    fn remember(&mut self, name: &str, module: v8::Global<v8::Module>, hash: NonZeroI32) {
        self.names.borrow_mut().entry(hash).or_default().push((module.clone(), name.to_owned()));
        if let Some(entry) = self.entries.get_mut(name) {
            entry.module = Some(module);
        }
    }
}

/// The module named `name`, compiled or created if need be. `None` with an exception pending, or when there is no
/// such module (nothing pending).
pub(crate) fn module_named<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    name: &str,
) -> Option<v8::Local<'s, v8::Module>> {
    let (content, policy) = {
        let registry = state.registry.borrow();
        match registry.entries.get(name) {
            Some(Entry { module: Some(module), .. }) => return Some(v8::Local::new(scope, module)),
            Some(entry) => (Some(entry.content.clone()), entry.code_cache),
            None => (None, CodeCachePolicy::None),
        }
    };
    let module = match content {
        Some(ModuleContent::EsModule(source)) => code_cache::compile_module(scope, name, &source, policy)?,
        Some(content) => synthetic::create(scope, state, name, &content)?,
        None => {
            let module = synthetic::create_builtin(scope, name)?;
            state.registry.borrow_mut().entries.insert(
                name.to_owned(),
                Entry {
                    content: ModuleContent::Builtin,
                    code_cache: CodeCachePolicy::None,
                    module: Some(v8::Global::new(scope, module)),
                },
            );
            module
        }
    };
    let global = v8::Global::new(scope, module);
    state.registry.borrow_mut().remember(name, global, module.get_identity_hash());
    Some(module)
}

/// V8 asks for the module a static import means.
pub(crate) fn resolve_import<'s>(
    context: v8::Local<'s, v8::Context>,
    specifier: v8::Local<'s, v8::String>,
    _attributes: v8::Local<'s, v8::FixedArray>,
    referrer: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Module>> {
    v8::callback_scope!(unsafe scope, context);
    let state = IsolateState::of(scope);
    let specifier = specifier.to_rust_string_lossy(scope);
    let from = state.registry.borrow().name_of(referrer, scope).unwrap_or_default();
    let Some(name) = resolve(&state, &specifier, &from) else {
        throw_type_error(scope, &format!("Invalid module specifier \"{specifier}\".\n  imported from \"{from}\"."));
        return None;
    };
    let module = {
        v8::tc_scope!(let scope, scope);
        let module = module_named(scope, &state, &name);
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        module
    };
    if module.is_none() {
        throw_error(scope, &format!("No such module \"{name}\".\n  imported from \"{from}\""));
    }
    module
}

/// V8 asks for `import(specifier)`.
pub(crate) fn import_dynamically<'s, 'i>(
    scope: &mut v8::PinScope<'s, 'i>,
    _host_options: v8::Local<'s, v8::Data>,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    _attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    let resolver = v8::PromiseResolver::new(scope)?;
    let from = referrer.to_rust_string_lossy(scope);
    let specifier = specifier.to_rust_string_lossy(scope);
    v8::tc_scope!(let scope, scope);
    match namespace_of(scope, &specifier, &from) {
        Some(Imported { namespace, evaluation: Some(evaluation) }) => {
            // Resolved with the namespace once (asynchronous) evaluation is done.
            let namespace_data: v8::Local<v8::Value> = namespace;
            let then = v8::Function::builder(
                |_: &mut v8::PinScope, args: v8::FunctionCallbackArguments, mut result: v8::ReturnValue| {
                    result.set(args.data());
                },
            )
            .data(namespace_data)
            .build(scope)?;
            return evaluation.then(scope, then);
        }
        Some(Imported { namespace, evaluation: None }) => {
            resolver.resolve(scope, namespace);
        }
        None => {
            // Terminated, or without an exception: the isolate is being ended, and nobody will look at the promise.
            let exception = scope.exception().filter(|_| !scope.has_terminated())?;
            scope.reset();
            resolver.reject(scope, exception);
        }
    }
    Some(resolver.get_promise(scope))
}

struct Imported<'s> {
    namespace: v8::Local<'s, v8::Value>,
    /// Still pending when the module awaits at its top level.
    evaluation: Option<v8::Local<'s, v8::Promise>>,
}

/// Links and evaluates the module meant; `None` with an exception pending.
fn namespace_of<'s>(scope: &mut v8::PinScope<'s, '_>, specifier: &str, from: &str) -> Option<Imported<'s>> {
    let state = IsolateState::of(scope);
    let Some(name) = resolve(&state, specifier, from) else {
        throw_type_error(scope, &format!("Invalid module specifier \"{specifier}\"."));
        return None;
    };
    let module = {
        v8::tc_scope!(let scope, scope);
        let module = module_named(scope, &state, &name);
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        module
    };
    let Some(module) = module else {
        throw_error(scope, &format!("No such module \"{name}\"."));
        return None;
    };
    module.instantiate_module(scope, resolve_import)?;
    let evaluation = v8::Local::<v8::Promise>::try_from(module.evaluate(scope)?).ok();
    if module.get_status() == v8::ModuleStatus::Errored {
        scope.throw_exception(module.get_exception());
        return None;
    }
    Some(Imported { namespace: module.get_module_namespace(), evaluation })
}

/// The string V8 shows as a module's place.
pub(crate) fn origin<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str, kind: OriginKind) -> v8::ScriptOrigin<'s> {
    let name = string(scope, name);
    v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, kind == OriginKind::Module, None)
}

/// How V8 is to read a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OriginKind {
    Module,
    Function,
}
