//! What a Worker is made of.

use std::sync::Arc;

/// One module's content, by kind.
#[derive(Clone, Debug)]
pub enum ModuleContent {
    /// An ES module.
    EsModule(Arc<str>),
    /// A CommonJS module.
    CommonJs(Arc<str>),
    /// Default export: the text.
    Text(Arc<str>),
    /// Default export: an `ArrayBuffer` with a copy of the bytes.
    Data(Arc<[u8]>),
    /// Default export: the parsed value. JSON text.
    Json(Arc<str>),
    /// Default export: a `WebAssembly.Module` compiled from the bytes.
    Wasm(Arc<[u8]>),
}

/// A module and its name, which is what specifiers resolve to.
#[derive(Clone, Debug)]
pub struct Module {
    pub name: String,
    pub content: ModuleContent,
}

/// Everything that is loaded into one isolate.
#[derive(Clone, Debug)]
pub struct WorkerSource {
    /// The name of the main module; it must be an ES module among `modules`.
    pub main_module: String,
    pub modules: Vec<Module>,
}
