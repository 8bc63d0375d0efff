//! Case files. A line that begins with `////` is the tool's, every other line is JavaScript:
//!
//! ```text
//! //// flags: a_compat_flag another            (before the first case: for all cases of the file)
//! //// cache: Entrypoint                       (the same: where their cacheApiOutbound leads)
//! //// case: a name, unique in its file
//! return await env.LOADER.load(worker("export default {}")).getEntrypoint().missing();
//! //// differs: why loaderd does not do what workerd does   (optional)
//! //// => {"error": …}
//! ```

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Cases that share a process.
pub(super) struct CaseFile {
    /// What stands before the first case, as it was written.
    heading: Vec<String>,
    /// Compatibility flags of the parent Workers.
    pub(super) flags: Vec<String>,
    /// The entrypoint of the prelude that is their `cacheApiOutbound`.
    pub(super) cache: Option<String>,
    pub(super) cases: Vec<Case>,
}

pub(super) struct Case {
    pub(super) name: String,
    /// The body of an async function.
    pub(super) code: String,
    /// Why workerd's outcome is not the one to have.
    pub(super) differs: Option<String>,
    pub(super) expected: Option<serde_json::Value>,
}

const MARK: &str = "////";

impl CaseFile {
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|problem| format!("{}:{problem}", path.display()))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut file = Self { heading: Vec::new(), flags: Vec::new(), cache: None, cases: Vec::new() };
        let mut names = HashSet::new();
        for (index, line) in text.lines().enumerate() {
            let fail = |problem: &str| Err(format!("{}: {problem}", index + 1));
            let Some(directive) = line.strip_prefix(MARK).map(str::trim) else {
                match file.cases.last_mut() {
                    Some(case) if case.expected.is_none() => {
                        case.code.push_str(line);
                        case.code.push('\n');
                    }
                    Some(_) if line.trim().is_empty() => {}
                    Some(_) => return fail("code after an expectation belongs to no case"),
                    None => file.heading.push(line.to_owned()),
                }
                continue;
            };
            if let Some(name) = directive.strip_prefix("case:") {
                let name = name.trim().to_owned();
                if !names.insert(name.clone()) {
                    return fail("a case with this name exists");
                }
                file.cases.push(Case { name, code: String::new(), differs: None, expected: None });
            } else if let Some(flags) = directive.strip_prefix("flags:") {
                file.flags = flags.split_whitespace().map(str::to_owned).collect();
                file.heading.push(line.to_owned());
            } else if let Some(entrypoint) = directive.strip_prefix("cache:") {
                file.cache = Some(entrypoint.trim().to_owned());
                file.heading.push(line.to_owned());
            } else if let Some(case) = file.cases.last_mut() {
                if let Some(reason) = directive.strip_prefix("differs:") {
                    case.differs = Some(reason.trim().to_owned());
                } else if let Some(json) = directive.strip_prefix("=>") {
                    match serde_json::from_str(json) {
                        Ok(value) => case.expected = Some(value),
                        Err(error) => return fail(&format!("the expectation is not JSON: {error}")),
                    }
                } else {
                    return fail("expected `case:`, `differs:` or `=>` after the mark");
                }
            } else {
                return fail("expected `flags:`, `cache:` or `case:` after the mark");
            }
        }
        Ok(file)
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), String> {
        let mut text = self.heading.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        for (index, case) in self.cases.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            text.push_str(&format!("{MARK} case: {}\n{}\n", case.name, case.code.trim_end()));
            if let Some(reason) = &case.differs {
                text.push_str(&format!("{MARK} differs: {reason}\n"));
            }
            if let Some(expected) = &case.expected {
                text.push_str(&format!("{MARK} => {expected}\n"));
            }
        }
        std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
    }
}

/// The case files among these paths, and in those that are folders.
pub(super) fn find(paths: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut inside: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
            .collect();
        inside.sort();
        files.extend(inside);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::CaseFile;

    #[test]
    fn notation() {
        let text = "// heading\n//// flags: a b\n//// cache: C\n//// case: one\nreturn 1;\n//// => {\"value\":1}\n\n//// case: two\nx();\n//// differs: because\n";
        let file = CaseFile::parse(text).unwrap();
        assert_eq!((&file.flags[..], file.cache.as_deref()), (&["a".to_owned(), "b".to_owned()][..], Some("C")));
        assert_eq!(file.heading, ["// heading", "//// flags: a b", "//// cache: C"]);
        assert_eq!(
            (file.cases[0].code.as_str(), file.cases[0].expected.clone()),
            ("return 1;\n", Some(serde_json::json!({"value": 1})))
        );
        assert_eq!((file.cases[1].differs.as_deref(), file.cases[1].expected.clone()), (Some("because"), None));
    }

    #[test]
    fn mistakes() {
        let cases = [
            ("//// nonsense", "1: expected `flags:`, `cache:` or `case:` after the mark"),
            ("//// case: a\n//// case: a", "2: a case with this name exists"),
            (
                "//// case: a\n//// => {",
                "2: the expectation is not JSON: EOF while parsing an object at line 1 column 2",
            ),
            ("//// case: a\n//// => 1\ncode", "3: code after an expectation belongs to no case"),
            ("//// case: a\n//// what", "2: expected `case:`, `differs:` or `=>` after the mark"),
        ];
        for (text, problem) in cases {
            assert_eq!(CaseFile::parse(text).err().as_deref(), Some(problem), "{text}");
        }
    }
}
