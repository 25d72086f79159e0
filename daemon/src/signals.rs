//! Signals to the daemon: SIGTERM and SIGINT ask for its end, SIGHUP for its configuration to be read again.
//!
//! All three are caught rather than ignored, because an ignored signal stays ignored in every command.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// The end.
    End,
    /// The configuration is to be read again.
    Reload,
}

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

    /// Returns at the next signal.
    pub(crate) async fn next(&mut self) -> Asked {
        tokio::select! {
            _ = self.terminate.recv() => Asked::End,
            _ = self.interrupt.recv() => Asked::End,
            _ = self.hang_up.recv() => Asked::Reload,
        }
    }

    /// Returns at the next SIGTERM or SIGINT. An ending daemon has no use for a configuration.
    pub(crate) async fn ask_for_the_end(&mut self) {
        while self.next().await == Asked::Reload {}
    }
}
