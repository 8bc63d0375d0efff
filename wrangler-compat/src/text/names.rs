//! What the names in a config file stand for: files, types of workerd's schema, constants.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use capnp::introspect::{Introspect, Type, TypeVariant};
use capnp::schema::StructSchema;
use loaderd_schema::workerd_capnp;

use super::parser::{Declaration, DeclarationKind, Expression, ExpressionKind, ParsedFile};
use crate::files::{FileSource, normalize};
use crate::source::{Diagnostic, SourceFile};

/// Bytes of one config file in text form.
const CONFIG_FILE_BYTES_MAX: usize = 64 << 20;
/// Files that one config imports, directly or not.
const IMPORTS_MAX: usize = 256;
/// Aliases and members from a name to what it stands for.
const ALIAS_DEPTH_MAX: usize = 64;

/// The import that every workerd config begins with. It is built in, wherever the import path leads.
const WORKERD_SCHEMA: &str = "/workerd/workerd.capnp";

/// What a name stands for.
pub(super) enum Entity {
    /// workerd's schema, by the import above.
    Schema,
    File(Arc<ParsedFile>),
    /// `List`, still without its argument.
    List,
    Type(Type),
    Const(Constant),
}

/// A constant's declaration.
#[derive(Clone)]
pub(super) struct Constant {
    pub(super) file: Arc<ParsedFile>,
    index: usize,
}

impl Constant {
    pub(super) fn of_type(&self) -> Option<&Expression> {
        match &self.file.declarations[self.index].kind {
            DeclarationKind::Const { of_type, .. } => Some(of_type),
            DeclarationKind::Using(_) => None,
        }
    }

    pub(super) fn value(&self) -> Option<&Expression> {
        match &self.file.declarations[self.index].kind {
            DeclarationKind::Const { value, .. } => Some(value),
            DeclarationKind::Using(_) => None,
        }
    }
}

/// Resolves names; loads the files they lead to, each once.
pub(super) struct Names<'f> {
    files: &'f dyn FileSource,
    import_path: Vec<PathBuf>,
    loaded: HashMap<PathBuf, Arc<ParsedFile>>,
    schema: SchemaTypes,
}

impl<'f> Names<'f> {
    pub(super) fn new(files: &'f dyn FileSource, import_path: &[PathBuf]) -> Self {
        Self { files, import_path: import_path.to_vec(), loaded: HashMap::new(), schema: SchemaTypes::new() }
    }

    /// Reads and parses a config file.
    pub(super) fn load(&mut self, path: &Path, display: &str) -> Result<Arc<ParsedFile>, Diagnostic> {
        let path = normalize(path);
        if let Some(file) = self.loaded.get(&path) {
            return Ok(Arc::clone(file));
        }
        if self.loaded.len() >= IMPORTS_MAX {
            return Err(Diagnostic::new(format!("The config imports more than {IMPORTS_MAX} files.")));
        }
        let bytes =
            self.files.read(&path, CONFIG_FILE_BYTES_MAX).map_err(|problem| Diagnostic::file(&path, problem))?;
        let text = String::from_utf8(bytes).map_err(|problem| {
            let offset = problem.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(problem.as_bytes()).into_owned();
            let file = SourceFile { name: display.to_owned(), path: path.clone(), text };
            Diagnostic::at(file.place(offset), "Non-UTF-8 input detected. Config files must be UTF-8 text.")
        })?;
        let source = SourceFile { name: display.to_owned(), path: path.clone(), text };
        let file = Arc::new(ParsedFile::parse(Arc::new(source))?);
        self.loaded.insert(path, Arc::clone(&file));
        Ok(file)
    }

    /// The bytes of an embedded file.
    pub(super) fn embed(
        &self,
        from: &ParsedFile,
        at: &Expression,
        target: &str,
        bytes_max: usize,
    ) -> Result<Vec<u8>, Diagnostic> {
        let mut problem = None;
        for path in self.candidates(from, target) {
            match self.files.read(&path, bytes_max) {
                Ok(bytes) => return Ok(bytes),
                Err(error) => problem = Some((path, error)),
            }
        }
        Err(self.unreadable(from, at, "embed", target, problem))
    }

    /// Where a file named in another may be: beside it, or, from a slash on, in the folders of the import path.
    fn candidates(&self, from: &ParsedFile, target: &str) -> Vec<PathBuf> {
        match target.strip_prefix('/') {
            Some(rest) => self.import_path.iter().map(|folder| normalize(&folder.join(rest))).collect(),
            None => vec![normalize(&from.source.path.parent().unwrap_or(Path::new("")).join(target))],
        }
    }

    fn unreadable(
        &self,
        from: &ParsedFile,
        at: &Expression,
        verb: &str,
        target: &str,
        problem: Option<(PathBuf, std::io::Error)>,
    ) -> Diagnostic {
        let message = match problem {
            Some((path, error)) => format!("Couldn't read {verb}: {}: {error}", path.display()),
            None => format!("Couldn't read {verb}: {target}: no folder of the import path (-I) has it"),
        };
        Diagnostic::at(from.source.place(at.offset), message)
    }

    fn import(&mut self, from: &ParsedFile, at: &Expression, target: &str) -> Result<Entity, Diagnostic> {
        if target == WORKERD_SCHEMA {
            return Ok(Entity::Schema);
        }
        let mut problem = None;
        for path in self.candidates(from, target) {
            let display = path.display().to_string();
            // Only a file that is not there sends the search on: a broken one must be reported.
            match self.files.read(&path, CONFIG_FILE_BYTES_MAX) {
                Ok(_) => return self.load(&path, &display).map(Entity::File),
                Err(error) => problem = Some((path, error)),
            }
        }
        Err(self.unreadable(from, at, "import", target, problem))
    }

    /// What an expression made of names stands for.
    pub(super) fn resolve(&mut self, file: &Arc<ParsedFile>, expression: &Expression) -> Result<Entity, Diagnostic> {
        self.resolve_at(file, expression, 0)
    }

    fn resolve_at(
        &mut self,
        file: &Arc<ParsedFile>,
        expression: &Expression,
        depth: usize,
    ) -> Result<Entity, Diagnostic> {
        let fail = |message: String| Err(Diagnostic::at(file.source.place(expression.offset), message));
        if depth > ALIAS_DEPTH_MAX {
            return fail(format!("This name is an alias of itself, or more than {ALIAS_DEPTH_MAX} aliases deep."));
        }
        match &expression.kind {
            ExpressionKind::Name(name) => match self.declared(file, name, depth)? {
                Some(entity) => Ok(entity),
                None => match builtin_type(name) {
                    Some(entity) => Ok(entity),
                    None => fail(format!("Not defined: {name}")),
                },
            },
            ExpressionKind::Import(target) => self.import(file, expression, target),
            ExpressionKind::Member(parent, name) => {
                let found = match self.resolve_at(file, parent, depth + 1)? {
                    Entity::Schema => self.schema.find("", name).map(Entity::Type),
                    Entity::Type(parent) => self.schema.nested(parent, name).map(Entity::Type),
                    Entity::File(other) => self.declared(&other, name, depth)?,
                    Entity::List | Entity::Const(_) => None,
                };
                found.map_or_else(|| fail(format!("Not defined: {name}")), Ok)
            }
            ExpressionKind::Apply(parent, arguments) => {
                match (self.resolve_at(file, parent, depth + 1)?, arguments.as_slice()) {
                    (Entity::List, [element]) => match self.resolve_at(file, element, depth + 1)? {
                        Entity::Type(element) => Ok(Entity::Type(Type::list_of(element))),
                        _ => fail("Expected a type between the parentheses of `List(…)`.".into()),
                    },
                    _ => fail("Only `List` takes a type in parentheses.".into()),
                }
            }
            _ => fail("Expected a name.".into()),
        }
    }

    fn declared(&mut self, file: &Arc<ParsedFile>, name: &str, depth: usize) -> Result<Option<Entity>, Diagnostic> {
        let Some(index) = file.declarations.iter().position(|it| it.name == name) else { return Ok(None) };
        match &file.declarations[index] {
            Declaration { kind: DeclarationKind::Using(target), .. } => {
                self.resolve_at(file, target, depth + 1).map(Some)
            }
            Declaration { kind: DeclarationKind::Const { .. }, .. } => {
                Ok(Some(Entity::Const(Constant { file: Arc::clone(file), index })))
            }
        }
    }

    /// The type an expression names.
    pub(super) fn type_of(&mut self, file: &Arc<ParsedFile>, expression: &Expression) -> Result<Type, Diagnostic> {
        match self.resolve(file, expression)? {
            Entity::Type(found) => Ok(found),
            _ => Err(Diagnostic::at(file.source.place(expression.offset), "Expected a type.")),
        }
    }
}

fn builtin_type(name: &str) -> Option<Entity> {
    let variant = match name {
        "List" => return Some(Entity::List),
        "Void" => TypeVariant::Void,
        "Bool" => TypeVariant::Bool,
        "Int8" => TypeVariant::Int8,
        "Int16" => TypeVariant::Int16,
        "Int32" => TypeVariant::Int32,
        "Int64" => TypeVariant::Int64,
        "UInt8" => TypeVariant::UInt8,
        "UInt16" => TypeVariant::UInt16,
        "UInt32" => TypeVariant::UInt32,
        "UInt64" => TypeVariant::UInt64,
        "Float32" => TypeVariant::Float32,
        "Float64" => TypeVariant::Float64,
        "Text" => TypeVariant::Text,
        "Data" => TypeVariant::Data,
        _ => return None,
    };
    Some(Entity::Type(variant.into()))
}

/// The name of a type, for errors.
pub(super) fn type_name(of: Type) -> String {
    match of.which() {
        TypeVariant::Void => "Void".into(),
        TypeVariant::Bool => "Bool".into(),
        TypeVariant::Int8 => "Int8".into(),
        TypeVariant::Int16 => "Int16".into(),
        TypeVariant::Int32 => "Int32".into(),
        TypeVariant::Int64 => "Int64".into(),
        TypeVariant::UInt8 => "UInt8".into(),
        TypeVariant::UInt16 => "UInt16".into(),
        TypeVariant::UInt32 => "UInt32".into(),
        TypeVariant::UInt64 => "UInt64".into(),
        TypeVariant::Float32 => "Float32".into(),
        TypeVariant::Float64 => "Float64".into(),
        TypeVariant::Text => "Text".into(),
        TypeVariant::Data => "Data".into(),
        TypeVariant::AnyPointer => "AnyPointer".into(),
        TypeVariant::Capability => "an interface".into(),
        TypeVariant::List(element) => format!("List({})", type_name(element)),
        TypeVariant::Struct(_) | TypeVariant::Enum(_) => qualified_name(of).unwrap_or_else(|| "a schema type".into()),
    }
}

/// The name of a struct or enum within its schema file, such as `Worker.Binding`.
fn qualified_name(of: Type) -> Option<String> {
    let proto = match of.which() {
        TypeVariant::Struct(raw) => StructSchema::from(raw).get_proto(),
        TypeVariant::Enum(raw) => capnp::schema::EnumSchema::from(raw).get_proto(),
        _ => return None,
    };
    let name = proto.get_display_name().ok()?.to_str().ok()?;
    name.rsplit_once(':').map(|(_, name)| name.to_owned())
}

/// The types of workerd's schema by qualified name: all that `Config` can contain.
struct SchemaTypes(HashMap<String, Type>);

impl SchemaTypes {
    fn new() -> Self {
        let mut types = HashMap::new();
        let mut open = vec![workerd_capnp::config::Owned::introspect()];
        while let Some(next) = open.pop() {
            let of = match next.which() {
                TypeVariant::List(element) => {
                    open.push(element);
                    continue;
                }
                _ => next,
            };
            let Some(name) = qualified_name(of) else { continue };
            if types.insert(name, of).is_some() {
                continue;
            }
            if let TypeVariant::Struct(raw) = of.which()
                && let Ok(fields) = StructSchema::from(raw).get_fields()
            {
                open.extend(fields.iter().map(|field| field.get_type()));
            }
        }
        Self(types)
    }

    fn find(&self, scope: &str, name: &str) -> Option<Type> {
        let qualified = if scope.is_empty() { name.to_owned() } else { format!("{scope}.{name}") };
        self.0.get(&qualified).copied()
    }

    fn nested(&self, parent: Type, name: &str) -> Option<Type> {
        self.find(&qualified_name(parent)?, name)
    }
}
