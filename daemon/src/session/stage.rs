//! How far a daemon is from its end.

use brattice_protocol::{ErrorCode, RpcError};
use tokio::sync::watch;

/// The stages of a daemon; it only ever moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// It takes new work.
    Serving,
    /// It takes no new work and waits for what runs.
    Draining,
    /// It stops what runs and ends.
    Stopping,
}

/// The stage of this daemon, which many may watch.
#[derive(Debug)]
pub(crate) struct Stages(watch::Sender<Stage>);

impl Stages {
    /// A daemon that serves.
    pub(crate) fn new() -> Self {
        Stages(watch::Sender::new(Stage::Serving))
    }

    /// Moves on to `stage`; never back.
    pub(crate) fn advance(&self, stage: Stage) {
        self.0.send_if_modified(|now| {
            let later = stage > *now;
            *now = stage.max(*now);
            later
        });
    }

    /// Returns once the daemon is at `stage` or beyond.
    pub(crate) async fn reached(&self, stage: Stage) {
        let mut watched = self.0.subscribe();
        // The sender is this very value, so waiting cannot fail while it is borrowed.
        if watched.wait_for(|now| *now >= stage).await.is_err() {
            tracing::error!("the daemon's stage is no longer told");
        }
    }

    /// Refuses new work once the daemon is on its way out.
    ///
    /// # Errors
    /// `shutting_down`.
    pub(crate) fn admit(&self) -> Result<(), RpcError> {
        match *self.0.borrow() {
            Stage::Serving => Ok(()),
            Stage::Draining | Stage::Stopping => Err(RpcError::new(
                ErrorCode::ShuttingDown,
                "the daemon is shutting down and takes no new work",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_stage_is_never_left_backwards() {
        let stages = Stages::new();
        assert_eq!(stages.admit(), Ok(()));
        stages.advance(Stage::Stopping);
        stages.advance(Stage::Draining);
        stages.reached(Stage::Stopping).await;
        assert!(stages.admit().unwrap_err().is(ErrorCode::ShuttingDown));
    }
}
