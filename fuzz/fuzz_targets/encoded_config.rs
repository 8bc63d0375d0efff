//! An encoded config, as a tool or a stranger would send it: read or refused, and never more than that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loaderd_wrangler_compat::Encoded;

fuzz_target!(|bytes: &[u8]| {
    let Ok(encoded) = Encoded::from_bytes(bytes) else { return };
    let _ = encoded.decode();
    let _ = encoded.to_bytes();
});
