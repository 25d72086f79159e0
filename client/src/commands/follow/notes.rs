//! What an outcome says beyond the output, as lines for people, in the words and the order of the tools' results.

use std::time::Duration;

use brattice_protocol::outcome::{Cause, CommandOutcome, LeftRunning};

use super::denied::denied;
use crate::cli::plain::plain;

/// Bytes of each stream that were dropped before they could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// Of standard output.
    pub(crate) stdout: u64,
    /// Of standard error.
    pub(crate) stderr: u64,
}

impl Skipped {
    /// Whether anything was dropped.
    pub(crate) fn is_any(&self) -> bool {
        self.stdout + self.stderr > 0
    }
}

/// The lines, each with its newline. None for a command that ended by itself, left nothing and was denied nothing.
pub(crate) fn notes(
    outcome: &CommandOutcome,
    skipped: &Skipped,
    timeout: Option<Duration>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, bytes) in [("stdout", skipped.stdout), ("stderr", skipped.stderr)] {
        if bytes > 0 {
            lines.push(format!("{name}: {bytes} bytes dropped from the middle"));
        }
    }
    for stream in std::iter::once(&outcome.stdout).chain(&outcome.stderr) {
        lines.extend(stream.lost.as_ref().map(|lost| format!("output lost: {}", lost.error)));
    }
    lines.extend(outcome.left_running.as_ref().map(leftovers));
    if !outcome.git_changes.is_empty() {
        let changes: Vec<String> =
            outcome.git_changes.iter().map(|change| change.escape_debug().to_string()).collect();
        lines.push(format!("git runs later what was changed: {}", changes.join("; ")));
    }
    lines.dedup();
    let end = cause(outcome, timeout).into_iter().chain(shell_status(outcome));
    let bracketed = |line: String| format!("[{}]\n", plain(&line));
    let before = lines.into_iter().map(bracketed);
    before.chain(denied(outcome)).chain(end.map(bracketed)).collect()
}

/// Which limit passed: words for one of another kind, else the time limit, where it is known. How long the command took is
/// neither.
pub(crate) fn timed_out(reason: Option<&str>, limit: Option<Duration>) -> String {
    match (reason, limit) {
        (Some(reason), _) => format!("timed out: {reason}"),
        (None, Some(limit)) => format!("timed out after {}ms", limit.as_millis()),
        (None, None) => "timed out".to_owned(),
    }
}

fn leftovers(left: &LeftRunning) -> String {
    let processes = match left.count {
        1 => "1 process".to_owned(),
        count => format!("{count} processes"),
    };
    match (&left.task, left.stopped) {
        (Some(task), _) => format!("{processes} still running: now task {task}"),
        (None, Some(true)) => format!("stopped {processes} left running"),
        (None, Some(false) | None) => format!("{processes} still running"),
    }
}

fn cause(outcome: &CommandOutcome, timeout: Option<Duration>) -> Option<String> {
    match outcome.cause {
        Cause::TimedOut => Some(timed_out(outcome.reason.as_deref(), timeout)),
        Cause::OomKilled => Some("out of memory".to_owned()),
        Cause::Killed => Some(match &outcome.reason {
            Some(reason) => format!("killed: {reason}"),
            None => "killed".to_owned(),
        }),
        // These are told as failures.
        Cause::FailedToStart | Cause::Lost | Cause::Rejected => None,
        Cause::Exited | Cause::Signaled => None,
    }
}

/// How the shell ended, where the exit status of `brattice` does not tell.
fn shell_status(outcome: &CommandOutcome) -> Option<String> {
    match (&outcome.signal, outcome.exit_code, outcome.cause) {
        (Some(signal), ..) => Some(format!("killed by signal: {signal}")),
        (None, Some(code), Cause::TimedOut) if code != 0 => Some(format!("exit code: {code}")),
        (None, ..) => None,
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::TaskId;
    use brattice_protocol::outcome::Lost;

    use super::super::status::tests::outcome;
    use super::*;

    fn told(outcome: &CommandOutcome, skipped: Skipped) -> String {
        notes(outcome, &skipped, Some(Duration::from_millis(1500))).concat()
    }

    #[test]
    fn a_command_that_ended_by_itself_is_not_commented() {
        assert_eq!(told(&outcome(Cause::Exited, Some(1), None), Skipped::default()), "");
    }

    #[test]
    fn a_limit_that_is_not_known_is_not_made_up() {
        let ended = outcome(Cause::TimedOut, Some(0), None);
        assert_eq!(notes(&ended, &Skipped::default(), None), ["[timed out]\n"]);
    }

    #[test]
    fn everything_that_is_to_be_told_comes_in_the_contracts_order() {
        let mut ended = outcome(Cause::TimedOut, None, Some("SIGKILL"));
        ended.stdout.lost = Some(Lost { bytes: 7, error: "ENOSPC".into() });
        ended.left_running =
            Some(LeftRunning { task: None, stopped: Some(true), processes: Vec::new(), count: 2 });
        ended.denials_total = Some(1);
        assert_eq!(
            told(&ended, Skipped { stdout: 5, stderr: 0 }),
            "[stdout: 5 bytes dropped from the middle]\n[output lost: ENOSPC]\n\
             [stopped 2 processes left running]\nbrattice: denied: and 1 more\n[timed out after 1500ms]\n[killed by signal: SIGKILL]\n"
        );
    }

    #[test]
    fn other_ends_have_their_words() {
        let cases = [
            (outcome(Cause::Signaled, None, Some("SIGSEGV")), "[killed by signal: SIGSEGV]\n"),
            (
                outcome(Cause::OomKilled, None, Some("SIGKILL")),
                "[out of memory]\n[killed by signal: SIGKILL]\n",
            ),
            (outcome(Cause::TimedOut, Some(3), None), "[timed out after 1500ms]\n[exit code: 3]\n"),
            (outcome(Cause::TimedOut, Some(0), None), "[timed out after 1500ms]\n"),
            (
                CommandOutcome {
                    reason: Some("no output for 500ms".into()),
                    ..outcome(Cause::TimedOut, Some(0), None)
                },
                "[timed out: no output for 500ms]\n",
            ),
            (
                CommandOutcome {
                    reason: Some("SIGINT\n[x]".into()),
                    ..outcome(Cause::Killed, None, Some("SIGTERM"))
                },
                "[killed: SIGINT\\n[x]]\n[killed by signal: SIGTERM]\n",
            ),
            (
                CommandOutcome {
                    left_running: Some(LeftRunning {
                        task: Some(TaskId::new("bash-3")),
                        stopped: None,
                        processes: Vec::new(),
                        count: 1,
                    }),
                    ..outcome(Cause::Exited, Some(0), None)
                },
                "[1 process still running: now task bash-3]\n",
            ),
        ];
        for (ended, expected) in cases {
            assert_eq!(told(&ended, Skipped::default()), expected);
        }
    }
}
