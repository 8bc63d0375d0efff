//! From a specifier and the module that imports it to the name of the module meant.

/// Built-in schemes are names, not paths: no referrer changes them.
const BUILTIN_PREFIXES: [&str; 3] = ["cloudflare:", "node:", "workerd:"];

/// Names `specifier` as seen from the module `referrer`. `None`: it climbs above the root.
///
/// As on workerd a specifier is a path, bare or not: it is resolved against the referrer's folder, a leading slash
/// starts at the root, and empty segments vanish.
pub(crate) fn resolve(specifier: &str, referrer: &str) -> Option<String> {
    if BUILTIN_PREFIXES.iter().any(|prefix| specifier.starts_with(prefix)) {
        return Some(specifier.to_owned());
    }
    let mut segments: Vec<&str> = Vec::new();
    if !specifier.starts_with('/') {
        segments.extend(referrer.split('/').filter(|segment| !segment.is_empty()));
        segments.pop();
    }
    for segment in specifier.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            name => segments.push(name),
        }
    }
    Some(if segments.is_empty() { ".".to_owned() } else { segments.join("/") })
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn specifiers_are_paths() {
        let cases = [
            ("./b.js", "m.js", Some("b.js")),
            ("b.js", "m.js", Some("b.js")),
            ("/b.js", "sub/m.js", Some("b.js")),
            ("../x.js", "sub/b.js", Some("x.js")),
            ("./y.js", "sub/b.js", Some("sub/y.js")),
            ("../../b.js", "m.js", None),
            ("file:///etc/passwd", "m.js", Some("file:/etc/passwd")),
            ("", "m.js", Some(".")),
            ("node:fs", "sub/b.js", Some("node:fs")),
        ];
        for (specifier, referrer, expected) in cases {
            assert_eq!(resolve(specifier, referrer).as_deref(), expected, "{specifier} from {referrer}");
        }
    }
}
