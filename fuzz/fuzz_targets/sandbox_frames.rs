//! What a sandbox process sends its broker. Whatever it is, everybody who waits for the process is answered once.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| loaderd_loader::sandbox::attacked::attack(bytes));
