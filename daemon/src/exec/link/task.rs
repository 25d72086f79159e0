//! The handle on one task.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use brattice_protocol::tools::Stream;
use tokio::sync::watch;

use super::input::{Input, InputEnd, InputError};
use super::post::Post;
use super::reader::{ReadError, SpoolReader};
use crate::exec::message::Spooled;
use crate::exec::spec::{Chunk, Progress, StreamEnd, Streams, TaskEnd};

/// Why a task is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// Somebody ended it.
    Killed {
        /// Who, and why, in words.
        by: String,
    },
    /// Its call was cancelled.
    Cancelled,
}

/// A task that was started. Clones are the same task.
#[derive(Clone, Debug)]
pub(crate) struct TaskHandle(Arc<TaskState>);

#[derive(Debug)]
pub(super) struct TaskState {
    id: TaskId,
    streams: Streams,
    sandbox: (Mode, LayerReport),
    begun: Instant,
    input: OnceLock<Input>,
    readers: Mutex<Readers>,
    progress: watch::Sender<Progress>,
    end: OnceLock<Arc<TaskEnd>>,
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
    pub(super) fn new(
        id: TaskId,
        streams: Streams,
        sandbox: (Mode, LayerReport),
        post: Post,
    ) -> Self {
        TaskHandle(Arc::new(TaskState {
            id,
            streams,
            sandbox,
            begun: Instant::now(),
            input: OnceLock::new(),
            readers: Mutex::default(),
            progress: watch::Sender::new(Progress::default()),
            end: OnceLock::new(),
            asked: AtomicBool::new(false),
            post,
        }))
    }

    /// The task's id.
    pub(crate) fn id(&self) -> &TaskId {
        &self.0.id
    }

    /// Asks for the end of the task's whole tree: SIGTERM, the grace, SIGKILL. Returns at once.
    pub(crate) fn stop(&self, reason: StopReason) {
        let by = match reason {
            StopReason::Killed { by } => by,
            StopReason::Cancelled => "cancelled".to_owned(),
        };
        self.0.post.stop(&self.0.id, by);
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
                return Arc::new(self.lost());
            }
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

    /// Returns as soon as the task's progress differs from `seen`.
    pub(crate) async fn progress_beyond(&self, seen: Progress) -> Progress {
        let mut progress = self.0.progress.subscribe();
        loop {
            let now = *progress.borrow_and_update();
            if now != seen || now.ended {
                return now;
            }
            if !self.0.asked.swap(true, Ordering::AcqRel) {
                self.0.post.notify(&self.0.id, (now.stdout, now.stderr));
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
            None => Err(InputError::NoStdin),
        }
    }

    // --- what the post tells ---

    pub(super) fn started(&self, stdin: Option<OwnedFd>) {
        if let Some(input) = stdin.and_then(|fd| Input::new(fd).ok()) {
            self.0.input.get_or_init(|| input);
        }
    }

    pub(super) fn grew(&self, stdout: u64, stderr: u64, spools: Vec<(Spooled, OwnedFd)>) {
        self.take_spools(spools);
        self.0.asked.store(false, Ordering::Release);
        self.0.progress.send_modify(|progress| {
            progress.stdout = progress.stdout.max(stdout);
            progress.stderr = progress.stderr.max(stderr);
        });
    }

    pub(super) fn end(&self, mut end: TaskEnd, spools: Vec<(Spooled, OwnedFd)>) {
        (end.mode, end.layers) = self.0.sandbox.clone();
        self.take_spools(spools);
        let (stdout, stderr) =
            (end.stdout.bytes, end.stderr.as_ref().map_or(0, |stream| stream.bytes));
        self.0.end.get_or_init(|| Arc::new(end));
        self.0.progress.send_replace(Progress { stdout, stderr, ended: true });
    }

    /// The supervisor died: how the task ended cannot be known.
    pub(super) fn lose(&self) {
        if self.try_ended().is_none() {
            self.end(self.lost(), Vec::new());
        }
    }

    fn lost(&self) -> TaskEnd {
        let Progress { stdout, stderr, .. } = self.progress();
        let stream = |bytes| StreamEnd { bytes, ..StreamEnd::default() };
        TaskEnd {
            cause: Cause::Lost,
            exit_code: None,
            signal: None,
            reason: Some("the session's supervisor died".to_owned()),
            duration: self.0.begun.elapsed(),
            user: Duration::ZERO,
            sys: Duration::ZERO,
            max_rss: 0,
            stdout: stream(stdout),
            stderr: (self.0.streams == Streams::Separate).then(|| stream(stderr)),
            leftovers: None,
            unkillable: Vec::new(),
            mode: self.0.sandbox.0,
            layers: self.0.sandbox.1.clone(),
        }
    }

    fn take_spools(&self, spools: Vec<(Spooled, OwnedFd)>) {
        let mut readers = self.readers();
        for (stream, fd) in spools {
            match stream {
                Spooled::Stdout => readers.stdout.replace(fd),
                Spooled::Stderr => readers.stderr.replace(fd),
            }
        }
    }

    fn readers(&self) -> MutexGuard<'_, Readers> {
        self.0.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
