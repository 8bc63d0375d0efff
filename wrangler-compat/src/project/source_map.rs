//! Source maps (ECMA-426): from places in what a bundler made to places in what somebody wrote.

use std::borrow::Cow;
use std::collections::HashMap;

/// Where each part of one script comes from.
#[derive(Clone, Debug)]
pub(super) struct SourceMap {
    sources: Vec<String>,
    /// By line of the script, and within it by column.
    lines: Vec<Vec<Segment>>,
}

/// From this column on, up to the next segment. Lines and columns count from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    column: u32,
    source: u32,
    source_line: u32,
    source_column: u32,
}

impl SourceMap {
    /// Reads a map; `None` if it is none. `shown` says how a source is called.
    pub(super) fn parse(json: &[u8], shown: impl Fn(&str) -> String) -> Option<Self> {
        let map: serde_json::Value = serde_json::from_slice(json).ok()?;
        let sources = map.get("sources")?.as_array()?.iter().map(|source| shown(source.as_str().unwrap_or_default()));
        let mut previous = [0_i64; 4];
        let lines = map.get("mappings")?.as_str()?.split(';').map(|line| {
            previous[0] = 0;
            let segments = line.split(',').filter(|segment| !segment.is_empty());
            segments.filter_map(|segment| read_segment(segment, &mut previous)).collect()
        });
        Some(Self { lines: lines.collect(), sources: sources.collect() })
    }

    /// The source, line and column of a place in the script, all lines and columns counted from one.
    fn locate(&self, line: u32, column: u32) -> Option<(&str, u32, u32)> {
        let segments = self.lines.get(line.checked_sub(1)? as usize)?;
        let after = segments.partition_point(|segment| segment.column < column);
        let segment = segments.get(after.checked_sub(1)?)?;
        let source = self.sources.get(segment.source as usize)?;
        Some((source, segment.source_line + 1, segment.source_column + 1))
    }
}

/// One segment, whose numbers are differences from those before. Segments of one number have no source.
fn read_segment(segment: &str, previous: &mut [i64; 4]) -> Option<Segment> {
    let numbers = read_numbers(segment)?;
    for (value, difference) in previous.iter_mut().zip(&numbers) {
        *value = value.checked_add(*difference)?;
    }
    let [column, source, source_line, source_column] = previous.map(|value| u32::try_from(value).ok());
    let whole = numbers.len() >= previous.len();
    whole.then_some(Segment {
        column: column?,
        source: source?,
        source_line: source_line?,
        source_column: source_column?,
    })
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Numbers in base 64: five bits a digit, the lowest first, a sixth bit where more follow; the lowest bit is the sign.
fn read_numbers(text: &str) -> Option<Vec<i64>> {
    let (mut numbers, mut value, mut shift) = (Vec::new(), 0_i64, 0_u32);
    for byte in text.bytes() {
        let digit = i64::try_from(DIGITS.iter().position(|it| *it == byte)?).ok()?;
        value |= (digit & 31).checked_shl(shift).filter(|_| shift < 40)?;
        shift += 5;
        if digit & 32 == 0 {
            numbers.push(if value & 1 == 1 { -(value >> 1) } else { value >> 1 });
            (value, shift) = (0, 0);
        }
    }
    Some(numbers)
}

/// The maps of several scripts, by the name that stack traces give each.
#[derive(Clone, Debug, Default)]
pub struct SourceMaps(pub(super) HashMap<String, SourceMap>);

impl SourceMaps {
    /// A text in which every place of these scripts, such as `shop.js:12:5` in a stack trace, is the one it comes from.
    #[must_use]
    pub fn applied<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut result = Cow::Borrowed(text);
        for (script, map) in &self.0 {
            let name = format!("{script}:");
            if result.contains(&name) {
                result = Cow::Owned(map.applied(&name, &result));
            }
        }
        result
    }
}

impl SourceMap {
    fn applied(&self, name: &str, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(name) {
            let (before, found) = rest.split_at(at);
            result.push_str(before);
            let begins = before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
            let place = if begins { place(&found[name.len()..]) } else { None };
            let located = place.and_then(|(line, column, bytes)| Some((self.locate(line, column)?, bytes)));
            match located {
                Some(((source, line, column), bytes)) => {
                    result.push_str(&format!("{source}:{line}:{column}"));
                    rest = &found[name.len() + bytes..];
                }
                None => {
                    result.push_str(name);
                    rest = &found[name.len()..];
                }
            }
        }
        result.push_str(rest);
        result
    }
}

/// `LINE:COLUMN` at the beginning of a text, and how many bytes it has.
fn place(text: &str) -> Option<(u32, u32, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let line = digits(text);
    let rest = text[line..].strip_prefix(':')?;
    let column = digits(rest);
    Some((text[..line].parse().ok()?, rest[..column].parse().ok()?, line + 1 + column))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by esbuild from `a.ts`, whose third line is `  throw new Error(x)`, and `b.ts`.
    fn maps() -> SourceMaps {
        let json = br#"{"version":3,"sources":["a.ts","b.ts"],"mappings":";AAAA,SAAS,EAAE;AACT,QAAM;AACR;;ACFA,I"}"#;
        let map = SourceMap::parse(json, |source| format!("src/{source}")).unwrap();
        SourceMaps([("shop.js".to_owned(), map)].into())
    }

    #[test]
    fn numbers() {
        let cases: [(&str, Option<&[i64]>); 6] = [
            ("", Some(&[])),
            ("AAAA", Some(&[0, 0, 0, 0])),
            ("CD", Some(&[1, -1])),
            ("gB", Some(&[16])),
            ("!", None),
            ("gggggggggggggggggggg", None),
        ];
        for (text, wanted) in cases {
            assert_eq!(read_numbers(text).as_deref(), wanted, "{text}");
        }
    }

    #[test]
    fn places_in_texts() {
        let cases = [
            ("nothing", "nothing"),
            ("    at f (shop.js:3:3)\n    at shop.js:2:10", "    at f (src/a.ts:2:3)\n    at src/a.ts:1:10"),
            ("  at shop.js:6:1 in f", "  at src/b.ts:1:1 in f"),
            // Of others, of no place, of a place that is in no source.
            (
                "(workshop.js:3:3) shop.js:x shop.js:3 shop.js:1:1 shop.js:99:1",
                "(workshop.js:3:3) shop.js:x shop.js:3 shop.js:1:1 shop.js:99:1",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(maps().applied(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_map() {
        for json in ["", "{}", "[]", r#"{"sources":[],"mappings":5}"#, r#"{"sources":5,"mappings":""}"#] {
            assert!(SourceMap::parse(json.as_bytes(), str::to_owned).is_none(), "{json}");
        }
        let odd = br#"{"sources":[],"mappings":"A,AAAA,!!,AAggggggggggggggA;;C"}"#;
        let map = SourceMap::parse(odd, str::to_owned).unwrap();
        assert_eq!(map.locate(1, 1), None);
    }
}
