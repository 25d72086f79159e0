//! The command line: which session is served, and where its daemon is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brattice_client::protocol::location;
use brattice_client::protocol::session::{OpenParams, ToolsetName};
use brattice_client::protocol::{Mode, Network};
use brattice_client::{LocationError, Locations};
use brattice_mcp::{Absent, Place};
use clap::Parser;
use serde::de::DeserializeOwned;

/// Serves one session to an MCP client over standard input and output.
///
/// `brattice mcp` runs this program. The session ends with the client; its background tasks go on for the daemon's
/// `detached_ttl`.
#[derive(Debug, Parser)]
#[command(name = "brattice-mcp", version, max_term_width = 100)]
struct Arguments {
    /// The folder that commands may write below [default: the current folder]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The sandbox mode [default: the daemon's, workspace-write]
    #[arg(long, value_parser = named::<Mode>)]
    mode: Option<Mode>,
    /// The toolset [default: the daemon's, standard]
    #[arg(long, value_parser = named::<ToolsetName>)]
    toolset: Option<ToolsetName>,
    /// What commands may do with sockets [default: the daemon's, full]
    #[arg(long, value_parser = named::<Network>)]
    network: Option<Network>,
    /// The daemon's socket [default: $BRATTICE_SOCKET, or in $XDG_RUNTIME_DIR/brattice]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The daemon's operators' socket [default: $BRATTICE_CONTROL_SOCKET, or beside the socket]
    #[arg(long, value_name = "PATH")]
    control_socket: Option<PathBuf>,
    /// Fail where no daemon answers instead of starting one
    #[arg(long)]
    no_start: bool,
}

/// Why the arguments name no session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unresolved {
    /// It is not known where the daemon would be.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// A path cannot be made absolute.
    #[error("cannot resolve {}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// What the kernel said.
        source: std::io::Error,
    },
    /// The wire has text only.
    #[error("not valid UTF-8: {}", .0.display())]
    NotUtf8(OsString),
}

/// Reads them. Help, version and faults are told here: the exit status is what is left of them.
pub(crate) fn read() -> Result<Place, Result<ExitCode, Unresolved>> {
    let arguments = Arguments::try_parse().map_err(|error| {
        let status =
            if error.use_stderr() { ExitCode::from(super::FAILED) } else { ExitCode::SUCCESS };
        // Where nobody reads what was printed, the exit status still tells.
        error.print().ok();
        Ok(status)
    })?;
    arguments.place().map_err(Err)
}

impl Arguments {
    fn place(self) -> Result<Place, Unresolved> {
        let socket = self.socket.as_deref().map(absolute).transpose()?;
        let control_socket = self.control_socket.as_deref().map(absolute).transpose()?;
        let locations = Locations::from_env(|name| match name {
            location::SOCKET if socket.is_some() => socket.clone(),
            location::CONTROL_SOCKET if control_socket.is_some() => control_socket.clone(),
            _ => std::env::var_os(name),
        })?;
        let workspace = absolute(self.workspace.as_deref().unwrap_or(Path::new(".")))?;
        let session = OpenParams {
            workspace: workspace.into_string().map_err(Unresolved::NotUtf8)?,
            mode: self.mode,
            toolset: self.toolset,
            network: self.network,
            label: Some("brattice mcp".to_owned()),
            ..OpenParams::default()
        };
        let absent = if self.no_start { Absent::Fail } else { Absent::Start };
        Ok(Place { locations, absent, session })
    }
}

fn absolute(path: &Path) -> Result<OsString, Unresolved> {
    let resolved = std::path::absolute(path);
    let fault = |source| Unresolved::Path { path: path.to_owned(), source };
    resolved.map(PathBuf::into_os_string).map_err(fault)
}

/// A value by its name on the wire.
fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(text.into()).map_err(|error: serde_json::Error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn what_is_left_out_is_the_daemons_to_say() {
        let line =
            ["brattice-mcp", "--workspace", "/ws", "--socket", "/s/b.sock", "--mode", "read-only"];
        let place = Arguments::try_parse_from(line).unwrap().place().unwrap();
        let session = OpenParams {
            workspace: "/ws".to_owned(),
            mode: Some(Mode::ReadOnly),
            label: Some("brattice mcp".to_owned()),
            ..OpenParams::default()
        };
        assert_eq!((place.session, place.absent), (session, Absent::Start));
        assert_eq!(place.locations.control_socket, Path::new("/s/control.sock"));
        assert!(Arguments::try_parse_from(["brattice-mcp", "--mode", "rw"]).is_err());
    }
}
