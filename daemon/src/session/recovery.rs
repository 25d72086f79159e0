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

use super::files::{FilesError, READ_ONLY, UNCONFINED};
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

/// Whether there is something in a journal of this session. Blocks.
pub(super) fn is_unfinished(folder: &SessionFolder) -> bool {
    let own = [JOURNAL, UNCONFINED].map(|name| folder.path().join(name));
    own.into_iter().chain([folder.temp().join(READ_ONLY)]).any(|journal| has_entries(&journal))
}

fn has_entries(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        // What cannot be looked at is not taken for nothing.
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

impl Session {
    /// Has what dead workers left put in order, where there is something.
    pub(super) async fn recover_files(&self) {
        let own = self.own_mode();
        let mut unfinished = Vec::new();
        // What a wider mode began waits for it.
        for mode in Mode::ALL.into_iter().filter(|mode| *mode <= own) {
            let journal = self.journal(mode);
            let look = {
                let journal = journal.clone();
                move || has_entries(&journal)
            };
            if self.shared.workers.run(Lane::State, look).await.unwrap_or(true) {
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
