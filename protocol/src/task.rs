//! `task.*`: commands as tasks, read by offset.

use serde::{Deserialize, Serialize};

use crate::bytes::Encoding;
use crate::outcome::CommandOutcome;
use crate::tools::Stream;
use crate::{SessionId, TaskId};

/// Parameters of `task.start`. Exactly one of `command` and `argv` is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartParams {
    /// The session.
    pub session: SessionId,
    /// A line for bash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// A program and its arguments, without a shell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argv: Option<Vec<String>>,
    /// Where it runs; the session's cwd unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Whether `task.input` feeds its standard input; `/dev/null` otherwise.
    #[serde(default)]
    pub stdin: bool,
    /// Its time limit in milliseconds; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// The result of `task.start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The task.
    pub task: TaskId,
}

/// Parameters of `task.output`. Reads are byte-exact and can be repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputParams {
    /// The session.
    pub session: SessionId,
    /// The task.
    pub task: TaskId,
    /// Which stream; stdout unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// Where to begin; 0 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// At most so many bytes; 256 KiB at most and unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// How long to wait for a first byte or the end; 0 unless given, 60,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// The result of `task.output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The bytes.
    pub data: String,
    /// How `data` holds them.
    pub encoding: Encoding,
    /// Where they begin: later than asked when bytes had been dropped there.
    pub offset: u64,
    /// Where to go on.
    pub next_offset: u64,
    /// Bytes between the offset asked for and the one that is told.
    pub skipped: u64,
    /// Whether more can come. Once it is not `running`, an empty `data` is the end.
    pub status: TaskStatus,
}

/// A task's state, as the tools name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskStatus {
    /// It runs.
    Running,
    /// Its end was asked for.
    Stopping,
    /// It exited, whatever its code.
    Completed,
    /// By us, by its limit or by a signal.
    Killed,
    /// It never started, or was lost.
    Failed,
}

impl TaskStatus {
    /// Whether the task is over.
    pub const fn is_final(self) -> bool {
        matches!(self, TaskStatus::Completed | TaskStatus::Killed | TaskStatus::Failed)
    }
}

/// Parameters of `task.wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitParams {
    /// The session.
    pub session: SessionId,
    /// The tasks, at least one.
    pub tasks: Vec<TaskId>,
    /// How long to wait, 600,000 at most.
    pub timeout_ms: u64,
}

/// The result of `task.wait`: the first that ended, or neither field when the time was over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waited {
    /// The task that ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CommandOutcome>,
}

/// Parameters of `task.kill`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KillParams {
    /// The session.
    pub session: SessionId,
    /// The task.
    pub task: TaskId,
    /// Why; recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Parameters of `task.input`. It answers once the command's pipe has taken all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputParams {
    /// The session.
    pub session: SessionId,
    /// The task, started with `stdin`.
    pub task: TaskId,
    /// The bytes, at most 64 KiB.
    #[serde(default)]
    pub data: String,
    /// How `data` holds them; text unless given.
    #[serde(default)]
    pub encoding: Encoding,
    /// Whether the input ends here.
    #[serde(default)]
    pub eof: bool,
}

/// The result of methods that have nothing to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}
