//! Reads configs in Cap'n Proto's text notation: a file that imports workerd's schema and defines constants.
//!
//! This is a reader of constants, not a schema compiler: it knows `using`, `import`, `const` and `embed`, and the types of
//! workerd's schema. So it needs no tool at run time, and every field it reads keeps its place in the file, which is
//! what errors point at.

mod evaluate;
mod lexer;
mod names;
mod parser;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use capnp::dynamic_value;
use capnp::introspect::Introspect;
use loaderd_schema::workerd_capnp;

pub(crate) use evaluate::Places;

use self::evaluate::Evaluator;
use self::names::{Entity, Names};
use self::parser::{DeclarationKind, ExpressionKind, ParsedFile};
use crate::encoded::Encoded;
use crate::files::FileSource;
use crate::source::Diagnostic;

/// A config file in text form, read and parsed; no constant has been evaluated yet.
pub struct Document<'f> {
    names: Names<'f>,
    root: Arc<ParsedFile>,
}

impl<'f> Document<'f> {
    /// Reads a config file. `import_path` is where imports that begin with a slash are looked for.
    ///
    /// # Errors
    /// The file cannot be read, or is not well-formed.
    pub fn open(files: &'f dyn FileSource, path: &Path, import_path: &[PathBuf]) -> Result<Self, Diagnostic> {
        let mut names = Names::new(files, import_path);
        let root = names.load(path, &path.display().to_string())?;
        Ok(Self { names, root })
    }

    /// Evaluates the constant with this name, or the only constant of type `Config`.
    ///
    /// # Errors
    /// There is no such constant, or it is of another type, or something in it is wrong; everything wrong is listed.
    pub fn evaluate(&mut self, constant: Option<&str>) -> Result<Encoded, Vec<Diagnostic>> {
        let name = match constant {
            Some(name) => name.to_owned(),
            None => self.only_config().map_err(|error| vec![error])?,
        };
        let constant = self.config_named(&name).map_err(|error| vec![error])?;
        let mut message = capnp::message::Builder::new_default();
        let root: dynamic_value::Builder<'_> = message.init_root::<workerd_capnp::config::Builder<'_>>().into();
        let dynamic_value::Builder::Struct(root) = root else {
            return Err(vec![Diagnostic::new("The schema's Config is not a struct.")]);
        };
        let places = Evaluator::new(&mut self.names).constant(&constant, root)?;
        Ok(Encoded::new(message, places))
    }

    /// A problem with the file as a whole.
    fn problem(&self, message: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::new(format!("{}: {message}", self.root.source.name))
    }

    fn config_named(&mut self, name: &str) -> Result<names::Constant, Diagnostic> {
        if let Some((scope, _)) = name.rsplit_once('.') {
            return Err(self.problem(format_args!(
                "{name}: No such constant is defined in the config file (the parent scope '{scope}' does not exist)."
            )));
        }
        let Some(declaration) = self.root.find(name) else {
            return Err(self.problem(format_args!("{name}: No such constant is defined in the config file.")));
        };
        let DeclarationKind::Const { of_type, value } = &declaration.kind else {
            return Err(self.problem(format_args!("{name}: Symbol is not a constant.")));
        };
        let root = Arc::clone(&self.root);
        if self.names.type_of(&root, of_type)? != workerd_capnp::config::Owned::introspect() {
            return Err(self.problem(format_args!("{name}: Constant is not of type 'Config'.")));
        }
        let here = parser::Expression { kind: ExpressionKind::Name(name.to_owned()), offset: value.offset };
        match self.names.resolve(&root, &here)? {
            Entity::Const(constant) => Ok(constant),
            _ => Err(self.problem(format_args!("{name}: Symbol is not a constant."))),
        }
    }

    fn only_config(&mut self) -> Result<String, Diagnostic> {
        let root = Arc::clone(&self.root);
        let mut found = Vec::new();
        for declaration in &root.declarations {
            if let DeclarationKind::Const { of_type, .. } = &declaration.kind
                && self.names.type_of(&root, of_type)? == workerd_capnp::config::Owned::introspect()
            {
                found.push(declaration.name.clone());
            }
        }
        match found.as_slice() {
            [] => Err(self.problem("The config file does not define any top-level constants of type 'Config'.")),
            [only] => Ok(only.clone()),
            many => Err(self.problem(format_args!(
                "The config file defines multiple top-level constants of type 'Config', so you must specify which one \
                 to use. The options are: {}",
                many.join(", ")
            ))),
        }
    }
}
