//! The documents name what is there: every path in backticks exists, and every dependency has its reason.

use std::collections::BTreeSet;

use toml::Table;

use crate::sources;

/// Documents that speak of the repository as it is. The changelog speaks of what was.
const DOCUMENTS: [&str; 8] = [
    "README.md",
    "ARCHITECTURE.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "docs/decisions.md",
    "docs/policy.md",
    "docs/clients.md",
    "tests/CASES.md",
];

/// Endings by which a name without a slash is taken for a file's.
const ENDINGS: [&str; 4] = [".rs", ".md", ".toml", ".sh"];

/// Pieces of inline code, outside of fenced blocks.
pub(crate) fn inline_code(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut pieces = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            pieces.extend(line.split('`').skip(1).step_by(2));
        }
    }
    pieces
}

/// Paths of the repository that a document names: inline code without spaces or wildcards that begins with one of the
/// repository's top folders, or that has no slash and ends as a file of ours does. `path::item` counts as its path.
fn named_paths<'a>(text: &'a str, files: &BTreeSet<String>) -> Vec<&'a str> {
    let is_path = |piece: &&str| {
        let plain = piece.chars().all(|sign| sign.is_ascii_alphanumeric() || "._-/".contains(sign));
        let ours = match piece.split_once('/') {
            Some((top, rest)) => {
                !rest.is_empty() && files.iter().any(|file| file.starts_with(&format!("{top}/")))
            }
            None => ENDINGS.iter().any(|ending| piece.ends_with(ending)),
        };
        plain && ours
    };
    inline_code(text)
        .into_iter()
        .map(|piece| piece.split("::").next().unwrap_or(piece))
        .filter(is_path)
        .collect()
}

/// A name without a slash stands for a file of that name anywhere.
fn exists(path: &str, files: &BTreeSet<String>) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    files.iter().any(|file| {
        file == path
            || file.starts_with(&folder)
            || !path.contains('/') && file.rsplit('/').next() == Some(path)
    })
}

fn missing_paths(document: &str, text: &str, files: &BTreeSet<String>) -> Vec<String> {
    let missing = named_paths(text, files).into_iter().filter(|path| !exists(path, files));
    missing.map(|path| format!("{document}: {path} does not exist")).collect()
}

/// Workspace dependencies that have no line with their name in backticks.
fn unexplained_dependencies(manifest: &str, architecture: &str) -> Vec<String> {
    let manifest: Table = toml::from_str(manifest).unwrap();
    let dependencies = manifest["workspace"]["dependencies"].as_table().unwrap();
    let explained: BTreeSet<&str> = inline_code(architecture).into_iter().collect();
    let foreign = dependencies.keys().filter(|name| !name.starts_with("brattice-"));
    foreign.filter(|name| !explained.contains(name.as_str())).cloned().collect()
}

#[test]
fn documents_name_what_is_there() {
    let files: BTreeSet<String> = sources::files().into_iter().collect();
    let violations: Vec<String> = DOCUMENTS
        .iter()
        .flat_map(|document| missing_paths(document, &sources::read(document), &files))
        .collect();
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn every_dependency_has_its_reason() {
    let violations =
        unexplained_dependencies(&sources::read("Cargo.toml"), &sources::read("ARCHITECTURE.md"));
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn a_path_that_is_gone_is_found() {
    let files = ["daemon/src/main.rs", "docs/a.md"].map(str::to_owned).into();
    let text = "`daemon/src/main.rs`, `daemon/src/`, `main.rs`, `a.md`, `/etc/hosts`, `a/b`, `cargo build docs/x`\n\
                ```\n`daemon/src/gone.rs`\n```\n\
                `daemon/src/gone.rs::f`, `gone.md`, `docs/gone/`, `daemon/src/{a,b}.rs`";
    assert_eq!(
        missing_paths("A.md", text, &files),
        [
            "A.md: daemon/src/gone.rs does not exist",
            "A.md: gone.md does not exist",
            "A.md: docs/gone/ does not exist"
        ]
    );
}

#[test]
fn a_dependency_without_reason_is_found() {
    let manifest = "[workspace.dependencies]\nbrattice-policy = { path = \"policy\" }\nserde = \"1\"\ntoml = \"1\"\n";
    assert_eq!(unexplained_dependencies(manifest, "| `serde` | reads |\ntoml"), ["toml"]);
}
