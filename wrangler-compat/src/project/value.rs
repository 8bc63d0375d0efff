//! TOML and JSONC as one kind of tree, in which every value knows its place.

use std::path::Path;
use std::sync::Arc;

use jsonc_parser::ast;
use toml::de::{DeTable, DeValue};

use crate::source::{Diagnostic, Place, SourceFile, Span};

/// Tables and arrays inside each other.
const NESTING_MAX: usize = 64;

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// A number (or, from TOML, a date) as JSON would write it.
    Number(serde_json::Number),
    Text(String),
    Array(Vec<Value>),
    Table(Vec<Entry>),
}

/// A member of a table, in the order of the file (TOML: of the alphabet).
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_span: Span,
    pub(super) value: Value,
}

impl Value {
    pub(super) fn place(&self) -> Place {
        self.span.place()
    }

    /// What kind of value it is, for errors.
    pub(super) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a string",
            Kind::Array(_) => "an array",
            Kind::Table(_) => "a table",
        }
    }

    /// The value as JSON, places forgotten.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match &self.kind {
            Kind::Null => serde_json::Value::Null,
            Kind::Bool(value) => (*value).into(),
            Kind::Number(value) => value.clone().into(),
            Kind::Text(value) => value.clone().into(),
            Kind::Array(elements) => elements.iter().map(Self::to_json).collect(),
            Kind::Table(entries) => entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json())).collect(),
        }
    }
}

/// Parses a wrangler file by its extension.
pub(super) fn parse(path: &Path, text: String) -> Result<Value, Diagnostic> {
    let file = Arc::new(SourceFile { name: path.display().to_string(), path: path.to_owned(), text });
    let value = match path.extension().and_then(|it| it.to_str()) {
        Some("toml") => parse_toml(&file)?,
        Some("json" | "jsonc") => parse_jsonc(&file)?,
        _ => return Err(Diagnostic::file(path, "A wrangler file is a .toml, .json or .jsonc file.")),
    };
    match value.kind {
        Kind::Table(_) => Ok(value),
        _ => Err(Diagnostic::at(value.place(), "A wrangler file holds one object.")),
    }
}

fn parse_toml(file: &Arc<SourceFile>) -> Result<Value, Diagnostic> {
    let table = DeTable::parse(&file.text).map_err(|problem| {
        let offset = problem.span().map_or(0, |span| span.start);
        Diagnostic::at(file.place(offset), problem.message())
    })?;
    let span = table.span();
    from_toml(file, &DeValue::Table(table.into_inner()), span.start, 0)
}

fn from_toml(file: &Arc<SourceFile>, value: &DeValue<'_>, offset: usize, depth: usize) -> Result<Value, Diagnostic> {
    let span = Span { file: Arc::clone(file), offset };
    if depth > NESTING_MAX {
        return Err(too_deep(&span));
    }
    let bad_number = || Diagnostic::at(span.place(), "This number cannot be represented.");
    let kind = match value {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(number) => {
            let number = i64::from_str_radix(number.as_str(), number.radix()).map_err(|_| bad_number())?;
            Kind::Number(number.into())
        }
        DeValue::Float(number) => {
            let number = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            Kind::Number(number.ok_or_else(bad_number)?)
        }
        DeValue::Boolean(value) => Kind::Bool(*value),
        DeValue::Datetime(date) => Kind::Text(date.to_string()),
        DeValue::Array(elements) => Kind::Array(
            elements
                .iter()
                .map(|element| from_toml(file, element.get_ref(), element.span().start, depth + 1))
                .collect::<Result<_, _>>()?,
        ),
        DeValue::Table(entries) => Kind::Table(
            entries
                .iter()
                .map(|(key, value)| {
                    Ok(Entry {
                        key: key.get_ref().to_string(),
                        key_span: Span { file: Arc::clone(file), offset: key.span().start },
                        value: from_toml(file, value.get_ref(), value.span().start, depth + 1)?,
                    })
                })
                .collect::<Result<_, Diagnostic>>()?,
        ),
    };
    Ok(Value { kind, span })
}

fn parse_jsonc(file: &Arc<SourceFile>) -> Result<Value, Diagnostic> {
    // As wrangler reads it: comments and trailing commas, and nothing else beyond JSON.
    let options = jsonc_parser::ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(&file.text, &jsonc_parser::CollectOptions::default(), &options)
        .map_err(|problem| Diagnostic::at(file.place(problem.range().start), format!("{}.", problem.kind())))?;
    match parsed.value {
        Some(value) => from_jsonc(file, &value, 0),
        None => Err(Diagnostic::at(file.place(0), "A wrangler file holds one object.")),
    }
}

fn from_jsonc(file: &Arc<SourceFile>, value: &ast::Value<'_>, depth: usize) -> Result<Value, Diagnostic> {
    use jsonc_parser::common::Ranged;
    let span = Span { file: Arc::clone(file), offset: value.range().start };
    if depth > NESTING_MAX {
        return Err(too_deep(&span));
    }
    let kind = match value {
        ast::Value::StringLit(text) => Kind::Text(text.value.to_string()),
        ast::Value::NumberLit(number) => match serde_json::from_str(number.value) {
            Ok(number) => Kind::Number(number),
            Err(_) => return Err(Diagnostic::at(span.place(), "This number cannot be represented.")),
        },
        ast::Value::BooleanLit(value) => Kind::Bool(value.value),
        ast::Value::NullKeyword(_) => Kind::Null,
        ast::Value::Array(array) => {
            Kind::Array(array.elements.iter().map(|it| from_jsonc(file, it, depth + 1)).collect::<Result<_, _>>()?)
        }
        ast::Value::Object(object) => Kind::Table(
            object
                .properties
                .iter()
                .map(|property| {
                    Ok(Entry {
                        key: property.name.as_str().to_owned(),
                        key_span: Span { file: Arc::clone(file), offset: property.range().start },
                        value: from_jsonc(file, &property.value, depth + 1)?,
                    })
                })
                .collect::<Result<_, Diagnostic>>()?,
        ),
    };
    Ok(Value { kind, span })
}

fn too_deep(span: &Span) -> Diagnostic {
    Diagnostic::at(span.place(), format!("Values are nested deeper than {NESTING_MAX} levels."))
}
