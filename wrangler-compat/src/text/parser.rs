//! The declarations of a config file: imports, aliases and constants. Values are kept as they are written; what they
//! mean depends on the type they are used at.

use std::collections::HashMap;
use std::sync::Arc;

use super::lexer::{Spanned, Token, tokens};
use crate::source::{Diagnostic, SourceFile, Span};

/// Lists, structs and member accesses inside each other, at most.
const NESTING_MAX: usize = 64;

/// A file's declarations, in order.
#[derive(Debug)]
pub(crate) struct ParsedFile {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) declarations: Vec<Declaration>,
}

#[derive(Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    offset: usize,
    pub(crate) kind: DeclarationKind,
}

#[derive(Debug)]
pub(crate) enum DeclarationKind {
    /// `using NAME = TARGET;`
    Using(Expression),
    /// `const NAME :TYPE = VALUE;`
    Const { of_type: Expression, value: Expression },
}

/// A value, a type, or a name of either.
#[derive(Debug)]
pub(crate) struct Expression {
    pub(crate) kind: ExpressionKind,
    pub(crate) offset: usize,
}

#[derive(Debug)]
pub(crate) enum ExpressionKind {
    Integer(u64),
    /// The absolute value of a negative integer.
    Negative(u64),
    Float(f64),
    Text(Vec<u8>),
    Binary(Vec<u8>),
    List(Vec<Expression>),
    Struct(Vec<Assignment>),
    Embed(String),
    Import(String),
    /// A name looked up from here, or, with a dot before it, in the file's own scope; for one-scope files the same.
    Name(String),
    Member(Box<Expression>, String),
    /// `List(T)`.
    Apply(Box<Expression>, Vec<Expression>),
}

/// `name = value` inside a struct.
#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) field: String,
    pub(crate) offset: usize,
    pub(crate) value: Expression,
}

impl ParsedFile {
    pub(crate) fn parse(source: Arc<SourceFile>) -> Result<Self, Diagnostic> {
        let tokens = tokens(&source)?;
        let mut parser = Parser { source: &source, tokens: tokens.into_iter().peekable(), nesting: 0 };
        let mut declarations = Vec::new();
        let mut places = HashMap::new();
        while parser.tokens.peek().is_some() {
            let Some(declaration) = parser.declaration()? else { continue };
            if let Some(before) = places.insert(declaration.name.clone(), declaration.offset) {
                let line = source.place(before).line;
                let message = format!("'{}' is already defined in this scope, in line {line}.", declaration.name);
                return parser.error(declaration.offset, message);
            }
            declarations.push(declaration);
        }
        Ok(Self { source, declarations })
    }

    pub(crate) fn find(&self, name: &str) -> Option<&Declaration> {
        self.declarations.iter().find(|it| it.name == name)
    }

    pub(crate) fn span(&self, offset: usize) -> Span {
        Span { file: Arc::clone(&self.source), offset }
    }
}

struct Parser<'a> {
    source: &'a Arc<SourceFile>,
    tokens: std::iter::Peekable<std::vec::IntoIter<Spanned>>,
    nesting: usize,
}

impl Parser<'_> {
    fn offset(&mut self) -> usize {
        self.tokens.peek().map_or(self.source.text.len(), |it| it.offset)
    }

    fn error<T>(&self, offset: usize, message: impl Into<String>) -> Result<T, Diagnostic> {
        Err(Diagnostic::at(self.source.place(offset), message))
    }

    /// An error at the next token.
    fn unexpected<T>(&mut self, wanted: &str) -> Result<T, Diagnostic> {
        let found = self.tokens.peek().map_or_else(|| "the end of the file".to_owned(), |it| it.token.describe());
        let offset = self.offset();
        self.error(offset, format!("Expected {wanted}, found {found}."))
    }

    fn peek_mark(&mut self) -> Option<char> {
        match self.tokens.peek() {
            Some(Spanned { token: Token::Mark(mark), .. }) => Some(*mark),
            _ => None,
        }
    }

    fn take_mark(&mut self, mark: char) -> bool {
        let there = self.peek_mark() == Some(mark);
        if there {
            self.tokens.next();
        }
        there
    }

    fn expect_mark(&mut self, mark: char) -> Result<(), Diagnostic> {
        if self.take_mark(mark) { Ok(()) } else { self.unexpected(&format!("`{mark}`")) }
    }

    fn expect_name(&mut self, what: &str) -> Result<String, Diagnostic> {
        match self.tokens.next_if(|it| matches!(it.token, Token::Name(_))) {
            Some(Spanned { token: Token::Name(name), .. }) => Ok(name),
            _ => self.unexpected(what),
        }
    }

    fn expect_text(&mut self, what: &str) -> Result<String, Diagnostic> {
        let offset = self.offset();
        match self.tokens.next_if(|it| matches!(it.token, Token::Text(_))) {
            Some(Spanned { token: Token::Text(bytes), .. }) => match String::from_utf8(bytes) {
                Ok(text) => Ok(text),
                Err(_) => self.error(offset, "This string has to be UTF-8."),
            },
            _ => self.unexpected(what),
        }
    }

    fn declaration(&mut self) -> Result<Option<Declaration>, Diagnostic> {
        let offset = self.offset();
        if self.take_mark('@') {
            // The file's id, which matters to schemas only.
            if self.tokens.next_if(|it| matches!(it.token, Token::Integer(_))).is_none() {
                return self.unexpected("the file's id");
            }
            self.expect_mark(';')?;
            return Ok(None);
        }
        if self.peek_mark() == Some('$') {
            self.annotations()?;
            self.expect_mark(';')?;
            return Ok(None);
        }
        let declaration = match self.expect_name("a declaration (`using` or `const`)")?.as_str() {
            "using" => self.using()?,
            "const" => self.constant()?,
            other @ ("struct" | "enum" | "interface" | "annotation") => {
                return self.error(
                    offset,
                    format!("A config file holds constants and imports; loaderd does not support `{other}` in it."),
                );
            }
            other => return self.error(offset, format!("Unknown declaration `{other}`.")),
        };
        self.annotations()?;
        self.expect_mark(';')?;
        Ok(Some(declaration))
    }

    fn using(&mut self) -> Result<Declaration, Diagnostic> {
        let target = self.expression()?;
        let named = if let ExpressionKind::Name(name) = &target.kind { Some(name.clone()) } else { None };
        if let Some(name) = named
            && self.take_mark('=')
        {
            return Ok(Declaration { name, offset: target.offset, kind: DeclarationKind::Using(self.expression()?) });
        }
        match &target.kind {
            // `using A.B;` gives it the name B.
            ExpressionKind::Member(_, name) => {
                Ok(Declaration { name: name.clone(), offset: target.offset, kind: DeclarationKind::Using(target) })
            }
            _ => self.error(target.offset, "`using` needs a name: `using NAME = …;`."),
        }
    }

    fn constant(&mut self) -> Result<Declaration, Diagnostic> {
        let offset = self.offset();
        let name = self.expect_name("the constant's name")?;
        if self.take_mark('@') && self.tokens.next_if(|it| matches!(it.token, Token::Integer(_))).is_none() {
            return self.unexpected("the constant's id");
        }
        self.expect_mark(':')?;
        let of_type = self.expression()?;
        self.expect_mark('=')?;
        let value = self.expression()?;
        Ok(Declaration { name, offset, kind: DeclarationKind::Const { of_type, value } })
    }

    fn annotations(&mut self) -> Result<(), Diagnostic> {
        while self.take_mark('$') {
            self.expression()?;
        }
        Ok(())
    }

    fn expression(&mut self) -> Result<Expression, Diagnostic> {
        let offset = self.offset();
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return self.error(offset, format!("Values are nested deeper than {NESTING_MAX} levels."));
        }
        let mut expression = Expression { kind: self.base(offset)?, offset };
        let mut suffixes = 0;
        loop {
            let kind = if self.take_mark('.') {
                ExpressionKind::Member(Box::new(expression), self.expect_name("a member's name")?)
            } else if self.peek_mark() == Some('(') {
                let offset = self.offset();
                let ExpressionKind::List(arguments) = self.tuple()?.into_arguments() else {
                    return self.error(offset, "Expected types between the parentheses.");
                };
                ExpressionKind::Apply(Box::new(expression), arguments)
            } else {
                break;
            };
            // Each suffix is a level of the tree, though it nests to the left.
            suffixes += 1;
            if suffixes > NESTING_MAX {
                return self.error(offset, format!("Names are longer than {NESTING_MAX} members."));
            }
            expression = Expression { kind, offset };
        }
        self.nesting -= 1;
        Ok(expression)
    }

    fn base(&mut self, offset: usize) -> Result<ExpressionKind, Diagnostic> {
        match self.peek_mark() {
            Some('(') => return self.tuple().map(Tuple::into_value),
            Some('[') => return self.list(),
            Some('.') => {
                self.tokens.next();
                return self.expect_name("a name").map(ExpressionKind::Name);
            }
            Some('-') => {
                self.tokens.next();
                return match self.tokens.next().map(|it| it.token) {
                    Some(Token::Integer(value)) => Ok(ExpressionKind::Negative(value)),
                    Some(Token::Float(value)) => Ok(ExpressionKind::Float(-value)),
                    Some(Token::Name(name)) if name == "inf" => Ok(ExpressionKind::Float(f64::NEG_INFINITY)),
                    _ => self.error(offset, "Expected a number after `-`."),
                };
            }
            _ => {}
        }
        match self.tokens.next_if(|it| !matches!(it.token, Token::Mark(_))).map(|it| it.token) {
            Some(Token::Integer(value)) => Ok(ExpressionKind::Integer(value)),
            Some(Token::Float(value)) => Ok(ExpressionKind::Float(value)),
            Some(Token::Binary(bytes)) => Ok(ExpressionKind::Binary(bytes)),
            Some(Token::Text(mut bytes)) => {
                // Strings that follow each other are one string; block strings are written this way.
                while let Some(Spanned { token: Token::Text(more), .. }) =
                    self.tokens.next_if(|it| matches!(it.token, Token::Text(_)))
                {
                    bytes.extend(more);
                }
                Ok(ExpressionKind::Text(bytes))
            }
            Some(Token::Name(name)) => match name.as_str() {
                "embed" => self.expect_text("the name of the file to embed").map(ExpressionKind::Embed),
                "import" => self.expect_text("the name of the file to import").map(ExpressionKind::Import),
                _ => Ok(ExpressionKind::Name(name)),
            },
            Some(Token::Mark(_)) | None => self.unexpected("a value"),
        }
    }

    fn list(&mut self) -> Result<ExpressionKind, Diagnostic> {
        self.expect_mark('[')?;
        let mut elements = Vec::new();
        while !self.take_mark(']') {
            elements.push(self.expression()?);
            if !self.take_mark(',') {
                self.expect_mark(']')?;
                break;
            }
        }
        Ok(ExpressionKind::List(elements))
    }

    fn tuple(&mut self) -> Result<Tuple, Diagnostic> {
        self.expect_mark('(')?;
        let mut tuple = Tuple { assignments: Vec::new(), unnamed: Vec::new() };
        while !self.take_mark(')') {
            let offset = self.offset();
            let value = self.expression()?;
            if let ExpressionKind::Name(field) = &value.kind
                && self.take_mark('=')
            {
                let field = field.clone();
                tuple.assignments.push(Assignment { field, offset, value: self.expression()? });
            } else {
                tuple.unnamed.push(value);
            }
            if !self.take_mark(',') {
                self.expect_mark(')')?;
                break;
            }
        }
        if let Some(stray) = tuple.unnamed.get(usize::from(tuple.assignments.is_empty())) {
            return self.error(stray.offset, "Missing field name.");
        }
        Ok(tuple)
    }
}

/// What stands between parentheses: assignments, or a single value.
struct Tuple {
    assignments: Vec<Assignment>,
    unnamed: Vec<Expression>,
}

impl Tuple {
    /// A parenthesized value is the value itself.
    fn into_value(mut self) -> ExpressionKind {
        match self.unnamed.pop() {
            Some(value) => value.kind,
            None => ExpressionKind::Struct(self.assignments),
        }
    }

    /// As the arguments of a generic type.
    fn into_arguments(self) -> ExpressionKind {
        if self.unnamed.is_empty() {
            ExpressionKind::Struct(self.assignments)
        } else {
            ExpressionKind::List(self.unnamed)
        }
    }
}
