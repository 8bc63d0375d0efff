//! `structuredClone` within one isolate: V8's serializer there and back, with transfer, and with the platform's own
//! classes through the hooks they registered (`js/webidl.js`).

use std::cell::RefCell;

use v8::{ValueDeserializerHelper, ValueSerializerHelper};

use super::args::{set_function, throw_dom_exception, throw_type_error};
use super::registry;
use crate::compat::Flag;
use crate::guard::callbacks;
use crate::rpc::cloned_error::{self, Stack};

/// What a host object's data begins with: an error follows.
const ERROR: u32 = 0;
/// The index of one of the platform's own objects follows.
const RESOURCE: u32 = 1;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "clone", clone_callback)
}

/// Whether a value is a `DOMException` (which is not a native error to V8). Loads no room.
pub fn is_dom_exception(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> bool {
    if !value.is_object() || value.is_native_error() || value.is_proxy() {
        return false;
    }
    // Without the room there are no exceptions of it.
    if !registry::is_loaded(scope, "dom_exception") {
        return false;
    }
    call(scope, "dom_exception", "isDOMException", &[value]).is_some_and(|answer| answer.is_true())
}

/// Calls a function that a room exports.
fn call<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    room: &str,
    name: &str,
    args: &[v8::Local<'_, v8::Value>],
) -> Option<v8::Local<'s, v8::Value>> {
    let function = registry::export(scope, room, name)?;
    let function = v8::Local::<v8::Function>::try_from(function).ok()?;
    let undefined = v8::undefined(scope);
    function.call(scope, undefined.into(), args)
}

/// What bytes cannot hold while a value is between the serializer and the deserializer.
#[derive(Default)]
struct Aside {
    /// Clones of the platform's own objects. They are made while writing: reading may not run JavaScript.
    resources: RefCell<Vec<v8::Global<v8::Object>>>,
    shared_buffers: RefCell<Vec<v8::SharedRef<v8::BackingStore>>>,
    wasm_modules: RefCell<Vec<v8::CompiledWasmModule>>,
}

/// The index of what is about to be pushed.
fn next_index<T>(list: &[T]) -> Option<u32> {
    u32::try_from(list.len()).ok()
}

struct Writer<'a> {
    aside: &'a Aside,
    whole_errors: bool,
}

impl v8::ValueSerializerImpl for Writer<'_> {
    fn throw_data_clone_error<'s>(&self, scope: &mut v8::PinScope<'s, '_>, message: v8::Local<'s, v8::String>) {
        let message = message.to_rust_string_lossy(scope);
        throw_dom_exception(scope, "DataCloneError", &message);
    }

    fn has_custom_host_object(&self, _: &v8::Isolate) -> bool {
        true
    }

    fn is_host_object<'s>(&self, scope: &mut v8::PinScope<'s, '_>, object: v8::Local<'s, v8::Object>) -> Option<bool> {
        if object.is_native_error() {
            return Some(self.whole_errors);
        }
        // Most objects are plain, and no room was needed to make them.
        if !registry::is_loaded(scope, "webidl") || is_plain(scope, object) {
            return Some(false);
        }
        Some(call(scope, "webidl", "isResource", &[object.into()])?.is_true())
    }

    fn write_host_object<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        object: v8::Local<'s, v8::Object>,
        serializer: &dyn v8::ValueSerializerHelper,
    ) -> Option<bool> {
        if object.is_native_error() {
            serializer.write_uint32(ERROR);
            return cloned_error::write(scope, object, serializer);
        }
        let clone = call(scope, "webidl", "cloneResource", &[object.into()])?;
        let clone = v8::Local::<v8::Object>::try_from(clone).ok()?;
        let mut resources = self.aside.resources.borrow_mut();
        serializer.write_uint32(RESOURCE);
        serializer.write_uint32(next_index(&resources)?);
        resources.push(v8::Global::new(scope, clone));
        Some(true)
    }

    fn get_shared_array_buffer_id<'s>(
        &self,
        _: &mut v8::PinScope<'s, '_>,
        buffer: v8::Local<'s, v8::SharedArrayBuffer>,
    ) -> Option<u32> {
        let mut buffers = self.aside.shared_buffers.borrow_mut();
        let index = next_index(&buffers)?;
        buffers.push(buffer.get_backing_store());
        Some(index)
    }

    fn get_wasm_module_transfer_id(
        &self,
        _: &mut v8::PinScope<'_, '_>,
        module: v8::Local<'_, v8::WasmModuleObject>,
    ) -> Option<u32> {
        let mut modules = self.aside.wasm_modules.borrow_mut();
        let index = next_index(&modules)?;
        modules.push(module.get_compiled_module());
        Some(index)
    }
}

struct Reader<'a> {
    aside: &'a Aside,
    error_prototypes: v8::Global<v8::Object>,
}

impl v8::ValueDeserializerImpl for Reader<'_> {
    fn read_host_object<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        deserializer: &dyn v8::ValueDeserializerHelper,
    ) -> Option<v8::Local<'s, v8::Object>> {
        let mut kind = 0;
        if !deserializer.read_uint32(&mut kind) {
            return None;
        }
        if kind == ERROR {
            let prototypes = v8::Local::new(scope, &self.error_prototypes);
            return cloned_error::read(scope, deserializer, prototypes, Stack::None);
        }
        let mut index = 0;
        if !deserializer.read_uint32(&mut index) {
            return None;
        }
        let resources = self.aside.resources.borrow();
        Some(v8::Local::new(scope, resources.get(index as usize)?))
    }

    fn get_shared_array_buffer_from_id<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        index: u32,
    ) -> Option<v8::Local<'s, v8::SharedArrayBuffer>> {
        let buffers = self.aside.shared_buffers.borrow();
        let bytes = buffers.get(index as usize)?;
        let buffer = v8::SharedArrayBuffer::with_backing_store(scope, bytes);
        if let Some(host) = super::host(scope) {
            host.count_clone(scope, buffer.into(), bytes);
        }
        Some(buffer)
    }

    fn get_wasm_module_from_id<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        index: u32,
    ) -> Option<v8::Local<'s, v8::WasmModuleObject>> {
        let modules = self.aside.wasm_modules.borrow();
        v8::WasmModuleObject::from_compiled_module(scope, modules.get(index as usize)?)
    }
}

/// Whether the object's prototype is null or one that V8 itself made for plain objects.
fn is_plain(scope: &mut v8::PinScope<'_, '_>, object: v8::Local<'_, v8::Object>) -> bool {
    let Some(prototype) = object.get_prototype(scope) else { return true };
    if prototype.is_null() {
        return true;
    }
    registry::object_prototype(scope).is_some_and(|plain| plain.strict_equals(prototype))
}

/// `clone(value, transfer, noShared?) → value`. With `noShared`, the text of the refusal, memory cannot be shared.
fn clone_callback<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    args: v8::FunctionCallbackArguments<'s>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(transfer) = v8::Local::<v8::Array>::try_from(args.get(1)) else { return };
    let refusal = args.get(2);
    let shared = match refusal.is_string() {
        true => Shared::Refused(refusal.to_rust_string_lossy(scope)),
        false => Shared::Allowed,
    };
    if let Some(value) = clone(scope, args.get(0), transfer, &shared) {
        result.set(value);
    }
}

/// Whether a copy may share memory with the original.
enum Shared {
    Allowed,
    /// The error's text.
    Refused(String),
}

fn clone<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    value: v8::Local<'s, v8::Value>,
    transfer: v8::Local<'s, v8::Array>,
    shared: &Shared,
) -> Option<v8::Local<'s, v8::Value>> {
    let mut buffers: Vec<v8::Local<'s, v8::ArrayBuffer>> = Vec::new();
    for index in 0..transfer.length() {
        let mut item = transfer.get_index(scope, index)?;
        if let Ok(view) = v8::Local::<v8::ArrayBufferView>::try_from(item) {
            let buffer = view.get_backing_store().filter(|store| !store.is_shared()).and_then(|_| view.buffer(scope));
            let Some(buffer) = buffer else {
                throw_dom_exception(scope, "DataCloneError", "A shared buffer cannot be transferred.");
                return None;
            };
            item = buffer.into();
        }
        let buffer = v8::Local::<v8::ArrayBuffer>::try_from(item).ok().filter(|buffer| buffer.is_detachable());
        let Some(buffer) = buffer else {
            throw_type_error(scope, "Object is not transferable");
            return None;
        };
        if !buffers.iter().any(|known| known.strict_equals(buffer.into())) {
            buffers.push(buffer);
        }
    }
    let context = scope.get_current_context();
    let aside = Aside::default();
    let whole_errors = super::host(scope).is_some_and(|host| host.has_flag(Flag::EnhancedErrorSerialization));
    let bytes = {
        let serializer = callbacks::serializer(scope, Writer { aside: &aside, whole_errors });
        serializer.write_header();
        for (id, buffer) in buffers.iter().enumerate() {
            serializer.transfer_array_buffer(u32::try_from(id).ok()?, *buffer);
        }
        if serializer.write_value(context, value) != Some(true) {
            return None;
        }
        serializer.release()
    };
    if let Shared::Refused(text) = shared
        && !aside.shared_buffers.borrow().is_empty()
    {
        throw_type_error(scope, text);
        return None;
    }
    // Only now does anything leave its owner: a value that cannot be cloned transfers nothing.
    let mut stores = Vec::with_capacity(buffers.len());
    for buffer in &buffers {
        stores.push(buffer.get_backing_store());
        buffer.detach(None)?;
    }
    let error_prototypes = registry::error_prototypes(scope)?;
    let reader = Reader { aside: &aside, error_prototypes: v8::Global::new(scope, error_prototypes) };
    let deserializer = callbacks::deserializer(scope, reader, &bytes);
    deserializer.read_header(context)?;
    for (id, store) in stores.iter().enumerate() {
        let buffer = v8::ArrayBuffer::with_backing_store(scope, store);
        deserializer.transfer_array_buffer(u32::try_from(id).ok()?, buffer);
    }
    deserializer.read_value(context)
}
