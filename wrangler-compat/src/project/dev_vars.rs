//! `.dev.vars`: values for development, in the notation of dotenv files.

use std::path::Path;
use std::sync::Arc;

use crate::source::{Diagnostic, SourceFile};

/// Names and values, in the order of the file.
pub(super) fn parse(path: &Path, text: String) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let file = Arc::new(SourceFile { name: path.display().to_string(), path: path.to_owned(), text });
    let mut variables = Vec::new();
    let mut errors = Vec::new();
    let mut at = 0;
    while at < file.text.len() {
        let line_end = file.text[at..].find('\n').map_or(file.text.len(), |end| at + end);
        let line = file.text[at..line_end].trim();
        if line.is_empty() || line.starts_with('#') {
            at = line_end + 1;
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, _)) = line.split_once('=').filter(|(name, _)| is_name(name.trim())) else {
            errors.push(Diagnostic::at(file.place(at), "Expected NAME=value."));
            at = line_end + 1;
            continue;
        };
        let equals = at + file.text[at..line_end].find('=').unwrap_or(0);
        let (value, end) = value(&file.text, equals + 1, line_end);
        variables.push((name.trim().to_owned(), value));
        at = end + 1;
    }
    if errors.is_empty() { Ok(variables) } else { Err(errors) }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// The value from `start` on and the end of its last line. Quoted values may span lines.
fn value(text: &str, start: usize, line_end: usize) -> (String, usize) {
    let begin = start + (text[start..line_end].len() - text[start..line_end].trim_start().len());
    if let Some(quote @ ('"' | '\'' | '`')) = text[begin..line_end].chars().next() {
        let body = begin + 1;
        if let Some(length) = text[body..].find(quote) {
            let quoted = &text[body..body + length];
            let value = if quote == '"' { quoted.replace("\\n", "\n").replace("\\r", "\r") } else { quoted.to_owned() };
            let end = body + length;
            let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
            return (value, end);
        }
    }
    let plain = &text[begin..line_end];
    // A comment begins at a hash sign that follows white space.
    let comment = plain.char_indices().find(|&(at, c)| c == '#' && (at == 0 || plain[..at].ends_with([' ', '\t'])));
    let plain = comment.map_or(plain, |(at, _)| &plain[..at]);
    (plain.trim().to_owned(), line_end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation() {
        let text = "# comment\nA=1\nexport B = two words # not this\nC=\"x\\ny # z\" # c\nD='\\n'\n\nE=\"two\nlines\"\nF=a#b\nG=\nH=\"open";
        let variables = parse(Path::new(".dev.vars"), text.into()).unwrap();
        let wanted = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "x\ny # z"),
            ("D", "\\n"),
            ("E", "two\nlines"),
            ("F", "a#b"),
            ("G", ""),
            ("H", "\"open"),
        ];
        assert_eq!(variables, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn mistakes() {
        let errors = parse(Path::new(".dev.vars"), "A=1\nnonsense\n= x".into()).unwrap_err();
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(errors, [".dev.vars:2:1: Expected NAME=value.", ".dev.vars:3:1: Expected NAME=value."]);
    }
}
