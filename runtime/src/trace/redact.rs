//! What traces leave out of a fetch's head: values that look like secrets.

/// Digits that a hexadecimal id has, at the least.
const HEX_ID_LEN: usize = 32;

/// Characters that an id in base64 has, at the least.
const BASE64_ID_LEN: usize = 21;

/// Whether a header's value may be a secret, by its lower-case name.
pub(crate) fn is_secret_header(name: &str) -> bool {
    const PARTS: [&str; 5] = ["auth", "jwt", "key", "secret", "token"];
    name == "cookie" || name == "set-cookie" || PARTS.iter().any(|part| name.contains(part))
}

/// A URL with `REDACTED` in the place of each run of letters and digits that looks like an id.
pub(crate) fn url(url: &str) -> String {
    let mut redacted = String::with_capacity(url.len());
    let mut rest = url;
    while !rest.is_empty() {
        let run = rest.find(|c: char| !is_id_char(c)).unwrap_or(rest.len());
        let (id, after) = rest.split_at(run);
        redacted.push_str(if looks_like_id(id) { "REDACTED" } else { id });
        let between = after.find(is_id_char).unwrap_or(after.len());
        let (separators, next) = after.split_at(between);
        redacted.push_str(separators);
        rest = next;
    }
    redacted
}

/// Characters of base64 in either alphabet, without the slash, which URLs are full of.
fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || is_separator(c)
}

fn is_separator(c: char) -> bool {
    matches!(c, '+' | '-' | '_')
}

fn looks_like_id(run: &str) -> bool {
    let count = |is: fn(&char) -> bool| run.chars().filter(is).count();
    let hex = count(char::is_ascii_hexdigit);
    let only_hex = run.chars().all(|c| c.is_ascii_hexdigit() || is_separator(c));
    let mixed = count(char::is_ascii_digit) >= 2
        && count(char::is_ascii_uppercase) >= 2
        && count(char::is_ascii_lowercase) >= 2;
    (only_hex && hex >= HEX_ID_LEN) || (run.len() >= BASE64_ID_LEN && mixed)
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn ids_in_urls() {
        let cases = [
            ("", ""),
            ("https://h/a?b=c", "https://h/a?b=c"),
            ("https://h/?t=0123456789abcdef0123456789abcdef&x=1", "https://h/?t=REDACTED&x=1"),
            ("https://h/0123-4567-89ab-cdef-0123-4567-89ab-cdef/x", "https://h/REDACTED/x"),
            ("https://h/0123456789abcdef0123456789abcde", "https://h/0123456789abcdef0123456789abcde"),
            ("https://h/?y=aaaaaaaaaaaaaaaaaAA11", "https://h/?y=REDACTED"),
            ("https://h/?y=aaaaaaaaaaaaaaaaaaA11", "https://h/?y=aaaaaaaaaaaaaaaaaaA11"),
        ];
        for (given, wanted) in cases {
            assert_eq!(url(given), wanted);
        }
    }
}
