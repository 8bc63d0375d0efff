//! One V8 isolate and everything a Worker sees inside it.
//!
//! This crate knows nothing of sockets, files, HTTP servers, configuration or passes. What an isolate can reach
//! outside itself, it reaches through a [`rpc::Capability`] or a [`channel::Channels`] it was given.
//!
//! | Room | Owns |
//! |---|---|
//! | [`isolate`] | one isolate on its own OS thread: creation, inbox, turn loop, eviction, destruction; the pool |
//! | [`invocation`] | the state of one event's handling: budgets, subrequests, `waitUntil`, abort, clock |
//! | [`limits`] | the meters and the watchdog: CPU, subrequests, memory; causes and outcomes |
//! | [`modules`] | what a Worker is made of, how specifiers resolve, and the errors of both |
//! | [`rpc`] | JS RPC: values as bytes plus capabilities, stubs, targets, sessions |
//! | [`api`] | Web and Workers APIs, one room each: a Rust half and, where natural, a JavaScript half in `js/` |
//! | [`channel`] | the traits through which everything leaves an isolate |
//! | [`objects`] | Durable Objects: their ids, and the trait to a namespace |
//! | [`trace`] | what an invocation tells of itself: the events of its trace, and the traits to a sink |
//! | [`fatal`] | V8 giving up: who is told, and why |
//! | `guard` | what V8 calls of ours, and what becomes of a panic in it |
//! | [`dynamic`] | loading Workers from a Worker: what a parent says, and the traits to a loader |
//! | [`compat`] | compatibility dates and flags: which behaviours a Worker asked for |

pub mod api;
pub mod channel;
mod code_cache;
pub mod compat;
pub mod dynamic;
pub mod error;
pub mod fatal;
mod globals;
mod guard;
pub mod invocation;
pub mod isolate;
mod js;
pub mod limits;
pub mod modules;
pub mod objects;
pub mod rpc;
pub mod setup;
pub mod trace;
mod vm;
