//! The admin address of the executor: health, readiness and metrics, over HTTP. It says numbers only, never anything
//! of a program, and is meant for the operator: by default it is bound to the machine itself.

mod text;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use loaderd_harness::CodeExecutor;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::engine::Engine;

/// Connections open at once; one more waits. Many, since some may only be opened: whoever asks how the service is should not
/// wait for those.
const CONNECTIONS_MAX: usize = 256;

/// How long a client may take to send the head of its request.
const HEAD_TIME_MAX: Duration = Duration::from_secs(2);

/// How long to wait before accepting again when the system refuses.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// What the admin address tells of.
pub(crate) struct Admin {
    pub(crate) engine: Engine,
    pub(crate) executor: CodeExecutor,
    /// Set when the service is told to stop: it is then not ready any more.
    pub(crate) stopping: CancellationToken,
}

/// An address of `PORT`, `:PORT` or `HOST:PORT`, where HOST is a numeric address and loopback when it is left out.
pub(crate) fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port_alone = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port_alone.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let text = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    text.parse().map_err(|_| "must be PORT or HOST:PORT, the host as a numeric address".to_owned())
}

/// Serves the address until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, admin: Admin) {
    let (admin, places) = (Arc::new(admin), Arc::new(Semaphore::new(CONNECTIONS_MAX)));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let admin = admin.clone();
                tokio::spawn(async move {
                    serve_connection(stream, admin).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!("cannot accept an admin connection: {error}");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
}

async fn serve_connection(stream: TcpStream, admin: Arc<Admin>) {
    let service = service_fn(move |request| {
        let answer = answer(&admin, &request);
        async { Ok::<_, Infallible>(answer) }
    });
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!("admin connection closed: {error}");
    }
}

fn answer(admin: &Admin, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    if *request.method() != Method::GET && *request.method() != Method::HEAD {
        let mut refused = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n".to_owned());
        refused.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refused;
    }
    match request.uri().path() {
        "/healthz" => plain(StatusCode::OK, "ok\n".to_owned()),
        "/readyz" if admin.stopping.is_cancelled() => plain(StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned()),
        "/readyz" => match admin.engine.ready() {
            Ok(()) => plain(StatusCode::OK, "ready\n".to_owned()),
            Err(why) => plain(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        },
        "/metrics" => plain(StatusCode::OK, text::metrics(&admin.engine, &admin.executor)),
        _ => plain(StatusCode::NOT_FOUND, "there are /healthz, /readyz and /metrics\n".to_owned()),
    }
}

fn plain(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    // The version is that of the metrics' text format; to everything else it means nothing.
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_loopback_unless_said_otherwise() {
        for (text, expected) in [
            ("9090", Some("127.0.0.1:9090")),
            (":9090", Some("127.0.0.1:9090")),
            ("localhost:1", Some("127.0.0.1:1")),
            ("0.0.0.0:9090", Some("0.0.0.0:9090")),
            ("[::1]:9090", Some("[::1]:9090")),
            ("example.com:80", None),
            ("70000", None),
        ] {
            assert_eq!(parse_address(text).ok().map(|address| address.to_string()).as_deref(), expected, "{text}");
        }
    }
}
