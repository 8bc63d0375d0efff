//! What clients of the service may use at once.

use std::time::Duration;

/// The bounds of a service. Each is enforced and answered; none is a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceBounds {
    /// Connections open at once. One more is told so and closed.
    pub connections_max: usize,
    /// Passes in flight on one connection. One more is refused, and the connection stays.
    pub passes_in_flight_max: u32,
    /// Calls of any method that the client has not finished, on one connection. More close it.
    pub calls_in_flight_max: u32,
    /// Capabilities that one message may carry. More close the connection. With `calls_in_flight_max` this bounds what
    /// a client can make the service hold.
    pub capabilities_per_message_max: u32,
    /// Bytes of one message that the service reads. A larger one closes the connection.
    pub message_bytes_max: usize,
    /// Bytes of calls, and of their answers, that the client has not finished, on one connection. More close it.
    pub call_bytes_max: usize,
    /// Bytes that wait to be sent on one connection, for a client that reads slowly. While there are more, nothing is read
    /// from it, and calls of its hosts wait.
    pub unsent_bytes_max: usize,
    /// Bytes of messages that are not whole yet, of all connections together; small ones do not count. A connection that
    /// would need more is closed.
    pub unfinished_bytes_max: usize,
    /// How long passes in flight may go on when the service is told to stop.
    pub drain_time_max: Duration,
}

impl Default for ServiceBounds {
    fn default() -> Self {
        Self {
            connections_max: 256,
            passes_in_flight_max: 64,
            calls_in_flight_max: 256,
            capabilities_per_message_max: 16,
            // The longest source in UTF-8 is 12 MiB.
            message_bytes_max: 32 << 20,
            call_bytes_max: 256 << 20,
            unsent_bytes_max: 16 << 20,
            unfinished_bytes_max: 512 << 20,
            drain_time_max: Duration::from_secs(5),
        }
    }
}
