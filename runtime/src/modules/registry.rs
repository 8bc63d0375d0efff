//! The modules of one isolate: what was given, what is compiled, and V8's questions about both.

use std::cell::RefCell;
use std::collections::HashMap;
use std::num::NonZeroI32;
use std::sync::Arc;

use super::dynamic::{Early, Unsettled};
use super::link::{link, place_of};
use super::resolve::resolve;
use super::synthetic;
use super::{CodeCachePolicy, ExtensionVisibility, ModuleContent, WorkerSource, code_cache};
use crate::isolate::state::IsolateState;
use crate::js::{string, throw_error};

/// Whose a module is, which decides who may import it and what it may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    /// The Worker's own.
    Worker,
    /// Built-in, or of an extension: for every Worker.
    Public,
    /// The same, for modules that are not the Worker's.
    Internal,
}

impl Space {
    /// Where a module of this space finds what it imports, in order.
    fn imports_from(self) -> [Self; 2] {
        match self {
            Self::Worker => [Self::Worker, Self::Public],
            Self::Public | Self::Internal => [Self::Internal, Self::Public],
        }
    }
}

/// Names one module of an isolate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ModuleId {
    pub(crate) space: Space,
    pub(crate) name: String,
}

impl ModuleId {
    pub(crate) fn of_worker(name: impl Into<String>) -> Self {
        Self { space: Space::Worker, name: name.into() }
    }
}

/// One module: its content and, once asked for, V8's module.
struct Entry {
    content: ModuleContent,
    code_cache: CodeCachePolicy,
    module: Option<v8::Global<v8::Module>>,
}

impl Entry {
    fn new(content: ModuleContent, code_cache: CodeCachePolicy) -> Self {
        Self { content, code_cache, module: None }
    }

    /// Whether both are the same module of the host.
    fn is_same(&self, other: &Self) -> bool {
        let shared = CodeCachePolicy::Shared;
        match (&self.content, &other.content) {
            (ModuleContent::EsModule(one), ModuleContent::EsModule(two)) => {
                self.code_cache == shared && other.code_cache == shared && (Arc::ptr_eq(one, two) || one == two)
            }
            _ => false,
        }
    }
}

/// A compiled module and which it is. V8 gives modules hashes, which several may share.
type Known = (v8::Global<v8::Module>, ModuleId);

/// All modules an isolate knows.
#[derive(Default)]
pub(crate) struct Registry {
    entries: HashMap<ModuleId, Entry>,
    ids: RefCell<HashMap<NonZeroI32, Vec<Known>>>,
    /// `module.exports` of CommonJS modules that have run or are running.
    pub(crate) common_js: HashMap<String, v8::Global<v8::Object>>,
    /// Default exports that were made ahead of evaluation.
    pub(crate) values: HashMap<ModuleId, v8::Global<v8::Value>>,
    /// Imports whose modules were still being evaluated when they were asked for.
    pub(super) unsettled: HashMap<u64, Unsettled>,
    /// Imports whose modules are to be looked at when what runs has ended.
    pub(super) early: HashMap<u64, Early>,
    imports_asked: u64,
    /// The main module's name.
    pub(super) main: String,
    /// The path of two modules at once.
    pub(super) repeated: Option<String>,
}

impl Registry {
    /// A number for an import that is not done at once. Counted up from one: exact as a double.
    pub(super) fn next_import(&mut self) -> u64 {
        self.imports_asked += 1;
        self.imports_asked
    }

    /// Expects a Worker with these modules of the host, by name and source, which may be made ahead of it.
    pub(super) fn expect(&mut self, modules: &[(String, Arc<str>)]) {
        self.entries.extend(modules.iter().map(|(name, source)| {
            let entry = Entry::new(ModuleContent::EsModule(source.clone()), CodeCachePolicy::Shared);
            (ModuleId::of_worker(name.as_str()), entry)
        }));
    }

    /// Takes the modules of a Worker. What was made ahead and is the same is kept; where `afresh`, only what is built in.
    pub(crate) fn load(&mut self, source: WorkerSource, afresh: bool) {
        let WorkerSource { main_module, modules, extensions } = source;
        let mut ahead = std::mem::take(&mut self.entries);
        let built_in = ahead.extract_if(|_, entry| matches!(entry.content, ModuleContent::Builtin));
        self.entries = built_in.collect();
        for module in modules {
            let path = path_of(&module.name);
            let id = ModuleId::of_worker(path.as_str());
            let entry = Entry::new(module.content, module.code_cache);
            let made = ahead.remove(&id).filter(|made| !afresh && made.is_same(&entry));
            if self.entries.insert(id, made.unwrap_or(entry)).is_some() {
                self.repeated.get_or_insert(path);
            }
        }
        let offered = extensions.iter().map(|module| {
            let space = match module.visibility {
                ExtensionVisibility::Public => Space::Public,
                ExtensionVisibility::Internal => Space::Internal,
            };
            let entry = Entry::new(ModuleContent::EsModule(module.source.clone()), CodeCachePolicy::Shared);
            (ModuleId { space, name: module.name.clone() }, entry)
        });
        self.entries.extend(offered);
        self.main = path_of(&main_module);
    }

    /// Whether a module has been compiled or made.
    pub(super) fn has_made(&self, id: &ModuleId) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.module.is_some())
    }

    /// Undoes what was made of a module.
    pub(super) fn forget(&mut self, id: &ModuleId) {
        if let Some(entry) = self.entries.get_mut(id) {
            entry.module = None;
        }
    }

    /// Whether a module is the one that V8 evaluated first.
    pub(super) fn is_main(&self, id: &ModuleId) -> bool {
        id.space == Space::Worker && id.name == self.main
    }

    /// The content of one of the Worker's own modules.
    pub(crate) fn content(&self, name: &str) -> Option<ModuleContent> {
        self.entries.get(&ModuleId::of_worker(name)).map(|entry| entry.content.clone())
    }

    /// Names of the Worker's own ES modules.
    pub(crate) fn es_modules(&self) -> Vec<String> {
        let own = self.entries.iter().filter(|(id, _)| id.space == Space::Worker);
        let es = own.filter(|(_, entry)| matches!(entry.content, ModuleContent::EsModule(_)));
        let mut names: Vec<_> = es.map(|(id, _)| id.name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// The compiled modules whose code the host lets others use.
    pub(super) fn shared_modules(&self) -> impl Iterator<Item = (&ModuleId, &ModuleContent, &v8::Global<v8::Module>)> {
        let shared = |(_, entry): &(&ModuleId, &Entry)| entry.code_cache == CodeCachePolicy::Shared;
        let entries = self.entries.iter().filter(shared);
        entries.filter_map(|(id, entry)| Some((id, &entry.content, entry.module.as_ref()?)))
    }

    pub(super) fn id_of(&self, module: v8::Local<v8::Module>, scope: &v8::Isolate) -> Option<ModuleId> {
        let ids = self.ids.borrow();
        ids.get(&module.get_identity_hash())?
            .iter()
            .find(|(known, _)| *known == v8::Global::new(scope, module))
            .map(|(_, id)| id.clone())
    }

    fn remember(&mut self, id: &ModuleId, module: v8::Global<v8::Module>, hash: NonZeroI32) {
        self.ids.borrow_mut().entry(hash).or_default().push((module.clone(), id.clone()));
        if let Some(entry) = self.entries.get_mut(id) {
            entry.module = Some(module);
        }
    }
}

/// What a module of space `from` means by `name`, compiled or created if need be. `None` with an exception pending,
/// or when there is no such module (nothing pending).
pub(crate) fn module_named<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    from: Space,
    name: &str,
) -> Option<v8::Local<'s, v8::Module>> {
    v8::tc_scope!(let scope, scope);
    for space in from.imports_from() {
        let found = module_of(scope, state, &ModuleId { space, name: name.to_owned() });
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        if found.is_some() {
            return found;
        }
    }
    None
}

/// One module, as [`module_named`] gives it.
fn module_of<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    state: &IsolateState,
    id: &ModuleId,
) -> Option<v8::Local<'s, v8::Module>> {
    let (content, policy) = {
        let registry = state.registry.borrow();
        match registry.entries.get(id) {
            Some(Entry { module: Some(module), .. }) => return Some(v8::Local::new(scope, module)),
            Some(entry) => (Some(entry.content.clone()), entry.code_cache),
            None => (None, CodeCachePolicy::None),
        }
    };
    let module = match content {
        Some(ModuleContent::EsModule(source)) => code_cache::compile_module(scope, &id.name, &source, policy)?,
        Some(content) => synthetic::create(scope, state, id, &content)?,
        None if id.space == Space::Worker => return None,
        None => {
            let module = synthetic::create_builtin(scope, id)?;
            let entry = Entry {
                content: ModuleContent::Builtin,
                code_cache: CodeCachePolicy::None,
                module: Some(v8::Global::new(scope, module)),
            };
            state.registry.borrow_mut().entries.insert(id.clone(), entry);
            module
        }
    };
    let global = v8::Global::new(scope, module);
    state.registry.borrow_mut().remember(id, global, module.get_identity_hash());
    Some(module)
}

/// The namespace of an internal module, evaluated. `None` with an exception pending.
pub(crate) fn internal_namespace<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: &str,
) -> Option<v8::Local<'s, v8::Object>> {
    let state = IsolateState::of(scope);
    let id = ModuleId { space: Space::Internal, name: name.to_owned() };
    let module = {
        v8::tc_scope!(let scope, scope);
        let module = module_of(scope, &state, &id);
        if scope.has_caught() {
            scope.rethrow();
            return None;
        }
        module
    };
    let Some(module) = module else {
        throw_error(scope, &format!("wrapped binding module can't be resolved (internal modules only): {name}"));
        return None;
    };
    link(scope, module)?;
    module.evaluate(scope)?;
    match module.get_status() {
        v8::ModuleStatus::Errored => {
            scope.throw_exception(module.get_exception());
            None
        }
        _ if module.is_graph_async() => {
            throw_error(scope, "Top-level await in module is not permitted at this time.");
            None
        }
        _ => v8::Local::try_from(module.get_module_namespace()).ok(),
    }
}

/// What imports of a module with this name resolve to: names are paths. One that climbs above the root stays as it is,
/// and nothing can import it.
fn path_of(name: &str) -> String {
    resolve(name, "").unwrap_or_else(|| name.to_owned())
}

/// The string V8 shows as a module's place.
pub(crate) fn origin<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str, kind: OriginKind) -> v8::ScriptOrigin<'s> {
    let place = place_of(&IsolateState::of(scope), name);
    let name = string(scope, &place);
    v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, kind == OriginKind::Module, None)
}

/// How V8 is to read a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OriginKind {
    Module,
    Function,
}
