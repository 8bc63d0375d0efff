//! The runtime through its public doors.

mod load;
mod support;
