//! The binaries under test: those beside the running test in the target folder, or those in the folder that
//! `BRATTICE_TEST_BIN` names (an installed package, say), whose age nobody checks.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The daemon's binary.
///
/// # Panics
/// When it is missing or older than the sources it is made of.
pub fn bratticed() -> PathBuf {
    find("bratticed", &["policy/src", "protocol/src", "daemon/src"])
}

/// The client's binary.
///
/// # Panics
/// When it is missing or older than the sources it is made of.
pub fn brattice() -> PathBuf {
    find("brattice", &["policy/src", "protocol/src", "client/src"])
}

/// The MCP bridge's binary, which `brattice mcp` finds beside itself.
///
/// # Panics
/// When it is missing or older than the sources it is made of.
pub fn mcp_bridge() -> PathBuf {
    find("brattice-mcp", &["policy/src", "protocol/src", "client/src", "mcp/src"])
}

/// The same over HTTP, for the conformance suite.
///
/// # Panics
/// When it is missing or older than the sources it is made of.
pub fn mcp_bridge_over_http() -> PathBuf {
    let sources = ["policy/src", "protocol/src", "client/src", "mcp/src"];
    find_built("brattice-mcp-http", &sources, BUILD_HTTP)
}

/// How binaries are built.
const BUILD: &str = "cargo build --workspace";
const BUILD_HTTP: &str =
    "cargo build --package brattice-mcp --features loopback-http --bin brattice-mcp-http";

fn find(name: &str, sources: &[&str]) -> PathBuf {
    find_built(name, sources, BUILD)
}

fn find_built(name: &str, sources: &[&str], build: &str) -> PathBuf {
    if let Some(folder) = env::var_os("BRATTICE_TEST_BIN") {
        let path = PathBuf::from(folder).join(name);
        assert!(path.is_file(), "{} does not exist", path.display());
        return path;
    }
    let test = env::current_exe().expect("the running test has a path");
    let target =
        test.parent().and_then(Path::parent).expect("tests lie in <target>/<profile>/deps");
    let path = target.join(name);
    let built = fs::metadata(&path).and_then(|metadata| metadata.modified());
    let Ok(built) = built else {
        panic!("{} does not exist: run `{build}` first", path.display());
    };
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if let Some((source, _)) = sources
        .iter()
        .filter_map(|folder| newest(&workspace.join(folder)))
        .find(|(_, time)| *time > built)
    {
        panic!("{} is older than {}: run `{build}` first", path.display(), source.display());
    }
    path
}

/// Names of what is built into unit tests alone.
fn is_of_tests(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name == "tests" || name == "tests.rs" || name.ends_with("_tests.rs")
}

/// The file below a folder that changed last, of those that the binaries are built from.
fn newest(folder: &Path) -> Option<(PathBuf, SystemTime)> {
    let entries = fs::read_dir(folder).ok()?;
    entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            if is_of_tests(&path) {
                None
            } else if path.is_dir() {
                newest(&path)
            } else {
                Some((path, entry.metadata().ok()?.modified().ok()?))
            }
        })
        .max_by_key(|(_, time)| *time)
}
