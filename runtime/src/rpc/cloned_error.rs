//! Errors in serialized values, where the Worker asked for whole ones (`enhanced_error_serialization`): their name,
//! message and own properties, but never the stack of their home.

use super::errors::new_error;
use crate::js::string;

/// What `stack` an error that was read gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// Where it was received, since it is about to be thrown there.
    Here,
    /// Its name and message only.
    None,
}

/// Writes an error as three values: name, message, and an object of its other own properties, enumerable or not.
pub(crate) fn write<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    error: v8::Local<'s, v8::Object>,
    to: &dyn v8::ValueSerializerHelper,
) -> Option<bool> {
    let context = scope.get_current_context();
    let [name_key, message_key, stack_key] = ["name", "message", "stack"].map(|key| string(scope, key));
    let name = error.get(scope, name_key.into())?.to_string(scope)?;
    let message = error.get(scope, message_key.into())?.to_string(scope)?;
    let others = v8::Object::new(scope);
    let names = error.get_own_property_names(
        scope,
        v8::GetPropertyNamesArgsBuilder::new()
            .property_filter(v8::PropertyFilter::ALL_PROPERTIES | v8::PropertyFilter::SKIP_SYMBOLS)
            .index_filter(v8::IndexFilter::SkipIndices)
            .build(),
    )?;
    for index in 0..names.length() {
        let key = names.get_index(scope, index)?;
        if [name_key, message_key, stack_key].iter().any(|known| key.strict_equals((*known).into())) {
            continue;
        }
        let value = error.get(scope, key)?;
        // Setters that a program has put on Object.prototype see it, as on the platform.
        others.set(scope, key, value)?;
    }
    Some(
        to.write_value(context, name.into())?
            && to.write_value(context, message.into())?
            && to.write_value(context, others.into())?,
    )
}

/// Reads what [`write`] has written. Runs no JavaScript. `None`: the bytes are not an error.
pub(crate) fn read<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    from: &dyn v8::ValueDeserializerHelper,
    prototypes: v8::Local<'s, v8::Object>,
    stack: Stack,
) -> Option<v8::Local<'s, v8::Object>> {
    let context = scope.get_current_context();
    let name = v8::Local::<v8::String>::try_from(from.read_value(context)?).ok()?;
    let message = v8::Local::<v8::String>::try_from(from.read_value(context)?).ok()?;
    let others = v8::Local::<v8::Object>::try_from(from.read_value(context)?).ok()?;
    let error = new_error(scope, prototypes, name, message)?;
    if stack == Stack::None {
        let (name, message) = (name.to_rust_string_lossy(scope), message.to_rust_string_lossy(scope));
        let header = if message.is_empty() { name } else { format!("{name}: {message}") };
        let key = string(scope, "stack");
        let header = string(scope, &header);
        error.define_own_property(scope, key.into(), header.into(), v8::PropertyAttribute::DONT_ENUM)?;
    }
    let names = others.get_own_property_names(scope, v8::GetPropertyNamesArgs::default())?;
    for index in 0..names.length() {
        let key = names.get_index(scope, index)?;
        let value = others.get(scope, key)?;
        error.create_data_property(scope, v8::Local::<v8::Name>::try_from(key).ok()?, value)?;
    }
    Some(error)
}
