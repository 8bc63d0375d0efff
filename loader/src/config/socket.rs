//! Where the server listens, and the options of the protocols it speaks there and to other servers.

use super::ServiceDesignator;

/// A place to listen, and who answers there.
#[derive(Clone, Debug)]
pub struct Socket {
    /// What the command line calls it.
    pub name: String,
    /// `None`: the command line has to say.
    pub listen: Option<Listen>,
    pub protocol: SocketProtocol,
    pub service: ServiceDesignator,
}

/// What a socket listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// `*:PORT`, `HOST`, `HOST:PORT`, `[IPv6]:PORT`, `unix:PATH` or `unix-abstract:NAME`; in tests also `loopback:NAME`.
    Address(String),
    /// A listening socket that this process was started with.
    Descriptor(i32),
}

/// What is spoken on a socket.
#[derive(Clone, Debug)]
pub enum SocketProtocol {
    Http(HttpOptions),
    Https {
        options: HttpOptions,
        tls: TlsOptions,
    },
    /// Raw connections, for the `connect()` handler.
    Tcp {
        tls: Option<TlsOptions>,
    },
}

impl SocketProtocol {
    /// The port of an address that names none.
    #[must_use]
    pub fn default_port(&self) -> u16 {
        match self {
            Self::Http(_) => 80,
            Self::Https { .. } => 443,
            Self::Tcp { .. } => 0,
        }
    }
}

/// How requests and responses are written and read, on a socket or towards a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOptions {
    pub style: HttpStyle,
    /// The header that carries the scheme the client used.
    pub forwarded_proto_header: Option<String>,
    /// The header that carries `request.cf` as JSON.
    pub cf_blob_header: Option<String>,
    pub inject_request_headers: Vec<InjectedHeader>,
    pub inject_response_headers: Vec<InjectedHeader>,
    /// CONNECT requests to this `HOST[:PORT]` open a Cap'n Proto session for events, JS RPC among them.
    pub capnp_connect_host: Option<String>,
}

/// What stands in the request line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpStyle {
    /// A path; the host is in its header.
    #[default]
    Host,
    /// A whole URL, as to a forward proxy.
    Proxy,
}

/// A header set on everything that passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InjectedHeader {
    pub name: String,
    /// `None` removes the header.
    pub value: Option<String>,
}

/// TLS, on either side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsOptions {
    /// Who this end is.
    pub keypair: Option<TlsKeypair>,
    /// On a server: clients need a certificate of a trusted authority.
    pub require_client_certs: bool,
    /// Whether the public certificate authorities are trusted.
    pub trust_browser_cas: bool,
    /// Further authorities, PEM.
    pub trusted_certificates: Vec<String>,
    pub min_version: TlsVersion,
}

/// A private key and its certificate, leaf first; both PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsKeypair {
    pub private_key: String,
    pub certificate_chain: String,
}

impl std::fmt::Debug for TlsKeypair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The key must not reach logs.
        f.debug_struct("TlsKeypair").finish_non_exhaustive()
    }
}

/// The oldest TLS version that is spoken. Older ones than 1.2 cannot be asked for: the TLS library has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    #[default]
    GoodDefault,
    Tls1Dot2,
    Tls1Dot3,
}
