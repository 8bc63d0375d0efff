//! A configuration to running services.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use loaderd_runtime::compat::{CompatErrors, CompatFlags, DateCheck, Experimental, Flag};
use loaderd_runtime::error::Blame;
use loaderd_runtime::isolate::{HangPolicy, Uses};
use loaderd_runtime::modules::exports::{ExportedEntrypoint, HANDLERS_MAX};
use loaderd_runtime::modules::{CommonJs, ExtensionModule, Module, ModuleContent, WorkerSource};
use loaderd_runtime::rpc::Capability;
use loaderd_runtime::trace::TraceSink;

use super::loopback::Loopbacks;
use super::{Graph, GraphOptions, Node, Reach, Service, Shared, disk, env, network};
use crate::cache::{CacheLimits, MemoryCache};
use crate::code::{CheckedCode, GlobalOutbound};
use crate::config::{
    BindingValue, Config, DurableObjectStorage, ExternalProtocol, ExternalServer, FieldPath, INTERNET, Listen, Network,
    ServiceDesignator, ServiceKind, Socket, SocketProtocol, Worker, WorkerCode,
};
use crate::error::LoaderError;
use crate::host::{LoaderHost, LoaderOptions};
use crate::tails::{Activity, Relation, Tail, Tails};

/// What a service worker's script is called in stack traces.
const SERVICE_WORKER: &str = "worker.js";

/// What `Failed to start Worker:` reports begin with; a configuration's errors name the service instead.
const FAILED: &str = "Failed to start Worker:\n";

/// Why a configuration does not run. The texts are workerd's where it has any.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// A compatibility date or flags; one line for each problem.
    #[error("{}", .errors.iter().map(|error| format!("service {service}: {error}")).collect::<Vec<_>>().join("\n"))]
    Compat { service: String, errors: CompatErrors },
    #[error("service {service}: {}", .error.to_string().strip_prefix(FAILED).unwrap_or(&.error.to_string()))]
    Start { service: String, error: LoaderError },
    #[error("service {service}: Worker \"{service}\"'s binding \"{binding}\": {problem}")]
    Binding { service: String, binding: String, problem: String },
    #[error("service {service}: the Worker's env cannot be made: {problem}")]
    Env { service: String, problem: String },
    #[error(
        "{subject} refers to service \"{service}\" with a named entrypoint \"{entrypoint}\", but \"{service}\" has no \
         such named entrypoint."
    )]
    NoEntrypoint { subject: String, service: String, entrypoint: String, field: FieldPath },
    #[error("service {service}: {problem}")]
    Unsupported { service: String, problem: &'static str },
    #[error("service {service}: {problem}")]
    Service { service: String, problem: String },
}

impl GraphError {
    /// Whose fault it is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Self::Start { error, .. } => error.blame(),
            _ => Blame::Host,
        }
    }

    /// The field of the configuration that it is about. `None` for code that does not start: its report names the place.
    #[must_use]
    pub fn field(&self, config: &Config) -> Option<FieldPath> {
        let service = |name: &str| {
            let services = FieldPath::root().field("services");
            config.services.iter().position(|it| it.name == name).map(|index| services.index(index))
        };
        let worker = |name: &str| service(name).map(|it| it.field("worker"));
        match self {
            Self::Start { .. } => None,
            Self::NoEntrypoint { field, .. } => Some(field.clone()),
            Self::Compat { service, errors } => {
                let field = if errors.first().is_about_date() { "compatibilityDate" } else { "compatibilityFlags" };
                worker(service).map(|it| it.field(field))
            }
            Self::Binding { service, binding, .. } => {
                let bindings = worker(service)?.field("bindings");
                let own = &config.service(service)?.worker()?.bindings;
                let index = own.iter().position(|it| it.name == *binding);
                Some(index.map_or(bindings.clone(), |index| bindings.index(index)))
            }
            Self::Env { service, .. } | Self::Unsupported { service, .. } => worker(service),
            Self::Service { service: name, .. } => service(name),
        }
    }
}

impl Graph {
    /// Starts every service of a configuration that passed [`Config::validate`], Workers side by side.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the services.
    pub async fn start(config: &Config, host: &LoaderHost, options: &GraphOptions) -> Result<Self, Vec<GraphError>> {
        let loopbacks = Loopbacks::default();
        let activity = Activity::default();
        let services = OnceLock::new();
        let shared =
            Arc::new(Shared { host: host.clone(), loopbacks: loopbacks.clone(), services, activity: activity.clone() });
        let reach = Reach::Weak(Arc::downgrade(&shared));
        let mut nodes = HashMap::new();
        let mut starting = Vec::new();
        let mut errors = Vec::new();
        let mut loaders = env::Loaders::new(host);
        let objects = env::unique_keys(config);
        let caches = Caches::new(options, host);
        let extensions: Arc<[ExtensionModule]> = config.extensions.clone().into();
        let internet = network::service(&Network::internet(), host.tasks());
        match internet {
            Ok(internet) => drop(nodes.insert(INTERNET.to_owned(), Node::Plain(internet))),
            Err(problem) => errors.push(GraphError::Service { service: INTERNET.to_owned(), problem }),
        }
        for service in &config.services {
            let name = &service.name;
            let node = match &service.kind {
                ServiceKind::Worker(worker) => {
                    let around = (&reach, &activity, &caches);
                    match code(name, worker, options, &extensions, around, &objects, &mut loaders) {
                        Ok(code) => {
                            let loader = host.loader(LoaderOptions::default());
                            loader.load_configured(code).map(Node::Worker).map_err(|error| start_error(name, error))
                        }
                        Err(error) => Err(error),
                    }
                }
                ServiceKind::Network(config) => plain(name, network::service(config, host.tasks())),
                ServiceKind::External(server) => match events_to(server, &config.sockets, &reach) {
                    Some(socket) => Ok(Node::Plain(socket)),
                    None => plain(name, network::external(server, &loopbacks, host.tasks())),
                },
                ServiceKind::Disk(config) => plain(name, disk::service(name, config, host.tasks())),
            };
            match node {
                Ok(node) => {
                    if let Node::Worker(stub) = &node {
                        starting.push((name, stub.clone()));
                    }
                    nodes.insert(name.clone(), node);
                }
                Err(error) => errors.push(error),
            }
        }
        // Set once, here; Workers may call each other from now on.
        let _first = shared.services.set(nodes);
        let mut exported = HashMap::new();
        for (name, stub) in starting {
            match stub.ready().await {
                Ok(report) => drop(exported.insert(name.as_str(), report.entrypoints)),
                Err(error) => errors.push(start_error(name, error)),
            }
        }
        errors.extend(references(config).filter_map(|reference| reference.problem(&exported)));
        if errors.is_empty() { Ok(Self(shared)) } else { Err(errors) }
    }
}

/// The memory of the Cache API: what a configuration's own Workers keep, and what those keep that they load. Strangers'
/// code does not drive out what a Worker of the configuration has cached.
struct Caches {
    configured: Option<MemoryCache>,
    loaded: Option<MemoryCache>,
}

impl Caches {
    fn new(options: &GraphOptions, host: &LoaderHost) -> Self {
        let bytes_max = options.cache_bytes_max;
        let cache = |limits| (bytes_max > 0).then(|| MemoryCache::new(limits, host.tasks().clone()));
        Self { configured: cache(CacheLimits::configured(bytes_max)), loaded: cache(CacheLimits::loaded(bytes_max)) }
    }
}

/// The service behind a `loopback:` address, where both ends send whole events to each other (`capnpConnectHost`): what
/// arrives there is what was sent.
fn events_to(server: &ExternalServer, sockets: &[Socket], reach: &Reach) -> Option<Arc<dyn Capability>> {
    let ExternalProtocol::Http(ours) = &server.protocol else { return None };
    let host = ours.capnp_connect_host.as_ref()?;
    let address = server.address.as_ref().filter(|address| address.starts_with("loopback:"))?;
    let listens = |socket: &&Socket| {
        let is_there = matches!(&socket.listen, Some(Listen::Address(at)) if at == address);
        let SocketProtocol::Http(theirs) = &socket.protocol else { return false };
        is_there && theirs.capnp_connect_host.as_ref() == Some(host)
    };
    let socket = sockets.iter().find(listens)?;
    Some(Arc::new(Service::new(reach.clone(), &socket.service)))
}

/// A place in the configuration that names a service, and how errors call that place.
struct Reference<'a> {
    subject: String,
    field: FieldPath,
    designator: &'a ServiceDesignator,
}

/// Everything that names a service.
fn references(config: &Config) -> impl Iterator<Item = Reference<'_>> {
    let services = FieldPath::root().field("services");
    let workers = config.services.iter().enumerate();
    let workers = workers.filter_map(move |(index, service)| {
        Some((&service.name, service.worker()?, services.index(index).field("worker")))
    });
    let of_workers = workers.flat_map(|(name, worker, at)| {
        let bindings = at.field("bindings");
        let bindings = worker.bindings.iter().enumerate().filter_map(move |(index, binding)| match &binding.value {
            BindingValue::Service(designator) => {
                let subject = format!("Worker \"{name}\"'s binding \"{}\"", binding.name);
                Some(Reference { subject, field: bindings.index(index).field("service"), designator })
            }
            _ => None,
        });
        let of_worker = move |kind: &str, field: FieldPath, designator| Reference {
            subject: format!("Worker \"{name}\"'s {kind}"),
            field,
            designator,
        };
        let outbound = of_worker("globalOutbound", at.field("globalOutbound"), &worker.global_outbound);
        let at_cache = at.field("cacheApiOutbound");
        let cache = worker.cache_api_outbound.as_ref();
        let cache = cache.map(|it| of_worker("cacheApiOutbound", at_cache, it));
        let (at_tails, at_streaming) = (at.field("tails"), at.field("streamingTails"));
        let tails = worker.tails.iter().enumerate();
        let tails = tails.map(move |(index, it)| of_worker("tails", at_tails.index(index), it));
        let streaming = worker.streaming_tails.iter().enumerate();
        let streaming = streaming.map(move |(index, it)| of_worker("streaming tails", at_streaming.index(index), it));
        bindings.chain([outbound]).chain(cache).chain(tails).chain(streaming)
    });
    let sockets = FieldPath::root().field("sockets");
    let of_sockets = config.sockets.iter().enumerate().map(move |(index, socket)| Reference {
        subject: format!("Socket \"{}\"", socket.name),
        field: sockets.index(index).field("service"),
        designator: &socket.service,
    });
    of_workers.chain(of_sockets)
}

impl Reference<'_> {
    /// Names an entrypoint that the Worker, which has started, does not have.
    fn problem(&self, exported: &HashMap<&str, Arc<[ExportedEntrypoint]>>) -> Option<GraphError> {
        let service = self.designator.service.as_str();
        let entrypoint = self.designator.entrypoint.as_deref().filter(|name| *name != "default")?;
        let found = exported.get(service)?;
        // A list that was cut short says nothing of what it leaves out.
        let known = found.len() >= HANDLERS_MAX || found.iter().any(|exported| exported.name == entrypoint);
        (!known).then(|| GraphError::NoEntrypoint {
            subject: self.subject.clone(),
            service: service.to_owned(),
            entrypoint: entrypoint.to_owned(),
            field: self.field.clone(),
        })
    }
}

/// What hears of a Worker's invocations.
fn traces(name: &str, worker: &Worker, reach: &Reach, activity: &Activity) -> Option<Arc<dyn TraceSink>> {
    let tail = |designator: &ServiceDesignator| {
        let relation = if designator.service == name { Relation::Own } else { Relation::Other };
        Tail::new(env::cap(designator, reach).target, relation)
    };
    let items = worker.tails.iter().map(tail).collect();
    let streams = worker.streaming_tails.iter().map(tail).collect();
    Tails::sink(items, streams, activity.clone())
}

fn start_error(service: &str, error: LoaderError) -> GraphError {
    GraphError::Start { service: service.to_owned(), error }
}

fn plain(name: &str, made: Result<Arc<dyn Capability>, String>) -> Result<Node, GraphError> {
    made.map(Node::Plain).map_err(|problem| GraphError::Service { service: name.to_owned(), problem })
}

fn runtime_module(module: &crate::config::Module) -> Module {
    let content = match &module.content {
        ModuleContent::CommonJs(CommonJs { source, .. }) => {
            let named_exports = module.named_exports.iter().filter(|name| *name != "default").cloned().collect();
            ModuleContent::CommonJs(CommonJs { source: Arc::clone(source), named_exports })
        }
        content => content.clone(),
    };
    Module::new(module.name.clone(), content)
}

fn code(
    name: &str,
    worker: &Worker,
    options: &GraphOptions,
    extensions: &Arc<[ExtensionModule]>,
    (reach, activity, caches): (&Reach, &Activity, &Caches),
    objects: &env::UniqueKeys<'_>,
    loaders: &mut env::Loaders,
) -> Result<CheckedCode, GraphError> {
    let unsupported = |problem| GraphError::Unsupported { service: name.to_owned(), problem };
    if matches!(worker.durable_object_storage, DurableObjectStorage::LocalDisk { .. }) {
        return Err(unsupported(
            "Durable Objects with storage on disk are not supported by loaderd yet. Use `inMemory`.",
        ));
    }
    let date = options.compat_date.as_ref().or(worker.compatibility.date.as_ref());
    let date = date.map_or("", String::as_str);
    // A date for all Workers is for running test suites, which ask for every flag there will ever be.
    let check = if options.compat_date.is_some() { DateCheck::Unchecked } else { DateCheck::today() };
    let compat = CompatFlags::resolve(date, &worker.compatibility.flags, options.experimental, check)
        .map_err(|errors| GraphError::Compat { service: name.to_owned(), errors })?;
    let modules: Vec<Module> = match &worker.code {
        WorkerCode::Modules(modules) => modules.iter().map(runtime_module).collect(),
        WorkerCode::ServiceWorker(script) => {
            vec![Module::new(SERVICE_WORKER, ModuleContent::ServiceWorker(Arc::clone(script)))]
        }
    };
    let main_module = modules.first().map(|module| module.name.clone()).unwrap_or_default();
    let outbound = env::cap(&worker.global_outbound, reach);
    // What the Workers that it loads get from it.
    let experimental = if compat.has(Flag::Experimental) { Experimental::Allowed } else { Experimental::Refused };
    let passed_on = LoaderOptions {
        outbound: Some(outbound.clone()),
        cache: caches.loaded.clone(),
        experimental,
        console: options.console.clone(),
        tenant: None,
        extensions: Arc::clone(extensions),
        caller_caps: options.caller_caps.lowest(worker.caller_caps),
        traces: activity.clone(),
    };
    Ok(CheckedCode {
        source: WorkerSource { main_module, modules, extensions: Arc::clone(extensions) },
        compat,
        limits: worker.limits,
        env: Some(env::env(name, &worker.bindings, reach, objects, loaders, &passed_on)?),
        global_outbound: GlobalOutbound::Cap(outbound),
        cache: match &worker.cache_api_outbound {
            Some(designator) => Some(env::cap(designator, reach)),
            None => caches.configured.as_ref().map(MemoryCache::channel),
        },
        console: options.console.clone(),
        refuses_transfer: None,
        traces: traces(name, worker, reach, activity),
        on_hang: HangPolicy::Report,
        uses: Uses::Many,
        clock: options.clock,
        objects: env::own_namespaces(name, worker, reach, objects),
    })
}
