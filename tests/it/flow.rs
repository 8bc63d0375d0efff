//! Clients that make the service hold more and more, by the bytes that they send or do not read. There is a bound to it,
//! and the service serves others.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use capnp::message::{Builder, HeapAllocator};
use capnp::traits::HasTypeId;
use capnp_rpc::rpc_capnp;
use libtest_mimic::Trial;
use loaderd_schema::executor_capnp::code_executor;

use crate::doors::capnp::{Connection, block_on};
use crate::healthy;
use crate::proc::{self, Held};
use crate::service::{Service, Start};

/// How long the service may take to do what it should. A bound against hanging tests, not an expectation.
const WAIT: Duration = Duration::from_secs(20);

/// After how long a write that has not gone on is one that the service does not read.
const STALLED: Duration = Duration::from_secs(2);

/// More than the buffers between a client and the service hold, by far.
const MUCH: usize = 8 << 20;

const DESCRIBE: u16 = 1;

type Check = fn() -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let checks: [(&str, Check); 6] = [
        ("a_client_that_does_not_read", a_client_that_does_not_read),
        ("a_client_that_does_not_read_and_goes", a_client_that_does_not_read_and_goes),
        ("calls_of_many_bytes", calls_of_many_bytes),
        ("answers_that_nobody_finishes", answers_that_nobody_finishes),
        ("messages_that_are_only_announced", messages_that_are_only_announced),
        ("the_reason_of_an_abort_is_not_logged", the_reason_of_an_abort_is_not_logged),
    ];
    checks
        .into_iter()
        .map(|(name, test)| Trial::test(format!("flow::{name}"), move || test().map_err(Into::into)))
        .collect()
}

fn message(build: impl FnOnce(rpc_capnp::message::Builder<'_>)) -> Vec<u8> {
    let mut message = Builder::new(HeapAllocator::new());
    build(message.init_root());
    capnp::serialize::write_message_to_words(&message)
}

/// Asks for the executor, as question 0.
fn bootstrap() -> Vec<u8> {
    message(|message| message.init_bootstrap().set_question_id(0))
}

/// Asks the executor to describe itself, with so much that it did not ask for.
fn describe(question: u32, ballast: usize) -> Vec<u8> {
    message(|message| {
        let mut call = message.init_call();
        call.set_question_id(question);
        call.set_interface_id(code_executor::Client::TYPE_ID);
        call.set_method_id(DESCRIBE);
        call.reborrow().init_target().init_promised_answer().set_question_id(0);
        let content = call.init_params().init_content();
        if ballast > 0 {
            content.initn_as::<capnp::data::Builder<'_>>(u32::try_from(ballast).unwrap_or(0));
        }
    })
}

fn finish(question: u32) -> Vec<u8> {
    message(|message| message.init_finish().set_question_id(question))
}

fn connect(service: &Service) -> Result<UnixStream, String> {
    let stream = UnixStream::connect(service.socket()).map_err(|error| error.to_string())?;
    stream.set_read_timeout(Some(WAIT)).map_err(|error| error.to_string())?;
    stream.set_write_timeout(Some(STALLED)).map_err(|error| error.to_string())?;
    Ok(stream)
}

fn serves_others(service: &Service) -> Result<(), String> {
    block_on(async { healthy::checked(&Connection::open(service).await?, &healthy::case()).await })
}

/// Everything until the service closes the connection.
fn read_to_end(stream: &mut UnixStream) -> Result<String, String> {
    let mut all = Vec::new();
    match stream.read_to_end(&mut all) {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
        Err(error) => return Err(format!("the connection was not closed: {error}")),
    }
    Ok(String::from_utf8_lossy(&all).into_owned())
}

/// Writes on and on, until nothing goes any more: how much went.
fn write_until_stalled(stream: &mut UnixStream, next: &mut impl FnMut() -> Vec<u8>) -> Result<usize, String> {
    let mut written = 0;
    while written < MUCH {
        let bytes = next();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            match stream.write(rest) {
                Ok(went) => {
                    written += went;
                    rest = &rest[went..];
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(written),
                Err(error) => return Err(error.to_string()),
            }
        }
    }
    Err(format!("the service read {MUCH} bytes of a client that read none of its answers"))
}

fn a_client_that_does_not_read() -> Result<(), String> {
    let service = Service::start(&["--max-unsent-bytes", "100000"])?;
    let mut stream = stalled(&service)?;
    serves_others(&service)?;
    // Once it reads, the service goes on.
    let mut buffer = vec![0; 64 << 10];
    let mut read = 0;
    while read < MUCH / 8 {
        read += stream.read(&mut buffer).map_err(|error| format!("no answer after {read} bytes: {error}"))?;
        if stream.write(&[0]).is_ok() {
            return Ok(());
        }
    }
    Err("the service did not go on when its answers were read".to_owned())
}

/// What it held is given back, though nothing was read from it that says so.
fn a_client_that_does_not_read_and_goes() -> Result<(), String> {
    let service = Service::start(&["--sandbox", "in-process", "--max-unsent-bytes", "100000"])?;
    serves_others(&service)?;
    let bound = proc::at_rest(service.pid())?;
    let streams = (0..3).map(|_| stalled(&service)).collect::<Result<Vec<_>, _>>()?;
    drop(streams);
    proc::settles(service.pid(), &bound)
}

/// A client that has called and finished, and read nothing, until nothing was read of it.
fn stalled(service: &Service) -> Result<UnixStream, String> {
    let mut stream = connect(service)?;
    stream.write_all(&bootstrap()).map_err(|error| error.to_string())?;
    let mut question = 0;
    let mut next = || {
        question += 1;
        [describe(question, 0), finish(question)].concat()
    };
    write_until_stalled(&mut stream, &mut next)?;
    Ok(stream)
}

fn calls_of_many_bytes() -> Result<(), String> {
    let service = Service::start(&["--max-call-bytes", "1000000"])?;
    let mut stream = connect(&service)?;
    // More than the bound, all together and not finished; and before that as much, finished.
    let finished = (1..10).flat_map(|question| [describe(question, 300_000), finish(question)].concat());
    let open = (10..20).flat_map(|question| describe(question, 300_000));
    let all: Vec<u8> = bootstrap().into_iter().chain(finished).chain(open).collect();
    // It may close before it has read all.
    let _ = stream.write_all(&all);
    let end = read_to_end(&mut stream)?;
    if !end.contains("more than 1000000 bytes in calls in flight") {
        return Err("the client was not told why".to_owned());
    }
    serves_others(&service)
}

fn answers_that_nobody_finishes() -> Result<(), String> {
    const CALLS: u32 = 200;
    let call = describe(1, 0).len();
    // The calls alone stay below it.
    let bound = (bootstrap().len() + CALLS as usize * call).to_string();
    let service = Service::start(&["--max-call-bytes", &bound])?;
    let mut stream = connect(&service)?;
    stream.write_all(&bootstrap()).map_err(|error| error.to_string())?;
    let mut buffer = vec![0; 64 << 10];
    for question in 1..=CALLS {
        // An error, like the end below: it has closed the connection.
        let closed = stream.write_all(&describe(question, 0)).is_err();
        if closed || String::from_utf8_lossy(&buffer).contains("bytes in calls in flight") {
            return serves_others(&service);
        }
        let read = stream.read(&mut buffer).map_err(|error| error.to_string())?;
        if read == 0 {
            return serves_others(&service);
        }
    }
    Err("all answers were kept".to_owned())
}

fn messages_that_are_only_announced() -> Result<(), String> {
    const CONNECTIONS: usize = 60;
    const EACH: u32 = 30 << 20;
    let service = Service::start(&[])?;
    serves_others(&service)?;
    let before = Held::by(service.pid())?.own_rss_kib;
    let announced = [0_u32.to_le_bytes(), (EACH / 8).to_le_bytes()].concat();
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = connect(&service)?;
        stream.write_all(&announced).map_err(|error| error.to_string())?;
        connections.push(stream);
    }
    // All threads have looked at theirs, when each serves another.
    (0..8).try_for_each(|_| serves_others(&service))?;
    let after = Held::by(service.pid())?.own_rss_kib;
    let (grown, said) = (after.saturating_sub(before), CONNECTIONS as u64 * u64::from(EACH >> 10));
    if grown > said / 10 { Err(format!("{grown} KiB for {said} KiB that did not come")) } else { Ok(()) }
}

fn the_reason_of_an_abort_is_not_logged() -> Result<(), String> {
    let arguments = &["--log-format", "json"];
    let service = Service::start_with(&Start { arguments, log_level: Some("trace"), ..Start::default() })?;
    let mut stream = connect(&service)?;
    let abort = message(|message| message.init_abort().set_reason("a reason\nof the client's own"));
    stream.write_all(&abort).map_err(|error| error.to_string())?;
    read_to_end(&mut stream)?;
    let logged = service.logged_until("connection closed", 1, WAIT)?;
    match logged.iter().find(|line| line.contains("a reason") || line.contains("client's own")) {
        None => Ok(()),
        Some(line) => Err(format!("logged: {line}")),
    }
}
