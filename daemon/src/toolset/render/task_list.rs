//! The text of `task_list`: a line a task, the oldest first.
//!
//! `bash-1 [bash] running — make -j8 (12.3s, CPU 1m20s, 4096 bytes, last output 3s ago, 9 processes)`

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use brattice_protocol::task::{TaskListing, TaskStatus, TaskSummary};

use super::lines::{count, push_line, short_line};
use super::status::EndFacts;
use crate::toolset::definition::{Detail, Toolset};

/// How many finished tasks are listed: the newest.
const MOST_FINISHED: usize = 100;

/// How many characters of a command are shown.
const COMMAND_CHARS: usize = 200;

/// A list in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenderedList {
    /// What the model reads.
    pub(crate) text: String,
    /// The same as data.
    pub(crate) facts: TaskListing,
}

/// Puts the session's tasks, the oldest first, into words. Times are told as they are `now`.
pub(crate) fn render_task_list(
    toolset: &Toolset,
    mut tasks: Vec<TaskSummary>,
    now: SystemTime,
) -> RenderedList {
    let finished = tasks.iter().filter(|task| task.status.is_final()).count();
    let omitted = finished.saturating_sub(MOST_FINISHED);
    let mut to_omit = omitted;
    tasks.retain(|task| {
        let is_omitted = to_omit > 0 && task.status.is_final();
        to_omit -= usize::from(is_omitted);
        !is_omitted
    });
    let mut text = String::new();
    if omitted > 0 {
        let tasks = count(omitted as u64, "older finished task", "older finished tasks");
        text.push_str(&format!("({tasks} not shown)"));
    }
    if tasks.is_empty() {
        push_line(&mut text, "(no background tasks)");
    }
    let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    for task in &tasks {
        push_line(&mut text, &line(toolset.tasks.detail, task, now));
    }
    RenderedList { text, facts: TaskListing { tasks, omitted: omitted as u64 } }
}

fn line(detail: Detail, task: &TaskSummary, now: Duration) -> String {
    let TaskSummary { task: id, kind, .. } = task;
    let (status, command) = (status(detail, task), command(&task.command));
    let line = format!("{id} [{}] {status} — {command}", kind.as_str());
    match detail {
        Detail::Plain => line,
        Detail::Full => format!("{line} ({})", figures(task, now).join(", ")),
    }
}

fn status(detail: Detail, task: &TaskSummary) -> String {
    let ended = EndFacts::of_summary(task).map(|end| end.words_in_list(detail));
    ended.unwrap_or_else(|| {
        match task.status {
            TaskStatus::Running => "running",
            TaskStatus::Stopping => "stopping",
            TaskStatus::Completed => "completed",
            TaskStatus::Killed => "killed",
            TaskStatus::Failed => "failed",
        }
        .to_owned()
    })
}

/// The first line that says something.
fn command(command: &str) -> String {
    let line = command.trim_start().lines().next().unwrap_or_default();
    short_line(line.trim_end(), COMMAND_CHARS)
}

fn figures(task: &TaskSummary, now: Duration) -> Vec<String> {
    let at = Duration::from_millis;
    let until = task.ended.map_or(now, at);
    let mut figures = Vec::new();
    if !task.background {
        figures.push("foreground".to_owned());
    }
    figures.push(time(until.saturating_sub(at(task.started))));
    figures.push(format!("CPU {}", time(at(task.cpu_ms))));
    figures.push(count(task.bytes, "byte", "bytes"));
    if task.status.is_final() {
        figures.push(format!("ended {} ago", age(now.saturating_sub(until))));
        return figures;
    }
    figures.push(match task.last_output {
        Some(last) => format!("last output {} ago", age(now.saturating_sub(at(last)))),
        None => "no output yet".to_owned(),
    });
    match (&task.signal, task.exit_code) {
        (Some(_), _) => figures.push("the shell was killed".to_owned()),
        (None, Some(code)) => figures.push(format!("the shell exited with {code}")),
        (None, None) => {}
    }
    figures.push(count(task.processes, "process", "processes"));
    figures
}

/// A time that was measured: `0.3s`, `1m05s`, `2h03m`, `3d04h`.
fn time(time: Duration) -> String {
    match time.as_millis() {
        ..60_000 => format!("{}.{}s", time.as_secs(), time.subsec_millis() / 100),
        _ => age(time),
    }
}

/// A time ago: nobody asks for tenths of it.
fn age(time: Duration) -> String {
    let seconds = time.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m{:02}s", seconds % 60),
        3600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

#[cfg(test)]
#[path = "tests/task_list.rs"]
mod tests;
