//! What the main module may export, which exports are entrypoints, and what each handles.

/// An export of the main module that events can be sent to: an object of handlers, or a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedEntrypoint {
    /// The export's name; `default` for the default export.
    pub name: String,
    /// The names of its methods, own ones of an object, inherited ones too of a class; at most [`HANDLERS_MAX`].
    pub handlers: Vec<String>,
}

impl ExportedEntrypoint {
    /// Whether it has a method of this name.
    #[must_use]
    pub fn handles(&self, name: &str) -> bool {
        self.handlers.iter().any(|handler| handler == name)
    }
}

/// Entrypoints and methods of each that are listed. What comes after still works, and is only not listed.
pub const HANDLERS_MAX: usize = 256;

/// Prototypes from a class up that are looked at.
const PROTOTYPES_MAX: usize = 16;

/// The entrypoints of a namespace, the default export first, then by name. Runs none of the program's code.
pub(crate) fn entrypoints(
    scope: &mut v8::PinScope<'_, '_>,
    namespace: v8::Local<'_, v8::Object>,
) -> Vec<ExportedEntrypoint> {
    let mut found = Vec::new();
    for (name, value) in own_values(scope, namespace) {
        let Ok(object) = v8::Local::<v8::Object>::try_from(value) else { continue };
        if object.is_proxy() || object.is_promise() {
            continue;
        }
        let mut handlers = Vec::new();
        if object.is_function() {
            let prototype = own_values(scope, object).into_iter().find(|(name, _)| name == "prototype");
            let mut next = prototype.and_then(|(_, value)| v8::Local::<v8::Object>::try_from(value).ok());
            for _ in 0..PROTOTYPES_MAX {
                let Some(object) = next.filter(|object| !object.is_proxy()) else { break };
                next = object.get_prototype(scope).and_then(|it| v8::Local::<v8::Object>::try_from(it).ok());
                if next.is_none() {
                    // `Object.prototype`: its methods handle nothing.
                    break;
                }
                handlers.extend(methods(scope, object).into_iter().filter(|name| name != "constructor"));
            }
        } else {
            handlers = methods(scope, object);
        }
        handlers.truncate(HANDLERS_MAX);
        found.push(ExportedEntrypoint { name, handlers });
    }
    // A namespace lists its names in their order; the default one comes first nevertheless.
    found.sort_by_key(|entrypoint| entrypoint.name != "default");
    found.truncate(HANDLERS_MAX);
    found
}

/// What is wrong with the exports of a main module, in the platform's words: each must be a function or an object of
/// handlers. Runs none of the program's code.
pub(crate) fn mistake(scope: &mut v8::PinScope<'_, '_>, namespace: v8::Local<'_, v8::Object>) -> Option<String> {
    for (name, value) in own_values(scope, namespace) {
        if value.is_null_or_undefined() {
            return Some(
                "Uncaught TypeError: Cannot initialize N7workerd3api15ExportedHandlerE with required members from an \
                 undefined or null value."
                    .to_owned(),
            );
        }
        let Ok(object) = v8::Local::<v8::Object>::try_from(value) else {
            return Some(format!(
                "Uncaught TypeError: Incorrect type for map entry '{name}': the provided value is not of type \
                 'function or ExportedHandler'."
            ));
        };
        if !object.is_function() && !ends_in_object(scope, object) {
            return Some("Exported value's prototype chain does not end in Object.".to_owned());
        }
    }
    None
}

/// Whether what an object inherits from last is `Object.prototype`, as far as can be seen without running a proxy's
/// traps.
fn ends_in_object(scope: &mut v8::PinScope<'_, '_>, object: v8::Local<'_, v8::Object>) -> bool {
    let Some(last) = crate::api::object_prototype(scope) else { return true };
    let mut at = object;
    for _ in 0..PROTOTYPES_MAX {
        if at.is_proxy() || at.strict_equals(last) {
            return true;
        }
        match at.get_prototype(scope).map(v8::Local::<v8::Object>::try_from) {
            Some(Ok(next)) => at = next,
            Some(Err(_)) => return false,
            None => return true,
        }
    }
    true
}

fn methods(scope: &mut v8::PinScope<'_, '_>, object: v8::Local<'_, v8::Object>) -> Vec<String> {
    own_values(scope, object).into_iter().filter(|(_, value)| value.is_function()).map(|(name, _)| name).collect()
}

/// Own data properties with string names. Accessors are left out: reading one would run code.
fn own_values<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    object: v8::Local<'_, v8::Object>,
) -> Vec<(String, v8::Local<'s, v8::Value>)> {
    v8::tc_scope!(let scope, scope);
    let arguments = v8::GetPropertyNamesArgsBuilder::new()
        .mode(v8::KeyCollectionMode::OwnOnly)
        .property_filter(v8::PropertyFilter::SKIP_SYMBOLS)
        .build();
    let Some(names) = object.get_own_property_names(scope, arguments) else { return Vec::new() };
    let Some(value_key) = v8::String::new(scope, "value") else { return Vec::new() };
    let mut values = Vec::new();
    for index in 0..names.length().min(HANDLERS_MAX as u32) {
        let Some(name) = names.get_index(scope, index).and_then(|name| v8::Local::<v8::Name>::try_from(name).ok())
        else {
            continue;
        };
        // An export that was never initialized throws here, and is none.
        let descriptor = object.get_own_property_descriptor(scope, name);
        let descriptor = descriptor.and_then(|it| v8::Local::<v8::Object>::try_from(it).ok());
        if let Some(value) = descriptor.and_then(|it| it.get(scope, value_key.into())) {
            values.push((name.to_rust_string_lossy(scope), value));
        }
    }
    values
}
