//! A session's file workers, and what its client has seen of files.
//!
//! ```text
//! none ── a tool is called in a mode ──► starting ── recovered ──► serving ── its socket closes, or the rules are others ──► none
//! ```
//!
//! There is one worker for each mode that a tool was called in, so that a call that was allowed more runs beside the others in
//! exactly its own. They are tasks of the session's supervisor that no list shows. What a client has seen is held in memory
//! only: after a restart of the daemon a file must be read again before it is changed, and the refusal says so.
//!
//! A recovery does what the journal says, in the mode of its worker. So nobody may write to a journal who may do less: each mode
//! has a folder of its own, `read-only` in the private temporary one, `workspace-write` in one that is granted to it alone, and
//! `danger-full-access` where no confined command reaches.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use brattice_files::Fingerprint;
use brattice_policy::Mode;
use brattice_protocol::{CallId, TaskId};

use super::command::StartError;
use super::held_by::{self, HeldBy};
use super::session::Session;
use crate::approval::Permit;
use crate::exec::{RunError, Supervisor, TaskHandle};
use crate::files::{Answer, Client, Request};
use crate::line::WorkerGone;
use crate::workers::{Interrupted, Lane};

/// Files whose content a session remembers. Beyond those the one that was seen first must be read again.
const MOST_SEEN: usize = 4096;

/// The journal of `read-only`, in the session's private temporary folder, which is all that it may write to.
pub(super) const READ_ONLY: &str = ".brattice-files";

/// The journal of the mode that nothing confines, in the session's own folder.
pub(super) const UNCONFINED: &str = "files";

/// Why a file tool did nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilesError {
    /// The session starts nothing.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The worker could not be started.
    #[error("the process that works on files cannot be started")]
    Worker(#[source] RunError),
    /// Its socket is of no use.
    #[error("the process that works on files cannot be reached")]
    Socket(#[source] std::io::Error),
    /// It ended in the middle.
    #[error(transparent)]
    Gone(#[from] WorkerGone),
    /// A thread of the daemon's ended early.
    #[error("looking at the session's folders was interrupted")]
    Looked(#[source] Interrupted),
    /// The same.
    #[error("starting the process that works on files was interrupted")]
    Interrupted(#[source] tokio::task::JoinError),
}

/// The workers of a session.
#[derive(Debug, Default)]
pub(super) struct FileWorkers {
    /// Those that serve. Held while one is started, so that there is one of a mode.
    of_mode: tokio::sync::Mutex<HashMap<Mode, Worker>>,
    started: AtomicU64,
    /// Held while what dead workers left is put in order: a supervisor that was started for that alone has ended by then.
    pub(super) recovery: tokio::sync::Mutex<()>,
    seen: Mutex<Seen>,
}

/// A worker. It ends when nobody has its line any more.
#[derive(Debug)]
pub(super) struct Worker {
    client: Client,
    /// What holds it for life.
    held: Arc<HeldBy>,
    /// Keeps the way to its end open.
    _task: TaskHandle,
}

impl Worker {
    /// The line to it.
    pub(super) fn client(&self) -> &Client {
        &self.client
    }
}

/// Contents by path, the oldest of them first forgotten.
#[derive(Debug, Default)]
struct Seen {
    contents: HashMap<PathBuf, (u64, Fingerprint)>,
    next: u64,
}

impl Seen {
    fn note(&mut self, path: PathBuf, fingerprint: Fingerprint) {
        self.next += 1;
        self.contents.insert(path, (self.next, fingerprint));
        if self.contents.len() > MOST_SEEN {
            let oldest = self.contents.iter().min_by_key(|(_, (number, _))| *number);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                self.contents.remove(&path);
            }
        }
    }
}

impl Session {
    /// Has the worker of this mode do something. Dropped, it is withdrawn.
    ///
    /// # Errors
    /// See [`FilesError`].
    pub(crate) async fn on_files(
        self: &Arc<Self>,
        mode: Mode,
        request: Request,
    ) -> Result<Answer, FilesError> {
        self.admit_mode(mode)?;
        let request = request.with_journal(self.journal(mode));
        let only_reads = request.only_reads();
        if only_reads && let Some(answer) = self.read_at_once(mode, &request).await? {
            return Ok(answer);
        }
        // A start is not given up half-way: its task would run without anybody who knows it.
        let session = self.clone();
        let worker = tokio::spawn(async move { session.file_worker(mode).await });
        let client = worker.await.map_err(FilesError::Interrupted)??;
        // It may have taken a while, in which plan mode began.
        self.admit_mode(mode)?;
        let answer = client.call(request).await;
        if answer.is_err() && !only_reads {
            // The session's next call may be in another mode, whose worker knows nothing of this one's journal.
            let session = self.clone();
            tokio::spawn(async move { session.file_worker(mode).await.map(drop) });
        }
        Ok(answer?)
    }

    /// What the worker that serves answers to a request that changes nothing; while it does so it is found out whether it
    /// is still held by what it should be. `None` where it is not, or none serves.
    async fn read_at_once(
        &self,
        mode: Mode,
        request: &Request,
    ) -> Result<Option<Answer>, FilesError> {
        let serving = {
            let workers = self.files.of_mode.lock().await;
            let worker = workers.get(&mode).filter(|worker| !worker.client.is_gone());
            worker.map(|worker| (worker.client.clone(), worker.held.clone()))
        };
        let Some((client, held)) = serving else { return Ok(None) };
        // The worker is on its way while its rules are looked at.
        let (answer, now) = tokio::join!(client.call(request.clone()), self.held_by(mode));
        Ok(if now? == *held { Some(answer?) } else { None })
    }

    /// Has the worker of the mode that a person allowed do what they allowed, once. Dropped, it is withdrawn.
    ///
    /// # Errors
    /// See [`FilesError`].
    pub(crate) async fn on_files_permitted(
        self: &Arc<Self>,
        allowed: (Permit, Mode),
        request: Request,
        call: &CallId,
    ) -> Result<Answer, FilesError> {
        let mode = self.authorise_change(allowed, &request, call).await?;
        self.on_files(mode, request).await
    }

    /// Starts no more workers, and has those that there are end: they undo what they have begun.
    pub(super) async fn end_file_workers(&self) {
        self.files.of_mode.lock().await.clear();
    }

    /// Forgets the workers, which have ended or are about to.
    pub(super) async fn forget_file_workers(&self) -> Vec<Client> {
        let workers = std::mem::take(&mut *self.files.of_mode.lock().await);
        workers.into_values().map(|worker| worker.client).collect()
    }

    /// The folder of a mode's journal.
    pub(super) fn journal(&self, mode: Mode) -> PathBuf {
        match mode {
            Mode::ReadOnly => self.profile().temp.join(READ_ONLY),
            Mode::WorkspaceWrite => self.profile().journal(),
            Mode::DangerFullAccess => self.setup.folder.path().join(UNCONFINED),
        }
    }

    /// Notes the content that a file has, as the client has seen or made it. The path is without links.
    pub(crate) fn saw(&self, path: &Path, fingerprint: Fingerprint) {
        self.seen().note(path.to_owned(), fingerprint);
    }

    /// The content that the client has seen last.
    pub(crate) fn seen_content(&self, path: &Path) -> Option<Fingerprint> {
        self.seen().contents.get(path).map(|(_, fingerprint)| *fingerprint)
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.files.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn file_worker(&self, mode: Mode) -> Result<Client, FilesError> {
        let mut workers = self.files.of_mode.lock().await;
        let held = self.held_by(mode).await?;
        let serves = |worker: &&Worker| !worker.client.is_gone() && *worker.held == held;
        if let Some(worker) = workers.get(&mode).filter(serves) {
            return Ok(worker.client.clone());
        }
        let worker = self.start_worker(mode).await?;
        let client = worker.client.clone();
        self.put_in_order(&client, self.journal(mode)).await?;
        workers.insert(mode, worker);
        Ok(client)
    }

    async fn held_by(&self, mode: Mode) -> Result<HeldBy, FilesError> {
        let profile = self.profile().with_mode(mode);
        if let Some(roots) = held_by::roots_at_once(&profile) {
            return Ok(HeldBy { profile, roots });
        }
        let look = move || HeldBy { roots: held_by::roots(&profile), profile };
        self.shared.workers.run(Lane::Elsewhere, look).await.map_err(FilesError::Looked)
    }

    async fn start_worker(&self, mode: Mode) -> Result<Worker, FilesError> {
        self.admit()?;
        if let Some(fault) = &self.unfit {
            return Err(StartError::Unfit(fault.to_string()).into());
        }
        self.run_worker(&self.supervisor().await?, mode).await
    }

    /// Starts a worker, whatever the session admits.
    pub(super) async fn run_worker(
        &self,
        supervisor: &Supervisor,
        mode: Mode,
    ) -> Result<Worker, FilesError> {
        let held = self.held_by(mode).await?;
        let number = self.files.started.fetch_add(1, Ordering::Relaxed) + 1;
        let task = TaskId::new(format!("files-{number}"));
        let started = self.start_role(supervisor, task, "files", held.profile.clone()).await;
        let (task, socket) = started.map_err(FilesError::Worker)?;
        let socket = socket.ok_or(WorkerGone)?;
        let client = Client::new(socket).map_err(FilesError::Socket)?;
        Ok(Worker { client, held: Arc::new(held), _task: task })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_content_of_a_file_counts_and_the_oldest_file_is_forgotten() {
        let mut seen = Seen::default();
        let (one, two) = (Fingerprint::of(b"1"), Fingerprint::of(b"2"));
        seen.note("/f".into(), one);
        seen.note("/g".into(), one);
        seen.note("/f".into(), two);
        assert_eq!(seen.contents[Path::new("/f")].1, two);
        for number in 0..MOST_SEEN - 1 {
            seen.note(format!("/{number}").into(), one);
        }
        assert!(!seen.contents.contains_key(Path::new("/g")));
        assert!(seen.contents.contains_key(Path::new("/f")));
    }
}
