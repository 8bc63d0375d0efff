//! Passes over the service: outcomes, hosts that break, clients that lose interest.

use loaderd_harness::service::ServiceBounds;
use loaderd_schema::executor_capnp::PROTOCOL_VERSION;

use crate::client::{Does, Host, Service, execute, on_one_thread, request};

#[test]
fn a_pass_answers_and_calls_its_host() {
    on_one_thread(async {
        let mut service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        let host = Host::new(Does::Answer);
        assert_eq!(execute(&connection.executor, "42", None).await, "success 42");
        assert_eq!(
            execute(&connection.executor, "call", Some(&host)).await,
            // The host's JSON as JavaScript reads it, which keeps the last of equal members, and writes it.
            r#"success {"_tag":"CodeHostCallSuccess","value":{"done":1}}"#
        );
        assert_eq!(*host.calls.borrow(), [r#"tools.work {"n":1}"#]);
        service.alive(0).await;
        service.stopped().await;
    });
}

#[test]
fn the_service_describes_itself() {
    on_one_thread(async {
        let bounds = ServiceBounds { passes_in_flight_max: 3, ..ServiceBounds::default() };
        let service = Service::start(bounds).await;
        let connection = service.connect().await;
        let answer = connection.executor.describe_request().send().promise.await.expect("an answer");
        let description = answer.get().and_then(|answer| answer.get_description()).expect("a description");
        assert_eq!(description.get_protocol_version(), PROTOCOL_VERSION);
        assert_eq!(description.get_bounds().expect("bounds").get_passes_in_flight(), 3);
        service.stopped().await;
    });
}

#[test]
fn a_host_that_breaks_stays_a_host_that_broke() {
    on_one_thread(async {
        let service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        for (does, expected) in [
            (Does::Fail, "host defect Failed: "),
            // What a client says that forwards to a host whose own connection is lost.
            (Does::Vanish, "host defect Disconnected: "),
            (
                Does::AnswerWhatIsNoJson,
                "protocol error: The execution host returned a value outside the CodeHostCallResult schema",
            ),
        ] {
            let outcome = execute(&connection.executor, "call", Some(&Host::new(does))).await;
            assert!(outcome.starts_with(expected), "{does:?}: {outcome}");
        }
        let outcome = execute(&connection.executor, "call", None).await;
        assert_eq!(outcome, "host defect Unimplemented: tools.work was called, and this pass has no host");
        service.stopped().await;
    });
}

#[test]
fn dropping_the_call_cancels_the_pass() {
    on_one_thread(async {
        let mut service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        let host = Host::new(Does::Never);
        let pass = request(&connection.executor, "call", Some(&host)).send();
        host.called.notified().await;
        service.alive(1).await;
        drop(pass);
        host.dropped.notified().await;
        service.alive(0).await;
        // The connection is as good as before.
        assert_eq!(execute(&connection.executor, "1", None).await, "success 1");
        service.stopped().await;
    });
}

#[test]
fn a_call_the_program_left_behind_is_dropped_before_the_answer() {
    on_one_thread(async {
        let service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        let host = Host::new(Does::Answer);
        let outcome = execute(&connection.executor, "leave a call behind", Some(&host)).await;
        assert!(outcome.starts_with("success "), "{outcome}");
        host.dropped.notified().await;
        service.stopped().await;
    });
}

#[test]
fn a_client_that_vanishes_frees_everything() {
    on_one_thread(async {
        let mut service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        let hosts = [Host::new(Does::Never), Host::new(Does::Never)];
        let passes: Vec<_> =
            hosts.iter().map(|host| request(&connection.executor, "call", Some(host)).send()).collect();
        for host in &hosts {
            host.called.notified().await;
        }
        service.alive(2).await;
        drop(connection);
        service.alive(0).await;
        drop(passes);
        service.stopped().await;
    });
}

#[test]
fn requests_that_are_none_are_refused() {
    on_one_thread(async {
        let service = Service::start(ServiceBounds::default()).await;
        let connection = service.connect().await;
        type Change = fn(loaderd_schema::executor_capnp::code_execution_request::Builder<'_>);
        let rows: [(Change, &str); 4] = [
            (|mut request| request.set_protocol_version(99), "refused: we speak 1"),
            (
                |request| request.get_limits().expect("limits").set_host_calls(10_001),
                "refused: limits.maxHostCalls must be from 0 to 10000, and is 10001",
            ),
            (
                |request| request.get_limits().expect("limits").set_wall_time(0),
                "refused: limits.maxWallTime must be longer than zero",
            ),
            (
                |request| {
                    let mut namespaces = request.init_namespaces(1);
                    namespaces.reborrow().get(0).set_name("tools");
                    namespaces.get(0).init_methods(1).set(0, "if");
                },
                "refused: namespaces[0].methods[0] must not be the reserved word \"if\"",
            ),
        ];
        for (change, expected) in rows {
            let mut call = request(&connection.executor, "1", None);
            change(call.get().get_request().expect("a request"));
            let answer = call.send().promise.await.expect("an answer");
            let outcome = answer.get().and_then(|answer| answer.get_outcome()).and_then(crate::client::read);
            assert_eq!(outcome.expect("an outcome"), expected);
        }
        service.stopped().await;
    });
}
