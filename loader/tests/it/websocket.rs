//! WebSockets on a socket, frame by frame as they are on the wire.

use std::time::Duration;

use loaderd_loader::graph::Patience;

use crate::wire::{Site, Wire};

/// Sends back what it gets, and does what it is told.
const WORKER: &str = "const seen = [];
export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/seen') return new Response(seen.join());
    if (request.headers.get('upgrade') !== 'websocket') return new Response('no upgrade;');
    if (pathname === '/refuse') return new Response('not here', { status: 403 });
    const [client, server] = Object.values(new WebSocketPair());
    server.accept({ allowHalfOpen: true });
    server.binaryType = 'arraybuffer';
    server.addEventListener('message', ({ data }) => {
      if (data === 'close') server.close(4001, 'asked');
      else if (data === 'throw') throw new Error('as it should');
      else if (data === 'many') for (let i = 0; i < 100; i++) server.send(`${i}`);
      else if (data === 'length') server.send('x'.repeat(70_000));
      else server.send(data.byteLength > 1000 || data.length > 1000 ? `${data.byteLength ?? data.length}` : data);
    });
    server.addEventListener('close', ({ code, reason, wasClean }) => {
      seen.push(`close ${code} ${wasClean}`);
      if (code === 1006) return;
      if (code === 1005) server.close();
      else server.close(code, `server ${reason}`);
    });
    server.addEventListener('error', ({ message }) => { seen.push(message); });
    return new Response(null, { status: 101, webSocket: client, headers: { 'sec-websocket-protocol': 'chat' } });
  },
};";

pub(crate) const TEXT: u8 = 1;
const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A client's frame: its first byte as it is, the payload masked.
pub(crate) fn raw(first: u8, payload: &[u8]) -> Vec<u8> {
    let key = [0x11, 0x22, 0x33, 0x44];
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length @ 126..65_536 => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(key);
    frame.extend(payload.iter().enumerate().map(|(at, byte)| byte ^ key[at % 4]));
    frame
}

/// A frame that is a whole message.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    raw(0x80 | opcode, payload)
}

pub(crate) fn close(code: u16, reason: &str) -> Vec<u8> {
    [&code.to_be_bytes(), reason.as_bytes()].concat()
}

/// A head that announces more than follows.
fn announced(opcode: u8, length: u64) -> Vec<u8> {
    [vec![0x80 | opcode, 0xff], length.to_be_bytes().to_vec(), vec![0; 4]].concat()
}

pub(crate) const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

pub(crate) fn handshake(path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{headers}\r\n").into_bytes()
}

async fn open(site: &Site) -> Wire {
    let mut wire = site.connect().await;
    wire.send(&handshake("/", &format!("{KEY}Sec-WebSocket-Version: 13\r\n"))).await;
    let head = String::from_utf8_lossy(&wire.until(b"\r\n\r\n").await).into_owned();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    wire
}

/// The next frame of the server: opcode and payload. `None` when it has closed.
async fn next(wire: &mut Wire) -> Option<(u8, Vec<u8>)> {
    let head = wire.take(2).await;
    let [first, second] = head[..] else { return None };
    assert_eq!(first & 0xf0, 0x80, "a whole message without extensions");
    let length = match second {
        126 => u64::from(u16::from_be_bytes(wire.take(2).await.try_into().ok()?)),
        127 => u64::from_be_bytes(wire.take(8).await.try_into().ok()?),
        length => u64::from(length),
    };
    Some((first & 0x0f, wire.take(usize::try_from(length).ok()?).await))
}

/// What a client sends after the handshake, what it gets, and whether the server closes then.
struct Case {
    name: &'static str,
    sent: Vec<Vec<u8>>,
    got: Vec<(u8, Vec<u8>)>,
    then: Then,
}

#[derive(PartialEq, Eq)]
enum Then {
    Closed,
    Open,
}

fn good(name: &'static str, sent: &[Vec<u8>], got: &[(u8, &[u8])]) -> Case {
    let got = got.iter().map(|(opcode, payload)| (*opcode, payload.to_vec())).collect();
    Case { name, sent: sent.to_vec(), got, then: Then::Open }
}

fn closed(name: &'static str, sent: &[Vec<u8>], code: u16, reason: &str) -> Case {
    Case { name, sent: sent.to_vec(), got: vec![(CLOSE, close(code, reason))], then: Then::Closed }
}

fn cases() -> Vec<Case> {
    let long = vec![b'x'; 100_000];
    let mut cut = "\u{1f600}".repeat(30_000).into_bytes();
    let second = cut.split_off(50_001);
    vec![
        good("text", &[frame(TEXT, b"hello")], &[(TEXT, b"hello")]),
        good("an_empty_text", &[frame(TEXT, b"")], &[(TEXT, b"")]),
        good("binary", &[frame(BINARY, b"\0\xff")], &[(BINARY, b"\0\xff")]),
        good("a_ping", &[frame(PING, b"are you there")], &[(PONG, b"are you there")]),
        good("an_unasked_pong", &[frame(PONG, b"x"), frame(TEXT, b"y")], &[(TEXT, b"y")]),
        good("a_long_text", &[frame(TEXT, &long)], &[(TEXT, b"100000")]),
        good("a_text_in_parts_of_our_own", &[frame(TEXT, &vec![b'x'; 3_000_000])], &[(TEXT, b"3000000")]),
        good("bytes_in_parts_of_our_own", &[frame(BINARY, &vec![7; 3_000_001])], &[(TEXT, b"3000001")]),
        good("a_long_answer", &[frame(TEXT, b"length")], &[(TEXT, &[b'x'; 70_000])]),
        good(
            "a_message_in_frames_around_a_ping",
            &[raw(TEXT, b"he"), frame(PING, b"p"), raw(0, b""), raw(0x80, b"llo")],
            &[(PONG, b"p"), (TEXT, b"hello")],
        ),
        good("a_character_in_two_frames", &[raw(TEXT, &cut), raw(0x80, &second)], &[(TEXT, b"60000")]),
        good(
            "a_length_in_its_long_form",
            &[[vec![0x81, 0xfe, 0, 1], vec![0; 4], b"x".to_vec()].concat()],
            &[(TEXT, b"x")],
        ),
        closed("a_close", &[frame(CLOSE, &close(1000, "bye"))], 1000, "server bye"),
        Case {
            name: "a_close_without_a_code",
            sent: vec![frame(CLOSE, b"")],
            got: vec![(CLOSE, vec![])],
            then: Then::Closed,
        },
        Case {
            name: "a_close_of_the_worker",
            sent: vec![frame(TEXT, b"close"), frame(CLOSE, &close(4001, ""))],
            got: vec![(CLOSE, close(4001, "asked"))],
            then: Then::Closed,
        },
        closed("a_worker_that_throws", &[frame(TEXT, b"throw")], 1011, "The Worker is gone."),
        closed("an_unmasked_frame", &[vec![0x81, 1, b'x']], 1002, "Received an unmasked frame from a client"),
        closed(
            "a_compressed_frame",
            &[raw(0xc1, b"x")],
            1002,
            "Received a WebSocket frame whose compression bit was set, but the compression extension was not negotiated for \
             this connect",
        ),
        closed("reserved_bits", &[raw(0xa1, b"x")], 1002, "Received a frame with reserved bits set"),
        closed("an_unknown_opcode", &[raw(0x83, b"x")], 1002, "Unknown opcode 3"),
        closed("an_unknown_control_opcode", &[raw(0x8b, b"x")], 1002, "Unknown opcode 11"),
        closed("a_ping_in_parts", &[raw(PING, b"x")], 1002, "Received fragmented control frame"),
        closed("a_close_in_parts", &[raw(CLOSE, b"\x03\xe8")], 1002, "Received fragmented control frame"),
        closed("a_long_ping", &[frame(PING, &[b'x'; 126])], 1002, "Received a control frame that is too large"),
        closed(
            "a_ping_that_claims_the_world",
            &[announced(PING, u64::MAX)],
            1002,
            "Received a control frame that is too large",
        ),
        closed("a_continuation_of_nothing", &[raw(0x80, b"x")], 1002, "Unexpected continuation frame"),
        closed("a_message_within_a_message", &[raw(TEXT, b"x"), frame(TEXT, b"y")], 1002, "Missing continuation frame"),
        closed("text_that_is_none", &[frame(TEXT, b"\xff\xfe")], 1007, "Received a text message that is not UTF-8"),
        closed(
            "text_that_is_cut_off",
            &[raw(TEXT, b"\xf0\x9f"), raw(0x80, b"\x98")],
            1007,
            "Received a text message that is not UTF-8",
        ),
        closed("half_a_code", &[frame(CLOSE, b"\x03")], 1002, "Received a Close frame with half a code"),
        closed(
            "a_code_that_none_may_send",
            &[frame(CLOSE, &close(1005, ""))],
            1002,
            "Received a Close frame with the code 1005",
        ),
        closed("a_code_below_all", &[frame(CLOSE, &close(0, ""))], 1002, "Received a Close frame with the code 0"),
        closed(
            "a_reason_that_is_no_text",
            &[frame(CLOSE, b"\x03\xe8\xff")],
            1007,
            "Received a Close frame whose reason is not UTF-8",
        ),
        closed(
            "a_message_too_large",
            &[announced(BINARY, 33 << 20)],
            1009,
            "Message is too large: 34603008 > 33554432",
        ),
        closed(
            "a_message_that_claims_the_world",
            &[announced(TEXT, u64::MAX)],
            1009,
            &format!("Message is too large: {} > 33554432", u64::MAX),
        ),
        closed(
            "a_message_too_large_in_frames",
            &[raw(BINARY, &[0; 1000]), announced(0, 32 << 20)],
            1009,
            "Message is too large: 33555432 > 33554432",
        ),
    ]
}

#[tokio::test]
async fn frames_are_answered_or_refused_by_the_book() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    for Case { name, sent, got, then } in cases() {
        let mut wire = open(&site).await;
        for frame in &sent {
            wire.send(frame).await;
        }
        for expected in &got {
            assert_eq!(next(&mut wire).await.as_ref(), Some(expected), "{name}");
        }
        if then == Then::Open {
            wire.send(&frame(TEXT, b"still")).await;
            assert_eq!(next(&mut wire).await, Some((TEXT, b"still".to_vec())), "{name}");
        } else {
            assert_eq!(next(&mut wire).await, None, "{name}");
        }
    }
    site.stop().await;
}

#[tokio::test]
async fn handshakes_that_cannot_be_granted_are_refused() {
    let version = "Sec-WebSocket-Version: 13\r\n";
    let cases: [(&str, Vec<u8>, &str, &str); 8] = [
        ("no_key", handshake("/", version), "400", "ERROR: Missing Sec-WebSocket-Key"),
        ("no_version", handshake("/", KEY), "426", "ERROR: The requested WebSocket version is not supported."),
        (
            "an_old_version",
            handshake("/", &format!("{KEY}Sec-WebSocket-Version: 8\r\n")),
            "426",
            "ERROR: The requested WebSocket version is not supported.",
        ),
        (
            "a_body",
            handshake("/", &format!("{KEY}{version}Content-Length: 1\r\n")),
            "400",
            "ERROR: A request for a WebSocket must not have a body.",
        ),
        (
            "a_post",
            handshake("/", &format!("{KEY}{version}")).into_iter().skip(3).collect::<Vec<u8>>(),
            "400",
            "ERROR: WebSocket must be initiated with a GET request.",
        ),
        ("a_worker_that_refuses", handshake("/refuse", &format!("{KEY}{version}")), "403", "not here"),
        (
            "no_connection_line",
            b"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n".to_vec(),
            "200",
            "no upgrade;",
        ),
        (
            "http_1_0",
            b"GET / HTTP/1.0\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n".to_vec(),
            "200",
            "no upgrade;",
        ),
    ];
    let site = Site::start(WORKER, &[], Patience::default()).await;
    for (name, mut request, status, text) in cases {
        if name == "a_post" {
            request = [b"POST".to_vec(), request].concat();
        }
        let mut wire = site.connect().await;
        wire.send(&request).await;
        let answer = String::from_utf8_lossy(&wire.until(text.as_bytes()).await).into_owned();
        assert!(answer.contains(&format!(" {status} ")) && answer.ends_with(text), "{name}: {answer}");
    }
    let mut wire = site.connect().await;
    wire.send(&handshake("/", &format!("{KEY}{version}Sec-WebSocket-Protocol: chat\r\n"))).await;
    let head = String::from_utf8_lossy(&wire.until(b"\r\n\r\n").await).to_lowercase();
    // The answer to the key that RFC 6455 gives.
    for line in
        ["sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=", "sec-websocket-protocol: chat", "upgrade: websocket"]
    {
        assert!(head.contains(line), "{head}");
    }
    drop(wire);
    site.stop().await;
}

#[tokio::test]
async fn a_worker_is_told_how_its_client_went() {
    let cases: [(&str, Option<Vec<u8>>, &str); 4] = [
        ("without_a_word", None, "close 1006 false"),
        ("in_a_frame", Some(frame(TEXT, b"hello")[..4].to_vec()), "close 1006 false"),
        ("in_a_message", Some(raw(TEXT, b"hello")), "close 1006 false"),
        (
            "in_breach_of_the_protocol",
            Some(raw(0x83, b"")),
            "Uncaught Error: WebSocket protocol error; protocolError.statusCode = 1002; \
             protocolError.description = Unknown opcode 3",
        ),
    ];
    for (name, sent, told) in cases {
        let site = Site::start(WORKER, &[], Patience::default()).await;
        let mut wire = open(&site).await;
        if let Some(sent) = &sent {
            wire.send(sent).await;
        }
        drop(wire);
        assert_eq!(site.ask("/seen").await, told, "{name}");
        site.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let mut wire = open(&site).await;
    wire.send(&frame(TEXT, b"hello")).await;
    assert_eq!(next(&mut wire).await, Some((TEXT, b"hello".to_vec())));
    let stopping = tokio::spawn(site.stop());
    assert_eq!(next(&mut wire).await, Some((CLOSE, close(1001, "The server is going away."))));
    assert_eq!(next(&mut wire).await, None);
    tokio::time::timeout(Duration::from_secs(30), stopping).await.expect("in time").expect("no panics");
}

/// Pours messages out for as long as they are taken.
const POUR: &str = "let sent = 0;
export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/sent') return new Response(`${sent} sent;`);
    const [client, server] = Object.values(new WebSocketPair());
    server.accept();
    const pour = () => {
      while (server.bufferedAmount < 100_000) { server.send('x'.repeat(10_000)); sent += 1; }
      if (sent < 10_000 && server.readyState === WebSocket.OPEN) setTimeout(pour, 1);
    };
    pour();
    return new Response(null, { status: 101, webSocket: client });
  },
};";

#[tokio::test]
async fn a_client_that_does_not_read_holds_its_worker_back() {
    let site = Site::start(POUR, &[], Patience::default()).await;
    let mut wire = open(&site).await;
    // Something is on its way, and the rest waits with the Worker.
    assert_eq!(next(&mut wire).await.map(|(opcode, payload)| (opcode, payload.len())), Some((TEXT, 10_000)));
    let mut last = String::new();
    for _ in 0..200 {
        let sent = site.ask("/sent").await;
        if sent == last {
            break;
        }
        last = sent;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let sent: usize = last.split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
    assert!(sent < 5_000, "{sent} messages of 10 kB left while nobody read");
    drop(wire);
    site.stop().await;
}
