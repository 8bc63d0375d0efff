//! The Worker Loader through its public doors.

mod checks;
mod graph;
mod real;
mod scripted;
mod states;
mod workers;
