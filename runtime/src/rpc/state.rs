//! What one isolate knows of JS RPC, on its thread: what it holds of others (imports), what others hold of it
//! (exports), and the calls it has made. Everything belongs to an invocation and goes with it, except what came in
//! `env`, which lives as long as the isolate.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::Cap;
use super::exports::Export;
use super::outgoing::OutgoingCall;
use crate::invocation::{Hold, InvocationId, SubrequestClass};
use crate::isolate::state::IsolateState;

/// Stubs one isolate may hold at a time.
pub(crate) const IMPORTS_MAX: usize = 100_000;

/// `waitUntil` tasks one isolate may have pending.
pub(crate) const TASKS_MAX: usize = 10_000;

/// Identifies an import within its isolate; never reused, never zero, exact as a JavaScript number.
pub(crate) type ImportId = u64;

/// A capability of somebody else's.
struct Import {
    cap: Cap,
    /// Only this invocation may use it; `None`: any may.
    owner: Option<InvocationId>,
    keep: Keep,
    met: Met,
    /// What calls of it count as, where they do.
    class: SubrequestClass,
    weight: Option<Weight>,
}

/// Bytes that V8 does not see and that live as long as this.
struct Weight {
    bytes: usize,
    all: Rc<Cell<usize>>,
}

impl Weight {
    fn new(bytes: usize, all: &Rc<Cell<usize>>) -> Self {
        all.set(all.get().saturating_add(bytes));
        Self { bytes, all: all.clone() }
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.all.set(self.all.get().saturating_sub(self.bytes));
    }
}

/// How an invocation came by a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// From its caller: among the arguments of the invocation, or by calls on those. What is given to it is part of what
    /// the caller was promised, and keeps the invocation open while the caller holds it.
    InSession,
    Elsewhere,
}

/// How long an import lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Until JavaScript drops it or its invocation ends.
    UntilDropped,
    /// Until it is used once.
    ForOneUse,
    /// As long as the result that it stands for is not known.
    Pipeline,
}

/// Why an import cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImportError {
    /// It was dropped, or its invocation is over.
    Gone,
    /// It belongs to another invocation.
    Foreign,
    /// It stands for a result of another invocation's call.
    ForeignPipeline,
    /// There are [`IMPORTS_MAX`] already.
    TooMany,
}

impl ImportError {
    /// The text JavaScript sees.
    pub(crate) fn message(self) -> String {
        let what = match self {
            // Of stubs that were disposed of JavaScript knows, so this one went with its invocation.
            Self::Gone | Self::Foreign => "Client",
            Self::ForeignPipeline => "Pipeline",
            Self::TooMany => {
                return "This Worker holds too many RPC stubs. Dispose of those that are no longer used.".into();
            }
        };
        foreign(what)
    }
}

/// What is said of an object, of a type, that belongs to another invocation.
pub(crate) fn foreign(what: &str) -> String {
    format!(
        "Cannot perform I/O on behalf of a different request. I/O objects (such as streams, request/response bodies, and \
         others) created in the context of one request handler cannot be accessed from a different request's handler. \
         This is a limitation of Cloudflare Workers which allows us to improve overall performance. (I/O type: {what})"
    )
}

/// The functions of `js/rpc*.js` that Rust calls.
pub(crate) struct Js {
    pub(crate) make_stub: v8::Global<v8::Function>,
    pub(crate) describe: v8::Global<v8::Function>,
    pub(crate) substitute: v8::Global<v8::Function>,
    pub(crate) revive: v8::Global<v8::Function>,
    pub(crate) serve: v8::Global<v8::Function>,
    pub(crate) entrypoint: v8::Global<v8::Function>,
    pub(crate) object_prototype: v8::Global<v8::Value>,
    /// From an error class's name to its prototype.
    pub(crate) error_prototypes: v8::Global<v8::Object>,
    /// Marks the object that stands for a function or proxy while a value is written.
    pub(crate) placeholder: v8::Global<v8::Private>,
}

/// JS RPC's state in one isolate.
#[derive(Default)]
pub(crate) struct RpcState {
    js: RefCell<Option<Rc<Js>>>,
    imports: RefCell<HashMap<ImportId, Import>>,
    pub(crate) exports: RefCell<HashMap<u64, Export>>,
    pub(crate) calls: RefCell<HashMap<u64, OutgoingCall>>,
    /// `waitUntil` tasks, and whose they are.
    pub(crate) tasks: RefCell<HashMap<u64, (InvocationId, Hold)>>,
    /// Functions that wait for a turn of an invocation.
    pub(crate) turns: RefCell<HashMap<u64, (InvocationId, v8::Global<v8::Function>, Hold)>>,
    /// Calls on exports that wait in the inbox.
    pub(crate) waiting: Arc<AtomicUsize>,
    /// Where global `fetch()` goes, once it was used.
    pub(crate) outbound: Cell<Option<ImportId>>,
    /// Where the Cache API's requests go, once it was used.
    pub(crate) cache: Cell<Option<ImportId>>,
    next_id: Cell<u64>,
}

impl RpcState {
    /// The state of the isolate that `scope` is in.
    pub(crate) fn of(scope: &mut v8::Isolate) -> Rc<Self> {
        if let Some(state) = scope.get_slot::<Rc<Self>>() {
            return state.clone();
        }
        let state = Rc::new(Self::default());
        scope.set_slot(state.clone());
        state
    }

    /// The JavaScript half, loaded when first needed. `None` with an exception pending.
    pub(crate) fn js(&self, scope: &mut v8::PinScope<'_, '_>) -> Option<Rc<Js>> {
        if let Some(js) = &*self.js.borrow() {
            return Some(js.clone());
        }
        fn global<'s, T>(scope: &mut v8::PinScope<'s, '_>, room: &str, name: &str) -> Option<v8::Global<T>>
        where
            v8::Local<'s, T>: TryFrom<v8::Local<'s, v8::Value>>,
        {
            let value = crate::api::export(scope, room, name)?;
            let value = v8::Local::<T>::try_from(value).ok()?;
            Some(v8::Global::new(scope, value))
        }
        let key = crate::js::string(scope, "placeholder");
        let placeholder = v8::Private::new(scope, Some(key));
        let js = Rc::new(Js {
            make_stub: global(scope, "rpc", "makeStub")?,
            describe: global(scope, "rpc_values", "describe")?,
            substitute: global(scope, "rpc_values", "substitute")?,
            revive: global(scope, "rpc_values", "revive")?,
            serve: global(scope, "rpc_serve", "serve")?,
            entrypoint: global(scope, "workers", "entrypoint")?,
            object_prototype: global(scope, "rpc_values", "objectPrototype")?,
            error_prototypes: global(scope, "rpc_values", "errorPrototypes")?,
            placeholder: v8::Global::new(scope, placeholder),
        });
        *self.js.borrow_mut() = Some(js.clone());
        Some(js)
    }

    /// A number unique among this isolate's RPC objects.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.set(self.next_id.get() + 1);
        self.next_id.get()
    }

    /// Keeps a capability and names it.
    pub(crate) fn import(&self, cap: Cap, owner: Option<InvocationId>, keep: Keep) -> Result<ImportId, ImportError> {
        self.import_met(cap, owner, keep, Met::Elsewhere)
    }

    /// The same, with how the owner came by it.
    pub(crate) fn import_met(
        &self,
        cap: Cap,
        owner: Option<InvocationId>,
        keep: Keep,
        met: Met,
    ) -> Result<ImportId, ImportError> {
        self.import_as(cap, owner, keep, met, SubrequestClass::External)
    }

    /// The same, with what calls of it count as, where they do.
    pub(crate) fn import_as(
        &self,
        cap: Cap,
        owner: Option<InvocationId>,
        keep: Keep,
        met: Met,
        class: SubrequestClass,
    ) -> Result<ImportId, ImportError> {
        let mut imports = self.imports.borrow_mut();
        if imports.len() >= IMPORTS_MAX {
            return Err(ImportError::TooMany);
        }
        let id = self.next_id();
        imports.insert(id, Import { cap, owner, keep, met, class, weight: None });
        Ok(id)
    }

    /// Counts bytes that an import holds against the isolate's memory limit until it is dropped.
    pub(crate) fn weigh(&self, id: ImportId, bytes: usize, isolate: &IsolateState) {
        if let Some(import) = self.imports.borrow_mut().get_mut(&id) {
            import.weight = Some(Weight::new(bytes, &isolate.held_bytes));
        }
    }

    /// The capability behind an import, for use by `invocation` (`None`: outside any).
    pub(crate) fn imported(&self, id: ImportId, invocation: Option<InvocationId>) -> Result<Cap, ImportError> {
        let mut imports = self.imports.borrow_mut();
        let import = imports.get(&id).ok_or(ImportError::Gone)?;
        if import.owner.is_some() && import.owner != invocation {
            return Err(match import.keep {
                Keep::Pipeline => ImportError::ForeignPipeline,
                Keep::UntilDropped | Keep::ForOneUse => ImportError::Foreign,
            });
        }
        match import.keep {
            Keep::UntilDropped | Keep::Pipeline => Ok(import.cap.clone()),
            Keep::ForOneUse => imports.remove(&id).map(|import| import.cap).ok_or(ImportError::Gone),
        }
    }

    /// How its owner came by an import.
    pub(crate) fn met(&self, id: ImportId) -> Met {
        self.imports.borrow().get(&id).map_or(Met::Elsewhere, |import| import.met)
    }

    /// What calls of an import count as, where they do.
    pub(crate) fn class(&self, id: ImportId) -> SubrequestClass {
        self.imports.borrow().get(&id).map_or(SubrequestClass::External, |import| import.class)
    }

    /// An invocation has answered, and goes on for others: what it holds of those that it called keeps them open no
    /// longer, or two that hold each other would never end.
    pub(crate) fn hold_loosely(&self, invocation: InvocationId) {
        let imports = self.imports.borrow();
        for import in imports.values().filter(|import| import.owner == Some(invocation)) {
            super::exports::hold_loosely(&import.cap.target);
        }
    }

    /// Notes a `waitUntil` task. `None`: there are too many.
    pub(crate) fn start_task(&self, invocation: InvocationId, hold: Hold) -> Option<u64> {
        let mut tasks = self.tasks.borrow_mut();
        if tasks.len() >= TASKS_MAX {
            return None;
        }
        let id = self.next_id();
        tasks.insert(id, (invocation, hold));
        Some(id)
    }

    /// A `waitUntil` task has settled.
    pub(crate) fn end_task(&self, id: u64) {
        self.tasks.borrow_mut().remove(&id);
    }

    /// Whose an import is. Errors when it is gone.
    pub(crate) fn owner_of(&self, id: ImportId) -> Result<Option<InvocationId>, ImportError> {
        self.imports.borrow().get(&id).map(|import| import.owner).ok_or(ImportError::Gone)
    }

    /// Lets go of an import. What was dropped already is ignored.
    pub(crate) fn drop_import(&self, id: ImportId) {
        let dropped = self.imports.borrow_mut().remove(&id);
        // Released outside the borrow: what it does when it goes is somebody else's code.
        drop(dropped);
    }

    /// Drops everything that belongs to an invocation.
    pub(crate) fn invocation_ended(&self, invocation: InvocationId) {
        let imports: Vec<_> =
            self.imports.borrow_mut().extract_if(|_, import| import.owner == Some(invocation)).collect();
        let exports: Vec<_> =
            self.exports.borrow_mut().extract_if(|_, export| export.invocation() == invocation).collect();
        let calls: Vec<_> = self.calls.borrow_mut().extract_if(|_, call| call.invocation() == invocation).collect();
        let tasks: Vec<_> = self.tasks.borrow_mut().extract_if(|_, (owner, _)| *owner == invocation).collect();
        let turns: Vec<_> = self.turns.borrow_mut().extract_if(|_, (owner, ..)| *owner == invocation).collect();
        drop((imports, exports, calls, tasks, turns));
    }
}

/// A capability as an invocation that receives it keeps it: one that comes home is the object itself again.
pub(crate) fn received(cap: Cap, isolate: Option<&crate::isolate::Isolate>, owner: Option<InvocationId>) -> Cap {
    let home = match (isolate, owner) {
        (Some(isolate), Some(owner)) => super::exports::come_home(&cap.target, isolate, owner),
        _ => None,
    };
    Cap { kind: cap.kind, target: home.unwrap_or(cap.target) }
}
