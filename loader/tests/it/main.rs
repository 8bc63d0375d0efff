//! The Worker Loader through its public doors.

mod checks;
mod scripted;
mod states;
