//! The Cap'n Proto protocols and formats of loaderd as Rust modules, generated when this crate is built.
//!
//! | Module | What it is for |
//! |---|---|
//! | [`channel_capnp`] | what the broker and a sandbox process say to each other |
//! | [`executor_capnp`] | the protocol between a client that wants programs run and `loaderd executor` |
//! | [`workerd_capnp`] | workerd's configuration format |

// Generated code follows its generator's style, not ours.
#![allow(
    unreachable_pub,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    clippy::unimplemented,
    clippy::unwrap_used,
    reason = "generated code"
)]

capnp::generated_code!(pub mod channel_capnp);
capnp::generated_code!(pub mod executor_capnp);
capnp::generated_code!(pub mod workerd_capnp);
