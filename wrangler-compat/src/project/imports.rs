//! Which modules a script imports, read off its text.
//!
//! This is a scanner, not a parser: it tells strings, templates, comments and regular expressions from code, and in the
//! code looks for `import`, `export … from` and `require`. What it takes for an import and is none costs an error that
//! names the place; code that hides its imports behind expressions cannot be collected by anybody.

/// An import with a specifier that is a plain string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) specifier: String,
    /// Of the specifier's opening quote.
    pub(super) offset: usize,
}

/// All imports of a script, static and dynamic, in their order.
pub(super) fn imports(script: &str) -> Vec<Import> {
    let tokens = Scanner { text: script, at: 0, previous: Before::Operator, braces: Vec::new() }.tokens();
    let mut imports = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        if index > 0 && tokens[index - 1] == Token::Mark('.') {
            continue;
        }
        let rest = &tokens[index + 1..];
        let found = match *word {
            "import" => match rest {
                [Token::Text(specifier, offset), ..] | [Token::Mark('('), Token::Text(specifier, offset), ..] => {
                    Some((specifier, offset))
                }
                _ => from_clause(rest),
            },
            "export" => match rest {
                [Token::Mark('*' | '{'), ..] => from_clause(rest),
                _ => None,
            },
            "require" => match rest {
                [Token::Mark('('), Token::Text(specifier, offset), Token::Mark(')'), ..] => Some((specifier, offset)),
                _ => None,
            },
            _ => None,
        };
        imports.extend(found.map(|(specifier, offset)| Import { specifier: specifier.clone(), offset: *offset }));
    }
    imports
}

/// The specifier after the names of an `import` or `export`.
fn from_clause<'t>(tokens: &'t [Token<'_>]) -> Option<(&'t String, &'t usize)> {
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Word("from") if matches!(tokens.get(index + 1), Some(Token::Text(..))) => {
                let Some(Token::Text(specifier, offset)) = tokens.get(index + 1) else { return None };
                return Some((specifier, offset));
            }
            // `as "any name"` and `{ "any name" as x }` are names too.
            Token::Word(_) | Token::Text(..) | Token::Mark('{' | '}' | ',' | '*') => {}
            Token::Mark(_) => return None,
        }
    }
    None
}

#[derive(Debug, PartialEq, Eq)]
enum Token<'s> {
    Word(&'s str),
    /// A string's value and where it begins.
    Text(String, usize),
    /// Any other character, a template or a regular expression (as its first character).
    Mark(char),
}

/// What came before decides whether a slash divides or begins a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Operand,
    Operator,
}

struct Scanner<'s> {
    text: &'s str,
    at: usize,
    previous: Before,
    /// Open braces: whether each belongs to a template's `${`.
    braces: Vec<Brace>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Brace {
    Code,
    Template,
}

/// Words after which an expression begins.
const BEFORE_EXPRESSION: [&str; 13] =
    ["return", "typeof", "instanceof", "in", "of", "new", "delete", "void", "throw", "case", "do", "else", "yield"];

impl<'s> Scanner<'s> {
    fn tokens(mut self) -> Vec<Token<'s>> {
        let mut tokens = Vec::new();
        while let Some(token) = self.next() {
            tokens.push(token);
        }
        tokens
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Option<Token<'s>> {
        self.skip_blank();
        let first = self.rest().chars().next()?;
        let start = self.at;
        if first.is_alphanumeric() || matches!(first, '_' | '$' | '#' | '\\') {
            let rest = self.rest();
            let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '#' | '\\')));
            let word = &rest[..end.unwrap_or(rest.len())];
            self.at += word.len();
            let operator = BEFORE_EXPRESSION.contains(&word);
            self.previous = if operator { Before::Operator } else { Before::Operand };
            return Some(Token::Word(word));
        }
        self.at += first.len_utf8();
        match first {
            '"' | '\'' => {
                let value = self.quoted(first);
                self.previous = Before::Operand;
                return Some(Token::Text(value, start));
            }
            '`' => self.template(),
            '/' if self.previous == Before::Operator => self.regular_expression(),
            '{' => {
                self.braces.push(Brace::Code);
                self.previous = Before::Operator;
            }
            '}' => {
                if self.braces.pop() == Some(Brace::Template) {
                    self.template();
                } else {
                    // After a block a slash begins an expression; after an object it would divide, which is rarer.
                    self.previous = Before::Operator;
                }
            }
            ')' | ']' => self.previous = Before::Operand,
            _ => self.previous = Before::Operator,
        }
        Some(Token::Mark(first))
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") || (self.at == 0 && trimmed.starts_with("#!")) {
                trimmed.find('\n')
            } else if let Some(body) = trimmed.strip_prefix("/*") {
                body.find("*/").map(|end| end + 4)
            } else {
                return;
            };
            self.at += comment.unwrap_or(trimmed.len());
        }
    }

    /// The rest of a string. A specifier needs no escapes beyond the simple ones.
    fn quoted(&mut self, quote: char) -> String {
        let mut value = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
                '\n' => {
                    self.at += at;
                    return value;
                }
                end if end == quote => {
                    self.at += at + 1;
                    return value;
                }
                other => value.push(other),
            }
        }
        self.at = self.text.len();
        value
    }

    /// A template up to its end or its next `${`.
    fn template(&mut self) {
        let mut characters = self.rest().char_indices().peekable();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                }
                '`' => {
                    self.at += at + 1;
                    self.previous = Before::Operand;
                    return;
                }
                '$' if characters.peek().is_some_and(|(_, next)| *next == '{') => {
                    self.at += at + 2;
                    self.braces.push(Brace::Template);
                    self.previous = Before::Operator;
                    return;
                }
                _ => {}
            }
        }
        self.at = self.text.len();
    }

    fn regular_expression(&mut self) {
        let mut in_class = false;
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                }
                '[' => in_class = true,
                ']' => in_class = false,
                '/' if !in_class => {
                    self.at += at + 1;
                    self.previous = Before::Operand;
                    return;
                }
                // It was a division after all.
                '\n' => break,
                _ => {}
            }
        }
        self.previous = Before::Operator;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_in_code_and_nowhere_else() {
        let cases: [(&str, &[&str]); 17] = [
            ("import './a.js'", &["./a.js"]),
            ("import a, { b as c, default as d } from \"./a.js\";", &["./a.js"]),
            ("import * as ns from './a.js' with { type: 'json' }", &["./a.js"]),
            (
                "export * from './a.js'; export { x } from './b.js'; export * as y from './c.js'",
                &["./a.js", "./b.js", "./c.js"],
            ),
            ("export const from = './a.js'; export { from };", &[]),
            ("await import('./a.js'); import(name); import.meta.url", &["./a.js"]),
            ("const a = require('./a.cjs'), b = require(name), c = x.require('./c.cjs')", &["./a.cjs"]),
            ("// import './a.js'\n/* import './b.js' */ x", &[]),
            ("const s = \"import './a.js'\"; const t = `import './b.js'`;", &[]),
            ("`${await import('./a.js')} import './b.js' ${`${import('./c.js')}`}`", &["./a.js", "./c.js"]),
            ("x = /import '.\\/a.js'/; y = /[/'\"]/.test(z); import './b.js'", &["./b.js"]),
            ("x = a / b; import './a.js'; y = c / d", &["./a.js"]),
            ("return /'/g; import './a.js'", &["./a.js"]),
            ("#!/usr/bin/env node\nimport './a.js'", &["./a.js"]),
            ("obj.import('./a.js'); ({ import: './b.js' })", &[]),
            ("import { 'a-b' as x } from './a.js'", &["./a.js"]),
            ("import défaut from './é.js'", &["./é.js"]),
        ];
        for (script, wanted) in cases {
            let found: Vec<String> = imports(script).into_iter().map(|import| import.specifier).collect();
            assert_eq!(found, wanted, "{script}");
        }
    }

    #[test]
    fn unfinished_code_ends() {
        for script in ["'open", "`open", "`${", "/open", "/* open", "import {", "import('", "\\", "x = /[", "'\\"] {
            imports(script);
        }
    }
}
