//! The runtime through its public doors.

mod api;
mod limits;
mod load;
mod node;
mod rpc;
mod support;
