//! Stopping: nothing new, what is in flight may finish, and not for ever.

use std::time::Duration;

use loaderd_harness::service::ServiceBounds;

use crate::client::{Does, Host, Service, on_one_thread, read, request};

#[test]
fn a_pass_in_flight_may_finish() {
    on_one_thread(async {
        let mut service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        let host = Host::new(Does::Answer);
        let pass = request(&connection.executor, "call", Some(&host)).send();
        host.called.notified().await;
        service.tell_to_stop();
        let answer = pass.promise.await.expect("an answer");
        let outcome = answer.get().and_then(|answer| answer.get_outcome()).and_then(read).expect("an outcome");
        assert!(outcome.starts_with("success "), "{outcome}");
        let path = service.path.clone();
        service.stopped().await;
        assert!(!path.exists(), "the socket's file is removed");
    });
}

#[test]
fn a_pass_that_does_not_finish_is_cancelled() {
    on_one_thread(async {
        let bounds = ServiceBounds { drain_time_max: Duration::ZERO, ..ServiceBounds::default() };
        let mut service = Service::start(bounds).await;
        let connection = service.connect().await;
        let host = Host::new(Does::Never);
        let pass = request(&connection.executor, "call", Some(&host)).send();
        host.called.notified().await;
        service.tell_to_stop();
        assert!(pass.promise.await.is_err(), "the connection is closed");
        service.alive(0).await;
        service.stopped().await;
    });
}
