//! Malformed and hostile bytes on the service's socket, and clients that break the protocol's rules. Whatever comes,
//! the answer is typed or the connection is closed, and the service serves others.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use capnp::message::{Builder, HeapAllocator};
use capnp_rpc::rpc_capnp;
use libtest_mimic::Trial;
use loaderd_schema::executor_capnp as schema;

use crate::case::{self, Case};
use crate::doors::capnp::{Connection, block_on, fill, pass_on, read};
use crate::expect::{self, Outcome};
use crate::healthy;
use crate::service::Service;

/// How long a closed connection may take to be seen as closed. A bound against hanging tests, not an expectation.
const CLOSE_WAIT: Duration = Duration::from_secs(20);

/// A test of a rule.
type Check = fn() -> Result<(), String>;

/// What becomes of the connection that sent the bytes.
#[derive(Clone, Copy)]
enum Then {
    /// The service closes it, with or without a last word.
    Closed,
    /// Nothing is wrong (yet): it stays open, and the client goes.
    Open,
}

pub(crate) fn trials() -> Vec<Trial> {
    let bytes = byte_attacks().into_iter().map(|(name, bytes, then)| {
        Trial::test(format!("hostile::bytes::{name}"), move || send(&bytes, then).map_err(Into::into))
    });
    let rules: Vec<(&str, Check)> = vec![
        ("wrong_protocol_version", wrong_protocol_version),
        ("requests_out_of_bounds", requests_out_of_bounds),
        ("too_many_passes", too_many_passes),
        ("no_host", no_host),
        ("host_that_vanishes", host_that_vanishes),
        ("host_answer_too_large", host_answer_too_large),
        ("connections_beyond_any_bound", connections_beyond_any_bound),
        ("termination_mid_pass", termination_mid_pass),
    ];
    let rules = rules
        .into_iter()
        .map(|(name, test)| Trial::test(format!("hostile::{name}"), move || test().map_err(Into::into)));
    bytes.chain(rules).collect()
}

/// Sends bytes, looks at what becomes of the connection, and sees whether the service still serves others: one that
/// was connected before, and a new one.
fn send(bytes: &[u8], then: Then) -> Result<(), String> {
    let service = Service::start(&[])?;
    let healthy = healthy::case();
    block_on(async {
        let before = Connection::open(&service).await?;
        healthy::checked(&before, &healthy).await?;
        attack(&service, bytes, then)?;
        healthy::checked(&before, &healthy).await?;
        healthy::checked(&Connection::open(&service).await?, &healthy).await
    })?;
    if service.runs() { Ok(()) } else { Err("the service ended".to_owned()) }
}

fn attack(service: &Service, bytes: &[u8], then: Then) -> Result<(), String> {
    let mut stream = UnixStream::connect(service.socket()).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(CLOSE_WAIT)).map_err(|error| error.to_string())?;
    stream.set_write_timeout(Some(CLOSE_WAIT)).map_err(|error| error.to_string())?;
    // The service may close before it has read everything; that is an answer too.
    let written = stream.write_all(bytes);
    if matches!(then, Then::Open) {
        return written.map_err(|error| error.to_string());
    }
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(format!("the connection was not closed: {error}")),
        }
    }
}

fn byte_attacks() -> Vec<(&'static str, Vec<u8>, Then)> {
    // A generator of its own, so that a failure is the same failure again.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0] | 1
    })
    .take(64 << 10)
    .collect();
    let bootstrap = bootstrap();
    let mut then_noise = bootstrap.clone();
    then_noise.extend_from_slice(&noise);
    let mut cut = bootstrap.clone();
    cut.truncate(bootstrap.len() - 5);
    vec![
        ("nothing", Vec::new(), Then::Open),
        ("noise", noise, Then::Closed),
        ("text", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(40), Then::Closed),
        ("half_a_header", vec![0, 0, 0], Then::Open),
        ("half_a_message", cut, Then::Open),
        ("bootstrap_then_noise", then_noise, Then::Closed),
        ("very_many_segments", [0xfe_u32.to_le_bytes().to_vec(), vec![0xff; 4096]].concat(), Then::Closed),
        ("more_segments_than_there_are", u32::MAX.to_le_bytes().repeat(1024), Then::Closed),
        ("a_huge_segment", [0_u32.to_le_bytes(), 0x7fff_ffff_u32.to_le_bytes()].concat(), Then::Closed),
        ("an_empty_message", [0_u32.to_le_bytes(), 0_u32.to_le_bytes()].concat(), Then::Closed),
        ("a_pointer_out_of_bounds", raw_message(&[0x7fff_fffc_0000_0000]), Then::Closed),
        ("a_pointer_to_itself", raw_message(&[0x0000_0001_ffff_fffc]), Then::Open),
        ("a_far_pointer_to_nowhere", raw_message(&[0x0000_0063_ffff_fffa]), Then::Closed),
        (
            "a_list_that_claims_the_world",
            raw_message(&[0x0001_0003_0000_0000, 0, 0, 0, 0xffff_ffff_0000_0001]),
            Then::Closed,
        ),
        ("a_call_on_nothing", rpc(|message| call_on(message, 77)), Then::Closed),
        ("a_finish_of_nothing", rpc(|message| message.init_finish().set_question_id(77)), Then::Open),
        ("a_return_of_nothing", rpc(|message| message.init_return().set_answer_id(77)), Then::Closed),
        ("a_release_of_nothing", rpc(release), Then::Closed),
        ("a_resolve_of_nothing", rpc(|message| message.init_resolve().set_promise_id(77)), Then::Open),
        ("an_abort", rpc(|message| message.init_abort().set_reason("no reason")), Then::Closed),
        ("level_three", rpc(|message| message.init_provide().set_question_id(1)), Then::Open),
        ("the_same_question_twice", [bootstrap.clone(), bootstrap.clone(), bootstrap].concat(), Then::Closed),
        ("very_many_questions", (0..20_000).flat_map(bootstrap_numbered).collect(), Then::Closed),
    ]
}

/// One segment of the given words.
fn raw_message(words: &[u64]) -> Vec<u8> {
    let length = u32::try_from(words.len()).unwrap_or(0);
    let header = [0_u32.to_le_bytes(), length.to_le_bytes()].concat();
    [header, words.iter().flat_map(|word| word.to_le_bytes()).collect()].concat()
}

fn rpc(build: impl FnOnce(rpc_capnp::message::Builder<'_>)) -> Vec<u8> {
    let mut message = Builder::new(HeapAllocator::new());
    build(message.init_root());
    capnp::serialize::write_message_to_words(&message)
}

fn bootstrap() -> Vec<u8> {
    bootstrap_numbered(0)
}

fn bootstrap_numbered(question: u32) -> Vec<u8> {
    rpc(|message| message.init_bootstrap().set_question_id(question))
}

fn call_on(message: rpc_capnp::message::Builder<'_>, export: u32) {
    let mut call = message.init_call();
    call.set_question_id(1);
    call.reborrow().init_target().set_imported_cap(export);
    call.set_interface_id(0xf70f_b734_e990_e375);
    call.init_params();
}

fn release(message: rpc_capnp::message::Builder<'_>) {
    let mut release = message.init_release();
    release.set_id(77);
    release.set_reference_count(u32::MAX);
}

/// What `execute` answers, the request changed as the test likes.
async fn execute(
    connection: &Connection,
    case: &Case,
    change: impl FnOnce(schema::code_execution_request::Builder<'_>),
) -> Result<capnp::capability::Response<schema::code_executor::execute_results::Owned>, String> {
    let mut request = connection.executor.execute_request();
    fill(request.get().init_request(), &case.request)?;
    change(request.get().get_request().map_err(|error| error.to_string())?);
    request.send().promise.await.map_err(|error| error.to_string())
}

/// The refusal an answer is, in words.
fn refusal(
    answer: &capnp::capability::Response<schema::code_executor::execute_results::Owned>,
) -> Result<String, String> {
    use schema::pass_outcome::Which;
    let refused = |error: capnp::Error| error.to_string();
    match answer.get().and_then(|answer| answer.get_outcome()).map_err(refused)?.which().map_err(|e| e.to_string())? {
        Which::Refused(refusal) => match refusal.map_err(refused)?.which().map_err(|e| e.to_string())? {
            schema::refusal::Which::UnsupportedProtocolVersion(version) => Ok(format!("version {version}")),
            schema::refusal::Which::InvalidRequest(request) => {
                let field = request.and_then(|request| request.get_field()).map_err(refused)?;
                Ok(format!("invalid {}", field.to_string().map_err(|error| error.to_string())?))
            }
            schema::refusal::Which::TooManyPasses(passes) => Ok(format!("too many: {passes}")),
            schema::refusal::Which::ShuttingDown(()) => Ok("shutting down".to_owned()),
        },
        _ => Err("should have been refused".to_owned()),
    }
}

fn expect_refusal(found: &str, expected: &str) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("should be refused as {expected:?}, and is as {found:?}")) }
}

fn wrong_protocol_version() -> Result<(), String> {
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(Service::shared()?).await?;
        let answer = execute(&connection, &healthy, |mut request| request.set_protocol_version(99)).await?;
        expect_refusal(&refusal(&answer)?, &format!("version {}", schema::PROTOCOL_VERSION))
    })
}

/// Each bound of a request, broken alone.
fn requests_out_of_bounds() -> Result<(), String> {
    let healthy = healthy::case();
    type Change = fn(schema::code_execution_request::Builder<'_>);
    let changes: [(&str, Change); 9] = [
        ("limits.maxSourceBytes", |request| with_limits(request, |mut limits| limits.set_source_bytes(0))),
        ("limits.maxWallTime", |request| with_limits(request, |mut limits| limits.set_wall_time(0))),
        ("limits.cpuMillis", |request| with_limits(request, |limits| limits.get_cpu().set_millis(300_001))),
        ("limits.maxLogBytes", |request| with_limits(request, |mut limits| limits.set_log_bytes(1_048_577))),
        ("limits.maxHostCalls", |request| with_limits(request, |mut limits| limits.set_host_calls(10_001))),
        ("limits.maxHostCallConcurrency", |request| {
            with_limits(request, |limits| limits.get_host_call_concurrency().set_calls(65));
        }),
        ("namespaces", |request| {
            request.init_namespaces(33);
        }),
        ("namespaces[0].name", |request| request.init_namespaces(1).get(0).set_name("not an identifier")),
        ("namespaces[0].methods", |request| {
            let mut namespaces = request.init_namespaces(1);
            namespaces.reborrow().get(0).set_name("warehouse");
            namespaces.get(0).init_methods(0);
        }),
    ];
    block_on(async {
        let connection = Connection::open(Service::shared()?).await?;
        for (field, change) in changes {
            let answer = execute(&connection, &healthy, change).await?;
            let found = refusal(&answer).map_err(|error| format!("{field}: {error}"))?;
            if field == "namespaces" && found.starts_with("invalid namespaces") {
                // Thirty-three namespaces without a name: which of both is said first is nobody's business.
                continue;
            }
            expect_refusal(&found, &format!("invalid {field}"))?;
        }
        healthy::checked(&connection, &healthy).await
    })
}

fn with_limits(
    request: schema::code_execution_request::Builder<'_>,
    change: impl FnOnce(schema::code_execution_limits::Builder<'_>),
) {
    // The request was filled before; a failure to read it back would show as a pass that is not refused.
    if let Ok(limits) = request.get_limits() {
        change(limits);
    }
}

/// The case whose program waits for a host that never answers.
fn waits() -> Result<Case, String> {
    let mut cases = case::load("contract", "kit").cases.into_iter();
    cases.find(|case| case.interrupt_after_calls.is_some()).ok_or_else(|| "no case waits for its host".to_owned())
}

/// One pass more than a connection may have in flight is refused; when one of them ends, there is room again.
fn too_many_passes() -> Result<(), String> {
    let (waits, healthy) = (waits()?, healthy::case());
    block_on(async {
        let connection = Connection::open(Service::shared()?).await?;
        let described =
            connection.executor.describe_request().send().promise.await.map_err(|error| error.to_string())?;
        let bounds = described.get().and_then(|d| d.get_description()).and_then(|d| d.get_bounds());
        let passes = bounds.map_err(|error| error.to_string())?.get_passes_in_flight();
        let mut waiting = Vec::new();
        for _ in 0..passes {
            let mut request = connection.executor.execute_request();
            fill(request.get().init_request(), &waits.request)?;
            let host = crate::host::ScriptedHost::new(&waits);
            request.get().set_host(crate::doors::capnp::client_of(&host));
            waiting.push(request.send().promise);
        }
        let answer = execute(&connection, &healthy, |_| {}).await?;
        expect_refusal(&refusal(&answer)?, &format!("too many: {passes}"))?;
        waiting.clear();
        healthy::checked(&connection, &healthy).await
    })
}

/// A program that calls a host that is not there.
fn no_host() -> Result<(), String> {
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(Service::shared()?).await?;
        let answer = execute(&connection, &healthy, |_| {}).await?;
        let outcome = answer.get().and_then(|answer| answer.get_outcome()).map_err(|error| error.to_string())?;
        match read(outcome)? {
            Outcome::Defect => Ok(()),
            other => Err(format!("should have been a defect of the host: {other:?}")),
        }
    })
}

/// A host that goes away while it is being called: its client answers with a lost connection.
fn host_that_vanishes() -> Result<(), String> {
    struct Vanishes;
    impl schema::pass_host::Server for Vanishes {
        async fn call(
            self: std::rc::Rc<Self>,
            _: schema::pass_host::CallParams,
            _: schema::pass_host::CallResults,
        ) -> Result<(), capnp::Error> {
            Err(capnp::Error::disconnected("the host is gone".to_owned()))
        }
    }
    let healthy = healthy::case();
    block_on(async {
        let connection = Connection::open(Service::shared()?).await?;
        let mut request = connection.executor.execute_request();
        fill(request.get().init_request(), &healthy.request)?;
        request.get().set_host(capnp_rpc::new_client(Vanishes));
        let answer = request.send().promise.await.map_err(|error| error.to_string())?;
        let outcome = answer.get().and_then(|answer| answer.get_outcome()).map_err(|error| error.to_string())?;
        match outcome.which().map_err(|error| error.to_string())? {
            schema::pass_outcome::Which::HostDefect(defect) => {
                match defect.and_then(|defect| Ok(defect.get_kind()?)).map_err(|error| error.to_string())? {
                    schema::HostDefectKind::Disconnected => Ok(()),
                    other => Err(format!("should have been disconnected, and is {other:?}")),
                }
            }
            _ => Err("should have been a defect of the host".to_owned()),
        }
    })
}

/// An answer of a host that is far beyond its limit, though no larger than a message may be.
fn host_answer_too_large() -> Result<(), String> {
    let mut case = healthy::case();
    let large = crate::json::Json::text(&"v".repeat(3 << 20));
    for (_, steps) in &mut case.host {
        *steps = vec![case::Step { answer: case::Answer::Ok(large.clone()), after_calls: 0 }];
    }
    block_on(async {
        let connection = Connection::open(Service::shared()?).await?;
        let (outcome, _) = pass_on(&connection, &case).await?;
        let Outcome::Answer(answer) = &outcome else { return Err(format!("should have failed: {outcome:?}")) };
        let tag = answer.get("failure").and_then(|error| error.get("_tag")).and_then(crate::json::Json::as_text);
        if tag.as_deref() != Some("CodeOutputLimitError") {
            return Err(format!("should have met its limit: {answer}"));
        }
        let healthy = healthy::case();
        healthy::checked(&connection, &healthy).await
    })
}

/// Very many connections that say nothing: those beyond the bound are closed, and when they go others come in.
fn connections_beyond_any_bound() -> Result<(), String> {
    let service = Service::start(&[])?;
    let healthy = healthy::case();
    let mut silent = Vec::new();
    for _ in 0..2_000 {
        match UnixStream::connect(service.socket()) {
            Ok(stream) => silent.push(stream),
            Err(_) => break,
        }
    }
    drop(silent);
    block_on(async {
        // Those that went are noticed one by one; a newcomer that is turned away comes again.
        let mut last = String::new();
        for _ in 0..200 {
            let connection = Connection::open(&service).await?;
            match pass_on(&connection, &healthy).await {
                Ok((outcome, _)) => return expect::check(&healthy, &outcome),
                Err(error) => last = error,
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        Err(format!("nobody is let in any more: {last}"))
    })
}

/// SIGTERM while a pass waits for its host: the client hears of it, and the service ends.
fn termination_mid_pass() -> Result<(), String> {
    let service = Service::start(&[])?;
    let waits = waits()?;
    block_on(async {
        let connection = Connection::open(&service).await?;
        let host = crate::host::ScriptedHost::new(&waits);
        let mut request = connection.executor.execute_request();
        fill(request.get().init_request(), &waits.request)?;
        request.get().set_host(crate::doors::capnp::client_of(&host));
        let answer = request.send().promise;
        host.seen(1).await;
        service.terminate()?;
        // An answer or a closed connection; only silence would be wrong.
        tokio::time::timeout(CLOSE_WAIT, answer).await.map(drop).map_err(|_| "the pass was never answered".to_owned())
    })?;
    service.ended(CLOSE_WAIT)
}
