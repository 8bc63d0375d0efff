//! Services that answer over a network: any host a URL names, or one server whatever the URL says.

use std::any::Any;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioIo};
use loaderd_runtime::rpc::{Answer, Call, Capability, Reply, RpcError};
use tokio::net::TcpStream;
use tower_service::Service;

use super::addresses::Addresses;
use crate::config::{ExternalProtocol, ExternalServer, HttpOptions, HttpStyle, Network};
use crate::fetch::{Body, FetchRequest, FetchResponse, ReadBody, WebSocketEnd};
use crate::websocket::{LARGE_MESSAGE_BYTES_MAX, OriginSocket, handshake};

/// Headers that belong to one connection, and those hyper writes itself.
const HOP_HEADERS: [&str; 7] =
    ["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"];

/// A service that sends each request to the host its URL names.
pub(super) fn service(config: &Network, tasks: &tokio::runtime::Handle) -> Result<Arc<dyn Capability>, String> {
    let route = Route::ByUrl(Addresses::new(&config.rules)?);
    Ok(Arc::new(HttpClient::new(route, HttpOptions::default(), tasks)))
}

/// A service that sends every request to one server.
pub(super) fn external(config: &ExternalServer, tasks: &tokio::runtime::Handle) -> Result<Arc<dyn Capability>, String> {
    let address = config.address.as_deref().ok_or("the external server has no address.")?;
    let options = match &config.protocol {
        ExternalProtocol::Http(options) => options.clone(),
        ExternalProtocol::Https { .. } => {
            return Err("external servers over TLS are not supported by loaderd yet.".into());
        }
        ExternalProtocol::Tcp { .. } => return Err("external TCP servers are not supported by loaderd yet.".into()),
    };
    if address.starts_with("unix") {
        return Err("external servers on Unix sockets are not supported by loaderd yet.".into());
    }
    Ok(Arc::new(HttpClient::new(Route::Fixed(with_port(address, 80).into()), options, tasks)))
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

/// Where connections go.
#[derive(Clone)]
enum Route {
    ByUrl(Addresses),
    Fixed(Arc<str>),
}

struct HttpClient {
    client: Client<Connector, ReadBody>,
    options: HttpOptions,
    tasks: tokio::runtime::Handle,
    /// Whether the URL decides where a request goes.
    by_url: bool,
}

impl HttpClient {
    fn new(route: Route, options: HttpOptions, tasks: &tokio::runtime::Handle) -> Self {
        let by_url = matches!(route, Route::ByUrl(_));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(hyper_util::rt::TokioTimer::new())
            .build(Connector(Arc::new(route)));
        Self { client, options, tasks: tasks.clone(), by_url }
    }
}

impl Capability for HttpClient {
    fn call(&self, call: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        let Some(request) = FetchRequest::from_call(&call) else {
            let message = "The RPC receiver does not implement the method: this service is not a Worker.";
            reply.send(Err(RpcError::new("TypeError", message)));
            return None;
        };
        let asked = request.map_err(|error| error.to_rpc()).and_then(|request| {
            let websocket = handshake::is_asked_for(&request.headers);
            let mut request = to_http(request, &self.options, self.by_url)?;
            let accept = if websocket { handshake::ask(request.headers_mut()) } else { None };
            Ok((request, accept))
        });
        let (request, accept) = match asked {
            Ok(asked) => asked,
            Err(error) => {
                reply.send(Err(error));
                return None;
            }
        };
        let (client, tasks, options) = (self.client.clone(), self.tasks.clone(), self.options.clone());
        self.tasks.spawn(async move {
            match client.request(request).await {
                Ok(response) => match (accept, response.status()) {
                    (accept, StatusCode::SWITCHING_PROTOCOLS) => {
                        reply.send(switched(response, accept, &options, &tasks).await);
                    }
                    _ => reply.send(from_http(response, &options, &tasks).into_answer()),
                },
                Err(error) => reply.send(Err(lost(&error))),
            }
        });
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
    accept: Option<HeaderValue>,
    options: &HttpOptions,
    tasks: &tokio::runtime::Handle,
) -> Answer {
    let error = |problem: &str| {
        let message = format!("Network connection lost: {problem}");
        Answer::from(Err(RpcError { disconnected: true, remote: false, ..RpcError::new("Error", message) }))
    };
    let refusal = match &accept {
        Some(accept) => handshake::refusal_of_origin(response.headers(), accept),
        None => Some("the server switched protocols unasked"),
    };
    if let Some(problem) = refusal {
        return error(problem);
    }
    let upgraded = match hyper::upgrade::on(&mut response).await {
        Ok(upgraded) => upgraded,
        Err(problem) => return error(&problem.to_string()),
    };
    let target = Arc::new(OriginSocket::new(TokioIo::new(upgraded), tasks));
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

fn to_http(request: FetchRequest, options: &HttpOptions, by_url: bool) -> Result<Request<ReadBody>, RpcError> {
    let bad = |what: String| RpcError { remote: false, ..RpcError::new("TypeError", what) };
    let url: Uri = request.url.parse().map_err(|_| bad(format!("Invalid URL: {}", request.url)))?;
    if by_url && url.scheme_str() != Some("http") {
        let scheme = url.scheme_str().unwrap_or_default();
        return Err(bad(format!("Fetching from \"{scheme}:\" URLs is not supported by loaderd yet: {}", request.url)));
    }
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| bad(format!("Invalid HTTP method string: {}", request.method)))?;
    let websocket = handshake::is_asked_for(&request.headers);
    if websocket && !matches!(request.body, Body::Empty) {
        return Err(bad("A request for a WebSocket must not have a body.".to_owned()));
    }
    // hyper knows the length of what is at hand; of a stream only its writer does.
    let keeps_length = matches!(request.body, Body::Stream(_));
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
        if websocket && handshake::HOP_HEADERS.iter().any(|hop| name.eq_ignore_ascii_case(hop.as_str())) {
            continue;
        }
        if !keeps_length && name.eq_ignore_ascii_case("content-length") {
            continue;
        }
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad(format!("Invalid header name: {name}")))?;
        built.headers_mut().append(name, byte_string(value).ok_or_else(|| bad("Invalid header value.".to_owned()))?);
    }
    for injected in &options.inject_request_headers {
        inject(built.headers_mut(), &injected.name, injected.value.as_deref());
    }
    // The client wants a whole URL to tell connections apart; what is sent is the path unless a proxy is spoken to.
    *built.uri_mut() = match (by_url, options.style) {
        (true, _) => url,
        (false, HttpStyle::Host | HttpStyle::Proxy) => {
            let mut parts = url.into_parts();
            parts.scheme = Some(http::uri::Scheme::HTTP);
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

/// Opens connections, to addresses that are permitted.
#[derive(Clone)]
struct Connector(Arc<Route>);

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = std::io::Error;
    type Future = Pin<Box<dyn Future<Output = std::io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, url: Uri) -> Self::Future {
        let route = Arc::clone(&self.0);
        Box::pin(async move {
            let stream = match &*route {
                Route::Fixed(address) => TcpStream::connect(&**address).await?,
                Route::ByUrl(addresses) => {
                    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
                    let port = url.port_u16().unwrap_or(80);
                    connect(tokio::net::lookup_host((host, port)).await?, addresses).await?
                }
            };
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// The first address that is permitted and answers. Names are resolved here, once, so that what is checked is what
/// is connected to.
async fn connect(found: impl Iterator<Item = SocketAddr>, addresses: &Addresses) -> std::io::Result<TcpStream> {
    let mut last = std::io::Error::new(
        std::io::ErrorKind::PermissionDenied,
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
