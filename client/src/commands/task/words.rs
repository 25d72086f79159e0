//! A task's state and figures in words.

use std::time::Duration;

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::{TaskStatus, TaskSummary};

use crate::cli::duration;
use crate::commands::follow::timed_out;

/// What the tools say in `[status: …]`, in short: `running`; `completed, exit code: 3`; `killed, signal: SIGKILL`.
pub(crate) fn state(summary: &TaskSummary) -> String {
    let status = match summary.status {
        TaskStatus::Running => "running",
        TaskStatus::Stopping => "stopping",
        TaskStatus::Completed => "completed",
        TaskStatus::Killed => "killed",
        TaskStatus::Failed => "failed",
    };
    let shell = match (&summary.signal, summary.exit_code) {
        (Some(signal), _) => Some(format!("signal: {signal}")),
        (None, Some(code)) => Some(format!("exit code: {code}")),
        (None, None) => None,
    };
    let why =
        |otherwise: &str| Some(summary.reason.clone().unwrap_or_else(|| otherwise.to_owned()));
    let (one, other) = match summary.cause {
        Some(Cause::TimedOut) => (Some(timed_out(summary.reason.as_deref(), limit(summary))), None),
        Some(Cause::OomKilled) => (shell, Some("out of memory".to_owned())),
        Some(Cause::FailedToStart) => (why("it did not start"), None),
        Some(Cause::Rejected) => (why("it was rejected"), None),
        Some(Cause::Lost) => {
            let lost = summary.reason.as_ref().map(|reason| format!("lost: {reason}"));
            (Some(lost.unwrap_or_else(|| "lost".to_owned())), None)
        }
        // The status says as much.
        Some(Cause::Exited | Cause::Signaled | Cause::Killed) | None => (shell, None),
    };
    let parts = [Some(status.to_owned()), one, other];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The time limit that it had, where it had one.
pub(super) fn limit(summary: &TaskSummary) -> Option<Duration> {
    summary.timeout_ms.map(Duration::from_millis)
}

/// From its start to its end, or to now.
pub(crate) fn elapsed(summary: &TaskSummary, now: u64) -> String {
    let until = summary.ended.unwrap_or(now);
    duration::words(Duration::from_millis(until.saturating_sub(summary.started)))
}

/// How long ago it last printed something.
pub(super) fn silence(summary: &TaskSummary, now: u64) -> String {
    summary.last_output.map_or_else(
        || "-".to_owned(),
        |then| duration::words(Duration::from_millis(now.saturating_sub(then))),
    )
}

/// CPU time.
pub(super) fn cpu(summary: &TaskSummary) -> String {
    match summary.cpu_ms {
        short if short < 60_000 => format!("{}.{}s", short / 1_000, short % 1_000 / 100),
        long => duration::words(Duration::from_millis(long)),
    }
}

/// A number of bytes with three digits or so: `999B`, `1.2K`, `34M`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut tenths = u128::from(bytes) * 10 / 1024;
    let mut unit = 0;
    while tenths >= 10_240 {
        tenths /= 1024;
        unit += 1;
    }
    match tenths {
        few if few < 100 => format!("{}.{}{}", few / 10, few % 10, UNITS[unit]),
        many => format!("{}{}", many / 10, UNITS[unit]),
    }
}

/// The first line of a command, with a sign where there is more.
pub(crate) fn first_line(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let more = if line.len() < text.len() { " …" } else { "" };
    format!("{line}{more}")
}

#[cfg(test)]
pub(super) mod tests {
    use brattice_protocol::TaskId;
    use brattice_protocol::task::TaskKind;

    use super::*;

    pub(in crate::commands::task) fn summary() -> TaskSummary {
        TaskSummary {
            task: TaskId::new("bash-1"),
            kind: TaskKind::Bash,
            status: TaskStatus::Running,
            cause: None,
            exit_code: None,
            signal: None,
            reason: None,
            background: true,
            command: "make -j".into(),
            started: 1_000_000,
            ended: None,
            timeout_ms: None,
            bytes: 3_482,
            last_output: Some(1_060_000),
            cpu_ms: 1_250,
            processes: 4,
            denials_total: None,
        }
    }

    #[test]
    fn a_state_says_how_it_ended() {
        let ended = |status, cause, exit_code, signal: Option<&str>| {
            let signal = signal.map(str::to_owned);
            state(&TaskSummary { status, cause: Some(cause), exit_code, signal, ..summary() })
        };
        use TaskStatus::{Completed, Failed, Killed};
        let cases = [
            (state(&summary()), "running"),
            (ended(Completed, Cause::Exited, Some(137), None), "completed, exit code: 137"),
            (ended(Killed, Cause::Killed, None, Some("SIGTERM")), "killed, signal: SIGTERM"),
            (ended(Killed, Cause::Signaled, None, Some("SIGKILL")), "killed, signal: SIGKILL"),
            (ended(Killed, Cause::TimedOut, Some(0), None), "killed, timed out"),
            (
                ended(Killed, Cause::OomKilled, None, Some("SIGKILL")),
                "killed, signal: SIGKILL, out of memory",
            ),
            (ended(Failed, Cause::Lost, None, None), "failed, lost"),
            (ended(Failed, Cause::FailedToStart, None, None), "failed, it did not start"),
        ];
        for (told, expected) in cases {
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn a_state_says_which_limit_passed_and_why_something_failed() {
        let over = |status, cause, reason: Option<&str>, timeout_ms| {
            let (cause, reason) = (Some(cause), reason.map(str::to_owned));
            state(&TaskSummary { status, cause, reason, timeout_ms, ..summary() })
        };
        use TaskStatus::{Failed, Killed};
        let timed_out = |reason| over(Killed, Cause::TimedOut, reason, Some(1_500));
        assert_eq!(timed_out(None), "killed, timed out after 1500ms");
        let silent = "killed, timed out: no output for 500ms";
        assert_eq!(timed_out(Some("no output for 500ms")), silent);
        assert_eq!(over(Failed, Cause::Lost, Some("gone"), None), "failed, lost: gone");
        assert_eq!(over(Failed, Cause::FailedToStart, Some("no room"), None), "failed, no room");
    }

    #[test]
    fn times_are_told_by_the_clock_of_the_moment() {
        let silent = TaskSummary { last_output: None, ..summary() };
        let over = TaskSummary { ended: Some(1_030_000), cpu_ms: 125_000, ..summary() };
        let figures = |summary: &TaskSummary| {
            [elapsed(summary, 1_065_000), silence(summary, 1_065_000), cpu(summary)]
        };
        assert_eq!(figures(&summary()), ["1m 5s", "5s", "1.2s"]);
        assert_eq!(figures(&silent), ["1m 5s", "-", "1.2s"]);
        assert_eq!(figures(&over), ["30s", "5s", "2m 5s"]);
        assert_eq!(elapsed(&summary(), 0), "0s", "a clock that was set back");
    }

    #[test]
    fn sizes_have_three_digits_or_so() {
        let cases = [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0K"),
            (3_482, "3.4K"),
            (10_240, "10K"),
            (64 << 20, "64M"),
            (u64::MAX, "15E"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(size(bytes), expected);
        }
    }

    #[test]
    fn a_command_is_shown_on_one_line() {
        let cases = [("make -j", "make -j"), ("\n  set -e\nmake\n", "set -e …"), ("", "")];
        for (text, expected) in cases {
            assert_eq!(first_line(text), expected);
        }
    }
}
