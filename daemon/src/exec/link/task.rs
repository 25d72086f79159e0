//! The handle on one task.

use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use brattice_protocol::tools::Stream;
use tokio::sync::watch;

use super::denied::Denied;
use super::input::{Input, InputEnd, InputError};
use super::post::Post;
use super::reader::{ReadError, SpoolReader};
use super::short::Handing;
use crate::exec::denials::{DenialRecord, Denials, Tally, is_observed};
use crate::exec::message::Spooled;
use crate::exec::record::{self, Ended};
use crate::exec::spec::{
    Chunk, Placement, Progress, Stdin, TaskEnd, TaskFacts, Timestamp, Urgency,
};
use crate::exec::terminal::Size;
use crate::regular;

/// Spools that came with a message; one for which there was no room has no descriptor.
pub(super) type Spools = Vec<(Spooled, Option<OwnedFd>)>;

/// More than a spool holds in memory.
const RESCUED: usize = 64 << 10;

/// A task that was started. Clones are the same task.
#[derive(Clone, Debug)]
pub(crate) struct TaskHandle(Arc<TaskState>);

/// What a supervisor hands over to a daemon that did not start it.
#[derive(Debug, Default)]
pub(crate) struct Handover {
    /// The highest number that a task of the session was given.
    pub(crate) highest: u64,
    /// The tasks that run.
    pub(crate) tasks: Vec<ResumedHandle>,
}

/// A task that an earlier daemon started.
#[derive(Debug)]
pub(crate) struct ResumedHandle {
    /// The handle on it.
    pub(crate) handle: TaskHandle,
    /// Who waited for it.
    pub(crate) placement: Placement,
    /// Whether its end was asked for.
    pub(crate) is_stopping: bool,
}

#[derive(Debug)]
pub(super) struct TaskState {
    facts: TaskFacts,
    input: OnceLock<Input>,
    socket: Mutex<Option<OwnedFd>>,
    readers: Mutex<Readers>,
    progress: watch::Sender<Progress>,
    returned: OnceLock<Arc<TaskEnd>>,
    end: OnceLock<Arc<TaskEnd>>,
    ended_at: OnceLock<Timestamp>,
    denied: Denied,
    /// Whether the supervisor has been asked to tell of growth.
    asked: AtomicBool,
    post: Post,
}

#[derive(Debug, Default)]
struct Readers {
    stdout: SpoolReader,
    stderr: SpoolReader,
}

impl TaskHandle {
    pub(super) fn new(facts: TaskFacts, post: Post) -> Self {
        TaskHandle(Arc::new(TaskState {
            facts,
            input: OnceLock::new(),
            socket: Mutex::default(),
            readers: Mutex::default(),
            progress: watch::Sender::new(Progress::default()),
            returned: OnceLock::new(),
            end: OnceLock::new(),
            ended_at: OnceLock::new(),
            denied: Denied::default(),
            asked: AtomicBool::new(false),
            post,
        }))
    }

    /// The task's id.
    pub(crate) fn id(&self) -> &TaskId {
        &self.0.facts.task
    }

    /// What is told of it.
    pub(crate) fn facts(&self) -> &TaskFacts {
        &self.0.facts
    }

    /// The daemon's end of its standard input, where that is a socket: once.
    pub(crate) fn take_socket(&self) -> Option<OwnedFd> {
        self.0.socket.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks for the end of the task's whole tree: SIGTERM, the grace unless it is urgent, SIGKILL. Returns at once. `by` says
    /// who asks, and why.
    pub(crate) fn stop(&self, by: String, urgency: Urgency) -> Handing {
        self.0.post.stop(self.id(), by, urgency)
    }

    /// How the task ended, once nothing of it is left.
    pub(crate) async fn ended(&self) -> Arc<TaskEnd> {
        let mut progress = self.0.progress.subscribe();
        loop {
            if let Some(end) = self.try_ended() {
                return end;
            }
            // The sender lives in this very task, so the wait cannot fail.
            if progress.wait_for(|progress| progress.ended).await.is_err() {
                return Arc::new(record::lost(self.0.post.folder(), &self.0.facts).end);
            }
        }
    }

    /// How a call's task returned: nothing of it is left, or what its program left goes on in the background.
    pub(crate) async fn returned(&self) -> Arc<TaskEnd> {
        let mut progress = self.0.progress.subscribe();
        // The sender lives in this very task, so the wait cannot fail.
        let has_returned = progress.wait_for(|progress| progress.returned || progress.ended).await;
        let known = self.try_returned().or_else(|| self.try_ended());
        drop(has_returned);
        known.unwrap_or_else(|| Arc::new(record::lost(self.0.post.folder(), &self.0.facts).end))
    }

    /// How its program ended, where what it left went on in the background.
    pub(crate) fn try_returned(&self) -> Option<Arc<TaskEnd>> {
        self.0.returned.get().cloned()
    }

    /// Sets the size of its terminal, if it has one.
    pub(crate) fn resize(&self, rows: u16, cols: u16) {
        // Done by who answers, where that is possible: what is typed next comes after it.
        let is_done = self.0.input.get().is_some_and(|input| input.resize(Size { rows, cols }));
        if !is_done {
            self.0.post.resize(self.id(), (rows, cols));
        }
    }

    /// How the task ended, if it has.
    pub(crate) fn try_ended(&self) -> Option<Arc<TaskEnd>> {
        self.0.end.get().cloned()
    }

    /// How far the streams have grown, as far as is known here.
    pub(crate) fn progress(&self) -> Progress {
        *self.0.progress.borrow()
    }

    /// Brings the progress up to date: all that the task has printed by now counts. Tells how long ago it last printed
    /// something; `None` where it never did, or has ended.
    pub(crate) async fn measure(&self) -> Option<Duration> {
        // A supervisor that is gone has nothing to add.
        self.0.post.measure(self.id()).await.ok().flatten()
    }

    /// Returns as soon as the task's progress differs from `seen`.
    pub(crate) async fn progress_beyond(&self, seen: Progress) -> Progress {
        let mut progress = self.0.progress.subscribe();
        loop {
            let now = *progress.borrow_and_update();
            if now != seen || now.ended {
                return now;
            }
            if !self.0.asked.swap(true, Ordering::AcqRel) {
                self.0.post.notify(self.id(), (now.stdout, now.stderr));
            }
            if progress.changed().await.is_err() {
                return now;
            }
        }
    }

    /// At most `limit` bytes of a stream from `offset` on, as far as is known here.
    ///
    /// # Errors
    /// The spool cannot be read.
    pub(crate) fn read(
        &self,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Result<Chunk, ReadError> {
        let progress = self.progress();
        let (reader, end) = {
            let readers = self.readers();
            match stream {
                Stream::Stdout => (readers.stdout.clone(), progress.stdout),
                Stream::Stderr => (readers.stderr.clone(), progress.stderr),
            }
        };
        reader.read(offset, limit, end)
    }

    /// Writes to the task's standard input; returns once its pipe has taken all.
    ///
    /// # Errors
    /// There is no input, or it is closed.
    pub(crate) async fn input(&self, data: Vec<u8>, end: InputEnd) -> Result<(), InputError> {
        match self.0.input.get() {
            Some(input) => input.write(data, end).await,
            None if self.0.facts.stdin == Stdin::Null => Err(InputError::NoStdin),
            // It has ended, or there was no room for its descriptor.
            None => Err(InputError::Closed),
        }
    }

    /// What it was denied, as far as is known here; `None` where nobody counts, or knows.
    pub(crate) fn denials(&self) -> Option<Denials> {
        match self.0.end.get() {
            Some(end) => end.denials.clone(),
            None => is_observed(&self.0.facts.layers).then(|| self.0.denied.now()),
        }
    }

    /// Returns as soon as something is known that it was denied after the record of this number.
    pub(crate) async fn denied_beyond(&self, number: u64) {
        self.0.denied.beyond(number).await;
    }

    // --- what the post tells ---

    pub(super) fn denied(&self, record: DenialRecord) {
        self.0.denied.learn(record);
    }

    pub(super) fn count_denials(&self, tally: Option<&Tally>) {
        tally.into_iter().for_each(|tally| self.0.denied.count(tally));
    }

    pub(super) fn set_denials(&self, denials: Denials) {
        self.0.denied.set(denials);
    }

    pub(super) fn started(&self, stdin: Option<OwnedFd>) {
        let (kind, post, task) = (self.0.facts.stdin, self.0.post.clone(), self.id().clone());
        if kind == Stdin::Socket {
            *self.0.socket.lock().unwrap_or_else(PoisonError::into_inner) = stdin;
            return;
        }
        let closed = move || post.close_input(&task);
        if let Some(input) = stdin.and_then(|fd| Input::new(fd, kind, closed).ok()) {
            self.0.input.get_or_init(|| input);
        }
    }

    pub(super) fn set_returned(&self, mut end: TaskEnd, spools: Spools) {
        (end.mode, end.layers) = (self.0.facts.mode, self.0.facts.layers.clone());
        self.take_spools(spools);
        let (stdout, stderr) = lengths(&end);
        self.0.returned.get_or_init(|| Arc::new(end));
        self.0.progress.send_modify(|progress| {
            progress.stdout = progress.stdout.max(stdout);
            progress.stderr = progress.stderr.max(stderr);
            progress.returned = true;
        });
    }

    pub(super) fn grew(&self, stdout: u64, stderr: u64, spools: Spools) {
        self.take_spools(spools);
        self.0.asked.store(false, Ordering::Release);
        self.0.progress.send_modify(|progress| {
            progress.stdout = progress.stdout.max(stdout);
            progress.stderr = progress.stderr.max(stderr);
        });
    }

    pub(super) fn end(&self, ended: Ended, spools: Spools) {
        let Ended { at, mut end } = ended;
        self.0.ended_at.get_or_init(|| at);
        (end.mode, end.layers) = (self.0.facts.mode, self.0.facts.layers.clone());
        self.take_spools(spools);
        let (stdout, stderr) = lengths(&end);
        self.0.end.get_or_init(|| Arc::new(end));
        self.0.progress.send_modify(|progress| {
            *progress = Progress { stdout, stderr, ended: true, ..*progress };
        });
    }

    /// The supervisor died. What it had recorded counts; else how the task ended cannot be known, and that is put on record
    /// with what can still be read here and nowhere else. Blocks.
    pub(super) fn lose(&self) {
        if self.try_ended().is_some() {
            return;
        }
        let folder = self.0.post.folder();
        if let Some(ended) = record::ended(folder, self.id()) {
            return self.end(ended, Spools::new());
        }
        for (stream, kind) in [(Stream::Stdout, "stdout"), (Stream::Stderr, "stderr")] {
            self.rescue(stream, &record::path(folder, self.id(), kind));
        }
        let mut ended = record::lost(folder, &self.0.facts);
        let Progress { stdout, stderr, .. } = self.progress();
        ended.end.stdout.bytes = ended.end.stdout.bytes.max(stdout);
        if let Some(end) = &mut ended.end.stderr {
            end.bytes = end.bytes.max(stderr);
        }
        if let Err(error) = record::end_of_lost(folder, self.id(), &ended) {
            tracing::debug!(task = %self.id(), %error, "that a task is lost is not on record");
        }
        self.end(ended, Spools::new());
    }

    /// Writes down a stream that never outgrew memory, whose last descriptor may be this daemon's.
    fn rescue(&self, stream: Stream, path: &Path) {
        if path.symlink_metadata().is_ok() {
            return;
        }
        let written = match self.read(stream, 0, RESCUED) {
            Ok(chunk) if !chunk.data.is_empty() => {
                regular::create(path).and_then(|mut file| file.write_all(&chunk.data))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(std::io::Error::other(error)),
        };
        if let Err(error) = written {
            tracing::warn!(task = %self.id(), %error, "output in memory is lost with the supervisor");
        }
    }

    /// It never ran, which nobody waits to be told.
    pub(super) fn fail(&self, reason: String) {
        let mut ended = record::lost(self.0.post.folder(), &self.0.facts);
        (ended.end.cause, ended.end.reason) = (Cause::FailedToStart, Some(reason));
        self.end(ended, Spools::new());
    }

    /// When it ended, once it has.
    pub(crate) fn ended_at(&self) -> Option<Timestamp> {
        self.0.ended_at.get().copied()
    }

    fn take_spools(&self, spools: Spools) {
        let mut readers = self.readers();
        for (stream, fd) in spools {
            match stream {
                Spooled::Stdout => readers.stdout.take(fd),
                Spooled::Stderr => readers.stderr.take(fd),
            }
        }
    }

    fn readers(&self) -> MutexGuard<'_, Readers> {
        self.0.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lengths(end: &TaskEnd) -> (u64, u64) {
    (end.stdout.bytes, end.stderr.as_ref().map_or(0, |stream| stream.bytes))
}
