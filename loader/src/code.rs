//! What is to be loaded, and every check on it that needs no isolate. A [`WorkerCode`] becomes a [`CheckedCode`]
//! synchronously, or is refused with the platform's text.

use std::sync::Arc;

use loaderd_runtime::channel::ConsoleSink;
use loaderd_runtime::compat::{CompatError, CompatFlags, DateCheck, Experimental};
pub use loaderd_runtime::dynamic::{GlobalOutbound, ModuleSource, WorkerCode};
use loaderd_runtime::isolate::{ClockPolicy, HangPolicy, Uses};
use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::modules::{CodeCachePolicy, Module, ModuleContent, WorkerSource};
use loaderd_runtime::objects::ObjectNamespace;
use loaderd_runtime::rpc::{Cap, Message};
use loaderd_runtime::trace::TraceSink;

use crate::entrypoint::NOT_TRANSFERABLE;
use crate::tails::{Activity, Relation, Tail, Tails};

/// The most bytes all module bodies of one Worker may have together.
pub const CODE_BYTES_MAX: usize = 64 << 20;

/// The most bytes the serialized `env` of one Worker may have.
pub const ENV_BYTES_MAX: usize = 1 << 20;

/// Why code was refused before anything started. The display text is what the caller's JavaScript sees.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    #[error("Dynamic Worker code must contain at least one module.")]
    NoModules,
    #[error(
        "Module name must end with '.js' or '.py' (or the content must be an object indicating the type \
         explicitly). Got: {name}{}",
        if is_typescript(.name) {
            ". If you're trying to load TypeScript, bundle it first with '@cloudflare/worker-bundler' and pass the \
             generated JavaScript modules."
        } else {
            ""
        }
    )]
    ModuleName { name: String },
    #[error(
        "Each module must contain exactly one of 'js', 'cjs', 'text', 'data', 'json', 'py', or 'wasm'. Module \
         '{name}' contained {count} properties."
    )]
    ModuleKinds { name: String, count: usize },
    #[error("Module \"{name}\" is a Python module, but the main module isn't a Python module.")]
    PythonModule { name: String },
    #[error(
        "Python Workers are not supported by loaderd: \"{name}\" is a Python module. Give the Worker a JavaScript \
         main module."
    )]
    PythonUnsupported { name: String },
    #[error("Module \"{name}\" is given more than once.")]
    DuplicateModule { name: String },
    #[error("Dynamic Worker code size ({bytes} bytes) exceeds the maximum allowed size of {CODE_BYTES_MAX} bytes.")]
    CodeSize { bytes: usize },
    #[error("Dynamic Worker env size ({bytes} bytes) exceeds the maximum allowed size of {ENV_BYTES_MAX} bytes.")]
    EnvSize { bytes: usize },
    #[error("'allowExperimental' is only allowed when the calling worker has the 'experimental' compat flag set.")]
    AllowExperimental,
    #[error(transparent)]
    Compat(#[from] CompatError),
}

impl CodeError {
    /// The JavaScript class it is thrown as.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match self {
            Self::NoModules
            | Self::ModuleName { .. }
            | Self::ModuleKinds { .. }
            | Self::PythonModule { .. }
            | Self::PythonUnsupported { .. }
            | Self::DuplicateModule { .. } => "TypeError",
            Self::CodeSize { .. } | Self::EnvSize { .. } | Self::AllowExperimental | Self::Compat(_) => "Error",
        }
    }
}

fn is_typescript(name: &str) -> bool {
    [".ts", ".tsx", ".jsx"].iter().any(|ending| name.ends_with(ending))
}

/// Code that passed every check, in the form an isolate is given.
#[derive(Clone)]
pub struct CheckedCode {
    pub source: WorkerSource,
    pub compat: CompatFlags,
    pub limits: ResourceLimits,
    pub env: Option<Message>,
    pub global_outbound: GlobalOutbound,
    /// Where the Cache API's requests go. `None`: to the cache of those who load, if they have one.
    pub cache: Option<Cap>,
    pub console: Option<Arc<dyn ConsoleSink>>,
    /// Why its own entrypoints may not be handed to other Workers, if they may not.
    pub refuses_transfer: Option<&'static str>,
    /// Receives the traces of its invocations.
    pub traces: Option<Arc<dyn TraceSink>>,
    pub on_hang: HangPolicy,
    pub uses: Uses,
    pub clock: ClockPolicy,
    /// By class: the namespaces of its own Durable Objects.
    pub objects: Vec<(String, Arc<dyn ObjectNamespace>)>,
}

/// Checks everything that can be known without starting it, in the platform's order. `parent` says whether the one who
/// loads may pass on the permission for experimental flags; `activity` counts its traces.
///
/// A main module that is missing or no ES module is not found here: the platform reports it as a failed start.
///
/// # Errors
/// The first check that fails.
pub fn check(code: WorkerCode, parent: Experimental, activity: &Activity) -> Result<CheckedCode, CodeError> {
    let source = check_modules(code.main_module, code.modules)?;
    if code.allow_experimental && parent == Experimental::Refused {
        return Err(CodeError::AllowExperimental);
    }
    let experimental = if code.allow_experimental { Experimental::Allowed } else { Experimental::Refused };
    let compat =
        CompatFlags::resolve(&code.compatibility_date, &code.compatibility_flags, experimental, DateCheck::today())
            .map_err(|errors| errors.first().clone())?;
    if let Some(bytes) = code.env.as_ref().map(|env| env.bytes.len()).filter(|bytes| *bytes > ENV_BYTES_MAX) {
        return Err(CodeError::EnvSize { bytes });
    }
    Ok(CheckedCode {
        source,
        compat,
        limits: code.limits,
        env: code.env,
        global_outbound: code.global_outbound,
        cache: None,
        console: code.console,
        refuses_transfer: Some(NOT_TRANSFERABLE),
        traces: Tails::sink(tails(code.tails), tails(code.streaming_tails), activity.clone()),
        on_hang: code.on_hang,
        uses: code.uses,
        clock: code.clock,
        objects: Vec::new(),
    })
}

impl CheckedCode {
    /// Bytes that are held for it as long as its Worker may start again: names and bodies of its modules, and `env`. The
    /// host's own modules are there once for all.
    pub(crate) fn held_bytes(&self) -> usize {
        let of_module = |module: &Module| {
            let body = match module.code_cache {
                CodeCachePolicy::None => content_bytes(&module.content),
                CodeCachePolicy::Shared => 0,
            };
            size_of::<Module>() + module.name.len() + body
        };
        let modules = self.source.modules.iter().map(of_module).fold(0, usize::saturating_add);
        modules.saturating_add(self.env.as_ref().map_or(0, |env| env.bytes.len()))
    }
}

fn tails(services: Vec<Cap>) -> Vec<Tail> {
    services.into_iter().map(|service| Tail::new(service.target, Relation::Other)).collect()
}

fn check_modules(main_module: String, modules: Vec<(String, ModuleSource)>) -> Result<WorkerSource, CodeError> {
    if modules.is_empty() {
        return Err(CodeError::NoModules);
    }
    let main_is_python = main_module.ends_with(".py");
    let mut names = std::collections::HashSet::with_capacity(modules.len());
    let mut python = None;
    let mut checked = Vec::with_capacity(modules.len());
    let mut bytes = 0_usize;
    for (name, source) in modules {
        if !names.insert(name.clone()) {
            return Err(CodeError::DuplicateModule { name });
        }
        let (content, code_cache) = match source {
            ModuleSource::Content(content) => (content, CodeCachePolicy::None),
            ModuleSource::HostContent(content) => (content, CodeCachePolicy::Shared),
            ModuleSource::ByName(text) if name.ends_with(".js") => {
                (ModuleContent::EsModule(text), CodeCachePolicy::None)
            }
            ModuleSource::ByName(_) if !name.ends_with(".py") => return Err(CodeError::ModuleName { name }),
            ModuleSource::ByName(_) | ModuleSource::Python(_) => {
                // Name errors of later modules are reported before this one, as on the platform.
                python.get_or_insert(name);
                continue;
            }
        };
        bytes = bytes.saturating_add(content_bytes(&content));
        checked.push(Module { name, content, code_cache });
    }
    match python {
        Some(name) if main_is_python => return Err(CodeError::PythonUnsupported { name }),
        Some(name) => return Err(CodeError::PythonModule { name }),
        None if main_is_python => return Err(CodeError::PythonUnsupported { name: main_module }),
        None => {}
    }
    if bytes > CODE_BYTES_MAX {
        return Err(CodeError::CodeSize { bytes });
    }
    Ok(WorkerSource { main_module, modules: checked, extensions: Arc::default() })
}

fn content_bytes(content: &ModuleContent) -> usize {
    match content {
        ModuleContent::EsModule(text)
        | ModuleContent::ServiceWorker(text)
        | ModuleContent::Text(text)
        | ModuleContent::Json(text) => text.len(),
        ModuleContent::CommonJs(module) => module.source.len(),
        ModuleContent::Data(bytes) | ModuleContent::Wasm(bytes) => bytes.len(),
        ModuleContent::Builtin => 0,
    }
}
