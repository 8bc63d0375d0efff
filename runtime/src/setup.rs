//! Process-global V8 state: flags, each with its reason, and the platform. Nothing else in the workspace sets either.

use std::sync::Once;

const SINGLE_THREADED: &str = "--single-threaded";

/// V8 flags. All of them hold for the whole process, so they are decided here and nowhere else.
const FLAGS: &[(&str, &str)] = &[
    // Garbage collection and compilation run on the isolate's own thread, so the CPU they cost is charged to the
    // program that caused it, and a hostile program cannot burn a helper thread that no meter watches.
    (SINGLE_THREADED, "all work on the metered thread"),
    // A fatal error must not dump a program's source and heap to a terminal or a core file.
    ("--no-abort-on-uncaught-exception", "uncaught errors end a pass, not the process"),
    // workerd does not define Temporal, and the prebuilt library has none: both ways of getting V8 behave alike.
    ("--no-harmony-temporal", "same globals as workerd"),
    // `using` and `await using` are what stubs' `Symbol.dispose` is for.
    ("--js-explicit-resource-management", "same syntax as workerd"),
    ("--js-float16array", "same globals as workerd"),
    ("--js-source-phase-imports", "same syntax as workerd"),
    // One WebAssembly memory has at most as many pages as an isolate may have memory by default: growth is only seen a few
    // milliseconds later.
    ("--wasm-max-mem-pages=2048", "128 MB in one memory"),
    // Heaps are small and short-lived; marking in small steps only adds write-barrier cost.
    ("--no-incremental-marking", "small heaps"),
];

static INITIALIZED: Once = Once::new();

/// Sets V8 up for the process. Further calls do nothing.
///
/// Must be called on the main thread before any other thread exists: V8 guards its code pages with a memory
/// protection key, and a thread inherits the rights to it only from a thread that already has them.
pub fn initialize() {
    set_up(&[], 0);
}

/// The same, with further flags that whoever runs the process asks for. V8 stays single-threaded all the same.
///
/// # Errors
/// The flags that V8 does not know. It is set up without them.
pub fn initialize_with_flags(flags: &[String]) -> Result<(), Vec<String>> {
    let unknown = set_up(flags, 0);
    if unknown.is_empty() { Ok(()) } else { Err(unknown) }
}

/// Sets V8 up as it is not used here: with threads of its own that collect garbage and compile beside the isolates', at
/// nobody's expense. For measuring what that would gain.
pub fn initialize_with_helpers(threads: u32) {
    set_up(&[], threads);
}

/// Gives back the flags that V8 does not know.
fn set_up(flags: &[String], helpers: u32) -> Vec<String> {
    let mut unknown = Vec::new();
    INITIALIZED.call_once(|| {
        for (flag, _reason) in FLAGS.iter().filter(|(flag, _)| helpers == 0 || *flag != SINGLE_THREADED) {
            v8::V8::set_flags_from_string(flag);
        }
        // The first of them is taken for the program's name, and given back with the rest.
        let line = std::iter::once("v8").map(str::to_owned).chain(flags.iter().cloned()).collect();
        unknown = v8::V8::set_flags_from_command_line(line).split_off(1);
        if helpers == 0 {
            // Last, whatever was asked for: the platform has no workers, and V8 would follow a null pointer to them as soon
            // as it has a task for one (such as giving back pages after a collection).
            v8::V8::set_flags_from_string(SINGLE_THREADED);
        }
        // Left to itself, V8 reads /dev/urandom, and seeds itself from the clock where it cannot: in a sandbox process
        // there are no files, and `Math.random()` and hash seeds could be guessed.
        #[expect(clippy::disallowed_methods, reason = "it has no isolate yet, and nothing in it panics")]
        v8::V8::set_entropy_source(|buffer: &mut [u8]| getrandom::fill(buffer).is_ok());
        // With everything on the isolates' threads, the platform needs no workers of its own.
        let platform = match helpers {
            0 => v8::new_single_threaded_default_platform(false),
            threads => v8::new_default_platform(threads, false),
        };
        crate::fatal::listen();
        let platform = platform.make_shared();
        v8::V8::initialize_platform(platform);
        v8::V8::initialize();
        crate::limits::watchdog::start();
    });
    unknown
}

/// The V8 version this binary was built with.
#[must_use]
pub fn v8_version() -> &'static str {
    v8::V8::get_version()
}
