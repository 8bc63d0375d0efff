//! Configs that come as Cap'n Proto messages, from tools or from whoever.

use loaderd_schema::workerd_capnp;
use loaderd_wrangler_compat::Encoded;

use super::{IMPORT, evaluate, files};

fn message(fill: impl FnOnce(workerd_capnp::config::Builder<'_>), segment_words: u32) -> Vec<u8> {
    let allocator = capnp::message::HeapAllocator::new()
        .first_segment_words(segment_words)
        .allocation_strategy(capnp::message::AllocationStrategy::FixedSize);
    let mut message = capnp::message::Builder::new(allocator);
    fill(message.init_root());
    capnp::serialize::write_message_to_words(&message)
}

#[test]
fn text_becomes_a_message_of_one_segment_that_reads_back() {
    let text = format!(
        "{IMPORT}\nconst config :Workerd.Config = (v8Flags = [\"--a\"], services = [(name = \"n\", network = ())]);"
    );
    let table = files(&[("config.capnp", &text)]);
    let bytes = evaluate(&table, &[]).unwrap().to_bytes().unwrap();
    assert_eq!(bytes[..4], [0; 4], "one segment");
    let config = Encoded::from_bytes(&bytes).unwrap().decode().unwrap();
    assert_eq!((config.v8_flags[0].as_str(), config.services[0].name.as_str()), ("--a", "n"));
}

#[test]
fn several_segments_are_one_message() {
    let bytes = message(
        |mut config| {
            let mut services = config.reborrow().init_services(20);
            for index in 0..20 {
                let mut service = services.reborrow().get(index);
                service.set_name("a name that fills more than one small segment");
                service.init_network();
            }
        },
        16,
    );
    assert!(bytes[0] > 0, "more than one segment");
    assert_eq!(Encoded::from_bytes(&bytes).unwrap().decode().unwrap().services.len(), 20);
}

#[test]
fn problems_name_the_field() {
    let bytes = message(
        |mut config| {
            config.reborrow().init_services(1).get(0).set_name("s");
        },
        64,
    );
    let problems = Encoded::from_bytes(&bytes).unwrap().decode().unwrap_err();
    assert_eq!(problems[0].to_string(), "services[0]: Service named \"s\" does not specify what to serve.");
}

#[test]
fn text_that_is_not_utf_8_is_refused_in_names_and_mended_in_source() {
    let bytes = message(
        |config| {
            let mut service = config.init_services(1).get(0);
            service.set_name(capnp::text::Reader(b"\xff"));
            service.init_network();
        },
        64,
    );
    let problems = Encoded::from_bytes(&bytes).unwrap().decode().unwrap_err();
    assert_eq!(problems[0].to_string(), "services[0].name: This has to be UTF-8 text.");

    let bytes = message(
        |config| {
            let mut worker = config.init_services(1).get(0).init_worker();
            worker.reborrow().init_modules(1).get(0).set_es_module(capnp::text::Reader(b"\xff"));
        },
        64,
    );
    Encoded::from_bytes(&bytes).unwrap().decode().unwrap();
}

#[test]
fn bytes_that_are_no_message_are_refused() {
    let good = message(
        |config| {
            config.init_v8_flags(3);
        },
        64,
    );
    // Cut anywhere, a message is refused or means less, and never more than an error comes of it.
    for length in 0..good.len() {
        if let Ok(encoded) = Encoded::from_bytes(&good[..length]) {
            let _ = encoded.decode();
        }
    }
    for byte in 0..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[byte] ^= 1 << bit;
            if let Ok(encoded) = Encoded::from_bytes(&bad) {
                let _ = encoded.decode();
                let _ = encoded.to_bytes();
            }
        }
    }
    assert!(Encoded::from_bytes(b"not a message").is_err());
    assert!(Encoded::from_bytes(&[0xff; 64]).is_err());
}

/// A message of a few words in which every list element is the same big list: reading it all would take for ever.
#[test]
fn amplification_is_bounded() {
    // The root is a struct with 5 pointers, as Config's; `services` (the first) is a list of structs of zero size, two
    // thousand million of them.
    let mut words: Vec<u64> = vec![0; 8];
    words[0] = 5 << 48; // a struct right behind: no data, five pointers
    words[1] = (u64::from(7_u32) << 32) | (4 << 2) | 1; // a composite list, four words on
    words[6] = ((1_u64 << 29) - 1) << 2; // its tag: half a thousand million elements of no size
    let mut bytes = vec![0, 0, 0, 0, words.len() as u8, 0, 0, 0];
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    assert!(Encoded::from_bytes(&bytes).unwrap().decode().is_err());
}
