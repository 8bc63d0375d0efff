//! Bundling with esbuild: the project's own, or the one on the PATH. Its result is a script and the files it imports.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use loaderd_loader::config::Module;
use loaderd_runtime::modules::ModuleContent;

use super::modules::{Collected, NodeNames, Origin};
use super::source_map::SourceMap;
use crate::files::normalize;
use crate::source::Diagnostic;

/// Bytes of what esbuild prints that are shown.
const MESSAGES_BYTES_MAX: usize = 64 << 10;

/// The names of Node's modules, without their scheme.
pub(super) const NODE_MODULES: [&str; 43] = [
    "_http_agent",
    "_http_client",
    "_http_common",
    "_http_incoming",
    "_http_outgoing",
    "_http_server",
    "_stream_duplex",
    "_stream_passthrough",
    "_stream_readable",
    "_stream_transform",
    "_stream_writable",
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "module",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "stream",
    "string_decoder",
    "timers",
    "tls",
    "url",
    "util",
];

/// Bundles the main module. `reason` says why, for the error that there is nothing to bundle with.
pub(super) fn bundle(origin: &Origin<'_>, main: &Path, reason: &Diagnostic) -> Result<Collected, Diagnostic> {
    let Some(program) = find_esbuild(origin.folder) else {
        return Err(Diagnostic {
            message: format!(
                "{} Such code is bundled with esbuild, but there is none: neither node_modules/.bin/esbuild in {} or a \
                 folder above it, nor esbuild on the PATH. Add it to the project (`npm install --save-dev esbuild`).",
                reason.message,
                origin.folder.display()
            ),
            ..reason.clone()
        });
    };
    let output = tempfile::tempdir().map_err(|problem| Diagnostic::new(format!("No temporary folder: {problem}")))?;
    run(origin, main, &program, output.path())?;
    read_result(origin, main, output.path())
}

/// Where npm, yarn and pnpm put it, also as a dependency of wrangler.
const OWN_ESBUILD: [&str; 2] = ["node_modules/.bin/esbuild", "node_modules/.pnpm/node_modules/esbuild/bin/esbuild"];

/// The project's own esbuild, or the one on the PATH.
fn find_esbuild(folder: &Path) -> Option<PathBuf> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let own = folder.ancestors().flat_map(|above| OWN_ESBUILD.map(|place| above.join(place)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let global: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| folder.join("esbuild")).collect();
    own.chain(global).find(|candidate| candidate.is_file())
}

fn run(origin: &Origin<'_>, main: &Path, program: &Path, output: &Path) -> Result<(), Diagnostic> {
    let mut arguments: Vec<OsString> = vec![main.into()];
    let mut add = |argument: String| arguments.push(argument.into());
    for fixed in [
        "--bundle",
        "--format=esm",
        "--target=es2024",
        "--conditions=workerd,worker,browser",
        "--main-fields=browser,module,main",
        "--external:cloudflare:*",
        "--external:workerd:*",
        "--external:node:*",
        "--entry-names=[name]",
        "--sourcemap=external",
        "--sources-content=false",
        "--log-level=warning",
        "--color=false",
    ] {
        add(fixed.to_owned());
    }
    if origin.node_names == NodeNames::BuiltIn {
        for name in NODE_MODULES {
            add(format!("--alias:{name}=node:{name}"));
        }
    }
    for argument in origin.bundler_arguments {
        add(argument.clone());
    }
    // Files that rules make modules of stay files, which the bundle imports.
    for extension in origin.rules.opaque_extensions() {
        add(format!("--loader:{extension}=copy"));
    }
    add(format!("--outdir={}", output.display()));
    add(format!("--metafile={}", output.join(METAFILE).display()));
    let ran = Command::new(program).args(arguments).current_dir(origin.folder).stdin(Stdio::null()).output();
    let ran = ran.map_err(|problem| Diagnostic::file(program, format!("Cannot be run: {problem}")))?;
    if ran.status.success() {
        return Ok(());
    }
    let shown = &ran.stderr[..ran.stderr.len().min(MESSAGES_BYTES_MAX)];
    let message = format!("esbuild cannot bundle {}:\n{}", main.display(), String::from_utf8_lossy(shown).trim_end());
    Err(Diagnostic { place: Some(origin.main.place.clone()), ..Diagnostic::new(message) })
}

const METAFILE: &str = "loaderd-metafile.json";

fn read_result(origin: &Origin<'_>, main: &Path, output: &Path) -> Result<Collected, Diagnostic> {
    let unreadable = |problem: std::io::Error| Diagnostic::new(format!("esbuild's result cannot be read: {problem}"));
    let script = Path::new(main.file_stem().unwrap_or_default()).with_extension("js");
    let map = script.with_extension("js.map");
    let mut modules = Vec::new();
    let (mut source_map, mut has_script) = (None, false);
    for entry in std::fs::read_dir(output).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if name == METAFILE {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(unreadable)?;
        if Path::new(name) == map {
            source_map = SourceMap::parse(&bytes, |source| shown(origin.folder, output, source));
        } else if Path::new(name) == script {
            let content = ModuleContent::EsModule(String::from_utf8_lossy(&bytes).into());
            // Stack traces of several projects are told apart by it.
            let name = format!("{}.js", origin.name);
            modules.insert(0, Module { name, content, named_exports: Vec::new() });
            has_script = true;
        } else if let Some(kind) = origin.rules.kind(Path::new(name)) {
            modules.push(Module { name: name.to_owned(), content: kind.content(bytes), named_exports: Vec::new() });
        }
    }
    if !has_script {
        return Err(Diagnostic::new(format!("esbuild made no {}.", script.display())));
    }
    let metafile = std::fs::read(output.join(METAFILE)).map_err(unreadable)?;
    let mut files_read = inputs(origin.folder, &metafile);
    files_read.extend(["package.json", "tsconfig.json"].map(|name| origin.folder.join(name)));
    Ok(Collected { modules, files_read, source_map })
}

/// A source as a person would name it: its path from here where it belongs to the project.
fn shown(folder: &Path, output: &Path, source: &str) -> String {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let source = normalize(&real(output).join(source));
    match source.strip_prefix(real(folder)) {
        Ok(within) => folder.join(within).display().to_string(),
        Err(_) => source.display().to_string(),
    }
}

/// The files that went into the bundle.
fn inputs(folder: &Path, metafile: &[u8]) -> Vec<PathBuf> {
    let metafile: serde_json::Value = serde_json::from_slice(metafile).unwrap_or_default();
    let inputs = metafile.get("inputs").and_then(serde_json::Value::as_object);
    inputs.into_iter().flat_map(|inputs| inputs.keys()).map(|path| folder.join(path)).collect()
}
