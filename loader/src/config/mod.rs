//! What one server runs, as plain data: services, sockets, bindings. The model is workerd's configuration model.
//!
//! Whoever reads a configuration (`wrangler-compat`) fills this in; the service graph is built from it and from nothing
//! else. The types leave out what loaderd refuses, so a value of [`Config`] mentions no feature that has to be
//! ignored. [`Config::validate`] checks everything that can be known before any code runs, in workerd's words.
//!
//! | File | Owns |
//! |---|---|
//! | `service` | services that are not Workers, and designators |
//! | `worker` | a Worker: code, compatibility, Durable Object namespaces, limits |
//! | `binding` | the members of `env` |
//! | `socket` | where the server listens, and the options of its protocols |
//! | `overrides` | what the command line changes |
//! | `validate` | the checks |
//! | `error` | what a failed check says, and about which field |

mod binding;
mod error;
mod overrides;
mod service;
mod socket;
mod validate;
mod worker;

pub use binding::{
    Binding, BindingValue, CryptoKey, CryptoKeyAlgorithm, CryptoKeyData, CryptoKeyUsage, DurableObjectDesignator,
    Hyperdrive, MemoryCache, MemoryCacheLimits, WrappedBinding,
};
pub use error::{ConfigError, FieldPath};
pub use loaderd_runtime::modules::{ExtensionModule, ExtensionVisibility};
pub use overrides::{Override, OverrideUse, Overrides};
pub use service::{
    AddressRules, DiskDirectory, ExternalProtocol, ExternalServer, INTERNET, Network, Service, ServiceDesignator,
    ServiceKind,
};
pub use socket::{
    HttpOptions, HttpStyle, InjectedHeader, Listen, Socket, SocketProtocol, TlsKeypair, TlsOptions, TlsVersion,
};
pub use validate::{Experimental, Validation};
pub use worker::{
    Compatibility, DurableObjectNamespace, DurableObjectStorage, Module, NamespaceKind, Worker, WorkerCode,
};

/// Everything one server runs.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// In the order in which they start and are tested.
    pub services: Vec<Service>,
    pub sockets: Vec<Socket>,
    /// Flags for V8, for example `--expose-gc`.
    pub v8_flags: Vec<String>,
    pub extensions: Vec<ExtensionModule>,
    /// Names of rollout gates that are on. loaderd has none: they are kept so that a test can ask.
    pub autogates: Vec<String>,
    pub logging: Logging,
}

/// How logs and the output of Workers look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logging {
    pub format: LogFormat,
    /// What comes before each chunk a Worker writes to `process.stdout`.
    pub stdout_prefix: String,
    /// The same for `process.stderr`.
    pub stderr_prefix: String,
}

impl Default for Logging {
    fn default() -> Self {
        Self { format: LogFormat::Text, stdout_prefix: "stdout: ".into(), stderr_prefix: "stderr: ".into() }
    }
}

/// The shape of one log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    Text,
    Json,
}

impl Config {
    /// The service with this name.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| service.name == name)
    }
}
