//! Connections without a protocol, and TLS: Workers that connect and are connected to, and servers of both kinds.

use std::net::SocketAddr;
use std::sync::Arc;

use loaderd_loader::config::{
    AddressRules, BindingValue, Config, ExternalProtocol, ExternalServer, HttpOptions, Listen, Network,
    ServiceDesignator, ServiceKind, Socket, SocketProtocol, TlsKeypair, TlsOptions, TlsVersion,
};
use loaderd_loader::graph::{Graph, Server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::site;

/// Answers each connection with what it gets, in capitals, until its end.
async fn shouts() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 1024];
                while let Ok(count @ 1..) = stream.read(&mut buffer).await {
                    buffer[..count].make_ascii_uppercase();
                    if stream.write_all(&buffer[..count]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

fn network(allow: &str) -> ServiceKind {
    let rules = AddressRules { allow: vec![allow.into()], deny: Vec::new() };
    ServiceKind::Network(Network { rules, tls: None })
}

/// A self-signed certificate for `localhost`, and its key.
fn keypair() -> TlsKeypair {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    TlsKeypair { private_key: made.signing_key.serialize_pem(), certificate_chain: made.cert.pem() }
}

fn trusting(keypair: &TlsKeypair) -> TlsOptions {
    TlsOptions { trusted_certificates: vec![keypair.certificate_chain.clone()], ..TlsOptions::default() }
}

fn socket(name: &str, protocol: SocketProtocol, service: &str) -> Socket {
    let listen = Some(Listen::Address("127.0.0.1:0".into()));
    Socket { name: name.into(), listen, protocol, service: ServiceDesignator::to(service) }
}

fn external(address: SocketAddr, protocol: ExternalProtocol) -> ServiceKind {
    ServiceKind::External(Box::new(ExternalServer { address: Some(address.to_string()), protocol }))
}

/// Serves a configuration's sockets until the end of the test, and says where they are.
async fn serve(graph: &Graph, config: &Config) -> Vec<SocketAddr> {
    let server = Server::bind(graph, &config.sockets).await.expect("binds");
    let addresses = server.bound().map(|bound| bound.address.expect("TCP")).collect();
    tokio::spawn(server.run(std::future::pending()));
    addresses
}

/// What `test()` of a Worker gives that reaches `service` as its global outbound and as `env.SERVICE`.
async fn run(body: &str, service: ServiceKind) -> String {
    let source = format!(
        "import {{ connect }} from 'cloudflare:sockets';
         const read = async (readable) => await new Response(readable).text();
         const say = async (socket, text) => {{
           const writer = socket.writable.getWriter();
           await writer.write(new TextEncoder().encode(text));
           await writer.close();
         }};
         export default {{ async test(controller, env) {{
           try {{ {body} }} catch (error) {{ return `${{error}}`; }}
         }} }};"
    );
    let binding = site::binding("SERVICE", BindingValue::Service(ServiceDesignator::to("service")));
    let mut main = site::worker(&source, &[], vec![binding]);
    main.global_outbound = ServiceDesignator::to("service");
    let services = vec![site::worker_service("main", main), site::service("service", service)];
    let (graph, _host) = site::start(&Config { services, ..Config::default() }).await.expect("starts");
    site::test_of(&graph).await
}

#[tokio::test]
async fn workers_connect_where_they_may() {
    let address = shouts().await;
    let talk = format!("const s = connect('{address}'); await say(s, 'hello'); return await read(s.readable);");
    let plain = format!(
        "const s = env.SERVICE.connect({{ hostname: '{}', port: {} }}); const {{ remoteAddress }} = await s.opened;
         await s.close(); await s.closed; return remoteAddress;",
        address.ip(),
        address.port()
    );
    let half = format!(
        "const s = connect('{address}', {{ allowHalfOpen: true }}); await say(s, 'a'); const text = await read(s.readable);
         return `${{text}} ${{s.secureTransport}} ${{s.upgraded}}`;"
    );
    let large = format!(
        "const s = connect('{address}'); const text = 'x'.repeat(1 << 20);
         const [got] = await Promise.all([read(s.readable), say(s, text)]); return `${{got === text.toUpperCase()}}`;"
    );
    let refused = "Error: proxy request failed, cannot connect to the specified address";
    let cases = [
        (talk.as_str(), "private", "HELLO"),
        (&plain, "private", &address.to_string()),
        (&half, "private", "A off false"),
        (&large, "private", "true"),
        (&talk, "public", refused),
        ("const s = connect('127.0.0.1:1'); await s.opened; return 'no';", "private", refused),
        ("const s = connect('127.0.0.1:1'); await s.closed; return 'no';", "private", refused),
        ("connect('nothing'); return 'no';", "private", "TypeError: Specified address is missing port."),
        ("connect('a b:1'); return 'no';", "private", "TypeError: Specified address could not be parsed."),
        (
            "connect('h:1', { secureTransport: 'maybe' }); return 'no';",
            "private",
            "TypeError: Unsupported value in secureTransport socket option: maybe",
        ),
        (
            "connect('127.0.0.1:1').startTls(); return 'no';",
            "private",
            "TypeError: The `secureTransport` socket option must be set to 'starttls' for startTls to be used.",
        ),
    ];
    for (body, allow, expected) in cases {
        assert_eq!(run(body, network(allow)).await, *expected, "{body}");
    }
}

#[tokio::test]
async fn a_worker_answers_connections() {
    let source = "export default { async connect(socket) {
        const { localAddress } = await socket.opened;
        const writer = socket.writable.getWriter();
        await writer.write(new TextEncoder().encode(`${localAddress} `));
        for await (const chunk of socket.readable) await writer.write(chunk);
        await writer.close();
      } };";
    let keypair = keypair();
    let tls = TlsOptions { keypair: Some(keypair.clone()), ..TlsOptions::default() };
    let config = Config {
        services: vec![site::worker_service("main", site::worker(source, &[], Vec::new()))],
        sockets: vec![
            socket("plain", SocketProtocol::Tcp { tls: None }, "main"),
            socket("secure", SocketProtocol::Tcp { tls: Some(tls) }, "main"),
        ],
        ..Config::default()
    };
    let (graph, _host) = site::start(&config).await.expect("starts");
    let addresses = serve(&graph, &config).await;
    let mut stream = TcpStream::connect(addresses[0]).await.expect("connects");
    stream.write_all(b"echo").await.expect("writes");
    stream.shutdown().await.expect("ends");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("reads");
    assert_eq!(text, format!("{} echo", addresses[0]));

    // The other one is reached by a Worker, over TLS.
    let protocol =
        ExternalProtocol::Tcp { tls: Some(trusting(&keypair)), certificate_host: Some("localhost".to_owned()) };
    let body = "const s = env.SERVICE.connect('any:1'); await say(s, 'secret'); return await read(s.readable);";
    assert_eq!(run(body, external(addresses[1], protocol)).await, format!("{} secret", addresses[1]));
    let protocol = ExternalProtocol::Tcp { tls: Some(TlsOptions::default()), certificate_host: None };
    let refused = "Error: proxy request failed, cannot connect to the specified address";
    assert_eq!(run(body, external(addresses[1], protocol)).await, refused);
}

#[tokio::test]
async fn a_connection_goes_on_over_tls() {
    let keypair = keypair();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(server_config(&keypair)));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let port = listener.local_addr().expect("bound").port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("somebody");
        stream.write_all(b"ready").await.expect("writes");
        let mut stream = acceptor.accept(stream).await.expect("TLS");
        let mut asked = [0; 3];
        stream.read_exact(&mut asked).await.expect("reads");
        stream.write_all(b"secret").await.expect("writes");
        stream.shutdown().await.expect("ends");
    });
    let rules = AddressRules { allow: vec!["private".into()], deny: Vec::new() };
    let service = ServiceKind::Network(Network { rules, tls: Some(trusting(&keypair)) });
    let body = format!(
        "const s = connect('localhost:{port}', {{ secureTransport: 'starttls' }});
         const reader = s.readable.getReader();
         const greeting = new TextDecoder().decode((await reader.read()).value); reader.releaseLock();
         const secure = s.startTls(); await secure.opened;
         const writer = secure.writable.getWriter(); await writer.write(new TextEncoder().encode('ask'));
         let again; try {{ s.startTls(); }} catch (error) {{ again = error.name; }}
         return `${{greeting}} ${{await read(secure.readable)}} ${{s.upgraded}} ${{secure.secureTransport}} ${{again}}`;"
    );
    assert_eq!(run(&body, service).await, "ready secret true on TypeError");
}

fn server_config(keypair: &TlsKeypair) -> rustls::ServerConfig {
    use rustls_pki_types::pem::PemObject;
    let chain = rustls_pki_types::CertificateDer::from_pem_slice(keypair.certificate_chain.as_bytes()).expect("PEM");
    let key = rustls_pki_types::PrivateKeyDer::from_pem_slice(keypair.private_key.as_bytes()).expect("PEM");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    builder.expect("versions").with_no_client_auth().with_single_cert(vec![chain], key).expect("a pair")
}

#[tokio::test]
async fn requests_go_over_tls() {
    let (ours, theirs) = (keypair(), keypair());
    let server = TlsOptions { keypair: Some(ours.clone()), ..TlsOptions::default() };
    let strict = TlsOptions {
        require_client_certs: true,
        trusted_certificates: vec![theirs.certificate_chain.clone()],
        min_version: TlsVersion::Tls1Dot3,
        ..server.clone()
    };
    let https = |tls| SocketProtocol::Https { options: HttpOptions::default(), tls };
    let source = "export default { fetch(request) { return new Response(`${request.method} ${request.url}`); } };";
    let config = Config {
        services: vec![site::worker_service("main", site::worker(source, &[], Vec::new()))],
        sockets: vec![socket("open", https(server), "main"), socket("strict", https(strict), "main")],
        ..Config::default()
    };
    let (graph, _host) = site::start(&config).await.expect("starts");
    let addresses = serve(&graph, &config).await;
    let known = TlsOptions { keypair: Some(theirs.clone()), ..trusting(&ours) };
    let stranger = TlsOptions { keypair: Some(ours.clone()), ..trusting(&ours) };
    let cases = [
        (addresses[0], trusting(&ours), "localhost", Ok(())),
        (addresses[0], trusting(&theirs), "localhost", Err(())),
        (addresses[0], trusting(&ours), "elsewhere", Err(())),
        (addresses[1], known, "localhost", Ok(())),
        (addresses[1], trusting(&ours), "localhost", Err(())),
        (addresses[1], stranger, "localhost", Err(())),
    ];
    let body =
        "const r = await env.SERVICE.fetch('http://shop/a', { method: 'POST', body: 'b' }); return await r.text();";
    for (index, (address, tls, host, expected)) in cases.into_iter().enumerate() {
        let certificate_host = Some(host.to_owned());
        let protocol = ExternalProtocol::Https { options: HttpOptions::default(), tls, certificate_host };
        let got = run(body, external(address, protocol)).await;
        match expected {
            Ok(()) => assert_eq!(got, "POST https://shop/a", "case {index}"),
            Err(()) => assert!(got.starts_with("Error: Network connection lost"), "case {index}: {got}"),
        }
    }
    // By the URL's own scheme and host.
    let rules = AddressRules { allow: vec!["private".into()], deny: Vec::new() };
    let port = addresses[0].port();
    let by_url = format!("return await (await fetch('https://localhost:{port}/b')).text();");
    let trusted = ServiceKind::Network(Network { rules: rules.clone(), tls: Some(trusting(&ours)) });
    assert_eq!(run(&by_url, trusted).await, format!("GET https://localhost:{port}/b"));
    let got = run(&by_url, ServiceKind::Network(Network { rules, tls: None })).await;
    assert!(got.starts_with("Error: Network connection lost"), "{got}");
}

#[tokio::test]
async fn sockets_need_their_keys() {
    let bad = TlsKeypair { private_key: "none".into(), certificate_chain: "none".into() };
    let cases = [
        (TlsOptions::default(), "Socket \"s\": tlsOptions: a server needs `tlsOptions.keypair`."),
        (
            TlsOptions { keypair: Some(bad), ..TlsOptions::default() },
            "Socket \"s\": tlsOptions: `certificateChain` is not PEM text of the kind that is needed.",
        ),
        (
            TlsOptions { keypair: Some(keypair()), require_client_certs: true, ..TlsOptions::default() },
            "Socket \"s\": tlsOptions: `requireClientCerts` needs authorities to trust.",
        ),
    ];
    for (tls, expected) in cases {
        let config = Config {
            services: vec![site::worker_service("main", site::worker("export default {};", &[], Vec::new()))],
            sockets: vec![socket("s", SocketProtocol::Tcp { tls: Some(tls) }, "main")],
            ..Config::default()
        };
        let (graph, _host) = site::start(&config).await.expect("starts");
        let error = Server::bind(&graph, &config.sockets).await.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expected));
    }
}
