//! WebSocket messages compressed on the wire (RFC 7692): what is agreed on, what comes in and goes out, and what is refused.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress};
use loaderd_loader::config::{AddressRules, Config, Network, ServiceDesignator, ServiceKind};
use loaderd_loader::graph::Patience;

use crate::site::{service, start, test_of, worker, worker_service};
use crate::websocket::{CLOSE, KEY, TEXT, close, handshake, raw};
use crate::wire::{Site, Wire};

/// Sends back what it gets, or how long it is.
const WORKER: &str = "export default {
  async fetch(request) {
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    server.addEventListener('message', ({ data }) => server.send(data.length > 1000 ? `${data.length}` : data));
    const wanted = new URL(request.url).searchParams.get('wanted');
    const headers = wanted === null ? {} : { 'sec-websocket-extensions': wanted };
    return new Response(null, { status: 101, webSocket: client, headers });
  },
};";

const DEFLATED: u8 = 0x40;
const LAST: u8 = 0x80;
const CONTINUES: u8 = 0;
const PING: u8 = 9;

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut compress = Compress::new(Compression::default(), false);
    let mut output = Vec::with_capacity(bytes.len() + 100);
    compress.compress_vec(bytes, &mut output, FlushCompress::Sync).expect("compresses");
    assert!(output.ends_with(&[0, 0, 0xff, 0xff]));
    output.truncate(output.len() - 4);
    output
}

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::with_capacity(10_000);
    let input = [bytes, &[0, 0, 0xff, 0xff]].concat();
    Decompress::new(false).decompress_vec(&input, &mut output, FlushDecompress::Sync).expect("decompresses");
    output
}

/// Opens a connection that offers something; the answer to the offer.
async fn open(site: &Site, path: &str, offer: &str) -> (Wire, Option<String>) {
    let mut wire = site.connect().await;
    let offer = format!("{KEY}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: {offer}\r\n");
    wire.send(&handshake(path, &offer)).await;
    let head = String::from_utf8_lossy(&wire.until(b"\r\n\r\n").await).into_owned();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    let answer = head.lines().find_map(|line| line.strip_prefix("sec-websocket-extensions: "));
    (wire, answer.map(str::to_owned))
}

/// The next frame: its first byte, and the payload as it is on the wire.
async fn next(wire: &mut Wire) -> (u8, Vec<u8>) {
    let head = wire.take(2).await;
    assert!(head[1] < 126, "a short frame");
    (head[0], wire.take(usize::from(head[1])).await)
}

#[tokio::test]
async fn what_is_offered_is_agreed_on() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let cases = [
        ("/", "permessage-deflate; client_max_window_bits", Some("permessage-deflate; client_max_window_bits=15")),
        (
            "/",
            "x-foo, permessage-deflate; server_no_context_takeover",
            Some("permessage-deflate; server_no_context_takeover"),
        ),
        ("/", "permessage-deflate; server_max_window_bits=9", None),
        ("/?wanted=permessage-deflate", "x-foo", None),
        ("/?wanted=none", "permessage-deflate", None),
    ];
    for (path, offer, answer) in cases {
        assert_eq!(open(&site, path, offer).await.1.as_deref(), answer, "{path} {offer}");
    }
    site.stop().await;
    let site = Site::start(WORKER, &["no_web_socket_compression"], Patience::default()).await;
    assert_eq!(open(&site, "/?wanted=permessage-deflate", "permessage-deflate").await.1, None, "an older Worker");
    site.stop().await;
}

#[tokio::test]
async fn messages_are_compressed_both_ways() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let hello = b"hello hello hello hello hello";
    let whole = deflated(hello);
    let (first, second) = whole.split_at(3);
    let frames = |frames: &[(u8, &[u8])]| frames.iter().flat_map(|(first, payload)| raw(*first, payload)).collect();
    let cases: [(&str, Vec<u8>, &[u8]); 6] = [
        ("whole", frames(&[(LAST | DEFLATED | TEXT, &whole)]), hello),
        ("plain", frames(&[(LAST | TEXT, hello)]), hello),
        ("parts", frames(&[(DEFLATED | TEXT, first), (CONTINUES, b""), (LAST | CONTINUES, second)]), hello),
        ("a ping between", frames(&[(DEFLATED | TEXT, first), (LAST | PING, b""), (LAST, second)]), hello),
        ("empty", frames(&[(LAST | DEFLATED | TEXT, b"\0")]), b""),
        ("long", frames(&[(LAST | DEFLATED | TEXT, &deflated(&vec![b'x'; 5_000_000]))]), b"5000000"),
    ];
    for (name, sent, got) in cases {
        let (mut wire, _) = open(&site, "/", "permessage-deflate").await;
        wire.send(&sent).await;
        let mut frame = next(&mut wire).await;
        if frame.0 == LAST | 10 {
            frame = next(&mut wire).await;
        }
        assert_eq!((frame.0, inflated(&frame.1)), (LAST | DEFLATED | TEXT, got.to_vec()), "{name}");
    }
    // One context for all messages, unless agreed otherwise.
    for (offer, same) in [("permessage-deflate", false), ("permessage-deflate; server_no_context_takeover", true)] {
        let (mut wire, _) = open(&site, "/", offer).await;
        let mut answers = Vec::new();
        for _ in 0..2 {
            wire.send(&raw(LAST | TEXT, b"said twice, sent once")).await;
            answers.push(next(&mut wire).await);
        }
        assert_eq!(answers[0] == answers[1], same, "{offer}");
    }
    site.stop().await;
}

#[tokio::test]
async fn what_is_not_compressed_or_too_large_is_refused() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let bomb = deflated(&vec![0; (32 << 20) + 1]);
    assert!(bomb.len() < 100_000, "it is small on the wire");
    let reserved = "Received a frame with reserved bits set";
    let cases: [(&str, Vec<u8>, u16, &str); 4] = [
        ("garbage", raw(LAST | DEFLATED | TEXT, &[0xff; 4]), 1002, "Invalid compressed data"),
        ("a bomb", raw(LAST | DEFLATED | TEXT, &bomb), 1009, "Message is too large"),
        ("a compressed ping", raw(LAST | DEFLATED | PING, b""), 1002, reserved),
        (
            "a compressed continuation",
            [raw(DEFLATED | TEXT, b"\0"), raw(LAST | DEFLATED | CONTINUES, b"")].concat(),
            1002,
            reserved,
        ),
    ];
    for (name, sent, code, reason) in cases {
        let (mut wire, _) = open(&site, "/", "permessage-deflate").await;
        wire.send(&sent).await;
        assert_eq!(next(&mut wire).await, (LAST | CLOSE, close(code, reason)), "{name}");
    }
    site.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_are_clients_too() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let run = async |flags: &[&str]| {
        let source = format!(
            "import {{ WorkerEntrypoint }} from 'cloudflare:workers';
             const once = (ws, type) => new Promise((r) => ws.addEventListener(type, r, {{ once: true }}));
             export default class extends WorkerEntrypoint {{
               async test() {{
                 const ws = new WebSocket('ws://{}/');
                 await once(ws, 'open');
                 const got = [];
                 for (const text of ['hello', '', 'x'.repeat(3_000_000), 'hello']) {{ ws.send(text); got.push((await once(ws, 'message')).data); }}
                 ws.close();
                 return JSON.stringify([ws.extensions, got]);
               }}
             }}",
            site.address
        );
        let rules = AddressRules { allow: vec!["private".into()], deny: Vec::new() };
        let mut main = worker(&source, flags, Vec::new());
        main.global_outbound = ServiceDesignator::to("network");
        let network = service("network", ServiceKind::Network(Network { rules, tls: None }));
        let config = Config { services: vec![worker_service("main", main), network], ..Config::default() };
        let (graph, _host) = start(&config).await.expect("the configuration is in order");
        test_of(&graph).await
    };
    assert_eq!(run(&[]).await, r#"["permessage-deflate",["hello","","3000000","hello"]]"#);
    assert_eq!(run(&["no_web_socket_compression"]).await, r#"[null,["hello","","3000000","hello"]]"#);
    site.stop().await;
}
