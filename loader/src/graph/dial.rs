//! Opening connections: to whom the configuration permits, over TCP, Unix sockets, TLS, or within this process.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rustls_pki_types::ServerName;
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use super::addresses::Addresses;
use super::loopback::Loopbacks;
use crate::connect::{BoxStream, Dial};

/// How long a connection may take to be there, TLS included.
const DIAL_MAX: Duration = Duration::from_secs(60);

/// Where connections go.
pub(super) enum Route {
    /// To the host that is asked for, if it is permitted.
    ByHost(Addresses),
    /// To one address, whoever is asked for.
    Fixed(Address),
}

/// One place to connect to.
pub(super) enum Address {
    /// `host:port`.
    Tcp(String),
    Unix(std::path::PathBuf),
    UnixAbstract(String),
    Loopback(Loopbacks, String),
}

impl Address {
    /// Reads an address of a configuration.
    pub(super) fn parse(text: &str, default_port: u16, loopbacks: &Loopbacks) -> Self {
        if let Some(path) = text.strip_prefix("unix:") {
            return Self::Unix(path.into());
        }
        if let Some(name) = text.strip_prefix("unix-abstract:") {
            return Self::UnixAbstract(name.to_owned());
        }
        match text.strip_prefix("loopback:") {
            Some(name) => Self::Loopback(loopbacks.clone(), name.to_owned()),
            None => Self::Tcp(with_port(text, default_port)),
        }
    }
}

/// The address with a port, its own or the default.
pub(super) fn with_port(address: &str, default: u16) -> String {
    let has_port = match address.rfind(']') {
        Some(end) => address[end..].contains(':'),
        None => address.matches(':').count() == 1,
    };
    match has_port {
        true => address.to_owned(),
        false if address.contains(':') && !address.starts_with('[') => format!("[{address}]:{default}"),
        false => format!("{address}:{default}"),
    }
}

/// Opens connections.
pub(super) struct Dialer {
    route: Route,
    /// `None`: nobody can be reached over TLS.
    tls: Option<TlsConnector>,
    /// The name that the certificate must bear, when it is not the host's.
    certificate_host: Option<String>,
}

/// A connection, and what ALPN chose.
pub(super) struct Dialed {
    pub(super) stream: BoxStream,
    pub(super) is_http2: bool,
}

impl Dialer {
    pub(super) fn new(route: Route, tls: Option<Arc<rustls::ClientConfig>>, certificate_host: Option<String>) -> Self {
        Self { route, tls: tls.map(TlsConnector::from), certificate_host }
    }

    /// A connection to `host:port`, or wherever this dialer always goes.
    ///
    /// # Errors
    /// It is not permitted, nobody answers, or who answers is somebody else.
    pub(super) async fn dial(&self, host: &str, port: u16, security: Security) -> io::Result<Dialed> {
        let dialing = async {
            let stream = self.plain(host, port).await?;
            match security {
                Security::None => Ok(Dialed { stream, is_http2: false }),
                Security::Tls => self.tls(stream, host).await,
            }
        };
        tokio::time::timeout(DIAL_MAX, dialing).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    async fn plain(&self, host: &str, port: u16) -> io::Result<BoxStream> {
        let stream = match &self.route {
            Route::Fixed(Address::Tcp(address)) => TcpStream::connect(&**address).await?,
            Route::Fixed(Address::Unix(path)) => return Ok(Box::new(UnixStream::connect(path).await?)),
            Route::Fixed(Address::UnixAbstract(name)) => return Ok(Box::new(connect_abstract(name)?)),
            Route::Fixed(Address::Loopback(loopbacks, name)) => return loopbacks.connect(name).await,
            Route::ByHost(addresses) => {
                let host = host.trim_matches(['[', ']']);
                permitted(tokio::net::lookup_host((host, port)).await?, addresses).await?
            }
        };
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }

    async fn tls(&self, stream: BoxStream, host: &str) -> io::Result<Dialed> {
        let unsupported =
            || io::Error::new(io::ErrorKind::Unsupported, "this service is not configured for TLS (`tlsOptions`)");
        let connector = self.tls.as_ref().ok_or_else(unsupported)?;
        let name = self.certificate_host.as_deref().unwrap_or(host).trim_matches(['[', ']']);
        let name = ServerName::try_from(name.to_owned());
        let name = name.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let stream = connector.connect(name, stream).await?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok(Dialed { stream: Box::new(stream), is_http2 })
    }
}

/// Whether a connection begins with TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Security {
    None,
    Tls,
}

type Opening<'a> = Pin<Box<dyn Future<Output = io::Result<BoxStream>> + Send + 'a>>;

/// How `connect()` uses a dialer.
pub(super) struct Connections {
    pub(super) dialer: Arc<Dialer>,
    /// Set where every connection is over TLS, whatever the Worker asks for.
    pub(super) always: Option<Security>,
}

impl Dial for Connections {
    fn open<'a>(&'a self, address: &'a str, secure: bool) -> Opening<'a> {
        let asked = if secure { Security::Tls } else { Security::None };
        let bad = || io::Error::new(io::ErrorKind::InvalidInput, "not an address");
        Box::pin(async move {
            let (host, port) = address.rsplit_once(':').ok_or_else(bad)?;
            let port = port.parse().map_err(|_| bad())?;
            Ok(self.dialer.dial(host, port, self.always.unwrap_or(asked)).await?.stream)
        })
    }

    fn secure<'a>(&'a self, stream: BoxStream, host: &'a str) -> Opening<'a> {
        Box::pin(async move {
            let securing = self.dialer.tls(stream, host);
            let secured = tokio::time::timeout(DIAL_MAX, securing).await;
            Ok(secured.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??.stream)
        })
    }
}

/// The first address that is permitted and answers. Names are resolved here, once, so that what is checked is what
/// is connected to.
async fn permitted(found: impl Iterator<Item = SocketAddr>, addresses: &Addresses) -> io::Result<TcpStream> {
    let mut last = io::Error::new(
        io::ErrorKind::PermissionDenied,
        "connect() blocked by restrictPeers(): the configuration does not permit this address",
    );
    for address in found.filter(|address| addresses.permit(address.ip())) {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn connect_abstract(name: &str) -> io::Result<UnixStream> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes())?;
    let stream = std::os::unix::net::UnixStream::connect_addr(&address)?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
