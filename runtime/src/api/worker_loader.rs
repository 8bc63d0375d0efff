//! The Rust half of the room `worker_loader`: code taken apart by JavaScript to a [`WorkerCode`], and the loader,
//! the Workers and the code that is wanted as imports of the invocation.

use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use super::args::{copy_bytes, set_function, throw_error};
use super::imports::{imported, number, props_bytes, weigh};
use crate::dynamic::{
    CodeWanted, DynamicWorker, GlobalOutbound, LoaderCap, ModuleSource, WantedCap, WorkerCap, WorkerCode,
};
use crate::isolate::state::IsolateState;
use crate::limits::ResourceLimits;
use crate::modules::ModuleContent;
use crate::rpc::serialize::{Purpose, serialize, throw_data_clone_error};
use crate::rpc::state::{Keep, RpcState};
use crate::rpc::{Cap, CapKind, Capability, Message, RpcError, errors};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "load", load)?;
    set_function(scope, native, "get", get)?;
    set_function(scope, native, "codeArrived", code_arrived)?;
    set_function(scope, native, "codeFailed", code_failed)?;
    set_function(scope, native, "entrypoint", entrypoint)?;
    set_function(scope, native, "objectClass", object_class)?;
    set_function(scope, native, "isWasmModule", is_wasm_module)?;
    set_function(scope, native, "isBuffer", is_buffer)
}

/// Keeps a capability for the current invocation. `None` with an exception pending.
fn import(scope: &mut v8::PinScope<'_, '_>, target: Arc<dyn Capability>, keep: Keep) -> Option<u64> {
    let Some(current) = IsolateState::of(scope).current() else {
        throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
        return None;
    };
    match RpcState::of(scope).import(Cap { kind: CapKind::Service, target }, Some(current.id), keep) {
        Ok(import) => Some(import),
        Err(error) => {
            throw_error(scope, &error.message());
            None
        }
    }
}

fn throw(scope: &mut v8::PinScope<'_, '_>, error: &RpcError) {
    if let Some(error) = errors::to_js(scope, error) {
        scope.throw_exception(error);
    }
}

/// `load(loader, code)`: the import of a Worker.
fn load<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(loader) = imported(scope, arguments.get(0)) else { return };
    let Some(code) = code(scope, arguments.get(1)) else { return };
    let Some(LoaderCap(loader)) = loader.target.as_any().downcast_ref() else { return };
    match loader.load(code) {
        Ok(worker) => {
            if let Some(worker) = import_worker(scope, worker) {
                returned.set(number(scope, worker));
            }
        }
        Err(error) => throw(scope, &error),
    }
}

fn import_worker(scope: &mut v8::PinScope<'_, '_>, worker: Arc<dyn DynamicWorker>) -> Option<u64> {
    import(scope, Arc::new(WorkerCap(worker)), Keep::UntilDropped)
}

/// `get(loader, name or null)`: the imports of a Worker and, when its code must be asked for, of the wish for it.
fn get<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(loader) = imported(scope, arguments.get(0)) else { return };
    let Some(LoaderCap(loader)) = loader.target.as_any().downcast_ref() else { return };
    let name = v8::Local::<v8::String>::try_from(arguments.get(1)).ok().map(|name| distinct_name(scope, name));
    let found = loader.get(name.as_deref());
    let Some(worker) = import_worker(scope, found.worker) else { return };
    let wanted = match found.wanted {
        None => 0,
        Some(wanted) => {
            let wanted = Arc::new(WantedCap(Mutex::new(Some(wanted))));
            let Some(wanted) = import(scope, wanted, Keep::ForOneUse) else { return };
            wanted
        }
    };
    let (worker, wanted) = (number(scope, worker), number(scope, wanted));
    returned.set(v8::Array::new_with_elements(scope, &[worker, wanted]).into());
}

/// A Worker's name is kept as it is up to this many UTF-16 code units, and as a digest beyond.
const NAME_UNITS_MAX: usize = 256;

/// A short text that no other name has. A name that is long, or no well-formed UTF-16, is kept as a digest of it.
fn distinct_name(scope: &v8::Isolate, name: v8::Local<'_, v8::String>) -> String {
    /// No name that is kept as it is begins with it.
    const DIGEST: char = '\0';
    let mut units = vec![0; name.length()];
    name.write_v2(scope, 0, &mut units, v8::WriteFlags::empty());
    let short = units.len() <= NAME_UNITS_MAX;
    match String::from_utf16(&units) {
        Ok(name) if short && !name.starts_with(DIGEST) => name,
        _ => {
            let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
            let digest = Sha256::digest(&bytes);
            digest.iter().fold(DIGEST.to_string(), |text, byte| text + &format!("{byte:02x}"))
        }
    }
}

fn wanted(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<CodeWanted> {
    let cap = imported(scope, value)?;
    cap.target.as_any().downcast_ref::<WantedCap>()?.0.lock().take()
}

/// `codeArrived(wanted, code)`: throws when the code cannot be taken, and the wish stays.
fn code_arrived<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let Some(code) = code(scope, arguments.get(1)) else { return };
    if let Some(wanted) = wanted(scope, arguments.get(0)) {
        wanted.deliver(Ok(code));
    }
}

/// `codeFailed(wanted, thrown)`.
fn code_failed<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, _: Returned<'_>) {
    let error = RpcError { remote: false, ..errors::from_js(scope, arguments.get(1)) };
    if let Some(wanted) = wanted(scope, arguments.get(0)) {
        wanted.deliver(Err(error));
    }
}

/// `entrypoint(worker, name, props, cpuMs, subRequests)`: the import of a service.
fn entrypoint<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(current) = IsolateState::of(scope).current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    part_of_worker(scope, &arguments, &mut returned, |worker, name, props, limits| {
        worker.entrypoint(name, props, limits, current.caller())
    });
}

/// The same of a class of Durable Objects.
fn object_class<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    part_of_worker(scope, &arguments, &mut returned, |worker, name, props, limits| worker.class(name, props, limits));
}

fn part_of_worker<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    arguments: &Arguments<'s>,
    returned: &mut Returned<'_>,
    part: impl FnOnce(&dyn DynamicWorker, Option<&str>, Option<Message>, ResourceLimits) -> Cap,
) {
    let Some(worker) = imported(scope, arguments.get(0)) else { return };
    let name = arguments.get(1);
    let name = name.is_string().then(|| name.to_rust_string_lossy(scope));
    let props = match arguments.get(2) {
        props if props.is_undefined() => None,
        props => match serialize(scope, props, Purpose::Environment) {
            Some(props) => Some(props),
            None => return,
        },
    };
    let (limits, props_bytes) = (limits(arguments.get(3), arguments.get(4)), props_bytes(props.as_ref()));
    let Some(WorkerCap(worker)) = worker.target.as_any().downcast_ref() else { return };
    let cap = part(&**worker, name.as_deref(), props, limits);
    if let Some(service) = import(scope, cap.target, Keep::UntilDropped) {
        weigh(scope, service, props_bytes);
        returned.set(number(scope, service));
    }
}

fn is_wasm_module<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    returned.set_bool(arguments.get(0).is_wasm_module_object());
}

fn is_buffer<'s>(_: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let value = arguments.get(0);
    returned.set_bool(value.is_array_buffer() || value.is_shared_array_buffer());
}

/// Numbers that JavaScript has checked to be whole and to fit; anything else is no limit.
fn limits(cpu_ms: v8::Local<'_, v8::Value>, sub_requests: v8::Local<'_, v8::Value>) -> ResourceLimits {
    let limit = |value| v8::Local::<v8::Number>::try_from(value).ok().map(|number| number.value() as u32);
    ResourceLimits { cpu_ms: limit(cpu_ms), sub_requests: limit(sub_requests) }
}

/// What `js/worker_loader.js` made of a `WorkerCode`. `None` with an exception pending.
fn code<'s>(scope: &mut v8::PinScope<'s, '_>, parts: v8::Local<'s, v8::Value>) -> Option<WorkerCode> {
    let parts = v8::Local::<v8::Array>::try_from(parts).ok()?;
    let mut values = Vec::with_capacity(11);
    for index in 0..parts.length() {
        values.push(parts.get_index(scope, index)?);
    }
    let [date, flags, experimental, cpu_ms, sub_requests, main_module, modules, env, outbound, tails, streaming] =
        values[..]
    else {
        return None;
    };
    let (flags, modules) =
        (v8::Local::<v8::Array>::try_from(flags).ok()?, v8::Local::<v8::Array>::try_from(modules).ok()?);
    let mut compatibility_flags = Vec::with_capacity(flags.length() as usize);
    for index in 0..flags.length() {
        compatibility_flags.push(flags.get_index(scope, index)?.to_rust_string_lossy(scope));
    }
    let mut sources = Vec::with_capacity(modules.length() as usize);
    for index in 0..modules.length() {
        let module = v8::Local::<v8::Array>::try_from(modules.get_index(scope, index)?).ok()?;
        let name = module.get_index(scope, 0)?.to_rust_string_lossy(scope);
        let kind = module.get_index(scope, 1)?.uint32_value(scope)?;
        let content = module.get_index(scope, 2)?;
        sources.push((name, source(scope, kind, content)?));
    }
    let env = if env.is_undefined() { None } else { Some(serialize(scope, env, Purpose::Environment)?) };
    let global_outbound = if outbound.is_undefined() {
        GlobalOutbound::Inherit
    } else if outbound.is_null() {
        GlobalOutbound::None
    } else {
        GlobalOutbound::Cap(service(scope, outbound)?)
    };
    let (tails, streaming_tails) = (services(scope, tails)?, services(scope, streaming)?);
    Some(WorkerCode {
        compatibility_date: date.to_rust_string_lossy(scope),
        compatibility_flags,
        allow_experimental: experimental.is_true(),
        limits: limits(cpu_ms, sub_requests),
        main_module: main_module.to_rust_string_lossy(scope),
        modules: sources,
        env,
        global_outbound,
        tails,
        streaming_tails,
        ..WorkerCode::default()
    })
}

/// The service of an import, to be given to another Worker. `None` with an exception pending.
fn service(scope: &mut v8::PinScope<'_, '_>, import: v8::Local<'_, v8::Value>) -> Option<Cap> {
    let cap = imported(scope, import)?;
    if let Some(reason) = cap.target.refuses_transfer() {
        throw_data_clone_error(scope, reason);
        return None;
    }
    Some(Cap { kind: CapKind::Service, ..cap })
}

/// The same for each of an array.
fn services(scope: &mut v8::PinScope<'_, '_>, imports: v8::Local<'_, v8::Value>) -> Option<Vec<Cap>> {
    let imports = v8::Local::<v8::Array>::try_from(imports).ok()?;
    let mut services = Vec::with_capacity(imports.length() as usize);
    for index in 0..imports.length() {
        let import = imports.get_index(scope, index)?;
        services.push(service(scope, import)?);
    }
    Some(services)
}

/// A module's content; bytes are copied, since the parent may change its own. The numbers are JavaScript's.
fn source<'s>(scope: &mut v8::PinScope<'s, '_>, kind: u32, content: v8::Local<'s, v8::Value>) -> Option<ModuleSource> {
    let text = |scope: &mut v8::PinScope<'s, '_>| Arc::<str>::from(content.to_rust_string_lossy(scope));
    Some(match kind {
        0 => ModuleSource::ByName(text(scope)),
        1 => ModuleContent::EsModule(text(scope)).into(),
        2 => ModuleContent::CommonJs(text(scope).into()).into(),
        3 => ModuleContent::Text(text(scope)).into(),
        4 => ModuleContent::Data(copy_bytes(content)?.into()).into(),
        5 => {
            // Runs `toJSON` and getters, which may throw.
            let json = v8::json::stringify(scope, content)?;
            ModuleContent::Json(json.to_rust_string_lossy(scope).into()).into()
        }
        6 => ModuleSource::Python(text(scope)),
        7 => match v8::Local::<v8::WasmModuleObject>::try_from(content) {
            Ok(module) => ModuleContent::Wasm(module.get_compiled_module().get_wire_bytes_ref().into()).into(),
            Err(_) => ModuleContent::Wasm(copy_bytes(content)?.into()).into(),
        },
        _ => return None,
    })
}
