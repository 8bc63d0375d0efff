//! The ways in which V8 is given functions of ours, one for each kind of [`Callback`]: what it calls is always contained.
#![expect(clippy::disallowed_methods, reason = "this is where V8's own ways of taking functions are used")]

use std::ffi::c_void;

use super::Callback::*;
use super::{contain, contain_in, contain_or_throw, contain_throwing};
use crate::isolate::state::IsolateState;
use crate::vm;

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type PropertyArguments<'s> = v8::PropertyCallbackArguments<'s>;
type Returned<'s, T = v8::Value> = v8::ReturnValue<'s, T>;

/// A plain function or a closure that holds nothing: V8 is given an address and no more. One alias for each signature, with
/// the function that has the compiler see that a closure fits.
macro_rules! plain_functions {
    ($($(#[$doc:meta])* $alias:ident, $see:ident: ($($argument:ty),*) $(-> $result:ty)?;)*) => {$(
        $(#[$doc])*
        pub(crate) trait $alias: Copy + for<'s, 'i> Fn(&mut v8::PinScope<'s, 'i>, $($argument),*) $(-> $result)? {}

        impl<F> $alias for F
        where
            F: Copy + for<'s, 'i> Fn(&mut v8::PinScope<'s, 'i>, $($argument),*) $(-> $result)?,
        {
        }

        pub(crate) fn $see<F: $alias>(function: F) -> F {
            function
        }
    )*};
}

plain_functions! {
    /// What JavaScript can call.
    NativeFunction, as_function: (Arguments<'s>, Returned<'s>);
    /// Reads a property.
    Getter, as_getter: (v8::Local<'s, v8::Name>, PropertyArguments<'s>, Returned<'_>);
    /// Writes a property.
    Setter, as_setter: (v8::Local<'s, v8::Name>, v8::Local<'s, v8::Value>, PropertyArguments<'s>, Returned<'_, ()>);
    /// The module that an import of another one means. `None` with an exception pending.
    ResolveImport, as_resolve_import:
        (v8::Local<'s, v8::String>, v8::Local<'s, v8::FixedArray>, v8::Local<'s, v8::Module>)
        -> Option<v8::Local<'s, v8::Module>>;
    /// The same for `import source`.
    ResolveSource, as_resolve_source:
        (v8::Local<'s, v8::String>, v8::Local<'s, v8::FixedArray>, v8::Local<'s, v8::Module>)
        -> Option<v8::Local<'s, v8::Object>>;
    /// Evaluates a module that is no ES module. `None` with an exception pending.
    Evaluate, as_evaluate: (v8::Local<'s, v8::Module>) -> Option<v8::Local<'s, v8::Value>>;
}

/// A function for JavaScript.
pub(crate) fn function<'s>(callback: impl NativeFunction) -> v8::FunctionBuilder<'s, v8::Function> {
    v8::Function::builder(native(callback))
}

/// A template of functions for JavaScript.
pub(crate) fn template<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    callback: impl NativeFunction,
) -> v8::Local<'s, v8::FunctionTemplate> {
    v8::FunctionTemplate::new(scope, native(callback))
}

fn native(callback: impl NativeFunction) -> impl NativeFunction {
    as_function(move |scope, arguments, returned| {
        contain_in(Function, scope, |scope| callback(scope, arguments, returned));
    })
}

fn getter(callback: impl Getter) -> impl Getter {
    as_getter(move |scope, name, arguments, returned| {
        contain_in(Getter, scope, |scope| callback(scope, name, arguments, returned));
    })
}

/// Gives an object a property that is made when it is first read. `data` is what `make` finds in its arguments.
pub(crate) fn set_lazy_property(
    scope: &mut v8::PinScope<'_, '_>,
    holder: v8::Local<'_, v8::Object>,
    name: v8::Local<'_, v8::Name>,
    make: impl Getter,
    data: v8::Local<'_, v8::Value>,
    attributes: v8::PropertyAttribute,
) -> Option<bool> {
    let (reading, writing) = (v8::SideEffectType::HasNoSideEffect, v8::SideEffectType::HasSideEffect);
    holder.set_lazy_data_property_with_data(scope, name, getter(make), data, attributes, reading, writing)
}

/// A property of a template's instances.
pub(crate) fn accessor<'s>(read: impl Getter) -> v8::AccessorConfiguration<'s> {
    v8::AccessorConfiguration::new(getter(read))
}

/// The same, of those that can be written.
pub(crate) fn writable_accessor<'s>(read: impl Getter, write: impl Setter) -> v8::AccessorConfiguration<'s> {
    accessor(read).setter(as_setter(move |scope, name, value, arguments, returned| {
        contain_in(Setter, scope, |scope| write(scope, name, value, arguments, returned));
    }))
}

/// Links a module and all that it imports. `None` with an exception pending.
pub(crate) fn link<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    module: v8::Local<'_, v8::Module>,
    resolve_import: impl ResolveImport,
    resolve_source: impl ResolveSource,
) -> Option<bool> {
    let (resolve_import, resolve_source) = (as_resolve_import(resolve_import), as_resolve_source(resolve_source));
    module.instantiate_module2(
        scope,
        move |context: v8::Local<'s, v8::Context>, specifier, attributes, referrer| {
            v8::callback_scope!(unsafe scope, context);
            contain_or_throw(Import, scope, |scope| resolve_import(scope, specifier, attributes, referrer))
        },
        move |context: v8::Local<'s, v8::Context>, specifier, attributes, referrer| {
            v8::callback_scope!(unsafe scope, context);
            contain_or_throw(SourceImport, scope, |scope| resolve_source(scope, specifier, attributes, referrer))
        },
    )
}

/// A module whose exports `evaluate` sets.
pub(crate) fn synthetic_module<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: v8::Local<'s, v8::String>,
    exports: &[v8::Local<'s, v8::String>],
    evaluate: impl Evaluate,
) -> v8::Local<'s, v8::Module> {
    let evaluate = as_evaluate(evaluate);
    v8::Module::create_synthetic_module(scope, name, exports, move |context: v8::Local<'s, v8::Context>, module| {
        v8::callback_scope!(unsafe scope, context);
        contain_or_throw(SyntheticModule, scope, |scope| evaluate(scope, module))
    })
}

/// Calls `finalize` when what `handle` stands for has been collected, at the latest when the isolate goes. Dropping what is
/// returned forgets it.
pub(crate) fn finalizer<T>(
    scope: &mut v8::PinScope<'_, '_>,
    handle: v8::Local<'_, T>,
    finalize: impl FnOnce() + 'static,
) -> v8::Weak<T>
where
    for<'l> v8::Local<'l, T>: v8::Handle<Data = T>,
{
    let finalize = move || {
        contain(Finalizer, finalize);
    };
    v8::Weak::with_guaranteed_finalizer(scope, handle, Box::new(finalize))
}

/// Asks the isolate's thread to look at its memory as soon as it can be interrupted. From any thread.
pub(crate) fn ask_to_look_at_memory(isolate: &v8::IsolateHandle) {
    isolate.request_interrupt(interrupted, std::ptr::null_mut());
}

/// Has V8 tell of what concerns every isolate. `state` must outlive it.
pub(crate) fn listen(isolate: &mut v8::OwnedIsolate, state: &std::rc::Rc<IsolateState>) {
    let data = std::rc::Rc::as_ptr(state).cast_mut().cast::<c_void>();
    isolate.set_oom_error_handler(crate::fatal::out_of_memory);
    isolate.add_near_heap_limit_callback(near_heap_limit, data);
    isolate.add_gc_epilogue_callback(collected, data, v8::GCType::kGCTypeMarkSweepCompact);
    isolate.set_host_import_module_with_phase_dynamically_callback(import_dynamically);
    isolate.add_message_listener(nobodys_exception);
    isolate.set_host_initialize_import_meta_object_callback(import_meta);
    isolate.set_allow_wasm_code_generation_callback(refuse_wasm_from_bytes);
}

/// Has V8 tell of rejected promises.
pub(crate) fn listen_to_rejections(isolate: &mut v8::Isolate) {
    isolate.set_promise_reject_callback(rejected);
}

/// Has V8 ask for the stacks of errors.
pub(crate) fn make_stack_traces(isolate: &mut v8::Isolate) {
    isolate.set_prepare_stack_trace_callback(prepare_stack_trace);
}

/// # Safety
/// `data` is the isolate's state, which lives.
unsafe extern "C" fn near_heap_limit(data: *mut c_void, current: usize, initial: usize) -> usize {
    contain(HeapLimit, || {
        // SAFETY: `data` is the isolate's state, which outlives the isolate.
        vm::near_heap_limit(unsafe { &*data.cast::<IsolateState>() });
    });
    vm::raised_heap_limit(current, initial)
}

/// # Safety
/// V8 calls it on the isolate's thread with the live isolate; `data` is its state, which lives.
unsafe extern "C" fn collected(
    isolate: v8::UnsafeRawIsolatePtr,
    _kind: v8::GCType,
    _flags: v8::GCCallbackFlags,
    data: *mut c_void,
) {
    contain(Collected, || {
        // SAFETY: V8 calls this on the isolate's thread with the live isolate it collects.
        let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
        // SAFETY: `data` is the isolate's state, which outlives the isolate.
        vm::collected(&mut isolate, unsafe { &*data.cast::<IsolateState>() });
    });
}

/// # Safety
/// V8 calls it on the isolate's thread with the live isolate.
unsafe extern "C" fn interrupted(isolate: v8::UnsafeRawIsolatePtr, _data: *mut c_void) {
    contain(Interrupt, || {
        // SAFETY: see above.
        let mut isolate = unsafe { v8::Isolate::from_raw_isolate_ptr(isolate) };
        vm::look_at_memory(&mut isolate);
    });
}

fn import_dynamically<'s, 'i>(
    scope: &mut v8::PinScope<'s, 'i>,
    _options: v8::Local<'s, v8::Data>,
    referrer: v8::Local<'s, v8::Value>,
    specifier: v8::Local<'s, v8::String>,
    phase: v8::ModuleImportPhase,
    attributes: v8::Local<'s, v8::FixedArray>,
) -> Option<v8::Local<'s, v8::Promise>> {
    contain_or_throw(DynamicImport, scope, |scope| {
        crate::modules::dynamic::import(scope, referrer, specifier, phase, attributes)
    })
}

/// # Safety
/// V8 calls it on the isolate's thread with the live context.
unsafe extern "C" fn import_meta(
    context: v8::Local<v8::Context>,
    module: v8::Local<v8::Module>,
    meta: v8::Local<v8::Object>,
) {
    v8::callback_scope!(unsafe scope, context);
    contain(ImportMeta, || crate::modules::link::import_meta(scope, module, meta));
}

/// # Safety
/// None of it beyond what V8 promises of its arguments.
unsafe extern "C" fn refuse_wasm_from_bytes(_: v8::Local<v8::Context>, _: v8::Local<v8::String>) -> bool {
    contain(WasmFromBytes, || false).unwrap_or(false)
}

/// An exception that no code of ours caught, like that of a program's finalizer. V8 prints it to standard output where
/// nobody listens.
///
/// # Safety
/// V8 calls it on the isolate's thread, with the message and the exception alive.
unsafe extern "C" fn nobodys_exception(message: v8::Local<v8::Message>, exception: v8::Local<v8::Value>) {
    v8::callback_scope!(unsafe scope, message);
    contain(Message, || {
        // It was thrown by code, which runs in the isolate's one context.
        let context = scope.get_current_context();
        let scope = &mut v8::ContextScope::new(scope, context);
        crate::api::rejections::uncaught(scope, exception);
    });
}

extern "C" fn rejected(message: v8::PromiseRejectMessage<'_>) {
    v8::callback_scope!(unsafe scope, &message);
    contain(Rejection, || crate::api::rejections::rejected(scope, &message));
}

fn prepare_stack_trace<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Value>,
    sites: v8::Local<'s, v8::Array>,
) -> v8::Local<'s, v8::Value> {
    let made = contain_throwing(StackTrace, scope, |scope| crate::api::stack_traces::prepare(scope, error, sites));
    // What was thrown, the end of the isolate for one, is on its way; nobody sees this value.
    made.unwrap_or_else(|| v8::undefined(scope).into())
}

/// Something that writes values, and asks `delegate` about what is not plain.
pub(crate) fn serializer<'a, D: v8::ValueSerializerImpl + 'a>(
    scope: &mut v8::PinScope<'_, '_>,
    delegate: D,
) -> v8::ValueSerializer<'a> {
    v8::ValueSerializer::new(scope, Box::new(Contained(delegate)))
}

/// Something that reads values from `data`, and asks `delegate` about what is not plain.
pub(crate) fn deserializer<'a, D: v8::ValueDeserializerImpl + 'a>(
    scope: &mut v8::PinScope<'_, '_>,
    delegate: D,
    data: &[u8],
) -> v8::ValueDeserializer<'a> {
    v8::ValueDeserializer::new(scope, Box::new(Contained(delegate)), data)
}

/// A delegate of a serializer or deserializer whose panics stop here.
struct Contained<D>(D);

impl<D: v8::ValueSerializerImpl> v8::ValueSerializerImpl for Contained<D> {
    fn throw_data_clone_error<'s>(&self, scope: &mut v8::PinScope<'s, '_>, message: v8::Local<'s, v8::String>) {
        contain_in(Serialize, scope, |scope| self.0.throw_data_clone_error(scope, message));
    }

    fn has_custom_host_object(&self, isolate: &v8::Isolate) -> bool {
        contain(Serialize, || self.0.has_custom_host_object(isolate)).unwrap_or(false)
    }

    fn is_host_object<'s>(&self, scope: &mut v8::PinScope<'s, '_>, object: v8::Local<'s, v8::Object>) -> Option<bool> {
        contain_throwing(Serialize, scope, |scope| self.0.is_host_object(scope, object))
    }

    fn write_host_object<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        object: v8::Local<'s, v8::Object>,
        to: &dyn v8::ValueSerializerHelper,
    ) -> Option<bool> {
        contain_throwing(Serialize, scope, |scope| self.0.write_host_object(scope, object, to))
    }

    fn get_shared_array_buffer_id<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        buffer: v8::Local<'s, v8::SharedArrayBuffer>,
    ) -> Option<u32> {
        contain_throwing(Serialize, scope, |scope| self.0.get_shared_array_buffer_id(scope, buffer))
    }

    fn get_wasm_module_transfer_id(
        &self,
        scope: &mut v8::PinScope<'_, '_>,
        module: v8::Local<v8::WasmModuleObject>,
    ) -> Option<u32> {
        contain_throwing(Serialize, scope, |scope| self.0.get_wasm_module_transfer_id(scope, module))
    }
}

impl<D: v8::ValueDeserializerImpl> v8::ValueDeserializerImpl for Contained<D> {
    fn read_host_object<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        from: &dyn v8::ValueDeserializerHelper,
    ) -> Option<v8::Local<'s, v8::Object>> {
        contain_throwing(Deserialize, scope, |scope| self.0.read_host_object(scope, from))
    }

    fn get_shared_array_buffer_from_id<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        id: u32,
    ) -> Option<v8::Local<'s, v8::SharedArrayBuffer>> {
        contain_throwing(Deserialize, scope, |scope| self.0.get_shared_array_buffer_from_id(scope, id))
    }

    fn get_wasm_module_from_id<'s>(
        &self,
        scope: &mut v8::PinScope<'s, '_>,
        id: u32,
    ) -> Option<v8::Local<'s, v8::WasmModuleObject>> {
        contain_throwing(Deserialize, scope, |scope| self.0.get_wasm_module_from_id(scope, id))
    }
}
