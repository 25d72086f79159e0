//! A task as a session knows it: a handle of `exec` while it runs, and what can still be read once it has ended.
//!
//! ```text
//! Live ──ended, its output in memory──► Kept      the spool's descriptors are let go
//!   └────ended, its output in a file──► Live      the spool knows what it dropped, so it goes on answering
//! ```
//!
//! A session remembers many ended tasks, and most have printed little. Those hold no descriptor.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_protocol::tools::Stream;

use crate::exec::spec::{Chunk, Progress, StreamEnd, TaskEnd};
use crate::exec::{InputEnd, InputError, ReadError, StopReason, TaskHandle};

use super::tasks::Ends;

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

/// What is left of a task that ended and had printed little.
#[derive(Debug)]
struct Kept {
    end: Arc<TaskEnd>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
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

    /// At most `limit` bytes of a stream from `offset` on.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub(crate) fn read(
        &self,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Result<Chunk, ReadError> {
        match self.state() {
            State::Live(handle) => handle.read(stream, offset, limit),
            State::Kept(kept) => Ok(kept.read(stream, offset, limit)),
        }
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

    /// Lets go of the spool of a task that has ended, where its bytes fit into memory.
    pub(crate) fn keep(&self) {
        let State::Live(handle) = self.state() else {
            return;
        };
        let Some(end) = handle.try_ended() else {
            return;
        };
        let read = |stream, end: Option<&StreamEnd>| match end {
            Some(end) if end.file.is_none() && end.lost.is_none() => whole(&handle, stream, end),
            Some(_) => None,
            None => Some(Vec::new()),
        };
        let stdout = read(Stream::Stdout, Some(&end.stdout));
        let stderr = read(Stream::Stderr, end.stderr.as_ref());
        if let (Some(stdout), Some(stderr)) = (stdout, stderr) {
            *self.locked() = State::Kept(Arc::new(Kept { end, stdout, stderr }));
        }
    }

    /// [`Task::keep`], once it has ended.
    pub(crate) async fn keep_when_ended(self) {
        self.ended().await;
        self.keep();
    }

    fn state(&self) -> State {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ends for Task {
    fn has_ended(&self) -> bool {
        self.try_ended().is_some()
    }
}

impl Kept {
    fn progress(&self) -> Progress {
        let (stdout, stderr) = (self.stdout.len() as u64, self.stderr.len() as u64);
        Progress { stdout, stderr, ended: true }
    }

    fn read(&self, stream: Stream, offset: u64, limit: usize) -> Chunk {
        let bytes = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        let from = usize::try_from(offset).map_or(bytes.len(), |from| from.min(bytes.len()));
        let data = bytes[from..bytes.len().min(from.saturating_add(limit))].to_vec();
        Chunk { data, offset, skipped: 0 }
    }
}

/// All bytes of a stream, if that is what the spool gives.
fn whole(handle: &TaskHandle, stream: Stream, end: &StreamEnd) -> Option<Vec<u8>> {
    if end.bytes == 0 {
        return Some(Vec::new());
    }
    let length = usize::try_from(end.bytes).ok()?;
    let chunk = handle.read(stream, 0, length).ok()?;
    (chunk.offset == 0 && chunk.data.len() == length).then_some(chunk.data)
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
    use brattice_policy::Mode;
    use std::time::Duration;

    fn kept() -> Kept {
        let end = TaskEnd {
            cause: Cause::Exited,
            exit_code: Some(0),
            signal: None,
            reason: None,
            duration: Duration::ZERO,
            user: Duration::ZERO,
            sys: Duration::ZERO,
            max_rss: 0,
            stdout: StreamEnd { bytes: 5, ..StreamEnd::default() },
            stderr: None,
            leftovers: None,
            unkillable: Vec::new(),
            mode: Mode::ReadOnly,
            layers: brattice_policy::layer::LayerReport::default(),
        };
        Kept { end: Arc::new(end), stdout: b"hello".to_vec(), stderr: Vec::new() }
    }

    #[test]
    fn kept_output_is_read_by_offset() {
        let kept = kept();
        let read = |stream, offset, limit| {
            let Chunk { data, offset, skipped } = kept.read(stream, offset, limit);
            (String::from_utf8(data).unwrap(), offset, skipped)
        };
        assert_eq!(read(Stream::Stdout, 0, 100), ("hello".to_owned(), 0, 0));
        assert_eq!(read(Stream::Stdout, 1, 3), ("ell".to_owned(), 1, 0));
        assert_eq!(read(Stream::Stdout, 5, 3), (String::new(), 5, 0));
        assert_eq!(read(Stream::Stdout, u64::MAX, 3), (String::new(), u64::MAX, 0));
        assert_eq!(read(Stream::Stderr, 0, 3), (String::new(), 0, 0));
        assert_eq!(kept.progress(), Progress { stdout: 5, stderr: 0, ended: true });
    }

    #[test]
    fn a_state_follows_from_the_cause() {
        assert_eq!(status_after(Cause::Exited), TaskStatus::Completed);
        assert_eq!(status_after(Cause::TimedOut), TaskStatus::Killed);
        assert_eq!(status_after(Cause::Lost), TaskStatus::Failed);
    }
}
