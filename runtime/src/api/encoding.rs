//! `TextEncoder` and `TextDecoder` over `encoding_rs`.

use std::cell::RefCell;

use encoding_rs::{CoderResult, Decoder, DecoderResult, Encoding, UTF_8};

use super::args::{set_function, set_text, throw_type_error, with_bytes};
use super::resources;

/// One streaming decode: the decoder with what it has seen of an incomplete character.
struct Stream {
    decoder: Decoder,
    fatal: bool,
}

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "byteLength", byte_length)?;
    set_function(scope, target, "encodeInto", encode_into)?;
    set_function(scope, target, "lookup", lookup)?;
    set_function(scope, target, "decode", decode)?;
    set_function(scope, target, "open", open)?;
    set_function(scope, target, "push", push)
}

/// `byteLength(string) → number`: how many bytes the string takes in UTF-8.
fn byte_length(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    if let Ok(text) = v8::Local::<v8::String>::try_from(args.get(0)) {
        result.set_double(text.utf8_length(scope) as f64);
    }
}

/// `encodeInto(string, Uint8Array) → [code units read, bytes written]`.
fn encode_into(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Ok(text) = v8::Local::<v8::String>::try_from(args.get(0)) else { return };
    let Ok(view) = v8::Local::<v8::Uint8Array>::try_from(args.get(1)) else { return };
    let mut read = 0;
    let mut written = 0;
    let length = view.byte_length();
    let data = view.data().cast::<u8>();
    if length > 0 && !data.is_null() {
        // SAFETY: `data` points at the view's first byte and `length` bytes follow it; V8 keeps the store alive while
        // the view is held in this scope, and no JavaScript runs before the slice is gone.
        let destination = unsafe { std::slice::from_raw_parts_mut(data, length) };
        written = text.write_utf8_v2(scope, destination, v8::WriteFlags::kReplaceInvalidUtf8, Some(&mut read));
    }
    let read = v8::Number::new(scope, read as f64);
    let written = v8::Number::new(scope, written as f64);
    result.set(v8::Array::new_with_elements(scope, &[read.into(), written.into()]).into());
}

/// `lookup(label) → the encoding's name in lower case`, or `undefined`.
fn lookup(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let label = args.get(0).to_rust_string_lossy(scope);
    // `_no_replacement`: the "replacement" encoding has no decoder a program may use.
    let Some(encoding) = Encoding::for_label_no_replacement(label.as_bytes()) else { return };
    if let Some(name) = v8::String::new(scope, &encoding.name().to_ascii_lowercase()) {
        result.set(name.into());
    }
}

/// The encoding, and whether to be fatal, that three arguments from `first` on say.
fn stream(scope: &mut v8::PinScope<'_, '_>, args: &v8::FunctionCallbackArguments<'_>) -> Stream {
    let name = args.get(0).to_rust_string_lossy(scope);
    let encoding = Encoding::for_label(name.as_bytes()).unwrap_or(UTF_8);
    let decoder = if args.get(2).is_true() {
        encoding.new_decoder_without_bom_handling()
    } else {
        encoding.new_decoder_with_bom_removal()
    };
    Stream { decoder, fatal: args.get(1).is_true() }
}

/// `decode(encoding, fatal, ignoreBOM, bytes) → string`; `undefined` when `bytes` is not a buffer source.
fn decode(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let mut stream = stream(scope, &args);
    let input = args.get(3);
    let text = if input.is_undefined() {
        Some(run(&mut stream, &[], true))
    } else {
        with_bytes(input, |bytes| run(&mut stream, bytes, true))
    };
    answer(scope, text, &mut result);
}

/// `open(encoding, fatal, ignoreBOM) → stream`.
fn open(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let stream = stream(scope, &args);
    result.set(resources::keep(scope, RefCell::new(stream)).into());
}

/// `push(stream, bytes, last) → string`; `undefined` when `bytes` is not a buffer source.
fn push(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let Some(stream) = resources::get::<RefCell<Stream>>(scope, args.get(0)) else { return };
    let last = args.get(2).is_true();
    let input = args.get(1);
    let text = if input.is_undefined() {
        Some(run(&mut stream.borrow_mut(), &[], last))
    } else {
        with_bytes(input, |bytes| run(&mut stream.borrow_mut(), bytes, last))
    };
    answer(scope, text, &mut result);
}

/// The bytes cannot be decoded and the decoder is fatal.
struct Malformed;

fn run(stream: &mut Stream, bytes: &[u8], last: bool) -> Result<String, Malformed> {
    let mut text = String::new();
    if stream.fatal {
        let capacity = stream.decoder.max_utf8_buffer_length_without_replacement(bytes.len()).ok_or(Malformed)?;
        text.reserve(capacity);
        let (outcome, _) = stream.decoder.decode_to_string_without_replacement(bytes, &mut text, last);
        match outcome {
            DecoderResult::InputEmpty => {}
            // The buffer has the length the decoder asked for, so it cannot be full.
            DecoderResult::OutputFull | DecoderResult::Malformed(..) => return Err(Malformed),
        }
    } else {
        let capacity = stream.decoder.max_utf8_buffer_length(bytes.len()).ok_or(Malformed)?;
        text.reserve(capacity);
        let (outcome, ..) = stream.decoder.decode_to_string(bytes, &mut text, last);
        debug_assert!(matches!(outcome, CoderResult::InputEmpty), "the decoder named its buffer's length");
    }
    Ok(text)
}

fn answer(
    scope: &mut v8::PinScope<'_, '_>,
    text: Option<Result<String, Malformed>>,
    result: &mut v8::ReturnValue<'_, v8::Value>,
) {
    match text {
        None => {}
        Some(Err(Malformed)) => throw_type_error(scope, "Failed to decode input."),
        Some(Ok(text)) => set_text(scope, result, &text),
    }
}
