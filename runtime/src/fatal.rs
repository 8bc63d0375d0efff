//! When V8 gives up: it ends the process, and before it does somebody is told why.
//!
//! That is not how limits work: a heap's limit is met long before (see `limits/memory.rs`). What is left are single requests
//! that V8 has no way to refuse, such as an array longer than arrays can be, and its own failed checks.

use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, OnceLock, Weak};

use crate::isolate::inbox::Shared;
use crate::limits::Cause;

/// Why V8 gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fatal {
    /// A program wants more memory than there is. Its isolate's cause says so.
    OutOfMemory,
    /// V8 stopped on purpose, which it does when it is to make something larger than it can: an array of 2^28 items. Its
    /// isolate's cause says that it wanted too much memory.
    Abort,
    /// A check of V8's own failed, or a trap was met that is no part of it. Its isolate's cause says that this was not the
    /// program's limit.
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

/// Lets `tell` have the isolate of this thread. There is none on a thread that is ending, or of the platform's own.
pub(crate) fn with_isolate(tell: impl FnOnce(&Shared)) {
    let isolate = ISOLATE.try_with(|own| own.try_borrow().ok().and_then(|own| own.upgrade()));
    if let Some(isolate) = isolate.ok().flatten() {
        tell(&isolate);
    }
}

/// What V8 says of something that would be larger than it can be, when it takes that for a failed check.
const TOO_LARGE: &str = "Fatal JavaScript invalid size error";

/// Has V8 tell of its failed checks, and the system of its aborts. Once, before V8 is initialised.
pub(crate) fn listen() {
    // What they say goes nowhere: it may quote a program.
    #[expect(clippy::disallowed_methods, reason = "the process ends, whatever becomes of this function")]
    v8::V8::set_fatal_error_handler(|_file: &str, _line: i32, message: &str| {
        gave_up(if message.starts_with(TOO_LARGE) { Fatal::Abort } else { Fatal::Check });
    });
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut c_void) = trapped;
    // SAFETY: all of it is plain data, for which zeroes are right.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as libc::sighandler_t;
    action.sa_flags = libc::SA_SIGINFO;
    // SAFETY: sets the handler of a signal that nothing else in the process has a use for.
    unsafe { libc::sigaction(libc::SIGTRAP, &raw const action, std::ptr::null_mut()) };
}

/// V8 aborts by a trap, on the thread that cannot go on and outside any allocation, so that this may do more than handlers
/// of other signals. Mostly it has said why before. It has not where it takes the reason for harmless, which are things
/// that would be too large; and a trap that comes from elsewhere is a defect, or somebody's try to make use of one.
extern "C" fn trapped(signal: libc::c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system calls this with the context of the thread that was stopped, on whose stack it is.
    let on_purpose = unsafe { stopped_on_purpose(context.cast()) };
    gave_up(if on_purpose { Fatal::Abort } else { Fatal::Check });
    // SAFETY: ends the process as it would have ended without this handler.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

// SAFETY: the function is never called: only where it is matters.
unsafe extern "C" {
    /// Where V8 stops for what it takes for harmless: it prints that, tells nobody, and aborts.
    #[link_name = "_ZN2v84base21FatalNoSecurityImpactEPKcz"]
    fn v8_fatal_without_security_impact();
}

/// More than the bytes of that function.
const FATAL_FUNCTION_BYTES_MAX: usize = 512;

/// The words of the stack in which the address is that the abort would return to.
const ABORT_STACK_WORDS: usize = 32;

/// Whether a thread was stopped within the function above.
///
/// # Safety
/// `context` is that of a thread that a signal has stopped, and which stays so.
unsafe fn stopped_on_purpose(context: *const libc::ucontext_t) -> bool {
    let start = v8_fatal_without_security_impact as *const () as usize;
    // SAFETY: see above. The words are the thread's own, of calls that have not returned.
    let mut words = unsafe {
        let stack = stack_pointer(context);
        (0..ABORT_STACK_WORDS).map(move |word| stack.add(word).read_unaligned())
    };
    words.any(|word| word > start && word - start <= FATAL_FUNCTION_BYTES_MAX)
}

/// # Safety
/// As of [`stopped_on_purpose`].
#[cfg(target_arch = "x86_64")]
unsafe fn stack_pointer(context: *const libc::ucontext_t) -> *const usize {
    // SAFETY: as of `stopped_on_purpose`.
    let pointer = unsafe { (*context).uc_mcontext.gregs[libc::REG_RSP as usize] };
    std::ptr::with_exposed_provenance(pointer as usize)
}

/// # Safety
/// As of [`stopped_on_purpose`].
#[cfg(target_arch = "aarch64")]
unsafe fn stack_pointer(context: *const libc::ucontext_t) -> *const usize {
    // SAFETY: as of `stopped_on_purpose`.
    let pointer = unsafe { (*context).uc_mcontext.sp };
    std::ptr::with_exposed_provenance(pointer as usize)
}

/// V8 found no memory for an isolate.
///
/// # Safety
/// None of it: it looks at nothing. V8 wants the signature.
pub(crate) unsafe extern "C" fn out_of_memory(_location: *const c_char, _details: &v8::OomDetails) {
    gave_up(Fatal::OutOfMemory);
}

fn gave_up(why: Fatal) {
    /// Whether V8 has said why. The trap that follows says less.
    static SAID: AtomicBool = AtomicBool::new(false);
    if SAID.swap(true, SeqCst) {
        return;
    }
    with_isolate(|isolate| {
        isolate.note_fatal(match why {
            Fatal::OutOfMemory | Fatal::Abort => Cause::ExceededMemory,
            Fatal::Check => Cause::InternalError,
        });
    });
    if let Some(handler) = HANDLER.get() {
        handler(why);
    }
}
