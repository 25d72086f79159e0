//! Telling whoever started the daemon how it is: a line on stdout once it serves, and systemd throughout.
//!
//! ```text
//!  READY on stdout
//!  READY=1 ──▶ (RELOADING=1 ──▶ READY=1)… ──▶ STOPPING=1      to NOTIFY_SOCKET: notifier
//!     └── WATCHDOG=1, twice in WATCHDOG_USEC ──▶              from the runtime's threads: watchdog
//! ```
//!
//! Nobody has to listen: a socket that is not there any more is logged and otherwise ignored.

mod notifier;
mod watchdog;

use std::io::{self, Write as _};

pub(crate) use notifier::{News, Notifier};
pub(crate) use watchdog::watch;

/// Why nobody was told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadyError {
    /// Standard output is closed.
    #[error("cannot say READY on stdout")]
    Stdout(#[source] io::Error),
}

/// Says that the daemon serves.
pub(crate) fn say(notifier: &Notifier) -> Result<(), ReadyError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "READY").and_then(|()| stdout.flush()).map_err(ReadyError::Stdout)?;
    notifier.tell(News::Ready);
    Ok(())
}
