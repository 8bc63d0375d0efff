//! Turns the schemas beside this file into Rust, with Debian's `capnp` tool.

use std::process::{Command, ExitCode};

/// One file a protocol or format.
const SCHEMAS: [&str; 3] = ["channel.capnp", "executor.capnp", "workerd.capnp"];

fn main() -> ExitCode {
    for schema in SCHEMAS {
        println!("cargo::rerun-if-changed={schema}");
    }
    if Command::new("capnp").arg("--version").output().is_err() {
        println!(
            "cargo::error=the Cap'n Proto compiler `capnp` is missing: install it with `apt-get install capnproto`"
        );
        return ExitCode::FAILURE;
    }
    let mut compiler = capnpc::CompilerCommand::new();
    for schema in SCHEMAS {
        compiler.file(schema);
    }
    match compiler.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("cargo::error=the Cap'n Proto schemas do not compile: {}", error.to_string().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
