//! The Worker Loader through its public doors.

mod bindings;
mod bodies;
mod cache;
mod checks;
mod compressed;
mod connect;
mod graph;
mod http;
mod lengths;
mod real;
mod scripted;
mod service_worker;
mod site;
mod states;
mod tails;
mod unix_socket;
mod unread;
mod websocket;
mod wire;
mod workers;
