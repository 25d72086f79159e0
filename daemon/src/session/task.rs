//! A task as a session knows it: a handle of `exec` while it runs, and what can still be read once it has ended.
//!
//! ```text
//! Live ──ended──► Kept      the spools' descriptors are let go (`kept`)
//!   └──lost, much printed──► Live      nobody says where its spools are; at most as many as ran when the supervisor died
//! ```

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_protocol::tools::Stream;
use tokio::task::{JoinError, spawn_blocking};

use crate::exec::spec::{Chunk, Progress, TaskEnd};
use crate::exec::{InputEnd, InputError, ReadError, StopReason, TaskHandle};

use super::kept::Kept;
use super::tasks::Entry;

/// A task that was started. Clones are the same task.
#[derive(Clone, Debug)]
pub(crate) struct Task(Arc<Known>);

#[derive(Debug)]
struct Known {
    id: TaskId,
    is_stopping: AtomicBool,
    state: Mutex<State>,
}

#[derive(Clone, Debug)]
enum State {
    Live(TaskHandle),
    Kept(Arc<Kept>),
}

/// Why output cannot be told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OutputError {
    /// The spool cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The thread that read it ended early.
    #[error("reading the output was interrupted")]
    Interrupted(#[source] JoinError),
}

impl Task {
    pub(super) fn new(handle: TaskHandle) -> Self {
        Task(Arc::new(Known {
            id: handle.id().clone(),
            is_stopping: AtomicBool::new(false),
            state: Mutex::new(State::Live(handle)),
        }))
    }

    /// Its id.
    pub(crate) fn id(&self) -> &TaskId {
        &self.0.id
    }

    /// Has the whole tree stopped. Returns at once; nothing happens to a task that has ended.
    pub(crate) fn stop(&self, reason: StopReason) {
        if let State::Live(handle) = self.state() {
            self.0.is_stopping.store(true, Ordering::SeqCst);
            handle.stop(reason);
        }
    }

    /// How it ended, once nothing of it is left.
    pub(crate) async fn ended(&self) -> Arc<TaskEnd> {
        match self.state() {
            State::Live(handle) => handle.ended().await,
            State::Kept(kept) => kept.end.clone(),
        }
    }

    /// How it ended, if it has.
    pub(crate) fn try_ended(&self) -> Option<Arc<TaskEnd>> {
        match self.state() {
            State::Live(handle) => handle.try_ended(),
            State::Kept(kept) => Some(kept.end.clone()),
        }
    }

    /// How far its streams have grown, as far as is known.
    pub(crate) fn progress(&self) -> Progress {
        match self.state() {
            State::Live(handle) => handle.progress(),
            State::Kept(kept) => kept.progress(),
        }
    }

    /// Returns as soon as its progress differs from `seen`, or it has ended.
    pub(crate) async fn progress_beyond(&self, seen: Progress) -> Progress {
        match self.state() {
            State::Live(handle) => handle.progress_beyond(seen).await,
            State::Kept(kept) => kept.progress(),
        }
    }

    /// At most `limit` bytes of a stream from `offset` on. What may be on a disk is read by a thread that may wait.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub(crate) async fn read(
        &self,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Result<Chunk, OutputError> {
        let reading = match self.state() {
            State::Kept(kept) if kept.is_in_memory(stream) => {
                return Ok(kept.read(stream, offset, limit)?);
            }
            State::Kept(kept) => spawn_blocking(move || kept.read(stream, offset, limit)),
            State::Live(handle) => spawn_blocking(move || handle.read(stream, offset, limit)),
        };
        Ok(reading.await.map_err(OutputError::Interrupted)??)
    }

    /// Writes to its standard input; returns once its pipe has taken all.
    ///
    /// # Errors
    /// There is no input, or it is closed.
    pub(crate) async fn input(&self, data: Vec<u8>, end: InputEnd) -> Result<(), InputError> {
        match self.state() {
            State::Live(handle) => handle.input(data, end).await,
            State::Kept(_) => Err(InputError::Closed),
        }
    }

    /// Its state, as the tools name it.
    pub(crate) fn status(&self) -> TaskStatus {
        match self.try_ended() {
            Some(end) => status_after(end.cause),
            None if self.0.is_stopping.load(Ordering::SeqCst) => TaskStatus::Stopping,
            None => TaskStatus::Running,
        }
    }

    /// Lets go of the descriptors of a task that has ended.
    pub(super) fn keep(&self) {
        if let State::Live(handle) = self.state()
            && let Some(kept) = handle.try_ended().and_then(|end| Kept::of(&handle, end))
        {
            *self.locked() = State::Kept(Arc::new(kept));
        }
    }

    fn state(&self) -> State {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry for Task {
    fn has_ended(&self) -> bool {
        self.try_ended().is_some()
    }

    fn bytes_on_disk(&self) -> u64 {
        self.try_ended().map_or(0, |end| files(&end).map(|(_, bytes)| bytes).sum())
    }

    fn discard(&self) {
        let Some(end) = self.try_ended() else {
            return;
        };
        let task = self.id().clone();
        spawn_blocking(move || {
            for (path, _) in files(&end) {
                if let Err(error) = std::fs::remove_file(path)
                    && error.kind() != io::ErrorKind::NotFound
                {
                    tracing::warn!(%task, path = %path.display(), %error, "output cannot be removed");
                }
            }
        });
    }
}

/// The files that hold an ended task's output, and how much each does.
fn files(end: &TaskEnd) -> impl Iterator<Item = (&Path, u64)> {
    [Some(&end.stdout), end.stderr.as_ref()].into_iter().flatten().filter_map(|stream| {
        let lost = stream.lost.as_ref().map_or(0, |lost| lost.bytes);
        let dropped = stream.dropped.1.saturating_sub(stream.dropped.0);
        let bytes = stream.bytes.saturating_sub(lost).saturating_sub(dropped);
        Some((stream.file.as_deref()?, bytes))
    })
}

/// The state of a task that ended so (tools, "Background tasks").
const fn status_after(cause: Cause) -> TaskStatus {
    match cause {
        Cause::Exited => TaskStatus::Completed,
        Cause::Signaled | Cause::TimedOut | Cause::Killed | Cause::OomKilled => TaskStatus::Killed,
        Cause::FailedToStart | Cause::Lost | Cause::Rejected => TaskStatus::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::spec::StreamEnd;
    use brattice_policy::Mode;
    use brattice_protocol::outcome::Lost;
    use std::time::Duration;

    #[test]
    fn what_is_on_disk_is_what_was_neither_dropped_nor_lost() {
        let lost = Lost { bytes: 3, error: "ENOSPC".to_owned() };
        let stdout = StreamEnd {
            bytes: 100,
            dropped: (40, 60),
            file: Some("/s/bash-1.stdout".into()),
            lost: Some(lost),
        };
        let end = TaskEnd {
            cause: Cause::Exited,
            exit_code: Some(0),
            signal: None,
            reason: None,
            duration: Duration::ZERO,
            user: Duration::ZERO,
            sys: Duration::ZERO,
            max_rss: 0,
            stdout,
            stderr: Some(StreamEnd { bytes: 5, ..StreamEnd::default() }),
            leftovers: None,
            unkillable: Vec::new(),
            mode: Mode::ReadOnly,
            layers: brattice_policy::layer::LayerReport::default(),
        };
        let files: Vec<_> = files(&end).collect();
        assert_eq!(files, [(Path::new("/s/bash-1.stdout"), 77)]);
    }

    #[test]
    fn a_state_follows_from_the_cause() {
        assert_eq!(status_after(Cause::Exited), TaskStatus::Completed);
        assert_eq!(status_after(Cause::TimedOut), TaskStatus::Killed);
        assert_eq!(status_after(Cause::Lost), TaskStatus::Failed);
    }
}
