//! The executor service from outside: a Cap'n Proto client on a socket, and behind the service a loader without V8
//! whose guests do what the test says. What programs do is tested in the root package, against the real loader.

mod client;
mod fake;
mod service_bounds;
mod service_passes;
mod service_stop;
