//! `daemon.status`, `daemon.reload` and `daemon.shutdown`, on the control socket.

use serde::{Deserialize, Serialize};

use brattice_policy::layer::LayerReport;

use crate::hello::Peer;

/// The result of `daemon.status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// The daemon's name and version.
    pub daemon: Peer,
    /// Its process.
    pub pid: u32,
    /// How long it has run.
    pub uptime_ms: u64,
    /// Its agents' socket.
    pub socket: String,
    /// Its operators' socket.
    pub control_socket: String,
    /// Its state folder.
    pub state: String,
    /// Open sessions.
    pub sessions: usize,
    /// Tasks that run.
    pub running: usize,
    /// Connections.
    pub connections: usize,
    /// What this machine can enforce.
    pub sandbox: LayerReport,
}

/// The result of `daemon.reload`: what holds now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    /// The files that were read, the operator's first.
    pub files: Vec<String>,
}

/// Parameters of `daemon.shutdown`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShutdownParams {
    /// Whether calls that run are waited for instead of stopped.
    #[serde(default)]
    pub drain: bool,
}
