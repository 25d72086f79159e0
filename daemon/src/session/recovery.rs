//! Changes of files that nobody finished: put in order by a worker of the mode that began them, which does nothing else.
//!
//! ```text
//! worker died ──► the next call's worker does it first (`files`)
//! supervisor was killed ──► another one is started for this alone; the session stays lost
//! daemon died ──► the next one does it when it takes the session over, lost or not
//! session closes ──► before its folder, and the journal in it, is removed
//! ```

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brattice_files::{Recovered, State};
use brattice_policy::Mode;
use brattice_policy::profile::JOURNAL;
use rustix::fs::{Dir, Mode as FileMode, OFlags};
use rustix::io::Errno;

use super::files::{FilesError, UNCONFINED};
use super::folder::SessionFolder;
use super::session::Session;
use super::supervision::{self, Link};
use crate::exec::Supervisor;
use crate::fault::chain;
use crate::files::{Answer, Client, Request};
use crate::workers::Lane;

/// How long a worker that is being killed, with its supervisor, say, may take to end.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks at a journal whose writer is about to end.
const PAUSE: Duration = Duration::from_millis(20);

/// Whether there is something in a journal of this session of which the files are not all its own. That of `read-only` is
/// among them, and so is all that it is about: it goes with them, whatever commands put there. Blocks.
pub(super) fn is_unfinished(folder: &SessionFolder) -> bool {
    // What cannot be looked at is not taken for nothing.
    let has_entries = |name| has_entries(&folder.path().join(name)).unwrap_or(true);
    [JOURNAL, UNCONFINED].into_iter().any(has_entries)
}

/// Whether there is anything in a folder. A link is not followed: it may lead to where nobody answers.
fn has_entries(folder: &Path) -> io::Result<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match rustix::fs::open(folder, flags, FileMode::empty()) {
        Err(Errno::NOENT) => return Ok(false),
        opened => opened?,
    };
    for entry in Dir::new(folder)? {
        if ![c".", c".."].contains(&entry?.file_name()) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Session {
    /// Has what dead workers left put in order, where there is something. One does it at a time: a session that closes waits
    /// for the end of what its supervisor's death began, in the folder that is about to go.
    pub(super) async fn recover_files(&self) {
        let _one = self.files.recovery.lock().await;
        let ceiling = self.ceiling().mode;
        let mut unfinished = Vec::new();
        // Also what a person had allowed in a mode wider than the session's: nobody who may do less writes to its journal.
        for mode in Mode::ALL.into_iter().filter(|mode| *mode <= ceiling) {
            let journal = self.journal(mode);
            let look = {
                let journal = journal.clone();
                move || has_entries(&journal)
            };
            let found = self.shared.workers.run(Lane::State, look).await;
            // What commands have put in the place of theirs is no journal.
            let unknown = mode > Mode::ReadOnly;
            if found.map_or(unknown, |found| found.unwrap_or(unknown)) {
                unfinished.push((mode, journal));
            }
        }
        if unfinished.is_empty() {
            return;
        }
        if let Err(error) = self.recover(unfinished).await {
            tracing::warn!(session = %self.id(), error = %chain(&error), "changes of files that were interrupted are still to be put in order");
        }
    }

    async fn recover(&self, unfinished: Vec<(Mode, PathBuf)>) -> Result<(), FilesError> {
        match self.supervision.link() {
            Link::Live(supervisor) => self.recover_under(&supervisor, unfinished).await,
            Link::Dormant => {
                let supervisor = self.supervisor().await?;
                self.recover_under(&supervisor, unfinished).await
            }
            Link::Lost => {
                let started = supervision::start(&self.grounds, &self.shared, &self.setup).await;
                let supervisor = started.map_err(super::command::StartError::Supervisor)?;
                self.shared.know(&supervisor);
                let recovered = self.recover_under(&supervisor, unfinished).await;
                supervisor.close(self.grace()).await;
                recovered
            }
        }
    }

    async fn recover_under(
        &self,
        supervisor: &Supervisor,
        unfinished: Vec<(Mode, PathBuf)>,
    ) -> Result<(), FilesError> {
        for (mode, journal) in unfinished {
            let worker = self.run_worker(supervisor, mode).await?;
            self.put_in_order(worker.client(), journal).await?;
        }
        Ok(())
    }

    /// Has a worker go through a journal. What is wrong with that is logged: the files are what they are. A writer that is being
    /// killed counts as one that lives for a moment, for which it is gone through again.
    pub(super) async fn put_in_order(
        &self,
        client: &Client,
        journal: PathBuf,
    ) -> Result<(), FilesError> {
        let deadline = Instant::now() + END_PATIENCE;
        loop {
            match client.call(Request::Recover { journal: journal.clone() }).await? {
                Answer::Recovered(Ok(recovery))
                    if recovery.live > 0 && Instant::now() < deadline =>
                {
                    tokio::time::sleep(PAUSE).await;
                }
                answer => {
                    self.tell_recovered(&journal, answer);
                    return Ok(());
                }
            }
        }
    }

    /// What is not as it was, or as it was to become, is told by its name.
    fn tell_recovered(&self, journal: &Path, answer: Answer) {
        let (session, journal) = (self.id(), journal.display());
        let recovery = match answer {
            Answer::Recovered(Ok(recovery)) => recovery,
            Answer::Recovered(Err(fault)) => {
                return tracing::warn!(%session, %fault, "the journal of file changes cannot be read");
            }
            _ => return tracing::error!(%session, %journal, "a recovery of file changes failed"),
        };
        if recovery.live > 0 {
            tracing::warn!(%session, %journal, "file changes of a process that does not end are left");
        }
        for Recovered { path, state } in recovery.files {
            let path = path.display();
            match state {
                State::Old | State::New => {}
                State::Foreign { kept } => {
                    tracing::warn!(%session, %path, ?kept, "a file whose change was interrupted was changed by others, and is left");
                }
                State::Unfinished { errno } => {
                    tracing::error!(%session, %path, %errno, "a file whose change was interrupted could not be put in order");
                }
            }
        }
    }

    /// The same after the supervisor was killed, once its workers have ended.
    pub(super) async fn recover_lost_files(&self) {
        let ended = self.forget_file_workers().await;
        let gone = async {
            for client in &ended {
                client.gone().await;
            }
        };
        if tokio::time::timeout(END_PATIENCE, gone).await.is_err() {
            tracing::warn!(session = %self.id(), "a process that works on files has not ended with its supervisor");
        }
        self.recover_files().await;
    }
}
