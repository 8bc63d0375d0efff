//! The Web APIs, against what workerd printed for the same programs.
//!
//! Each case is `api/NAME.js` (with `api/show.mjs`, where it imports that), a Worker module whose `test()` writes to the console, and `api/NAME.out`, the lines the
//! oracle printed for it (`api/record` makes them). Time is virtual: timers fire in order, without waiting.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use loaderd_runtime::api::{self, Host, TimerId, Uncaught};
use loaderd_runtime::channel::{ConsoleLevel, ConsoleSink};
use loaderd_runtime::compat::{CompatFlags, DateCheck, Experimental, Flag};

/// The epoch of the virtual clock, in milliseconds.
const START_MS: f64 = 1_790_000_000_000.0;

/// Timers one case may fire before it counts as endless.
const FIRINGS_MAX: usize = 100_000;

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl ConsoleSink for Lines {
    fn line(&self, _: ConsoleLevel, text: &str) {
        self.0.lock().expect("no test panics holding it").extend(text.split('\n').map(str::to_owned));
    }
}

/// A host with virtual time.
struct VirtualHost {
    now_ms: Cell<f64>,
    in_invocation: Cell<bool>,
    last: Cell<u64>,
    /// By due time (non-negative doubles order as their bits do) and number.
    timers: RefCell<BTreeMap<(u64, u64), v8::Global<v8::Function>>>,
    lines: Arc<Lines>,
    /// Those of the date that `api/record` names.
    flags: CompatFlags,
}

impl Host for VirtualHost {
    fn now_ms(&self) -> f64 {
        self.now_ms.get()
    }
    fn in_invocation(&self) -> bool {
        self.in_invocation.get()
    }
    fn invocation(&self) -> Option<u64> {
        self.in_invocation.get().then_some(1)
    }
    fn has_flag(&self, flag: Flag) -> bool {
        self.flags.has(flag)
    }
    fn console(&self) -> Option<Arc<dyn ConsoleSink>> {
        Some(self.lines.clone())
    }
    fn log(&self, format: &mut dyn FnMut()) {
        format();
    }

    fn charge_memory(&self, _bytes: i64) {
        // No isolate is metered here.
    }

    fn count_clone(
        &self,
        _scope: &mut v8::PinScope<'_, '_>,
        _buffer: v8::Local<'_, v8::Object>,
        _bytes: &v8::SharedRef<v8::BackingStore>,
    ) {
    }

    fn count_memory(
        &self,
        _: &mut v8::PinScope<'_, '_>,
        _: v8::Local<'_, v8::Object>,
        _: v8::SharedRef<v8::BackingStore>,
    ) {
        // No isolate is metered here.
    }

    fn start_timer(&self, delay_ms: f64, callback: v8::Global<v8::Function>) -> Option<TimerId> {
        let id = self.last.get() + 1;
        self.last.set(id);
        let due = (self.now_ms.get() + delay_ms).to_bits();
        self.timers.borrow_mut().insert((due, id), callback);
        Some(TimerId(id))
    }
    fn cancel_timer(&self, id: TimerId) {
        self.timers.borrow_mut().retain(|(_, known), _| *known != id.0);
    }
    fn report_exception(&self, _: &mut v8::PinScope<'_, '_>, _: v8::Local<'_, v8::Value>, _: Uncaught) {
        // What workerd says of it is among its own lines, which are not recorded.
    }
}

fn flags() -> CompatFlags {
    let none: [&str; 0] = [];
    CompatFlags::resolve("2026-07-01", &none, Experimental::Refused, DateCheck::Unchecked).expect("a good date")
}

/// Runs one case and answers with what it printed.
fn run(path: &Path) -> Vec<String> {
    let source = std::fs::read_to_string(path).expect("a readable case");
    let isolate = &mut v8::Isolate::new(v8::CreateParams::default());
    isolate.set_microtasks_policy(v8::MicrotasksPolicy::Explicit);
    let host = Rc::new(VirtualHost {
        now_ms: Cell::new(START_MS),
        in_invocation: Cell::new(false),
        last: Cell::new(0),
        timers: RefCell::default(),
        lines: Arc::default(),
        flags: flags(),
    });
    isolate.set_slot::<Rc<dyn Host>>(host.clone());
    {
        v8::scope!(let scope, isolate);
        let context = v8::Context::new(scope, v8::ContextOptions::default());
        let scope = &mut v8::ContextScope::new(scope, context);
        api::install(scope, context).expect("a new context has room");
        api::settle_flagged(scope);
        v8::tc_scope!(let scope, scope);
        if drive(scope, &source, &host).is_none() {
            let stack = scope
                .stack_trace()
                .map_or_else(|| "no exception".to_owned(), |stack| stack.to_rust_string_lossy(scope));
            panic!("{}: {stack}\n{}", path.display(), host.lines.0.lock().expect("not poisoned").join("\n"));
        }
        host.timers.borrow_mut().clear();
    }
    std::mem::take(&mut *host.lines.0.lock().expect("not poisoned"))
}

fn compile<'s>(scope: &v8::PinScope<'s, '_>, name: &str, source: &str) -> Option<v8::Local<'s, v8::Module>> {
    let text = v8::String::new(scope, source)?;
    let name = v8::String::new(scope, name)?;
    let origin = v8::ScriptOrigin::new(scope, name.into(), 0, 0, false, 0, None, false, false, true, None);
    let mut source = v8::script_compiler::Source::new(text, Some(&origin));
    v8::script_compiler::compile_module(scope, &mut source)
}

/// The one module that cases import.
fn shared<'s>(
    context: v8::Local<'s, v8::Context>,
    specifier: v8::Local<'s, v8::String>,
    _: v8::Local<'s, v8::FixedArray>,
    _: v8::Local<'s, v8::Module>,
) -> Option<v8::Local<'s, v8::Module>> {
    // SAFETY: V8 calls this with the context that it links in.
    v8::callback_scope!(unsafe scope, context);
    let is_shared = specifier.to_rust_string_lossy(scope) == "show";
    is_shared.then(|| compile(scope, "show", include_str!("api/show.mjs"))).flatten()
}

/// Loads the module, calls its `test()` and turns the clock until the promise settles.
fn drive<'s>(scope: &mut v8::PinScope<'s, '_>, source: &str, host: &Rc<VirtualHost>) -> Option<()> {
    let module = compile(scope, "worker", source)?;
    #[expect(clippy::disallowed_methods, reason = "a panic of the test's own may cost its process")]
    module.instantiate_module(scope, shared)?;
    module.evaluate(scope)?;
    scope.perform_microtask_checkpoint();
    if module.get_status() == v8::ModuleStatus::Errored {
        let error = module.get_exception();
        scope.throw_exception(error);
        return None;
    }
    let namespace = v8::Local::<v8::Object>::try_from(module.get_module_namespace()).ok()?;
    let key = v8::String::new(scope, "default")?;
    let exported = v8::Local::<v8::Object>::try_from(namespace.get(scope, key.into())?).ok()?;
    let key = v8::String::new(scope, "test")?;
    let test = v8::Local::<v8::Function>::try_from(exported.get(scope, key.into())?).ok()?;
    host.in_invocation.set(true);
    let promise = test.call(scope, exported.into(), &[])?;
    let promise = v8::Local::<v8::Promise>::try_from(promise).ok()?;
    for _ in 0..FIRINGS_MAX {
        scope.perform_microtask_checkpoint();
        api::tell_rejections(scope);
        match promise.state() {
            v8::PromiseState::Fulfilled => return Some(()),
            v8::PromiseState::Rejected => {
                let reason = promise.result(scope);
                scope.throw_exception(reason);
                return None;
            }
            v8::PromiseState::Pending => {}
        }
        let ((due, _), callback) = host.timers.borrow_mut().pop_first()?;
        host.now_ms.set(f64::from_bits(due).max(host.now_ms.get()));
        let callback = v8::Local::new(scope, callback);
        let undefined = v8::undefined(scope);
        callback.call(scope, undefined.into(), &[])?;
    }
    None
}

/// Differing lines shown of one case.
const DIFFERENCES_SHOWN_MAX: usize = 12;

/// Where the two differ first, for people.
fn difference(expected: &[String], actual: &[String]) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for index in 0..expected.len().max(actual.len()) {
        let (expected, actual) = (expected.get(index), actual.get(index));
        if expected != actual && shown < DIFFERENCES_SHOWN_MAX {
            shown += 1;
            for (sign, line) in [("workerd", expected), ("loaderd", actual)] {
                text.push_str(&format!("  {}: {sign}: {}\n", index + 1, line.map_or("(nothing)", String::as_str)));
            }
        }
    }
    text
}

/// Runs every case of a folder and compares what it printed with what was recorded.
pub(crate) fn check_recorded(folder: &str, run: impl Fn(&Path) -> Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    let mut failures = String::new();
    for case in cases {
        let expected = std::fs::read_to_string(case.with_extension("out")).expect("a recorded output");
        let expected: Vec<String> = expected.lines().map(str::to_owned).collect();
        let actual = run(&case);
        if expected != actual {
            failures.push_str(&format!("{}:\n{}", case.display(), difference(&expected, &actual)));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn prints_what_workerd_prints() {
    check_recorded("tests/it/api", run);
}
