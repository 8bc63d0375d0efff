//! What JavaScript does with the token of the handler a parser is suspended in. Where the parser is not in one, or in
//! one for another kind of token, everything here does nothing: the JavaScript half says so before it asks.

use std::rc::Rc;

use lol_html::html_content::{ContentType, Element, StreamingHandler};

use super::super::args::{set_function, string};
use super::super::resources;
use super::parser::{Inserted, Parser, Token};
use super::{Arguments, Returned, throw_parser_error};
use crate::guard::callbacks;

pub(in super::super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "read", read)?;
    set_function(scope, target, "rename", rename)?;
    set_function(scope, target, "attributes", attributes)?;
    set_function(scope, target, "getAttribute", get_attribute)?;
    set_function(scope, target, "hasAttribute", has_attribute)?;
    set_function(scope, target, "setAttribute", set_attribute)?;
    set_function(scope, target, "removeAttribute", remove_attribute)?;
    set_function(scope, target, "insert", insert)?;
    set_function(scope, target, "append", append)?;
    set_function(scope, target, "insertStream", insert_stream)?;
    set_function(scope, target, "remove", remove)?;
    set_function(scope, target, "unwrap", unwrap)?;
    set_function(scope, target, "onEndTag", on_end_tag)?;
    set_function(scope, target, "instances", instances)
}

fn parser(scope: &v8::Isolate, args: &Arguments<'_>) -> Option<Rc<Parser>> {
    resources::get(scope, args.get(0))
}

/// What a property of a token may be.
enum Property {
    Absent,
    Null,
    Bool(bool),
    Text(String),
}

impl From<Option<String>> for Property {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

fn property(token: &Token<'_>, name: &str) -> Property {
    match (token, name) {
        (Token::Element(element), "removed") => Property::Bool(element.removed()),
        (Token::Element(element), "tagName") => Property::Text(element.tag_name()),
        (Token::Element(element), "namespaceURI") => Property::Text(element.namespace_uri().to_owned()),
        (Token::EndTag(tag), "name") => Property::Text(tag.name()),
        (Token::Comment(comment), "removed") => Property::Bool(comment.removed()),
        (Token::Comment(comment), "text") => Property::Text(comment.text()),
        (Token::Text(text), "removed") => Property::Bool(text.removed()),
        (Token::Text(text), "lastInTextNode") => Property::Bool(text.last_in_text_node()),
        (Token::Text(text), "text") => Property::Text(text.as_str().to_owned()),
        (Token::Doctype(doctype), "name") => doctype.name().into(),
        (Token::Doctype(doctype), "publicId") => doctype.public_id().into(),
        (Token::Doctype(doctype), "systemId") => doctype.system_id().into(),
        _ => Property::Absent,
    }
}

/// `read(parser, name)`: one of the token's properties.
fn read(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let name = args.get(1).to_rust_string_lossy(scope);
    match parser.with_token(|token| property(&token, &name)) {
        None | Some(Property::Absent) => {}
        Some(Property::Null) => result.set_null(),
        Some(Property::Bool(value)) => result.set_bool(value),
        Some(Property::Text(text)) => {
            if let Some(text) = string(scope, &text) {
                result.set(text.into());
            }
        }
    }
}

/// `rename(parser, text)`: the tag's name or the comment's text.
fn rename(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let text = args.get(1).to_rust_string_lossy(scope);
    parser.charge_token(text.len());
    let outcome = parser.with_token(|token| match token {
        Token::Element(element) => element.set_tag_name(&text).map_err(|error| error.to_string()),
        Token::Comment(comment) => comment.set_text(&text).map_err(|error| error.to_string()),
        Token::EndTag(tag) => {
            tag.set_name_str(text);
            Ok(())
        }
        _ => Ok(()),
    });
    if let Some(Err(error)) = outcome {
        throw_parser_error(scope, &error);
    }
}

/// Lets `act` have the element that the parser is suspended with.
fn with_element<R>(parser: &Parser, act: impl FnOnce(&mut Element<'static, 'static>) -> R) -> Option<R> {
    parser
        .with_token(|token| match token {
            Token::Element(element) => Some(act(element)),
            _ => None,
        })
        .flatten()
}

/// `attributes(parser) -> [name, value, name, value, ...]`.
fn attributes(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let texts: Option<Vec<String>> = with_element(&parser, |element| {
        element.attributes().iter().flat_map(|attribute| [attribute.name(), attribute.value()]).collect()
    });
    let texts = texts.unwrap_or_default();
    let mut values: Vec<v8::Local<'_, v8::Value>> = Vec::with_capacity(texts.len());
    for text in &texts {
        let Some(text) = string(scope, text) else { return };
        values.push(text.into());
    }
    result.set(v8::Array::new_with_elements(scope, &values).into());
}

/// `getAttribute(parser, name) -> text or null`.
fn get_attribute(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let name = args.get(1).to_rust_string_lossy(scope);
    match with_element(&parser, |element| element.get_attribute(&name)).flatten() {
        None => result.set_null(),
        Some(value) => {
            if let Some(value) = string(scope, &value) {
                result.set(value.into());
            }
        }
    }
}

/// `hasAttribute(parser, name)`.
fn has_attribute(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let name = args.get(1).to_rust_string_lossy(scope);
    result.set_bool(with_element(&parser, |element| element.has_attribute(&name)).unwrap_or(false));
}

/// `setAttribute(parser, name, value)`.
fn set_attribute(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let name = args.get(1).to_rust_string_lossy(scope);
    let value = args.get(2).to_rust_string_lossy(scope);
    parser.charge_token(name.len() + value.len());
    if let Some(Err(error)) = with_element(&parser, |element| element.set_attribute(&name, &value)) {
        throw_parser_error(scope, &error.to_string());
    }
}

/// `removeAttribute(parser, name)`.
fn remove_attribute(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let name = args.get(1).to_rust_string_lossy(scope);
    with_element(&parser, |element| element.remove_attribute(&name));
}

fn content_type(value: v8::Local<'_, v8::Value>) -> ContentType {
    if value.is_true() { ContentType::Html } else { ContentType::Text }
}

/// `insert(parser, where, text, html)`.
fn insert(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let place = args.get(1).to_rust_string_lossy(scope);
    let text = args.get(2).to_rust_string_lossy(scope);
    let content_type = content_type(args.get(3));
    let content = parser.insertion(Inserted::Text(text), content_type);
    put(&parser, &place, content);
}

/// `append(parser, text, html)`: at the document's end.
fn append(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let text = args.get(1).to_rust_string_lossy(scope);
    let content_type = content_type(args.get(2));
    parser.charge_token(text.len());
    parser.with_token(|token| {
        if let Token::DocumentEnd(end) = token {
            end.append(&text, content_type);
        }
    });
}

/// `insertStream(parser, where, stream, html)`: the bytes of a stream that JavaScript knows by this number.
fn insert_stream(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let place = args.get(1).to_rust_string_lossy(scope);
    let Some(stream) = args.get(2).uint32_value(scope) else { return };
    let content = parser.insertion(Inserted::Stream(stream), content_type(args.get(3)));
    put(&parser, &place, content);
}

fn put(parser: &Parser, place: &str, content: Box<dyn StreamingHandler + Send>) {
    parser.with_token(|token| match (token, place) {
        (Token::Element(element), "before") => element.streaming_before(content),
        (Token::Element(element), "after") => element.streaming_after(content),
        (Token::Element(element), "prepend") => element.streaming_prepend(content),
        (Token::Element(element), "append") => element.streaming_append(content),
        (Token::Element(element), "replace") => element.streaming_replace(content),
        (Token::Element(element), "setInnerContent") => element.streaming_set_inner_content(content),
        (Token::EndTag(tag), "before") => tag.streaming_before(content),
        (Token::EndTag(tag), "after") => tag.streaming_after(content),
        (Token::Comment(comment), "before") => comment.streaming_before(content),
        (Token::Comment(comment), "after") => comment.streaming_after(content),
        (Token::Comment(comment), "replace") => comment.streaming_replace(content),
        (Token::Text(text), "before") => text.streaming_before(content),
        (Token::Text(text), "after") => text.streaming_after(content),
        (Token::Text(text), "replace") => text.streaming_replace(content),
        _ => {}
    });
}

/// `remove(parser)`.
fn remove(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    parser.with_token(|token| match token {
        Token::Element(element) => element.remove(),
        Token::EndTag(tag) => tag.remove(),
        Token::Comment(comment) => comment.remove(),
        Token::Text(text) => text.remove(),
        Token::Doctype(_) | Token::DocumentEnd(_) => {}
    });
}

/// `unwrap(parser)`: removes the element and keeps what is in it.
fn unwrap(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    with_element(&parser, Element::remove_and_keep_content);
}

/// `onEndTag(parser, handler)`: the one handler of the element's end tag.
fn on_end_tag(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let Some(parser) = parser(scope, &args) else { return };
    let Some(handler) = args.get(1).uint32_value(scope) else { return };
    let handler = parser.end_tag_handler(handler);
    let outcome = with_element(&parser, |element| {
        let handlers = element.end_tag_handlers()?;
        handlers.clear();
        handlers.push(handler);
        Some(())
    });
    if outcome == Some(None) {
        throw_parser_error(scope, "No end tag.");
    }
}

/// `instances(writable, others, get, set)`: a class whose instances have these properties of their own: reading one
/// calls `get(instance, name)`, writing one of `writable` calls `set(instance, name, value)`. The platform's tokens are
/// like that, and V8 gives such properties to an object in one step.
fn instances(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let (Ok(writable), Ok(others)) =
        (v8::Local::<v8::Array>::try_from(args.get(0)), v8::Local::<v8::Array>::try_from(args.get(1)))
    else {
        return;
    };
    let class = callbacks::template(scope, constructed);
    let template = class.instance_template(scope);
    let accessors = v8::Array::new_with_elements(scope, &[args.get(2), args.get(3)]);
    for (list, settable) in [(writable, true), (others, false)] {
        for index in 0..list.length() {
            let Some(name) = list.get_index(scope, index).and_then(|name| v8::Local::<v8::Name>::try_from(name).ok())
            else {
                return;
            };
            let accessor = if settable {
                callbacks::writable_accessor(read_instance, write_instance)
            } else {
                callbacks::accessor(read_instance).property_attribute(v8::PropertyAttribute::READ_ONLY)
            };
            template.set_accessor_with_configuration(name, accessor.data(accessors.into()));
        }
    }
    if let Some(class) = class.get_function(scope) {
        result.set(class.into());
    }
}

/// The instance is what V8 has made.
fn constructed(_: &mut v8::PinScope<'_, '_>, _: Arguments<'_>, _: Returned<'_>) {}

fn accessor<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    data: v8::Local<'s, v8::Value>,
    index: u32,
) -> Option<v8::Local<'s, v8::Function>> {
    v8::Local::<v8::Array>::try_from(data).ok()?.get_index(scope, index)?.try_into().ok()
}

fn read_instance<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: v8::Local<'s, v8::Name>,
    args: v8::PropertyCallbackArguments<'s>,
    mut result: Returned<'_>,
) {
    let Some(get) = accessor(scope, args.data(), 0) else { return };
    let undefined = v8::undefined(scope);
    if let Some(value) = get.call(scope, undefined.into(), &[args.holder().into(), name.into()]) {
        result.set(value);
    }
}

fn write_instance<'s>(
    scope: &mut v8::PinScope<'s, '_>,
    name: v8::Local<'s, v8::Name>,
    value: v8::Local<'s, v8::Value>,
    args: v8::PropertyCallbackArguments<'s>,
    _: v8::ReturnValue<'_, ()>,
) {
    let Some(set) = accessor(scope, args.data(), 1) else { return };
    let undefined = v8::undefined(scope);
    // What it throws is pending for whoever assigned.
    let _ = set.call(scope, undefined.into(), &[args.holder().into(), name.into(), value]);
}
