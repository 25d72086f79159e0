//! `daemon.*`, on the control socket only: how the daemon is, its configuration, and its end.

use brattice_protocol::status::{DaemonStatus, Reloaded, ShutdownParams};
use brattice_protocol::task::Empty;
use brattice_protocol::{ErrorCode, RpcError};

use super::{Methods, NoParams, hello};
use crate::exec::machine_layers;
use crate::fault::chain;
use crate::reload::ReloadError;
use crate::session::Stage;

impl Methods {
    pub(super) fn daemon_status(&self, NoParams {}: NoParams) -> DaemonStatus {
        let (sessions, running) = self.registry.count();
        DaemonStatus {
            daemon: hello::peer(),
            pid: std::process::id(),
            uptime_ms: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            socket: self.locations.socket.display().to_string(),
            control_socket: self.locations.control_socket.display().to_string(),
            state: self.locations.state.display().to_string(),
            sessions,
            running,
            connections: self.connections.load(std::sync::atomic::Ordering::Relaxed),
            sandbox: machine_layers().clone(),
        }
    }

    pub(super) async fn daemon_reload(&self, NoParams {}: NoParams) -> Result<Reloaded, RpcError> {
        self.reloader.reload().await.map_err(|error| {
            let code = match error {
                ReloadError::Configuration(_) => ErrorCode::Invalid,
                ReloadError::Interrupted(_) => ErrorCode::Unavailable,
            };
            RpcError::new(code, chain(&error)).hint("what held before holds on")
        })
    }

    pub(super) fn daemon_shutdown(&self, params: ShutdownParams) -> Empty {
        let stage = if params.drain { Stage::Draining } else { Stage::Stopping };
        tracing::info!(?stage, "an operator asked for the daemon's end");
        self.stages.advance(stage);
        Empty {}
    }
}
