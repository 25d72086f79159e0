//! A task as a session knows it: a handle of `exec` while it runs, and what can still be read once it has ended.
//!
//! ```text
//! Live ──ended──► Kept      the spools' descriptors are let go (`kept`)
//!   └──lost, much printed──► Live      nobody says where its spools are; at most as many as ran when the supervisor died
//! ```
//!
//! One that a call waited for becomes a background task when its program leaves something that is adopted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use brattice_protocol::TaskId;
use brattice_protocol::task::TaskStatus;
use brattice_protocol::tools::Stream;

use crate::exec::denials::Denials;
use crate::exec::record::Ended;
use crate::exec::spec::{Chunk, Placement, Progress, TaskEnd, TaskFacts, Timestamp, Urgency};
use crate::exec::{Handing, InputEnd, InputError, ReadError, TaskHandle, record};
use crate::workers::{Interrupted, Lane, Workers};

use super::denials::Noted;
use super::kept::Kept;
use super::space::Part;
use super::tasks::Entry;

/// A task that was started. Clones are the same task.
#[derive(Clone, Debug)]
pub(crate) struct Task(Arc<Known>);

#[derive(Debug)]
struct Known {
    facts: TaskFacts,
    /// Its session's folder.
    folder: PathBuf,
    workers: Workers,
    is_background: AtomicBool,
    is_stopping: AtomicBool,
    noted: Noted,
    ended_at: OnceLock<Timestamp>,
    /// Its part of the disk while it runs.
    part: Mutex<Option<Part>>,
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
    Interrupted(#[source] Interrupted),
}

impl Task {
    /// One that runs.
    pub(super) fn live(
        handle: TaskHandle,
        placement: Placement,
        folder: &Path,
        part: Part,
        workers: Workers,
    ) -> Self {
        let (facts, state) = (handle.facts().clone(), State::Live(handle));
        Task::new(facts, placement, (folder, workers), Some(part), state)
    }

    /// One that ended under an earlier daemon.
    pub(super) fn kept(
        facts: TaskFacts,
        folder: &Path,
        Ended { at, end }: Ended,
        workers: Workers,
    ) -> Self {
        let kept = State::Kept(Arc::new(Kept::on_disk(Arc::new(end))));
        let task = Task::new(facts, Placement::Background, (folder, workers), None, kept);
        task.0.ended_at.get_or_init(|| at);
        task
    }

    fn new(
        facts: TaskFacts,
        placement: Placement,
        (folder, workers): (&Path, Workers),
        part: Option<Part>,
        state: State,
    ) -> Self {
        Task(Arc::new(Known {
            facts,
            folder: folder.to_owned(),
            workers,
            is_background: AtomicBool::new(placement == Placement::Background),
            is_stopping: AtomicBool::new(false),
            noted: Noted::default(),
            ended_at: OnceLock::new(),
            part: Mutex::new(part),
            state: Mutex::new(state),
        }))
    }

    /// Its id.
    pub(crate) fn id(&self) -> &TaskId {
        &self.0.facts.task
    }

    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        self.id().number().unwrap_or_default()
    }

    /// What is told of it.
    pub(crate) fn facts(&self) -> &TaskFacts {
        &self.0.facts
    }

    /// It goes on in the background.
    pub(super) fn set_background(&self) {
        self.0.is_background.store(true, Ordering::SeqCst);
    }

    /// Its end was asked for before this daemon knew it.
    pub(super) fn set_stopping(&self) {
        self.0.is_stopping.store(true, Ordering::SeqCst);
    }

    /// Has the whole tree stopped. Returns at once; nothing happens to a task that has ended.
    pub(super) fn stop(&self, by: String, urgency: Urgency) -> Handing {
        match self.state() {
            State::Live(handle) => {
                self.set_stopping();
                handle.stop(by, urgency)
            }
            State::Kept(_) => Handing::nothing(),
        }
    }

    /// Sets the size of its terminal, if it has one and runs.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        if let State::Live(handle) = self.state() {
            handle.resize(rows, cols);
        }
    }

    /// How it ended, once nothing of it is left.
    pub(crate) async fn ended(&self) -> Arc<TaskEnd> {
        match self.state() {
            State::Live(handle) => handle.ended().await,
            State::Kept(kept) => kept.end.clone(),
        }
    }

    /// How the task of a call returned: as it ended, or as its program did where what it left goes on in the background.
    pub(crate) async fn returned(&self) -> Arc<TaskEnd> {
        match self.state() {
            State::Live(handle) => handle.returned().await,
            State::Kept(kept) => kept.end.clone(),
        }
    }

    /// How its program ended, where what it left goes on in the background.
    pub(crate) fn try_returned(&self) -> Option<Arc<TaskEnd>> {
        match self.state() {
            State::Live(handle) => handle.try_returned(),
            State::Kept(_) => None,
        }
    }

    /// How it ended, if it has.
    pub(crate) fn try_ended(&self) -> Option<Arc<TaskEnd>> {
        match self.state() {
            State::Live(handle) => handle.try_ended(),
            State::Kept(kept) => Some(kept.end.clone()),
        }
    }

    /// What it was denied, as far as is known; `None` where nobody counts, or knows.
    pub(crate) fn denials(&self) -> Option<Denials> {
        match self.state() {
            State::Live(handle) => handle.denials(),
            State::Kept(kept) => kept.end.denials.clone(),
        }
    }

    /// Returns as soon as it was denied something after the record of this number; never for one that has ended.
    pub(super) async fn denied_beyond(&self, number: u64) {
        match self.state() {
            State::Live(handle) => handle.denied_beyond(number).await,
            State::Kept(_) => std::future::pending().await,
        }
    }

    /// How far its session has taken note of what it was denied.
    pub(super) fn noted(&self) -> &Noted {
        &self.0.noted
    }

    /// How far its streams have grown, as far as is known.
    pub(crate) fn progress(&self) -> Progress {
        match self.state() {
            State::Live(handle) => handle.progress(),
            State::Kept(kept) => kept.progress(),
        }
    }

    /// Brings its progress up to date: all that it has printed by now counts. Tells how long ago it last printed something.
    pub(crate) async fn measure(&self) -> Option<Duration> {
        match self.state() {
            State::Live(handle) if handle.try_ended().is_none() => handle.measure().await,
            State::Live(_) | State::Kept(_) => None,
        }
    }

    /// The file that holds a stream of it, if there is one.
    pub(crate) fn file(&self, stream: Stream) -> Option<PathBuf> {
        let name = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        Some(record::path(&self.0.folder, self.id(), name)).filter(|path| path.exists())
    }

    /// Whether its end was asked for.
    pub(crate) fn is_stopping(&self) -> bool {
        self.0.is_stopping.load(Ordering::SeqCst)
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
        let state = self.state();
        if let State::Kept(kept) = &state
            && kept.is_in_memory(stream)
        {
            return Ok(kept.read(stream, offset, limit)?);
        }
        let read = move || match state {
            State::Kept(kept) => kept.read(stream, offset, limit),
            State::Live(handle) => handle.read(stream, offset, limit),
        };
        let reading = self.0.workers.run(Lane::State, read).await;
        Ok(reading.map_err(OutputError::Interrupted)??)
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
            Some(end) => TaskStatus::after(end.cause),
            None if self.is_stopping() => TaskStatus::Stopping,
            None => TaskStatus::Running,
        }
    }

    /// Lets go of the descriptors of a task that has ended, and of its part of the disk.
    pub(super) fn keep(&self) {
        if let State::Live(handle) = self.state()
            && let Some(end) = handle.try_ended()
        {
            self.0.ended_at.get_or_init(|| handle.ended_at().unwrap_or_else(Timestamp::now));
            self.0.part.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(kept) = Kept::of(&handle, end) {
                *self.locked() = State::Kept(Arc::new(kept));
            }
        }
    }

    fn state(&self) -> State {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes files by a thread that may wait.
    fn remove(&self, end: &TaskEnd, of: Removal) {
        let (task, folder) = (self.id().clone(), self.0.folder.clone());
        let paths: Vec<PathBuf> = files(end).map(|(path, _)| path.to_owned()).collect();
        self.0.workers.post(Lane::State, move || {
            let warn = |path: &Path, error: io::Error| {
                tracing::warn!(%task, path = %path.display(), %error, "a task's file cannot be removed");
            };
            for path in paths {
                match std::fs::remove_file(&path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => warn(&path, error),
                    Ok(()) | Err(_) => {}
                }
            }
            if of == Removal::Record
                && let Err(error) = record::remove(&folder, &task)
            {
                warn(&folder, error);
            }
        });
    }
}

/// How much of an ended task goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    Output,
    Record,
}

impl Entry for Task {
    fn has_ended(&self) -> bool {
        self.try_ended().is_some()
    }

    fn ended_at(&self) -> Timestamp {
        let told = || match self.state() {
            State::Live(handle) => handle.ended_at(),
            State::Kept(_) => None,
        };
        *self.0.ended_at.get_or_init(|| told().unwrap_or_else(Timestamp::now))
    }

    fn placement(&self) -> Placement {
        // What a call left may have ended before the call has said that it goes on.
        match self.0.is_background.load(Ordering::SeqCst) || self.try_returned().is_some() {
            true => Placement::Background,
            false => Placement::Foreground,
        }
    }

    fn bytes_on_disk(&self) -> u64 {
        self.try_ended().map_or(0, |end| files(&end).map(|(_, bytes)| bytes).sum())
    }

    fn discard(&self) {
        if let Some(end) = self.try_ended() {
            self.remove(&end, Removal::Output);
        }
    }

    fn forget(&self) {
        if let Some(end) = self.try_ended() {
            self.remove(&end, Removal::Record);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::spec::StreamEnd;
    use brattice_policy::Mode;
    use brattice_protocol::outcome::{Cause, Lost};

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
            denials: None,
            git_changes: Vec::new(),
            mode: Mode::ReadOnly,
            layers: Arc::default(),
        };
        let files: Vec<_> = files(&end).collect();
        assert_eq!(files, [(Path::new("/s/bash-1.stdout"), 77)]);
    }
}
