//! `brattice mcp`: the MCP bridge, a program of its own, in place of this one. What it does is its own part.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::Failure;
use crate::cli::arguments::{Global, Mcp};

/// The bridge's program.
const PROGRAM: &str = "brattice-mcp";

/// Becomes the bridge. Returns only where it cannot.
pub(crate) fn mcp(arguments: &Mcp, global: &Global) -> Failure {
    let program = find();
    let mut command = Command::new(&program);
    let Mcp { workspace, mode, toolset, network } = arguments;
    let Global { socket, control_socket, no_start, json: _ } = global;
    let paths = [
        ("--workspace", workspace.as_deref()),
        ("--socket", socket.as_deref()),
        ("--control-socket", control_socket.as_deref()),
    ];
    let names = [
        ("--mode", mode.map(|mode| mode.as_str())),
        ("--toolset", toolset.map(|toolset| toolset.as_str())),
        ("--network", network.map(|network| network.as_str())),
    ];
    let paths = paths.map(|(flag, path)| (flag, path.map(Path::as_os_str)));
    let names = names.map(|(flag, name)| (flag, name.map(OsStr::new)));
    for (flag, value) in paths.into_iter().chain(names) {
        if let Some(value) = value {
            command.arg(flag).arg(value);
        }
    }
    if *no_start {
        command.arg("--no-start");
    }
    let source = command.exec();
    Failure::Bridge { program, source }
}

/// The program beside this one, else the one in `PATH`.
fn find() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|this| this.with_file_name(PROGRAM));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}
