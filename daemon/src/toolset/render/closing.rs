//! The closing lines of a command's text: what the daemon adds after the output, each on a line of its own.
//! The order is the contract's: the streams, what was left running, what was denied, the limit, and how the shell ended.

use std::path::Path;

use brattice_protocol::outcome::{Cause, Lost, ProcessFacts};
use brattice_protocol::signal::signal_name;

use super::command::{CallFate, CommandText};
use super::decode::Excerpt;
use super::denied::{DeniedText, denial_lines};
use super::lines::{count, one_line};
use super::outcome::{NAMED_PROCESSES, milliseconds};
use crate::exec::spec::{LeftoverFate, StreamEnd, TaskEnd};
use crate::toolset::arguments::{Timeout, TimeoutOrigin};
use crate::toolset::definition::Toolset;

/// All closing lines of a command that ran.
pub(super) fn closing_lines(
    toolset: &Toolset,
    command: &CommandText<'_>,
    stdout: &Excerpt,
    stderr: &Excerpt,
) -> Vec<String> {
    let end = command.end;
    let mut lines = stream_lines(end, stdout, stderr);
    lines.extend(leftover_lines(command));
    lines.extend(denial_lines(toolset, &DeniedText::of_end(end, command.escalation)));
    lines.extend(limit_lines(command));
    lines.extend(cause_line(command));
    lines.extend(status_line(end));
    if command.fate == CallFate::Cancelled {
        lines.push("[cancelled]".to_owned());
    }
    lines
}

/// What of the streams is not shown, not in the file, or not anywhere. Empty exactly when all of it is shown.
pub(super) fn stream_lines(end: &TaskEnd, stdout: &Excerpt, stderr: &Excerpt) -> Vec<String> {
    let mut lines = cut_lines("stdout", &end.stdout, stdout);
    if let Some(end) = &end.stderr {
        lines.extend(cut_lines("stderr", end, stderr));
    }
    lines.extend(loss_lines(&[
        end.stdout.lost.as_ref(),
        end.stderr.as_ref().and_then(|stream| stream.lost.as_ref()),
    ]));
    lines
}

fn cut_lines(name: &str, end: &StreamEnd, shown: &Excerpt) -> Vec<String> {
    let lost = end.lost.as_ref().map_or(0, |lost| lost.bytes);
    let omitted = end.bytes.saturating_sub(shown.length()).saturating_sub(lost);
    let truncated = truncated_line(name, omitted, end.file.as_deref());
    truncated.into_iter().chain(dropped_line(name, end.dropped)).collect()
}

/// So many bytes are not shown, if any.
pub(super) fn truncated_line(name: &str, omitted: u64, file: Option<&Path>) -> Option<String> {
    let place = match file {
        Some(path) => format!("full output: {}", path.display()),
        None => "file unavailable".to_owned(),
    };
    (omitted > 0).then(|| format!("[{name} truncated: {omitted} bytes omitted; {place}]"))
}

/// This range is gone, unless it is empty.
pub(super) fn dropped_line(name: &str, (from, to): (u64, u64)) -> Option<String> {
    (to > from).then(|| {
        let dropped = to - from;
        format!("[{name} dropped: {dropped} bytes from the middle, offsets {from}-{to}]")
    })
}

/// What could not be kept of the streams: each reason once.
pub(super) fn loss_lines(losses: &[Option<&Lost>]) -> Vec<String> {
    let mut lines = Vec::new();
    for lost in losses.iter().flatten() {
        let line = format!("[output lost: {}]", lost.error);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn leftover_lines(command: &CommandText<'_>) -> Vec<String> {
    let end = command.end;
    let left = end.leftovers.as_ref().map_or(0, |leftovers| leftovers.count);
    let left = left.saturating_sub(end.unkillable.len() as u64);
    let processes = count(left, "process", "processes");
    let mut lines = Vec::new();
    if left > 0 {
        let fate = end.leftovers.as_ref().map(|leftovers| leftovers.fate);
        lines.push(match fate {
            Some(LeftoverFate::Adopted) => {
                format!("[{processes} still running: now task {}]", command.task)
            }
            Some(LeftoverFate::Stopped) | None => format!("[stopped {processes} left running]"),
        });
    }
    lines.extend(unkillable_line(end));
    lines
}

/// What survived SIGKILL, if anything did.
pub(super) fn unkillable_line(end: &TaskEnd) -> Option<String> {
    (!end.unkillable.is_empty())
        .then(|| format!("[could not be killed: {}]", process_names(&end.unkillable)))
}

fn process_names(processes: &[ProcessFacts]) -> String {
    let mut names: Vec<String> = processes
        .iter()
        .take(NAMED_PROCESSES)
        .map(|process| format!("{} (pid {})", one_line(&process.name), process.pid))
        .collect();
    if processes.len() > NAMED_PROCESSES {
        names.push(format!("and {} more", processes.len() - NAMED_PROCESSES));
    }
    names.join(", ")
}

fn limit_lines(command: &CommandText<'_>) -> Vec<String> {
    let mut lines: Vec<String> = clamped_line(command.timeout).into_iter().collect();
    if command.end.cause == Cause::TimedOut {
        lines.push(format!("[timed out after {}ms]", milliseconds(command.timeout.limit)));
    }
    lines
}

/// A longer limit was asked for, if it was.
pub(super) fn clamped_line(timeout: Timeout) -> Option<String> {
    (timeout.origin == TimeoutOrigin::Clamped)
        .then(|| format!("[timeout clamped to {}ms]", milliseconds(timeout.limit)))
}

/// A cause that neither the limit nor the shell's status tells.
fn cause_line(command: &CommandText<'_>) -> Option<String> {
    match (command.end.cause, command.fate) {
        (Cause::OomKilled, _) => Some("[out of memory]".to_owned()),
        (Cause::Lost, _) => {
            Some("[lost: its supervisor died, so how it ended is not known]".to_owned())
        }
        (Cause::Killed, CallFate::Finished) => Some(match &command.end.reason {
            Some(reason) => format!("[killed: {}]", one_line(reason)),
            None => "[killed]".to_owned(),
        }),
        (Cause::Killed, CallFate::Cancelled) => None,
        (
            Cause::Exited
            | Cause::Signaled
            | Cause::TimedOut
            | Cause::FailedToStart
            | Cause::Rejected,
            _,
        ) => None,
    }
}

fn status_line(end: &TaskEnd) -> Option<String> {
    match (end.signal, end.exit_code) {
        (Some(signal), _) => Some(format!("[killed by signal: {}]", signal_name(signal))),
        (None, Some(0) | None) => None,
        (None, Some(code)) => Some(format!("[exit code: {code}]")),
    }
}
