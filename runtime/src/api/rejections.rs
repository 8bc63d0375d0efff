//! Promises that were rejected without a handler: collected while JavaScript runs, told to the program's listeners and
//! then to the host once its microtasks are done, as on the platform.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::{Uncaught, host, registry};
use crate::guard::callbacks;

/// Rejections collected in one turn; more are not told.
const PENDING_MAX: usize = 1_024;

/// Told rejections that a late handler may still call off with `rejectionhandled`; older ones are forgotten.
const TOLD_MAX: usize = 256;

/// Rounds of listeners and the microtasks they queue in one turn.
const ROUNDS_MAX: usize = 64;

#[derive(Default)]
struct Rejections {
    pending: RefCell<Vec<(v8::Global<v8::Promise>, v8::Global<v8::Value>)>>,
    told: RefCell<VecDeque<v8::Weak<v8::Promise>>>,
    handled: RefCell<Vec<v8::Global<v8::Promise>>>,
}

/// Starts collecting in this isolate.
pub(super) fn watch(scope: &mut v8::PinScope<'_, '_>) {
    scope.set_slot(Rc::new(Rejections::default()));
    callbacks::listen_to_rejections(scope);
}

/// An exception that nothing caught.
pub(crate) fn uncaught(scope: &mut v8::PinScope<'_, '_>, exception: v8::Local<'_, v8::Value>) {
    if let Some(host) = super::host(scope) {
        host.report_exception(scope, exception, super::Uncaught::Thrown);
    }
}

/// A promise was rejected without a handler, or has got one late.
pub(crate) fn rejected(scope: &mut v8::PinScope<'_, '_>, message: &v8::PromiseRejectMessage<'_>) {
    let Some(rejections) = scope.get_slot::<Rc<Rejections>>().cloned() else { return };
    let promise = message.get_promise();
    match message.get_event() {
        v8::PromiseRejectEvent::PromiseRejectWithNoHandler => {
            let Some(reason) = message.get_value() else { return };
            let entry = (v8::Global::new(scope, promise), v8::Global::new(scope, reason));
            let mut pending = rejections.pending.borrow_mut();
            if pending.len() < PENDING_MAX {
                pending.push(entry);
            }
        }
        v8::PromiseRejectEvent::PromiseHandlerAddedAfterReject => {
            let mut pending = rejections.pending.borrow_mut();
            if let Some(index) = pending.iter().position(|(known, _)| *known == promise) {
                pending.remove(index);
                return;
            }
            let mut told = rejections.told.borrow_mut();
            if let Some(index) = told.iter().position(|known| *known == promise) {
                told.remove(index);
                rejections.handled.borrow_mut().push(v8::Global::new(scope, promise));
            }
        }
        v8::PromiseRejectEvent::PromiseRejectAfterResolved | v8::PromiseRejectEvent::PromiseResolveAfterResolved => {}
    }
}

/// Tells what was collected. Call it after each microtask checkpoint, with the invocation that ran still current; it
/// runs the program's listeners and the microtasks they queue.
pub fn tell(scope: &mut v8::PinScope<'_, '_>) {
    let Some(rejections) = scope.get_slot::<Rc<Rejections>>().cloned() else { return };
    for _ in 0..ROUNDS_MAX {
        let pending = std::mem::take(&mut *rejections.pending.borrow_mut());
        let handled = std::mem::take(&mut *rejections.handled.borrow_mut());
        if pending.is_empty() && handled.is_empty() {
            return;
        }
        v8::scope!(let scope, scope);
        for (promise, reason) in pending {
            let (promise, reason) = (v8::Local::new(scope, promise), v8::Local::new(scope, reason));
            // Before its listeners run: one of them may be the late handler.
            let told = v8::Weak::new(scope, promise);
            {
                let mut list = rejections.told.borrow_mut();
                if list.len() == TOLD_MAX {
                    list.pop_front();
                }
                list.push_back(told);
            }
            let prevented = dispatch(scope, "unhandledrejection", promise, reason);
            if scope.is_execution_terminating() {
                return;
            }
            if !prevented && let Some(host) = host(scope) {
                host.report_exception(scope, reason, Uncaught::InPromise);
            }
        }
        for promise in handled {
            let promise = v8::Local::new(scope, promise);
            let nothing = v8::undefined(scope).into();
            dispatch(scope, "rejectionhandled", promise, nothing);
            if scope.is_execution_terminating() {
                return;
            }
        }
        scope.perform_microtask_checkpoint();
    }
}

/// Dispatches an event to the global scope's listeners; whether one of them prevented the default.
fn dispatch<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    kind: &str,
    promise: v8::Local<'s, v8::Promise>,
    reason: v8::Local<'s, v8::Value>,
) -> bool {
    // Without the room nobody can have added a listener.
    if !registry::is_loaded(scope, "events") {
        return false;
    }
    v8::tc_scope!(let scope, scope);
    let Some(function) = registry::export(scope, "events", "dispatchRejection") else { return false };
    let Ok(function) = v8::Local::<v8::Function>::try_from(function) else { return false };
    let Some(kind) = v8::String::new(scope, kind) else { return false };
    let undefined = v8::undefined(scope);
    let prevented = function.call(scope, undefined.into(), &[kind.into(), promise.into(), reason]);
    if let Some(thrown) = scope.exception().filter(|_| !scope.has_terminated()) {
        scope.reset();
        if let Some(host) = host(scope) {
            host.report_exception(scope, thrown, Uncaught::Thrown);
        }
        return false;
    }
    prevented.is_some_and(|prevented| prevented.is_true())
}
