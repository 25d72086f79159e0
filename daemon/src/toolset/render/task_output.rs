//! The text of `task_output`: what a read shows of a task's streams, the closing lines, and last of all how it stands.

use std::time::Duration;

use brattice_protocol::TaskId;
use brattice_protocol::task::{self, TaskStatus};

use super::body::printed;
use super::closing::{clamped_line, git_line, loss_lines, unkillable_line};
use super::decode::{Excerpt, Rest};
use super::denied::{self, DeniedText, denial_lines};
use super::lines::{count, push_line};
use super::outcome::command_outcome;
use super::prompt::looks_like_prompt;
use super::status::{EndFacts, EndedTask, Ending, ended_lines};
use super::stream::{Shown, StreamReading};
use crate::toolset::arguments::{Part, Wait};
use crate::toolset::definition::{Detail, Toolset};

/// How long a task must have been silent before its last line is taken for a prompt.
const IDLE: Duration = Duration::from_secs(5);

/// What of a task a read is made of. How it stands is looked at first, then how long its streams are, then they are
/// read: of a task that has ended nothing may be missing.
#[derive(Clone, Debug)]
pub(crate) struct TaskReading<'a> {
    /// The task.
    pub(crate) task: &'a TaskId,
    /// How it stands.
    pub(crate) standing: Standing<'a>,
    /// Which part of its output was asked for.
    pub(crate) part: Part,
    /// Whether its end was waited for.
    pub(crate) wait: Wait,
    /// Its standard output, or both streams where merged.
    pub(crate) stdout: StreamReading<'a>,
    /// Its standard error; `None` where merged.
    pub(crate) stderr: Option<StreamReading<'a>>,
    /// What it was denied: once it has ended all, while it runs what no read of what is new has told.
    pub(crate) denied: DeniedText<'a>,
    /// Other background tasks that ended meanwhile.
    pub(crate) ended: &'a [EndedTask<'a>],
}

/// How a task stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Standing<'a> {
    /// It runs.
    Running {
        /// What its shell does.
        shell: Shell,
        /// How long it has printed nothing.
        idle: Duration,
    },
    /// Its end was asked for.
    Stopping,
    /// It has ended.
    Ended(Ending<'a>),
}

/// What the shell of a running task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// It runs as well.
    Runs,
    /// It has exited, and what it left runs on.
    Exited {
        /// Its code, unless a signal ended it.
        code: Option<i32>,
        /// How many processes it left.
        processes: u64,
    },
}

/// A read in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenderedReading {
    /// What the model reads.
    pub(crate) text: String,
    /// The same as data.
    pub(crate) facts: task::TaskRead,
    /// Up to where the session has now read the streams. None where the read was not of what is new: it moves nothing.
    pub(crate) cursor: Option<Cursor>,
}

/// Up to where a session has read a task's streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The offset in standard output.
    pub(crate) stdout: u64,
    /// The offset in standard error.
    pub(crate) stderr: u64,
}

/// Puts a read into words.
pub(crate) fn render_task_output(toolset: &Toolset, reading: &TaskReading<'_>) -> RenderedReading {
    let rest = match reading.standing {
        Standing::Running { .. } | Standing::Stopping => Rest::MayCome,
        Standing::Ended(_) => Rest::None,
    };
    let show = |stream: &StreamReading<'_>| Shown::of(stream, reading.part, rest, &toolset.output);
    let streams =
        ShownStreams { stdout: show(&reading.stdout), stderr: reading.stderr.as_ref().map(show) };
    RenderedReading {
        text: text(toolset, reading, &streams),
        facts: facts(reading, &streams),
        cursor: match reading.part {
            Part::New => Some(Cursor {
                stdout: streams.stdout.end(),
                stderr: streams.stderr.as_ref().map_or(0, Shown::end),
            }),
            Part::From(_) | Part::TailLines(_) => None,
        },
    }
}

/// What is shown of both streams.
struct ShownStreams {
    stdout: Shown,
    stderr: Option<Shown>,
}

fn text(toolset: &Toolset, reading: &TaskReading<'_>, streams: &ShownStreams) -> String {
    let nothing = Excerpt::default();
    let stderr = streams.stderr.as_ref().map_or(&nothing, |shown| &shown.excerpt);
    let mut text = printed(&toolset.output, &streams.stdout.excerpt, stderr);
    let lines = stream_lines(reading, streams);
    if text.is_empty() && lines.is_empty() {
        text = silence(reading.part);
    }
    for line in lines {
        push_line(&mut text, &line);
    }
    for line in closing_lines(toolset, reading, streams) {
        push_line(&mut text, &line);
    }
    push_line(&mut text, &format!("[status: {}]", status(toolset.tasks.detail, reading.standing)));
    text
}

fn silence(part: Part) -> String {
    match part {
        Part::New => "(no new output)".to_owned(),
        Part::From(offset) => format!("(no output from offset {offset} on)"),
        Part::TailLines(_) => "(no output)".to_owned(),
    }
}

/// What of the streams is not shown, or not anywhere.
fn stream_lines(reading: &TaskReading<'_>, streams: &ShownStreams) -> Vec<String> {
    let mut lines = streams.stdout.lines("stdout", &reading.stdout, reading.part);
    if let (Some(stream), Some(shown)) = (&reading.stderr, &streams.stderr) {
        lines.extend(shown.lines("stderr", stream, reading.part));
    }
    let losses = [reading.stdout.lost, reading.stderr.and_then(|stream| stream.lost)];
    lines.extend(loss_lines(&losses));
    lines
}

/// The lines between those on the streams and the status.
fn closing_lines(
    toolset: &Toolset,
    reading: &TaskReading<'_>,
    streams: &ShownStreams,
) -> Vec<String> {
    let mut lines = Vec::new();
    let detail = toolset.tasks.detail;
    match (reading.standing, detail) {
        (Standing::Running { shell: Shell::Exited { code, processes }, .. }, Detail::Full) => {
            lines.push(left_line(code, processes));
        }
        (Standing::Ended(Ending { end, .. }), _) => lines.extend(unkillable_line(end)),
        (Standing::Running { .. } | Standing::Stopping, _) => {}
    }
    lines.extend(denial_lines(toolset, &reading.denied));
    if let Standing::Ended(Ending { end, .. }) = reading.standing {
        lines.extend(git_line(end));
    }
    if let Wait::For(timeout) = reading.wait {
        lines.extend(clamped_line(timeout));
    }
    if let (Standing::Running { idle, .. }, Detail::Full) = (reading.standing, detail)
        && idle >= IDLE
        && streams.end_with_a_prompt()
    {
        let seconds = idle.as_secs();
        lines.push(format!("[no output for {seconds}s: the last line looks like a prompt]"));
    }
    lines.extend(ended_lines(toolset, reading.ended));
    lines
}

fn left_line(code: Option<i32>, processes: u64) -> String {
    let exited = match code {
        Some(code) => format!("exited with {code}"),
        None => "was killed".to_owned(),
    };
    let run = if processes == 1 { "runs" } else { "run" };
    format!("[the shell {exited}; {} {run} on]", count(processes, "process", "processes"))
}

impl ShownStreams {
    /// Whether one of them ends with a line that asks for something, seen now or before.
    fn end_with_a_prompt(&self) -> bool {
        let streams = [Some(&self.stdout), self.stderr.as_ref()];
        streams.into_iter().flatten().any(|stream| looks_like_prompt(stream.excerpt.last_line()))
    }
}

impl Standing<'_> {
    fn status(&self) -> TaskStatus {
        match self {
            Standing::Running { .. } => TaskStatus::Running,
            Standing::Stopping => TaskStatus::Stopping,
            Standing::Ended(Ending { end, .. }) => TaskStatus::after(end.cause),
        }
    }
}

/// How a task stands, as its `[status: …]` has it.
fn status(detail: Detail, standing: Standing<'_>) -> String {
    match standing {
        Standing::Running { .. } => "running".to_owned(),
        Standing::Stopping => "stopping".to_owned(),
        Standing::Ended(ending) => EndFacts::from(ending).words(detail),
    }
}

fn facts(reading: &TaskReading<'_>, streams: &ShownStreams) -> task::TaskRead {
    let nothing = Excerpt::default();
    let stderr = streams.stderr.as_ref().map_or(&nothing, |shown| &shown.excerpt);
    let outcome = match reading.standing {
        Standing::Ended(Ending { end, .. }) => {
            Some(command_outcome(reading.task, end, &streams.stdout.excerpt, stderr))
        }
        Standing::Running { .. } | Standing::Stopping => None,
    };
    task::TaskRead {
        task: reading.task.clone(),
        status: reading.standing.status(),
        denials: match outcome {
            Some(_) => Vec::new(),
            None => denied::facts(reading.denied.records),
        },
        outcome,
        stdout: streams.stdout.facts(),
        stderr: streams.stderr.as_ref().map(Shown::facts),
    }
}

#[cfg(test)]
#[path = "tests/task_output.rs"]
mod tests;
