//! Bindings to the message that becomes `env`.

use std::collections::HashMap;
use std::sync::Arc;

use loaderd_runtime::rpc::plain::{BytesKind, Plain, PlainObject};
use loaderd_runtime::rpc::{Cap, CapKind, Message};

use super::build::GraphError;
use super::{Reach, Service};
use crate::WorkerLoader;
use crate::config::{Binding, BindingValue, ServiceDesignator};
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

/// Makes a Worker's `env`.
pub(super) fn env(
    worker: &str,
    bindings: &[Binding],
    reach: &Reach,
    loaders: &mut Loaders,
    options: &LoaderOptions,
) -> Result<Message, GraphError> {
    let mut members = Vec::with_capacity(bindings.len());
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
            BindingValue::WorkerLoader { id } => Plain::Cap(loaders.loader(id.as_deref(), options).binding()),
            other => return Err(problem(format!("bindings of kind `{}` are not supported by loaderd.", other.kind()))),
        };
        members.push((binding.name.as_str(), value));
    }
    let env = Plain::Object(members.into_iter().collect::<PlainObject>());
    env.to_message().map_err(|error| GraphError::Env { service: worker.to_owned(), problem: error.to_string() })
}

fn service(designator: &ServiceDesignator, reach: &Reach) -> Plain {
    Plain::Cap(cap(designator, reach))
}

/// The capability of a service.
pub(super) fn cap(designator: &ServiceDesignator, reach: &Reach) -> Cap {
    Cap { kind: CapKind::Service, target: Arc::new(Service::new(reach.clone(), designator)) }
}
