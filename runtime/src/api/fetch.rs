//! The Rust half of `fetch`: where it may be called, media types, and `data:` URLs.

use super::args::{new_array_buffer, set_function, string};
use super::timers;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "requireInvocation", require_invocation)?;
    set_function(scope, target, "warn", super::tracing::warn)?;
    set_function(scope, target, "mediaType", media_type)?;
    set_function(scope, target, "dataUrl", data_url)
}

/// `requireInvocation()`: throws the platform's refusal in global scope.
fn require_invocation(
    scope: &mut v8::PinScope<'_, '_>,
    _: v8::FunctionCallbackArguments<'_>,
    _: v8::ReturnValue<'_, v8::Value>,
) {
    timers::require_invocation(scope);
}

/// `dataUrl(href) → {type, bytes}`, or `undefined` when it is malformed.
fn data_url(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let href = args.get(0).to_rust_string_lossy(scope);
    let Some((media_type, bytes)) = parse_data_url(&href) else { return };
    let Some(bytes) = new_array_buffer(scope, &bytes) else { return };
    let Some(media_type) = string(scope, &media_type) else { return };
    let parts = v8::Object::new(scope);
    for (name, value) in [("type", media_type.into()), ("bytes", bytes.into())] {
        let Some(name) = string(scope, name) else { return };
        parts.set(scope, name.into(), value);
    }
    result.set(parts.into());
}

/// `mediaType(text)`: in its serialized form; `undefined` when it is none.
fn media_type(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let text = args.get(0).to_rust_string_lossy(scope);
    let essence = text.split(';').next().unwrap_or_default().trim();
    if essence.split_once('/').is_none_or(|(kind, subtype)| !is_token(kind) || !is_token(subtype)) {
        return;
    }
    if let Some(text) = string(scope, &serialize_media_type(&text)) {
        result.set(text.into());
    }
}

/// Whether it is a token of HTTP's (RFC 9110 5.6.2).
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// The media type and content of a `data:` URL (Fetch Standard 6, "data: URL processor").
fn parse_data_url(href: &str) -> Option<(String, Vec<u8>)> {
    let rest = href.strip_prefix("data:")?;
    let rest = rest.split_once('#').map_or(rest, |(before, _)| before);
    let (header, body) = rest.split_once(',')?;
    let mut bytes: Vec<u8> = percent_encoding::percent_decode_str(body).collect();
    let mut media_type = header.trim();
    if let Some((before, last)) = media_type.rsplit_once(';')
        && last.trim_start().eq_ignore_ascii_case("base64")
    {
        bytes = super::base64::decode(&bytes)?;
        media_type = before.trim_end();
    }
    let media_type = if media_type.starts_with(';') {
        format!("text/plain{media_type}")
    } else if media_type.contains('/') {
        media_type.to_owned()
    } else {
        "text/plain;charset=US-ASCII".to_owned()
    };
    Some((serialize_media_type(&media_type), bytes))
}

/// A media type in its serialized form (MIME Sniffing 4.5): names in lower case, values quoted only where they must be.
fn serialize_media_type(text: &str) -> String {
    let mut parts = text.split(';');
    let mut out = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    for part in parts {
        let Some((name, value)) = part.split_once('=') else { continue };
        let value = value.trim_end();
        let value = value.strip_prefix('"').map_or(value, |inner| inner.strip_suffix('"').unwrap_or(inner));
        out.push(';');
        out.push_str(&name.trim().to_ascii_lowercase());
        out.push('=');
        if is_token(value) {
            out.push_str(value);
        } else {
            out.push('"');
            for character in value.chars() {
                if matches!(character, '"' | '\\') {
                    out.push('\\');
                }
                out.push(character);
            }
            out.push('"');
        }
    }
    out
}
