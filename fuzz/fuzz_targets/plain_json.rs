//! JSON text, as a program would send it. What is written reads as the same value, and is written the same again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loaderd_runtime::rpc::plain::Plain;

fuzz_target!(|text: &str| {
    let Ok(value) = Plain::from_json(text) else { return };
    let written = value.to_json().expect("what came as JSON can be JSON").expect("JSON has no undefined");
    let again = Plain::from_json(&written).expect("what we write, we read");
    assert_eq!(again.to_json().expect("it was written before").as_deref(), Some(written.as_str()));
});
