//! What strangers send, mutated: the checks of `fuzz/`, run on seeds of our own with a generator whose failures repeat.
//! Not as thorough as the fuzzer, and part of every test run. `LOADERD_MUTATIONS` says how many of each.

use std::collections::BTreeMap;
use std::path::Path;

use libtest_mimic::Trial;
use loaderd_runtime::rpc::Message;
use loaderd_runtime::rpc::plain::Plain;
use loaderd_wrangler_compat::{Document, Encoded, InMemory};

/// Mutations of each kind where nothing is said.
const MUTATIONS: usize = 5_000;

const JSON: &[&str] = &[
    r#"{"a":[1,-0.5e-7,true,null,"\ud800é😀"],"":{"__proto__":[]}}"#,
    r#"[[[[["deep"]]]],1e308,12345678901234567890]"#,
    r#""a string\u0000\n""#,
];

const CONFIG: &[&str] = &[
    "using Workerd = import \"/workerd/workerd.capnp\";\nconst config :Workerd.Config = (\n  services = [ (name = \"main\", \
     worker = .w) ],\n  sockets = [ ( name = \"http\", address = \"*:8080\", http = (), service = \"main\" ) ]\n);\n\
     const w :Workerd.Worker = ( modules = [ (name = \"m\", esModule = \"export default {}\") ], compatibilityDate = \
     \"2025-01-01\", bindings = [ (name = \"A\", text = \"x\"), (name = \"B\", json = \"[1]\") ] );\n",
];

/// One check of one input.
type Check = fn(&[u8]) -> Result<(), String>;

pub(crate) fn trials() -> Vec<Trial> {
    let message = |text: &&str| Plain::from_json(text).expect("JSON").to_message().expect("plain").bytes.to_vec();
    let bytes = |text: &&str| text.as_bytes().to_vec();
    let encoded = |text: &&str| encode(text.as_bytes()).expect("a config").to_bytes().expect("bytes");
    let kinds: Vec<(&str, Check, Vec<Vec<u8>>)> = vec![
        ("plain_decode", plain_decode, JSON.iter().map(message).collect()),
        ("plain_json", plain_json, JSON.iter().map(bytes).collect()),
        ("text_config", text_config, CONFIG.iter().map(bytes).collect()),
        ("encoded_config", encoded_config, CONFIG.iter().map(encoded).collect()),
    ];
    kinds
        .into_iter()
        .map(|(name, check, seeds)| {
            Trial::test(format!("mutations::{name}"), move || mutate(check, &seeds).map_err(Into::into))
        })
        .collect()
}

fn mutate(check: Check, seeds: &[Vec<u8>]) -> Result<(), String> {
    let count = std::env::var("LOADERD_MUTATIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(MUTATIONS);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 11).unwrap_or(0) % below.max(1)
    };
    for seed in seeds {
        check(seed)?;
    }
    for _ in 0..count {
        let mut bytes = seeds[random(seeds.len())].clone();
        for _ in 0..=random(6) {
            let at = random(bytes.len());
            match random(5) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap_or(0),
                1 => bytes[at] ^= 1 << random(8),
                2 => drop(bytes.drain(at..(at + 1 + random(8)).min(bytes.len()))),
                3 => {
                    let piece = bytes[at..(at + 1 + random(16)).min(bytes.len())].to_vec();
                    let to = random(bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => bytes.truncate(at.max(1)),
            }
            if bytes.is_empty() {
                bytes.push(0);
            }
        }
        // What panics is printed by the harness; what it was made of is printed here.
        let checked = std::panic::catch_unwind(|| check(&bytes));
        match checked {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => return Err(format!("{problem}: {}", bytes.escape_ascii())),
            Err(_) => return Err(format!("a panic: {}", bytes.escape_ascii())),
        }
    }
    Ok(())
}

fn same<T: PartialEq>(what: &str, one: T, other: T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{what} differs the second time")) }
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn plain_decode(bytes: &[u8]) -> Result<(), String> {
    let message = Message { bytes: bytes.to_vec().into(), caps: Vec::new() };
    let Ok(value) = Plain::from_message(&message) else { return Ok(()) };
    let Ok(written) = value.to_message() else { return Ok(()) };
    let again = Plain::from_message(&written).map_err(text)?;
    same("the message", &again.to_message().map_err(text)?.bytes, &written.bytes)?;
    same("the JSON", again.to_json().ok(), value.to_json().ok())
}

fn plain_json(bytes: &[u8]) -> Result<(), String> {
    let Ok(json) = std::str::from_utf8(bytes) else { return Ok(()) };
    let Ok(value) = Plain::from_json(json) else { return Ok(()) };
    let written = value.to_json().map_err(text)?.ok_or("JSON has no undefined")?;
    let again = Plain::from_json(&written).map_err(text)?;
    same("the JSON", again.to_json().map_err(text)?, Some(written))
}

fn encode(config: &[u8]) -> Option<Encoded> {
    let files = InMemory(BTreeMap::from([("config.capnp".into(), config.to_vec())]));
    let mut document = Document::open(&files, Path::new("config.capnp"), &[]).ok()?;
    document.evaluate(None).ok()
}

fn text_config(bytes: &[u8]) -> Result<(), String> {
    let Some(encoded) = encode(bytes) else { return Ok(()) };
    let again = Encoded::from_bytes(&encoded.to_bytes().map_err(text)?).map_err(text)?;
    same("whether it is a config", encoded.decode().is_ok(), again.decode().is_ok())
}

fn encoded_config(bytes: &[u8]) -> Result<(), String> {
    let Ok(encoded) = Encoded::from_bytes(bytes) else { return Ok(()) };
    let _ = encoded.decode();
    let _ = encoded.to_bytes();
    Ok(())
}
