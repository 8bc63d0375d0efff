//! The Cap'n Proto protocols and formats loaderd speaks, one file each, as generated code.

#![allow(unreachable_pub, clippy::undocumented_unsafe_blocks, reason = "generated code")]

/// workerd's configuration format.
pub mod workerd_capnp {
    include!(concat!(env!("OUT_DIR"), "/workerd_capnp.rs"));
}
