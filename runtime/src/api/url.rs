//! The Rust half of `URL` and `URLSearchParams`, over the `url` crate.

use std::rc::Rc;

use url::{ParseError, Position, Url, form_urlencoded, quirks};

use super::args::{set_function, set_text, string};

/// What `native.places` holds, in this order (see `js/url.js`), then whether the scheme is special.
const PLACES: [Position; 12] = [
    Position::AfterScheme,
    Position::BeforeUsername,
    Position::AfterUsername,
    Position::BeforePassword,
    Position::AfterPassword,
    Position::BeforeHost,
    Position::AfterHost,
    Position::BeforePort,
    Position::AfterPort,
    Position::BeforePath,
    Position::AfterPath,
    Position::AfterQuery,
];

/// Where this isolate's room reads the places of the URL parsed last.
struct Places(Rc<v8::Global<v8::Uint32Array>>);

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    let length = PLACES.len() + 1;
    let buffer = v8::ArrayBuffer::new(scope, length * size_of::<u32>());
    let places = v8::Uint32Array::new(scope, buffer, 0, length)?;
    let name = v8::String::new(scope, "places")?;
    target.set(scope, name.into(), places.into())?;
    let places = v8::Global::new(scope, places);
    scope.set_slot(Places(Rc::new(places)));
    set_function(scope, target, "parse", parse)?;
    set_function(scope, target, "set", set)?;
    set_function(scope, target, "parseQuery", parse_query)?;
    set_function(scope, target, "serializeQuery", serialize_query)
}

/// `parse(url, base or undefined) → href`, or `undefined` when either is not a URL.
fn parse(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let text = args.get(0).to_rust_string_lossy(scope);
    let base = args.get(1);
    let parsed = if base.is_undefined() {
        Url::parse(&text)
    } else {
        Url::parse(&base.to_rust_string_lossy(scope)).and_then(|base| base.join(&text))
    };
    if let Ok(url) = parsed.and_then(keep_last_space) {
        answer(scope, &url, &mut result);
    }
}

/// The space that ends an opaque path before a query or fragment is encoded, so that it stays when those go (opaque path
/// state of the standard; the library still has the older rule).
fn keep_last_space(url: Url) -> Result<Url, ParseError> {
    let ends_in_space = url.cannot_be_a_base() && url.path().ends_with(' ');
    if !ends_in_space {
        return Ok(url);
    }
    let before = &url[..Position::AfterPath];
    Url::parse(&format!("{}%20{}", &before[..before.len() - 1], &url[Position::AfterPath..]))
}

/// `set(href, part, value) → href`. A value the part cannot take leaves the URL as it is.
fn set(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(mut url) = Url::parse(&args.get(0).to_rust_string_lossy(scope)) else { return };
    let value = args.get(2).to_rust_string_lossy(scope);
    let part = args.get(1).uint32_value(scope).unwrap_or(0);
    // Each setter ignores what the specification says it ignores, and says so with `Err`.
    let _ = match part {
        1 => quirks::set_protocol(&mut url, &value),
        2 => quirks::set_username(&mut url, &value),
        3 => quirks::set_password(&mut url, &value),
        4 => quirks::set_host(&mut url, &value),
        5 => quirks::set_hostname(&mut url, &value),
        6 => quirks::set_port(&mut url, &value),
        7 => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        8 => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        9 => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Ok(()),
    };
    answer(scope, &url, &mut result);
}

/// Answers with the URL's text, its places written where the room reads them.
fn answer(scope: &mut v8::PinScope<'_, '_>, url: &Url, result: &mut v8::ReturnValue<'_, v8::Value>) {
    let mut values = [0_u32; PLACES.len() + 1];
    let no_password = url.password().is_none();
    for (value, position) in values.iter_mut().zip(PLACES) {
        // The library asserts that there is one where these are asked for, or no user name either.
        let password = matches!(position, Position::BeforePassword | Position::AfterPassword);
        let position = if password && no_password { Position::AfterUsername } else { position };
        *value = u32::try_from(url[..position].len()).unwrap_or(u32::MAX);
    }
    // The room counts the ":" as part of the scheme.
    values[0] += 1;
    values[PLACES.len()] = u32::from(matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp" | "file"));
    let Some(places) = scope.get_slot::<Places>().map(|Places(places)| Rc::clone(places)) else { return };
    let places = v8::Local::new(scope, &*places);
    let data = places.data().cast::<u32>();
    if places.byte_length() == size_of_val(&values) && !data.is_null() {
        // SAFETY: the array was made in `install` with this length (checked: a room could have detached it) and is
        // held in this scope; a `Uint32Array` is aligned for `u32`; no JavaScript runs meanwhile.
        unsafe { std::slice::from_raw_parts_mut(data, values.len()) }.copy_from_slice(&values);
    }
    set_text(scope, result, url.as_str());
}

/// `parseQuery(string) → [name, value, name, value, …]`.
fn parse_query(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let text = args.get(0).to_rust_string_lossy(scope);
    let mut values = Vec::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        for part in [name, value] {
            let Some(part) = string(scope, &part) else { return };
            values.push(part.into());
        }
    }
    result.set(v8::Array::new_with_elements(scope, &values).into());
}

/// `serializeQuery([name, value, …]) → string`.
fn serialize_query(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(list) = v8::Local::<v8::Array>::try_from(args.get(0)) else { return };
    let mut serializer = form_urlencoded::Serializer::new(String::new());
    let mut index = 0;
    while index + 1 < list.length() {
        let Some(name) = list.get_index(scope, index) else { return };
        let Some(value) = list.get_index(scope, index + 1) else { return };
        let (name, value) = (name.to_rust_string_lossy(scope), value.to_rust_string_lossy(scope));
        serializer.append_pair(&name, &value);
        index += 2;
    }
    set_text(scope, &mut result, &serializer.finish());
}
