//! What a client cannot make the service hold, and bytes that are no messages.

use loaderd_harness::service::ServiceBounds;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Does, Host, Service, execute, on_one_thread, request};

/// Runs a healthy pass on a new connection.
async fn still_serves(service: &Service) {
    let connection = service.connect().await;
    assert_eq!(execute(&connection.executor, "7", None).await, "success 7");
}

#[test]
fn one_pass_too_many_is_refused_and_the_connection_stays() {
    on_one_thread(async {
        let bounds = ServiceBounds { passes_in_flight_max: 2, ..ServiceBounds::default() };
        let mut service = Service::start(bounds).await;
        let connection = service.connect().await;
        let passes = [0, 1].map(|_| request(&connection.executor, "hang", None).send());
        service.alive(2).await;
        assert_eq!(execute(&connection.executor, "1", None).await, "refused: 2 in flight");
        // Another connection has an allowance of its own.
        still_serves(&service).await;
        drop(passes);
        service.alive(0).await;
        assert_eq!(execute(&connection.executor, "1", None).await, "success 1");
        service.stopped().await;
    });
}

#[test]
fn one_connection_too_many_is_told_so() {
    on_one_thread(async {
        let bounds = ServiceBounds { connections_max: 1, ..ServiceBounds::default() };
        let service = Service::start(bounds).await;
        let first = service.connect().await;
        assert_eq!(execute(&first.executor, "1", None).await, "success 1");
        let second = service.connect().await;
        let outcome = execute(&second.executor, "1", None).await;
        assert!(outcome.contains("too many connections: at most 1 are open at once"), "{outcome}");
        assert_eq!(execute(&first.executor, "2", None).await, "success 2");
        service.stopped().await;
    });
}

#[test]
fn calls_that_are_never_finished_close_the_connection() {
    on_one_thread(async {
        let bounds = ServiceBounds { calls_in_flight_max: 4, passes_in_flight_max: 100, ..ServiceBounds::default() };
        let mut service = Service::start(bounds).await;
        let connection = service.connect().await;
        let passes: Vec<_> = (0..8).map(|_| request(&connection.executor, "hang", None).send()).collect();
        let error = passes.into_iter().next().expect("eight").promise.await.err().expect("the connection is closed");
        assert!(error.to_string().contains("more than 4 calls in flight on one connection"), "{error}");
        service.alive(0).await;
        still_serves(&service).await;
        service.stopped().await;
    });
}

#[test]
fn a_message_full_of_capabilities_closes_the_connection() {
    on_one_thread(async {
        let bounds = ServiceBounds { capabilities_per_message_max: 0, ..ServiceBounds::default() };
        let service = Service::start(bounds).await;
        let connection = service.connect().await;
        let outcome = execute(&connection.executor, "call", Some(&Host::new(Does::Answer))).await;
        assert!(outcome.contains("1 capabilities in one message: at most 0 are accepted"), "{outcome}");
        still_serves(&service).await;
        service.stopped().await;
    });
}

#[test]
fn a_message_too_long_closes_the_connection() {
    on_one_thread(async {
        let bounds = ServiceBounds { message_bytes_max: 4096, ..ServiceBounds::default() };
        let service = Service::start(bounds).await;
        let connection = service.connect().await;
        let outcome = execute(&connection.executor, &"1".repeat(8192), None).await;
        assert!(outcome.starts_with("exception: "), "{outcome}");
        still_serves(&service).await;
        service.stopped().await;
    });
}

#[test]
fn bytes_that_are_no_messages_close_the_connection() {
    let rows: [(&str, &[u8]); 6] = [
        ("text", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("a table of segments without end", &[0xff; 64]),
        ("no segment", &[0, 0, 0, 0, 0, 0, 0, 0]),
        // One segment of one word: a pointer past the segment's end.
        ("a wild pointer", &[0, 0, 0, 0, 1, 0, 0, 0, 0xfc, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f]),
        // A pointer that points to itself.
        ("a cycle", &[0, 0, 0, 0, 1, 0, 0, 0, 0xfc, 0xff, 0xff, 0xff, 0, 0, 1, 0]),
        ("a message that never comes", &[0, 0, 0, 0, 0xff, 0, 0, 0, 1, 2, 3]),
    ];
    on_one_thread(async {
        let service = Service::start(ServiceBounds::default()).await;
        for (name, bytes) in rows {
            let mut socket = service.socket().await;
            socket.write_all(bytes).await.expect(name);
            socket.shutdown().await.expect(name);
            // Whatever it answers, it closes.
            let mut answer = Vec::new();
            let _ = socket.read_to_end(&mut answer).await;
            still_serves(&service).await;
        }
        service.stopped().await;
    });
}
