//! JSON for people: one member a line, indented. Works on the text, so that numbers and escapes stay as they are.

use loaderd_harness::Json;

const INDENT: &str = "  ";

/// Deeper values are not indented further: what is read by people is not that deep, and the rest must not blow up.
const INDENTS_MAX: usize = 32;

/// A value on as many lines as it needs.
pub(crate) fn pretty(value: &Json) -> String {
    let text = value.as_str();
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut characters = text.chars().peekable();
    let mut in_string = false;
    while let Some(character) = characters.next() {
        if in_string {
            out.push(character);
            match character {
                '\\' => out.extend(characters.next()),
                '"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match character {
            '"' => {
                in_string = true;
                out.push(character);
            }
            '[' | '{' if matches!(characters.peek(), Some(']' | '}')) => {
                out.push(character);
                out.extend(characters.next());
            }
            '[' | '{' => {
                depth += 1;
                out.push(character);
                new_line(&mut out, depth);
            }
            ']' | '}' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(character);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(character),
        }
    }
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth.min(INDENTS_MAX) {
        out.push_str(INDENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_get_a_line_each_and_strings_stay_whole() {
        for (text, expected) in [
            ("1", "1"),
            ("[]", "[]"),
            (r#"{"a":{},"b":[1,"x,{\"y\\"]}"#, "{\n  \"a\": {},\n  \"b\": [\n    1,\n    \"x,{\\\"y\\\\\"\n  ]\n}"),
        ] {
            assert_eq!(pretty(&Json::parse(text).expect("JSON")), expected);
        }
    }
}
