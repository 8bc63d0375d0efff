//! A project's modules: collected by following imports, or bundled where the code is not plain JavaScript.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loaderd_loader::config::Module;

use super::bundle;
use super::imports::{Import, imports};
use super::manifest::{Bundling, Located};
use super::rules::{ModuleKind, Rules};
use super::source_map::SourceMap;
use crate::files::{Disk, FileSource, normalize};
use crate::source::{Diagnostic, Place, SourceFile};

/// Modules of one project.
const MODULES_MAX: usize = 10_000;
/// Bytes of one module.
const MODULE_BYTES_MAX: usize = 256 << 20;

/// Modules with the main one first, and the files they came from.
pub(super) struct Collected {
    pub(super) modules: Vec<Module>,
    pub(super) files_read: Vec<PathBuf>,
    /// Of the main module, where it is not what somebody wrote.
    pub(super) source_map: Option<SourceMap>,
}

/// Where a project is and what is known about its modules.
pub(super) struct Origin<'p> {
    /// The project's name.
    pub(super) name: &'p str,
    pub(super) folder: &'p Path,
    pub(super) main: &'p Located<String>,
    pub(super) rules: &'p Rules,
    pub(super) bundling: Bundling,
    pub(super) bundler_key: Option<&'p Located<&'static str>>,
    pub(super) bundler_arguments: &'p [String],
    pub(super) node_names: NodeNames,
}

/// Whether `buffer` means `node:buffer`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeNames {
    /// With the `nodejs_compat` flag.
    BuiltIn,
    /// Without: it is a package.
    Packages,
}

pub(super) fn collect(origin: &Origin<'_>) -> Result<Collected, Vec<Diagnostic>> {
    let main = normalize(Path::new(&origin.main.value));
    let mut collector = Collector { origin, modules: BTreeMap::new(), open: vec![main.clone()], errors: Vec::new() };
    let outcome = match origin.bundler_key {
        Some(key) => Outcome::NeedsBundling(Diagnostic::at(
            key.place.clone(),
            format!("`{}` has its effect in a bundler.", key.value),
        )),
        None => collector.run(&main),
    };
    let reason = match outcome {
        Outcome::Collected => {
            return if collector.errors.is_empty() { Ok(collector.finish(&main)) } else { Err(collector.errors) };
        }
        Outcome::NeedsBundling(reason) => reason,
    };
    match origin.bundling {
        Bundling::WhereNeeded => bundle::bundle(origin, &main, &reason).map_err(|problem| vec![problem]),
        Bundling::Never => Err(vec![Diagnostic {
            message: format!("{} It has to be bundled, which `no_bundle` forbids.", reason.message),
            ..reason
        }]),
    }
}

enum Outcome {
    Collected,
    /// The first thing that plain JavaScript modules cannot have.
    NeedsBundling(Diagnostic),
}

struct Collector<'p> {
    origin: &'p Origin<'p>,
    /// By path within the project, which is also the module's name.
    modules: BTreeMap<PathBuf, Module>,
    open: Vec<PathBuf>,
    errors: Vec<Diagnostic>,
}

/// Extensions of scripts that no isolate runs as they are.
const NEEDS_BUNDLING: [&str; 5] = ["ts", "tsx", "mts", "cts", "jsx"];
/// What a bundler or package manager appends to a specifier in search of a file.
const GUESSED_SUFFIXES: [&str; 8] = [".ts", ".tsx", ".js", ".mjs", ".jsx", "/index.ts", "/index.js", "/package.json"];

impl Collector<'_> {
    fn run(&mut self, main: &Path) -> Outcome {
        while let Some(path) = self.open.pop() {
            if self.modules.contains_key(&path) {
                continue;
            }
            if self.modules.len() >= MODULES_MAX {
                self.errors.push(Diagnostic::new(format!("The project has more than {MODULES_MAX} modules.")));
                return Outcome::Collected;
            }
            if path.extension().and_then(|it| it.to_str()).is_some_and(|it| NEEDS_BUNDLING.contains(&it)) {
                return Outcome::NeedsBundling(Diagnostic::file(&path, "This is TypeScript or JSX."));
            }
            let full = self.origin.folder.join(&path);
            let Some(kind) = self.origin.rules.kind(&path) else {
                let message = "No rule says what kind of module this is. Add one under `rules` for its extension.";
                self.errors.push(Diagnostic::file(&full, message));
                continue;
            };
            let bytes = match Disk.read(&full, MODULE_BYTES_MAX) {
                Ok(bytes) => bytes,
                Err(problem) => {
                    let place = (path == main).then(|| self.origin.main.place.clone());
                    let problem = Diagnostic::file(&full, format!("Cannot be read: {problem}"));
                    self.errors.push(Diagnostic { place, ..problem });
                    continue;
                }
            };
            if matches!(kind, ModuleKind::EsModule | ModuleKind::CommonJs)
                && let Some(reason) = self.follow(&path, &String::from_utf8_lossy(&bytes))
            {
                return Outcome::NeedsBundling(reason);
            }
            let module = Module { name: name_of(&path), content: kind.content(bytes), named_exports: Vec::new() };
            self.modules.insert(path, module);
        }
        Outcome::Collected
    }

    /// Opens what a script imports. Returns what cannot be had without bundling.
    fn follow(&mut self, importer: &Path, script: &str) -> Option<Diagnostic> {
        for import in imports(script) {
            let relative = import.specifier.starts_with("./") || import.specifier.starts_with("../");
            if !relative {
                if self.is_built_in(&import.specifier) {
                    continue;
                }
                let message = format!("Imports the package \"{}\".", import.specifier);
                return Some(Diagnostic::at(self.place(importer, script, &import), message));
            }
            let target = normalize(&importer.parent().unwrap_or(Path::new("")).join(&import.specifier));
            let full = self.origin.folder.join(&target);
            if full.is_file() {
                self.open.push(target);
                continue;
            }
            let guessed = GUESSED_SUFFIXES.iter().any(|suffix| {
                let mut guess = full.clone().into_os_string();
                guess.push(suffix);
                Path::new(&guess).is_file()
            });
            let place = self.place(importer, script, &import);
            if guessed {
                let message = format!("\"{}\" does not name a file exactly.", import.specifier);
                return Some(Diagnostic::at(place, message));
            }
            let message = format!("Imports \"{}\", but there is no {}.", import.specifier, full.display());
            self.errors.push(Diagnostic::at(place, message));
        }
        None
    }

    fn place(&self, importer: &Path, script: &str, import: &Import) -> Place {
        let path = self.origin.folder.join(importer);
        let file = SourceFile { name: path.display().to_string(), path, text: script.to_owned() };
        Arc::new(file).place(import.offset)
    }

    fn is_built_in(&self, specifier: &str) -> bool {
        let scheme = specifier.split_once(':').map(|(scheme, _)| scheme);
        if matches!(scheme, Some("node" | "cloudflare" | "workerd")) {
            return true;
        }
        let package = specifier.split('/').next().unwrap_or(specifier);
        self.origin.node_names == NodeNames::BuiltIn && bundle::NODE_MODULES.contains(&package)
    }

    fn finish(mut self, main: &Path) -> Collected {
        let files_read = self.modules.keys().map(|path| self.origin.folder.join(path)).collect();
        let first = self.modules.remove(main);
        let modules = first.into_iter().chain(self.modules.into_values()).collect();
        Collected { modules, files_read, source_map: None }
    }
}

/// A module's name: its path within the project, with slashes.
fn name_of(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
