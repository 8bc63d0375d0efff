//! [`Message`]s to JavaScript values.
//!
//! V8 runs no JavaScript while it reads, so what needs some is made first: a stub for each capability, and the
//! objects of the API that the message carries as parts.

pub(crate) use super::cloned_error::Stack;
use super::state::{self, Js, Keep, Met, RpcState};
use super::{CapKind, Message, cloned_error, host_tag};
use crate::dynamic::LoaderCap;
use crate::guard::callbacks;
use crate::invocation::InvocationId;
use crate::isolate::state::IsolateState;
use crate::js::throw_error;
use crate::objects::{ClassCap, NamespaceCap};

/// A value, and the stubs in it, which are disposed of together.
pub(crate) struct Received<'s> {
    pub(crate) value: v8::Local<'s, v8::Value>,
    /// An array; also stubs that the value does not show, which stand for its disposer on the other side.
    pub(crate) stubs: v8::Local<'s, v8::Array>,
}

/// Reads a value. Its stubs belong to `owner` (`None`: to the isolate). `None` with an exception pending.
pub(crate) fn deserialize<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    message: &Message,
    owner: Option<InvocationId>,
    stack: Stack,
) -> Option<Received<'s>> {
    deserialize_met(scope, message, owner, stack, Met::Elsewhere)
}

/// The same, with how the owner comes by the stubs.
pub(crate) fn deserialize_met<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    message: &Message,
    owner: Option<InvocationId>,
    stack: Stack,
    met: Met,
) -> Option<Received<'s>> {
    let rpc = RpcState::of(scope);
    let js = rpc.js(scope)?;
    let home = IsolateState::of(scope).isolate();
    let mut caps = Vec::with_capacity(message.caps.len());
    let mut stubs = Vec::with_capacity(message.caps.len());
    for cap in &message.caps {
        let cap = state::received(cap.clone(), home.as_ref(), owner);
        let kind = match cap.kind {
            CapKind::Object | CapKind::Function => 0,
            CapKind::Service if cap.target.as_any().is::<LoaderCap>() => 5,
            CapKind::Service if cap.target.as_any().is::<NamespaceCap>() => 6,
            CapKind::Service if cap.target.as_any().is::<ClassCap>() => 8,
            CapKind::Service => 1,
        };
        let import = match rpc.import_met(cap, owner, Keep::UntilDropped, met) {
            Ok(import) => import,
            Err(error) => {
                throw_error(scope, &error.message());
                return None;
            }
        };
        let make_stub = v8::Local::new(scope, &js.make_stub);
        let receiver = v8::undefined(scope).into();
        let arguments = [v8::Number::new(scope, import as f64).into(), v8::Integer::new(scope, kind).into()];
        let stub = make_stub.call(scope, receiver, &arguments)?;
        caps.push(v8::Global::new(scope, v8::Local::<v8::Object>::try_from(stub).ok()?));
        stubs.push(stub);
    }
    let value = read_body(scope, &js, &message.bytes, &caps, stack, 0)?;
    Some(Received { value, stubs: v8::Array::new_with_elements(scope, &stubs) })
}

fn read_body<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    js: &Js,
    bytes: &[u8],
    caps: &[v8::Global<v8::Object>],
    stack: Stack,
    depth: usize,
) -> Option<v8::Local<'s, v8::Value>> {
    let Some((bodies, value)) =
        split(bytes).filter(|(bodies, _)| bodies.is_empty() || depth < host_tag::PART_DEPTH_MAX)
    else {
        super::serialize::throw_data_clone_error(scope, "Unable to deserialize cloned data.");
        return None;
    };
    let mut parts = Vec::with_capacity(bodies.len());
    for body in bodies {
        let described = read_body(scope, js, body, caps, stack, depth + 1)?;
        let revive = v8::Local::new(scope, &js.revive);
        let receiver = v8::undefined(scope).into();
        let part = revive.call(scope, receiver, &[described])?;
        parts.push(v8::Global::new(scope, v8::Local::<v8::Object>::try_from(part).ok()?));
    }
    let error_prototypes = js.error_prototypes.clone();
    let reader = Reader { caps: caps.to_vec(), parts, error_prototypes, stack };
    let context = scope.get_current_context();
    let deserializer = callbacks::deserializer(scope, reader, value);
    v8::ValueDeserializerHelper::read_header(&deserializer, context)?;
    deserializer.read_value(context)
}

/// Cuts a body into its parts and its value; `None` when the lengths do not fit.
fn split(bytes: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let Some((&host_tag::PARTS, mut rest)) = bytes.split_first() else { return Some((Vec::new(), bytes)) };
    let count = read_varint(&mut rest).filter(|count| *count <= host_tag::PARTS_MAX)?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let length = read_varint(&mut rest)?;
        let (part, after) = rest.split_at_checked(length)?;
        parts.push(part);
        rest = after;
    }
    Some((parts, rest))
}

fn read_varint(bytes: &mut &[u8]) -> Option<usize> {
    let mut value: usize = 0;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Answers V8's questions while it reads one body.
struct Reader {
    caps: Vec<v8::Global<v8::Object>>,
    parts: Vec<v8::Global<v8::Object>>,
    error_prototypes: v8::Global<v8::Object>,
    stack: Stack,
}

impl v8::ValueDeserializerImpl for Reader {
    /// `None` without an exception lets V8 throw its own `DataCloneError`-like error for bytes it cannot read.
    fn read_host_object<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        from: &dyn v8::ValueDeserializerHelper,
    ) -> Option<v8::Local<'s, v8::Object>> {
        let table = match read_uint32(from)? {
            host_tag::CAPABILITY => &self.caps,
            host_tag::PART => &self.parts,
            host_tag::ERROR => {
                let prototypes = v8::Local::new(scope, &self.error_prototypes);
                return cloned_error::read(scope, from, prototypes, self.stack);
            }
            _ => return None,
        };
        let object = table.get(read_uint32(from)? as usize)?;
        Some(v8::Local::new(scope, object))
    }
}

fn read_uint32(from: &dyn v8::ValueDeserializerHelper) -> Option<u32> {
    let mut value = 0;
    from.read_uint32(&mut value).then_some(value)
}
