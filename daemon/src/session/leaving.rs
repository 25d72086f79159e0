//! All sessions at once, when the daemon is to end: calls are waited for or stopped, sessions left to the next daemon or
//! closed.

use std::sync::Arc;
use std::time::Duration;

use brattice_protocol::audit::Actor;
use tokio::task::JoinSet;

use super::registry::Registry;
use super::session::Session;

/// How long a daemon that ends waits for sessions that are being closed.
const CLOSING_PATIENCE: Duration = Duration::from_secs(10);

impl Registry {
    /// Returns once no call that runs now runs any more. Background tasks are the next daemon's.
    pub(crate) async fn drained(&self) {
        for session in self.all() {
            session.calls().settled().await;
        }
    }

    /// Asks for the end of what calls wait for. Those whose start is on its way are stopped or refused, too.
    pub(crate) fn stop_calls(&self) {
        for session in self.all() {
            session.stop_calls();
        }
    }

    /// The longest time between SIGTERM and SIGKILL for a command of any session.
    pub(crate) fn longest_grace(&self) -> Duration {
        self.all().iter().map(|session| session.grace()).max().unwrap_or_default()
    }

    /// Leaves every session to the next daemon.
    pub(crate) async fn leave_all(&self) {
        let leaving: JoinSet<()> = self.all().into_iter().map(Session::leave).collect();
        leaving.join_all().await;
        // One that is just being closed is in no list any more. What is not over in time the next daemon goes on with.
        if tokio::time::timeout(CLOSING_PATIENCE, self.closing.write()).await.is_err() {
            tracing::warn!("a session that was being closed is left to the next daemon");
        }
    }

    /// Closes every session, all at the same time.
    pub(crate) async fn close_all(self: &Arc<Self>) {
        let mut closing = JoinSet::new();
        for session in self.all() {
            let registry = self.clone();
            let reason = Some("the daemon was told to stop everything".to_owned());
            closing
                .spawn(async move { registry.remove(session.id(), Actor::Daemon, reason).await });
        }
        while let Some(closed) = closing.join_next().await {
            if let Err(error) = closed {
                tracing::error!(%error, "a session was not closed in order");
            }
        }
    }
}
