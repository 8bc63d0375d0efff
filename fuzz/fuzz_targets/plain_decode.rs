//! Bytes of a message, as a hostile sandbox would send them. What can be read can be written, and reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loaderd_runtime::rpc::Message;
use loaderd_runtime::rpc::plain::Plain;

fuzz_target!(|bytes: &[u8]| {
    let message = Message { bytes: bytes::Bytes::copy_from_slice(bytes), caps: Vec::new() };
    let Ok(value) = Plain::from_message(&message) else { return };
    let Ok(written) = value.to_message() else { return };
    let again = Plain::from_message(&written).expect("what we write, we read");
    assert_eq!(again.to_message().expect("it was written before").bytes, written.bytes);
    assert_eq!(again.to_json(), value.to_json());
});
