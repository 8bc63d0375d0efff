//! Every key of a wrangler file and what becomes of it here. A key that is in no list is a mistake.

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    /// Read, and kept by named environments that do not set it.
    Inherited,
    /// Read; each named environment sets its own.
    PerEnvironment,
    /// Only says how the project is deployed or edited; nothing to do when it is run.
    Deployment,
    /// Has no effect here although it would have one on the platform; the text says which, and it is printed.
    Noted(&'static str),
    /// Refused where it counts; each named environment sets its own. The text says what to do instead.
    Refused(&'static str),
    /// Refused, also where a named environment is run that does not set it: it would be inherited.
    RefusedThroughout(&'static str),
}

use Treatment::{Deployment, Inherited, Noted, PerEnvironment, Refused, RefusedThroughout};

const NO_STORAGE: &str = "loaderd dev does not serve this kind of storage yet; bind a service that answers for it, or \
                          remove the binding from the environment you run.";
const NO_PRODUCT: &str = "loaderd dev cannot reach this product; put it behind a Worker of your own and bind that under \
                          `services`, or remove the binding from the environment you run.";
const ES_MODULES: &str = "Import the file from an ES module instead, and give it a rule.";
const BUILD_FIRST: &str = "Run your own build first, point `main` at its result and set `no_bundle = true`.";
const PLAIN_FILES: &str = "loaderd dev does not serve static files; serve them from a Worker.";

/// Keys by name.
const KEYS: &[(&str, Treatment)] = &[
    ("name", Inherited),
    ("main", Inherited),
    ("compatibility_date", Inherited),
    ("compatibility_flags", Inherited),
    ("rules", Inherited),
    ("limits", Inherited),
    ("no_bundle", Inherited),
    ("dev", Inherited),
    ("env", Inherited),
    ("migrations", Inherited),
    ("alias", Inherited),
    ("jsx_factory", Inherited),
    ("jsx_fragment", Inherited),
    ("tsconfig", Inherited),
    ("define", PerEnvironment),
    ("durable_objects", PerEnvironment),
    ("streaming_tail_consumers", PerEnvironment),
    ("vars", PerEnvironment),
    ("services", PerEnvironment),
    ("worker_loaders", PerEnvironment),
    ("tail_consumers", PerEnvironment),
    // How it is deployed.
    ("$schema", Deployment),
    ("account_id", Deployment),
    ("compliance_region", Deployment),
    ("first_party_worker", Deployment),
    ("keep_vars", Deployment),
    ("legacy_env", Deployment),
    ("logpush", Deployment),
    ("minify", Deployment),
    ("keep_names", Deployment),
    ("observability", Deployment),
    ("placement", Deployment),
    ("previews", Deployment),
    ("preview_urls", Deployment),
    ("route", Deployment),
    ("routes", Deployment),
    ("send_metrics", Deployment),
    ("upload_source_maps", Deployment),
    ("workers_dev", Deployment),
    ("zone_id", Deployment),
    ("triggers", Noted("schedules do not fire here")),
    ("unsafe", Refused("Nothing under `unsafe` is known here. Remove it from the environment you run.")),
    // Bindings.
    ("ai", Refused(NO_PRODUCT)),
    ("ai_search", Refused(NO_PRODUCT)),
    ("ai_search_namespaces", Refused(NO_PRODUCT)),
    ("analytics_engine_datasets", Refused(NO_PRODUCT)),
    ("artifacts", Refused(NO_PRODUCT)),
    ("assets", RefusedThroughout(PLAIN_FILES)),
    ("browser", Refused(NO_PRODUCT)),
    ("cloudchamber", Refused(NO_PRODUCT)),
    ("containers", Refused("loaderd runs no containers.")),
    ("d1_databases", Refused(NO_STORAGE)),
    ("dispatch_namespaces", Refused("Load the Workers with a `worker_loaders` binding instead.")),
    ("flagship", Refused(NO_PRODUCT)),
    ("hyperdrive", Refused(NO_STORAGE)),
    ("images", Refused(NO_PRODUCT)),
    ("kv_namespaces", Refused(NO_STORAGE)),
    ("logfwdr", RefusedThroughout(NO_PRODUCT)),
    ("media", Refused(NO_PRODUCT)),
    ("mtls_certificates", Refused(NO_PRODUCT)),
    ("pipelines", Refused(NO_PRODUCT)),
    ("queues", Refused(NO_STORAGE)),
    ("r2_buckets", Refused(NO_STORAGE)),
    ("ratelimits", Refused(NO_PRODUCT)),
    ("secrets_store_secrets", Refused("Put the values into a `.dev.vars` file beside the wrangler file.")),
    ("send_email", Refused(NO_PRODUCT)),
    ("stream", Refused(NO_PRODUCT)),
    ("unsafe_hello_world", Refused(NO_PRODUCT)),
    ("vectorize", Refused(NO_PRODUCT)),
    ("version_metadata", Refused("Put what the Worker needs into `vars`.")),
    ("vpc_networks", Refused(NO_PRODUCT)),
    ("vpc_services", Refused(NO_PRODUCT)),
    ("workflows", Refused(NO_STORAGE)),
    // How it is built.
    ("base_dir", RefusedThroughout("Modules are found by following imports from `main`.")),
    ("build", RefusedThroughout(BUILD_FIRST)),
    ("data_blobs", RefusedThroughout(ES_MODULES)),
    ("find_additional_modules", RefusedThroughout("Modules are found by following imports from `main`.")),
    ("pages_build_output_dir", RefusedThroughout(PLAIN_FILES)),
    ("preserve_file_names", RefusedThroughout("Modules keep their paths here.")),
    ("python_modules", RefusedThroughout("loaderd runs no Python.")),
    ("secrets", Refused("Put the values into a `.dev.vars` file beside the wrangler file.")),
    ("site", RefusedThroughout(PLAIN_FILES)),
    ("text_blobs", RefusedThroughout(ES_MODULES)),
    ("wasm_modules", RefusedThroughout(ES_MODULES)),
];

/// What becomes of a key at the top level or in an environment; `None` for a key that does not exist.
pub(super) fn treatment(key: &str) -> Option<Treatment> {
    KEYS.iter().find(|(name, _)| *name == key).map(|(_, treatment)| *treatment)
}
