//! Sockets, disk and network services, driven by bytes on a connection.

use std::net::SocketAddr;
use std::path::PathBuf;

use loaderd_loader::config::{
    AddressRules, Config, DiskDirectory, ExternalProtocol, ExternalServer, HttpOptions, InjectedHeader, Listen,
    Network, Service, ServiceDesignator, ServiceKind, Socket, SocketProtocol,
};
use loaderd_loader::graph::{Graph, GraphOptions, Server};
use loaderd_loader::{HostLimits, LoaderHost};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::scripted::Scripted;

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("loaderd-graph-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir_all(path.join("sub")).expect("a folder");
        std::fs::write(path.join("hello.txt"), "hello").expect("a file");
        std::fs::write(path.join(".hidden"), "secret").expect("a file");
        std::fs::write(path.join("sub/big"), vec![7_u8; 1 << 20]).expect("a file");
        for name in ["z", "a", "m", "c"] {
            std::fs::create_dir(path.join("sub").join(name)).expect("a folder");
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

fn service(name: &str, kind: ServiceKind) -> Service {
    Service { name: name.into(), kind }
}

fn disk(folder: &Folder, writable: bool) -> ServiceKind {
    ServiceKind::Disk(DiskDirectory { path: Some(folder.0.clone()), writable, allow_dotfiles: false })
}

fn socket(service: &str, options: HttpOptions) -> Socket {
    Socket {
        name: service.into(),
        listen: Some(Listen::Address("127.0.0.1:0".into())),
        protocol: SocketProtocol::Http(options),
        service: ServiceDesignator::to(service),
    }
}

/// A server that stops when it is dropped, and its addresses by the order of the sockets.
struct Running {
    addresses: Vec<SocketAddr>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    task: tokio::task::JoinHandle<()>,
}

async fn run(config: &Config, host: &LoaderHost) -> Running {
    let graph = Graph::start(config, host, &GraphOptions::default()).await.map_err(|errors| format!("{errors:?}"));
    let graph = graph.expect("starts");
    let server = Server::bind(&graph, &config.sockets).await.expect("binds");
    let addresses = server.bound().map(|bound| bound.address.expect("TCP")).collect();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        server.run(async { drop(stopped.await) }).await;
        drop(graph);
    });
    Running { addresses, stop: Some(stop), task }
}

impl Running {
    async fn stop(mut self) {
        drop(self.stop.take());
        self.task.await.expect("no panics");
    }
}

fn host() -> LoaderHost {
    Scripted::host(HostLimits::default()).1
}

/// Sends bytes and reads until the server closes.
async fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("connects");
    stream.write_all(request.as_bytes()).await.expect("sends");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.expect("reads");
    String::from_utf8_lossy(&response).into_owned()
}

fn request(method: &str, path: &str, body: &str) -> String {
    let length = body.len();
    format!("{method} {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
}

fn status_and_body(response: &str) -> (&str, &str) {
    let (head, body) = response.split_once("\r\n\r\n").unwrap_or((response, ""));
    (head.split(' ').nth(1).unwrap_or(""), body)
}

#[tokio::test]
async fn a_folder_is_served_and_nothing_beside_it() {
    let folder = Folder::new();
    let config = Config {
        services: vec![service("files", disk(&folder, false))],
        sockets: vec![socket("files", HttpOptions::default())],
        ..Config::default()
    };
    let running = run(&config, &host()).await;
    let cases = [
        ("GET", "/hello.txt", "200", "hello"),
        ("HEAD", "/hello.txt", "200", ""),
        ("GET", "/hello%2Etxt", "200", "hello"),
        ("GET", "/nothing", "404", "Not Found"),
        ("GET", "/hello.txt/nothing", "404", "Not Found"),
        ("GET", "/.hidden", "404", "Not Found"),
        ("GET", "/../../etc/passwd", "404", "Not Found"),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd", "404", "Not Found"),
        ("GET", "/..%2f..%2fetc%2fpasswd", "404", "Not Found"),
        ("PUT", "/hello.txt", "405", "Method Not Allowed"),
        ("DELETE", "/hello.txt", "405", "Method Not Allowed"),
        ("PATCH", "/hello.txt", "501", "Not Implemented"),
    ];
    for (method, path, status, body) in cases {
        let response = exchange(running.addresses[0], &request(method, path, "")).await;
        assert_eq!(status_and_body(&response), (status, body), "{method} {path}");
    }
    let whole = "GET /hello.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\nRange: ";
    for (range, status, body, says) in [
        ("bytes=1-3", "206", "ell", "content-range: bytes 1-3/5\r\n"),
        ("bytes=-2", "206", "lo", "content-range: bytes 3-4/5\r\n"),
        ("bytes=9-", "416", "Range Not Satisfiable", "content-range: bytes */5\r\n"),
        ("bytes=0-1,3-4", "200", "hello", "content-length: 5\r\n"),
    ] {
        let response = exchange(running.addresses[0], &format!("{whole}{range}\r\n\r\n")).await;
        assert_eq!(status_and_body(&response), (status, body), "{range}");
        assert!(response.to_lowercase().contains(says), "{response}");
    }
    let response = exchange(running.addresses[0], &request("GET", "/sub", "")).await;
    let listing: Vec<_> = status_and_body(&response).1.split("\"name\":\"").skip(1).map(|it| &it[..1]).collect();
    assert_eq!(listing, ["a", "b", "c", "m", "z"], "{response}");
    assert!(
        response.contains("{\"name\":\"big\",\"type\":\"file\"},{\"name\":\"c\",\"type\":\"directory\"}"),
        "{response}"
    );
    let response = exchange(running.addresses[0], &request("GET", "/sub/big", "")).await;
    assert_eq!(status_and_body(&response).1.len(), 1 << 20);
    running.stop().await;
}

#[tokio::test]
async fn a_writable_folder_takes_and_drops_files() {
    let folder = Folder::new();
    let config = Config {
        services: vec![service("files", disk(&folder, true))],
        sockets: vec![socket("files", HttpOptions::default())],
        ..Config::default()
    };
    let running = run(&config, &host()).await;
    for (method, path, sent, status, body) in [
        ("PUT", "/new/file", "content", "204", ""),
        ("GET", "/new/file", "", "200", "content"),
        ("PUT", "/new/file", "other", "204", ""),
        ("GET", "/new/file", "", "200", "other"),
        ("DELETE", "/new", "", "204", ""),
        ("GET", "/new/file", "", "404", "Not Found"),
        ("DELETE", "/new", "", "404", "Not Found"),
    ] {
        let response = exchange(running.addresses[0], &request(method, path, sent)).await;
        assert_eq!(status_and_body(&response), (status, body), "{method} {path}");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_external_server_is_reached_and_headers_are_injected() {
    let folder = Folder::new();
    let inner = Config {
        services: vec![service("files", disk(&folder, false))],
        sockets: vec![socket("files", HttpOptions::default())],
        ..Config::default()
    };
    let inner = run(&inner, &host()).await;
    let external = |options| {
        let address = Some(inner.addresses[0].to_string());
        ServiceKind::External(Box::new(ExternalServer { address, protocol: ExternalProtocol::Http(options) }))
    };
    let injected = |name: &str, value: Option<&str>| InjectedHeader { name: name.into(), value: value.map(Into::into) };
    let options = HttpOptions {
        inject_response_headers: vec![injected("X-Added", Some("yes")), injected("Last-Modified", None)],
        ..HttpOptions::default()
    };
    let outer = Config {
        services: vec![
            service("remote", external(options)),
            service("public", ServiceKind::Network(Network { rules: AddressRules::default(), tls: None })),
            service(
                "local",
                ServiceKind::Network(Network {
                    rules: AddressRules { allow: vec!["local".into()], deny: Vec::new() },
                    tls: None,
                }),
            ),
        ],
        sockets: vec![
            socket("remote", HttpOptions::default()),
            socket("public", HttpOptions::default()),
            socket("local", HttpOptions::default()),
        ],
        ..Config::default()
    };
    let outer = run(&outer, &host()).await;
    let response = exchange(outer.addresses[0], &request("GET", "/hello.txt", "")).await;
    assert_eq!(status_and_body(&response), ("200", "hello"));
    let head = response.to_lowercase();
    assert!(head.contains("x-added: yes") && !head.contains("last-modified"), "{response}");

    // The network services go where the Host header says; only one may go to this machine.
    let asking = format!("GET /hello.txt HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", inner.addresses[0]);
    assert_eq!(status_and_body(&exchange(outer.addresses[1], &asking).await).0, "500");
    assert_eq!(status_and_body(&exchange(outer.addresses[2], &asking).await), ("200", "hello"));
    outer.stop().await;
    inner.stop().await;
}

#[tokio::test]
async fn connections_are_kept_alive_and_bad_bytes_are_refused() {
    let folder = Folder::new();
    let config = Config {
        services: vec![service("files", disk(&folder, false))],
        sockets: vec![socket("files", HttpOptions::default())],
        ..Config::default()
    };
    let running = run(&config, &host()).await;
    let two = "GET /hello.txt HTTP/1.1\r\nHost: h\r\n\r\n".to_owned() + &request("GET", "/nothing", "");
    let response = exchange(running.addresses[0], &two).await;
    assert_eq!((response.matches("HTTP/1.1 200").count(), response.matches("HTTP/1.1 404").count()), (1, 1));
    for bad in ["\0\0\0\0\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"]
    {
        let closing = bad.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
        let response = exchange(running.addresses[0], &closing).await;
        assert_eq!(status_and_body(&response).0, "400", "{bad:?}");
    }
    running.stop().await;
}

#[tokio::test]
async fn what_cannot_be_served_is_said_by_name() {
    let config = Config {
        services: vec![service(
            "files",
            ServiceKind::Disk(DiskDirectory {
                path: Some("/no/such/folder".into()),
                writable: false,
                allow_dotfiles: false,
            }),
        )],
        ..Config::default()
    };
    let errors = Graph::start(&config, &host(), &GraphOptions::default()).await.err().expect("does not start");
    let texts: Vec<_> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["service files: Directory named \"files\" not found: /no/such/folder"]);
}
