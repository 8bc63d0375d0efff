//! Bodies of connections as capabilities: what reads are answered with, how far ahead is read, how they end.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use loaderd_loader::fetch::{Body, CHUNK_BYTES_MAX};
use loaderd_runtime::rpc::plain::Plain;
use loaderd_runtime::rpc::{Call, Capability, Op, Reply, RpcError};
use tokio::runtime::Handle;

/// What a connection gives, one step a poll.
enum Step {
    Bytes(usize),
    /// Nothing yet; it is woken at once.
    Later,
    Breaks,
}

/// A connection that gives what the test says and counts what was taken.
struct Connection {
    steps: VecDeque<Step>,
    taken: Arc<AtomicUsize>,
    length: Option<u64>,
}

fn connection(length: Option<u64>, steps: impl IntoIterator<Item = Step>) -> (Connection, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    (Connection { steps: steps.into_iter().collect(), taken: Arc::clone(&taken), length }, taken)
}

impl http_body::Body for Connection {
    type Data = Bytes;
    type Error = String;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, String>>> {
        match self.steps.pop_front() {
            None => Poll::Ready(None),
            Some(Step::Bytes(length)) => {
                self.taken.fetch_add(length, Ordering::Relaxed);
                Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![7; length])))))
            }
            Some(Step::Later) => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Some(Step::Breaks) => Poll::Ready(Some(Err("cut".to_owned()))),
        }
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.length.map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
    }
}

/// The number of bytes a read is answered with; `None` at the end.
async fn read(source: &Arc<dyn Capability>, wanted: Option<u32>) -> Result<Option<usize>, RpcError> {
    let answer = ask(source, "read", wanted).await?;
    match answer {
        Plain::Bytes(_, bytes) => Ok(Some(bytes.len())),
        Plain::Null => Ok(None),
        _ => panic!("not an answer to read()"),
    }
}

async fn ask(source: &Arc<dyn Capability>, method: &str, argument: Option<u32>) -> Result<Plain, RpcError> {
    let (reply, answer) = Reply::channel();
    let arguments = Plain::arguments(argument.into_iter().map(Plain::from).collect()).expect("short arguments");
    drop(source.call(Call::new(vec![method.to_owned()], Op::Call(arguments)), reply));
    let message = answer.await.expect("an answer").result?;
    Ok(Plain::from_message(&message).expect("plain data"))
}

fn stream(body: Body) -> Arc<dyn Capability> {
    match body {
        Body::Stream { source, .. } => source,
        Body::Empty => panic!("an empty body"),
        Body::Bytes(bytes) => panic!("{} bytes at hand", bytes.len()),
    }
}

async fn settle() {
    for _ in 0..64 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn frames_that_are_there_are_answered_together_and_in_bounds() {
    let (body, taken) = connection(None, (0..4096).map(|_| Step::Bytes(1024)));
    let source = stream(Body::from_http(body, &Handle::current()));
    settle().await;
    assert_eq!(taken.load(Ordering::Relaxed), 0, "nothing is taken before somebody reads");
    let mut total = 0;
    while let Some(length) = read(&source, None).await.expect("bytes") {
        assert!(length > 0 && length <= CHUNK_BYTES_MAX, "a chunk of {length} bytes");
        total += length;
        settle().await;
        let ahead = taken.load(Ordering::Relaxed) - total;
        assert!(ahead <= CHUNK_BYTES_MAX, "{ahead} bytes were read ahead");
    }
    assert_eq!(total, 4096 * 1024);
}

#[tokio::test]
async fn a_reader_of_all_gets_many_bytes_at_once() {
    let steps = (0..64).flat_map(|_| [Step::Bytes(32 << 10), Step::Later]);
    let source = stream(Body::from_http(connection(None, steps).0, &Handle::current()));
    assert_eq!(read(&source, Some(1 << 20)).await, Ok(Some(1 << 20)));
    // More than may be asked for.
    assert_eq!(read(&source, Some(u32::MAX)).await, Ok(Some(1 << 20)));
    assert_eq!(read(&source, Some(1)).await, Ok(None));
}

#[tokio::test]
async fn a_broken_body_gives_what_came_and_then_its_failure_once() {
    for at_hand in [false, true] {
        let (body, _) = connection(Some(100), [Step::Bytes(10), Step::Breaks]);
        let tasks = Handle::current();
        let body = if at_hand { Body::from_http_at_hand(body, &tasks).await } else { Body::from_http(body, &tasks) };
        let source = stream(body);
        assert_eq!(read(&source, None).await, Ok(Some(10)));
        let failure = read(&source, None).await.expect_err("the failure");
        assert!(failure.disconnected, "{failure:?}");
        assert_eq!(failure.message, "Network connection lost: cut");
    }
}

#[tokio::test]
async fn a_short_body_that_is_there_is_at_hand() {
    let cases: [(&str, Option<u64>, Vec<Step>, Option<usize>); 5] = [
        ("whole", Some(6), vec![Step::Bytes(2), Step::Bytes(4)], Some(6)),
        ("after a turn", Some(2), vec![Step::Later, Step::Bytes(2)], Some(2)),
        ("slow", Some(2), vec![Step::Later, Step::Later, Step::Later, Step::Later, Step::Bytes(2)], None),
        ("of unknown length", None, vec![Step::Bytes(2)], None),
        ("long", Some(1 << 20), vec![Step::Bytes(1 << 20)], None),
    ];
    for (name, length, steps, expected) in cases {
        let total: usize = steps.iter().map(|step| if let Step::Bytes(length) = step { *length } else { 0 }).sum();
        match (Body::from_http_at_hand(connection(length, steps).0, &Handle::current()).await, expected) {
            (Body::Bytes(bytes), Some(expected)) => assert_eq!(bytes.len(), expected, "{name}"),
            (Body::Stream { source, .. }, None) => {
                assert_eq!(read(&source, u32::try_from(total).ok()).await, Ok(Some(total)), "{name}");
                assert_eq!(read(&source, None).await, Ok(None), "{name}");
            }
            (Body::Empty, _) => panic!("{name}: empty"),
            (Body::Bytes(_), None) | (Body::Stream { .. }, Some(_)) => panic!("{name}: the other kind of body"),
        }
    }
    let empty = http_body_util::Empty::<Bytes>::new();
    assert!(matches!(Body::from_http_at_hand(empty, &Handle::current()).await, Body::Empty));
}

#[tokio::test]
async fn cancelling_answers_who_waits_and_drops_the_connection() {
    let endless = futures::stream::pending::<Result<Frame<Bytes>, Infallible>>();
    let held = Arc::new(());
    let watched = Arc::downgrade(&held);
    let frames = futures::StreamExt::map(endless, move |frame| {
        let _held = &held;
        frame
    });
    let body = http_body_util::StreamBody::new(frames);
    let source = stream(Body::from_http(body, &Handle::current()));
    let (reply, answer) = Reply::channel();
    let call = || Call::new(vec!["read".to_owned()], Op::Call(Plain::arguments(Vec::new()).expect("none")));
    drop(source.call(call(), reply));
    settle().await;
    let second = read(&source, None).await.expect_err("one read at a time");
    assert_eq!(second.message, "A body is read by one reader, one read at a time.");
    assert!(watched.upgrade().is_some());
    ask(&source, "cancel", None).await.expect("cancelled");
    assert!(answer.await.expect("an answer").result.is_ok());
    settle().await;
    assert!(watched.upgrade().is_none(), "the connection's body is still held");
    assert_eq!(read(&source, None).await, Ok(None));
}
