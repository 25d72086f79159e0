//! The closing lines of a command's text: what the daemon adds after the output, each in brackets and on a line of
//! its own. The order is the contract's: the streams, what was left running, the limit, and how the shell ended.

use brattice_protocol::outcome::{Cause, ProcessFacts};
use brattice_protocol::signal::signal_name;

use super::command::{CallFate, CommandText};
use super::decode::Tail;
use super::outcome::{NAMED_PROCESSES, milliseconds};
use crate::exec::spec::{StreamEnd, TaskEnd};
use crate::toolset::arguments::TimeoutOrigin;

/// All closing lines of a command that ran.
pub(super) fn closing_lines(
    command: &CommandText<'_>,
    stdout: &Tail,
    stderr: &Tail,
) -> Vec<String> {
    let end = command.end;
    let mut lines = stream_lines(end, stdout, stderr);
    lines.extend(leftover_lines(end));
    lines.extend(limit_lines(command));
    lines.extend(cause_line(command));
    lines.extend(status_line(end));
    if command.fate == CallFate::Cancelled {
        lines.push("[cancelled]".to_owned());
    }
    lines
}

/// What of the streams is not shown, not in the file, or not anywhere. Empty exactly when all of it is shown.
pub(super) fn stream_lines(end: &TaskEnd, stdout: &Tail, stderr: &Tail) -> Vec<String> {
    let mut lines = cut_lines("stdout", &end.stdout, stdout);
    if let Some(end) = &end.stderr {
        lines.extend(cut_lines("stderr", end, stderr));
    }
    let losses = [Some(&end.stdout), end.stderr.as_ref()];
    for lost in losses.into_iter().flatten().filter_map(|stream| stream.lost.as_ref()) {
        let line = format!("[output lost: {}]", lost.error);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn cut_lines(name: &str, end: &StreamEnd, shown: &Tail) -> Vec<String> {
    let mut lines = Vec::new();
    let lost = end.lost.as_ref().map_or(0, |lost| lost.bytes);
    let omitted = end.bytes.saturating_sub(shown.to - shown.from).saturating_sub(lost);
    if omitted > 0 {
        let place = match &end.file {
            Some(path) => format!("full output: {}", path.display()),
            None => "file unavailable".to_owned(),
        };
        lines.push(format!("[{name} truncated: {omitted} bytes omitted; {place}]"));
    }
    let (from, to) = end.dropped;
    if to > from {
        let dropped = to - from;
        lines.push(format!(
            "[{name} dropped: {dropped} bytes from the middle, offsets {from}-{to}]"
        ));
    }
    lines
}

fn leftover_lines(end: &TaskEnd) -> Vec<String> {
    let mut lines = Vec::new();
    let left = end.leftovers.as_ref().map_or(0, |leftovers| leftovers.count);
    match left.saturating_sub(end.unkillable.len() as u64) {
        0 => {}
        1 => lines.push("[stopped 1 process left running]".to_owned()),
        stopped => lines.push(format!("[stopped {stopped} processes left running]")),
    }
    if !end.unkillable.is_empty() {
        lines.push(format!("[could not be killed: {}]", process_names(&end.unkillable)));
    }
    lines
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
    let limit = milliseconds(command.timeout.limit);
    let mut lines = Vec::new();
    if command.timeout.origin == TimeoutOrigin::Clamped {
        lines.push(format!("[timeout clamped to {limit}ms]"));
    }
    if command.end.cause == Cause::TimedOut {
        lines.push(format!("[timed out after {limit}ms]"));
    }
    lines
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

/// A name that a process chose for itself, or a reason that a person gave, must not forge further lines.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '?' } else { character }).collect()
}
