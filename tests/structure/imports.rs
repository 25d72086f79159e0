//! Imports run one way: `policy` imports nothing of ours, `protocol` imports it, `client` imports `protocol`, the
//! daemon imports `policy`, `protocol` and the engines `files`, `search` and `skills`, the tests drive the client. All but client, daemon
//! and tests know no runtime.

use toml::Table;

use crate::sources::{self, Kind, Source};

/// A package, and the packages of ours that it may name.
const ALLOWED: [(&str, &[&str]); 8] = [
    ("policy", &[]),
    ("search", &[]),
    ("files", &[]),
    ("skills", &[]),
    ("protocol", &["policy"]),
    ("client", &["protocol"]),
    ("daemon", &["policy", "protocol", "files", "search", "skills"]),
    ("tests", &["client", "protocol"]),
];

/// Packages that must be usable without a runtime.
const WITHOUT_TOKIO: [&str; 5] = ["policy", "protocol", "files", "search", "skills"];

fn may_import(package: &str, other: &str) -> bool {
    package == other
        || ALLOWED.iter().any(|(name, allowed)| *name == package && allowed.contains(&other))
}

/// Violations in one package's `Cargo.toml`, in dependencies of every kind and for every target.
fn of_manifest(package: &str, text: &str) -> Vec<String> {
    let manifest: Table =
        toml::from_str(text).unwrap_or_else(|error| panic!("{package}/Cargo.toml: {error}"));
    let targets = manifest.get("target").and_then(|target| target.as_table()).into_iter().flatten();
    let tables = targets.filter_map(|(_, table)| table.as_table()).chain([&manifest]);
    let mut violations = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let dependencies =
                table.get(kind).and_then(|table| table.as_table()).into_iter().flatten();
            for (name, settings) in dependencies {
                violations.extend(of_dependency(package, kind, name, settings));
            }
        }
    }
    let inherits =
        manifest.get("lints").and_then(|lints| lints.get("workspace")) == Some(&true.into());
    if !inherits {
        violations.push(format!("{package}/Cargo.toml: does not take the workspace's lints"));
    }
    violations
}

fn of_dependency(package: &str, kind: &str, name: &str, settings: &toml::Value) -> Option<String> {
    let complaint = |text: &str| Some(format!("{package}/Cargo.toml: {kind}: {text}"));
    if WITHOUT_TOKIO.contains(&package) && name.starts_with("tokio") {
        return complaint(&format!("{name}: this package knows no runtime"));
    }
    let other = name.strip_prefix("brattice-")?;
    if !may_import(package, other) {
        return complaint(&format!("{name}: {package} may not import {other}"));
    }
    let features = settings.get("features").and_then(|features| features.as_array());
    let enforces = features
        .is_some_and(|features| features.iter().any(|feature| feature.as_str() == Some("enforce")));
    if enforces && package != "daemon" {
        return complaint(&format!("{name}: only the daemon turns on `enforce`"));
    }
    None
}

/// Violations in the sources: names of our crates and of tokio, wherever they stand, macro calls included.
fn of_sources(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources {
        let package = source.path.split('/').next().unwrap_or_default();
        for token in source.tokens().into_iter().filter(|token| token.kind == Kind::Word) {
            let ours = token
                .text
                .strip_prefix("brattice_")
                .filter(|other| ALLOWED.iter().any(|(name, _)| name == other));
            let forbidden = match ours {
                Some(other) => !may_import(package, other),
                None => token.text == "tokio" && WITHOUT_TOKIO.contains(&package),
            };
            if forbidden {
                violations.push(format!(
                    "{}:{}: {package} may not name {}",
                    source.path, token.line, token.text
                ));
            }
        }
    }
    violations
}

#[test]
fn manifests_import_one_way() {
    let of_package = |(package, _): (&str, _)| {
        of_manifest(package, &sources::read(&format!("{package}/Cargo.toml")))
    };
    let violations: Vec<String> = ALLOWED.into_iter().flat_map(of_package).collect();
    assert_eq!(violations, Vec::<String>::new());
}

#[test]
fn sources_import_one_way() {
    assert_eq!(of_sources(&sources::all()), Vec::<String>::new());
}

#[test]
fn every_package_of_the_workspace_has_its_rule() {
    let manifest: Table = toml::from_str(&sources::read("Cargo.toml")).unwrap();
    let members: Vec<&str> = manifest["workspace"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|member| member.as_str())
        .collect();
    let mut rules = ALLOWED.map(|(name, _)| name);
    let mut members = members;
    rules.sort_unstable();
    members.sort_unstable();
    assert_eq!(members, rules);
}

#[test]
fn a_wrong_manifest_is_found() {
    let text = "[dependencies]\nbrattice-client.workspace = true\n\
                [target.'cfg(unix)'.dev-dependencies]\ntokio.workspace = true\n\
                [lints]\nworkspace = true\n";
    assert_eq!(
        of_manifest("policy", text),
        [
            "policy/Cargo.toml: dev-dependencies: tokio: this package knows no runtime",
            "policy/Cargo.toml: dependencies: brattice-client: policy may not import client",
        ]
    );
    let text = "[dependencies]\nbrattice-policy = { workspace = true, features = [\"enforce\"] }\n";
    assert_eq!(
        of_manifest("protocol", text),
        [
            "protocol/Cargo.toml: dependencies: brattice-policy: only the daemon turns on `enforce`",
            "protocol/Cargo.toml: does not take the workspace's lints",
        ]
    );
}

#[test]
fn a_wrong_import_is_found_in_macro_calls_too() {
    let daemon = Source::new(
        "daemon/src/a.rs",
        "//! Names brattice_client.\nuse brattice_client::Client;\n",
    );
    let policy =
        Source::new("policy/src/a.rs", "//! A.\nfn a() {\n    matches!(x, tokio::Y);\n}\n");
    let own = Source::new(
        "client/src/main.rs",
        "//! A.\nuse brattice_client::Client;\nuse tokio::net;\n",
    );
    assert_eq!(
        of_sources(&[daemon, policy, own]),
        [
            "daemon/src/a.rs:2: daemon may not name brattice_client",
            "policy/src/a.rs:3: policy may not name tokio"
        ]
    );
}
