//! The runtime through its public doors.

mod api;
mod flags;
mod limits;
mod load;
mod node;
mod rpc;
mod support;
