//! What a task is asked to be and how it ended: the plain data between the daemon and a session's supervisor.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brattice_policy::layer::LayerReport;
use brattice_policy::{LeftoverRule, Mode, Profile};
use brattice_protocol::TaskId;
use brattice_protocol::outcome::{Cause, Lost, ProcessFacts};
use brattice_protocol::task::TaskKind;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::denials::Denials;

/// What runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// A text for bash. It stands in no process's argument list.
    Bash(String),
    /// The same for a login shell, which reads the user's profile first.
    Login(String),
    /// A program and its arguments, without a shell.
    Argv(Vec<String>),
}

impl Program {
    /// What is told of it.
    pub(crate) fn kind(&self) -> TaskKind {
        match self {
            Program::Bash(_) | Program::Login(_) => TaskKind::Bash,
            Program::Argv(_) => TaskKind::Argv,
        }
    }

    /// The kind of shell that it takes.
    pub(crate) fn shell(&self) -> Shell {
        match self {
            Program::Login(_) => Shell::Login,
            Program::Bash(_) | Program::Argv(_) => Shell::Plain,
        }
    }

    /// The line or the arguments, cut after [`LONGEST_TITLE`] characters.
    pub(crate) fn title(&self) -> String {
        self.known().title
    }

    /// The same, with what tells it from others that begin alike.
    pub(crate) fn known(&self) -> KnownLine {
        match self {
            Program::Bash(line) | Program::Login(line) => KnownLine::of(line),
            Program::Argv(words) => KnownLine::of(&words.join(" ")),
        }
    }
}

/// Most characters of a command that are told in lists.
const LONGEST_TITLE: usize = 1_000;

/// What tells texts apart that begin alike: the first half of their SHA-256.
pub(crate) type TextDigest = [u64; 2];

/// What is kept of a line for bash, by which it is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownLine {
    /// The line, cut as a title is.
    pub(crate) title: String,
    /// Of the whole line, where it was cut.
    pub(crate) digest: Option<TextDigest>,
}

impl KnownLine {
    /// Of a whole line.
    pub(crate) fn of(line: &str) -> Self {
        let digest = line.char_indices().nth(LONGEST_TITLE).map(|_| {
            let hash = Sha256::digest(line);
            let word = |from: usize| {
                hash.iter().skip(from).take(8).fold(0, |word, byte| word << 8 | u64::from(*byte))
            };
            [word(0), word(8)]
        });
        KnownLine { title: line.chars().take(LONGEST_TITLE).collect(), digest }
    }
}

/// Whether bash reads the user's profile before it runs its text (bash(1), INVOCATION).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shell {
    /// `bash -c`: it does not.
    #[default]
    Plain,
    /// `bash -lc`: it does.
    Login,
}

impl Shell {
    /// Whether it is what older supervisors know.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Shell::Plain
    }
}

/// Where a task's standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stdin {
    /// `/dev/null`.
    Null,
    /// A pipe that `TaskHandle::input` feeds.
    Pipe,
    /// A terminal of its own, which takes its output as well.
    Terminal,
    /// One end of a stream of Unix sockets; `TaskHandle::take_socket` has the other, and nobody keeps a copy of it.
    Socket,
}

/// How much time a task that is stopped is given to end by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Urgency {
    /// SIGTERM, and SIGKILL after the grace.
    #[default]
    Graceful,
    /// SIGKILL at once, where a grace has begun as well.
    AtOnce,
}

impl Urgency {
    /// Whether it is what older supervisors know.
    pub(crate) fn is_graceful(&self) -> bool {
        *self == Urgency::Graceful
    }
}

/// Who waits for a task, which decides what becomes of it without its daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Placement {
    /// A call: without a daemon to answer it the task is stopped.
    Foreground,
    /// Nobody: it goes on under its supervisor, and has a record on disk.
    Background,
}

/// How a task's two output streams are carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Streams {
    /// A pipe and a spool each.
    Separate,
    /// One pipe and one spool for both, in order of arrival.
    Merged,
}

/// A task to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskSpec {
    /// Its id, unique in the session.
    pub(crate) task: TaskId,
    /// What it may do.
    pub(crate) profile: Profile,
    /// The layers that hold it.
    pub(crate) layers: Arc<LayerReport>,
    /// What runs.
    pub(crate) program: Program,
    /// Where, an absolute path.
    pub(crate) cwd: PathBuf,
    /// Variables beyond the session's base environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Its standard input.
    pub(crate) stdin: Stdin,
    /// Its output streams.
    pub(crate) streams: Streams,
    /// After which it is stopped as `timed_out`; on the monotonic clock, so that suspension does not count.
    pub(crate) timeout: Option<Duration>,
    /// After which without output it is stopped as `timed_out`.
    pub(crate) idle_timeout: Option<Duration>,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
    /// Who waits for it.
    pub(crate) placement: Placement,
    /// What becomes of processes that outlive its shell, where a call waits for it.
    pub(crate) leftovers: LeftoverRule,
}

/// What is told of a task that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskFacts {
    /// Its id.
    pub(crate) task: TaskId,
    /// What it runs.
    pub(crate) kind: TaskKind,
    /// The line or the arguments, cut.
    pub(crate) title: String,
    /// Of the whole line, where it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<TextDigest>,
    /// Where it runs; `None` of tasks of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// Its standard input.
    pub(crate) stdin: Stdin,
    /// Its output streams.
    pub(crate) streams: Streams,
    /// The mode that applies.
    pub(crate) mode: Mode,
    /// The layers that hold it.
    pub(crate) layers: Arc<LayerReport>,
    /// When it was started.
    pub(crate) started: Timestamp,
    /// After which it is stopped.
    #[serde(default)]
    pub(crate) timeout: Option<Duration>,
    /// After which without output it is.
    #[serde(default)]
    pub(crate) idle_timeout: Option<Duration>,
}

/// A moment on the wall clock, in milliseconds since 1970: for people, and for what outlives a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Timestamp(pub(crate) u64);

impl Timestamp {
    /// Now.
    pub(crate) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    /// The time from then to now; none where the clock was set back.
    pub(crate) fn elapsed(self) -> Duration {
        Duration::from_millis(Timestamp::now().0.saturating_sub(self.0))
    }
}

/// How one stream of an ended task stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StreamEnd {
    /// Bytes that were written to it; the offset of its end.
    pub(crate) bytes: u64,
    /// The range of bytes that was dropped from the middle, end exclusive; empty when nothing was.
    pub(crate) dropped: (u64, u64),
    /// The file that holds it, once it outgrew memory (64,000 bytes).
    pub(crate) file: Option<PathBuf>,
    /// What could not be kept.
    pub(crate) lost: Option<Lost>,
}

/// What a foreground task's shell left running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leftovers {
    /// How many processes there were.
    pub(crate) count: u64,
    /// The first of them.
    pub(crate) processes: Vec<ProcessFacts>,
    /// What became of them.
    pub(crate) fate: LeftoverFate,
}

/// What became of leftovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LeftoverFate {
    /// They were stopped.
    Stopped,
    /// They go on, as the same task in the background.
    Adopted,
}

/// How a task ended. It is told only when nothing of the task is left, or when `unkillable` names what is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskEnd {
    /// Why.
    pub(crate) cause: Cause,
    /// The shell's exit code, if it exited.
    pub(crate) exit_code: Option<i32>,
    /// The number of the signal that ended the shell, if one did.
    pub(crate) signal: Option<i32>,
    /// Why, in words: who killed it, or the step that failed.
    pub(crate) reason: Option<String>,
    /// From start to the shell's end.
    pub(crate) duration: Duration,
    /// CPU time in user mode.
    pub(crate) user: Duration,
    /// CPU time in the kernel.
    pub(crate) sys: Duration,
    /// Largest resident set of any process of it, in bytes.
    pub(crate) max_rss: u64,
    /// Standard output, or both streams where merged.
    pub(crate) stdout: StreamEnd,
    /// Standard error; `None` where merged.
    pub(crate) stderr: Option<StreamEnd>,
    /// What the shell left running.
    pub(crate) leftovers: Option<Leftovers>,
    /// Processes that survived SIGKILL (in uninterruptible sleep, or of another user); almost always empty.
    pub(crate) unkillable: Vec<ProcessFacts>,
    /// What it was denied; `None` where nobody counted, or nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) denials: Option<Denials>,
    /// What git runs by itself and was changed meanwhile, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) git_changes: Vec<String>,
    /// The mode that really applied. Known to the daemon, so it is not sent.
    #[serde(skip)]
    pub(crate) mode: Mode,
    /// The layers that held it; likewise.
    #[serde(skip)]
    pub(crate) layers: Arc<LayerReport>,
}

/// Bytes of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The bytes.
    pub(crate) data: Vec<u8>,
    /// Where they begin: later than asked where bytes had been dropped.
    pub(crate) offset: u64,
    /// Bytes between the offset asked for and `offset`.
    pub(crate) skipped: u64,
}

/// How far a task's streams have grown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Bytes of standard output.
    pub(crate) stdout: u64,
    /// Bytes of standard error.
    pub(crate) stderr: u64,
    /// Whether its shell has ended and left something that goes on in the background.
    pub(crate) returned: bool,
    /// Whether the task has ended.
    pub(crate) ended: bool,
}

/// What a running task uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskUsage {
    /// The task.
    pub(crate) task: TaskId,
    /// Bytes of standard output.
    pub(crate) stdout: u64,
    /// Bytes of standard error.
    pub(crate) stderr: u64,
    /// How long ago it last printed something; `None` where it never did.
    pub(crate) idle: Option<Duration>,
    /// CPU time of all its processes, those that ended included as far as somebody waited for them.
    pub(crate) cpu: Duration,
    /// How many processes it has.
    pub(crate) processes: u64,
    /// How many refusals it met so far; `None` where nobody counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) denials: Option<u64>,
}
