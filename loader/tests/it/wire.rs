//! Workers behind a socket, and clients that write bytes to it.

use std::net::SocketAddr;
use std::time::Duration;

use loaderd_loader::config::{Config, HttpOptions, Listen, ServiceDesignator, Socket, SocketProtocol};
use loaderd_loader::graph::{Patience, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::site;

/// How long a test waits for what has to come.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A Worker behind a socket.
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

impl Site {
    pub(crate) async fn start(source: &str, flags: &[&str], patience: Patience) -> Self {
        let socket = Socket {
            name: "http".into(),
            listen: Some(Listen::Address("127.0.0.1:0".into())),
            protocol: SocketProtocol::Http(HttpOptions::default()),
            service: ServiceDesignator::to("main"),
        };
        let service = site::worker_service("main", site::worker(source, flags, Vec::new()));
        let config = Config { services: vec![service], sockets: vec![socket], ..Config::default() };
        let (graph, host) = site::start(&config).await.unwrap_or_else(|errors| panic!("{errors:?}"));
        let server = Server::bind_with(&graph, &config.sockets, patience).await.expect("binds");
        let address = server.bound().next().and_then(|bound| bound.address).expect("TCP");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            server.run(async { drop(stopped.await) }).await;
            drop((graph, host));
        });
        Self { address, stop: Some(stop), task }
    }

    pub(crate) async fn connect(&self) -> Wire {
        Wire(TcpStream::connect(self.address).await.expect("connects"))
    }

    /// The body of the answer to `path`, asked for again until there is one. (One request of a Worker cannot wait for
    /// what another one does.)
    pub(crate) async fn ask(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let asked = tokio::time::timeout(WAIT_MAX, async {
            loop {
                let mut wire = self.connect().await;
                wire.send(request.as_bytes()).await;
                let answer = String::from_utf8_lossy(&wire.rest().await).into_owned();
                if let Some((_, body)) = answer.split_once("\r\n\r\n")
                    && !body.is_empty()
                {
                    return body.to_owned();
                }
            }
        });
        asked.await.unwrap_or_else(|_| panic!("{path} never had anything to say"))
    }

    /// Lets the server stop by itself, which must not take until it gives up on somebody.
    pub(crate) async fn stop(mut self) {
        drop(self.stop.take());
        self.task.await.expect("no panics");
    }
}

/// A connection of a client that writes what it likes.
pub(crate) struct Wire(TcpStream);

impl Wire {
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        // The server may have closed already: what comes back says whether that is right.
        let _closed = self.0.write_all(bytes).await;
    }

    /// Says that nothing follows.
    pub(crate) async fn finish(&mut self) {
        let _closed = self.0.shutdown().await;
    }

    /// Everything until the server closes.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(WAIT_MAX, self.0.read_to_end(&mut bytes)).await;
        // A server that closes with bytes unread resets the connection.
        let _reset = read.unwrap_or_else(|_| panic!("never closed, after {:?}", String::from_utf8_lossy(&bytes)));
        bytes
    }

    /// Everything until the server closes, which it must do without a reset.
    pub(crate) async fn whole(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = tokio::time::timeout(WAIT_MAX, self.0.read_to_end(&mut bytes)).await;
        let read = read.unwrap_or_else(|_| panic!("never closed, after {:?}", String::from_utf8_lossy(&bytes)));
        read.unwrap_or_else(|error| panic!("{error}, after {:?}", String::from_utf8_lossy(&bytes)));
        bytes
    }

    /// The next bytes, as many as asked for; fewer when the server closes.
    pub(crate) async fn take(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        let read = (&mut self.0).take(count as u64);
        tokio::pin!(read);
        let done = tokio::time::timeout(WAIT_MAX, read.read_to_end(&mut bytes)).await;
        let _reset = done.unwrap_or_else(|_| panic!("only {:?}", String::from_utf8_lossy(&bytes)));
        bytes
    }

    /// Bytes up to and including `end`.
    pub(crate) async fn until(&mut self, end: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        while !bytes.ends_with(end) {
            let next = self.take(1).await;
            if next.is_empty() {
                break;
            }
            bytes.extend(next);
        }
        bytes
    }
}
