//! wrangler projects: a folder with a `wrangler.toml`, `wrangler.json` or `wrangler.jsonc`, run as it is.
//!
//! | File | Owns |
//! |---|---|
//! | `value` | TOML and JSONC as one tree with places |
//! | `keys` | every key that a wrangler file may have, and what becomes of it |
//! | `manifest` | one environment of a file as types |
//! | `dev_vars` | `.dev.vars` files |
//! | `rules` | which file is which kind of module |
//! | `imports`, `modules` | following imports from the main module |
//! | `bundle` | esbuild, where the code is TypeScript or imports packages |

mod bundle;
mod dev_vars;
mod imports;
mod keys;
mod manifest;
mod modules;
mod reader;
mod rules;
mod value;

use std::path::{Path, PathBuf};

use loaderd_loader::config::{
    Binding, BindingValue, Compatibility, Config, HttpOptions, Listen, Service, ServiceDesignator, ServiceKind, Socket,
    SocketProtocol, Worker, WorkerCode,
};

pub use self::manifest::DevOptions;
use self::manifest::{Located, Manifest};
use self::modules::{NodeNames, Origin};
use self::rules::Rules;
use crate::files::{Disk, FileSource};
use crate::source::Diagnostic;

/// Bytes of a wrangler file or `.dev.vars`.
const FILE_BYTES_MAX: usize = 16 << 20;

/// The names a project's file may have, in the order in which they are looked for.
const FILE_NAMES: [&str; 3] = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/// The name of the socket that [`assemble`] makes.
pub const SOCKET_NAME: &str = "http";

/// One project, read whole: its Worker, its modules, and what it needs from other projects.
#[derive(Debug)]
pub struct Project {
    name: String,
    worker: Worker,
    dev: DevOptions,
    /// Services that the Worker refers to, and where.
    references: Vec<Located<String>>,
    notes: Vec<Diagnostic>,
    files_read: Vec<PathBuf>,
}

impl Project {
    /// Reads the project in a folder, or the one a wrangler file describes, with one of its named environments or none.
    ///
    /// Bundles it if it has to be bundled, which runs esbuild and blocks until that has ended.
    ///
    /// # Errors
    /// Everything wrong with the project that can be told without running it, each with its place.
    pub fn open(path: &Path, environment: Option<&str>) -> Result<Self, Vec<Diagnostic>> {
        let file = locate(path).map_err(|problem| vec![problem])?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let text = read_text(&file).map_err(|problem| vec![Diagnostic::file(&file, problem)])?;
        let root = value::parse(&file, text).map_err(|problem| vec![problem])?;
        let (manifest, notes) = manifest::read(&root, environment)?;
        let place = root.place();

        let mut errors = Vec::new();
        let mut missing = |key: &str| {
            errors.push(Diagnostic::at(place.clone(), format!("`{key}` is missing.")));
        };
        let name = manifest.name.clone().unwrap_or_else(|| {
            missing("name");
            String::new()
        });
        if manifest.compatibility_date.is_none() {
            missing("compatibility_date");
        }
        if manifest.main.is_none() {
            missing("main");
        }
        let mut files_read = vec![file.clone()];
        let secrets = read_dev_vars(folder, environment, &mut files_read);
        let secrets = secrets.unwrap_or_else(|problems| {
            errors.extend(problems);
            Vec::new()
        });
        let Some(main) = &manifest.main else { return Err(errors) };
        if !errors.is_empty() {
            return Err(errors);
        }
        let compat = manifest.compatibility_flags.iter();
        let node_names = if compat.clone().any(|flag| flag == "nodejs_compat" || flag == "nodejs_compat_v2") {
            NodeNames::BuiltIn
        } else {
            NodeNames::Packages
        };
        let rules = Rules::new(&manifest.rules);
        let origin = Origin { folder, main, rules: &rules, bundling: manifest.bundling, node_names };
        let collected = modules::collect(&origin)?;
        files_read.extend(collected.files_read);

        let references = manifest.services.iter().map(|it| it.service.clone()).chain(manifest.tails.clone()).collect();
        let dev = manifest.dev.clone();
        let worker = worker(manifest, WorkerCode::Modules(collected.modules), secrets);
        Ok(Self { name, worker, dev, references, notes, files_read })
    }

    /// The Worker's name, its environment's included.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it wants to listen.
    #[must_use]
    pub fn dev(&self) -> &DevOptions {
        &self.dev
    }

    /// What has no effect here though it would have one on the platform.
    #[must_use]
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// Every file that the project was made from.
    #[must_use]
    pub fn files_read(&self) -> &[PathBuf] {
        &self.files_read
    }
}

/// A server that runs these projects, with the first one on a socket named [`SOCKET_NAME`].
///
/// # Errors
/// Two projects have one name, or one refers to a project that is not among them.
pub fn assemble(projects: Vec<Project>, listen: Listen) -> Result<Config, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let names: Vec<String> = projects.iter().map(|project| project.name.clone()).collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            errors.push(Diagnostic::new(format!("Two projects are named \"{name}\".")));
        }
    }
    for reference in projects.iter().flat_map(|project| &project.references) {
        if !names.contains(&reference.value) {
            let message = format!(
                "There is no project named \"{}\". Give its folder as a further argument. Given are: {}.",
                reference.value,
                names.join(", ")
            );
            errors.push(Diagnostic::at(reference.place.clone(), message));
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let sockets = names.first().map(|name| Socket {
        name: SOCKET_NAME.into(),
        listen: Some(listen),
        protocol: SocketProtocol::Http(HttpOptions::default()),
        service: ServiceDesignator::to(name),
    });
    let services = projects
        .into_iter()
        .map(|project| Service { name: project.name, kind: ServiceKind::Worker(Box::new(project.worker)) });
    Ok(Config { services: services.collect(), sockets: sockets.into_iter().collect(), ..Config::default() })
}

fn locate(path: &Path) -> Result<PathBuf, Diagnostic> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let found = FILE_NAMES.iter().map(|name| path.join(name)).find(|file| file.is_file());
    found.ok_or_else(|| Diagnostic::file(path, format!("There is no {} in it.", FILE_NAMES.join(" or "))))
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = Disk.read(path, FILE_BYTES_MAX).map_err(|problem| problem.to_string())?;
    String::from_utf8(bytes).map_err(|_| "This is not UTF-8 text.".into())
}

/// `.dev.vars.ENVIRONMENT` if there is one, else `.dev.vars`.
fn read_dev_vars(
    folder: &Path,
    environment: Option<&str>,
    files_read: &mut Vec<PathBuf>,
) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let own = environment.map(|environment| folder.join(format!(".dev.vars.{environment}")));
    let candidates = own.into_iter().chain([folder.join(".dev.vars")]);
    let Some(path) = candidates.into_iter().find(|path| path.is_file()) else { return Ok(Vec::new()) };
    files_read.push(path.clone());
    let text = read_text(&path).map_err(|problem| vec![Diagnostic::file(&path, problem)])?;
    dev_vars::parse(&path, text)
}

fn worker(manifest: Manifest, code: WorkerCode, secrets: Vec<(String, String)>) -> Worker {
    let compatibility = Compatibility { date: manifest.compatibility_date, flags: manifest.compatibility_flags };
    let mut worker = Worker::new(code, compatibility);
    worker.limits = manifest.limits;
    worker.tails = manifest.tails.into_iter().map(|tail| ServiceDesignator::to(tail.value)).collect();
    let vars = manifest.vars.into_iter().filter(|var| secrets.iter().all(|(name, _)| *name != var.name));
    let vars = vars.map(|var| Binding {
        name: var.name,
        value: match var.value {
            serde_json::Value::String(text) => BindingValue::Text(text),
            other => BindingValue::Json(other.to_string()),
        },
    });
    let secrets =
        secrets.iter().map(|(name, value)| Binding { name: name.clone(), value: BindingValue::Text(value.clone()) });
    let services = manifest.services.into_iter().map(|service| Binding {
        name: service.binding,
        value: BindingValue::Service(ServiceDesignator {
            service: service.service.value,
            entrypoint: service.entrypoint,
            props_json: service.props_json,
        }),
    });
    let loaders = manifest
        .worker_loaders
        .into_iter()
        .map(|loader| Binding { name: loader.value, value: BindingValue::WorkerLoader { id: None } });
    worker.bindings = vars.chain(secrets).chain(services).chain(loaders).collect();
    worker
}
