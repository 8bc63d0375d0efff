//! How long bodies are: what an HTTP client is told, and what becomes of bodies that are not as long as they were said to be.

use loaderd_loader::graph::Patience;

use crate::wire::Site;

/// Answers each path with another kind of body.
const WORKER: &str = "const hello = () => new TextEncoder().encode('hello');
const fixed = (length) => {
  const { readable, writable } = new FixedLengthStream(length);
  const writer = writable.getWriter();
  Promise.all([writer.write(hello()), writer.close()]).catch(() => {});
  return readable;
};
const expected = (length) => new ReadableStream({ type: 'bytes', expectedLength: length, start(c) { c.enqueue(hello()); c.close(); } });
const unknown = () => new ReadableStream({ start(c) { c.enqueue(hello()); c.close(); } });
const bodies = {
  '/text': () => 'hello', '/fixed': () => fixed(5), '/expected': () => expected(5), '/unknown': unknown, '/null': () => null,
  '/blob': () => new Blob(['hello']).stream(), '/again': () => new Response('hello').body,
  '/short': () => expected(9), '/long': () => expected(3), '/fixed_short': () => fixed(9),
};
let ended = '';
export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === '/ended') return new Response(ended);
    if (pathname === '/echo') return new Response(request.body);
    if (pathname === '/no_content') return new Response(null, { status: 204 });
    if (pathname === '/not_modified') return new Response(null, { status: 304, headers: { 'content-length': '7', etag: 'a' } });
    if (pathname === '/in_peace') {
      const { readable, writable } = new FixedLengthStream(5);
      const writer = writable.getWriter();
      request.signal.addEventListener('abort', () => { ended += 'aborted '; });
      ctx.waitUntil((async () => {
        try { await writer.write(hello()); await scheduler.wait(20); await writer.close(); ended += 'closed'; }
        catch (error) { ended += `${error}`; }
      })());
      return new Response(readable);
    }
    const headers = searchParams.has('said') ? { 'content-length': searchParams.get('said') } : {};
    return new Response(bodies[pathname](), { headers });
  },
};";

/// The framing of an answer, and its body as it came.
fn framing(answer: &str) -> (Option<&str>, &str) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((answer, ""));
    let framed = |line: &&str| {
        let line = line.to_ascii_lowercase();
        line.starts_with("content-length") || line.starts_with("transfer-encoding")
    };
    (head.lines().find(framed).map(|line| line.split_once(": ").map_or(line, |(_, value)| value)), body)
}

#[tokio::test]
async fn lengths_are_told_and_kept() {
    let site = Site::start(WORKER, &["enable_request_signal"], Patience::default()).await;
    const CHUNKS: &str = "5\r\nhello\r\n0\r\n\r\n";
    let cases = [
        ("GET /text", Some("5"), "hello"),
        ("GET /fixed", Some("5"), "hello"),
        ("GET /expected", Some("5"), "hello"),
        ("GET /blob", Some("5"), "hello"),
        ("GET /again", Some("5"), "hello"),
        ("GET /unknown", Some("chunked"), CHUNKS),
        ("GET /null", Some("0"), ""),
        // What a Worker says of the length of a body counts for nothing.
        ("GET /text?said=3", Some("5"), "hello"),
        ("GET /unknown?said=3", Some("chunked"), CHUNKS),
        ("GET /fixed?said=9", Some("5"), "hello"),
        ("GET /null?said=9", Some("0"), ""),
        // Bodies of another length break off.
        ("GET /short", Some("9"), "hello"),
        ("GET /long", Some("3"), ""),
        ("GET /fixed_short", Some("9"), "hello"),
        // Without a body: the length it would have.
        ("HEAD /text", Some("5"), ""),
        ("HEAD /fixed", Some("5"), ""),
        ("HEAD /unknown", None, ""),
        ("HEAD /unknown?said=12", Some("12"), ""),
        ("HEAD /null", None, ""),
        ("GET /no_content", None, ""),
        ("GET /not_modified", None, ""),
        ("HEAD /not_modified", Some("7"), ""),
    ];
    for (line, length, body) in cases {
        let mut wire = site.connect().await;
        wire.send(format!("{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes()).await;
        let answer = String::from_utf8_lossy(&wire.rest().await).into_owned();
        assert_eq!(framing(&answer), (length, body), "{line}");
    }
    // A body that comes in is as long as its client says.
    let long = "x".repeat(200_000);
    let mut wire = site.connect().await;
    let head = format!("POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", long.len());
    wire.send(format!("{head}{long}").as_bytes()).await;
    let answer = String::from_utf8_lossy(&wire.rest().await).into_owned();
    assert!(framing(&answer) == (Some("200000"), &*long), "{}", &answer[..200]);
    // Who has written all of it closes in peace.
    assert_eq!(site.ask("/in_peace").await, "hello");
    assert_eq!(site.ask("/ended").await, "closed");
    site.stop().await;
}
