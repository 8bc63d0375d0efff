//! A wrangler file as types: one environment of one project.

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
    pub(super) bundling: Bundling,
    pub(super) vars: Vec<Var>,
    pub(super) services: Vec<ServiceBinding>,
    pub(super) worker_loaders: Vec<Located<String>>,
    pub(super) tails: Vec<Located<String>>,
    pub(super) dev: DevOptions,
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

/// Reads the environment with this name, or the top level.
pub(super) fn read(root: &Value, environment: Option<&str>) -> Result<(Manifest, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut reader = Reader::default();
    let mut manifest = Manifest::default();
    let top = reader.table("the file", root);
    let own = environment.map(|name| environment_table(&mut reader, root, top, name));

    for entry in top {
        let overridden = own.is_some_and(|own| own.iter().any(|it| it.key == entry.key));
        match treatment(&entry.key) {
            // In a named environment only what is inherited counts, and only where it says nothing itself.
            Some(Treatment::Inherited) if overridden && entry.key != "env" => {}
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

fn environment_table<'v>(reader: &mut Reader, root: &'v Value, top: &'v [Entry], name: &str) -> &'v [Entry] {
    let environments = top.iter().find(|entry| entry.key == "env").map(|entry| reader.table("env", &entry.value));
    let environments = environments.unwrap_or_default();
    match environments.iter().find(|entry| entry.key == name) {
        Some(entry) => reader.table(name, &entry.value),
        None => {
            let known: Vec<&str> = environments.iter().map(|entry| entry.key.as_str()).collect();
            let known = if known.is_empty() { "none".into() } else { known.join(", ") };
            reader.error(root.place(), format!("There is no environment \"{name}\". Defined are: {known}."));
            &[]
        }
    }
}

impl Manifest {
    fn set(&mut self, reader: &mut Reader, entry: &Entry) {
        let Entry { key, value, .. } = entry;
        let place = entry.key_span.place();
        match treatment(key) {
            None => reader.error(place, format!("`{key}` is not a key of a wrangler file that loaderd knows.")),
            Some(Treatment::Refused(instead)) => {
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
                let members = reader.members(key, value, &["cpu_ms", "subrequests"]);
                let mut limit = |name| members.get(name).and_then(|value| reader.count(name, value));
                self.limits = ResourceLimits { cpu_ms: limit("cpu_ms"), sub_requests: limit("subrequests") };
            }
            "no_bundle" => {
                let never = reader.bool(key, value) == Some(true);
                self.bundling = if never { Bundling::Never } else { Bundling::WhereNeeded };
            }
            "dev" => self.dev = dev_options(reader, value),
            "vars" => {
                let vars = reader.table(key, value).iter();
                self.vars = vars.map(|it| Var { name: it.key.clone(), value: it.value.to_json() }).collect();
            }
            "services" => {
                self.services = reader.array(key, value).iter().filter_map(|it| service(reader, it)).collect();
            }
            "worker_loaders" => {
                let loaders = reader.array(key, value).iter();
                self.worker_loaders = loaders.filter_map(|it| located_member(reader, key, it, "binding")).collect();
            }
            "tail_consumers" => {
                let consumers = reader.array(key, value).iter();
                self.tails = consumers.filter_map(|it| located_member(reader, key, it, "service")).collect();
            }
            // Read where environments are chosen.
            "env" => {}
            other => reader.error(value.place(), format!("`{other}` is not supported.")),
        }
    }
}

/// The only member of a table such as `{ binding = "LOADER" }`.
fn located_member(reader: &mut Reader, key: &str, value: &Value, name: &str) -> Option<Located<String>> {
    let members = reader.members(key, value, &[name]);
    let value = members.required_text(reader, name)?;
    Some(Located { value, place: members.place })
}

fn service(reader: &mut Reader, value: &Value) -> Option<ServiceBinding> {
    let members = reader.members("services", value, &["binding", "service", "entrypoint", "props"]);
    let binding = members.required_text(reader, "binding");
    let service = members.required_text(reader, "service");
    let entrypoint = members.optional_text(reader, "entrypoint");
    let props_json = members.get("props").map(|props| {
        reader.table("props", props);
        props.to_json().to_string()
    });
    let place = members.get("service").map_or(members.place, Value::place);
    Some(ServiceBinding { binding: binding?, service: Located { value: service?, place }, entrypoint, props_json })
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
