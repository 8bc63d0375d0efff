//! `HTMLRewriter`: documents on their way through [`parser`]; what JavaScript does with a token is in [`tokens`].

mod parser;
mod tokens;

use lol_html::{AsciiCompatibleEncoding, Selector};

use self::parser::{Command, Handlers, Parser, Step};
pub(super) use self::tokens::install as install_tokens;
use super::args::{copy_bytes, new_array_buffer, set_function, throw_type_error};
use super::resources;
use crate::compat::Flag;

type Arguments<'s> = v8::FunctionCallbackArguments<'s>;
type Returned<'s> = v8::ReturnValue<'s, v8::Value>;

/// Handlers and streams are numbered from 0 in what JavaScript registers, and below this.
const NUMBER_MAX: u32 = 1 << 30;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "checkSelector", check_selector)?;
    set_function(scope, target, "open", open)?;
    set_function(scope, target, "write", write)?;
    set_function(scope, target, "end", end)?;
    set_function(scope, target, "proceed", proceed)?;
    set_function(scope, target, "content", content)?;
    set_function(scope, target, "output", output)?;
    set_function(scope, target, "close", close)
}

/// Throws what the parser refuses, as the platform words it.
fn throw_parser_error(scope: &mut v8::PinScope<'_, '_>, error: &str) {
    throw_type_error(scope, &format!("Parser error: {error}"));
}

/// How deep the parentheses and brackets of a selector may nest, and of how many steps (`a b > c`) it may be: the library that
/// reads it calls itself for each.
const SELECTOR_DEPTH_MAX: usize = 64;

/// The selector that a text is, or why it is none, in the parser's words.
fn selector(text: &str) -> Result<Selector, String> {
    if nests_too_deeply(text) {
        return Err("The selector is nested too deeply.".to_owned());
    }
    text.parse().map_err(|error: lol_html::errors::SelectorError| error.to_string())
}

/// Whether a selector may be deeper than [`SELECTOR_DEPTH_MAX`]. Also counts what is in quotes and comments, where nothing
/// nests; nobody writes that much of it.
fn nests_too_deeply(text: &str) -> bool {
    // A comma ends a selector only where it is none of a name, a string or a comment.
    let commas_end = !text.contains(['\\', '"', '\'']) && !text.contains("/*");
    let (mut depth, mut steps, mut in_step) = (0_usize, 0_usize, false);
    for byte in text.bytes() {
        let separates = byte.is_ascii_whitespace() || matches!(byte, b'>' | b'+' | b'~' | b'/');
        steps += usize::from(in_step && separates);
        in_step = !separates;
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 && commas_end => steps = 0,
            _ => {}
        }
        if depth > SELECTOR_DEPTH_MAX || steps > SELECTOR_DEPTH_MAX {
            return true;
        }
    }
    false
}

/// `checkSelector(text)`: throws when it is none.
fn check_selector(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    let text = args.get(0).to_rust_string_lossy(scope);
    if let Err(error) = selector(&text) {
        throw_parser_error(scope, &error);
    }
}

/// `open(handlers, charset) → parser`. Each of the handlers is `[selector, element, comments, text]` or
/// `[undefined, doctype, comments, text, end]`: numbers, or `undefined` where there is no handler.
fn open(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let charset = args.get(1).to_rust_string_lossy(scope);
    let Some(encoding) = encoding_rs::Encoding::for_label_no_replacement(charset.as_bytes()) else {
        return throw_parser_error(scope, "Unknown character encoding has been provided.");
    };
    let Some(encoding) = AsciiCompatibleEncoding::new(encoding) else {
        return throw_parser_error(scope, "Expected ASCII-compatible encoding.");
    };
    let Some(handlers) = read_handlers(scope, args.get(0)) else { return };
    let Some(host) = super::host(scope) else { return };
    let esi_tags = host.has_flag(Flag::HtmlRewriterTreatsEsiIncludeAsVoidTag);
    match Parser::new(handlers, encoding, esi_tags, host) {
        Some(parser) => result.set(resources::keep(scope, parser).into()),
        None => throw_parser_error(scope, "There is no memory for it."),
    }
}

fn read_handlers(scope: &mut v8::PinScope<'_, '_>, list: v8::Local<'_, v8::Value>) -> Option<Vec<Handlers>> {
    let list = v8::Local::<v8::Array>::try_from(list).ok()?;
    let mut all = Vec::with_capacity(list.length() as usize);
    for index in 0..list.length() {
        let entry = v8::Local::<v8::Array>::try_from(list.get_index(scope, index)?).ok()?;
        let mut numbers = [None; 4];
        for (place, number) in (1..).zip(&mut numbers) {
            *number = entry
                .get_index(scope, place)
                .filter(|value| value.is_uint32())
                .and_then(|value| value.uint32_value(scope));
        }
        let [first, comments, text, end] = numbers;
        let selector = entry.get_index(scope, 0)?;
        all.push(if selector.is_undefined() {
            Handlers::Document { doctype: first, comments, text, end }
        } else {
            // JavaScript has checked it.
            let selector = self::selector(&selector.to_rust_string_lossy(scope)).ok()?;
            Handlers::Element { selector, element: first, comments, text }
        });
    }
    Some(all)
}

/// Resumes a parser. JavaScript gets `undefined` when it wants input or is at its end, `n` for a call of handler `n`, and
/// `-1 - n` for the bytes of stream `n`.
fn resume(scope: &mut v8::PinScope<'_, '_>, args: &Arguments<'_>, command: Command, result: &mut Returned<'_>) {
    let Some(parser) = resources::get::<Parser>(scope, args.get(0)) else { return };
    match parser.resume(command) {
        Ok(Step::Input | Step::End) => {}
        Ok(Step::Handler(number)) => result.set_int32(number.min(NUMBER_MAX).cast_signed()),
        Ok(Step::Content(number)) => result.set_int32(-1 - number.min(NUMBER_MAX).cast_signed()),
        Err(error) => throw_parser_error(scope, &error),
    }
}

/// `write(parser, bytes)`: more of the document.
fn write(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let bytes = copy_bytes(args.get(1)).unwrap_or_default();
    resume(scope, &args, Command::Write(bytes), &mut result);
}

/// `end(parser)`: the document is all there.
fn end(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    resume(scope, &args, Command::End, &mut result);
}

/// `proceed(parser)`: the handler that was called is done.
fn proceed(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    resume(scope, &args, Command::Proceed, &mut result);
}

/// `content(parser, bytes or undefined)`: more of the stream that was asked for, or its end.
fn content(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let command = copy_bytes(args.get(1)).map_or(Command::ContentEnd, Command::Content);
    resume(scope, &args, command, &mut result);
}

/// `output(parser, minimum) → ArrayBuffer` of what is rewritten, or `undefined` when it is less than that.
fn output(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, mut result: Returned<'_>) {
    let Some(parser) = resources::get::<Parser>(scope, args.get(0)) else { return };
    let bytes_min = args.get(1).uint32_value(scope).unwrap_or(0);
    if let Some(bytes) = parser.take_output(bytes_min as usize)
        && let Some(buffer) = new_array_buffer(scope, &bytes)
    {
        result.set(buffer.into());
    }
}

/// `close(parser)`: gives the document up.
fn close(scope: &mut v8::PinScope<'_, '_>, args: Arguments<'_>, _: Returned<'_>) {
    if let Some(parser) = resources::get::<Parser>(scope, args.get(0)) {
        parser.close();
    }
}
