//! When V8 gives up: it ends the process, and before it does somebody is told why.
//!
//! That is not how limits work: a heap's limit is met long before (see `limits/memory.rs`). What is left are single requests
//! that V8 has no way to refuse, such as an array longer than arrays can be, and its own failed checks.

use std::cell::RefCell;
use std::ffi::c_char;
use std::sync::{Arc, OnceLock, Weak};

use crate::isolate::inbox::Shared;
use crate::limits::Cause;

/// Why V8 gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fatal {
    /// A program wants more memory than there is. Its isolate's cause says so.
    OutOfMemory,
    /// V8 stopped on purpose and without a word, which it does when it is to make something larger than it can: an array of
    /// 2^28 items. Its isolate's cause says that it wanted too much memory.
    Abort,
    /// A check of V8's own failed.
    Check,
}

/// Called on the thread that cannot go on, wherever V8 stands on it: may look and tell, must not call V8, wait for another
/// isolate or unwind. When it returns, V8 aborts the process.
pub type FatalHandler = fn(Fatal);

static HANDLER: OnceLock<FatalHandler> = OnceLock::new();

thread_local! {
    /// The isolate that lives on this thread.
    static ISOLATE: RefCell<Weak<Shared>> = const { RefCell::new(Weak::new()) };
}

/// Sets who is told, for the whole process. Only the first call counts.
pub fn on_fatal(handler: FatalHandler) {
    // A later one is not better than the first.
    let _ = HANDLER.set(handler);
}

/// Notes whose thread this is.
pub(crate) fn enter(isolate: &Arc<Shared>) {
    ISOLATE.with(|own| *own.borrow_mut() = Arc::downgrade(isolate));
}

/// Has V8 tell of its failed checks, and the system of its aborts. Once, before V8 is initialised.
pub(crate) fn listen() {
    // What they say goes nowhere: it may quote a program.
    v8::V8::set_fatal_error_handler(|_file: &str, _line: i32, _message: &str| gave_up(Fatal::Check));
    let handler: extern "C" fn(libc::c_int) = trapped;
    // SAFETY: sets the handler of a signal that nothing else in the process has a use for.
    unsafe { libc::signal(libc::SIGTRAP, handler as libc::sighandler_t) };
}

/// V8 aborts by a trap, on the thread that cannot go on and outside any allocation, so that this may do more than handlers
/// of other signals.
extern "C" fn trapped(signal: libc::c_int) {
    gave_up(Fatal::Abort);
    // SAFETY: ends the process as it would have ended without this handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// V8 found no memory for an isolate.
///
/// # Safety
/// None of it: it looks at nothing. V8 wants the signature.
pub(crate) unsafe extern "C" fn out_of_memory(_location: *const c_char, _details: &v8::OomDetails) {
    gave_up(Fatal::OutOfMemory);
}

fn gave_up(why: Fatal) {
    if why != Fatal::Check {
        // No isolate: a thread that is ending, or one of the platform's own.
        let isolate = ISOLATE.try_with(|own| own.try_borrow().ok().and_then(|own| own.upgrade()));
        if let Some(isolate) = isolate.ok().flatten() {
            isolate.note_fatal(Cause::ExceededMemory);
        }
    }
    if let Some(handler) = HANDLER.get() {
        handler(why);
    }
}
