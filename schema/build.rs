//! Compiles each `*.capnp` file of this crate with the `capnp` tool.

fn main() {
    let files = ["workerd.capnp"];
    for file in files {
        println!("cargo::rerun-if-changed={file}");
    }
    let mut command = capnpc::CompilerCommand::new();
    for file in files {
        command.file(file);
    }
    if let Err(error) = command.run() {
        println!("cargo::error=Cap'n Proto's schema compiler failed (Debian's package `capnproto` has it): {error}");
        std::process::exit(1);
    }
}
