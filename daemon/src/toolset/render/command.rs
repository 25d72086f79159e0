//! The text of a command's result: the streams, the closing lines, and whether it is flagged as an error.

use brattice_protocol::TaskId;
use brattice_protocol::outcome::{Cause, CommandOutcome};
use brattice_protocol::tools::Stream;

use super::body::laid_out;
use super::characters::StreamLength;
use super::closing::{Printed, closing_lines, stream_lines};
use super::cut::cut;
use super::decode::{Excerpt, count_characters, decode_first, decode_tail};
use super::denied::Escalation;
use super::lines::push_line;
use super::outcome::{command_outcome, taskless_outcome};
use crate::exec::spec::{Chunk, TaskEnd};
use crate::toolset::arguments::Timeout;
use crate::toolset::definition::Toolset;
use crate::toolset::tool::SessionTools;
use crate::toolset::window::Window;
use crate::toolset::wording::{Kept, Silence};

/// What of a command its text is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandText<'a> {
    /// The task that it was.
    pub(crate) task: &'a TaskId,
    /// How it ended.
    pub(crate) end: &'a TaskEnd,
    /// What was read of its standard output (`SessionTools::window`).
    pub(crate) stdout: &'a Chunk,
    /// What was read of its standard error; empty where the streams are merged.
    pub(crate) stderr: &'a Chunk,
    /// How long its standard output is, where the beginning of it is shown.
    pub(crate) length: StreamLength,
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
    /// How many bytes of it come before the closing lines.
    pub(crate) output_bytes: usize,
    /// Whether the call failed as a call.
    pub(crate) is_error: bool,
    /// The same facts as data.
    pub(crate) outcome: CommandOutcome,
}

/// Puts a command's end into words.
pub(crate) fn render_command(tools: SessionTools<'_>, command: &CommandText<'_>) -> Rendered {
    let toolset = tools.toolset();
    let stdout = excerpt(tools, Stream::Stdout, command.stdout);
    let stderr = excerpt(tools, Stream::Stderr, command.stderr);
    let outcome = command_outcome(command.task, command.end, &stdout, &stderr);
    let headline = match (command.end.cause, command.fate) {
        (Cause::FailedToStart | Cause::Rejected, _) => {
            return unrun(not_run(toolset, command.end), outcome);
        }
        (Cause::Lost, _) => Some("the command was lost"),
        (_, CallFate::Cancelled) => Some("the call was cancelled"),
        (Cause::TimedOut, CallFate::Finished) if toolset.command.limit.fails_call() => {
            Some("the command timed out")
        }
        (
            Cause::Exited | Cause::Signaled | Cause::TimedOut | Cause::Killed | Cause::OomKilled,
            CallFate::Finished,
        ) => None,
    };
    let mut text = headline.map_or_else(String::new, |headline| flag(toolset, headline));
    let (output, closing) = body(tools, command, &stdout, &stderr);
    text.push_str(&output);
    let output_bytes = text.len();
    for line in closing {
        push_line(&mut text, &line);
    }
    Rendered { text, output_bytes, is_error: headline.is_some(), outcome }
}

/// What is shown of a stream.
fn excerpt(tools: SessionTools<'_>, stream: Stream, read: &Chunk) -> Excerpt {
    let rules = &tools.toolset().output;
    match tools.window(stream) {
        Window::Tail(_) => decode_tail(read.into(), 0, rules),
        Window::Head(characters) => decode_first(read.into(), characters, rules.nul),
    }
}

fn unrun(text: String, outcome: CommandOutcome) -> Rendered {
    Rendered { output_bytes: text.len(), text, is_error: true, outcome }
}

/// Puts into words that a command never ran.
pub(crate) fn render_not_run(toolset: &Toolset, task: &TaskId, end: &TaskEnd) -> Rendered {
    let nothing = Excerpt::default();
    let outcome = command_outcome(task, end, &nothing, &nothing);
    unrun(not_run(toolset, end), outcome)
}

/// The facts beside the text that a command was not allowed to run. It had no task.
pub(crate) fn render_rejected(end: &TaskEnd, text: String) -> Rendered {
    unrun(text, taskless_outcome(end))
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

/// What a text with output in it begins with that is flagged. Where flagged texts have a prefix, a headline carries it, so
/// that the output's first line stays as it was printed.
fn flag(toolset: &Toolset, headline: &str) -> String {
    if toolset.error_prefix.is_empty() {
        return String::new();
    }
    format!("{}\n", toolset.error(headline))
}

/// The output and the closing lines.
fn body(
    tools: SessionTools<'_>,
    command: &CommandText<'_>,
    stdout: &Excerpt,
    stderr: &Excerpt,
) -> (String, Vec<String>) {
    let toolset = tools.toolset();
    let mut output = laid_out(toolset, stdout, stderr);
    let length = match (command.length, toolset.command.kept) {
        // The output is cut already, and what was read is all there is.
        (StreamLength::AsRead, Kept::Result) => {
            StreamLength::Characters(count_characters(&command.stdout.data))
        }
        (length, _) => length,
    };
    let cut = cut(tools.cap(), &mut output, length);
    let is_silent = output.is_empty()
        && cut.is_none()
        && stream_lines(toolset, command.end, stdout, stderr).is_empty();
    let printed = if is_silent { Printed::Nothing } else { Printed::Something };
    if is_silent && toolset.command.silence == Silence::Words {
        output.push_str("(no output)");
    }
    let closing = closing_lines(toolset, command, (stdout, stderr), printed);
    (output, cut.into_iter().chain(closing).collect())
}

#[cfg(test)]
#[path = "tests/command.rs"]
mod tests;
