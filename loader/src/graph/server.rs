//! Sockets, and HTTP on them: each request becomes a fetch of the socket's service.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::SEC_WEBSOCKET_EXTENSIONS;
use http::request::Parts;
use http::{HeaderName, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use loaderd_runtime::rpc::RpcError;
use loaderd_runtime::rpc::plain::Plain;
use parking_lot::Mutex;
use tokio::sync::{Semaphore, watch};
use tokio_rustls::TlsAcceptor;

use super::head;
use super::listen::{Accepted, BindError, Listener};
use super::network::{byte_string, header_lines, inject};
use super::unread::{Lingering, Midway, ReadOn};
use super::{Graph, Service};
use crate::config::{HttpOptions, HttpStyle, Listen, Socket, SocketProtocol, TlsOptions};
use crate::connect::{BoxStream, request_from};
use crate::fetch::{Body, FetchRequest, FetchResponse, IdleLimited, ReadBody, Redirect, WebSocketEnd};
use crate::tls;
use crate::websocket::handshake::{self, Asked, Refusal};
use crate::websocket::{self, Deflate, extensions};

/// Connections of all sockets together. Over it a new one waits in the system's queue.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Bytes of one request's head.
pub const HEAD_BYTES_MAX: usize = 128 << 10;

/// Lines of one request's head.
pub const HEAD_LINES_MAX: usize = 1_024;

/// How long clients are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// For the whole head of a request, and for TLS to begin.
    pub head: Duration,
    /// For the next bytes of a body that somebody reads.
    pub body: Duration,
}

impl Default for Patience {
    /// One minute for a head, two for the next bytes of a body.
    fn default() -> Self {
        Self { head: Duration::from_secs(60), body: Duration::from_secs(120) }
    }
}

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
    serves: Arc<Serves>,
}

/// What a socket does with a connection.
struct Serves {
    /// What it begins with.
    tls: Option<TlsAcceptor>,
    then: Then,
    head_patience: Duration,
}

enum Then {
    Http(Arc<Answers>),
    /// The connection itself is the event.
    Connect(Service),
}

/// A bound socket, as it is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub name: String,
    /// `None` for Unix sockets.
    pub address: Option<SocketAddr>,
}

/// What a socket's requests are answered by, and how they are read.
struct Answers {
    service: Service,
    options: HttpOptions,
    /// What clients use, when they do not say themselves.
    scheme: &'static str,
    body_patience: Duration,
}

impl Server {
    /// Binds every socket of a configuration; who connects from now on is served once [`run`](Self::run) is called.
    ///
    /// # Errors
    /// The first socket that cannot be bound.
    pub async fn bind(graph: &Graph, sockets: &[Socket]) -> Result<Self, BindError> {
        Self::bind_with(graph, sockets, Patience::default()).await
    }

    /// The same, with another patience.
    ///
    /// # Errors
    /// The first socket that cannot be bound.
    pub async fn bind_with(graph: &Graph, sockets: &[Socket], patience: Patience) -> Result<Self, BindError> {
        let mut ready = Vec::with_capacity(sockets.len());
        for socket in sockets {
            let serves = Arc::new(serves(graph, socket, patience)?);
            let listener = Listener::bind(socket, graph.loopbacks()).await?;
            let bound = Bound { name: socket.name.clone(), address: listener.address() };
            ready.push(Ready { bound, listener, serves });
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
            accepting.spawn(accept(socket.listener, socket.serves, Arc::clone(&places), stopped.clone()));
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

fn serves(graph: &Graph, socket: &Socket, patience: Patience) -> Result<Serves, BindError> {
    let unsupported = |problem: String| BindError::Unsupported { name: socket.name.clone(), problem };
    let acceptor = |options: &TlsOptions, protocols: &[&str]| match tls::server(options, protocols) {
        Ok(config) => Ok(Some(TlsAcceptor::from(config))),
        Err(error) => Err(unsupported(format!("tlsOptions: {error}."))),
    };
    let service = graph.service(&socket.service);
    let http = |options: &HttpOptions, scheme| {
        let is_loopback = matches!(&socket.listen, Some(Listen::Address(address)) if address.starts_with("loopback:"));
        if options.capnp_connect_host.is_some() && !is_loopback {
            let problem = "`capnpConnectHost` is supported by loaderd between `loopback:` addresses only.";
            return Err(unsupported(problem.to_owned()));
        }
        let (service, options) = (service.clone(), options.clone());
        Ok(Then::Http(Arc::new(Answers { service, options, scheme, body_patience: patience.body })))
    };
    let (tls, then) = match &socket.protocol {
        SocketProtocol::Http(options) => (None, http(options, "http")?),
        SocketProtocol::Https { options, tls } => (acceptor(tls, &["http/1.1"])?, http(options, "https")?),
        SocketProtocol::Tcp { tls } => {
            let tls = tls.as_ref().map_or(Ok(None), |tls| acceptor(tls, &[]))?;
            (tls, Then::Connect(service.clone()))
        }
    };
    Ok(Serves { tls, then, head_patience: patience.head })
}

async fn accept(listener: Listener, serves: Arc<Serves>, places: Arc<Semaphore>, mut stopped: watch::Receiver<()>) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let accepted = tokio::select! {
            biased;
            _ = stopped.changed() => break,
            accepted = listener.accept() => accepted,
            // Collects what is over, so that the set does not grow.
            Some(_) = connections.join_next(), if !connections.is_empty() => continue,
        };
        match accepted {
            Ok(accepted) => {
                let (serves, stopped) = (Arc::clone(&serves), stopped.clone());
                connections.spawn(async move {
                    serves.connection(accepted, stopped).await;
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

impl Serves {
    async fn connection(&self, accepted: Accepted, stopped: watch::Receiver<()>) {
        let Accepted { stream, address, client } = accepted;
        let stream: BoxStream = match &self.tls {
            None => stream,
            Some(acceptor) => match tokio::time::timeout(self.head_patience, acceptor.accept(stream)).await {
                Ok(Ok(stream)) => Box::new(stream),
                // Clients that are not who they should be, or go: this is not news.
                Ok(Err(error)) => return tracing::debug!("a TLS connection did not begin: {error}"),
                Err(_) => return tracing::debug!("a client took too long to begin TLS"),
            },
        };
        match &self.then {
            Then::Http(answers) => serve(stream, client, Arc::clone(answers), self.head_patience, stopped).await,
            Then::Connect(service) => connect(stream, address, service, stopped).await,
        }
    }
}

/// Delivers a connection as an event; it lasts until the Worker has handled it.
async fn connect(stream: BoxStream, address: String, service: &Service, mut stopped: watch::Receiver<()>) {
    let request = request_from(stream, address, &tokio::runtime::Handle::current());
    let handled = tokio::select! {
        handled = service.connect(request) => handled,
        _ = stopped.changed() => return,
    };
    if let Err(error) = handled {
        tracing::error!("uncaught exception: {}", error.report());
    }
}

/// A connection that becomes a WebSocket when the response that says so has been written.
struct Upgrade {
    on_upgrade: hyper::upgrade::OnUpgrade,
    end: WebSocketEnd,
    deflate: Option<Deflate>,
}

async fn serve(
    stream: BoxStream,
    client: Option<Plain>,
    answers: Arc<Answers>,
    head_patience: Duration,
    mut stopped: watch::Receiver<()>,
) {
    let upgrade: Arc<Mutex<Option<Upgrade>>> = Arc::default();
    let granted = Arc::clone(&upgrade);
    let (stream, midway) = Lingering::new(stream);
    let read = midway.clone();
    let answer = service_fn(move |request| {
        let (answers, granted, midway) = (Arc::clone(&answers), Arc::clone(&granted), read.clone());
        let client = client.clone();
        async move { Ok::<_, Infallible>(answers.answer(request, client, midway, &granted).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_patience)
        .max_headers(HEAD_LINES_MAX)
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
    if let Some(Upgrade { on_upgrade, end, deflate }) = upgrade
        && let Ok(upgraded) = on_upgrade.await
    {
        midway.upgrade();
        let stop = async move {
            // An error says that the server is gone, which is as good a reason.
            let _ = stopped.changed().await;
        };
        websocket::bridge(TokioIo::new(upgraded), end, deflate, stop).await;
    }
}

impl Answers {
    /// Dropped when the client goes, which cancels the invocation.
    async fn answer(
        &self,
        mut request: Request<Incoming>,
        client: Option<Plain>,
        midway: Midway,
        granted: &Mutex<Option<Upgrade>>,
    ) -> Response<ReadBody> {
        let head_only = request.method() == http::Method::HEAD;
        let on_upgrade = hyper::upgrade::on(&mut request);
        let (head, body) = request.into_parts();
        let body = ReadOn::new(body, head.headers.contains_key(http::header::EXPECT), midway);
        if let Some((status, text)) = head::refusal(&head) {
            return refused(status, text);
        }
        let asked = match handshake::asked(&head) {
            Asked::Refused(refusal) => return no_websocket(refusal),
            asked => asked,
        };
        let offered = head.headers.get_all(SEC_WEBSOCKET_EXTENSIONS).iter().cloned().collect::<Vec<_>>();
        let answered = match self.read(head, body, client, asked != Asked::Nothing).await {
            Ok(request) => self.service.fetch(request).await,
            Err(status) => return plain(status),
        };
        let mut response = match answered {
            Ok(response) => response,
            Err(error) => return failed(&error),
        };
        match (response.web_socket.take(), asked) {
            (Some(end), Asked::Accept(accept)) => {
                let wanted = response.headers.iter().filter(|(name, _)| SEC_WEBSOCKET_EXTENSIONS == name.as_str());
                let offered = offered.iter().filter_map(|line| line.to_str().ok());
                let agreed = extensions::accept(offered, wanted.map(|(_, value)| value.as_str()));
                let (extensions, deflate) = agreed.unzip();
                let mut response = self.write(response, head_only);
                handshake::grant(response.headers_mut(), accept, extensions);
                *granted.lock() = Some(Upgrade { on_upgrade, end, deflate });
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

    async fn read(
        &self,
        mut head: Parts,
        body: ReadOn<Incoming>,
        client: Option<Plain>,
        websocket: bool,
    ) -> Result<FetchRequest, StatusCode> {
        let mut scheme = self.scheme;
        if let Some(name) = self.options.forwarded_proto_header.as_deref().and_then(header_name)
            && let Some(value) = head.headers.remove(name)
        {
            scheme = if value == "https" { "https" } else { "http" };
        }
        // Whoever is to say it in a header knows better who the client is.
        let mut cf = client.filter(|_| self.options.cf_blob_header.is_none());
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
        let body = IdleLimited::new(body, self.body_patience);
        Ok(FetchRequest {
            method: head.method.to_string(),
            url,
            headers,
            body: Body::from_http_at_hand(body, &tokio::runtime::Handle::current()).await,
            redirect: Redirect::Manual,
            cf,
        })
    }

    fn write(&self, response: FetchResponse, head_only: bool) -> Response<ReadBody> {
        let Ok(status) = StatusCode::from_u16(response.status) else { return plain(StatusCode::INTERNAL_SERVER_ERROR) };
        // A body knows its own length. Where there is none, the length is the one it would have: what the service says.
        let length = response.body.length().filter(|length| head_only && *length > 0);
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
            if !dropped.contains(&name) && (head_only || name != http::header::CONTENT_LENGTH) {
                built.headers_mut().append(name, value);
            }
        }
        if let (Some(length), http::header::Entry::Vacant(line)) =
            (length, built.headers_mut().entry(http::header::CONTENT_LENGTH))
        {
            line.insert(length.into());
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
    tracing::error!("uncaught exception: {}", error.report());
    plain(if error.overloaded { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::INTERNAL_SERVER_ERROR })
}

/// What a client is told whose request for a WebSocket is not one.
fn no_websocket(refusal: Refusal) -> Response<ReadBody> {
    let Some(version) = refusal.version() else { return refused(StatusCode::BAD_REQUEST, refusal.text()) };
    let mut response = refused(StatusCode::UPGRADE_REQUIRED, refusal.text());
    response.headers_mut().insert(http::header::SEC_WEBSOCKET_VERSION, version);
    response
}

/// What a client is told whose request nobody sees; whatever it sends next is not believed.
fn refused(status: StatusCode, text: &'static str) -> Response<ReadBody> {
    let mut response = Response::new(Body::Bytes(bytes::Bytes::from_static(text.as_bytes())).into_http());
    *response.status_mut() = status;
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
