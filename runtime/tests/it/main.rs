//! The runtime through its public doors.

mod api;
mod load;
mod rpc;
mod support;
