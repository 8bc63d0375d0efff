//! JavaScript values to [`Message`]s.
//!
//! V8's serializer does the work. What it asks its delegate about is settled here: capabilities, errors, and class
//! instances, which do not cross. Functions and proxies it refuses without asking, so when it fails the value is
//! copied with stand-ins in their places and written again; values without them pay nothing for this.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::exports::{self, Own};
use super::state::{Js, RpcState};
use super::{Cap, MESSAGE_BYTES_MAX, Message, cloned_error, host_tag, too_large};
use crate::compat::Flag;
use crate::guard::callbacks;
use crate::invocation::HoldKind;
use crate::isolate::state::IsolateState;
use crate::js::throw_error;

/// What a value is written for, which decides what may be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Arguments of a call.
    Arguments,
    /// Arguments of a call on what the invocation's caller gave it.
    ArgumentsInSession,
    /// The result of a call.
    Result,
    /// `env` or `ctx.props`: data and services, since it outlives every invocation.
    Environment,
    /// A thrown value: data, with class instances as plain objects.
    Thrown,
}

impl Purpose {
    /// The number `js/rpc_values.js` knows it by.
    fn code(self) -> i32 {
        match self {
            Self::Arguments | Self::ArgumentsInSession => 0,
            Self::Result => 1,
            Self::Environment => 2,
            Self::Thrown => 3,
        }
    }
}

/// Writes a value; `None` with an exception pending.
pub(crate) fn serialize<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    value: v8::Local<'s, v8::Value>,
    purpose: Purpose,
) -> Option<Message> {
    let rpc = RpcState::of(scope);
    let caps = Rc::default();
    let bytes = write_body(scope, &rpc, value, purpose, &caps, 0)?;
    if bytes.len() > MESSAGE_BYTES_MAX {
        throw_error(scope, &too_large(bytes.len()));
        return None;
    }
    Some(Message { bytes: bytes.into(), caps: caps.take() })
}

type Caps = Rc<RefCell<Vec<Cap>>>;

fn write_body<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    rpc: &Rc<RpcState>,
    value: v8::Local<'s, v8::Value>,
    purpose: Purpose,
    caps: &Caps,
    depth: usize,
) -> Option<Vec<u8>> {
    let js = rpc.js(scope)?;
    let caps_before = caps.borrow().len();
    let whole = IsolateState::of(scope).has_flag(Flag::EnhancedErrorSerialization);
    let errors = if whole { Errors::Whole } else { Errors::AsV8 };
    let attempt = |scope: &mut v8::PinScope<'s, '_>, value| {
        let parts = Rc::default();
        let refused = Rc::default();
        let writer = Writer {
            rpc: rpc.clone(),
            js: js.clone(),
            purpose,
            errors,
            caps: caps.clone(),
            parts: Rc::clone(&parts),
            refused: Rc::clone(&refused),
            depth,
        };
        let context = scope.get_current_context();
        let serializer = callbacks::serializer(scope, writer);
        v8::ValueSerializerHelper::write_header(&serializer);
        let written = serializer.write_value(context, value).unwrap_or(false);
        let refused: bool = Cell::get(&refused);
        if written { Ok(host_tag::frame(serializer.release(), &parts.borrow())) } else { Err(refused) }
    };
    if purpose == Purpose::Thrown {
        return attempt(scope, value).ok();
    }
    {
        v8::tc_scope!(let scope, scope);
        match attempt(scope, value) {
            Ok(bytes) => return Some(bytes),
            Err(refused) => {
                if !refused || scope.has_terminated() {
                    scope.rethrow();
                    return None;
                }
            }
        }
        // V8 refused something in it: see whether functions or proxies are what it refused.
        let exception = scope.exception()?;
        scope.reset();
        caps.borrow_mut().truncate(caps_before);
        let substitute = v8::Local::new(scope, &js.substitute);
        let receiver = v8::undefined(scope).into();
        let purpose = v8::Integer::new(scope, purpose.code()).into();
        let Some(copy) = substitute.call(scope, receiver, &[value, purpose]) else {
            scope.rethrow();
            return None;
        };
        if copy.is_undefined() {
            // It holds neither, so V8's reason stands.
            scope.throw_exception(exception);
            scope.rethrow();
            return None;
        }
        match attempt(scope, copy) {
            Ok(bytes) => Some(bytes),
            Err(_) => {
                scope.rethrow();
                None
            }
        }
    }
}

/// What of an error is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Errors {
    /// Its name, message and own properties.
    Whole,
    /// What V8 writes of it: a built-in class, message, stack and cause.
    AsV8,
}

/// Answers V8's questions while it writes one body.
struct Writer {
    rpc: Rc<RpcState>,
    js: Rc<Js>,
    purpose: Purpose,
    errors: Errors,
    caps: Caps,
    parts: Rc<RefCell<Vec<Vec<u8>>>>,
    /// V8 met something that it does not write at all.
    refused: Rc<Cell<bool>>,
    depth: usize,
}

impl v8::ValueSerializerImpl for Writer {
    fn throw_data_clone_error<'s>(&self, scope: &mut v8::PinScope<'s, '_>, message: v8::Local<'s, v8::String>) {
        self.refused.set(true);
        let message = message.to_rust_string_lossy(scope);
        throw_data_clone_error(scope, &message);
    }

    fn has_custom_host_object(&self, _isolate: &v8::Isolate) -> bool {
        true
    }

    fn is_host_object<'s>(&self, scope: &mut v8::PinScope<'s, '_>, object: v8::Local<'s, v8::Object>) -> Option<bool> {
        if object.is_native_error() {
            return Some(self.errors == Errors::Whole);
        }
        if object.internal_field_count() > 0 {
            return Some(true);
        }
        let plain = v8::Local::new(scope, &self.js.object_prototype);
        let prototype = object.get_prototype(scope);
        if prototype == Some(plain) {
            return Some(false);
        }
        if self.purpose != Purpose::Thrown {
            return Some(true);
        }
        // Instances are written as plain objects here, except those of the API.
        Some(self.describe(scope, object)?.is_array())
    }

    fn write_host_object<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        object: v8::Local<'s, v8::Object>,
        to: &dyn v8::ValueSerializerHelper,
    ) -> Option<bool> {
        if object.is_native_error() && self.errors == Errors::Whole {
            to.write_uint32(host_tag::ERROR);
            return cloned_error::write(scope, object, to);
        }
        let placeholder = v8::Local::new(scope, &self.js.placeholder);
        let stands_for = object.get_private(scope, placeholder)?;
        let object = v8::Local::<v8::Object>::try_from(stands_for).unwrap_or(object);
        let described = self.describe(scope, object)?;
        if let Ok(import) = v8::Local::<v8::Number>::try_from(described) {
            return self.write_capability(scope, import.value() as u64, to);
        }
        if let Ok(part) = v8::Local::<v8::Array>::try_from(described) {
            return self.write_part(scope, part, to);
        }
        let class = if described.is_string() {
            described.to_rust_string_lossy(scope)
        } else {
            object.get_constructor_name().to_rust_string_lossy(scope)
        };
        throw_data_clone_error(
            scope,
            &format!("Could not serialize object of type \"{class}\". This type does not support serialization."),
        );
        None
    }

    fn get_shared_array_buffer_id<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        _buffer: v8::Local<'s, v8::SharedArrayBuffer>,
    ) -> Option<u32> {
        throw_data_clone_error(scope, "#<SharedArrayBuffer> could not be cloned.");
        None
    }

    fn get_wasm_module_transfer_id(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        _module: v8::Local<v8::WasmModuleObject>,
    ) -> Option<u32> {
        throw_data_clone_error(scope, "#<Module> could not be cloned.");
        None
    }
}

impl Writer {
    /// Asks `js/rpc_values.js` what the object is: an import's id, a part to write (type, value), or nothing it knows.
    fn describe<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        object: v8::Local<'s, v8::Object>,
    ) -> Option<v8::Local<'s, v8::Value>> {
        let describe = v8::Local::new(scope, &self.js.describe);
        let receiver = v8::undefined(scope).into();
        let purpose = v8::Integer::new(scope, self.purpose.code());
        describe.call(scope, receiver, &[object.into(), purpose.into()])
    }

    fn write_capability(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        import: u64,
        to: &dyn v8::ValueSerializerHelper,
    ) -> Option<bool> {
        let isolate = IsolateState::of(scope);
        let invocation = isolate.current().map(|invocation| invocation.id);
        let cap = match self.rpc.imported(import, invocation) {
            Ok(cap) => cap,
            Err(error) => {
                throw_error(scope, &error.message());
                return None;
            }
        };
        if let Some(reason) = cap.target.refuses_transfer() {
            throw_data_clone_error(scope, reason);
            return None;
        }
        // An object of this isolate is told that somebody outside holds it now.
        let kind = match self.purpose {
            Purpose::Arguments => HoldKind::Callback,
            Purpose::ArgumentsInSession => HoldKind::Lent,
            _ => HoldKind::Export,
        };
        let target = match cap.target.as_any().downcast_ref::<Own>() {
            Some(Own(object)) => exports::send(&self.rpc, &isolate, object.clone(), kind),
            None => cap.target,
        };
        let mut caps = self.caps.borrow_mut();
        to.write_uint32(host_tag::CAPABILITY);
        to.write_uint32(u32::try_from(caps.len()).ok()?);
        caps.push(Cap { kind: cap.kind, target });
        Some(true)
    }

    fn write_part<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        part: v8::Local<'s, v8::Array>,
        to: &dyn v8::ValueSerializerHelper,
    ) -> Option<bool> {
        let index = self.parts.borrow().len();
        if self.depth >= host_tag::PART_DEPTH_MAX || index >= host_tag::PARTS_MAX {
            throw_data_clone_error(scope, "The value holds too many objects of the API.");
            return None;
        }
        let bytes = write_body(scope, &self.rpc, part.into(), self.purpose, &self.caps, self.depth + 1)?;
        self.parts.borrow_mut().push(bytes);
        to.write_uint32(host_tag::PART);
        to.write_uint32(u32::try_from(index).ok()?);
        Some(true)
    }
}

/// Throws a `DataCloneError`.
pub(crate) fn throw_data_clone_error(scope: &mut v8::PinScope<'_, '_>, message: &str) {
    if let Some(error) = crate::api::dom_exception(scope, "DataCloneError", message) {
        scope.throw_exception(error);
    }
}
