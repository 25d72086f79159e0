//! The closing lines of a command's text: what the daemon adds after the output, each on a line of its own.
//! The order is the contract's: the streams, what was left running, what was denied, the limit, and how the shell ended.

use std::path::Path;
use std::time::Duration;

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
use crate::toolset::wording::{Kept, LimitLine, Silence, StatusLine};

/// Whether a command printed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// It did.
    Something,
    /// It did not.
    Nothing,
}

/// All closing lines of a command that ran.
pub(super) fn closing_lines(
    toolset: &Toolset,
    command: &CommandText<'_>,
    (stdout, stderr): (&Excerpt, &Excerpt),
    printed: Printed,
) -> Vec<String> {
    let end = command.end;
    let mut lines = stream_lines(toolset, end, stdout, stderr);
    lines.extend(leftover_lines(command));
    lines.extend(denial_lines(toolset, &DeniedText::of_end(end, command.escalation)));
    lines.extend(git_line(end));
    lines.extend(limit_lines(toolset, command));
    lines.extend(cause_line(command));
    lines.extend(status_line(toolset, end, printed));
    if command.fate == CallFate::Cancelled {
        lines.push("[cancelled]".to_owned());
    }
    lines
}

/// What of the streams is not shown, not in the file, or not anywhere. Empty exactly when all of it is shown, unless
/// the cut of the result tells what is not.
pub(super) fn stream_lines(
    toolset: &Toolset,
    end: &TaskEnd,
    stdout: &Excerpt,
    stderr: &Excerpt,
) -> Vec<String> {
    let mut lines = Vec::new();
    if toolset.command.kept != Kept::Result {
        lines.extend(cut_lines("stdout", &end.stdout, stdout));
        if let Some(end) = &end.stderr {
            lines.extend(cut_lines("stderr", end, stderr));
        }
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

/// What git runs by itself and was changed, if anything was.
pub(super) fn git_line(end: &TaskEnd) -> Option<String> {
    let changes: Vec<String> = end.git_changes.iter().map(|change| one_line(change)).collect();
    (!changes.is_empty())
        .then(|| format!("[git runs later what was changed: {}]", changes.join("; ")))
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

fn limit_lines(toolset: &Toolset, command: &CommandText<'_>) -> Vec<String> {
    let mut lines: Vec<String> = clamped_line(command.timeout).into_iter().collect();
    if command.end.cause == Cause::TimedOut {
        let limit = command.timeout.limit;
        lines.push(match toolset.command.limit {
            LimitLine::Milliseconds => format!("[timed out after {}ms]", milliseconds(limit)),
            LimitLine::SecondsFailed => format!("[timed out after {}s]", seconds(limit)),
            LimitLine::Exceeded => format!("[error: {}s timeout exceeded]", seconds(limit)),
        });
    }
    lines
}

/// A limit in seconds, with as many decimals as it takes: `600`, `1.5`.
fn seconds(limit: Duration) -> f64 {
    limit.as_secs_f64()
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

fn status_line(toolset: &Toolset, end: &TaskEnd, printed: Printed) -> Option<String> {
    let rules = &toolset.command;
    if end.cause == Cause::TimedOut && rules.limit.replaces_status() {
        return None;
    }
    let says_zero = printed == Printed::Nothing && rules.silence == Silence::ExitLine;
    let code = end.exit_code.filter(|code| *code != 0 || says_zero);
    match (rules.status, end.signal, code) {
        (_, None, None) => None,
        (StatusLine::CodeOrSignal, Some(signal), _) => {
            Some(format!("[killed by signal: {}]", signal_name(signal)))
        }
        (StatusLine::CodeOrSignal, None, Some(code)) => Some(format!("[exit code: {code}]")),
        (StatusLine::Number, Some(signal), _) => Some(format!("[exit {}]", SIGNALED + signal)),
        (StatusLine::Number, None, Some(code)) => Some(format!("[exit {code}]")),
        (StatusLine::Status, Some(signal), _) => {
            Some(format!("[exit code: signal: {}]", signal_words(signal)))
        }
        (StatusLine::Status, None, Some(code)) => Some(format!("[exit code: exit status {code}]")),
    }
}

/// What shells add to a signal's number.
const SIGNALED: i32 = 128;

/// A signal in words, as Go's `os.ProcessState` has them; what it has none for it tells by its number.
fn signal_words(signal: i32) -> String {
    const WORDS: [&str; 15] = [
        "hangup",
        "interrupt",
        "quit",
        "illegal instruction",
        "trace/breakpoint trap",
        "aborted",
        "bus error",
        "floating point exception",
        "killed",
        "user defined signal 1",
        "segmentation fault",
        "user defined signal 2",
        "broken pipe",
        "alarm clock",
        "terminated",
    ];
    let index = usize::try_from(signal).ok().and_then(|signal| signal.checked_sub(1));
    match index.and_then(|index| WORDS.get(index)) {
        Some(words) => (*words).to_owned(),
        None => format!("signal {signal}"),
    }
}
