//! Bodies that nobody reads: the response reaches the client all the same, and short ones leave the connection as it was.

use loaderd_loader::graph::{HEAD_BYTES_MAX, Patience, UNREAD_BYTES_MAX};

use crate::wire::Site;

/// Answers without reading more than it is asked to.
const WORKER: &str = "export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/some') await request.body.getReader().read();
    if (pathname === '/cancelled') await request.body.cancel();
    if (pathname === '/thrown') throw new Error('no');
    return new Response(`${pathname}!`);
  },
};";

/// More than the buffers of any connection hold.
const LONG: usize = 16 << 20;

fn short() -> usize {
    UNREAD_BYTES_MAX as usize - 1_000
}

fn with_length(path: &str, length: usize) -> Vec<u8> {
    let mut request = format!("POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    request.resize(request.len() + length, b'x');
    request
}

fn in_chunks(path: &str, length: usize) -> Vec<u8> {
    let mut request = format!("POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes();
    for _ in 0..length / 1_000 {
        request.extend_from_slice(b"3e8\r\n");
        request.resize(request.len() + 1_000, b'x');
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"0\r\n\r\n");
    request
}

#[tokio::test]
async fn short_ones_leave_the_connection_for_the_next_request() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let mut wire = site.connect().await;
    for path in ["/none", "/some", "/cancelled"] {
        for request in
            [with_length(path, 10), with_length(path, short()), in_chunks(path, 10_000), in_chunks(path, short())]
        {
            wire.send(&request).await;
            let answer = wire.until(format!("{path}!").as_bytes()).await;
            assert!(answer.starts_with(b"HTTP/1.1 200 OK\r\n"), "{path}: {}", String::from_utf8_lossy(&answer));
        }
    }
    wire.send(&with_length("/thrown", short())).await;
    let answer = wire.until(b"Internal Server Error").await;
    assert!(answer.starts_with(b"HTTP/1.1 500 "), "{}", String::from_utf8_lossy(&answer));
    wire.until(b"Internal Server Error").await;
    wire.send(b"GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
    assert!(wire.whole().await.ends_with(b"/last!"));
    site.stop().await;
}

#[tokio::test]
async fn long_ones_end_the_connection_after_the_response() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let head = vec![b'a'; 8 * HEAD_BYTES_MAX];
    let refused = |line: &str| [line.as_bytes(), &with_length("/refused", LONG)[4..]].concat();
    let cases = [
        ("a length", with_length("/none", LONG), "200", "/none!"),
        ("chunks", in_chunks("/none", LONG), "200", "/none!"),
        ("half read", with_length("/some", LONG), "200", "/some!"),
        ("cancelled", with_length("/cancelled", LONG), "200", "/cancelled!"),
        ("a Worker that fails", with_length("/thrown", LONG), "500", "Internal Server Error"),
        ("an unknown method", refused("FROB"), "501", "Unrecognized request method."),
        ("a head that is too long", [b"GET / HTTP/1.1\r\nHost: a\r\nX: ", &*head].concat(), "431", ""),
    ];
    for (name, request, status, end) in cases {
        let mut wire = site.connect().await;
        // A client that listens only when it has said everything.
        wire.send(&request).await;
        wire.finish().await;
        let answer = String::from_utf8_lossy(&wire.whole().await).into_owned();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{name}: {answer}");
        assert!(answer.ends_with(end), "{name}: {answer}");
    }
    site.stop().await;
}

#[tokio::test]
async fn a_body_that_waits_for_leave_is_not_asked_for() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let mut wire = site.connect().await;
    wire.send(b"POST /none HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100000\r\n\r\n").await;
    let answer = String::from_utf8_lossy(&wire.whole().await).into_owned();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("/none!"), "{answer}");
    // Until it goes, it is listened to.
    drop(wire);
    site.stop().await;
}
