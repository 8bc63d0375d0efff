//! The compatibility flags without effect here are those that `docs/conformance.md` lists.

use std::path::{Path, PathBuf};

use loaderd_runtime::compat::CompatFlags;

const BEGIN: &str = "<!-- flags without effect: begin -->\n";
const END: &str = "<!-- flags without effect: end -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace").to_owned()
}

/// The text of every source file of the workspace that may ask for a flag.
fn sources() -> String {
    let folders = ["runtime/js", "runtime/src", "loader/src", "harness/src", "wrangler-compat/src", "src"];
    let mut waiting: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut all = String::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of the workspace") {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|kind| kind == "js" || kind == "rs")
                && !path.ends_with("compat/flags.rs")
            {
                // The table's own tests name flags without giving them an effect.
                let text = std::fs::read_to_string(&path).expect("a readable source");
                all.push_str(text.split("#[cfg(test)]").next().unwrap_or_default());
            }
        }
    }
    all
}

#[test]
fn flags_without_effect_are_documented() {
    let sources = sources();
    let listed: String = CompatFlags::all()
        .filter(|(name, flag)| {
            let variant = format!("Flag::{flag:?}");
            let asked_in_rust = sources.match_indices(&variant).any(|(at, _)| {
                !sources[at + variant.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
            });
            !asked_in_rust && !sources.contains(&format!("'{name}'")) && !sources.contains(&format!("\"{name}\""))
        })
        .map(|(name, _)| format!("- `{name}`\n"))
        .collect();
    let path = root().join("docs/conformance.md");
    let document = std::fs::read_to_string(&path).expect("the document");
    let (before, rest) = document.split_once(BEGIN).expect("where the list begins");
    let (documented, after) = rest.split_once(END).expect("where the list ends");
    if std::env::var_os("LOADERD_WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{listed}{END}{after}")).expect("a writable document");
    } else {
        assert_eq!(documented, listed, "run this test with LOADERD_WRITE_DOCS=1 to write the list");
    }
}
