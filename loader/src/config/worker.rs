//! A Worker: its code, the platform it was written for, and what it may reach.

use std::sync::Arc;

use loaderd_runtime::limits::ResourceLimits;
use loaderd_runtime::modules::ModuleContent;

use super::binding::Binding;
use crate::callers::CallerCaps;

use super::service::{INTERNET, ServiceDesignator};

/// A Worker service.
#[derive(Clone, Debug)]
pub struct Worker {
    pub code: WorkerCode,
    pub compatibility: Compatibility,
    /// The members of `env`, or the globals of a service-worker script.
    pub bindings: Vec<Binding>,
    /// Where global `fetch()` and `connect()` go.
    pub global_outbound: ServiceDesignator,
    /// Where operations on `caches` go.
    pub cache_api_outbound: Option<ServiceDesignator>,
    pub durable_object_namespaces: Vec<DurableObjectNamespace>,
    pub durable_object_storage: DurableObjectStorage,
    /// Who receives a trace of each event when it has ended.
    pub tails: Vec<ServiceDesignator>,
    /// Who receives the trace while the event runs.
    pub streaming_tails: Vec<ServiceDesignator>,
    /// Of every invocation. workerd's format has none; wrangler projects do.
    pub limits: ResourceLimits,
    /// Of its `workerLoader` bindings. workerd's format has none.
    pub caller_caps: CallerCaps,
}

impl Worker {
    /// A Worker with code and compatibility, and the defaults of everything else.
    #[must_use]
    pub fn new(code: WorkerCode, compatibility: Compatibility) -> Self {
        Self {
            code,
            compatibility,
            bindings: Vec::new(),
            global_outbound: ServiceDesignator::to(INTERNET),
            cache_api_outbound: None,
            durable_object_namespaces: Vec::new(),
            durable_object_storage: DurableObjectStorage::None,
            tails: Vec::new(),
            streaming_tails: Vec::new(),
            limits: ResourceLimits::default(),
            caller_caps: CallerCaps::default(),
        }
    }
}

/// What a Worker's code is.
#[derive(Clone, Debug)]
pub enum WorkerCode {
    /// ES modules and what they import. The first one is the main module; there is at least one.
    Modules(Vec<Module>),
    /// A classic script that registers its handlers with `addEventListener()`.
    ServiceWorker(Arc<str>),
}

/// A module of a Worker.
#[derive(Clone, Debug)]
pub struct Module {
    /// What specifiers resolve to.
    pub name: String,
    pub content: ModuleContent,
    /// Of a CommonJS module: the names that ES modules may import from it. Empty for other kinds.
    pub named_exports: Vec<String>,
}

/// The version of the platform's behaviour that a Worker was written for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compatibility {
    /// `YYYY-MM-DD`, checked by whoever knows which flags it switches on.
    pub date: Option<String>,
    pub flags: Vec<String>,
}

/// A class whose objects have ids, and storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableObjectNamespace {
    /// The exported class.
    pub class_name: String,
    pub kind: NamespaceKind,
    /// Whether idle objects stay in memory.
    pub prevent_eviction: bool,
    /// Whether `storage.sql` is offered.
    pub enable_sql: bool,
}

/// How a namespace's objects are named and kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceKind {
    /// With storage; ids are derived from the key.
    Durable { unique_key: String },
    /// Without storage; any string is an id.
    EphemeralLocal,
}

/// Where a Worker's Durable Objects keep their data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DurableObjectStorage {
    None,
    /// Until the process ends.
    InMemory,
    /// In the folder of a writable disk service.
    LocalDisk {
        service: String,
    },
}
