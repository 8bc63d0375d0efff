//! A wrangler file as types: one environment of one project.

use std::collections::{HashMap, hash_map};
use std::num::NonZeroU32;

use loaderd_loader::CallerCaps;
use loaderd_runtime::limits::ResourceLimits;

use super::keys::{Treatment, treatment};
use super::reader::Reader;
use super::rules::{ModuleKind, Rule};
use super::value::{Entry, Value};
use crate::source::{Diagnostic, Place};

/// What a wrangler file says about the environment that is run.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub(super) name: Option<String>,
    pub(super) main: Option<Located<String>>,
    pub(super) compatibility_date: Option<String>,
    pub(super) compatibility_flags: Vec<String>,
    pub(super) rules: Vec<Rule>,
    pub(super) limits: ResourceLimits,
    pub(super) caller_caps: CallerCaps,
    pub(super) bundling: Bundling,
    /// What the bundler is told besides.
    pub(super) bundler_arguments: Vec<String>,
    /// A key whose effect only a bundler has.
    pub(super) bundler_key: Option<Located<&'static str>>,
    pub(super) vars: Vec<Var>,
    pub(super) services: Vec<ServiceBinding>,
    pub(super) worker_loaders: Vec<Located<String>>,
    pub(super) durable_objects: Vec<ObjectBinding>,
    /// Classes of Durable Objects, in the state that all migrations leave.
    pub(super) object_classes: Vec<ObjectClass>,
    pub(super) tails: Vec<Located<String>>,
    pub(super) streaming_tails: Vec<Located<String>>,
    pub(super) dev: DevOptions,
    /// Names in `env`, and where the first binding of that name is.
    binding_names: HashMap<String, Place>,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Located<T> {
    pub(super) value: T,
    pub(super) place: Place,
}

/// Whether esbuild may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Bundling {
    /// Where the code needs it: TypeScript, JSX, packages.
    #[default]
    WhereNeeded,
    /// Never (`no_bundle`): the code is what it is.
    Never,
}

/// Where the project listens when the command line does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DevOptions {
    pub ip: Option<String>,
    pub port: Option<u16>,
}

/// A plain value of `env`.
#[derive(Clone, Debug)]
pub(super) struct Var {
    pub(super) name: String,
    pub(super) value: serde_json::Value,
}

/// Another project, or one entrypoint of it.
#[derive(Clone, Debug)]
pub(super) struct ServiceBinding {
    pub(super) binding: String,
    pub(super) service: Located<String>,
    pub(super) entrypoint: Option<String>,
    pub(super) props_json: Option<String>,
}

/// A namespace of Durable Objects.
#[derive(Clone, Debug)]
pub(super) struct ObjectBinding {
    pub(super) binding: String,
    pub(super) class_name: String,
    /// The project that exports the class; `None` is this one.
    pub(super) script: Option<Located<String>>,
}

/// A class that migrations made.
#[derive(Clone, Debug)]
pub(super) struct ObjectClass {
    pub(super) name: String,
    pub(super) sql: bool,
}

/// Reads the environment with this name, or the top level.
pub(super) fn read(root: &Value, environment: Option<&str>) -> Result<(Manifest, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut manifest = Manifest::default();
    let top = reader.table("the file", root);
    let own = environment.and_then(|name| environment_table(&mut reader, root, top, name));

    for entry in top {
        let overridden = own.is_some_and(|own| own.iter().any(|it| it.key == entry.key));
        match treatment(&entry.key) {
            // In a named environment only what is inherited counts, and only where it says nothing itself.
            Some(Treatment::Inherited | Treatment::RefusedThroughout(_)) if overridden && entry.key != "env" => {}
            Some(Treatment::PerEnvironment | Treatment::Refused(_)) if own.is_some() => {}
            _ => manifest.set(&mut reader, entry),
        }
    }
    for entry in own.into_iter().flatten() {
        if entry.key == "env" {
            reader.error(entry.key_span.place(), "An environment cannot contain environments.");
        } else {
            manifest.set(&mut reader, entry);
        }
    }
    if let Some(environment) = environment
        && own.is_some_and(|own| own.iter().all(|it| it.key != "name"))
    {
        // As on the platform: an environment is a Worker of its own, named after it.
        manifest.name = manifest.name.map(|name| format!("{name}-{environment}"));
    }
    if reader.errors.is_empty() { Ok((manifest, reader.notes)) } else { Err(reader.errors) }
}

/// The table of the named environment. A file that defines none at all is run as it is, as wrangler does: so one name
/// can be given for several projects.
fn environment_table<'v>(reader: &mut Reader, root: &Value, top: &'v [Entry], name: &str) -> Option<&'v [Entry]> {
    let environments = top.iter().find(|entry| entry.key == "env").map(|entry| reader.table("env", &entry.value));
    let environments = environments.unwrap_or_default();
    if let Some(entry) = environments.iter().find(|entry| entry.key == name) {
        return Some(reader.table(name, &entry.value));
    }
    let message = format!("There is no environment \"{name}\".");
    if environments.is_empty() {
        reader.note(root.place(), format!("{message} What is at the top level is run."));
        return None;
    }
    let known: Vec<&str> = environments.iter().map(|entry| entry.key.as_str()).collect();
    reader.error(root.place(), format!("{message} Defined are: {}.", known.join(", ")));
    Some(&[])
}

impl Manifest {
    fn set(&mut self, reader: &mut Reader, entry: &Entry) {
        let Entry { key, value, .. } = entry;
        let place = entry.key_span.place();
        match treatment(key) {
            None => reader.error(place, format!("`{key}` is not a key of a wrangler file that loaderd knows.")),
            Some(Treatment::Refused(instead) | Treatment::RefusedThroughout(instead)) => {
                reader.error(place, format!("`{key}` is not supported. {instead}"));
            }
            Some(Treatment::Noted(effect)) => reader.note(place, format!("`{key}` has no effect: {effect}.")),
            Some(Treatment::Deployment) => {}
            Some(Treatment::Inherited | Treatment::PerEnvironment) => self.set_known(reader, key, value),
        }
    }

    fn set_known(&mut self, reader: &mut Reader, key: &str, value: &Value) {
        match key {
            "name" => self.name = reader.text(key, value),
            "main" => self.main = reader.text(key, value).map(|main| Located { value: main, place: value.place() }),
            "compatibility_date" => self.compatibility_date = reader.text(key, value),
            "compatibility_flags" => self.compatibility_flags = reader.texts(key, value),
            "rules" => {
                self.rules = reader.array(key, value).iter().filter_map(|it| rule(reader, it)).collect();
            }
            "limits" => {
                let known = ["cpu_ms", "subrequests", PER_REQUEST, PER_OBJECT];
                let members = reader.members(key, value, &known);
                let mut limit = |name| members.get(name).and_then(|value| reader.count(name, value));
                self.limits = ResourceLimits { cpu_ms: limit("cpu_ms"), sub_requests: limit("subrequests") };
                let mut cap = |name| members.get(name).and_then(|value| at_least_one(reader, name, value));
                self.caller_caps = CallerCaps { request: cap(PER_REQUEST), durable_object: cap(PER_OBJECT) };
            }
            "no_bundle" => {
                let never = reader.bool(key, value) == Some(true);
                self.bundling = if never { Bundling::Never } else { Bundling::WhereNeeded };
            }
            "define" => self.bundler_table(reader, "define", value),
            "alias" => self.bundler_table(reader, "alias", value),
            "jsx_factory" => self.bundler_text(reader, key, "--jsx-factory", value),
            "jsx_fragment" => self.bundler_text(reader, key, "--jsx-fragment", value),
            "tsconfig" => self.bundler_text(reader, key, "--tsconfig", value),
            "durable_objects" => {
                let members = reader.members(key, value, &["bindings"]);
                let bindings = members.get("bindings").map(|it| reader.array("bindings", it)).unwrap_or_default();
                self.durable_objects = bindings.iter().filter_map(|it| self.object(reader, it)).collect();
                if !self.durable_objects.is_empty() {
                    let message = "Durable Objects are in memory: they begin empty each time the projects are read.";
                    reader.note(value.place(), message);
                }
            }
            "migrations" => self.object_classes = object_classes(reader, value),
            "dev" => self.dev = dev_options(reader, value),
            "vars" => {
                for entry in reader.table(key, value) {
                    self.bind(reader, &entry.key, entry.key_span.place());
                    self.vars.push(Var { name: entry.key.clone(), value: entry.value.to_json() });
                }
            }
            "services" => {
                self.services = reader.array(key, value).iter().filter_map(|it| self.service(reader, it)).collect();
            }
            "worker_loaders" => {
                let loaders = reader.array(key, value).iter();
                self.worker_loaders = loaders.filter_map(|it| located_member(reader, key, it, "binding")).collect();
                for loader in self.worker_loaders.clone() {
                    self.bind(reader, &loader.value, loader.place);
                }
            }
            "tail_consumers" => {
                let consumers = reader.array(key, value).iter();
                self.tails = consumers.filter_map(|it| located_member(reader, key, it, "service")).collect();
            }
            "streaming_tail_consumers" => {
                let consumers = reader.array(key, value).iter();
                self.streaming_tails = consumers.filter_map(|it| located_member(reader, key, it, "service")).collect();
            }
            // Read where environments are chosen.
            "env" => {}
            other => reader.error(value.place(), format!("`{other}` is not supported.")),
        }
    }

    /// Takes a name in `env`.
    fn bind(&mut self, reader: &mut Reader, name: &str, place: Place) {
        match self.binding_names.entry(name.to_owned()) {
            hash_map::Entry::Vacant(free) => drop(free.insert(place)),
            hash_map::Entry::Occupied(taken) => {
                let message = format!("\"{name}\" is bound already, in line {}.", taken.get().line);
                reader.error(place, message);
            }
        }
    }

    /// Texts by name that only a bundler knows what to do with.
    fn bundler_table(&mut self, reader: &mut Reader, key: &'static str, value: &Value) {
        for entry in reader.table(key, value) {
            if let Some(text) = reader.text(&entry.key, &entry.value) {
                self.bundler_arguments.push(format!("--{key}:{}={text}", entry.key));
                self.bundler_key = Some(Located { value: key, place: entry.key_span.place() });
            }
        }
    }

    fn bundler_text(&mut self, reader: &mut Reader, key: &str, option: &str, value: &Value) {
        self.bundler_arguments.extend(reader.text(key, value).map(|text| format!("{option}={text}")));
    }

    fn service(&mut self, reader: &mut Reader, value: &Value) -> Option<ServiceBinding> {
        let members = reader.members("services", value, &["binding", "service", "entrypoint", "props"]);
        let binding = members.required_text(reader, "binding");
        let service = members.required_text(reader, "service");
        let entrypoint = members.optional_text(reader, "entrypoint");
        let props_json = members.get("props").map(|props| {
            reader.table("props", props);
            props.to_json().to_string()
        });
        let place = members.get("service").map_or_else(|| members.place.clone(), Value::place);
        let binding = binding?;
        self.bind(reader, &binding, members.place);
        Some(ServiceBinding { binding, service: Located { value: service?, place }, entrypoint, props_json })
    }

    fn object(&mut self, reader: &mut Reader, value: &Value) -> Option<ObjectBinding> {
        let members = reader.members("durable_objects", value, &["name", "class_name", "script_name"]);
        let binding = members.required_text(reader, "name");
        let class_name = members.required_text(reader, "class_name");
        let script = members
            .get("script_name")
            .and_then(|script| Some(Located { value: reader.text("script_name", script)?, place: script.place() }));
        let binding = binding?;
        self.bind(reader, &binding, members.place);
        Some(ObjectBinding { binding, class_name: class_name?, script })
    }
}

/// The classes that are left when all migrations have been made, in their order.
fn object_classes(reader: &mut Reader, value: &Value) -> Vec<ObjectClass> {
    const KNOWN: [&str; 6] =
        ["tag", "new_classes", "new_sqlite_classes", "renamed_classes", "deleted_classes", "transferred_classes"];
    let mut classes: Vec<ObjectClass> = Vec::new();
    for migration in reader.array("migrations", value) {
        let members = reader.members("migrations", migration, &KNOWN);
        for (key, sql) in [("new_classes", false), ("new_sqlite_classes", true)] {
            let names = members.get(key).map(|names| reader.texts(key, names)).unwrap_or_default();
            classes.extend(names.into_iter().map(|name| ObjectClass { name, sql }));
        }
        for renamed in members.get("renamed_classes").map(|it| reader.array("renamed_classes", it)).unwrap_or_default()
        {
            let members = reader.members("renamed_classes", renamed, &["from", "to"]);
            let (from, to) = (members.required_text(reader, "from"), members.required_text(reader, "to"));
            if let (Some(from), Some(to)) = (from, to)
                && let Some(class) = classes.iter_mut().find(|class| class.name == from)
            {
                class.name = to;
            }
        }
        let deleted = members.get("deleted_classes").map(|it| reader.texts("deleted_classes", it)).unwrap_or_default();
        classes.retain(|class| !deleted.contains(&class.name));
        if let Some(transferred) = members.get("transferred_classes") {
            let message = "`transferred_classes` has no effect: objects are in memory, and there are none to transfer.";
            reader.note(transferred.place(), message);
        }
    }
    classes
}

/// Members of `limits` that are loaderd's own: how many distinct dynamic Workers a request, or a Durable Object, may have
/// running at once.
const PER_REQUEST: &str = "dynamic_workers_per_request";
const PER_OBJECT: &str = "dynamic_workers_per_object";

fn at_least_one(reader: &mut Reader, name: &str, value: &Value) -> Option<NonZeroU32> {
    let count = NonZeroU32::new(reader.count(name, value)?);
    if count.is_none() {
        reader.error(value.place(), format!("`{name}` must be at least 1."));
    }
    count
}

/// The only member of a table such as `{ binding = "LOADER" }`.
fn located_member(reader: &mut Reader, key: &str, value: &Value, name: &str) -> Option<Located<String>> {
    let members = reader.members(key, value, &[name]);
    let value = members.required_text(reader, name)?;
    Some(Located { value, place: members.place })
}

fn rule(reader: &mut Reader, value: &Value) -> Option<Rule> {
    let members = reader.members("rules", value, &["type", "globs", "fallthrough"]);
    let kind = members.required_text(reader, "type");
    let globs = members.get("globs").map(|globs| reader.texts("globs", globs));
    if globs.is_none() {
        reader.error(members.place.clone(), "`rules` needs `globs`.");
    }
    let fallthrough = members.get("fallthrough").and_then(|it| reader.bool("fallthrough", it)) == Some(true);
    let place = members.get("type").map_or(members.place, Value::place);
    let kind = match kind?.as_str() {
        "ESModule" => ModuleKind::EsModule,
        "CommonJS" => ModuleKind::CommonJs,
        "CompiledWasm" => ModuleKind::CompiledWasm,
        "Text" => ModuleKind::Text,
        "Data" => ModuleKind::Data,
        other => {
            let message = format!(
                "Rules of type \"{other}\" are not supported; known are ESModule, CommonJS, CompiledWasm, Text, Data."
            );
            reader.error(place, message);
            return None;
        }
    };
    match Rule::new(kind, &globs?, fallthrough) {
        Ok(rule) => Some(rule),
        Err(message) => {
            reader.error(place, message);
            None
        }
    }
}

fn dev_options(reader: &mut Reader, value: &Value) -> DevOptions {
    let mut options = DevOptions::default();
    for entry in reader.table("dev", value) {
        let Entry { key, value, .. } = entry;
        match key.as_str() {
            "ip" => options.ip = reader.text(key, value),
            "port" => {
                options.port = reader.count(key, value).and_then(|port| match u16::try_from(port) {
                    Ok(port) => Some(port),
                    Err(_) => {
                        reader.error(value.place(), "`port` must be at most 65535.");
                        None
                    }
                });
            }
            other => {
                let message = format!("`dev.{other}` has no effect; `ip` and `port` have.");
                reader.note(entry.key_span.place(), message);
            }
        }
    }
    options
}
