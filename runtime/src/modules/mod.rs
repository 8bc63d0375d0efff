//! What a Worker is made of.

pub(crate) mod ahead;
mod builtin;
pub(crate) mod code_cache;
pub(crate) mod diagnostics;
pub(crate) mod dynamic;
pub mod exports;
pub(crate) mod link;
pub(crate) mod registry;
mod resolve;
pub(crate) mod start;
mod synthetic;
pub(crate) mod wasm;

use std::sync::Arc;

/// One module's content, by kind.
#[derive(Clone, Debug)]
pub enum ModuleContent {
    /// An ES module.
    EsModule(Arc<str>),
    /// A classic script that registers listeners for its events. The only module of its Worker.
    ServiceWorker(Arc<str>),
    /// A CommonJS module.
    CommonJs(CommonJs),
    /// Default export: the text.
    Text(Arc<str>),
    /// Default export: an `ArrayBuffer` with a copy of the bytes.
    Data(Arc<[u8]>),
    /// Default export: the parsed value. JSON text.
    Json(Arc<str>),
    /// Default export: a `WebAssembly.Module` compiled from the bytes.
    Wasm(Arc<[u8]>),
    /// One of the runtime's own; never given from outside.
    #[doc(hidden)]
    Builtin,
}

/// A CommonJS module.
#[derive(Clone, Debug)]
pub struct CommonJs {
    pub source: Arc<str>,
    /// Properties of `module.exports` that ES modules may import by name, beside `default`. Distinct names, without
    /// `default`.
    pub named_exports: Arc<[String]>,
}

impl<T: Into<Arc<str>>> From<T> for CommonJs {
    fn from(source: T) -> Self {
        Self { source: source.into(), named_exports: Arc::default() }
    }
}

/// Whether V8's bytecode of a module may be kept for the next isolate that loads the same text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeCachePolicy {
    /// For anything a program or customer wrote.
    #[default]
    None,
    /// For the host's own fixed modules.
    Shared,
}

/// A module and its name, which is what specifiers resolve to.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    pub content: ModuleContent,
    pub code_cache: CodeCachePolicy,
}

impl Module {
    /// An ES module that someone outside the host wrote.
    pub fn es_module(name: impl Into<String>, source: impl Into<Arc<str>>) -> Self {
        Self::new(name, ModuleContent::EsModule(source.into()))
    }

    /// A module that someone outside the host wrote.
    pub fn new(name: impl Into<String>, content: ModuleContent) -> Self {
        Self { name: name.into(), content, code_cache: CodeCachePolicy::None }
    }
}

/// A module that the host offers to Workers, beside what they bring themselves.
#[derive(Clone, Debug)]
pub struct ExtensionModule {
    /// The whole specifier, for example `my-extension:module`.
    pub name: String,
    pub visibility: ExtensionVisibility,
    /// An ES module's source.
    pub source: Arc<str>,
}

/// Who may import an extension's module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtensionVisibility {
    /// Any Worker.
    Public,
    /// Other extension modules, and wrapped bindings.
    Internal,
}

/// Everything that is loaded into one isolate.
#[derive(Clone, Debug)]
pub struct WorkerSource {
    /// The name of the main module; it must be an ES module or a service worker among `modules`.
    pub main_module: String,
    pub modules: Vec<Module>,
    /// Shared by the Workers of one configuration.
    pub extensions: Arc<[ExtensionModule]>,
}
