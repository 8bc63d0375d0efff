//! Bindings to the message that becomes `env`.

use std::collections::HashMap;
use std::sync::Arc;

use loaderd_runtime::objects::{NamespaceCap, ObjectKey, ObjectNamespace};
use loaderd_runtime::rpc::plain::{BytesKind, Made, Plain, PlainObject};
use loaderd_runtime::rpc::{Cap, CapKind, Message};

use super::build::GraphError;
use super::{Reach, Service};
use crate::WorkerLoader;
use crate::config::{Binding, BindingValue, Config, NamespaceKind, ServiceDesignator, Worker};
use crate::host::{LoaderHost, LoaderOptions};

/// The loaders of a configuration: bindings with the same id share a cache.
pub(super) struct Loaders {
    host: LoaderHost,
    named: HashMap<String, WorkerLoader>,
}

impl Loaders {
    pub(super) fn new(host: &LoaderHost) -> Self {
        Self { host: host.clone(), named: HashMap::new() }
    }

    fn loader(&mut self, id: Option<&str>, options: &LoaderOptions) -> WorkerLoader {
        let Some(id) = id else { return self.host.loader(options.clone()) };
        let shared = self.named.entry(id.to_owned()).or_insert_with(|| self.host.loader(options.clone()));
        shared.with_options(options.clone())
    }
}

/// By service and class: what the ids of its Durable Objects are derived from.
pub(super) type UniqueKeys<'a> = HashMap<(&'a str, &'a str), Option<String>>;

/// Every class of Durable Objects that a configuration declares.
pub(super) fn unique_keys(config: &Config) -> UniqueKeys<'_> {
    let workers = config.services.iter().filter_map(|service| Some((service.name.as_str(), service.worker()?)));
    let namespaces = workers.flat_map(|(service, worker)| {
        worker.durable_object_namespaces.iter().map(move |namespace| {
            let unique_key = match &namespace.kind {
                NamespaceKind::Durable { unique_key } => Some(unique_key.clone()),
                NamespaceKind::EphemeralLocal => None,
            };
            ((service, namespace.class_name.as_str()), unique_key)
        })
    });
    namespaces.collect()
}

/// The objects of one class.
struct Objects {
    reach: Reach,
    class: ServiceDesignator,
    unique_key: Option<String>,
}

impl ObjectNamespace for Objects {
    fn unique_key(&self) -> Option<&str> {
        self.unique_key.as_deref()
    }

    fn object(&self, key: ObjectKey) -> Cap {
        let target = Arc::new(Service::of_object(self.reach.clone(), &self.class, key));
        Cap { kind: CapKind::Service, target }
    }
}

fn namespace(service: &str, class: &str, reach: &Reach, objects: &UniqueKeys<'_>) -> Arc<dyn ObjectNamespace> {
    let unique_key = objects.get(&(service, class)).cloned().flatten();
    let class = ServiceDesignator { entrypoint: Some(class.to_owned()), ..ServiceDesignator::to(service) };
    Arc::new(Objects { reach: reach.clone(), class, unique_key })
}

/// The namespaces of a Worker's own classes, which it finds in `ctx.exports`.
pub(super) fn own_namespaces(
    name: &str,
    worker: &Worker,
    reach: &Reach,
    objects: &UniqueKeys<'_>,
) -> Vec<(String, Arc<dyn ObjectNamespace>)> {
    let classes = worker.durable_object_namespaces.iter().map(|declared| declared.class_name.clone());
    classes.map(|class| (class.clone(), namespace(name, &class, reach, objects))).collect()
}

/// Makes a Worker's `env`.
pub(super) fn env(
    worker: &str,
    bindings: &[Binding],
    reach: &Reach,
    objects: &UniqueKeys<'_>,
    loaders: &mut Loaders,
    options: &LoaderOptions,
) -> Result<Message, GraphError> {
    let members = members(worker, bindings, reach, objects, loaders, options)?;
    let env = Plain::Object(members);
    env.to_message().map_err(|error| GraphError::Env { service: worker.to_owned(), problem: error.to_string() })
}

/// The bindings' values by name.
fn members(
    worker: &str,
    bindings: &[Binding],
    reach: &Reach,
    objects: &UniqueKeys<'_>,
    loaders: &mut Loaders,
    options: &LoaderOptions,
) -> Result<PlainObject, GraphError> {
    let mut values = Vec::with_capacity(bindings.len());
    for binding in bindings {
        let problem = |what: String| GraphError::Binding {
            service: worker.to_owned(),
            binding: binding.name.clone(),
            problem: what,
        };
        let value = match &binding.value {
            BindingValue::Text(text) => Plain::from(text.as_str()),
            BindingValue::Data(data) => Plain::Bytes(BytesKind::ArrayBuffer, bytes::Bytes::copy_from_slice(data)),
            BindingValue::Json(text) => Plain::from_json(text).map_err(|error| problem(error.to_string()))?,
            BindingValue::Service(designator) => service(designator, reach),
            BindingValue::FromEnvironment(variable) => {
                std::env::var(variable).map_or(Plain::Null, |value| Plain::from(value.as_str()))
            }
            BindingValue::DurableObjectNamespace(designator) => {
                let service = designator.service.as_deref().unwrap_or(worker);
                let namespace = namespace(service, &designator.class_name, reach, objects);
                let target = Arc::new(NamespaceCap(namespace));
                Plain::Cap(Cap { kind: CapKind::Service, target })
            }
            BindingValue::Wrapped(wrapped) => {
                let inner = members(worker, &wrapped.inner_bindings, reach, objects, loaders, options)?;
                let module = Plain::from(wrapped.module_name.as_str());
                let entrypoint = Plain::from(wrapped.entrypoint.as_str());
                let of = Plain::Array(vec![module, entrypoint, Plain::Object(inner)]);
                Plain::Made(Made::WrappedBinding, Box::new(of))
            }
            BindingValue::WasmModule(bytes) => {
                let bytes = Plain::Bytes(BytesKind::Uint8Array, bytes::Bytes::copy_from_slice(bytes));
                Plain::Made(Made::WasmModule, Box::new(bytes))
            }
            BindingValue::UnsafeEval => Plain::Made(Made::UnsafeEval, Box::default()),
            BindingValue::WorkerLoader { id } => Plain::Cap(loaders.loader(id.as_deref(), options).binding()),
            other => return Err(problem(format!("bindings of kind `{}` are not supported by loaderd.", other.kind()))),
        };
        values.push((binding.name.as_str(), value));
    }
    Ok(values.into_iter().collect())
}

fn service(designator: &ServiceDesignator, reach: &Reach) -> Plain {
    Plain::Cap(cap(designator, reach))
}

/// The capability of a service.
pub(super) fn cap(designator: &ServiceDesignator, reach: &Reach) -> Cap {
    Cap { kind: CapKind::Service, target: Arc::new(Service::new(reach.clone(), designator)) }
}
