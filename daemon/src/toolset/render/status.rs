//! How a task stands, in the words of `[status: …]`, and that a task has ended, in a line of any tool's text.
//!
//! ```text
//!  cause            words
//!  exited           completed, exit code: 7
//!  signaled         killed, signal: SIGKILL
//!  killed           killed, signal: SIGTERM        or  killed, exit code: 0        + who and why
//!  timed out        killed, timed out after 1000ms
//!  out of memory    killed, signal: SIGKILL, out of memory
//!  not started      failed, <why>
//!  lost             failed, lost: <why>
//! ```

use std::borrow::Cow;
use std::time::Duration;

use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use brattice_protocol::signal::signal_name;
use brattice_protocol::task::TaskSummary;

use super::lines::{push_line, short_line};
use super::outcome::milliseconds;
use crate::exec::spec::TaskEnd;
use crate::toolset::definition::{Detail, Toolset};

/// How many characters of a reason are repeated.
const REASON_CHARS: usize = 1000;

/// How many ends one result tells.
const MOST_TOLD: usize = 20;

/// How a task ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// The end itself.
    pub(crate) end: &'a TaskEnd,
    /// The time limit that it had, if it had one.
    pub(crate) limit: Option<Duration>,
}

/// A background task that has ended, which nobody has been told yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EndedTask<'a> {
    /// The task.
    pub(crate) task: &'a TaskId,
    /// How it ended.
    pub(crate) ending: Ending<'a>,
}

/// Who ended a task by `task_kill`, and why: what is to be recorded as the reason of its end.
pub(crate) fn task_kill_reason(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("by task_kill: {reason}"),
        None => "by task_kill".to_owned(),
    }
}

/// Tells the ends of background tasks at the end of any tool's text (but not of `task_output`'s, which takes them
/// itself, before its status).
pub(crate) fn append_ended(toolset: &Toolset, text: &mut String, ended: &[EndedTask<'_>]) {
    for line in ended_lines(toolset, ended) {
        push_line(text, &line);
    }
}

/// Tells at the very end of a text that the same call gave the same so many times in a row.
pub(crate) fn append_loop(text: &mut String, number: u64) {
    push_line(text, &format!("[LOOP_DETECTED: same call and result {number} times in a row]"));
}

/// A line for each, up to a number of them.
pub(super) fn ended_lines(toolset: &Toolset, ended: &[EndedTask<'_>]) -> Vec<String> {
    let told = ended.iter().take(MOST_TOLD);
    let mut lines: Vec<String> = told
        .map(|ended| {
            let words = EndFacts::from(ended.ending).words(toolset.tasks.detail);
            format!("[background task {}: {words}]", ended.task)
        })
        .collect();
    if ended.len() > MOST_TOLD {
        lines.push(format!("[background tasks: {} more have ended]", ended.len() - MOST_TOLD));
    }
    lines
}

/// What the words for an end are made of.
#[derive(Debug)]
pub(super) struct EndFacts<'a> {
    cause: Cause,
    exit_code: Option<i32>,
    signal: Option<Cow<'a, str>>,
    reason: Option<&'a str>,
    limit: Option<Duration>,
}

impl<'a> From<Ending<'a>> for EndFacts<'a> {
    fn from(Ending { end, limit }: Ending<'a>) -> Self {
        EndFacts {
            cause: end.cause,
            exit_code: end.exit_code,
            signal: end.signal.map(signal_name),
            reason: end.reason.as_deref(),
            limit,
        }
    }
}

impl<'a> EndFacts<'a> {
    /// The facts in a task's line of a list, once it has ended.
    pub(super) fn of_summary(task: &'a TaskSummary) -> Option<Self> {
        Some(EndFacts {
            cause: task.cause.filter(|_| task.status.is_final())?,
            exit_code: task.exit_code,
            signal: task.signal.as_deref().map(Cow::Borrowed),
            reason: task.reason.as_deref(),
            limit: task.timeout_ms.map(Duration::from_millis),
        })
    }

    /// All that is told of an end.
    pub(super) fn words(&self, detail: Detail) -> String {
        match self.cause {
            Cause::Exited => format!("completed{}", self.shell()),
            Cause::Signaled => format!("killed{}", self.shell()),
            Cause::Killed => format!("killed{}{}", self.shell(), self.killer(detail)),
            Cause::TimedOut => format!("killed, {}", self.limit()),
            Cause::OomKilled => format!("killed{}, out of memory", self.shell()),
            Cause::FailedToStart => format!("failed, {}", self.why("it did not start")),
            Cause::Lost => match self.reason {
                Some(_) => format!("failed, lost: {}", self.why("")),
                None => "failed, lost".to_owned(),
            },
            Cause::Rejected => format!("failed, {}", self.why("it was rejected")),
        }
    }

    /// As much as tells one end from another in a list. Where nothing says who ended a task, its signal would look like
    /// one of its own.
    pub(super) fn words_in_list(&self, detail: Detail) -> String {
        match (self.cause, detail) {
            (Cause::Killed, Detail::Plain) => "killed".to_owned(),
            (_, Detail::Plain | Detail::Full) => self.words(detail),
        }
    }

    /// How the shell ended, where it is known.
    fn shell(&self) -> String {
        match (&self.signal, self.exit_code) {
            (Some(signal), _) => format!(", signal: {}", short_line(signal, REASON_CHARS)),
            (None, Some(code)) => format!(", exit code: {code}"),
            (None, None) => String::new(),
        }
    }

    fn killer(&self, detail: Detail) -> String {
        match (detail, self.reason) {
            (Detail::Full, Some(reason)) => format!(", {}", short_line(reason, REASON_CHARS)),
            (Detail::Full, None) | (Detail::Plain, _) => String::new(),
        }
    }

    /// Which limit passed: words for one of another kind, else the task's limit.
    fn limit(&self) -> String {
        match (self.reason, self.limit) {
            (Some(reason), _) => format!("timed out: {}", short_line(reason, REASON_CHARS)),
            (None, Some(limit)) => format!("timed out after {}ms", milliseconds(limit)),
            (None, None) => "timed out".to_owned(),
        }
    }

    fn why(&self, otherwise: &str) -> String {
        short_line(self.reason.unwrap_or(otherwise), REASON_CHARS)
    }
}

#[cfg(test)]
#[path = "tests/status.rs"]
mod tests;
