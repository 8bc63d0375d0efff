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
//! | `source_map` | places in what was bundled to places in what was written |
//! | `tree` | the files to watch while the code is broken |

mod bundle;
mod dev_vars;
mod imports;
mod keys;
mod manifest;
mod modules;
mod reader;
mod rules;
mod source_map;
mod tree;
mod value;

use std::path::{Path, PathBuf};

use loaderd_loader::config::{
    Binding, BindingValue, Compatibility, Config, DurableObjectDesignator, DurableObjectNamespace,
    DurableObjectStorage, HttpOptions, Listen, NamespaceKind, Service, ServiceDesignator, ServiceKind, Socket,
    SocketProtocol, Worker, WorkerCode,
};

pub use self::manifest::DevOptions;
use self::manifest::{Located, Manifest, ObjectClass};
use self::modules::{NodeNames, Origin};
use self::rules::Rules;
use self::source_map::SourceMap;
pub use self::source_map::SourceMaps;
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
    files: Vec<PathBuf>,
    source_map: Option<SourceMap>,
}

/// Why a project cannot be run.
#[derive(Debug)]
pub struct Unopened {
    /// Everything wrong with it that can be told without running it, each with its place.
    pub problems: Vec<Diagnostic>,
    /// Files and folders of which one changes when it is mended.
    pub files: Vec<PathBuf>,
}

impl Project {
    /// Reads the project in a folder, or the one a wrangler file describes, with one of its named environments or none.
    ///
    /// Bundles it if it has to be bundled, which runs esbuild and blocks until that has ended.
    ///
    /// # Errors
    /// See [`Unopened`].
    pub fn open(path: &Path, environment: Option<&str>) -> Result<Self, Unopened> {
        let mut files = Vec::new();
        match Self::read(path, environment, &mut files) {
            Ok(project) => Ok(Self { files, ..project }),
            Err(problems) => Err(Unopened { problems, files }),
        }
    }

    fn read(path: &Path, environment: Option<&str>, files: &mut Vec<PathBuf>) -> Result<Self, Vec<Diagnostic>> {
        let file = locate(path, files).map_err(|problem| vec![problem])?;
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
        let secrets = read_dev_vars(folder, environment, files);
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
        let origin = Origin {
            name: &name,
            folder,
            main,
            rules: &rules,
            bundling: manifest.bundling,
            bundler_key: manifest.bundler_key.as_ref(),
            bundler_arguments: &manifest.bundler_arguments,
            node_names,
        };
        let collected = modules::collect(&origin).inspect_err(|_| tree::add(folder, files))?;
        files.extend(collected.files_read);

        let services = manifest.services.iter().map(|it| &it.service);
        let scripts = manifest.durable_objects.iter().filter_map(|it| it.script.as_ref());
        let tails = manifest.tails.iter().chain(&manifest.streaming_tails);
        let references = services.chain(scripts).chain(tails).cloned().collect();
        let dev = manifest.dev.clone();
        let worker = worker(&name, manifest, WorkerCode::Modules(collected.modules), secrets);
        Ok(Self { name, worker, dev, references, notes, files: Vec::new(), source_map: collected.source_map })
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

    /// Files that the project was made from, and those that would have been if they were there.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

/// What leads from the bundles of these projects to their sources.
#[must_use]
pub fn source_maps(projects: &[Project]) -> SourceMaps {
    let main = |project: &Project| match &project.worker.code {
        WorkerCode::Modules(modules) => modules.first().map(|main| main.name.clone()),
        WorkerCode::ServiceWorker(_) => None,
    };
    let maps = projects.iter().filter_map(|project| Some((main(project)?, project.source_map.clone()?)));
    SourceMaps(maps.collect())
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
    let mut projects = projects;
    share_classes(&mut projects);
    let services = projects
        .into_iter()
        .map(|project| Service { name: project.name, kind: ServiceKind::Worker(Box::new(project.worker)) });
    Ok(Config { services: services.collect(), sockets: sockets.into_iter().collect(), ..Config::default() })
}

/// Makes namespaces in their own projects of the classes that only other projects bind.
fn share_classes(projects: &mut [Project]) {
    let bindings = projects.iter().flat_map(|project| &project.worker.bindings);
    let wanted: Vec<DurableObjectDesignator> = bindings
        .filter_map(|binding| match &binding.value {
            BindingValue::DurableObjectNamespace(designator) => Some(designator.clone()),
            _ => None,
        })
        .collect();
    for project in projects {
        let name = project.name.as_str();
        let of_this = wanted.iter().filter(|it| it.service.as_deref() == Some(name));
        for DurableObjectDesignator { class_name, .. } in of_this {
            add_class(name, &mut project.worker, &ObjectClass { name: class_name.clone(), sql: false });
        }
    }
}

fn add_class(project: &str, worker: &mut Worker, class: &ObjectClass) {
    let namespaces = &mut worker.durable_object_namespaces;
    if namespaces.iter().all(|namespace| namespace.class_name != class.name) {
        namespaces.push(DurableObjectNamespace {
            class_name: class.name.clone(),
            kind: NamespaceKind::Durable { unique_key: format!("{project}-{}", class.name) },
            prevent_eviction: false,
            enable_sql: class.sql,
        });
        worker.durable_object_storage = DurableObjectStorage::InMemory;
    }
}

/// The project's file; `files` gets to know all that were looked for.
fn locate(path: &Path, files: &mut Vec<PathBuf>) -> Result<PathBuf, Diagnostic> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(path.to_owned());
    }
    files.extend(FILE_NAMES.map(|name| path.join(name)));
    let found = files.iter().rev().take(FILE_NAMES.len()).rev().find(|file| file.is_file());
    found.cloned().ok_or_else(|| Diagnostic::file(path, format!("There is no {} in it.", FILE_NAMES.join(" or "))))
}

fn read_text(path: &Path) -> Result<String, String> {
    let bytes = Disk.read(path, FILE_BYTES_MAX).map_err(|problem| problem.to_string())?;
    String::from_utf8(bytes).map_err(|_| "This is not UTF-8 text.".into())
}

/// `.dev.vars.ENVIRONMENT` if there is one, else `.dev.vars`.
fn read_dev_vars(
    folder: &Path,
    environment: Option<&str>,
    files: &mut Vec<PathBuf>,
) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
    let own = environment.map(|environment| folder.join(format!(".dev.vars.{environment}")));
    let candidates: Vec<PathBuf> = own.into_iter().chain([folder.join(".dev.vars")]).collect();
    files.extend_from_slice(&candidates);
    let Some(path) = candidates.into_iter().find(|path| path.is_file()) else { return Ok(Vec::new()) };
    let text = read_text(&path).map_err(|problem| vec![Diagnostic::file(&path, problem)])?;
    dev_vars::parse(&path, text)
}

fn worker(name: &str, manifest: Manifest, code: WorkerCode, secrets: Vec<(String, String)>) -> Worker {
    let compatibility = Compatibility { date: manifest.compatibility_date, flags: manifest.compatibility_flags };
    let mut worker = Worker::new(code, compatibility);
    worker.limits = manifest.limits;
    worker.caller_caps = manifest.caller_caps;
    let designators = |tails: Vec<Located<String>>| tails.into_iter().map(|tail| ServiceDesignator::to(tail.value));
    worker.tails = designators(manifest.tails).collect();
    worker.streaming_tails = designators(manifest.streaming_tails).collect();
    for class in &manifest.object_classes {
        add_class(name, &mut worker, class);
    }
    for object in manifest.durable_objects.iter().filter(|object| object.script.is_none()) {
        add_class(name, &mut worker, &ObjectClass { name: object.class_name.clone(), sql: false });
    }
    let objects = manifest.durable_objects.into_iter().map(|object| Binding {
        name: object.binding,
        value: BindingValue::DurableObjectNamespace(DurableObjectDesignator {
            class_name: object.class_name,
            service: object.script.map(|script| script.value),
        }),
    });
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
    worker.bindings = vars.chain(secrets).chain(services).chain(loaders).chain(objects).collect();
    worker
}
