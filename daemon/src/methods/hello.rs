//! `hello`: who the daemon is and what this machine can enforce. The conversation around it is the server's.

use brattice_policy::layer::LayerReport;
use brattice_protocol::hello::Peer;

use crate::exec::machine_layers;

/// The daemon's part of the answer.
pub(super) fn answer() -> (Peer, LayerReport) {
    (peer(), machine_layers().clone())
}

/// The daemon's name and version.
pub(super) fn peer() -> Peer {
    Peer { name: "bratticed".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}
