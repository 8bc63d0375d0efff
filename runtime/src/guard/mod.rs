//! What V8 calls of ours, and what becomes of a panic in it.
//!
//! Nothing may unwind through V8's frames: a panic that gets there aborts the process, with every isolate in it. So V8 is
//! given functions of ours here and nowhere else ([`callbacks`]; clippy refuses its own ways of taking them), and each
//! runs inside [`contain`]. A panic costs its isolate: that ends with a cause which says that it was the platform's fault,
//! and from then on nothing of ours runs for it except what tears it down, so that whatever the panic left half done is
//! not looked at again.

pub(crate) mod callbacks;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::limits::Cause;

/// When V8 calls us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Callback {
    /// JavaScript calls a function of ours.
    Function,
    /// JavaScript reads a property that is made when it is read.
    Getter,
    /// JavaScript writes such a property.
    Setter,
    /// A module is linked: what an import means.
    Import,
    /// A module is linked: what an import of a source means.
    SourceImport,
    /// `import()` and `import.source()`.
    DynamicImport,
    /// `import.meta` is made.
    ImportMeta,
    /// A module that is no ES module is evaluated.
    SyntheticModule,
    /// A promise is rejected without a handler, or gets one late.
    Rejection,
    /// An exception has come to the end of the stack.
    Message,
    /// An error's stack is made.
    StackTrace,
    /// A value is written.
    Serialize,
    /// A value is read.
    Deserialize,
    /// A collection of garbage is over.
    Collected,
    /// The heap is all but full.
    HeapLimit,
    /// What a finalizer was for is gone.
    Finalizer,
    /// The thread does what another one asked it for.
    Interrupt,
    /// WebAssembly is to be compiled from bytes.
    WasmFromBytes,
    /// An ArrayBuffer is allocated or freed.
    Allocate,
}

impl Callback {
    /// As logs spell it.
    fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Getter => "getter",
            Self::Setter => "setter",
            Self::Import => "import",
            Self::SourceImport => "source import",
            Self::DynamicImport => "dynamic import",
            Self::ImportMeta => "import.meta",
            Self::SyntheticModule => "synthetic module",
            Self::Rejection => "rejection",
            Self::Message => "message",
            Self::StackTrace => "stack trace",
            Self::Serialize => "serialize",
            Self::Deserialize => "deserialize",
            Self::Collected => "collection",
            Self::HeapLimit => "heap limit",
            Self::Finalizer => "finalizer",
            Self::Interrupt => "interrupt",
            Self::WasmFromBytes => "WebAssembly from bytes",
            Self::Allocate => "allocation",
        }
    }

    /// Whether it is needed for the isolate's end too, whatever has happened.
    fn always(self) -> bool {
        self == Self::Allocate
    }
}

/// What is thrown in place of an exception that was lost.
const LOST: &str = "internal error: the reason is not known";

thread_local! {
    /// A function of ours has panicked on this thread, whose isolate is condemned.
    static PANICKED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a function of ours has panicked on this thread: nothing that its isolate has made is to be used any more.
pub(crate) fn has_panicked() -> bool {
    PANICKED.get()
}

/// Runs what V8 called. `None`: it panicked, or something did before.
pub(crate) fn contain<T>(callback: Callback, work: impl FnOnce() -> T) -> Option<T> {
    if PANICKED.get() && !callback.always() {
        return None;
    }
    // What a panic may leave half done belongs to the isolate, which ends.
    let done = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(test)]
        tests::panic_if_asked(callback);
        work()
    }));
    if done.is_err() {
        PANICKED.set(true);
        tracing::error!(callback = callback.name(), "a callback of the platform panicked; its isolate is gone");
        crate::fatal::with_isolate(|isolate| isolate.end(Cause::InternalError));
    }
    done.ok()
}

/// The same for callbacks that may throw: after a panic, this does.
fn contain_in<'s, 'i>(
    callback: Callback,
    scope: &mut v8::PinScope<'s, 'i>,
    work: impl FnOnce(&mut v8::PinScope<'s, 'i>),
) {
    contain_throwing(callback, scope, |scope| {
        work(scope);
        Some(())
    });
}

/// The same for callbacks that may give V8 nothing.
fn contain_throwing<'s, 'i, T>(
    callback: Callback,
    scope: &mut v8::PinScope<'s, 'i>,
    work: impl FnOnce(&mut v8::PinScope<'s, 'i>) -> Option<T>,
) -> Option<T> {
    match contain(callback, || work(scope)) {
        Some(done) => done,
        None => {
            throw(scope, Cause::InternalError.message());
            None
        }
    }
}

/// The same for callbacks that must have thrown where they give V8 nothing: it ends the process when they have not. Near the
/// end of the stack nearly anything fails, and an exception is easily lost.
fn contain_or_throw<'s, 'i, T>(
    callback: Callback,
    scope: &mut v8::PinScope<'s, 'i>,
    work: impl FnOnce(&mut v8::PinScope<'s, 'i>) -> Option<T>,
) -> Option<T> {
    v8::tc_scope!(let scope, scope);
    if let Some(done) = contain_throwing(callback, scope, work) {
        return Some(done);
    }
    if !scope.has_caught() {
        throw(scope, LOST);
    }
    if !scope.has_terminated() {
        scope.rethrow();
    }
    None
}

/// Throws where nothing else was thrown. After a panic it is what a program sees in the few steps until V8 notices that it
/// is to stop.
fn throw(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    if !scope.is_execution_terminating()
        && let Some(message) = v8::String::new(scope, message)
    {
        let error = v8::Exception::error(scope, message);
        scope.throw_exception(error);
    }
}

#[cfg(test)]
pub(crate) mod tests;
