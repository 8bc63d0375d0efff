//! Every example does what `examples/examples.json` says of it.

use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");

pub(crate) fn trials() -> Vec<Trial> {
    let text = std::fs::read_to_string(file("examples.json")).expect("examples/examples.json is readable");
    let cases: Vec<Value> = serde_json::from_str(&text).expect("examples/examples.json is a list");
    cases.into_iter().map(|case| Trial::test(format!("examples::{}", name(&case)), move || run(&case))).collect()
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(FOLDER).join(name)
}

fn name(case: &Value) -> String {
    let member = |name: &str| case[name].as_str().map(str::to_owned);
    member("program").or_else(|| member("request").map(|request| format!("requests/{request}"))).unwrap_or_default()
}

fn run(case: &Value) -> Result<(), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_loaderd"));
    command.args(["exec", "--json"]);
    if let Some(program) = case["program"].as_str() {
        command.arg(file("programs").join(program));
    }
    for (option, member, folder) in [("--request", "request", "requests"), ("--tools", "tools", "tools")] {
        if let Some(name) = case[member].as_str() {
            command.arg(option).arg(file(folder).join(name));
        }
    }
    command.args(case["options"].as_array().into_iter().flatten().filter_map(Value::as_str));
    let output = command.output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}; standard error: {}", String::from_utf8_lossy(&output.stderr)))?;
    if output.status.code().map(i64::from) != case["exit"].as_i64() {
        return Err(format!("ended with {}, answered {answer}", output.status).into());
    }
    if let Some(expected) = case.get("value")
        && answer["success"]["value"] != *expected
    {
        return Err(format!("expected {expected}, got {answer}").into());
    }
    for (member, expected) in case["failure"].as_object().into_iter().flatten() {
        if answer["failure"][member] != *expected {
            return Err(format!("expected {member} to be {expected}, got {answer}").into());
        }
    }
    Ok(())
}
