//! The words for every end, and the lines that tell of ended tasks.

use brattice_protocol::session::ToolsetName;

use super::super::samples::{because, ended};
use super::*;

fn words(end: &TaskEnd, limit: Option<u64>) -> [String; 2] {
    let limit = limit.map(Duration::from_millis);
    [Detail::Full, Detail::Plain].map(|detail| EndFacts::from(Ending { end, limit }).words(detail))
}

fn same(words: &str) -> [String; 2] {
    [words.to_owned(), words.to_owned()]
}

#[test]
fn b050_b051_b059_t032_t073_t075_t079_no_end_looks_like_another() {
    let asked = |end| because(end, "by task_kill: not needed");
    for (end, limit, full, plain) in [
        (ended(Cause::Exited, Some(0), None), None, "completed, exit code: 0", None),
        (ended(Cause::Exited, Some(137), None), Some(5), "completed, exit code: 137", None),
        (ended(Cause::Signaled, None, Some(9)), None, "killed, signal: SIGKILL", None),
        (
            asked(ended(Cause::Killed, None, Some(15))),
            None,
            "killed, signal: SIGTERM, by task_kill: not needed",
            Some("killed, signal: SIGTERM"),
        ),
        (
            asked(ended(Cause::Killed, Some(0), None)),
            None,
            "killed, exit code: 0, by task_kill: not needed",
            Some("killed, exit code: 0"),
        ),
        (
            because(ended(Cause::Killed, None, Some(9)), "by task_kill"),
            None,
            "killed, signal: SIGKILL, by task_kill",
            Some("killed, signal: SIGKILL"),
        ),
        (ended(Cause::Killed, None, None), None, "killed", None),
        (
            ended(Cause::TimedOut, None, Some(15)),
            Some(1000),
            "killed, timed out after 1000ms",
            None,
        ),
        (ended(Cause::TimedOut, Some(0), None), Some(1000), "killed, timed out after 1000ms", None),
        (ended(Cause::TimedOut, None, Some(15)), None, "killed, timed out", None),
        (
            because(ended(Cause::TimedOut, None, Some(15)), "no output for 30000ms"),
            Some(1000),
            "killed, timed out: no output for 30000ms",
            None,
        ),
        (
            ended(Cause::OomKilled, None, Some(9)),
            None,
            "killed, signal: SIGKILL, out of memory",
            None,
        ),
        (ended(Cause::FailedToStart, None, None), None, "failed, it did not start", None),
        (
            because(ended(Cause::FailedToStart, None, None), "working directory /w does not exist"),
            None,
            "failed, working directory /w does not exist",
            None,
        ),
        (ended(Cause::Lost, None, None), None, "failed, lost", None),
        (
            because(ended(Cause::Lost, None, None), "the session's supervisor died"),
            None,
            "failed, lost: the session's supervisor died",
            None,
        ),
        (ended(Cause::Rejected, None, None), None, "failed, it was rejected", None),
    ] {
        let expected = [full.to_owned(), plain.unwrap_or(full).to_owned()];
        assert_eq!(words(&end, limit), expected);
    }
}

#[test]
fn a_reason_forges_no_further_line_and_is_cut() {
    let end = because(ended(Cause::Lost, None, None), "a]\n[status: completed, exit code: 0");
    assert_eq!(words(&end, None), same("failed, lost: a]?[status: completed, exit code: 0"));
    let end = because(ended(Cause::FailedToStart, None, None), &"é".repeat(2000));
    assert_eq!(words(&end, None), same(&format!("failed, {}…", "é".repeat(1000))));
}

#[test]
fn who_killed_a_task_is_recorded_with_the_reason() {
    assert_eq!(task_kill_reason(Some("not needed")), "by task_kill: not needed");
    assert_eq!(task_kill_reason(None), "by task_kill");
}

#[test]
fn ends_are_told_a_line_each_after_any_text() {
    let tasks: Vec<TaskId> = (1..=23).map(|n| TaskId::new(format!("bash-{n}"))).collect();
    let (zero, killed) = (
        ended(Cause::Exited, Some(0), None),
        because(ended(Cause::Killed, None, Some(15)), "by task_kill: done"),
    );
    let told = |name, text: &str, ends: &[&TaskEnd]| {
        let ended: Vec<_> = tasks
            .iter()
            .zip(ends)
            .map(|(task, end)| EndedTask { task, ending: Ending { end, limit: None } })
            .collect();
        let mut text = text.to_owned();
        append_ended(Toolset::of(name), &mut text, &ended);
        text
    };
    assert_eq!(told(ToolsetName::Standard, "a\n", &[]), "a\n");
    assert_eq!(
        told(ToolsetName::Standard, "a", &[&zero, &killed]),
        "a\n[background task bash-1: completed, exit code: 0]\n\
         [background task bash-2: killed, signal: SIGTERM, by task_kill: done]"
    );
    assert_eq!(
        told(ToolsetName::Dsh, "Error: no\n", &[&killed]),
        "Error: no\n[background task bash-1: killed, signal: SIGTERM]"
    );
    let many = told(ToolsetName::Dsh, "", &[&zero; 23]);
    let lines: Vec<_> = many.lines().collect();
    assert_eq!(lines.len(), 21);
    assert_eq!(lines[19], "[background task bash-20: completed, exit code: 0]");
    assert_eq!(lines[20], "[background tasks: 3 more have ended]");
}
