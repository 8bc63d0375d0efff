//! A Cap'n Proto connection whose tables cannot be filled by the other side.
//!
//! Cap'n Proto keeps an entry for each call until the caller finishes it, and for each capability it was sent. Nothing
//! in the protocol bounds either, so every incoming message is counted here before the RPC system sees it. A message
//! over a bound is an error of the connection: the peer is told which bound, and disconnected.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use capnp::Error;
use capnp::capability::Promise;
use capnp_rpc::rpc_capnp::{cap_descriptor, message, payload, return_};
use capnp_rpc::{Connection, FlowController, IncomingMessage, OutgoingMessage, VatNetwork};
use futures::{FutureExt, TryFutureExt};

use super::bounds::ServiceBounds;

/// A network whose connections are counted.
pub(super) struct Guarded<N> {
    network: N,
    bounds: Rc<ServiceBounds>,
}

impl<N> Guarded<N> {
    pub(super) fn new(network: N, bounds: Rc<ServiceBounds>) -> Self {
        Self { network, bounds }
    }
}

impl<Id: 'static, N: VatNetwork<Id>> VatNetwork<Id> for Guarded<N> {
    fn connect(&mut self, host: Id) -> Option<Box<dyn Connection<Id>>> {
        self.network.connect(host)
    }

    fn accept(&mut self) -> Promise<Box<dyn Connection<Id>>, Error> {
        let tally = Tally { bounds: self.bounds.clone(), open: HashSet::new() };
        Promise::from_future(self.network.accept().map_ok(|connection| {
            let tally = Rc::new(RefCell::new(tally));
            Box::new(GuardedConnection { connection, tally }) as Box<dyn Connection<Id>>
        }))
    }

    fn drive_until_shutdown(&mut self) -> Promise<(), Error> {
        self.network.drive_until_shutdown()
    }
}

struct GuardedConnection<Id: 'static> {
    connection: Box<dyn Connection<Id>>,
    tally: Rc<RefCell<Tally>>,
}

impl<Id: 'static> Connection<Id> for GuardedConnection<Id> {
    fn get_peer_vat_id(&self) -> Id {
        self.connection.get_peer_vat_id()
    }

    fn new_outgoing_message(&mut self, first_segment_words: u32) -> Box<dyn OutgoingMessage> {
        self.connection.new_outgoing_message(first_segment_words)
    }

    fn receive_incoming_message(&mut self) -> Promise<Option<Box<dyn IncomingMessage>>, Error> {
        let tally = self.tally.clone();
        Promise::from_future(self.connection.receive_incoming_message().map(move |received| {
            let received = received?;
            if let Some(message) = &received {
                tally.borrow_mut().count(&**message)?;
            }
            Ok(received)
        }))
    }

    fn new_stream(&mut self) -> (Box<dyn FlowController>, Promise<(), Error>) {
        self.connection.new_stream()
    }

    fn shutdown(&mut self, result: capnp::Result<()>) -> Promise<(), Error> {
        self.connection.shutdown(result)
    }
}

/// What the other side holds open here.
struct Tally {
    bounds: Rc<ServiceBounds>,
    /// Calls by the number the caller gave them, until the caller finishes them.
    open: HashSet<u32>,
}

impl Tally {
    fn count(&mut self, message: &dyn IncomingMessage) -> Result<(), Error> {
        use capnp_rpc::rpc_capnp::message::Which;
        // What this schema does not know is for the RPC system to refuse.
        let Ok(which) = message.get_body()?.get_as::<message::Reader<'_>>()?.which() else { return Ok(()) };
        match which {
            Which::Bootstrap(bootstrap) => self.open(bootstrap?.get_question_id()),
            Which::Call(call) => {
                let call = call?;
                self.capabilities(call.get_params()?)?;
                self.open(call.get_question_id())
            }
            Which::Return(answer) => match answer?.which() {
                Ok(return_::Which::Results(results)) => self.capabilities(results?),
                _ => Ok(()),
            },
            Which::Finish(finish) => {
                self.open.remove(&finish?.get_question_id());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn open(&mut self, question: u32) -> Result<(), Error> {
        self.open.insert(question);
        let bound = self.bounds.calls_in_flight_max;
        if self.open.len() <= bound as usize {
            return Ok(());
        }
        Err(Error::overloaded(format!("more than {bound} calls in flight on one connection: finish some first")))
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
