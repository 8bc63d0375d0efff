//! Behaviour of the crate through its public doors. Cases are data; each says what goes in and what comes out.

#![allow(clippy::unwrap_used, reason = "a test that fails says where")]

mod encoded_configs;
mod projects;
mod text_configs;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loaderd_loader::config::Config;
use loaderd_wrangler_compat::{Diagnostic, Document, Encoded, InMemory};

/// Files by path, for one test.
fn files(files: &[(&str, &str)]) -> InMemory {
    let table: BTreeMap<PathBuf, Vec<u8>> =
        files.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect();
    InMemory(table)
}

/// Evaluates the only config of `config.capnp`.
fn evaluate(files: &InMemory, import_path: &[&str]) -> Result<Encoded, Vec<Diagnostic>> {
    let import_path: Vec<PathBuf> = import_path.iter().map(PathBuf::from).collect();
    let mut document =
        Document::open(files, Path::new("config.capnp"), &import_path).map_err(|problem| vec![problem])?;
    document.evaluate(None)
}

/// Reads a config whose value is `value`, in the one line `const config :Workerd.Config = VALUE;`, the second one.
fn read_value(value: &str) -> Result<Config, Vec<String>> {
    read(&[("config.capnp", &format!("{IMPORT}\nconst config :Workerd.Config = {value};\n"))])
}

const IMPORT: &str = "using Workerd = import \"/workerd/workerd.capnp\";";

/// Reads `config.capnp` of these files all the way to a [`Config`].
fn read(table: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let table = files(table);
    let decoded = evaluate(&table, &["lib"]).and_then(|encoded| encoded.decode());
    decoded.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}
