//! A Cap'n Proto connection whose tables cannot be filled by the other side.
//!
//! Cap'n Proto keeps an entry for each call until the caller finishes it, and for each capability it was sent. Nothing
//! in the protocol bounds either, so every incoming message is counted here before the RPC system sees it. A message
//! over a bound is an error of the connection: the peer is told which bound, and disconnected. Nor does anything bound what
//! waits to be sent: nothing is read from a peer that does not read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use capnp::Error;
use capnp::capability::Promise;
use capnp::message::{Builder, HeapAllocator};
use capnp::serialize::compute_serialized_size_in_words;
use capnp_rpc::rpc_capnp::{cap_descriptor, message, payload, return_};
use capnp_rpc::{Connection, FlowController, IncomingMessage, OutgoingMessage, VatNetwork};
use futures::TryFutureExt;

use super::bounds::ServiceBounds;
use super::connection::BYTES_PER_WORD;
use super::flow::Flow;

/// A network whose connections are counted.
pub(super) struct Guarded<N> {
    network: N,
    bounds: Rc<ServiceBounds>,
    flow: Rc<Flow>,
}

impl<N> Guarded<N> {
    /// `flow` is that of the network's socket.
    pub(super) fn new(network: N, bounds: Rc<ServiceBounds>, flow: Rc<Flow>) -> Self {
        Self { network, bounds, flow }
    }
}

impl<Id: 'static, N: VatNetwork<Id>> VatNetwork<Id> for Guarded<N> {
    fn connect(&mut self, host: Id) -> Option<Box<dyn Connection<Id>>> {
        self.network.connect(host)
    }

    fn accept(&mut self) -> Promise<Box<dyn Connection<Id>>, Error> {
        let tally = Tally { bounds: self.bounds.clone(), open: HashMap::new(), bytes: 0 };
        let flow = self.flow.clone();
        Promise::from_future(self.network.accept().map_ok(|connection| {
            let tally = Rc::new(RefCell::new(tally));
            Box::new(GuardedConnection { connection, tally, flow }) as Box<dyn Connection<Id>>
        }))
    }

    fn drive_until_shutdown(&mut self) -> Promise<(), Error> {
        self.network.drive_until_shutdown()
    }
}

struct GuardedConnection<Id: 'static> {
    connection: Box<dyn Connection<Id>>,
    tally: Rc<RefCell<Tally>>,
    flow: Rc<Flow>,
}

impl<Id: 'static> Connection<Id> for GuardedConnection<Id> {
    fn get_peer_vat_id(&self) -> Id {
        self.connection.get_peer_vat_id()
    }

    fn new_outgoing_message(&mut self, first_segment_words: u32) -> Box<dyn OutgoingMessage> {
        let message = self.connection.new_outgoing_message(first_segment_words);
        Box::new(CountedMessage { message, tally: self.tally.clone(), flow: self.flow.clone() })
    }

    fn receive_incoming_message(&mut self) -> Promise<Option<Box<dyn IncomingMessage>>, Error> {
        let (tally, flow) = (self.tally.clone(), self.flow.clone());
        let receiving = self.connection.receive_incoming_message();
        Promise::from_future(async move {
            flow.has_room().await;
            let received = receiving.await?;
            if let Some(message) = &received {
                tally.borrow_mut().count(&**message, flow.take_received())?;
            }
            Ok(received)
        })
    }

    fn new_stream(&mut self) -> (Box<dyn FlowController>, Promise<(), Error>) {
        self.connection.new_stream()
    }

    fn shutdown(&mut self, result: capnp::Result<()>) -> Promise<(), Error> {
        self.connection.shutdown(result)
    }
}

/// A message of ours, counted when it is sent.
struct CountedMessage {
    message: Box<dyn OutgoingMessage>,
    tally: Rc<RefCell<Tally>>,
    flow: Rc<Flow>,
}

impl OutgoingMessage for CountedMessage {
    fn get_body(&mut self) -> capnp::Result<capnp::any_pointer::Builder<'_>> {
        self.message.get_body()
    }

    fn get_body_as_reader(&self) -> capnp::Result<capnp::any_pointer::Reader<'_>> {
        self.message.get_body_as_reader()
    }

    fn send(self: Box<Self>) -> (Promise<(), Error>, Rc<Builder<HeapAllocator>>) {
        let Self { message, tally, flow } = *self;
        let answers = answered(&*message);
        let (sent, message) = message.send();
        let bytes = compute_serialized_size_in_words(&*message) * BYTES_PER_WORD;
        flow.queued(bytes);
        if let Some(question) = answers {
            tally.borrow_mut().answered(question, bytes);
        }
        (sent, message)
    }

    fn take(self: Box<Self>) -> Builder<HeapAllocator> {
        self.message.take()
    }

    fn size_in_words(&self) -> usize {
        self.message.size_in_words()
    }
}

/// The question that a message of ours answers.
fn answered(message: &dyn OutgoingMessage) -> Option<u32> {
    match message.get_body_as_reader().ok()?.get_as::<message::Reader<'_>>().ok()?.which().ok()? {
        message::Which::Return(answer) => Some(answer.ok()?.get_answer_id()),
        _ => None,
    }
}

/// What the other side holds open here.
struct Tally {
    bounds: Rc<ServiceBounds>,
    /// Calls by the number the caller gave them, until the caller finishes them, and the bytes of each and of its answer.
    open: HashMap<u32, usize>,
    /// Of all of them.
    bytes: usize,
}

impl Tally {
    /// A message came, of so many bytes.
    fn count(&mut self, message: &dyn IncomingMessage, bytes: usize) -> Result<(), Error> {
        use capnp_rpc::rpc_capnp::message::Which;
        // What this schema does not know is for the RPC system to refuse.
        let Ok(which) = message.get_body()?.get_as::<message::Reader<'_>>()?.which() else { return Ok(()) };
        match which {
            Which::Bootstrap(bootstrap) => self.open(bootstrap?.get_question_id(), bytes),
            Which::Call(call) => {
                let call = call?;
                self.capabilities(call.get_params()?)?;
                self.open(call.get_question_id(), bytes)
            }
            Which::Return(answer) => match answer?.which() {
                Ok(return_::Which::Results(results)) => self.capabilities(results?),
                _ => Ok(()),
            },
            Which::Finish(finish) => {
                let finished = self.open.remove(&finish?.get_question_id());
                self.bytes = self.bytes.saturating_sub(finished.unwrap_or(0));
                Ok(())
            }
            // Its reason is the client's text, which is not for our log.
            Which::Abort(_) => Err(Error::disconnected("the client aborted it".to_owned())),
            _ => Ok(()),
        }
    }

    fn open(&mut self, question: u32, bytes: usize) -> Result<(), Error> {
        *self.open.entry(question).or_default() += bytes;
        self.bytes = self.bytes.saturating_add(bytes);
        let bound = self.bounds.calls_in_flight_max;
        if self.open.len() > bound as usize {
            return Err(Error::overloaded(format!(
                "more than {bound} calls in flight on one connection: finish some first"
            )));
        }
        let bound = self.bounds.call_bytes_max;
        if self.bytes > bound {
            return Err(Error::overloaded(format!(
                "more than {bound} bytes in calls in flight on one connection: finish some first"
            )));
        }
        Ok(())
    }

    /// A call is answered, which is kept until the caller finishes it.
    fn answered(&mut self, question: u32, bytes: usize) {
        if let Some(held) = self.open.get_mut(&question) {
            *held = held.saturating_add(bytes);
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }

    fn capabilities(&self, payload: payload::Reader<'_>) -> Result<(), Error> {
        let table = payload.get_cap_table()?;
        let bound = self.bounds.capabilities_per_message_max;
        if table.len() <= bound {
            return Ok(());
        }
        // Entries that are no capability cost nothing.
        let held = table.iter().filter(|entry| !matches!(entry.which(), Ok(cap_descriptor::Which::None(())))).count();
        if held <= bound as usize {
            return Ok(());
        }
        Err(Error::overloaded(format!("{held} capabilities in one message: at most {bound} are accepted")))
    }
}
