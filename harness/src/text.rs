//! Lengths and cuts as JavaScript counts them.

/// Length in UTF-16 units.
pub(crate) fn units(text: &str) -> usize {
    // An ASCII-only text, the usual case, has as many units as bytes.
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The first `units_max` UTF-16 units. Where the cut splits a surrogate pair, the half that stays becomes U+FFFD, so
/// the result has as many units, and as many UTF-8 bytes, as JavaScript's would.
pub(crate) fn cut(mut text: String, units_max: usize) -> String {
    if text.len() <= units_max {
        return text;
    }
    let mut units = 0;
    for (at, character) in text.char_indices() {
        let width = character.len_utf16();
        if units + width > units_max {
            text.truncate(at);
            if units < units_max {
                text.push(char::REPLACEMENT_CHARACTER);
            }
            return text;
        }
        units += width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_keeps_the_count_of_units() {
        for (text, units_max, expected) in [
            ("abc", 3, "abc"),
            ("abc", 2, "ab"),
            ("a😀b", 4, "a😀b"),
            ("a😀b", 3, "a😀"),
            ("a😀b", 2, "a\u{fffd}"),
            ("€€€", 2, "€€"),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text.to_owned(), units_max), expected, "{text:?} cut to {units_max}");
        }
    }
}
