//! `task.*`: commands as tasks, read by offset.

use serde::{Deserialize, Serialize};

use crate::bytes::Encoding;
use crate::outcome::{Cause, CommandOutcome, Denial};
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
    /// Whether it runs on a terminal of its own: standard input, output and error are that terminal, `task.input` types
    /// into it, and all that it prints is standard output.
    #[serde(default)]
    pub tty: bool,
    /// Its time limit in milliseconds; none unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// After so many milliseconds without output it is stopped as `timed_out`; never unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_timeout_ms: Option<u64>,
}

/// The result of `task.start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// The task.
    pub task: TaskId,
}

/// Parameters of `task.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskListParams {
    /// The session.
    pub session: SessionId,
}

/// What a task runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// A line for bash.
    Bash,
    /// A program and its arguments, without a shell.
    Argv,
}

impl TaskKind {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            TaskKind::Bash => "bash",
            TaskKind::Argv => "argv",
        }
    }
}

/// One line of `task.list`: a background task, or a command that a call waits for. Oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSummary {
    /// The task.
    pub task: TaskId,
    /// What it runs.
    pub kind: TaskKind,
    /// Its state.
    pub status: TaskStatus,
    /// Why it ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The exit code of its shell or program, where there was one. Known before the end where processes run on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The name of the signal that ended its shell or program, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Why, in words, where the cause alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether it outlives the call that started it, and the daemon.
    pub background: bool,
    /// The line or the arguments, cut after 1,000 characters.
    pub command: String,
    /// When it started, in milliseconds since 1970.
    pub started: u64,
    /// When it ended, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// Its time limit in milliseconds, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Bytes of both streams.
    pub bytes: u64,
    /// When it last printed something, in milliseconds since 1970; never yet where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_output: Option<u64>,
    /// CPU time of all its processes, in user mode and in the kernel.
    pub cpu_ms: u64,
    /// How many processes it has now.
    pub processes: u64,
    /// How many refusals of the sandbox's it has met, the repeated ones included; absent where nobody counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denials_total: Option<u64>,
}

/// Parameters of `task.resize`: the size of a task's terminal in characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResizeParams {
    /// The session.
    pub session: SessionId,
    /// The task, started with `tty`.
    pub task: TaskId,
    /// Lines, at least 1.
    pub rows: u16,
    /// Columns, at least 1.
    pub cols: u16,
}

/// `task.started`: a background task runs. To clients that watch `tasks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStarted {
    /// The session.
    pub session: SessionId,
    /// The task.
    pub task: TaskId,
    /// What it runs.
    pub kind: TaskKind,
    /// The line or the arguments, cut after 1,000 characters.
    pub command: String,
}

/// `task.finished`: nothing of a background task is left. To clients that watch `tasks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFinished {
    /// The session.
    pub session: SessionId,
    /// The task.
    pub task: TaskId,
    /// Its state.
    pub status: TaskStatus,
    /// How it ended.
    pub outcome: CommandOutcome,
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
    /// The state of a task that ended for this cause.
    pub const fn after(cause: Cause) -> Self {
        match cause {
            Cause::Exited => TaskStatus::Completed,
            Cause::Signaled | Cause::TimedOut | Cause::Killed | Cause::OomKilled => {
                TaskStatus::Killed
            }
            Cause::FailedToStart | Cause::Lost | Cause::Rejected => TaskStatus::Failed,
        }
    }

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
    /// Whether SIGKILL comes at once, without the grace or what is left of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
}

/// Parameters of `task.input`. It answers once the command's pipe has taken all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputParams {
    /// The session.
    pub session: SessionId,
    /// The task, started with `stdin` or `tty`.
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

/// `structuredContent` of `bash` in the background and of `task_kill`: the task, and how it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskState {
    /// The task.
    pub task: TaskId,
    /// Its state.
    pub status: TaskStatus,
}

/// `structuredContent` of `task_output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRead {
    /// The task.
    pub task: TaskId,
    /// Its state, as it was before the streams were read.
    pub status: TaskStatus,
    /// How it ended, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<CommandOutcome>,
    /// What the sandbox refused it that no read has told before, while it runs; once it has ended, `outcome` has all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denials: Vec<Denial>,
    /// What was read of standard output; of both streams where they are merged.
    pub stdout: StreamRead,
    /// What was read of standard error; null where streams are merged.
    pub stderr: Option<StreamRead>,
}

/// What one read covered of a stream, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamRead {
    /// The offset of the first byte that the text shows.
    pub from: u64,
    /// The offset after the last one.
    pub to: u64,
    /// Bytes that the read covered and the text does not show: cut off, dropped from the middle, or lost.
    pub skipped: u64,
}

/// `structuredContent` of `task_list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListing {
    /// The tasks that the text names, the oldest first.
    pub tasks: Vec<TaskSummary>,
    /// How many of the oldest finished tasks were left out.
    pub omitted: u64,
}

/// `structuredContent` of `task_input`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFed {
    /// The task.
    pub task: TaskId,
    /// How many bytes were sent.
    pub bytes: u64,
    /// Whether its input ended with them.
    pub eof: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_state_follows_from_the_cause() {
        for (cause, status) in [
            (Cause::Exited, TaskStatus::Completed),
            (Cause::Signaled, TaskStatus::Killed),
            (Cause::TimedOut, TaskStatus::Killed),
            (Cause::Killed, TaskStatus::Killed),
            (Cause::OomKilled, TaskStatus::Killed),
            (Cause::FailedToStart, TaskStatus::Failed),
            (Cause::Lost, TaskStatus::Failed),
            (Cause::Rejected, TaskStatus::Failed),
        ] {
            assert_eq!(TaskStatus::after(cause), status, "{cause:?}");
            assert!(status.is_final());
        }
    }

    #[test]
    fn facts_of_the_tools_have_their_form() {
        let task = || TaskId::new("bash-1");
        let state = TaskState { task: task(), status: TaskStatus::Stopping };
        assert_eq!(
            serde_json::to_value(state).unwrap(),
            json!({"task": "bash-1", "status": "stopping"})
        );
        let read = TaskRead {
            task: task(),
            status: TaskStatus::Running,
            outcome: None,
            denials: Vec::new(),
            stdout: StreamRead { from: 4, to: 8, skipped: 4 },
            stderr: None,
        };
        assert_eq!(
            serde_json::to_value(read).unwrap(),
            json!({
                "task": "bash-1",
                "status": "running",
                "stdout": {"from": 4, "to": 8, "skipped": 4},
                "stderr": null,
            })
        );
        let listing = TaskListing { tasks: Vec::new(), omitted: 2 };
        assert_eq!(serde_json::to_value(listing).unwrap(), json!({"tasks": [], "omitted": 2}));
        let fed = TaskFed { task: task(), bytes: 3, eof: true };
        assert_eq!(
            serde_json::to_value(fed).unwrap(),
            json!({"task": "bash-1", "bytes": 3, "eof": true})
        );
    }
}
