//! Services that answer over a network: any host a URL names, or one server whatever the URL says.

use std::any::Any;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use hyper::rt::ReadBufCursor;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use loaderd_runtime::rpc::{Answer, Call, Capability, Reply, RpcError};
use tower_service::Service;

use super::addresses::Addresses;
use super::dial::{Address, Connections, Dialer, Route, Security};
use super::loopback::Loopbacks;
use crate::config::{ExternalProtocol, ExternalServer, HttpOptions, HttpStyle, Network, TlsOptions};
use crate::connect::{self, BoxStream, ConnectRequest};
use crate::fetch::{Body, FetchRequest, FetchResponse, ReadBody, WebSocketEnd};
use crate::tls;
use crate::websocket::handshake::Expected;
use crate::websocket::{LARGE_MESSAGE_BYTES_MAX, OriginSocket, handshake};

/// Headers that belong to one connection, and those hyper writes itself.
const HOP_HEADERS: [&str; 7] =
    ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

/// Offered to servers that are spoken to over TLS, the best one first.
const PROTOCOLS: [&str; 2] = ["h2", "http/1.1"];

/// The same for requests that HTTP/2 has no place for.
const HTTP1: [&str; 1] = ["http/1.1"];

/// A service that sends each request to the host its URL names.
pub(super) fn service(config: &Network, tasks: &tokio::runtime::Handle) -> Result<Arc<dyn Capability>, String> {
    let addresses = Arc::new(config.rules.clone());
    let route = || Addresses::new(&addresses).map(Route::ByHost);
    let tls = |protocols: &[&str]| client_tls(config.tls.as_ref(), protocols);
    let http = Dialers {
        any: Dialer::new(route()?, tls(&PROTOCOLS)?, None),
        http1: Dialer::new(route()?, tls(&HTTP1)?, None),
    };
    let raw = Connections { dialer: Arc::new(Dialer::new(route()?, tls(&[])?, None)), always: None };
    Ok(Arc::new(NetworkService {
        http: Some(HttpClient::new(http, Target::ByUrl, HttpOptions::default(), tasks)),
        raw: Some(Arc::new(raw)),
        tasks: tasks.clone(),
    }))
}

fn client_tls(options: Option<&TlsOptions>, protocols: &[&str]) -> Result<Option<Arc<rustls::ClientConfig>>, String> {
    let made = options.map(|options| tls::client(options, protocols)).transpose();
    made.map_err(|error| format!("tlsOptions: {error}."))
}

/// A service that sends every request to one server.
pub(super) fn external(
    config: &ExternalServer,
    loopbacks: &Loopbacks,
    tasks: &tokio::runtime::Handle,
) -> Result<Arc<dyn Capability>, String> {
    let address = config.address.as_deref().ok_or("the external server has no address.")?;
    let route = |port| Route::Fixed(Address::parse(address, port, loopbacks));
    let http = |dialers, security, options: &HttpOptions| {
        if options.capnp_connect_host.is_some() {
            return Err("`capnpConnectHost` is supported by loaderd between `loopback:` addresses only.".to_owned());
        }
        Ok(Some(HttpClient::new(dialers, Target::Fixed(security), options.clone(), tasks)))
    };
    let (http, raw) = match &config.protocol {
        ExternalProtocol::Http(options) => {
            let dialer = || Dialer::new(route(80), None, None);
            (http(Dialers { any: dialer(), http1: dialer() }, Security::None, options)?, None)
        }
        ExternalProtocol::Https { options, tls, certificate_host } => {
            let host = certificate_host.clone().or_else(|| Some(host_of(address)));
            let dialer = |protocols: &[&str]| {
                Ok::<_, String>(Dialer::new(route(443), client_tls(Some(tls), protocols)?, host.clone()))
            };
            let dialers = Dialers { any: dialer(&PROTOCOLS)?, http1: dialer(&HTTP1)? };
            (http(dialers, Security::Tls, options)?, None)
        }
        ExternalProtocol::Tcp { tls, certificate_host } => {
            let host = certificate_host.clone().or_else(|| Some(host_of(address)));
            let always = if tls.is_some() { Security::Tls } else { Security::None };
            let dialer = Arc::new(Dialer::new(route(0), client_tls(tls.as_ref(), &[])?, host));
            (None, Some(Arc::new(Connections { dialer, always: Some(always) })))
        }
    };
    Ok(Arc::new(NetworkService { http, raw, tasks: tasks.clone() }))
}

/// The host of `host`, `host:port` or `[v6]:port`.
fn host_of(address: &str) -> String {
    match address.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') && !host.ends_with(':') => host.trim_matches(['[', ']']).to_owned(),
        _ => address.trim_matches(['[', ']']).to_owned(),
    }
}

/// How a client connects: speaking whatever is best, and HTTP/1.1 only.
struct Dialers {
    any: Dialer,
    http1: Dialer,
}

/// Whom requests are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The host that the URL names; its scheme says whether over TLS.
    ByUrl,
    /// One server, whatever the URL says.
    Fixed(Security),
}

/// Whatever answers over a network.
struct NetworkService {
    http: Option<HttpClient>,
    raw: Option<Arc<Connections>>,
    tasks: tokio::runtime::Handle,
}

#[derive(Clone)]
struct HttpClient {
    client: Client<Connector, ReadBody>,
    /// For requests that ask to go on as a WebSocket, which only HTTP/1.1 can.
    upgrading: Client<Connector, ReadBody>,
    options: Arc<HttpOptions>,
    target: Target,
    tasks: tokio::runtime::Handle,
}

impl HttpClient {
    fn new(dialers: Dialers, target: Target, options: HttpOptions, tasks: &tokio::runtime::Handle) -> Self {
        let client = |dialer| {
            let connector = Connector { dialer, target, style: options.style };
            Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector)
        };
        Self {
            client: client(Arc::new(dialers.any)),
            upgrading: client(Arc::new(dialers.http1)),
            options: Arc::new(options.clone()),
            target,
            tasks: tasks.clone(),
        }
    }

    fn fetch(&self, request: FetchRequest, reply: Reply) {
        let websocket = handshake::is_asked_for(&request.headers);
        let mut request = match to_http(request, &self.options, self.target) {
            Ok(request) => request,
            Err(error) => return reply.send(Err(error)),
        };
        let (client, expected) = match websocket {
            true => (self.upgrading.clone(), handshake::ask(request.headers_mut())),
            false => (self.client.clone(), None),
        };
        let this = self.clone();
        self.tasks.spawn(async move {
            match client.request(request).await {
                Ok(response) if response.status() == StatusCode::SWITCHING_PROTOCOLS => {
                    reply.send(switched(response, expected, &this.options, &this.tasks).await);
                }
                Ok(response) => reply.send(from_http(response, &this.options, &this.tasks).into_answer()),
                Err(error) => reply.send(Err(lost(&error))),
            }
        });
    }
}

impl Capability for NetworkService {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let refused = |message: &str| RpcError { remote: false, ..RpcError::new("TypeError", message) };
        if let Some(request) = FetchRequest::from_call(&call) {
            match (request, &self.http) {
                (Ok(request), Some(http)) => http.fetch(request, reply),
                (Ok(_), None) => {
                    reply.send(Err(refused("This service is a TCP server: it has connect(), not fetch().")))
                }
                (Err(error), _) => reply.send(Err(error.to_rpc())),
            }
        } else if let Some(request) = ConnectRequest::from_call(&call) {
            match (request, &self.raw) {
                (Ok(request), Some(raw)) => {
                    let raw = Arc::clone(raw);
                    self.tasks.spawn(async move {
                        let result = connect::run(&*raw, request).await;
                        reply.send(
                            result.and_then(|done| done.to_message().map_err(|error| refused(&error.to_string()))),
                        );
                    });
                }
                (Ok(_), None) => reply.send(Err(refused("This service speaks HTTP: it has fetch(), not connect()."))),
                (Err(error), _) => reply.send(Err(error)),
            }
        } else {
            reply.send(Err(RpcError::new(
                "TypeError",
                "The RPC receiver does not implement the method: this service is not a Worker.",
            )));
        }
        None
    }

    fn counts_as_subrequest(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A server's answer that turns the connection into a WebSocket, if that is what was asked for.
async fn switched(
    mut response: http::Response<hyper::body::Incoming>,
    expected: Option<Expected>,
    options: &HttpOptions,
    tasks: &tokio::runtime::Handle,
) -> Answer {
    let error = |problem: &str| {
        let message = format!("Network connection lost: {problem}");
        Answer::from(Err(RpcError { disconnected: true, remote: false, ..RpcError::new("Error", message) }))
    };
    let agreed = match &expected {
        Some(expected) => handshake::agreed_with_origin(response.headers(), expected),
        None => Err("the server switched protocols unasked"),
    };
    let deflate = match agreed {
        Ok(deflate) => deflate,
        Err(problem) => return error(problem),
    };
    let upgraded = match hyper::upgrade::on(&mut response).await {
        Ok(upgraded) => upgraded,
        Err(problem) => return error(&problem.to_string()),
    };
    let target = Arc::new(OriginSocket::new(TokioIo::new(upgraded), deflate, tasks));
    let mut response = from_http(response, options, tasks);
    response.body = Body::Empty;
    // The Worker's messages to the server are bounded by its memory.
    response.web_socket = Some(WebSocketEnd { target, message_bytes_max: LARGE_MESSAGE_BYTES_MAX });
    response.into_answer()
}

fn lost(error: &hyper_util::client::legacy::Error) -> RpcError {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    RpcError {
        disconnected: true,
        remote: false,
        ..RpcError::new("Error", format!("Network connection lost: {cause}"))
    }
}

fn to_http(request: FetchRequest, options: &HttpOptions, target: Target) -> Result<Request<ReadBody>, RpcError> {
    let bad = |what: String| RpcError { remote: false, ..RpcError::new("TypeError", what) };
    let url: Uri = request.url.parse().map_err(|_| bad(format!("Invalid URL: {}", request.url)))?;
    if !matches!(url.scheme_str(), Some("http" | "https")) {
        return Err(bad(format!("Fetch API cannot load: {}", request.url)));
    }
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| bad(format!("Invalid HTTP method string: {}", request.method)))?;
    let websocket = handshake::is_asked_for(&request.headers);
    if websocket && !matches!(request.body, Body::Empty) {
        return Err(bad("A request for a WebSocket must not have a body.".to_owned()));
    }
    let mut built = Request::new(request.body.into_http());
    *built.method_mut() = method;
    if let Some(name) = &options.forwarded_proto_header
        && let Ok(name) = HeaderName::from_bytes(name.as_bytes())
    {
        let scheme = if url.scheme_str() == Some("https") { "https" } else { "http" };
        built.headers_mut().insert(name, HeaderValue::from_static(scheme));
    }
    if let Some(host) = url.authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok()) {
        built.headers_mut().insert(http::header::HOST, host);
    }
    for (name, value) in &request.headers {
        if HOP_HEADERS.iter().any(|hop| name.eq_ignore_ascii_case(hop)) || name.eq_ignore_ascii_case("host") {
            continue;
        }
        if websocket && handshake::OWN_HEADERS.iter().any(|hop| name.eq_ignore_ascii_case(hop.as_str())) {
            continue;
        }
        // The body knows its own length.
        if name.eq_ignore_ascii_case("content-length") {
            continue;
        }
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(format!("Invalid header name: {name}")))?;
        built.headers_mut().append(name, byte_string(value).ok_or_else(|| bad("Invalid header value.".to_owned()))?);
    }
    for injected in &options.inject_request_headers {
        inject(built.headers_mut(), &injected.name, injected.value.as_deref());
    }
    // The client wants a whole URL to tell connections apart; what is sent is the path unless a proxy is spoken to.
    *built.uri_mut() = match target {
        Target::ByUrl => url,
        Target::Fixed(security) => {
            let mut parts = url.into_parts();
            parts.scheme = Some(match security {
                Security::None => http::uri::Scheme::HTTP,
                Security::Tls => http::uri::Scheme::HTTPS,
            });
            Uri::from_parts(parts).map_err(|error| bad(error.to_string()))?
        }
    };
    Ok(built)
}

fn from_http(
    response: http::Response<hyper::body::Incoming>,
    options: &HttpOptions,
    tasks: &tokio::runtime::Handle,
) -> FetchResponse {
    let (mut head, body) = response.into_parts();
    for injected in &options.inject_response_headers {
        inject(&mut head.headers, &injected.name, injected.value.as_deref());
    }
    FetchResponse {
        status: head.status.as_u16(),
        status_text: head.status.canonical_reason().unwrap_or_default().to_owned(),
        headers: header_lines(&head.headers),
        body: Body::from_http(body, tasks),
        web_socket: None,
    }
}

/// Sets a header, or removes it.
pub(super) fn inject(headers: &mut http::HeaderMap, name: &str, value: Option<&str>) {
    let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { return };
    match value.map(byte_string) {
        Some(Some(value)) => drop(headers.insert(name, value)),
        Some(None) => {}
        None => drop(headers.remove(name)),
    }
}

/// Header lines as they cross, without those of the connection.
pub(super) fn header_lines(headers: &http::HeaderMap) -> Vec<(String, String)> {
    let kept = headers.iter().filter(|(name, _)| !HOP_HEADERS.contains(&name.as_str()));
    kept.map(|(name, value)| {
        // Each byte is one char, as in the Fetch standard's byte strings.
        (name.as_str().to_owned(), value.as_bytes().iter().map(|byte| char::from(*byte)).collect())
    })
    .collect()
}

/// A byte string as a header's value; `None` where it holds anything else, or line breaks.
pub(super) fn byte_string(text: &str) -> Option<HeaderValue> {
    let bytes = text.chars().map(|char| u8::try_from(u32::from(char)).ok()).collect::<Option<Vec<u8>>>()?;
    HeaderValue::from_bytes(&bytes).ok()
}

/// Opens connections for requests.
#[derive(Clone)]
struct Connector {
    dialer: Arc<Dialer>,
    target: Target,
    style: HttpStyle,
}

impl Service<Uri> for Connector {
    type Response = HttpConnection;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<HttpConnection>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let Self { dialer, target, style } = self.clone();
        Box::pin(async move {
            let is_https = url.scheme_str() == Some("https");
            let (security, default_port) = match (target, is_https) {
                (Target::Fixed(security), _) => (security, 80),
                (Target::ByUrl, true) => (Security::Tls, 443),
                (Target::ByUrl, false) => (Security::None, 80),
            };
            let port = url.port_u16().unwrap_or(default_port);
            let dialed = dialer.dial(url.host().unwrap_or_default(), port, security).await?;
            Ok(HttpConnection { io: TokioIo::new(dialed.stream), is_http2: dialed.is_http2, style })
        })
    }
}

/// A connection, and what is spoken on it.
struct HttpConnection {
    io: TokioIo<BoxStream>,
    is_http2: bool,
    style: HttpStyle,
}

impl Connection for HttpConnection {
    fn connected(&self) -> Connected {
        // To a proxy whole URLs are sent.
        let connected = Connected::new().proxy(self.style == HttpStyle::Proxy);
        if self.is_http2 { connected.negotiated_h2() } else { connected }
    }
}

impl hyper::rt::Read for HttpConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl hyper::rt::Write for HttpConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
