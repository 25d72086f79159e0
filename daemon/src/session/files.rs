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
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brattice_files::Fingerprint;
use brattice_policy::{LeftoverRule, Mode, Profile, Root};
use brattice_protocol::TaskId;

use super::command::StartError;
use super::session::Session;
use crate::exec::spec::{Placement, Program, Stdin, Streams, TaskSpec};
use crate::exec::{RunError, Supervisor, TaskHandle};
use crate::files::{Answer, Client, Request, WorkerGone};
use crate::workers::{Interrupted, Lane};

/// Between SIGTERM and SIGKILL: a worker undoes what it has begun when its socket closes, before any signal.
const GRACE: Duration = Duration::from_secs(2);

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
    seen: Mutex<Seen>,
}

/// A worker. It ends when nobody has its line any more.
#[derive(Debug)]
pub(super) struct Worker {
    client: Client,
    /// What holds it for life.
    held: HeldBy,
    /// Keeps the way to its end open.
    _task: TaskHandle,
}

/// What a worker was started under. Where the session's is another by now, the worker is one of the past: something was
/// hidden since, or a root is another folder of the same name.
#[derive(Debug, PartialEq, Eq)]
struct HeldBy {
    profile: Profile,
    /// Device and inode of each root that is there.
    roots: Vec<Option<(u64, u64)>>,
}

impl HeldBy {
    /// Blocks: a root may be on a file system that answers late.
    fn now(profile: Profile) -> Self {
        let inode = |root: &Root| std::fs::metadata(&root.path).ok();
        let inode = |root| inode(root).map(|found| (found.dev(), found.ino()));
        HeldBy { roots: profile.roots.iter().map(inode).collect(), profile }
    }
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
        // A start is not given up half-way: its task would run without anybody who knows it.
        let session = self.clone();
        let worker = tokio::spawn(async move { session.file_worker(mode).await });
        let client = worker.await.map_err(FilesError::Interrupted)??;
        Ok(client.call(request).await?)
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
    pub(crate) fn journal(&self, mode: Mode) -> PathBuf {
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
        let serves = |worker: &&Worker| !worker.client.is_gone() && worker.held == held;
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
        let look = self.shared.workers.run(Lane::Elsewhere, move || HeldBy::now(profile));
        look.await.map_err(FilesError::Looked)
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
        let words = ["/proc/self/exe", "files"];
        let spec = TaskSpec {
            task: TaskId::new(format!("files-{number}")),
            profile: held.profile.clone(),
            layers: self.layers_of(mode),
            program: Program::Argv(words.map(str::to_owned).into()),
            cwd: PathBuf::from("/"),
            environment: Vec::new(),
            stdin: Stdin::Socket,
            streams: Streams::Merged,
            timeout: None,
            idle_timeout: None,
            grace: GRACE,
            placement: Placement::Foreground,
            leftovers: LeftoverRule::Stop,
        };
        let task = supervisor.run(spec).await.map_err(FilesError::Worker)?;
        let socket = task.take_socket().ok_or(WorkerGone)?;
        let client = Client::new(socket).map_err(FilesError::Socket)?;
        Ok(Worker { client, held, _task: task })
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
