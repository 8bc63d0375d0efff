//! A workerd config as text, as anybody may write it. What can be read can be encoded, and means the same then.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use loaderd_wrangler_compat::{Document, Encoded, InMemory};

fuzz_target!(|text: &[u8]| {
    let files = InMemory(BTreeMap::from([("config.capnp".into(), text.to_vec())]));
    let Ok(mut document) = Document::open(&files, Path::new("config.capnp"), &[]) else { return };
    let Ok(encoded) = document.evaluate(None) else { return };
    let bytes = encoded.to_bytes().expect("what we built, we write");
    let again = Encoded::from_bytes(&bytes).expect("what we write, we read");
    assert_eq!(encoded.decode().is_ok(), again.decode().is_ok());
});
