//! The checks of a configuration that need no code to run: names, references, required fields, experimental features.
//!
//! What only a started Worker can tell (which entrypoints it exports, which compatibility flags exist) is checked by the
//! service graph. Every problem is reported, not only the first.

use std::collections::HashSet;

use super::error::{ConfigError, FieldPath};
use super::service::{INTERNET, Service, ServiceDesignator, ServiceKind};
use super::worker::{DurableObjectStorage, NamespaceKind, Worker, WorkerCode};
use super::{Binding, BindingValue, Config, DurableObjectDesignator};

/// Whether features that workerd may still change are permitted (`--experimental`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experimental {
    Permitted,
    Refused,
}

/// What a configuration is validated against.
#[derive(Clone, Debug)]
pub struct Validation {
    pub experimental: Experimental,
    /// A date for all Workers, which then must not have one of their own (`test --compat-date`).
    pub compat_date: Option<String>,
}

impl Config {
    /// Everything that is wrong with this configuration. Empty means that services can be built from it.
    #[must_use]
    pub fn validate(&self, against: &Validation) -> Vec<ConfigError> {
        let mut check = Check { config: self, against, errors: Vec::new() };
        let services = FieldPath::root().field("services");
        let mut names = HashSet::new();
        for (index, service) in self.services.iter().enumerate() {
            let at = services.index(index);
            if !names.insert(service.name.as_str()) {
                let message = format!("Config defines multiple services named \"{}\".", service.name);
                check.error(at.field("name"), message);
            }
            check.service(service, &at);
        }
        let sockets = FieldPath::root().field("sockets");
        for (index, socket) in self.sockets.iter().enumerate() {
            let at = sockets.index(index);
            let subject = format!("Socket \"{}\"", socket.name);
            check.designator(&socket.service, &subject, &at.field("service"));
            if socket.listen.is_none() {
                let message = format!(
                    "{subject} has no address in the config, so must be specified on the command line with \
                     `--socket-addr`."
                );
                check.error(at.field("address"), message);
            }
        }
        check.errors
    }
}

struct Check<'a> {
    config: &'a Config,
    against: &'a Validation,
    errors: Vec<ConfigError>,
}

impl Check<'_> {
    fn error(&mut self, field: FieldPath, message: impl Into<String>) {
        self.errors.push(ConfigError::new(field, message));
    }

    fn service(&mut self, service: &Service, at: &FieldPath) {
        let name = &service.name;
        match &service.kind {
            ServiceKind::Worker(worker) => self.worker(name, worker, &at.field("worker")),
            ServiceKind::Network(_) => {}
            ServiceKind::External(server) if server.address.is_none() => {
                let message = format!(
                    "External service \"{name}\" has no address in the config, so must be specified on the command \
                     line with `--external-addr`."
                );
                self.error(at.field("external").field("address"), message);
            }
            ServiceKind::External(_) => {}
            ServiceKind::Disk(disk) if disk.path.is_none() => {
                let message = format!(
                    "Directory \"{name}\" has no path in the config, so must be specified on the command line with \
                     `--directory-path`."
                );
                self.error(at.field("disk").field("path"), message);
            }
            ServiceKind::Disk(_) => {}
        }
    }

    fn worker(&mut self, name: &str, worker: &Worker, at: &FieldPath) {
        self.compatibility_date(name, worker, at);
        if matches!(&worker.code, WorkerCode::Modules(modules) if modules.is_empty()) {
            self.error(at.field("modules"), format!("service {name}: Modules list cannot be empty."));
        }
        if let WorkerCode::Modules(modules) = &worker.code {
            let mut names = HashSet::new();
            for (index, module) in modules.iter().enumerate().filter(|(_, it)| !names.insert(it.name.as_str())) {
                let message = format!("service {name}: Module \"{}\" already added to bundle.", module.name);
                self.error(at.field("modules").index(index).field("name"), message);
            }
        }
        let bindings = at.field("bindings");
        for (index, binding) in worker.bindings.iter().enumerate() {
            self.binding(name, worker, binding, &bindings.index(index));
        }
        let subject = format!("Worker \"{name}\"'s");
        self.designator(&worker.global_outbound, &format!("{subject} globalOutbound"), &at.field("globalOutbound"));
        if let Some(cache) = &worker.cache_api_outbound {
            self.designator(cache, &format!("{subject} cacheApiOutbound"), &at.field("cacheApiOutbound"));
        }
        for (index, tail) in worker.tails.iter().enumerate() {
            self.designator(tail, &format!("{subject} tails"), &at.field("tails").index(index));
        }
        for (index, tail) in worker.streaming_tails.iter().enumerate() {
            self.designator(tail, &format!("{subject} streaming tails"), &at.field("streamingTails").index(index));
        }
        self.durable_objects(name, worker, at);
    }

    fn compatibility_date(&mut self, name: &str, worker: &Worker, at: &FieldPath) {
        let message = match (&self.against.compat_date, &worker.compatibility.date) {
            (Some(_), Some(_)) => {
                "Worker specifies compatibilityDate but --compat-date was provided. When using --compat-date, workers \
                 must not specify compatibilityDate in the config. Use compatibilityFlags to enable/disable specific \
                 flags if needed."
            }
            (None, None) => "Worker must specify compatibilityDate.",
            (Some(_), None) | (None, Some(_)) => return,
        };
        self.error(at.field("compatibilityDate"), format!("service {name}: {message}"));
    }

    fn durable_objects(&mut self, name: &str, worker: &Worker, at: &FieldPath) {
        let mut has_durable = false;
        for (index, namespace) in worker.durable_object_namespaces.iter().enumerate() {
            match namespace.kind {
                NamespaceKind::Durable { .. } => has_durable = true,
                NamespaceKind::EphemeralLocal => self.experimental(
                    at.field("durableObjectNamespaces").index(index).field("ephemeralLocal"),
                    "Ephemeral objects (Durable Object namespaces with type 'ephemeralLocal') are an experimental \
                     feature which may change or go away in the future. You must run loaderd with `--experimental` to \
                     use this feature.",
                ),
            }
        }
        let storage = at.field("durableObjectStorage");
        match &worker.durable_object_storage {
            DurableObjectStorage::None if has_durable => {
                let message = format!(
                    "Worker service \"{name}\" implements durable object classes but has `durableObjectStorage` set to \
                     `none`."
                );
                self.error(storage, message);
            }
            DurableObjectStorage::None | DurableObjectStorage::InMemory => {}
            DurableObjectStorage::LocalDisk { service } => {
                let problem = match self.config.service(service).map(|service| &service.kind) {
                    Some(ServiceKind::Disk(disk)) if disk.writable => return,
                    Some(ServiceKind::Disk(_)) => {
                        format!("refers to the disk service \"{service}\", but that service is defined read-only.")
                    }
                    Some(_) => {
                        format!("refers to the service \"{service}\", but that service is not a local disk service.")
                    }
                    None => format!("refers to a service \"{service}\", but no such service is defined."),
                };
                let message = format!("service {name}: durableObjectStorage config {problem}");
                self.error(storage.field("localDisk"), message);
            }
        }
    }

    fn experimental(&mut self, field: FieldPath, message: &str) {
        if self.against.experimental == Experimental::Refused {
            self.error(field, message);
        }
    }

    fn binding(&mut self, worker_name: &str, worker: &Worker, binding: &Binding, at: &FieldPath) {
        let subject = format!("Worker \"{worker_name}\"'s binding \"{}\"", binding.name);
        let field = at.field(binding.value.kind());
        let experimental = |what: &str| {
            format!(
                "service {worker_name}: {what} are an experimental feature which may change or go away in the future. \
                 You must run loaderd with `--experimental` to use this feature."
            )
        };
        match &binding.value {
            BindingValue::Text(_)
            | BindingValue::Data(_)
            | BindingValue::CryptoKey(_)
            | BindingValue::FromEnvironment(_) => {}
            BindingValue::Json(text) => {
                if let Err(problem) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
                    self.error(field, format!("service {worker_name}: {subject} is not valid JSON: {problem}"));
                }
            }
            BindingValue::WasmModule(_) => {
                if matches!(worker.code, WorkerCode::Modules(_)) {
                    let message = format!(
                        "service {worker_name}: {subject} is a Wasm binding, but Wasm bindings are not allowed in \
                         modules-based scripts. Use Wasm modules instead."
                    );
                    self.error(field, message);
                }
            }
            BindingValue::Service(designator)
            | BindingValue::KvNamespace(designator)
            | BindingValue::R2Bucket(designator)
            | BindingValue::Queue(designator) => self.designator(designator, &subject, &field),
            BindingValue::AnalyticsEngine(designator) => {
                self.experimental(field.clone(), &experimental("AnalyticsEngine bindings"));
                self.designator(designator, &subject, &field);
            }
            BindingValue::Hyperdrive(hyperdrive) => {
                self.designator(&hyperdrive.designator, &subject, &field.field("designator"));
            }
            BindingValue::DurableObjectClass(designator) => {
                self.experimental(field.clone(), &experimental("Durable Object class bindings"));
                self.class_designator(designator, &subject, &field);
            }
            BindingValue::DurableObjectNamespace(designator) => {
                self.namespace_designator(worker_name, worker, designator, &subject, &field);
            }
            BindingValue::Wrapped(wrapped) => {
                let inner = field.field("innerBindings");
                for (index, binding) in wrapped.inner_bindings.iter().enumerate() {
                    self.binding(worker_name, worker, binding, &inner.index(index));
                }
            }
            BindingValue::UnsafeEval => {
                let message = format!(
                    "service {worker_name}: Unsafe eval is an experimental feature. You must run loaderd with \
                     `--experimental` to use this feature."
                );
                self.experimental(field, &message);
            }
            BindingValue::MemoryCache(_) => self.experimental(field, &experimental("MemoryCache bindings")),
            BindingValue::WorkerLoader { .. } => self.experimental(field, &experimental("Worker loader bindings")),
        }
    }

    /// A reference to a service must lead to one, and only Workers have entrypoints and props.
    fn designator(&mut self, designator: &ServiceDesignator, subject: &str, field: &FieldPath) {
        let target = &designator.service;
        if let Some(props) = &designator.props_json {
            self.props(props, subject, &field.field("props"));
        }
        let is_worker = match self.config.service(target) {
            Some(service) => service.worker().is_some(),
            None if target == INTERNET => false,
            None => {
                let message = format!("{subject} refers to a service \"{target}\", but no such service is defined.");
                return self.error(field.clone(), message);
            }
        };
        if is_worker {
            return;
        }
        if let Some(entrypoint) = &designator.entrypoint {
            let message = format!(
                "{subject} refers to service \"{target}\" with a named entrypoint \"{entrypoint}\", but \"{target}\" is \
                 not a Worker, so does not have any named entrypoints."
            );
            self.error(field.field("entrypoint"), message);
        } else if designator.props_json.is_some() {
            let message = format!(
                "{subject} refers to service \"{target}\" and provides a `props` value, but \"{target}\" is not a \
                 Worker, so cannot accept `props`"
            );
            self.error(field.field("props"), message);
        }
    }

    fn props(&mut self, json: &str, subject: &str, field: &FieldPath) {
        if let Err(problem) = serde_json::from_str::<serde::de::IgnoredAny>(json) {
            self.error(field.field("json"), format!("{subject} has `props` that are not JSON: {problem}"));
        }
    }

    fn class_designator(&mut self, designator: &ServiceDesignator, subject: &str, field: &FieldPath) {
        let target = &designator.service;
        let message = match self.config.service(target) {
            Some(service) if service.worker().is_some() => return,
            None if target != INTERNET => {
                format!("{subject} refers to a service \"{target}\", but no such service is defined.")
            }
            Some(_) | None => match &designator.entrypoint {
                Some(entrypoint) => format!(
                    "{subject} refers to service \"{target}\" with a named Durable Object entrypoint \"{entrypoint}\", \
                     but \"{target}\" is not a Worker, so does not have any named entrypoints."
                ),
                None => format!(
                    "{subject} refers to service \"{target}\" as a Durable Object class, but \"{target}\" is not a \
                     Worker, so cannot be used as a class."
                ),
            },
        };
        self.error(field.clone(), message);
    }

    fn namespace_designator(
        &mut self,
        worker_name: &str,
        worker: &Worker,
        designator: &DurableObjectDesignator,
        subject: &str,
        field: &FieldPath,
    ) {
        let class = &designator.class_name;
        let defines = |worker: &Worker| worker.durable_object_namespaces.iter().any(|it| it.class_name == *class);
        let problem = match &designator.service {
            None if defines(worker) => return,
            None => format!(
                "refers to a Durable Object namespace named \"{class}\", but no such Durable Object namespace is defined \
                 by this Worker."
            ),
            Some(target) => match self.config.service(target) {
                None => format!("refers to a service \"{target}\", but no such service is defined."),
                Some(service) if service.worker().is_some_and(defines) => return,
                Some(_) => format!(
                    "refers to a Durable Object namespace named \"{class}\" in service \"{target}\", but no such \
                     Durable Object namespace is defined by that service."
                ),
            },
        };
        self.error(field.clone(), format!("service {worker_name}: {subject} {problem}"));
    }
}
