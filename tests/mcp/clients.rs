//! Real clients: the SDKs for Python and TypeScript in both eras, and the inspector's command line. Their versions are pinned in
//! `tests/mcp/clients/`, from where `.ci/run`, or the first test that needs them, installs them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use brattice_tests::{Native, World, brattice, mcp_bridge};
use serde_json::Value;

/// What each client does, a line a step.
const STEPS: &str = "lists\ncalls\nis told progress\nreads a background task\nis denied, asks and is allowed\n\
                     asks and is declined\ncancels\nis approved by an operator\n";

/// Where the scripts are.
pub(crate) fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp/clients")
}

/// The folder that the clients are installed in.
pub(crate) fn installed() -> PathBuf {
    let own = || Path::new(env!("CARGO_TARGET_TMPDIR")).join("mcp-clients");
    let folder = env::var_os("BRATTICE_TEST_MCP_CLIENTS").map_or_else(own, PathBuf::from);
    if env::var_os("BRATTICE_TEST_MCP_CLIENTS").is_none() {
        let status = Command::new(scripts().join("install.sh")).arg(&folder).status().unwrap();
        assert!(status.success(), "the clients can be installed");
    }
    folder
}

/// A program in a world, with Node's own folder first in its path.
pub(crate) fn program(world: &World, program: &Path, clients: &Path) -> Command {
    mcp_bridge();
    let mut command = world.command(program.to_str().unwrap());
    let path =
        format!("{}:/usr/local/bin:/usr/bin:/bin", clients.join("node_modules/node/bin").display());
    command
        .env("PATH", path)
        .env("BRATTICE", brattice())
        .env("BRATTICE_SOCKET", world.socket())
        .env("BRATTICE_CONTROL_SOCKET", world.control())
        .env("BRATTICE_STATE", world.state());
    command
}

fn world() -> World {
    World::builder().configured("[mcp]\ntrust_elicitation = true\n").start()
}

#[track_caller]
fn did_all(native: &Native, revision: &str) {
    native.succeeded();
    assert_eq!(native.stdout, format!("speaks {revision}\n{STEPS}"), "{}", native.stderr);
}

fn python(revision: &str) -> Native {
    let (world, clients) = (world(), installed());
    let mut command = program(&world, &clients.join("python/bin/python"), &clients);
    command.arg(scripts().join("python.py")).arg(revision);
    let ended = Native::run(&mut command);
    // Its bridges end after it.
    world.is_quiet();
    world.finish();
    ended
}

fn typescript(version: &str, revision: &str) -> Native {
    let (world, clients) = (world(), installed());
    let mut command = program(&world, &clients.join("node_modules/node/bin/node"), &clients);
    command.arg(scripts().join("typescript.mjs")).arg(&clients).arg(version).arg(revision);
    let ended = Native::run(&mut command);
    // Its bridges end after it.
    world.is_quiet();
    world.finish();
    ended
}

#[test]
fn the_python_sdk_with_a_handshake() {
    did_all(&python("legacy"), "2025-11-25");
}

#[test]
fn the_python_sdk_without_one() {
    did_all(&python("2026-07-28"), "2026-07-28");
}

#[test]
fn the_python_sdk_that_finds_out() {
    did_all(&python("auto"), "2026-07-28");
}

#[test]
fn the_typescript_sdk_1() {
    did_all(&typescript("1", "legacy"), "2025-11-25");
}

#[test]
fn the_typescript_sdk_2_with_a_handshake() {
    did_all(&typescript("2", "legacy"), "2025-11-25");
}

#[test]
fn the_typescript_sdk_2_without_one() {
    did_all(&typescript("2", "2026-07-28"), "2026-07-28");
}

/// What the inspector's command line prints.
#[track_caller]
fn inspect(world: &World, clients: &Path, arguments: &[&str]) -> Value {
    let mut command = program(world, &clients.join("node_modules/.bin/mcp-inspector"), clients);
    command.arg("--cli").arg(brattice()).arg("mcp").args(arguments);
    let ended = Native::run(&mut command);
    ended.succeeded();
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"))
}

#[test]
fn the_inspectors_command_line() {
    let (world, clients) = (world(), installed());
    let listed = inspect(&world, &clients, &["--method", "tools/list"]);
    assert_eq!(listed["tools"][0]["name"], "bash");
    let call = |command: &str| {
        let argument = format!("command={command}");
        inspect(
            &world,
            &clients,
            &["--method", "tools/call", "--tool-name", "bash", "--tool-arg", &argument],
        )
    };
    assert_eq!(call("echo inspected")["content"][0]["text"], "inspected\n");
    let templates = inspect(&world, &clients, &["--method", "resources/templates/list"]);
    assert_eq!(
        templates["resourceTemplates"][0]["uriTemplate"],
        "brattice://task/{task}/{stream}{?offset}"
    );
    world.is_quiet();
    world.finish();
}
