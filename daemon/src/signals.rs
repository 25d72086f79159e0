//! Signals to the daemon: SIGTERM and SIGINT ask for its end, SIGHUP does nothing in a version without configuration.
//!
//! All three are caught rather than ignored, because an ignored signal stays ignored in every command.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals, caught from now on.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Catches them. Called inside the runtime.
    ///
    /// # Errors
    /// The kernel takes no handler.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Returns at the next SIGTERM or SIGINT.
    pub(crate) async fn ask_for_the_end(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hang_up.recv() => tracing::info!("SIGHUP has no effect"),
            }
        }
    }
}
