//! The exit status that tells how a command ended.

use brattice_protocol::outcome::{Cause, CommandOutcome};
use brattice_protocol::signal::signal_number;

use crate::cli::Failure;

/// The exit status when the command's time was over, as timeout(1) has it.
const TIMED_OUT: u8 = 124;

/// The command's own exit code, 128 + n for signal n, or 124 past the limit.
pub(crate) fn exit_status(outcome: &CommandOutcome) -> Result<u8, Failure> {
    match outcome.cause {
        Cause::TimedOut => Ok(TIMED_OUT),
        Cause::FailedToStart | Cause::Rejected => {
            Err(Failure::NotRun { reason: outcome.reason.clone() })
        }
        Cause::Lost => Err(Failure::Lost),
        Cause::Exited | Cause::Signaled | Cause::Killed | Cause::OomKilled => {
            let signal = outcome.signal.as_deref().and_then(signal_number);
            // An exit code has eight bits and a signal's number is 64 at most (wait(2), signal(7)).
            let status = signal.map(|number| 128 + number).or(outcome.exit_code);
            status.and_then(|status| u8::try_from(status).ok()).ok_or(Failure::Lost)
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use brattice_protocol::Mode;
    use brattice_protocol::outcome::{SandboxFacts, StreamOutcome};

    use super::*;

    pub(in crate::commands) fn outcome(
        cause: Cause,
        exit_code: Option<i32>,
        signal: Option<&str>,
    ) -> CommandOutcome {
        let stream = || StreamOutcome {
            bytes: 0,
            shown: [0, 0],
            file: None,
            dropped: 0,
            lost: None,
            invalid_utf8: 0,
        };
        CommandOutcome {
            cause,
            exit_code,
            signal: signal.map(str::to_owned),
            reason: None,
            duration_ms: 1,
            user_ms: 0,
            sys_ms: 0,
            max_rss_bytes: 0,
            stdout: stream(),
            stderr: Some(stream()),
            denials: Vec::new(),
            git_changes: Vec::new(),
            denials_total: None,
            denials_ambient: 0,
            unobserved: None,
            sandbox: SandboxFacts { mode: Mode::ReadOnly, landlock_abi: 7, layers: Vec::new() },
            task: None,
            left_running: None,
            escalated_from: None,
            approval_required: None,
        }
    }

    fn status(cause: Cause, exit_code: Option<i32>, signal: Option<&str>) -> Option<u8> {
        exit_status(&outcome(cause, exit_code, signal)).ok()
    }

    #[test]
    fn every_way_to_end_has_its_status() {
        let cases = [
            (Cause::Exited, Some(0), None, Some(0)),
            (Cause::Exited, Some(255), None, Some(255)),
            (Cause::Signaled, None, Some("SIGSEGV"), Some(139)),
            (Cause::Signaled, None, Some("SIGRTMIN+3"), Some(165)),
            (Cause::Signaled, None, Some("SIG33"), Some(161)),
            (Cause::OomKilled, None, Some("SIGKILL"), Some(137)),
            (Cause::Killed, None, Some("SIGTERM"), Some(143)),
            (Cause::Killed, Some(3), None, Some(3)),
            (Cause::TimedOut, None, Some("SIGTERM"), Some(124)),
            (Cause::TimedOut, Some(0), None, Some(124)),
            // A missing code is never 0.
            (Cause::Exited, None, None, None),
            (Cause::Signaled, None, Some("SIGNOVELTY"), None),
            (Cause::FailedToStart, None, None, None),
            (Cause::Rejected, None, None, None),
            (Cause::Lost, None, None, None),
        ];
        for (cause, code, signal, expected) in cases {
            assert_eq!(status(cause, code, signal), expected, "{cause:?} {code:?} {signal:?}");
        }
    }
}
