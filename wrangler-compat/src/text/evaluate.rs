//! Turns an expression into a value of a given type, inside a Cap'n Proto message.
//!
//! The type decides what an expression means. Where a struct is wanted and the expression is a value of the type of the
//! struct's first field, it stands for the struct with that field set: `service = "name"`. A reference to a constant is
//! evaluated where it is used, so that every field has a place in some file.

use std::collections::HashMap;
use std::sync::Arc;

use capnp::introspect::{Type, TypeVariant};
use capnp::schema::{Field, StructSchema};
use capnp::schema_capnp::field;
use capnp::{dynamic_list, dynamic_struct, dynamic_value};
use loaderd_loader::config::FieldPath;

use super::names::{Constant, Entity, Names, type_name};
use super::parser::{Assignment, Expression, ExpressionKind, ParsedFile};
use crate::source::{Diagnostic, Span};

/// Values in one config; constants count each time they are used.
const VALUES_MAX: usize = 1 << 18;
/// Bytes of one embedded file.
const EMBED_BYTES_MAX: usize = 256 << 20;
/// Bytes of all text and data of one config.
const BLOB_BYTES_MAX: usize = 1 << 30;
/// Structs, lists and constants inside each other.
const DEPTH_MAX: usize = 128;
/// Problems that are listed; a config with more is not read any better for it.
const DIAGNOSTICS_MAX: usize = 100;

/// Where in the sources each field of a config was set.
pub(crate) type Places = HashMap<String, Span>;

pub(super) struct Evaluator<'n, 'f> {
    names: &'n mut Names<'f>,
    places: Places,
    errors: Vec<Diagnostic>,
    values_left: usize,
    blob_bytes_left: usize,
}

/// Something whose value is to be set.
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
enum Slot<'a> {
    Field(dynamic_struct::Builder<'a>, Field),
    Element(dynamic_list::Builder<'a>, u32),
}

/// An expression with what is needed to make sense of it.
#[derive(Clone, Copy)]
struct Given<'e> {
    file: &'e Arc<ParsedFile>,
    expression: &'e Expression,
    path: &'e FieldPath,
    depth: usize,
}

impl Given<'_> {
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            place: Some(self.file.source.place(self.expression.offset)),
            field: self.path.clone(),
            message: message.into(),
        }
    }

    fn mismatch(&self, wanted: Type) -> Diagnostic {
        self.error(format!("Type mismatch; expected {}.", type_name(wanted)))
    }

    fn internal(&self, problem: &capnp::Error) -> Diagnostic {
        self.error(format!("The value cannot be encoded: {problem}"))
    }
}

impl<'n, 'f> Evaluator<'n, 'f> {
    pub(super) fn new(names: &'n mut Names<'f>) -> Self {
        Self {
            names,
            places: Places::new(),
            errors: Vec::new(),
            values_left: VALUES_MAX,
            blob_bytes_left: BLOB_BYTES_MAX,
        }
    }

    /// Fills a struct from a constant of its type.
    pub(super) fn constant(
        mut self,
        constant: &Constant,
        builder: dynamic_struct::Builder<'_>,
    ) -> Result<Places, Vec<Diagnostic>> {
        let path = FieldPath::root();
        let mut constant = constant.clone();
        // A constant may be another one's value.
        for _ in 0..DEPTH_MAX {
            let file = Arc::clone(&constant.file);
            let Some(expression) = constant.value() else { break };
            match &expression.kind {
                ExpressionKind::Struct(assignments) => {
                    self.places.insert(String::new(), file.span(expression.offset));
                    self.fill(builder, &file, assignments, &path, 0);
                    return if self.errors.is_empty() { Ok(self.places) } else { Err(self.errors) };
                }
                _ => match self.names.resolve(&file, expression) {
                    Ok(Entity::Const(next)) => constant = next,
                    Ok(_) => {
                        let given = Given { file: &file, expression, path: &path, depth: 0 };
                        return Err(vec![given.error("Type mismatch; expected Config.")]);
                    }
                    Err(error) => return Err(vec![error]),
                },
            }
        }
        Err(vec![Diagnostic::new("The config constant refers to itself.")])
    }

    fn report(&mut self, error: Diagnostic) {
        if self.errors.len() < DIAGNOSTICS_MAX {
            self.errors.push(error);
        }
    }

    fn fill(
        &mut self,
        mut builder: dynamic_struct::Builder<'_>,
        file: &Arc<ParsedFile>,
        assignments: &[Assignment],
        path: &FieldPath,
        depth: usize,
    ) {
        for assignment in assignments {
            let path = path.field(&assignment.field);
            self.places.insert(path.as_str().to_owned(), file.span(assignment.offset));
            let given = Given { file, expression: &assignment.value, path: &path, depth: depth + 1 };
            match builder.get_schema().find_field_by_name(&assignment.field) {
                Ok(Some(field)) => {
                    if let Err(error) = self.assign(builder.reborrow(), field, given) {
                        self.report(error);
                    }
                }
                Ok(None) | Err(_) => self.report(Diagnostic {
                    place: Some(file.source.place(assignment.offset)),
                    field: path.parent().unwrap_or_default(),
                    message: format!("Struct has no field named '{}'.", assignment.field),
                }),
            }
        }
    }

    fn assign(
        &mut self,
        builder: dynamic_struct::Builder<'_>,
        field: Field,
        given: Given<'_>,
    ) -> Result<(), Diagnostic> {
        if is_slot(field) {
            return self.put(Slot::Field(builder, field), field.get_type(), given);
        }
        let group = match builder.init(field) {
            Ok(dynamic_value::Builder::Struct(group)) => group,
            Ok(_) => return Err(given.mismatch(field.get_type())),
            Err(problem) => return Err(given.internal(&problem)),
        };
        if let ExpressionKind::Struct(assignments) = &given.expression.kind {
            self.fill(group, given.file, assignments, given.path, given.depth);
            return Ok(());
        }
        let first = first_field(group.get_schema());
        match first {
            Some(first) if self.matches(first.get_type(), given)? => {
                self.put_exact(Slot::Field(group, first), first.get_type(), given)
            }
            _ => Err(given.error("Type mismatch; expected group.")),
        }
    }

    /// Sets a slot, through the first field of a struct if that is what the expression fits.
    fn put(&mut self, slot: Slot<'_>, wanted: Type, given: Given<'_>) -> Result<(), Diagnostic> {
        self.values_left = self.values_left.checked_sub(1).ok_or_else(|| {
            given.error(format!("The config has more than {VALUES_MAX} values, those of used constants included."))
        })?;
        if given.depth > DEPTH_MAX {
            let message = format!("Values are nested deeper than {DEPTH_MAX} levels. Does a constant refer to itself?");
            return Err(given.error(message));
        }
        if self.matches(wanted, given)? {
            return self.put_exact(slot, wanted, given);
        }
        let TypeVariant::Struct(raw) = wanted.which() else { return Err(given.mismatch(wanted)) };
        let Some(first) = first_field(raw.into()) else { return Err(given.mismatch(wanted)) };
        if !self.matches(first.get_type(), given)? {
            return Err(given.mismatch(wanted));
        }
        let outer = slot.init_struct().map_err(|problem| given.internal(&problem))?;
        self.put_exact(Slot::Field(outer, first), first.get_type(), given)
    }

    /// Whether an expression is a value of this very type.
    fn matches(&mut self, wanted: Type, given: Given<'_>) -> Result<bool, Diagnostic> {
        let which = wanted.which();
        Ok(match &given.expression.kind {
            ExpressionKind::Integer(_) | ExpressionKind::Negative(_) => {
                is_integer(which) || matches!(which, TypeVariant::Float32 | TypeVariant::Float64)
            }
            ExpressionKind::Float(_) => matches!(which, TypeVariant::Float32 | TypeVariant::Float64),
            ExpressionKind::Text(_) | ExpressionKind::Embed(_) => {
                matches!(which, TypeVariant::Text | TypeVariant::Data)
            }
            ExpressionKind::Binary(_) => matches!(which, TypeVariant::Data),
            ExpressionKind::List(_) => matches!(which, TypeVariant::List(_)),
            ExpressionKind::Struct(_) => matches!(which, TypeVariant::Struct(_)),
            ExpressionKind::Name(name) => match (which, name.as_str()) {
                (TypeVariant::Enum(raw), name) if enumerant(raw, name).is_some() => true,
                (TypeVariant::Enum(_), _) => self.constant_type(given)? == wanted,
                (which, "void") => matches!(which, TypeVariant::Void),
                (which, "true" | "false") => matches!(which, TypeVariant::Bool),
                (which, "nan" | "inf") => matches!(which, TypeVariant::Float32 | TypeVariant::Float64),
                _ => self.constant_type(given)? == wanted,
            },
            ExpressionKind::Member(..) | ExpressionKind::Import(_) | ExpressionKind::Apply(..) => {
                self.constant_type(given)? == wanted
            }
        })
    }

    fn referenced(&mut self, given: Given<'_>) -> Result<Constant, Diagnostic> {
        match self.names.resolve(given.file, given.expression) {
            Ok(Entity::Const(constant)) => Ok(constant),
            Ok(_) => Err(given.error("This name does not refer to a constant.")),
            Err(error) => Err(Diagnostic { field: given.path.clone(), ..error }),
        }
    }

    fn constant_type(&mut self, given: Given<'_>) -> Result<Type, Diagnostic> {
        let constant = self.referenced(given)?;
        let Some(of_type) = constant.of_type() else { return Err(given.error("This is not a constant.")) };
        self.names.type_of(&constant.file, of_type)
    }

    /// Sets a slot to an expression that matches its type.
    fn put_exact(&mut self, mut slot: Slot<'_>, wanted: Type, given: Given<'_>) -> Result<(), Diagnostic> {
        let value = match &given.expression.kind {
            ExpressionKind::List(elements) => return self.put_list(slot, wanted, elements, given),
            ExpressionKind::Struct(assignments) => {
                let builder = slot.init_struct().map_err(|problem| given.internal(&problem))?;
                self.fill(builder, given.file, assignments, given.path, given.depth);
                return Ok(());
            }
            ExpressionKind::Embed(target) => {
                let bytes = self.names.embed(given.file, given.expression, target, EMBED_BYTES_MAX);
                let bytes = bytes.map_err(|error| Diagnostic { field: given.path.clone(), ..error })?;
                return self.put_blob(&mut slot, wanted, &bytes, given);
            }
            ExpressionKind::Text(bytes) | ExpressionKind::Binary(bytes) => {
                return self.put_blob(&mut slot, wanted, bytes, given);
            }
            ExpressionKind::Integer(value) => integer(wanted.which(), *value, Sign::Plus),
            ExpressionKind::Negative(value) => integer(wanted.which(), *value, Sign::Minus),
            ExpressionKind::Float(value) => Some(float(wanted.which(), *value)),
            ExpressionKind::Name(name) => match literal(wanted.which(), name) {
                Some(value) => Some(value),
                None => return self.put_constant(slot, wanted, given),
            },
            ExpressionKind::Member(..) | ExpressionKind::Import(_) | ExpressionKind::Apply(..) => {
                return self.put_constant(slot, wanted, given);
            }
        };
        let Some(value) = value else { return Err(given.error("Integer value out of range.")) };
        slot.set(value).map_err(|problem| given.internal(&problem))
    }

    fn put_constant(&mut self, slot: Slot<'_>, wanted: Type, given: Given<'_>) -> Result<(), Diagnostic> {
        let constant = self.referenced(given)?;
        let Some(expression) = constant.value() else { return Err(given.error("This is not a constant.")) };
        // What is missing from the value is missing where it was written, not where it is used.
        self.places.insert(given.path.as_str().to_owned(), constant.file.span(expression.offset));
        let given = Given { file: &constant.file, expression, path: given.path, depth: given.depth + 1 };
        self.put(slot, wanted, given)
    }

    fn put_blob(
        &mut self,
        slot: &mut Slot<'_>,
        wanted: Type,
        bytes: &[u8],
        given: Given<'_>,
    ) -> Result<(), Diagnostic> {
        self.blob_bytes_left = self.blob_bytes_left.checked_sub(bytes.len()).ok_or_else(|| {
            given.error(format!("The text and data of the config are larger than {BLOB_BYTES_MAX} bytes."))
        })?;
        let value = if matches!(wanted.which(), TypeVariant::Text) {
            dynamic_value::Reader::Text(bytes.into())
        } else {
            dynamic_value::Reader::Data(bytes)
        };
        slot.set(value).map_err(|problem| given.internal(&problem))
    }

    fn put_list(
        &mut self,
        slot: Slot<'_>,
        wanted: Type,
        elements: &[Expression],
        given: Given<'_>,
    ) -> Result<(), Diagnostic> {
        let TypeVariant::List(element_type) = wanted.which() else { return Err(given.mismatch(wanted)) };
        let length = u32::try_from(elements.len()).map_err(|_| given.error("The list is too long."))?;
        let mut list = slot.init_list(length).map_err(|problem| given.internal(&problem))?;
        for (position, element) in (0..length).zip(elements) {
            let path = given.path.index(position as usize);
            self.places.insert(path.as_str().to_owned(), given.file.span(element.offset));
            let given = Given { file: given.file, expression: element, path: &path, depth: given.depth + 1 };
            if let Err(error) = self.put(Slot::Element(list.reborrow(), position), element_type, given) {
                self.report(error);
            }
        }
        Ok(())
    }
}

impl<'a> Slot<'a> {
    fn set(&mut self, value: dynamic_value::Reader<'_>) -> capnp::Result<()> {
        match self {
            Self::Field(builder, field) => builder.set(*field, value),
            Self::Element(list, index) => list.set(*index, value),
        }
    }

    fn init_struct(self) -> capnp::Result<dynamic_struct::Builder<'a>> {
        let made = match self {
            Self::Field(builder, field) => builder.init(field)?,
            Self::Element(list, index) => list.get(index)?,
        };
        match made {
            dynamic_value::Builder::Struct(builder) => Ok(builder),
            _ => Err(capnp::Error::failed("not a struct".into())),
        }
    }

    fn init_list(self, length: u32) -> capnp::Result<dynamic_list::Builder<'a>> {
        let made = match self {
            Self::Field(builder, field) => builder.initn(field, length)?,
            Self::Element(list, index) => list.init(index, length)?,
        };
        match made {
            dynamic_value::Builder::List(builder) => Ok(builder),
            _ => Err(capnp::Error::failed("not a list".into())),
        }
    }
}

fn is_slot(field: Field) -> bool {
    matches!(field.get_proto().which(), Ok(field::Slot(_)))
}

/// The field a plain value stands for: the one with the lowest ordinal, if it is not a group.
fn first_field(schema: StructSchema) -> Option<Field> {
    let fields = schema.get_fields().ok()?;
    if fields.is_empty() {
        return None;
    }
    Some(fields.get(0)).filter(|first| is_slot(*first))
}

fn is_integer(which: TypeVariant) -> bool {
    matches!(
        which,
        TypeVariant::Int8
            | TypeVariant::Int16
            | TypeVariant::Int32
            | TypeVariant::Int64
            | TypeVariant::UInt8
            | TypeVariant::UInt16
            | TypeVariant::UInt32
            | TypeVariant::UInt64
    )
}

#[derive(Clone, Copy)]
enum Sign {
    Plus,
    Minus,
}

/// `None`: out of the type's range.
fn integer(which: TypeVariant, magnitude: u64, sign: Sign) -> Option<dynamic_value::Reader<'static>> {
    use dynamic_value::Reader;
    let value = match sign {
        Sign::Plus => i128::from(magnitude),
        Sign::Minus => -i128::from(magnitude),
    };
    Some(match which {
        TypeVariant::Int8 => Reader::Int8(value.try_into().ok()?),
        TypeVariant::Int16 => Reader::Int16(value.try_into().ok()?),
        TypeVariant::Int32 => Reader::Int32(value.try_into().ok()?),
        TypeVariant::Int64 => Reader::Int64(value.try_into().ok()?),
        TypeVariant::UInt8 => Reader::UInt8(value.try_into().ok()?),
        TypeVariant::UInt16 => Reader::UInt16(value.try_into().ok()?),
        TypeVariant::UInt32 => Reader::UInt32(value.try_into().ok()?),
        TypeVariant::UInt64 => Reader::UInt64(value.try_into().ok()?),
        other => float(other, value as f64),
    })
}

fn float(which: TypeVariant, value: f64) -> dynamic_value::Reader<'static> {
    match which {
        TypeVariant::Float32 => dynamic_value::Reader::Float32(value as f32),
        _ => dynamic_value::Reader::Float64(value),
    }
}

fn enumerant(raw: capnp::introspect::RawEnumSchema, name: &str) -> Option<u16> {
    let enumerants = capnp::schema::EnumSchema::from(raw).get_enumerants().ok()?;
    (0..enumerants.len()).find(|&at| enumerants.get(at).get_proto().get_name().is_ok_and(|it| it == name))
}

/// The values that are written as names.
fn literal(which: TypeVariant, name: &str) -> Option<dynamic_value::Reader<'static>> {
    match (which, name) {
        (TypeVariant::Enum(raw), name) => {
            enumerant(raw, name).map(|value| dynamic_value::Enum::new(value, raw.into()).into())
        }
        (TypeVariant::Void, "void") => Some(dynamic_value::Reader::Void),
        (TypeVariant::Bool, "true") => Some(true.into()),
        (TypeVariant::Bool, "false") => Some(false.into()),
        (TypeVariant::Float32 | TypeVariant::Float64, "nan") => Some(float(which, f64::NAN)),
        (TypeVariant::Float32 | TypeVariant::Float64, "inf") => Some(float(which, f64::INFINITY)),
        _ => None,
    }
}
