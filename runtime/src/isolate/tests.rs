//! Turns that are no invocation's.

use crate::guard::tests::{code, isolate, start};
use crate::limits::Cause;

/// A program brings none about, so the test has one done.
#[test]
fn housekeeping_without_end_is_the_platforms_fault() {
    let (isolate, end) = isolate();
    isolate.load(code("await scheduler.wait(1e6)"), |_| {});
    let waiting = start(&isolate);
    let shared = isolate.shared().clone();
    isolate.shared().post_task(None, move |_| {
        while shared.cause().is_none() {
            std::hint::spin_loop();
        }
    });
    let error = waiting.recv().expect("an answer").expect_err("it does not come to its end");
    assert_eq!(error.cause, Some(Cause::InternalError));
    assert_eq!(end.recv(), Ok(Cause::InternalError));
}
