//! Sockets, and HTTP on them: each request becomes a fetch of the socket's service.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use loaderd_runtime::rpc::RpcError;
use loaderd_runtime::rpc::plain::Plain;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};

use super::network::{byte_string, header_lines, inject, with_port};
use super::{Graph, Service};
use crate::config::{HttpOptions, HttpStyle, Listen, Socket, SocketProtocol};
use crate::fetch::{Body, FetchRequest, FetchResponse, ReadBody, Redirect, WebSocketEnd};
use crate::websocket;
use crate::websocket::handshake::{self, Asked, Refusal};

/// Connections of all sockets together. Over it a new one waits in the system's queue.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Bytes of one request's head.
pub const HEAD_BYTES_MAX: usize = 128 << 10;

/// How long a client may take to send a request's head.
const HEAD_READ_MAX: Duration = Duration::from_secs(60);

/// How long requests may go on when the server stops.
pub const DRAIN_MAX: Duration = Duration::from_secs(10);

/// How long accepting rests after the system refused a connection (no descriptors left).
const ACCEPT_REST: Duration = Duration::from_millis(100);

/// Sockets that are bound and not served yet.
pub struct Server {
    sockets: Vec<Ready>,
}

struct Ready {
    bound: Bound,
    listener: Listener,
    answers: Arc<Answers>,
}

/// A bound socket, as it is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub name: String,
    /// `None` for Unix sockets.
    pub address: Option<SocketAddr>,
}

/// Why a socket was not bound.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("Socket \"{name}\": {problem}")]
    Unsupported { name: String, problem: &'static str },
    #[error("Socket \"{name}\": {address}: {error}")]
    System { name: String, address: String, error: std::io::Error },
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// What a socket's requests are answered by, and how they are read.
struct Answers {
    service: Service,
    options: HttpOptions,
}

impl Server {
    /// Binds every socket of a configuration; who connects from now on is served once [`run`](Self::run) is called.
    ///
    /// # Errors
    /// The first socket that cannot be bound.
    pub async fn bind(graph: &Graph, sockets: &[Socket]) -> Result<Self, BindError> {
        let mut ready = Vec::with_capacity(sockets.len());
        for socket in sockets {
            let unsupported = |problem| BindError::Unsupported { name: socket.name.clone(), problem };
            let options = match &socket.protocol {
                SocketProtocol::Http(options) => options.clone(),
                SocketProtocol::Https { .. } => return Err(unsupported("TLS is not supported by loaderd yet.")),
                SocketProtocol::Tcp { .. } => return Err(unsupported("TCP sockets are not supported by loaderd yet.")),
            };
            if options.capnp_connect_host.is_some() {
                return Err(unsupported("`capnpConnectHost` is not supported by loaderd yet."));
            }
            let listener = match &socket.listen {
                Some(Listen::Address(address)) => bind(socket, address).await?,
                Some(Listen::Descriptor(_)) => {
                    return Err(unsupported("`--socket-fd` is not supported by loaderd yet. Use `--socket-addr`."));
                }
                None => return Err(unsupported("it has no address.")),
            };
            let address = match &listener {
                Listener::Tcp(listener) => listener.local_addr().ok(),
                Listener::Unix(_) => None,
            };
            let answers = Arc::new(Answers { service: graph.service(&socket.service), options });
            ready.push(Ready { bound: Bound { name: socket.name.clone(), address }, listener, answers });
        }
        Ok(Self { sockets: ready })
    }

    /// What was bound, in the configuration's order.
    pub fn bound(&self) -> impl Iterator<Item = &Bound> {
        self.sockets.iter().map(|socket| &socket.bound)
    }

    /// Serves until `stop` completes; then lets open requests finish for up to [`DRAIN_MAX`]. Dropping the future
    /// closes everything at once.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(());
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut accepting = tokio::task::JoinSet::new();
        for socket in self.sockets {
            accepting.spawn(accept(socket.listener, socket.answers, Arc::clone(&places), stopped.clone()));
        }
        drop(stopped);
        stop.await;
        // Every connection holds a receiver: when the channel is closed they are gone.
        stopping.send_replace(());
        if tokio::time::timeout(DRAIN_MAX, stopping.closed()).await.is_err() {
            tracing::warn!("some requests did not finish within {} s and were ended", DRAIN_MAX.as_secs());
        }
        accepting.shutdown().await;
    }
}

async fn bind(socket: &Socket, address: &str) -> Result<Listener, BindError> {
    let system = |error| BindError::System { name: socket.name.clone(), address: address.to_owned(), error };
    if let Some(path) = address.strip_prefix("unix:") {
        return UnixListener::bind(PathBuf::from(path)).map(Listener::Unix).map_err(system);
    }
    if address.starts_with("unix-abstract:") || address.starts_with("loopback:") {
        let problem = "addresses of this kind are not supported by loaderd.";
        return Err(BindError::Unsupported { name: socket.name.clone(), problem });
    }
    let port = socket.protocol.default_port();
    let listener = match address.strip_prefix('*') {
        // All of both families, where the machine has both.
        Some(rest) => {
            let port = rest.strip_prefix(':').map_or(Ok(port), str::parse).map_err(|_| system(bad_port()))?;
            match TcpListener::bind((std::net::Ipv6Addr::UNSPECIFIED, port)).await {
                Ok(listener) => Ok(listener),
                Err(_) => TcpListener::bind((std::net::Ipv4Addr::UNSPECIFIED, port)).await,
            }
        }
        None => TcpListener::bind(with_port(address, port)).await,
    };
    listener.map(Listener::Tcp).map_err(system)
}

fn bad_port() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, "not a port")
}

async fn accept(listener: Listener, answers: Arc<Answers>, places: Arc<Semaphore>, mut stopped: watch::Receiver<()>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            biased;
            _ = stopped.changed() => break,
            accepted = accept_one(&listener) => accepted,
            // Collects what is over, so that the set does not grow.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        match accepted {
            Ok(stream) => {
                let (answers, stopped) = (Arc::clone(&answers), stopped.clone());
                connections.spawn(async move {
                    serve(stream, answers, stopped).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(ACCEPT_REST).await;
            }
        }
    }
    while connections.join_next().await.is_some() {}
}

/// A connection of either kind.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn accept_one(listener: &Listener) -> std::io::Result<Box<dyn Stream>> {
    Ok(match listener {
        Listener::Tcp(listener) => {
            let (stream, _) = listener.accept().await?;
            // A failure only costs latency.
            let _slower = stream.set_nodelay(true);
            Box::new(stream)
        }
        Listener::Unix(listener) => Box::new(listener.accept().await?.0),
    })
}

/// A connection that becomes a WebSocket when the response that says so has been written.
struct Upgrade {
    on_upgrade: hyper::upgrade::OnUpgrade,
    end: WebSocketEnd,
}

async fn serve(stream: Box<dyn Stream>, answers: Arc<Answers>, mut stopped: watch::Receiver<()>) {
    let upgrade: Arc<Mutex<Option<Upgrade>>> = Arc::default();
    let granted = Arc::clone(&upgrade);
    let answer = service_fn(move |request| {
        let (answers, granted) = (Arc::clone(&answers), Arc::clone(&granted));
        async move { Ok::<_, Infallible>(answers.answer(request, &granted).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_READ_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .preserve_header_case(true)
        .serve_connection(TokioIo::new(stream), answer)
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        // Clients go as they please; this is not news.
        tracing::debug!("a connection ended: {error}");
    }
    let upgrade = upgrade.lock().take();
    if let Some(Upgrade { on_upgrade, end }) = upgrade
        && let Ok(upgraded) = on_upgrade.await
    {
        let stop = async move {
            // An error says that the server is gone, which is as good a reason.
            let _ = stopped.changed().await;
        };
        websocket::bridge(TokioIo::new(upgraded), end, stop).await;
    }
}

impl Answers {
    /// Dropped when the client goes, which cancels the invocation.
    async fn answer(&self, mut request: Request<Incoming>, granted: &Mutex<Option<Upgrade>>) -> Response<ReadBody> {
        let head_only = request.method() == http::Method::HEAD;
        let on_upgrade = hyper::upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        let asked = match handshake::asked(&head) {
            Asked::Refused(refusal) => return refused(refusal),
            asked => asked,
        };
        let answered = match self.read(head, body, asked != Asked::Nothing) {
            Ok(request) => self.service.fetch(request).await,
            Err(status) => return plain(status),
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(error) => return failed(&error),
        };
        match (response.web_socket.take(), asked) {
            (Some(end), Asked::Accept(accept)) => {
                let mut response = self.write(response, head_only);
                handshake::grant(response.headers_mut(), accept);
                *granted.lock() = Some(Upgrade { on_upgrade, end });
                response
            }
            (Some(_), Asked::Nothing | Asked::Refused(_)) => plain(StatusCode::INTERNAL_SERVER_ERROR),
            (None, _) if response.status == 101 => {
                tracing::error!("a service answered with 101 and no WebSocket");
                plain(StatusCode::INTERNAL_SERVER_ERROR)
            }
            (None, _) => self.write(response, head_only),
        }
    }

    fn read(&self, mut head: Parts, body: Incoming, websocket: bool) -> Result<FetchRequest, StatusCode> {
        let mut scheme = "http".to_owned();
        if let Some(name) = self.options.forwarded_proto_header.as_deref().and_then(header_name)
            && let Some(value) = head.headers.remove(name)
            && value == "https"
        {
            scheme = "https".to_owned();
        }
        let mut cf = None;
        if let Some(name) = self.options.cf_blob_header.as_deref().and_then(header_name)
            && let Some(value) = head.headers.remove(name)
        {
            let text = value.to_str().map_err(|_| StatusCode::BAD_REQUEST)?;
            cf = Some(Plain::from_json(text).map_err(|_| StatusCode::BAD_REQUEST)?);
        }
        for injected in &self.options.inject_request_headers {
            inject(&mut head.headers, &injected.name, injected.value.as_deref());
        }
        let url = match (self.options.style, head.uri.scheme()) {
            (HttpStyle::Proxy, Some(_)) => head.uri.to_string(),
            (HttpStyle::Proxy, None) => return Err(StatusCode::BAD_REQUEST),
            (HttpStyle::Host, _) => {
                let host = head.headers.get(http::header::HOST).and_then(|host| host.to_str().ok());
                let host = host.or(head.uri.host()).ok_or(StatusCode::BAD_REQUEST)?;
                let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
                format!("{scheme}://{host}{path}")
            }
        };
        let mut headers = header_lines(&head.headers);
        if websocket {
            // The platform shows these two where they ask for a WebSocket.
            headers.push(("connection".to_owned(), "Upgrade".to_owned()));
            headers.push(("upgrade".to_owned(), "websocket".to_owned()));
        }
        Ok(FetchRequest {
            method: head.method.to_string(),
            url,
            headers,
            body: Body::from_http(body, &tokio::runtime::Handle::current()),
            redirect: Redirect::Manual,
            cf,
        })
    }

    fn write(&self, response: FetchResponse, head_only: bool) -> Response<ReadBody> {
        let Ok(status) = StatusCode::from_u16(response.status) else { return plain(StatusCode::INTERNAL_SERVER_ERROR) };
        // hyper knows the length of what is at hand; of a stream only its writer does.
        let keeps_length = head_only || matches!(response.body, Body::Stream(_));
        let body = if head_only { Body::Empty } else { response.body };
        let mut built = Response::new(body.into_http());
        *built.status_mut() = status;
        let dropped: &[HeaderName] = match status {
            StatusCode::SWITCHING_PROTOCOLS => &handshake::HOP_HEADERS,
            _ => &[http::header::TRANSFER_ENCODING],
        };
        for (name, value) in &response.headers {
            let line = header_name(name).zip(byte_string(value));
            let Some((name, value)) = line else { return plain(StatusCode::INTERNAL_SERVER_ERROR) };
            if !dropped.contains(&name) && (keeps_length || name != http::header::CONTENT_LENGTH) {
                built.headers_mut().append(name, value);
            }
        }
        for injected in &self.options.inject_response_headers {
            inject(built.headers_mut(), &injected.name, injected.value.as_deref());
        }
        built
    }
}

fn header_name(name: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(name.as_bytes()).ok()
}

/// What a client sees of a failure: nothing of its cause.
fn failed(error: &RpcError) -> Response<ReadBody> {
    tracing::error!("uncaught exception: {error}");
    plain(if error.overloaded { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR })
}

/// What a client is told whose request for a WebSocket is not one.
fn refused(refusal: Refusal) -> Response<ReadBody> {
    let mut response = Response::new(Body::Bytes(bytes::Bytes::from_static(refusal.text().as_bytes())).into_http());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    if let Some(version) = refusal.version() {
        *response.status_mut() = StatusCode::UPGRADE_REQUIRED;
        response.headers_mut().insert(http::header::SEC_WEBSOCKET_VERSION, version);
    }
    response.headers_mut().insert(http::header::CONTENT_TYPE, http::HeaderValue::from_static("text/plain"));
    response.headers_mut().insert(http::header::CONNECTION, http::HeaderValue::from_static("close"));
    response
}

fn plain(status: StatusCode) -> Response<ReadBody> {
    let text = status.canonical_reason().unwrap_or_default();
    let mut response = Response::new(Body::Bytes(bytes::Bytes::from_static(text.as_bytes())).into_http());
    *response.status_mut() = status;
    response
}
