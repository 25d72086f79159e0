//! Whole texts of commands in `glrs` and `minimal`.

use super::*;

impl Case {
    fn glrs(&self) -> (String, bool) {
        let Rendered { text, is_error, .. } = self.render(ToolsetName::Glrs);
        (text, is_error)
    }

    /// Both streams are one there.
    fn minimal(&self) -> (String, bool) {
        let Rendered { text, is_error, .. } = self.render(ToolsetName::Minimal);
        (text, is_error)
    }

    fn merged(self) -> Self {
        self.ended(|end| end.stderr = None)
    }
}

fn told(text: &str) -> (String, bool) {
    (text.to_owned(), false)
}

fn failed(text: &str) -> (String, bool) {
    (text.to_owned(), true)
}

#[test]
fn glrs_shows_both_streams_without_blank_space_at_their_ends() {
    let glrs = |stdout: &str, stderr: &str| printed(stdout.as_bytes(), stderr.as_bytes()).glrs();
    assert_eq!(glrs("  out \n\n", " err\t\n"), told("  out\n err"));
    assert_eq!(glrs("out\n", "\n"), told("out"));
    assert_eq!(glrs("", "err\n"), told("err"));
    assert_eq!(glrs("", ""), told("[exit 0]"));
    assert_eq!(glrs(" \n", "\n"), told("[exit 0]"), "blank space is nothing");
}

#[test]
fn glrs_tells_codes_and_signals_by_one_number() {
    assert_eq!(printed(b"out\n", b"").exited(3).glrs(), told("out\n[exit 3]"));
    assert_eq!(printed(b"", b"").exited(3).glrs(), told("[exit 3]"));
    assert_eq!(printed(b"out\n", b"").signaled(Cause::Signaled, 9).glrs(), told("out\n[exit 137]"));
    assert_eq!(printed(b"", b"").signaled(Cause::Signaled, 15).glrs(), told("[exit 143]"));
}

#[test]
fn glrs_fails_at_the_limit_and_tells_it_in_place_of_the_exit() {
    let timed_out = || printed(b"out\n", b"err\n").signaled(Cause::TimedOut, 15);
    let text = "ERROR: the command timed out\nout\nerr\n[timed out after 1.5s]";
    assert_eq!(timed_out().glrs(), failed(text));
    let mut whole = timed_out();
    whole.timeout.limit = Duration::from_secs(600);
    assert!(whole.glrs().0.ends_with("\n[timed out after 600s]"), "{:?}", whole.glrs());
    let trapped = timed_out().ended(|end| (end.exit_code, end.signal) = (Some(0), None));
    assert_eq!(trapped.glrs(), failed(text));
    assert_eq!(
        printed(b"", b"").signaled(Cause::TimedOut, 9).glrs(),
        failed("ERROR: the command timed out\n[timed out after 1.5s]")
    );
}

#[test]
fn glrs_shows_the_beginning_of_each_stream() {
    let (stdout, stderr) = ("é".repeat(20_001), "ß".repeat(9_002));
    let case = printed(stdout.as_bytes(), stderr.as_bytes()).exited(1);
    let case = case.ended(|end| end.stdout.file = Some(PathBuf::from("/state/bash-1.stdout")));
    let expected = format!(
        "{}\n{}\n[stdout truncated: 2 bytes omitted; full output: /state/bash-1.stdout]\n\
         [stderr truncated: 4 bytes omitted; file unavailable]\n[exit 1]",
        "é".repeat(20_000),
        "ß".repeat(9_000)
    );
    assert_eq!(case.glrs(), told(&expected));
    let outcome = case.render(ToolsetName::Glrs).outcome;
    assert_eq!((outcome.stdout.shown, outcome.stderr.unwrap().shown), ([0, 40_000], [0, 18_000]));
    let exact = printed("é".repeat(20_000).as_bytes(), "ß".repeat(9_000).as_bytes());
    assert_eq!(exact.glrs().0.chars().count(), 29_001, "nothing is cut that just fits");
}

#[test]
fn glrs_flags_what_did_not_run_and_what_was_cancelled() {
    let not_run = printed(b"", b"").ended(|end| {
        (end.cause, end.exit_code) = (Cause::FailedToStart, None);
        end.reason = Some("working directory /gone does not exist".to_owned());
    });
    assert_eq!(not_run.glrs(), failed("ERROR: working directory /gone does not exist"));
    assert_eq!(not_run.minimal(), failed("working directory /gone does not exist"));
    let cancelled = printed(b"out\n", b"").signaled(Cause::Killed, 15).cancelled();
    assert_eq!(
        cancelled.glrs(),
        failed("ERROR: the call was cancelled\nout\n[exit 143]\n[cancelled]")
    );
}

#[test]
fn minimal_tells_codes_and_signals_in_its_words() {
    let with = |signal| printed(b"", b"").merged().signaled(Cause::Signaled, signal).minimal();
    assert_eq!(printed(b"out\n", b"").merged().minimal(), told("out\n"));
    assert_eq!(printed(b"", b"").merged().minimal(), told("(no output)"));
    assert_eq!(
        printed(b"out", b"").merged().exited(3).minimal(),
        told("out\n[exit code: exit status 3]")
    );
    assert_eq!(with(9), told("(no output)\n[exit code: signal: killed]"));
    assert_eq!(with(11), told("(no output)\n[exit code: signal: segmentation fault]"));
    assert_eq!(with(1), told("(no output)\n[exit code: signal: hangup]"));
    assert_eq!(with(34), told("(no output)\n[exit code: signal: signal 34]"));
}

#[test]
fn minimal_tells_a_passed_limit_in_place_of_the_exit() {
    let mut case = printed(b"out\n", b"").merged().signaled(Cause::TimedOut, 15);
    case.timeout = Timeout { limit: Duration::from_secs(30), origin: TimeoutOrigin::Default };
    assert_eq!(case.minimal(), told("out\n[error: 30s timeout exceeded]"));
}

#[test]
fn minimal_shows_as_many_characters_as_a_result_may_have_and_markers_survive() {
    let text = "é".repeat(8_001);
    let case = printed(text.as_bytes(), b"").merged().exited(2);
    let shown = "é".repeat(8_000);
    let expected =
        format!("{shown}\n[output truncated: 1 characters omitted]\n[exit code: exit status 2]");
    assert_eq!(case.minimal(), told(&expected));
    assert_eq!(case.render(ToolsetName::Minimal).outcome.stdout.shown, [0, 16_000]);
    assert_eq!(printed(shown.as_bytes(), b"").merged().minimal(), told(&shown));
    let long = "x".repeat(100_000);
    let ten = Options { max_output: Some(10), ..Options::default() };
    let cut = printed(long.as_bytes(), b"").merged().render_with(ToolsetName::Minimal, &ten);
    assert_eq!(cut.text, "xxxxxxxxxx\n[output truncated: 99990 characters omitted]");
    assert_eq!(&cut.text[..cut.output_bytes], "xxxxxxxxxx");
}

#[test]
fn neither_cleans_what_was_printed_nor_offers_to_ask() {
    use super::super::super::denied::Refusal;
    use crate::exec::denials::tests::{denials, record};

    let redrawn = printed(b"a\rb\x1b[31m\0\xff\n", b"");
    assert_eq!(redrawn.glrs(), told("a\rb\u{1b}[31m\0\u{fffd}"));
    assert_eq!(redrawn.merged().minimal(), told("a\rb\u{1b}[31m\0\u{fffd}\n"));
    let denied = || {
        let mut case = printed(b"", b"").exited(1);
        case.end.denials = Some(denials(&[record(1, "/etc/hosts", 1)]));
        case.escalation = Some(Escalation::Final(Refusal::Disabled));
        case
    };
    let line = "[sandbox: file access denied under workspace-write mode]";
    assert_eq!(denied().glrs(), told(&format!("{line}\n[exit 1]")));
    assert_eq!(
        denied().merged().minimal(),
        told(&format!("(no output)\n{line}\n[exit code: exit status 1]"))
    );
}

proptest! {
    #[test]
    fn a_result_is_within_its_cap_and_its_closing_line_is_last(
        stdout in proptest::collection::vec(any::<u8>(), 0..400),
        most in 1_u64..100,
        code in 1_i32..256,
    ) {
        let options = Options { max_output: Some(most), ..Options::default() };
        let case = printed(&stdout, b"").merged().exited(code);
        let Rendered { text, output_bytes, .. } = case.render_with(ToolsetName::Minimal, &options);
        let whole = String::from_utf8_lossy(&stdout);
        let shown: String = whole.chars().take(most as usize).collect();
        let output = if stdout.is_empty() { "(no output)" } else { shown.as_str() };
        prop_assert_eq!(&text[..output_bytes], output);
        let omitted = (whole.chars().count() as u64).saturating_sub(most);
        let cut = format!("[output truncated: {omitted} characters omitted]");
        prop_assert_eq!(text.contains(&cut), omitted > 0);
        let closing = format!("[exit code: exit status {code}]");
        prop_assert_eq!(text.rsplit('\n').next(), Some(closing.as_str()));
    }
}
