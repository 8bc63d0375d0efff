//! What a socket is bound to, and connections from there.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use loaderd_runtime::rpc::plain::{Plain, PlainObject};
use nix::sys::socket::{AddressFamily, SockaddrLike, SockaddrStorage, getsockname, getsockopt, sockopt};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Mutex, mpsc};

use super::dial::with_port;
use super::loopback::Loopbacks;
use crate::config::{Listen, Socket};
use crate::connect::BoxStream;
use crate::unix_socket::{self, SocketFile};

/// Why a socket was not bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("Socket \"{name}\": {problem}")]
    Unsupported { name: String, problem: String },
    #[error("Socket \"{name}\": {address}: {error}")]
    System { name: String, address: String, error: io::Error },
}

pub(super) enum Listener {
    Tcp(TcpListener),
    Unix {
        listener: UnixListener,
        /// `None` where there is no file, or none of ours.
        _file: Option<SocketFile>,
    },
    Loopback {
        name: String,
        arriving: Mutex<mpsc::Receiver<BoxStream>>,
    },
}

/// A connection, and the address it arrived at.
pub(super) struct Accepted {
    pub(super) stream: BoxStream,
    pub(super) address: String,
    /// Who connected, as `request.cf` says it.
    pub(super) client: Option<Plain>,
}

/// An object with these members.
fn object(members: Vec<(&str, Plain)>) -> Plain {
    Plain::Object(PlainObject::from_entries(members.into_iter().map(|(name, value)| (name.into(), value)).collect()))
}

impl Listener {
    pub(super) async fn bind(socket: &Socket, loopbacks: &Loopbacks) -> Result<Self, BindError> {
        let (address, bound) = match &socket.listen {
            Some(Listen::Address(address)) => {
                (address.clone(), bind(address, socket.protocol.default_port(), loopbacks).await)
            }
            Some(Listen::Descriptor(number)) => (format!("file descriptor {number}"), adopt(*number)),
            None => {
                let problem = "it has no address.".to_owned();
                return Err(BindError::Unsupported { name: socket.name.clone(), problem });
            }
        };
        bound.map_err(|error| BindError::System { name: socket.name.clone(), address, error })
    }

    /// Where it listens; `None` for other kinds than TCP.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            Self::Unix { .. } | Self::Loopback { .. } => None,
        }
    }

    /// The next connection. Cancel-safe.
    pub(super) async fn accept(&self) -> io::Result<Accepted> {
        Ok(match self {
            Self::Tcp(listener) => {
                let (stream, client) = listener.accept().await?;
                let client = object(vec![("clientIp", Plain::String(client.to_string().into()))]);
                // A failure only costs latency.
                let _slower = stream.set_nodelay(true);
                let address = stream.local_addr().map(|address| address.to_string()).unwrap_or_default();
                Accepted { stream: Box::new(stream), address, client: Some(client) }
            }
            Self::Unix { listener, .. } => {
                let (stream, _) = listener.accept().await?;
                let path = stream.local_addr().ok();
                let path = path.as_ref().and_then(|address| address.as_pathname());
                let address = path.map_or_else(|| "unix:".to_owned(), |path| format!("unix:{}", path.display()));
                let client = stream.peer_cred().ok().map(|client| {
                    let process = client.pid().map(|pid| ("clientPid", Plain::Number(pid.into())));
                    let user = ("clientUid", Plain::Number(client.uid().into()));
                    object(process.into_iter().chain([user]).collect())
                });
                Accepted { stream: Box::new(stream), address, client }
            }
            Self::Loopback { name, arriving } => match arriving.lock().await.recv().await {
                Some(stream) => Accepted { stream, address: format!("loopback:{name}"), client: None },
                // The configuration is going, and this with it.
                None => std::future::pending().await,
            },
        })
    }
}

async fn bind(address: &str, default_port: u16, loopbacks: &Loopbacks) -> io::Result<Listener> {
    if let Some(path) = address.strip_prefix("unix:") {
        let (listener, file) = unix_socket::bind(Path::new(path))?;
        return Ok(Listener::Unix { listener, _file: Some(file) });
    }
    if let Some(name) = address.strip_prefix("unix-abstract:") {
        return bind_abstract(name).map(|listener| Listener::Unix { listener, _file: None });
    }
    if let Some(name) = address.strip_prefix("loopback:") {
        let arriving = loopbacks.listen(name).ok_or(io::ErrorKind::AddrInUse)?;
        return Ok(Listener::Loopback { name: name.to_owned(), arriving: Mutex::new(arriving) });
    }
    let listener = match address.strip_prefix('*') {
        // All of both families, where the machine has both.
        Some(rest) => {
            let bad = |_| io::Error::new(io::ErrorKind::InvalidInput, "not a port");
            let port = rest.strip_prefix(':').map_or(Ok(default_port), str::parse).map_err(bad)?;
            match TcpListener::bind((std::net::Ipv6Addr::UNSPECIFIED, port)).await {
                Ok(listener) => Ok(listener),
                Err(_) => TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, port)).await,
            }
        }
        None => TcpListener::bind(with_port(address, default_port)).await,
    };
    listener.map(Listener::Tcp)
}

fn bind_abstract(name: &str) -> io::Result<UnixListener> {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name.as_bytes())?;
    let listener = std::os::unix::net::UnixListener::bind_addr(&address)?;
    listener.set_nonblocking(true)?;
    UnixListener::from_std(listener)
}

/// A listening socket that this process was started with. The descriptor itself is left open.
fn adopt(number: i32) -> io::Result<Listener> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    // SAFETY: duplicating is defined for every number: one that is no open descriptor is an error.
    let copy = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just made, and nobody else knows it.
    let socket = unsafe { OwnedFd::from_raw_fd(copy) };
    if !getsockopt(&socket, sockopt::AcceptConn)? {
        return Err(invalid("it is not listening"));
    }
    let address: SockaddrStorage = getsockname(socket.as_raw_fd())?;
    match address.family() {
        Some(AddressFamily::Inet | AddressFamily::Inet6) => {
            let listener = std::net::TcpListener::from(socket);
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener).map(Listener::Tcp)
        }
        Some(AddressFamily::Unix) => {
            let listener = std::os::unix::net::UnixListener::from(socket);
            listener.set_nonblocking(true)?;
            UnixListener::from_std(listener).map(|listener| Listener::Unix { listener, _file: None })
        }
        _ => Err(invalid("it is not a TCP or Unix socket")),
    }
}
