//! Where the service listens, and the sockets it accepts.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;

use loaderd_loader::unix_socket::{self, SocketFile};
use socket2::SockRef;
use tokio::net::{TcpListener, UnixListener};

/// An address to listen on: `unix:PATH` or `HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    Unix(PathBuf),
    Tcp(String),
}

impl FromStr for ListenAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err("the path after `unix:` is missing".to_owned());
            }
            return Ok(Self::Unix(path.into()));
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(Self::Tcp(text.to_owned())),
            _ => Err("must be unix:PATH or HOST:PORT".to_owned()),
        }
    }
}

impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => f.write_str(address),
        }
    }
}

/// A listening socket. A Unix socket's file is removed when this is dropped.
pub struct Listener {
    inner: Inner,
    /// Where it really listens: a port of 0 has become a number.
    address: ListenAddress,
}

enum Inner {
    Unix { listener: UnixListener, _file: SocketFile },
    Tcp(TcpListener),
}

/// An accepted connection that no runtime holds yet.
pub(super) enum Socket {
    Unix(std::os::unix::net::UnixStream),
    Tcp(std::net::TcpStream),
}

impl Listener {
    /// Starts to listen; needs a tokio runtime. A Unix socket's file that nobody listens on any more is replaced.
    ///
    /// # Errors
    /// The address cannot be had, for instance because another service listens there.
    pub async fn bind(address: &ListenAddress) -> io::Result<Self> {
        match address {
            ListenAddress::Unix(path) => {
                let (listener, file) = unix_socket::bind(path)?;
                Ok(Self { inner: Inner::Unix { listener, _file: file }, address: address.clone() })
            }
            ListenAddress::Tcp(text) => {
                let listener = TcpListener::bind(text.as_str()).await?;
                let address = ListenAddress::Tcp(listener.local_addr()?.to_string());
                Ok(Self { inner: Inner::Tcp(listener), address })
            }
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &ListenAddress {
        &self.address
    }

    /// Cancel safe.
    pub(super) async fn accept(&self) -> io::Result<Socket> {
        match &self.inner {
            Inner::Unix { listener, .. } => Ok(Socket::Unix(listener.accept().await?.0.into_std()?)),
            Inner::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Calls are small and wait for each other.
                stream.set_nodelay(true)?;
                // A machine that vanishes is not to keep its place for ever.
                SockRef::from(&stream).set_keepalive(true)?;
                Ok(Socket::Tcp(stream.into_std()?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_unix_or_host_and_port() {
        for (text, expected) in [
            ("unix:/run/loaderd.sock", Some(ListenAddress::Unix("/run/loaderd.sock".into()))),
            ("127.0.0.1:7070", Some(ListenAddress::Tcp("127.0.0.1:7070".to_owned()))),
            ("[::1]:0", Some(ListenAddress::Tcp("[::1]:0".to_owned()))),
            ("unix:", None),
            ("7070", None),
            (":7070", None),
            ("localhost:http", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }
}
