//! Puts the globals in place and loads rooms when they are first touched.

use std::cell::RefCell;
use std::rc::Rc;

use super::console;
use super::rooms::{Ahead, FLAGGED, Flagged, OF_LANGUAGE, ROOMS, Room};
use crate::code_cache::{CodeCache, Experience};
use crate::compat::Flag;
use crate::guard::callbacks;

/// The names given to rooms' scripts begin with this, so that stack traces can leave them out.
pub(crate) const SCRIPT_PREFIX: &str = "loaderd:";

/// The intrinsics captured before the program runs: a function body that returns them.
const PRIMORDIALS: &str = include_str!("../../js/primordials.js");

/// V8 could not create the API's objects: the heap is exhausted or the isolate is being terminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the API could not be installed in a new context")]
pub struct InstallError;

static PRIMORDIALS_CACHE: CodeCache = CodeCache::new();
static ROOM_CACHES: [CodeCache; ROOMS.len()] = [const { CodeCache::new() }; ROOMS.len()];

/// What this isolate's one context has of the API.
struct Loaded {
    primordials: v8::Global<v8::Object>,
    load: v8::Global<v8::Function>,
    rooms: RefCell<Vec<Option<LoadedRoom>>>,
}

/// A room that has run.
struct LoadedRoom {
    exports: v8::Global<v8::Object>,
    /// Its script, for the code cache.
    script: v8::Global<v8::Function>,
}

/// Puts every global of the API on the current context's global object, unloaded.
///
/// Call once per isolate, at context creation, before any other script runs: it also captures the intrinsics that
/// rooms rely on. The isolate's [`super::Host`] slot must be set before a program runs, not before this.
///
/// # Errors
/// [`InstallError`] when V8 cannot allocate or run JavaScript.
pub fn install(scope: &mut v8::PinScope<'_, '_>, context: v8::Local<'_, v8::Context>) -> Result<(), InstallError> {
    try_install(scope, context).ok_or(InstallError)
}

fn try_install(scope: &mut v8::PinScope<'_, '_>, context: v8::Local<'_, v8::Context>) -> Option<()> {
    let global = context.global(scope);
    super::date::replace(scope, global)?;
    super::date_format::replace(scope, global)?;
    let undefined = v8::undefined(scope);
    let capture = compile(scope, "primordials", PRIMORDIALS, &[], &PRIMORDIALS_CACHE)?;
    let primordials = v8::Local::<v8::Object>::try_from(capture.call(scope, undefined.into(), &[])?).ok()?;
    offer_cache(capture, &PRIMORDIALS_CACHE, Experience::Little);
    let load = callbacks::function(load_callback).build(scope)?;
    let loaded = Loaded {
        primordials: v8::Global::new(scope, primordials),
        load: v8::Global::new(scope, load),
        rooms: RefCell::new(ROOMS.iter().map(|_| None).collect()),
    };
    scope.set_slot(Rc::new(loaded));

    let worker_scope = named_prototype(scope, "WorkerGlobalScope")?;
    let service_worker_scope = named_prototype(scope, "ServiceWorkerGlobalScope")?;
    service_worker_scope.set_prototype(scope, worker_scope.into())?;
    for (index, room) in ROOMS.iter().enumerate() {
        let data = v8::Integer::new_from_unsigned(scope, u32::try_from(index).ok()?);
        for (holder, names) in [(worker_scope, room.on_scope), (global, room.on_global)] {
            for name in names.iter().filter(|name| is_put_ahead(name)) {
                lazy_global(scope, holder, data, name)?;
            }
        }
    }
    global.set_prototype(scope, service_worker_scope.into())?;
    let name = v8::String::new(scope, "self")?;
    global.create_data_property(scope, name.into(), global.into())?;
    let name = v8::String::new(scope, "origin")?;
    let origin = v8::String::new(scope, "null")?;
    global.define_own_property(scope, name.into(), origin.into(), v8::PropertyAttribute::READ_ONLY)?;
    super::rejections::watch(scope);
    callbacks::make_stack_traces(scope);
    console::replace_methods(scope, global)
}

/// A global that is compiled when it is first touched; `room` is the number of its room.
fn lazy_global(
    scope: &mut v8::PinScope<'_, '_>,
    holder: v8::Local<'_, v8::Object>,
    room: v8::Local<'_, v8::Integer>,
    name: &str,
) -> Option<bool> {
    // As V8 has those of its own that a room takes the place of.
    let attributes =
        if OF_LANGUAGE.contains(&name) { v8::PropertyAttribute::DONT_ENUM } else { v8::PropertyAttribute::NONE };
    let name = v8::String::new_from_utf8(scope, name.as_bytes(), v8::NewStringType::Internalized)?;
    callbacks::set_lazy_property(scope, holder, name.into(), global_getter, room.into(), attributes)
}

/// Gives a Worker the globals that only a flag gives, and takes away those that it has no flag for. Call it when its flags
/// are known, before its code runs.
pub fn settle_flagged(scope: &mut v8::PinScope<'_, '_>) {
    // When it cannot be done, the isolate is ending.
    let _ = try_settle_flagged(scope);
}

fn try_settle_flagged(scope: &mut v8::PinScope<'_, '_>) -> Option<()> {
    let host = super::host(scope)?;
    let global = scope.get_current_context().global(scope);
    let service_worker_scope = prototype(scope, global)?;
    let worker_scope = prototype(scope, service_worker_scope)?;
    for Flagged { flags, names, ahead } in FLAGGED {
        let wanted = flags.iter().any(|flag| host.has_flag(*flag));
        for name in *names {
            match (ahead, wanted) {
                (Ahead::Put, true) | (Ahead::Left, false) => {}
                (Ahead::Put, false) => {
                    let name = v8::String::new(scope, name)?;
                    global.delete(scope, name.into())?;
                    worker_scope.delete(scope, name.into())?;
                }
                (Ahead::Left, true) => put_global(scope, worker_scope, global, name)?,
            }
        }
    }
    if host.has_flag(Flag::NodejsCompatV2) {
        // What Node has besides its modules.
        offer_node(scope, global, worker_scope)?;
    }
    Some(())
}

/// Puts a global of the rooms where it belongs.
fn put_global(
    scope: &mut v8::PinScope<'_, '_>,
    worker_scope: v8::Local<'_, v8::Object>,
    global: v8::Local<'_, v8::Object>,
    name: &str,
) -> Option<()> {
    for (index, room) in ROOMS.iter().enumerate() {
        for (holder, names) in [(worker_scope, room.on_scope), (global, room.on_global)] {
            if names.contains(&name) {
                let room = v8::Integer::new_from_unsigned(scope, u32::try_from(index).ok()?);
                lazy_global(scope, holder, room, name)?;
            }
        }
    }
    Some(())
}

/// Whether a global is there before the Worker's flags are known.
fn is_put_ahead(name: &str) -> bool {
    FLAGGED.iter().all(|flagged| flagged.ahead == Ahead::Put || !flagged.names.contains(&name))
}

/// The globals of Node's that a Worker with all of Node's compatibility has.
fn offer_node(
    scope: &mut v8::PinScope<'_, '_>,
    global: v8::Local<'_, v8::Object>,
    worker_scope: v8::Local<'_, v8::Object>,
) -> Option<()> {
    let name = v8::String::new(scope, "global")?;
    global.create_data_property(scope, name.into(), global.into())?;
    let lazily = [
        (global, "node_buffer", "Buffer"),
        (global, "node_process", "process"),
        (worker_scope, "node_timers", "setImmediate"),
        (worker_scope, "node_timers", "clearImmediate"),
    ];
    for (holder, room, name) in lazily {
        let index = ROOMS.iter().position(|candidate| candidate.name == room)?;
        let room = v8::Integer::new_from_unsigned(scope, u32::try_from(index).ok()?);
        lazy_global(scope, holder, room, name)?;
    }
    Some(())
}

fn prototype<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'s, v8::Object>,
) -> Option<v8::Local<'s, v8::Object>> {
    object.get_prototype(scope)?.try_into().ok()
}

/// A prototype object whose only property is its `Symbol.toStringTag`.
fn named_prototype<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Object>> {
    let object = v8::Object::new(scope);
    let tag = v8::Symbol::get_to_string_tag(scope);
    let name = v8::String::new(scope, name)?;
    object.define_own_property(scope, tag.into(), name.into(), v8::PropertyAttribute::DONT_ENUM)?;
    Some(object)
}

/// What `room` exports as `name`, loading it when needed; `None` when it could not be loaded (an exception is
/// pending) or there is no such room or export.
pub(super) fn export<'s>(scope: &mut v8::PinScope<'s, '_>, room: &str, name: &str) -> Option<v8::Local<'s, v8::Value>> {
    let index = ROOMS.iter().position(|candidate| candidate.name == room)?;
    let exports = exports(scope, index)?;
    let name = v8::String::new(scope, name)?;
    exports.get(scope, name.into())
}

/// A function captured before the program ran.
pub(super) fn primordial<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Function>> {
    v8::Local::try_from(intrinsic(scope, name)?).ok()
}

/// The intrinsic `Object.prototype`.
pub(crate) fn object_prototype<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Value>> {
    intrinsic(scope, "objectPrototype")
}

/// From the name of an error class to its prototype, for those that V8 cannot be asked to make.
pub(super) fn error_prototypes<'s>(scope: &mut v8::PinScope<'s, '_>) -> Option<v8::Local<'s, v8::Object>> {
    v8::Local::try_from(intrinsic(scope, "errorPrototypes")?).ok()
}

fn intrinsic<'s>(scope: &mut v8::PinScope<'s, '_>, name: &str) -> Option<v8::Local<'s, v8::Value>> {
    let loaded = Rc::clone(scope.get_slot::<Rc<Loaded>>()?);
    let primordials = v8::Local::new(scope, &loaded.primordials);
    let name = v8::String::new(scope, name)?;
    primordials.get(scope, name.into())
}

/// Whether a room has been loaded in this isolate.
pub(super) fn is_loaded(scope: &v8::Isolate, room: &str) -> bool {
    let Some(index) = ROOMS.iter().position(|candidate| candidate.name == room) else { return false };
    scope.get_slot::<Rc<Loaded>>().is_some_and(|loaded| loaded.rooms.borrow()[index].is_some())
}

/// The getter behind every global: loads its room and answers with what the room exports under that name.
fn global_getter(
    scope: &mut v8::PinScope<'_, '_>,
    name: v8::Local<'_, v8::Name>,
    args: v8::PropertyCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Some(index) = args.data().uint32_value(scope) else { return };
    let value = exports(scope, index as usize).and_then(|exports| exports.get(scope, name.into()));
    if let Some(value) = value {
        result.set(value);
    }
}

/// `load(name)`, as rooms call it.
fn load_callback(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let name = args.get(0).to_rust_string_lossy(scope);
    let Some(index) = ROOMS.iter().position(|room| room.name == name) else { return };
    if let Some(exports) = exports(scope, index) {
        result.set(exports.into());
    }
}

/// The exports of room `index`. A room that fails to load (its code met termination or a full stack) is not
/// remembered: the next touch tries again.
fn exports<'s>(scope: &mut v8::PinScope<'s, '_>, index: usize) -> Option<v8::Local<'s, v8::Object>> {
    let loaded = Rc::clone(scope.get_slot::<Rc<Loaded>>()?);
    if let Some(known) = loaded.rooms.borrow().get(index)? {
        return Some(v8::Local::new(scope, &known.exports));
    }
    let room = &ROOMS[index];
    let function = compile(scope, room.name, room.source, &["primordials", "native", "load"], &ROOM_CACHES[index])?;
    let native = native_half(scope, room)?;
    let primordials = v8::Local::new(scope, &loaded.primordials);
    let load = v8::Local::new(scope, &loaded.load);
    let undefined = v8::undefined(scope);
    let exports = function.call(scope, undefined.into(), &[primordials.into(), native.into(), load.into()])?;
    let exports = v8::Local::<v8::Object>::try_from(exports).ok()?;
    let mut rooms = loaded.rooms.borrow_mut();
    let script = v8::Global::new(scope, function);
    rooms[index] = Some(LoadedRoom { exports: v8::Global::new(scope, exports), script });
    Some(exports)
}

fn native_half<'s>(scope: &mut v8::PinScope<'s, '_>, room: &Room) -> Option<v8::Local<'s, v8::Object>> {
    let null = v8::null(scope);
    let native = v8::Object::with_prototype_and_properties(scope, null.into(), &[], &[]);
    if let Some(install) = room.native {
        install(scope, native)?;
    }
    Some(native)
}

/// Compiles a script of the runtime, from the process's code cache when there is one that V8 accepts.
fn compile<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: &str,
    source: &'static str,
    parameters: &[&str],
    cache: &CodeCache,
) -> Option<v8::Local<'s, v8::Function>> {
    // External: the text stays in the binary, whatever the number of isolates. A one-byte string, hence ASCII.
    let text = v8::String::new_external_onebyte_static(scope, source.as_bytes())?;
    let script_name = v8::String::new(scope, &format!("{SCRIPT_PREFIX}{name}"))?;
    let origin = v8::ScriptOrigin::new(scope, script_name.into(), 0, 0, false, 0, None, false, false, false, None);
    let mut names = Vec::with_capacity(parameters.len());
    for parameter in parameters {
        names.push(v8::String::new(scope, parameter)?);
    }
    let cached = cache.get();
    let (mut source, options) = match &cached {
        Some(bytes) => (
            v8::script_compiler::Source::new_with_cached_data(text, Some(&origin), v8::CachedData::new(bytes)),
            v8::script_compiler::CompileOptions::ConsumeCodeCache,
        ),
        None => (
            v8::script_compiler::Source::new(text, Some(&origin)),
            v8::script_compiler::CompileOptions::NoCompileOptions,
        ),
    };
    let function = v8::script_compiler::compile_function(
        scope,
        &mut source,
        &names,
        &[],
        options,
        v8::script_compiler::NoCacheReason::NoReason,
    )?;
    if source.get_cached_data().is_some_and(v8::CachedData::rejected) {
        // V8 compiled from the source instead, so this costs time only. It means flags changed after the cache
        // was made, which set-up does not do.
        tracing::warn!(room = name, "V8 rejected a code cache of this process");
    }
    Some(function)
}

/// Leaves behind what an isolate that is about to go has compiled of the rooms it used.
pub(crate) fn offer_caches(scope: &mut v8::PinScope<'_, '_>, experience: Experience) {
    let Some(loaded) = scope.get_slot::<Rc<Loaded>>().cloned() else { return };
    for (room, cache) in loaded.rooms.borrow().iter().zip(&ROOM_CACHES) {
        if let Some(room) = room {
            offer_cache(v8::Local::new(scope, &room.script), cache, experience);
        }
    }
}

fn offer_cache(script: v8::Local<'_, v8::Function>, cache: &CodeCache, experience: Experience) {
    if cache.wants_more(experience)
        && let Some(data) = script.create_code_cache()
    {
        cache.offer(&data, experience);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_are_ascii_with_unique_names() {
        assert!(PRIMORDIALS.is_ascii());
        for (index, room) in ROOMS.iter().enumerate() {
            assert!(room.source.is_ascii(), "{} has non-ASCII text", room.name);
            assert!(ROOMS[..index].iter().all(|other| other.name != room.name), "{} is listed twice", room.name);
        }
    }
}
