//! The Rust half of the room `durable_objects`: ids of a namespace, and its objects as imports of the invocation.

use std::any::Any;
use std::sync::Arc;

use super::args::{set_function, set_text, throw_error, throw_type_error};
use super::imports::{drop_import, held, imported, own_export, props_bytes, returned_import, weigh};
use crate::invocation::{InvocationId, SubrequestClass};
use crate::isolate::state::IsolateState;
use crate::isolate::{EntrypointSpec, WeakIsolate};
use crate::limits::Cause;
use crate::objects::{
    self, ClassCap, Facet, NamespaceCap, ObjectClass, ObjectKey, ObjectNamespace, id_from_name, id_from_string,
    new_unique_id,
};
use crate::rpc::state::{ImportId, Keep, Met, RpcState};
use crate::rpc::{Call, Cap, CapKind, Capability, Reply, RpcError};

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "newUniqueId", unique)?;
    set_function(scope, native, "idFromName", named)?;
    set_function(scope, native, "idFromString", parsed)?;
    set_function(scope, native, "object", object)?;
    set_function(scope, native, "ownClass", own_class)?;
    set_function(scope, native, "held", held)?;
    set_function(scope, native, "ownNamespace", own_namespace)
}

pub(super) fn install_facets(scope: &mut v8::PinScope<'_, '_>, native: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, native, "facet", facet)?;
    set_function(scope, native, "drop", drop_import)
}

/// A class of the Worker's own.
struct OwnClass {
    isolate: WeakIsolate,
    spec: EntrypointSpec,
}

impl ObjectClass for OwnClass {
    fn object(&self, key: ObjectKey) -> Cap {
        let target: Arc<dyn Capability> = match self.isolate.upgrade() {
            Some(isolate) => isolate.object(self.spec.clone(), key),
            None => Arc::new(Gone),
        };
        Cap { kind: CapKind::Service, target }
    }
}

/// What stands for the objects of an isolate that is gone.
struct Gone;

impl Capability for Gone {
    fn call(&self, _: Call, reply: Reply) -> Option<Arc<dyn Capability>> {
        reply.send(Err(RpcError { disconnected: true, ..RpcError::ended(Cause::Shutdown) }));
        None
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Keeps a capability for as long as the isolate lives, or until it is dropped.
fn keep(scope: &mut v8::PinScope<'_, '_>, cap: Cap, returned: &mut Returned<'_>) -> Option<ImportId> {
    let import = RpcState::of(scope).import(cap, None, Keep::UntilDropped);
    returned_import(scope, import, returned);
    import.ok()
}

/// Imports an object, calls of which are requests to the platform itself.
fn object_of(scope: &mut v8::PinScope<'_, '_>, cap: Cap, owner: Option<InvocationId>, returned: &mut Returned<'_>) {
    let (met, class) = (Met::Elsewhere, SubrequestClass::InHouse);
    let import = RpcState::of(scope).import_as(cap, owner, Keep::UntilDropped, met, class);
    returned_import(scope, import, returned);
}

/// `ownClass(name, props?)`: the import of a class of this Worker.
fn own_class<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(spec) = own_export(scope, &arguments) else { return };
    // While the isolate is going, nobody can make objects of it.
    let Some(isolate) = IsolateState::of(scope).isolate() else { return };
    let props = props_bytes(spec.props.as_ref());
    let class = OwnClass { isolate: isolate.downgrade(), spec };
    let cap = Cap { kind: CapKind::Service, target: Arc::new(ClassCap(Arc::new(class))) };
    if let Some(import) = keep(scope, cap, &mut returned) {
        weigh(scope, import, props);
    }
}

/// `ownNamespace(name)`: the import of the namespace that a class of this Worker has; undefined when it has none.
fn own_namespace<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let name = arguments.get(0).to_rust_string_lossy(scope);
    let worker = IsolateState::of(scope).worker.borrow().clone();
    let found = worker.and_then(|worker| {
        worker.channels.objects.iter().find(|(class, _)| *class == name).map(|(_, namespace)| namespace.clone())
    });
    if let Some(namespace) = found {
        let cap = Cap { kind: CapKind::Service, target: Arc::new(NamespaceCap(namespace)) };
        keep(scope, cap, &mut returned);
    }
}

/// `facet(class, id, name, path, depth, purpose)`: the import of a facet, as a service.
fn facet<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(cap) = imported(scope, arguments.get(0)) else { return };
    let Some(ClassCap(class)) = cap.target.as_any().downcast_ref() else { return };
    let name = arguments.get(2);
    let key = ObjectKey {
        id: arguments.get(1).to_rust_string_lossy(scope),
        name: name.is_string().then(|| name.to_rust_string_lossy(scope)),
        facet: Some(Facet {
            path: arguments.get(3).to_rust_string_lossy(scope),
            depth: arguments.get(4).uint32_value(scope).unwrap_or(1),
        }),
        purpose: match arguments.get(5).uint32_value(scope) {
            Some(1) => objects::Purpose::Abort,
            Some(2) => objects::Purpose::Delete,
            _ => objects::Purpose::Event,
        },
    };
    let cap = class.object(key);
    object_of(scope, cap, None, &mut returned);
}

/// The namespace of an import. `None` with an exception pending.
fn namespace(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<Arc<dyn ObjectNamespace>> {
    let cap = imported(scope, value)?;
    cap.target.as_any().downcast_ref::<NamespaceCap>().map(|NamespaceCap(namespace)| namespace.clone())
}

fn unique<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let Some(key) = namespace.unique_key() else {
        return throw_type_error(scope, "Unique IDs cannot be created in a namespace of ephemeral objects.");
    };
    match new_unique_id(key) {
        Some(id) => set_text(scope, &mut returned, &id),
        None => throw_error(scope, "This system has no random numbers."),
    }
}

fn named<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let name = arguments.get(1).to_rust_string_lossy(scope);
    let id = namespace.unique_key().map_or_else(|| name.clone(), |key| id_from_name(key, &name));
    set_text(scope, &mut returned, &id);
}

fn parsed<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let text = arguments.get(1).to_rust_string_lossy(scope);
    match namespace.unique_key().map_or(Ok(text.clone()), |key| id_from_string(key, &text)) {
        Ok(id) => set_text(scope, &mut returned, &id),
        Err(error) => throw_type_error(scope, &error.to_string()),
    }
}

/// `object(namespace, id, name)`: the import of a service.
fn object<'s>(scope: &mut v8::PinScope<'s, '_>, arguments: Arguments<'s>, mut returned: Returned<'_>) {
    let Some(namespace) = namespace(scope, arguments.get(0)) else { return };
    let id = arguments.get(1).to_rust_string_lossy(scope);
    let name = arguments.get(2);
    let name = name.is_string().then(|| name.to_rust_string_lossy(scope));
    let Some(current) = IsolateState::of(scope).current() else {
        return throw_error(scope, super::GLOBAL_SCOPE_REFUSAL);
    };
    let cap = namespace.object(ObjectKey { id, name, ..ObjectKey::default() });
    object_of(scope, cap, Some(current.id), &mut returned);
}
