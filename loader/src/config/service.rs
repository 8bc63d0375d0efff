//! Services that are not Workers, and the references to services.

use std::path::PathBuf;

use super::Worker;
use super::socket::{HttpOptions, TlsOptions};

/// The service that backs global `fetch()` where a Worker does not say otherwise. It exists without being listed.
pub const INTERNET: &str = "internet";

/// A named service. Nothing reaches it but what the configuration connects to it.
#[derive(Clone, Debug)]
pub struct Service {
    pub name: String,
    pub kind: ServiceKind,
}

/// What a service is.
#[derive(Clone, Debug)]
pub enum ServiceKind {
    Worker(Box<Worker>),
    Network(Network),
    External(Box<ExternalServer>),
    Disk(DiskDirectory),
}

impl Service {
    /// The Worker, if this service is one.
    #[must_use]
    pub fn worker(&self) -> Option<&Worker> {
        match &self.kind {
            ServiceKind::Worker(worker) => Some(worker),
            ServiceKind::Network(_) | ServiceKind::External(_) | ServiceKind::Disk(_) => None,
        }
    }
}

/// A reference to a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceDesignator {
    pub service: String,
    /// A named export of the target Worker; `None` is the default export.
    pub entrypoint: Option<String>,
    /// `ctx.props`, as JSON text; `None` is `{}`.
    pub props_json: Option<String>,
}

impl ServiceDesignator {
    /// A reference to the service's default entrypoint.
    #[must_use]
    pub fn to(service: impl Into<String>) -> Self {
        Self { service: service.into(), entrypoint: None, props_json: None }
    }
}

/// A service that sends each request to the host its URL names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    pub rules: AddressRules,
    /// How to speak to `https:` servers; `None` where none can be reached.
    pub tls: Option<TlsOptions>,
}

/// Which peer addresses may be connected to: those that match one of `allow` and none of `deny`.
///
/// Each entry is a CIDR block, or `public`, `private`, `local`, `network`, `unix` or `unix-abstract`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressRules {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
}

impl Default for AddressRules {
    fn default() -> Self {
        Self { allow: vec!["public".into()], deny: Vec::new() }
    }
}

impl Network {
    /// The implicit [`INTERNET`] service: public addresses, the public certificate authorities.
    #[must_use]
    pub fn internet() -> Self {
        let tls = TlsOptions { trust_browser_cas: true, ..TlsOptions::default() };
        Self { rules: AddressRules::default(), tls: Some(tls) }
    }
}

/// A service that sends every request to one server, whatever its URL says.
#[derive(Clone, Debug)]
pub struct ExternalServer {
    /// `None`: the command line has to give it.
    pub address: Option<String>,
    pub protocol: ExternalProtocol,
}

/// What is spoken to an external server.
#[derive(Clone, Debug)]
pub enum ExternalProtocol {
    Http(HttpOptions),
    Https {
        options: HttpOptions,
        tls: TlsOptions,
        /// The name the certificate must bear; `None` is the address's host.
        certificate_host: Option<String>,
    },
    /// Only `connect()` works.
    Tcp {
        tls: Option<TlsOptions>,
        certificate_host: Option<String>,
    },
}

/// Files of one folder over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskDirectory {
    /// Relative to the working directory. `None`: the command line has to give it.
    pub path: Option<PathBuf>,
    /// Whether PUT and DELETE are served.
    pub writable: bool,
    /// Whether names that begin with a dot exist.
    pub allow_dotfiles: bool,
}
