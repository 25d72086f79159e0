//! The text of a command's result: the streams, the closing lines, and whether it is flagged as an error.

use brattice_protocol::TaskId;
use brattice_protocol::outcome::{Cause, CommandOutcome};

use super::body::printed;
use super::closing::{closing_lines, stream_lines};
use super::decode::{Excerpt, decode_tail};
use super::denied::Escalation;
use super::lines::push_line;
use super::outcome::command_outcome;
use crate::exec::spec::{Chunk, TaskEnd};
use crate::toolset::arguments::Timeout;
use crate::toolset::definition::Toolset;

/// What of a command its text is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandText<'a> {
    /// The task that it was.
    pub(crate) task: &'a TaskId,
    /// How it ended.
    pub(crate) end: &'a TaskEnd,
    /// The end of its standard output, [`Toolset::tail_bytes`] long where there is as much.
    pub(crate) stdout: &'a Chunk,
    /// The end of its standard error; empty where the streams are merged.
    pub(crate) stderr: &'a Chunk,
    /// The time limit that applied.
    pub(crate) timeout: Timeout,
    /// What became of the call.
    pub(crate) fate: CallFate,
    /// What there is to be done about what it was denied.
    pub(crate) escalation: Option<Escalation>,
}

/// What became of a call while its command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFate {
    /// It was waited for.
    Finished,
    /// It was withdrawn, and the command stopped for that.
    Cancelled,
}

/// A command's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// What the model reads.
    pub(crate) text: String,
    /// Whether the call failed as a call.
    pub(crate) is_error: bool,
    /// The same facts as data.
    pub(crate) outcome: CommandOutcome,
}

/// Puts a command's end into words.
pub(crate) fn render_command(toolset: &Toolset, command: &CommandText<'_>) -> Rendered {
    let stdout = decode_tail(command.stdout.into(), 0, &toolset.output);
    let stderr = decode_tail(command.stderr.into(), 0, &toolset.output);
    let outcome = command_outcome(command.task, command.end, &stdout, &stderr);
    let body = || body(toolset, command, &stdout, &stderr);
    let (text, is_error) = match (command.end.cause, command.fate) {
        (Cause::FailedToStart | Cause::Rejected, _) => (not_run(toolset, command.end), true),
        (Cause::Lost, _) => (flagged(toolset, "the command was lost", body()), true),
        (_, CallFate::Cancelled) => (flagged(toolset, "the call was cancelled", body()), true),
        (
            Cause::Exited | Cause::Signaled | Cause::TimedOut | Cause::Killed | Cause::OomKilled,
            CallFate::Finished,
        ) => (body(), false),
    };
    Rendered { text, is_error, outcome }
}

/// Puts into words that a command never ran.
pub(crate) fn render_not_run(toolset: &Toolset, task: &TaskId, end: &TaskEnd) -> Rendered {
    let nothing = Excerpt::default();
    let outcome = command_outcome(task, end, &nothing, &nothing);
    Rendered { text: not_run(toolset, end), is_error: true, outcome }
}

fn not_run(toolset: &Toolset, end: &TaskEnd) -> String {
    let otherwise = match end.cause {
        Cause::Rejected => "the command was rejected",
        Cause::FailedToStart
        | Cause::Lost
        | Cause::Exited
        | Cause::Signaled
        | Cause::TimedOut
        | Cause::Killed
        | Cause::OomKilled => "the command did not start",
    };
    toolset.error(end.reason.as_deref().unwrap_or(otherwise))
}

/// A text with output in it that is flagged. Where flagged texts have a prefix, a headline carries it, so that the
/// output's first line stays as it was printed.
fn flagged(toolset: &Toolset, headline: &str, text: String) -> String {
    if toolset.error_prefix.is_empty() {
        return text;
    }
    format!("{}\n{text}", toolset.error(headline))
}

/// The output and the closing lines.
fn body(
    toolset: &Toolset,
    command: &CommandText<'_>,
    stdout: &Excerpt,
    stderr: &Excerpt,
) -> String {
    let mut text = printed(&toolset.output, stdout, stderr);
    if text.is_empty() && stream_lines(command.end, stdout, stderr).is_empty() {
        text.push_str("(no output)");
    }
    for line in closing_lines(toolset, command, stdout, stderr) {
        push_line(&mut text, &line);
    }
    text
}

#[cfg(test)]
#[path = "tests/command.rs"]
mod tests;
