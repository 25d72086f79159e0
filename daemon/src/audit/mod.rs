//! The audit log: an append-only, hash-chained record of what this daemon did, in its state folder.
//!
//! ```text
//!                        Audit::record_before(event)?   refused where it cannot be written
//!  run, server, session ─┤                                                                    ┌─ folder    files, rights
//!                        Audit::record(event)           counted where it cannot be written ─► writer ─ resume     after a crash
//!                                                                                             └─ retention what is old
//!  brattice audit  ◄── the files themselves            methods::audit ◄── tail ◄── the files, from their end
//! ```
//!
//! The writer has one of three states:
//!
//! ```text
//!            resume                    the file is gone, another, shorter or longer
//!  closed ───────────► open ──────────────────────────────────────► open, on a new file
//!    ▲ each attempt     │ ▲
//!    └──── fails        │ └── each attempt: a line for what was lost, then the event
//!                       └──► failing (disk full, read-only, no right)
//! ```
//!
//! **A write is one write(2) under a mutex, from wherever the event happens.** It goes to the page cache: 2 to 5 µs, less
//! than it takes to hand the event to a thread, and with a queue the answer to a client could come before its line. A
//! file system that stalls holds up the daemon; so does every other write to its state folder.
//!
//! **Nothing is synced.** What was written survives the daemon's death however that comes, since it is the kernel's by
//! then. A machine that loses power loses the last lines (up to 30 s of them), and with them the processes that they
//! tell of. An fsync per line would cost each call milliseconds and two calls a disk their independence.
//!
//! One process writes: [`Audit::open`] wants the locked state folder. What lines look like, and how a change in them is
//! found, is `brattice_protocol::audit`'s.

mod backwards;
mod current;
mod error;
mod folder;
mod resume;
mod retention;
mod tail;
#[cfg(test)]
mod tests;
mod writer;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use brattice_protocol::audit::{Event, FOLDER, Head};
use tokio::sync::watch;

use crate::fault::chain;
use crate::state::StateFolder;

pub(crate) use error::AuditError;
pub(crate) use tail::{Told, Wanted};

use folder::LogFolder;
use writer::{Bounds, Writer};

/// The log of this daemon.
#[derive(Debug)]
pub(crate) struct Audit {
    folder: LogFolder,
    state: Mutex<State>,
    /// The number of the last line.
    written: watch::Sender<u64>,
}

#[derive(Debug)]
struct State {
    writer: Writer,
    standing: Standing,
}

/// Whether the log can be written, as far as the last attempt tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Its end; none before it could be opened.
    pub(crate) head: Option<Head>,
    /// Why it cannot be written.
    pub(crate) fault: Option<String>,
    /// What it is to tell once it can.
    pub(crate) loss: Option<Loss>,
}

/// Events that happened and could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// How many.
    pub(crate) events: u64,
    /// When the first of them happened, in milliseconds since 1970.
    since: u64,
    /// Why it could not be written.
    reason: String,
}

impl Audit {
    /// The log in this state folder. Where it cannot be opened that is logged, and tried again with each event: tasks of an
    /// earlier daemon must be seen to even then.
    pub(crate) fn open(state: &StateFolder) -> Self {
        Audit::with_bounds(state, Bounds::DEFAULT)
    }

    fn with_bounds(state: &StateFolder, bounds: Bounds) -> Self {
        let folder = LogFolder::new(state.path().join(FOLDER));
        let mut writer = Writer::new(folder.clone(), bounds);
        let mut standing = Standing::default();
        if let Err(error) = writer.prepare() {
            standing.fail(&error);
        }
        standing.head = writer.head();
        let written = watch::Sender::new(standing.head.map_or(0, |head| head.seq));
        Audit { folder, state: Mutex::new(State { writer, standing }), written }
    }

    /// Writes down what is about to happen and must not where it cannot be written down.
    ///
    /// # Errors
    /// The log cannot be written: whatever the event tells of is to be refused.
    pub(crate) fn record_before(&self, event: &Event) -> Result<(), AuditError> {
        self.state().write(event, now(), &self.written)
    }

    /// Writes down what happens whether or not it can be written down. What cannot is counted, and the log tells how many
    /// events it misses as soon as it can be written again.
    pub(crate) fn record(&self, event: &Event) {
        let (mut state, now) = (self.state(), now());
        if let Err(error) = state.write(event, now, &self.written) {
            state.standing.lose(now, &error);
        }
    }

    /// Whether it can be written, and its end.
    pub(crate) fn standing(&self) -> Standing {
        self.state().standing.clone()
    }

    /// The newest line's number, which can be waited for.
    pub(crate) fn written(&self) -> watch::Receiver<u64> {
        self.written.subscribe()
    }

    /// Lines of the log, read from its files. Blocks.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn tail(&self, wanted: Wanted) -> Result<Told, AuditError> {
        tail::tell(&self.folder, wanted)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn write(
        &mut self,
        event: &Event,
        now: u64,
        written: &watch::Sender<u64>,
    ) -> Result<(), AuditError> {
        let State { writer, standing } = self;
        let gap = standing.loss.as_ref().map(Loss::event);
        match writer.write(gap.as_ref(), event, now) {
            Ok(head) => {
                standing.succeed(head);
                written.send_replace(head.seq);
                Ok(())
            }
            Err(error) => {
                standing.fail(&error);
                Err(error)
            }
        }
    }
}

impl Standing {
    fn fail(&mut self, error: &AuditError) {
        let fault = chain(error);
        if self.fault.is_none() {
            tracing::error!(error = %fault, "the audit log cannot be written; commands are refused");
        }
        self.fault = Some(fault);
    }

    fn lose(&mut self, now: u64, error: &AuditError) {
        let first = || Loss { events: 0, since: now, reason: chain(error) };
        self.loss.get_or_insert_with(first).events += 1;
    }

    fn succeed(&mut self, head: Head) {
        let lost = self.loss.take().map_or(0, |loss| loss.events);
        if self.fault.take().is_some() {
            tracing::warn!(lost, "the audit log can be written again");
        }
        self.head = Some(head);
    }
}

impl Loss {
    fn event(&self) -> Event {
        Event::Gap { lost: self.events, since: self.since, reason: self.reason.clone() }
    }
}

/// Milliseconds since 1970 by the machine's clock.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
