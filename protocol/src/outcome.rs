//! `structuredContent` of a command: how it ended and what it left, as data.

use serde::{Deserialize, Serialize};

use brattice_policy::Mode;
use brattice_policy::layer::Layer;

use crate::TaskId;
use crate::approval::ApprovalRequired;

/// Kinds of refusal that are told of one command.
pub const MOST_DENIALS: usize = 64;

/// Everything that is known about a command that ended, or never started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandOutcome {
    /// Why it ended.
    pub cause: Cause,
    /// The shell's exit code; null when there was none. A missing code is never 0.
    pub exit_code: Option<i32>,
    /// The name of the signal that ended the shell, such as `SIGKILL`; null when there was none.
    pub signal: Option<String>,
    /// Why, in words, where the cause alone does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// From start to end.
    pub duration_ms: u64,
    /// CPU time in user mode of the shell and all it waited for.
    pub user_ms: u64,
    /// CPU time in the kernel of the same.
    pub sys_ms: u64,
    /// The largest resident set of any one process of it (getrusage(2)).
    pub max_rss_bytes: u64,
    /// Standard output; both streams where they are merged.
    pub stdout: StreamOutcome,
    /// Standard error; null where streams are merged.
    pub stderr: Option<StreamOutcome>,
    /// What the sandbox refused, each kind once: the first [`MOST_DENIALS`]. Empty without an observer (`sandbox.layers`),
    /// which nothing records without.
    #[serde(default)]
    pub denials: Vec<Denial>,
    /// How many refusals there were, the repeated ones and those that are not listed included; null where nobody counted. A
    /// missing count is never 0.
    #[serde(default)]
    pub denials_total: Option<u64>,
    /// How many refusals there were that say nothing about the command, such as of a program's bookkeeping that it does
    /// without; they are neither listed nor among the others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub denials_ambient: u64,
    /// How many calls the observer could not look into; null where there was none.
    #[serde(default)]
    pub unobserved: Option<u64>,
    /// What git runs by itself, later, and was changed while the command ran: settings of its configuration that name a program,
    /// and hooks, as `core.fsmonitor in <file>` or `<file>`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub git_changes: Vec<String>,
    /// How it was confined.
    pub sandbox: SandboxFacts,
    /// The task that it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// What the shell left running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_running: Option<LeftRunning>,
    /// The session's mode, where a person allowed this command a wider one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated_from: Option<Mode>,
    /// The approval that is missing, where the call has not waited for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_required: Option<ApprovalRequired>,
}

/// Why a command ended. Code and signal are separate facts: a command that was killed may still have exited with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The shell exited by itself.
    Exited,
    /// A signal that Brattice did not send ended the shell.
    Signaled,
    /// Its time was over.
    TimedOut,
    /// Somebody asked for its end.
    Killed,
    /// The kernel ended it for want of memory.
    OomKilled,
    /// It never ran.
    FailedToStart,
    /// Its supervisor died; how it ended cannot be known.
    Lost,
    /// It was not allowed to run: a person said no, nobody could be asked, or the policy refused it.
    Rejected,
}

/// One stream of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamOutcome {
    /// Bytes that were written to it.
    pub bytes: u64,
    /// The range of bytes that the text shows, end exclusive.
    pub shown: [u64; 2],
    /// The file that holds all of it (within the spool's cap), where the text does not show all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Bytes that were dropped from the middle because the stream outgrew its cap.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Bytes that could not be kept, with the kernel's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// Bytes that are no UTF-8 and were shown as U+FFFD.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid_utf8: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Output that could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// How many bytes.
    pub bytes: u64,
    /// The name of the error, such as `ENOSPC`.
    pub error: String,
}

/// Something that the sandbox refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What was tried, such as `write`.
    pub operation: String,
    /// On what: a path, cut where it is longer than 1,024 bytes; for a signal or a limit `pid N`, for another call its name.
    pub path: String,
    /// Where to, for a rename or a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_path: Option<String>,
    /// The layer that refused it.
    pub layer: String,
    /// The narrowest mode that would allow it.
    pub needs: String,
    /// A setting that would allow it without a wider mode, as it would stand in a configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// How often.
    pub count: u64,
}

/// How a command was confined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxFacts {
    /// The mode that really applied.
    pub mode: Mode,
    /// The kernel's Landlock ABI; 0 where there is none.
    pub landlock_abi: u32,
    /// The layers and their state.
    pub layers: Vec<Layer>,
}

/// Processes that the shell left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRunning {
    /// The task that they became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Whether they were stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<bool>,
    /// What they were, at most 16 of them.
    pub processes: Vec<ProcessFacts>,
    /// How many there were.
    pub count: u64,
}

/// A process, as it was when it was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessFacts {
    /// Its number then.
    pub pid: u32,
    /// Its program's name (`comm`, at most 15 bytes).
    pub name: String,
}
