//! The Worker Loader through its public doors.

mod checks;
mod real;
mod scripted;
mod states;
