//! Which file is which kind of module.

use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use loaderd_runtime::modules::ModuleContent;

/// A kind of module that a rule can give a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModuleKind {
    EsModule,
    CommonJs,
    CompiledWasm,
    Text,
    Data,
}

impl ModuleKind {
    /// A module of this kind. Bytes of source and text that are not UTF-8 become replacement characters.
    pub(super) fn content(self, bytes: Vec<u8>) -> ModuleContent {
        let text = |bytes: &[u8]| -> Arc<str> { String::from_utf8_lossy(bytes).into() };
        match self {
            Self::EsModule => ModuleContent::EsModule(text(&bytes)),
            Self::CommonJs => ModuleContent::CommonJs(text(&bytes).into()),
            Self::CompiledWasm => ModuleContent::Wasm(bytes.into()),
            Self::Text => ModuleContent::Text(text(&bytes)),
            Self::Data => ModuleContent::Data(bytes.into()),
        }
    }
}

/// Files that match one of some globs are modules of one kind.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    kind: ModuleKind,
    globs: Vec<String>,
    matcher: GlobSet,
    /// Whether the default rules for this kind stay in force.
    fallthrough: bool,
}

impl Rule {
    pub(super) fn new(kind: ModuleKind, globs: &[String], fallthrough: bool) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            let compiled = GlobBuilder::new(glob).literal_separator(true).build();
            set.add(compiled.map_err(|problem| format!("Bad glob \"{glob}\": {problem}."))?);
        }
        let matcher = set.build().map_err(|problem| problem.to_string())?;
        Ok(Self { kind, globs: globs.to_vec(), matcher, fallthrough })
    }
}

/// What wrangler does without being told.
const DEFAULTS: [(ModuleKind, &[&str]); 5] = [
    (ModuleKind::Text, &["**/*.txt", "**/*.html", "**/*.sql"]),
    (ModuleKind::Data, &["**/*.bin"]),
    (ModuleKind::CompiledWasm, &["**/*.wasm", "**/*.wasm?module"]),
    (ModuleKind::EsModule, &["**/*.js", "**/*.mjs"]),
    (ModuleKind::CommonJs, &["**/*.cjs"]),
];

/// The rules of a project: its own first, then the defaults they leave in force.
#[derive(Clone, Debug)]
pub(super) struct Rules(Vec<Rule>);

impl Rules {
    pub(super) fn new(own: &[Rule]) -> Self {
        let mut rules = own.to_vec();
        for (kind, globs) in DEFAULTS {
            // A rule without `fallthrough` takes the place of the defaults for its kind.
            let replaced = own.iter().any(|rule| rule.kind == kind && !rule.fallthrough);
            let globs: Vec<String> = globs.iter().map(|&glob| glob.to_owned()).collect();
            if !replaced && let Ok(rule) = Rule::new(kind, &globs, true) {
                rules.push(rule);
            }
        }
        Self(rules)
    }

    /// The kind of a file, by its path within the project.
    pub(super) fn kind(&self, path: &Path) -> Option<ModuleKind> {
        self.0.iter().find(|rule| rule.matcher.is_match(path)).map(|rule| rule.kind)
    }

    /// The extensions of files that a bundler has to leave alone, as `.wasm`.
    pub(super) fn opaque_extensions(&self) -> Vec<String> {
        let opaque = self
            .0
            .iter()
            .filter(|rule| matches!(rule.kind, ModuleKind::CompiledWasm | ModuleKind::Text | ModuleKind::Data));
        let mut extensions: Vec<String> =
            opaque.flat_map(|rule| &rule.globs).filter_map(|glob| extension(glob)).collect();
        extensions.sort();
        extensions.dedup();
        extensions
    }
}

/// The extension that all files matching a glob have, with its dot.
fn extension(glob: &str) -> Option<String> {
    let extension = glob.rsplit_once('.')?.1;
    let plain = !extension.is_empty() && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    // A rule may call some of the scripts text, but the bundler tells files apart by extension only.
    let script = ["js", "mjs", "cjs", "ts", "mts", "cts", "jsx", "tsx"].contains(&extension);
    (plain && !script).then(|| format!(".{extension}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_rules_come_first_and_replace_defaults_without_fallthrough() {
        let own =
            |fallthrough| [Rule::new(ModuleKind::Text, &["**/*.md".into(), "data/*.js".into()], fallthrough).unwrap()];
        let cases = [
            (true, "docs/a.md", Some(ModuleKind::Text)),
            (true, "a.txt", Some(ModuleKind::Text)),
            (false, "a.txt", None),
            (false, "data/x.js", Some(ModuleKind::Text)),
            (false, "data/deep/x.js", Some(ModuleKind::EsModule)),
            (false, "a.wasm", Some(ModuleKind::CompiledWasm)),
            (false, "a.cjs", Some(ModuleKind::CommonJs)),
            (false, "a.bin", Some(ModuleKind::Data)),
            (false, "a.png", None),
        ];
        for (fallthrough, path, kind) in cases {
            assert_eq!(Rules::new(&own(fallthrough)).kind(Path::new(path)), kind, "{path}");
        }
        assert_eq!(Rules::new(&own(false)).opaque_extensions(), [".bin", ".md", ".wasm"]);
    }

    #[test]
    fn bad_globs_are_named() {
        let problem = Rule::new(ModuleKind::Text, &["a[".into()], true).unwrap_err();
        assert!(problem.starts_with("Bad glob \"a[\""), "{problem}");
    }
}
