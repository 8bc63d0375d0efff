//! The Rust half of `URLPattern` (URL Pattern Standard): patterns to regular expressions, which V8 runs, so that a
//! Worker's CPU limit holds while one is matched.

use urlpattern::quirks::{self, EcmaRegexp, StringOrInit, UrlPatternComponent};
use urlpattern::regexp::RegExp;
use urlpattern::{RegexSyntax, UrlPatternInit, UrlPatternOptions};

use super::args::{set_function, string};

/// What patterns and their inputs consist of, in the order of the interface's attributes.
const COMPONENTS: usize = 8;

pub(super) fn install(scope: &mut v8::PinScope<'_, '_>, target: v8::Local<'_, v8::Object>) -> Option<()> {
    set_function(scope, target, "compile", compile)?;
    set_function(scope, target, "split", split)
}

/// A regular expression that V8 will compile. Only where the standard itself asks for a match while it reads a pattern
/// (is the protocol a special one?) is it run here, on a few constant words.
struct ForV8(String);

impl RegExp for ForV8 {
    fn syntax() -> RegexSyntax {
        RegexSyntax::EcmaScript
    }

    fn parse(pattern: &str, _flags: &str, _force_eval: bool) -> Result<Self, ()> {
        Ok(Self(pattern.to_owned()))
    }

    fn matches<'a>(&self, text: &'a str) -> Option<Vec<Option<&'a str>>> {
        EcmaRegexp::parse(&self.0, "", true).ok()?.matches(text)
    }

    fn pattern_string(&self) -> &str {
        &self.0
    }
}

/// A text argument; `None` for `undefined`.
fn text(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<String> {
    (!value.is_undefined()).then(|| value.to_rust_string_lossy(scope))
}

/// An array of the components and a base URL, each a text or `undefined`.
fn read_init(scope: &mut v8::PinScope<'_, '_>, value: v8::Local<'_, v8::Value>) -> Option<quirks::UrlPatternInit> {
    let list = v8::Local::<v8::Array>::try_from(value).ok()?;
    let mut texts: [Option<String>; COMPONENTS + 1] = Default::default();
    for (index, slot) in (0..).zip(&mut texts) {
        let item = list.get_index(scope, index)?;
        *slot = text(scope, item);
    }
    let [protocol, username, password, hostname, port, pathname, search, hash, base_url] = texts;
    Some(quirks::UrlPatternInit { protocol, username, password, hostname, port, pathname, search, hash, base_url })
}

/// `compile(input, base, ignoreCase) → [pattern, regexp, names, …, hasRegExpGroups]`, three of each component; `undefined`
/// when it is no pattern. `input` is a text or an array of texts.
fn compile(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let base = text(scope, args.get(1));
    let options = UrlPatternOptions { regex_syntax: RegexSyntax::EcmaScript, ignore_case: args.get(2).is_true() };
    let init = if args.get(0).is_array() {
        let Some(init) = read_init(scope, args.get(0)) else { return };
        quirks::process_construct_pattern_input(StringOrInit::Init(init), base.as_deref()).ok()
    } else {
        let pattern = args.get(0).to_rust_string_lossy(scope);
        base.map(|base| base.parse())
            .transpose()
            .ok()
            .and_then(|base| UrlPatternInit::parse_constructor_string::<ForV8>(&pattern, base).ok())
    };
    let Some(pattern) = init.and_then(|init| quirks::parse_pattern::<ForV8>(init, options).ok()) else { return };
    let has_groups = pattern.has_regexp_groups;
    let components = [
        pattern.protocol,
        pattern.username,
        pattern.password,
        pattern.hostname,
        pattern.port,
        pattern.pathname,
        pattern.search,
        pattern.hash,
    ];
    let mut values: Vec<v8::Local<'_, v8::Value>> = Vec::with_capacity(COMPONENTS * 3 + 1);
    for UrlPatternComponent { pattern_string, regexp_string, group_name_list, .. } in components {
        let mut names: Vec<v8::Local<'_, v8::Value>> = Vec::with_capacity(group_name_list.len());
        for name in &group_name_list {
            let Some(name) = string(scope, name) else { return };
            names.push(name.into());
        }
        let (Some(pattern), Some(regexp)) = (string(scope, &pattern_string), string(scope, &regexp_string)) else {
            return;
        };
        values.push(pattern.into());
        values.push(regexp.into());
        values.push(v8::Array::new_with_elements(scope, &names).into());
    }
    values.push(v8::Boolean::new(scope, has_groups).into());
    result.set(v8::Array::new_with_elements(scope, &values).into());
}

/// `split(input, base) → [protocol, …, hash]`, what a pattern is matched with; `null` when the input matches no pattern, and
/// `undefined` when it must not be given.
fn split(
    scope: &mut v8::PinScope<'_, '_>,
    args: v8::FunctionCallbackArguments<'_>,
    mut result: v8::ReturnValue<'_, v8::Value>,
) {
    let base = text(scope, args.get(1));
    let input = if args.get(0).is_array() {
        let Some(init) = read_init(scope, args.get(0)) else { return };
        StringOrInit::Init(init)
    } else {
        StringOrInit::String(args.get(0).to_rust_string_lossy(scope).into())
    };
    let Ok(input) = quirks::process_match_input(input, base.as_deref()) else { return };
    let Some(parts) = input.and_then(|(input, _)| quirks::parse_match_input(input)) else {
        return result.set_null();
    };
    let parts = [
        parts.protocol,
        parts.username,
        parts.password,
        parts.hostname,
        parts.port,
        parts.pathname,
        parts.search,
        parts.hash,
    ];
    let mut values: Vec<v8::Local<'_, v8::Value>> = Vec::with_capacity(COMPONENTS);
    for part in &parts {
        let Some(part) = string(scope, part) else { return };
        values.push(part.into());
    }
    result.set(v8::Array::new_with_elements(scope, &values).into());
}
