//! A client that speaks Cap'n Proto's RPC by hand, because its host breaks rules that a library keeps: it answers a call
//! twice, or when nobody waits any more.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use capnp::message::{Builder, HeapAllocator, ReaderOptions};
use capnp::traits::{HasTypeId, ImbueMut};
use capnp_rpc::rpc_capnp;
use loaderd_schema::executor_capnp as schema;

use crate::case::Case;
use crate::doors::capnp::{fill, read};
use crate::expect::Outcome;
use crate::service::Service;

/// How long the service may say nothing. A bound against hanging tests, not an expectation.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// The client's questions, and the one object that it offers.
const BOOTSTRAP: u32 = 0;
const EXECUTE: u32 = 1;
const HOST: u32 = 0;

/// When the host answers the first call it gets; it answers no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Twice,
    /// Once the pass is answered, for want of this answer.
    AfterThePass,
    /// Once the client has given the pass up.
    AfterGivingUp,
}

/// What came of it: the answers to the pass, and whether the service closed the connection.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) answers: Vec<Outcome>,
    pub(crate) closed: bool,
}

/// Asks for one pass, and plays its host.
pub(crate) fn play(service: &Service, case: &Case, how: Answers) -> Result<Seen, String> {
    let mut stream = UnixStream::connect(service.socket()).map_err(text)?;
    stream.set_read_timeout(Some(SILENCE_MAX)).map_err(text)?;
    send(&mut stream, |message| message.init_bootstrap().set_question_id(BOOTSTRAP))?;
    stream.write_all(&capnp::serialize::write_message_to_words(&*execute(case)?)).map_err(text)?;
    let mut seen = Seen { answers: Vec::new(), closed: false };
    let mut asked = None;
    loop {
        let Ok(message) = capnp::serialize::read_message(&mut stream, ReaderOptions::new()) else {
            seen.closed = true;
            return Ok(seen);
        };
        let message = message.get_root::<rpc_capnp::message::Reader<'_>>().map_err(text)?;
        match message.which().map_err(text)? {
            rpc_capnp::message::Call(call) => {
                let question = call.map_err(text)?.get_question_id();
                asked.get_or_insert(question);
                match how {
                    Answers::Twice => {
                        answer(&mut stream, question)?;
                        answer(&mut stream, question)?;
                    }
                    Answers::AfterThePass => {}
                    Answers::AfterGivingUp => {
                        send(&mut stream, |message| message.init_finish().set_question_id(EXECUTE))?;
                        answer(&mut stream, question)?;
                        stream.shutdown(std::net::Shutdown::Write).map_err(text)?;
                    }
                }
            }
            rpc_capnp::message::Return(answered) => {
                let answered = answered.map_err(text)?;
                if answered.get_answer_id() != EXECUTE {
                    continue;
                }
                match answered.which().map_err(text)? {
                    rpc_capnp::return_::Results(results) => {
                        let results = results.map_err(text)?.get_content();
                        let results = results.get_as::<schema::code_executor::execute_results::Reader<'_>>();
                        seen.answers.push(read(results.and_then(|results| results.get_outcome()).map_err(text)?)?);
                    }
                    _ if how == Answers::AfterGivingUp => {}
                    _ => return Err("the pass was answered with no result".to_owned()),
                }
                if let (Answers::AfterThePass, Some(question)) = (how, asked) {
                    answer(&mut stream, question)?;
                }
                if how != Answers::Twice {
                    // Whatever else would come, comes before the connection is seen as closed at both ends.
                    stream.shutdown(std::net::Shutdown::Write).map_err(text)?;
                }
            }
            rpc_capnp::message::Abort(_) => seen.closed = true,
            _ => {}
        }
    }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn send(stream: &mut UnixStream, fill: impl FnOnce(rpc_capnp::message::Builder<'_>)) -> Result<(), String> {
    let mut message = Builder::new(HeapAllocator::new());
    fill(message.init_root());
    // A service that has closed will be read as such.
    let _ = stream.write_all(&capnp::serialize::write_message_to_words(&message));
    Ok(())
}

fn answer(stream: &mut UnixStream, question: u32) -> Result<(), String> {
    send(stream, |message| {
        let mut answer = message.init_return();
        answer.set_answer_id(question);
        let content = answer.init_results().init_content();
        content.init_as::<schema::pass_host::call_results::Builder<'_>>().init_outcome().set_success("7");
    })
}

/// The call of `execute`, its host the client's one object.
fn execute(case: &Case) -> Result<Box<Builder<HeapAllocator>>, String> {
    let mut message = Box::new(Builder::new(HeapAllocator::new()));
    let mut call = message.init_root::<rpc_capnp::message::Builder<'_>>().init_call();
    call.set_question_id(EXECUTE);
    call.set_interface_id(schema::code_executor::Client::TYPE_ID);
    call.set_method_id(0);
    call.reborrow().init_target().init_promised_answer().set_question_id(BOOTSTRAP);
    let mut params = call.init_params();
    let mut table = Vec::new();
    {
        let mut content = params.reborrow().get_content();
        content.imbue_mut(&mut table);
        let mut content = content.init_as::<schema::code_executor::execute_params::Builder<'_>>();
        fill(content.reborrow().init_request(), &case.request)?;
        // Only its place in the table of capabilities is of interest.
        content.set_host(capnp_rpc::new_client(NoLocalHost));
    }
    params.init_cap_table(1).get(0).set_sender_hosted(HOST);
    Ok(message)
}

struct NoLocalHost;

impl schema::pass_host::Server for NoLocalHost {}
