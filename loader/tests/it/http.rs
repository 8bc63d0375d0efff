//! Requests that no good client sends: refused clearly, or read so that nobody can be led astray, and the server lives.

use std::time::Duration;

use loaderd_loader::graph::{HEAD_BYTES_MAX, Patience};

use crate::wire::Site;

/// Answers with the method, the path and the length of the body.
const WORKER: &str = "export default {
  async fetch(request) {
    let length = 0;
    try {
      for await (const chunk of request.body ?? []) length += chunk.byteLength;
    } catch (error) {
      return new Response(`no body: ${error.message}`, { status: 400 });
    }
    return new Response(`${request.method} ${new URL(request.url).pathname} ${length}!`);
  },
};";

/// What a client sends, and what it is told: the status of each answer, and the Worker's texts where it was reached.
struct Case {
    name: &'static str,
    request: String,
    statuses: &'static [u16],
    texts: &'static [&'static str],
}

fn case(
    name: &'static str,
    request: impl Into<String>,
    statuses: &'static [u16],
    texts: &'static [&'static str],
) -> Case {
    Case { name, request: request.into(), statuses, texts }
}

/// A refusal that the Worker sees nothing of, after which nothing is read.
fn refused(name: &'static str, request: impl Into<String>) -> Case {
    case(name, request, &[400], &[])
}

fn post(headers: &str, body: &str) -> String {
    format!("POST /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n\r\n{body}")
}

fn get(headers: &str) -> String {
    format!("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n")
}

fn chunked(body: &str) -> String {
    post("Transfer-Encoding: chunked", body)
}

const SMUGGLED: &str = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const BROKEN: &[&str] = &["no body: Network connection lost."];

fn cases() -> Vec<Case> {
    let mut cases = vec![
        // Two lengths: one is believed, and nothing after it.
        case(
            "length_and_chunks",
            post("Content-Length: 5\r\nTransfer-Encoding: chunked", SMUGGLED),
            &[200],
            &["POST /a 0!"],
        ),
        case(
            "chunks_and_length",
            post("Transfer-Encoding: chunked\r\nContent-Length: 5", SMUGGLED),
            &[200],
            &["POST /a 0!"],
        ),
        refused("two_lengths", post("Content-Length: 3\r\nContent-Length: 4", "abcd")),
        refused("a_list_of_lengths", post("Content-Length: 3, 3", "abc")),
        refused("chunks_that_end_otherwise", post("Transfer-Encoding: chunked, identity", "abc")),
        refused("chunks_in_two_lines", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "abc")),
        refused("chunks_with_a_parameter", post("Transfer-Encoding: chunked;q=1", "abc")),
        refused("chunks_behind_a_tab", post("Transfer-Encoding: \u{b}chunked", "abc")),
        refused("an_unknown_coding", post("Transfer-Encoding: xchunked", "abc")),
        refused("no_coding", post("Transfer-Encoding: ", "abc")),
        refused("chunks_in_http_1_0", "POST /a HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        // Lines.
        refused("a_folded_line", get("X-A: b\r\n c\r\n")),
        refused("a_folded_coding", post("Transfer-Encoding:\r\n chunked", "0\r\n\r\n")),
        refused("a_space_before_the_colon", post("Content-Length : 3", "abc")),
        refused("a_carriage_return_in_a_value", get("X-A: a\rb\r\n")),
        refused("a_zero_in_a_value", get("X-A: a\0b\r\n")),
        refused("a_zero_in_a_name", get("X\0: a\r\n")),
        refused("a_line_without_a_colon", get("Xa\r\n")),
        refused("a_line_without_a_name", get(": a\r\n")),
        // Places.
        refused("two_hosts", get("Host: b\r\n")),
        refused("a_host_that_is_none", "GET /a HTTP/1.1\r\nHost: a b/c@d\r\n\r\n"),
        refused("a_target_elsewhere", "GET http://b/a HTTP/1.1\r\nHost: a\r\n\r\n"),
        refused("a_target_without_a_path", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n"),
        // First lines.
        refused("a_method_that_is_none", "G<T /a HTTP/1.1\r\nHost: a\r\n\r\n"),
        case("an_unknown_method", "FROB /a HTTP/1.1\r\nHost: a\r\n\r\n", &[501], &[]),
        case("a_tunnel", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", &[501], &[]),
        refused("an_unknown_version", "GET /a HTTP/1.2\r\nHost: a\r\n\r\n"),
        refused("no_version", "GET /a\r\n"),
        refused("tls", "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}"),
        case("the_preface_of_http_2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[], &[]),
        // Sizes.
        case("a_head_that_is_too_long", get(&format!("X: {}\r\n", "a".repeat(3 * HEAD_BYTES_MAX))), &[431], &[]),
        case("too_many_lines", get(&"X: a\r\n".repeat(2_000)), &[431], &[]),
        case(
            "a_target_that_is_too_long",
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(70_000)),
            &[414],
            &[],
        ),
        case(
            "trailers_that_are_too_long",
            chunked(&format!("0\r\nX: {}\r\n\r\n", "a".repeat(100_000))),
            &[400],
            BROKEN,
        ),
        // Bodies that break off.
        case("no_size_of_a_chunk", chunked("\r\nabc\r\n0\r\n\r\n"), &[400], BROKEN),
        case("a_size_that_is_none", chunked("zz\r\nabc\r\n0\r\n\r\n"), &[400], BROKEN),
        case("a_negative_size", chunked("-3\r\nabc\r\n0\r\n\r\n"), &[400], BROKEN),
        case("a_size_with_a_sign", chunked("+3\r\nabc\r\n0\r\n\r\n"), &[400], BROKEN),
        case("a_size_with_a_prefix", chunked("0x3\r\nabc\r\n0\r\n\r\n"), &[400], BROKEN),
        case("a_size_beyond_64_bits", chunked("fffffffffffffffff\r\nabc"), &[400], BROKEN),
        case("a_chunk_longer_than_its_size", chunked("3\r\nabcd\r\n0\r\n\r\n"), &[400], BROKEN),
        case("chunks_ended_by_line_feeds", chunked("3\nabc\n0\n\n"), &[400], BROKEN),
        case(
            "an_endless_extension",
            chunked(&format!("3;{}\r\nabc\r\n0\r\n\r\n", "a".repeat(200_000))),
            &[400],
            BROKEN,
        ),
        case("a_chunk_that_is_cut_off", chunked("5\r\nab"), &[400], BROKEN),
        case("a_body_that_is_cut_off", post("Content-Length: 10", "ab"), &[400], BROKEN),
        // What is unusual and right.
        case("an_extension", chunked("3;a=b\r\nabc\r\n0\r\n\r\n"), &[200], &["POST /a 3!"]),
        case("a_trailer", chunked("3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n"), &[200], &["POST /a 3!"]),
        case("the_same_length_twice", post("Content-Length: 3\r\nContent-Length: 3", "abc"), &[200], &["POST /a 3!"]),
        case("many_lines", get(&"X: a\r\n".repeat(900)), &[200], &["GET /a 0!"]),
        case("empty_lines_first", format!("\r\n\r\n{}", get("")), &[200], &["GET /a 0!"]),
        case("an_upgrade_that_nobody_knows", get("Connection: Upgrade\r\nUpgrade: h2c\r\n"), &[200], &["GET /a 0!"]),
        case(
            "three_at_once",
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc\
             GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            &[200, 200, 200],
            &["GET /1 0!", "POST /2 3!", "GET /3 0!"],
        ),
    ];
    for length in ["+3", "-3", "0x3", "3a", "", "99999999999999999999"] {
        cases.push(refused("a_length_that_is_none", post(&format!("Content-Length: {length}"), "abc")));
    }
    cases
}

/// The status lines in what a server sent.
fn statuses(answer: &str) -> Vec<u16> {
    let lines = answer.split("HTTP/1.1 ").skip(1);
    lines.filter_map(|line| line.get(..3)?.parse().ok()).collect()
}

#[tokio::test]
async fn no_request_leads_the_server_astray() {
    let site = Site::start(WORKER, &[], Patience::default()).await;
    let mut wrong = Vec::new();
    for Case { name, request, statuses: expected, texts } in cases() {
        let mut wire = site.connect().await;
        let bytes: Vec<u8> = request.chars().map(|char| char as u8).collect();
        wire.send(&bytes).await;
        if name.ends_with("_cut_off") {
            wire.finish().await;
        }
        let answer = String::from_utf8_lossy(&wire.rest().await).into_owned();
        let mut rest = &*answer;
        let all_there = texts.iter().all(|text| match rest.find(text) {
            Some(at) => {
                rest = &rest[at + text.len()..];
                true
            }
            None => false,
        });
        let reached = answer.matches('!').count();
        let expected_reached = texts.iter().filter(|text| text.ends_with('!')).count();
        if statuses(&answer) != expected || !all_there || reached != expected_reached {
            wrong.push(format!("{name}: {}", answer.chars().take(300).collect::<String>()));
        }
        // Others are served all the while.
        let mut other = site.connect().await;
        other.send(b"GET /well HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").await;
        let answer = other.rest().await;
        assert!(answer.ends_with(b"GET /well 0!"), "{name}: {}", String::from_utf8_lossy(&answer));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    site.stop().await;
}

#[tokio::test]
async fn clients_that_take_their_time_are_let_go() {
    let patience = Patience { head: Duration::from_millis(50), body: Duration::from_millis(50) };
    let site = Site::start(WORKER, &[], patience).await;
    let cases: [(&str, &str, &str); 4] = [
        ("no_head", "", ""),
        ("half_a_head", "GET /a HTTP/1.1\r\nHost: a\r\n", ""),
        (
            "half_a_body",
            "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
            "no body: Network connection lost.",
        ),
        (
            "half_a_chunk",
            "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc",
            "no body: Network connection lost.",
        ),
    ];
    for (name, sent, told) in cases {
        let mut wire = site.connect().await;
        wire.send(sent.as_bytes()).await;
        let answer = String::from_utf8_lossy(&wire.rest().await).into_owned();
        assert!(answer.ends_with(told), "{name}: {answer}");
    }
    // Slow is not silent: each piece comes in time.
    let mut wire = site.connect().await;
    wire.send(b"POST /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 40\r\n\r\n").await;
    for _ in 0..40 {
        tokio::time::sleep(Duration::from_millis(2)).await;
        wire.send(b"x").await;
    }
    let answer = wire.rest().await;
    assert!(answer.ends_with(b"POST /slow 40!"), "{}", String::from_utf8_lossy(&answer));
    site.stop().await;
}

/// A Worker that knows how many of its clients went before they had all.
const TOLD: &str = "let gone = '';
export default {
  async fetch(request) {
    if (request.url.endsWith('/gone')) return new Response(gone);
    const body = new ReadableStream({
      pull(controller) { controller.enqueue(new Uint8Array(65536)); },
      cancel() { gone += 'one;'; },
    });
    return new Response(body);
  },
};";

#[tokio::test]
async fn clients_that_go_early_are_noticed() {
    let site = Site::start(TOLD, &[], Patience::default()).await;
    let mut wire = site.connect().await;
    wire.send(b"GET /endless HTTP/1.1\r\nHost: a\r\n\r\n").await;
    // It is being answered, with more than fits anywhere.
    assert_eq!(wire.take(200_000).await.len(), 200_000);
    drop(wire);
    assert_eq!(site.ask("/gone").await, "one;");
    // In the middle of what they send.
    for request in [post("Content-Length: 9", "abc"), chunked("9\r\nabc"), "GET / HT".to_owned()] {
        let mut wire = site.connect().await;
        wire.send(request.as_bytes()).await;
        drop(wire);
    }
    assert!(site.ask("/gone").await.starts_with("one;"));
    site.stop().await;
}
