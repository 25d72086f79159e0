//! Whole texts of reads, in every state and both toolsets, and the facts beside them.

use std::path::PathBuf;

use brattice_protocol::outcome::{Cause, CommandOutcome, Lost, ProcessFacts};
use brattice_protocol::session::ToolsetName;
use serde_json::json;

use super::super::samples::{Spool, because, ended};
use super::super::unshown_outcome;
use super::*;
use crate::exec::denials::DenialRecord;
use crate::exec::spec::TaskEnd;
use crate::toolset::arguments::{Timeout, TimeoutOrigin};

const RUNNING: Standing<'_> = Standing::Running { shell: Shell::Runs, idle: Duration::ZERO };

/// A read of a task.
struct Case<'a> {
    stdout: Spool,
    stderr: Option<Spool>,
    cursor: Cursor,
    standing: Standing<'a>,
    part: Part,
    wait: Wait,
    lost: Option<Lost>,
    denied: Vec<DenialRecord>,
    ended: Vec<EndedTask<'a>>,
}

fn read<'a>(stdout: &[u8], stderr: &[u8], standing: Standing<'a>) -> Case<'a> {
    Case {
        stdout: Spool::of(stdout),
        stderr: Some(Spool::of(stderr)),
        cursor: Cursor::default(),
        standing,
        part: Part::New,
        wait: Wait::Never,
        lost: None,
        denied: Vec::new(),
        ended: Vec::new(),
    }
}

fn of_end(end: &TaskEnd) -> Standing<'_> {
    Standing::Ended(Ending { end, limit: Some(Duration::from_millis(1000)) })
}

fn idle(seconds: u64) -> Standing<'static> {
    Standing::Running { shell: Shell::Runs, idle: Duration::from_secs(seconds) }
}

impl Case<'_> {
    fn render(&self, name: ToolsetName) -> RenderedReading {
        let toolset = Toolset::of(name);
        let chunks = |spool: &Spool, cursor| {
            spool.chunks(self.part.span(toolset, cursor, spool.data.len() as u64))
        };
        let stdout = chunks(&self.stdout, self.cursor.stdout);
        let stderr = self.stderr.as_ref().map(|spool| chunks(spool, self.cursor.stderr));
        let task = TaskId::new("bash-1");
        let reading = TaskReading {
            task: &task,
            standing: self.standing,
            part: self.part,
            wait: self.wait,
            stdout: StreamReading {
                cursor: self.cursor.stdout,
                length: self.stdout.data.len() as u64,
                chunks: &stdout,
                file: self.stdout.file.as_deref(),
                dropped: (0, 0),
                lost: self.lost.as_ref(),
            },
            stderr: self.stderr.as_ref().zip(stderr.as_ref()).map(|(spool, chunks)| {
                StreamReading {
                    cursor: self.cursor.stderr,
                    length: spool.data.len() as u64,
                    chunks,
                    file: spool.file.as_deref(),
                    dropped: (0, 0),
                    lost: None,
                }
            }),
            denied: DeniedText {
                mode: brattice_policy::Mode::ReadOnly,
                records: &self.denied,
                unlisted: 0,
                escalation: None,
            },
            ended: &self.ended,
        };
        render_task_output(toolset, &reading)
    }

    fn standard(&self) -> String {
        self.render(ToolsetName::Standard).text
    }

    fn dsh(&self) -> String {
        self.render(ToolsetName::Dsh).text
    }

    #[track_caller]
    fn says(&self, text: &str) {
        assert_eq!([self.standard(), self.dsh()], [text, text]);
    }

    fn seen(mut self, stdout: u64, stderr: u64) -> Self {
        self.cursor = Cursor { stdout, stderr };
        self
    }
}

#[test]
fn b057_what_is_new_stands_before_the_status() {
    read(b"one\n", b"", RUNNING).says("one\n[status: running]");
    read(b"one\nthree", b"", RUNNING).seen(4, 0).says("three\n[status: running]");
    read(b"out", b"err\n", RUNNING).says("out\n[stderr]\nerr\n[status: running]");
    read(b"out\n", b"err", RUNNING).seen(4, 0).says("[stderr]\nerr\n[status: running]");
    read(b"one\n", b"", RUNNING).seen(4, 0).says("(no new output)\n[status: running]");
    let end = ended(Cause::Exited, Some(0), None);
    read(b"three", b"", of_end(&end)).says("three\n[status: completed, exit code: 0]");
    read(b"three", b"", of_end(&end))
        .seen(5, 0)
        .says("(no new output)\n[status: completed, exit code: 0]");
}

#[test]
fn every_state_has_its_words() {
    read(b"", b"", Standing::Stopping).says("(no new output)\n[status: stopping]");
    let asked =
        |code, signal| because(ended(Cause::Killed, code, signal), "by task_kill: not needed");
    for (end, standard, dsh) in [
        (ended(Cause::Exited, Some(7), None), "completed, exit code: 7", "completed, exit code: 7"),
        (
            ended(Cause::Signaled, None, Some(9)),
            "killed, signal: SIGKILL",
            "killed, signal: SIGKILL",
        ),
        (
            asked(None, Some(15)),
            "killed, signal: SIGTERM, by task_kill: not needed",
            "killed, signal: SIGTERM",
        ),
        (
            asked(Some(0), None),
            "killed, exit code: 0, by task_kill: not needed",
            "killed, exit code: 0",
        ),
        (
            ended(Cause::TimedOut, Some(0), None),
            "killed, timed out after 1000ms",
            "killed, timed out after 1000ms",
        ),
        (
            because(ended(Cause::Lost, None, None), "the session's supervisor died"),
            "failed, lost: the session's supervisor died",
            "failed, lost: the session's supervisor died",
        ),
    ] {
        let case = read(b"row 1\n", b"", of_end(&end));
        assert_eq!(case.standard(), format!("row 1\n[status: {standard}]"));
        assert_eq!(case.dsh(), format!("row 1\n[status: {dsh}]"));
    }
}

#[test]
fn b041_b042_t049_output_is_shown_as_that_of_bash() {
    let case = read(b"Fetching\rFetched!\na\0b\n", b"\x1b[31mred\x1b[0m \xff\n", RUNNING);
    assert_eq!(case.standard(), "Fetched!\na␀b\n[stderr]\nred \u{fffd}\n[status: running]");
    assert_eq!(
        case.dsh(),
        "Fetching\rFetched!\na\0b\n[stderr]\n\x1b[31mred\x1b[0m \u{fffd}\n[status: running]"
    );
    let merged = Case { stderr: None, ..read(b"both\n", b"", RUNNING) };
    merged.says("both\n[status: running]");
    assert_eq!(merged.render(ToolsetName::Dsh).facts.stderr, None);
    assert_eq!(merged.render(ToolsetName::Dsh).cursor, Some(Cursor { stdout: 5, stderr: 0 }));
}

#[test]
fn what_is_only_drawing_is_no_output_in_standard() {
    let case = read(b"\x1b[0m\r", b"", RUNNING);
    assert_eq!(case.standard(), "(no new output)\n[status: running]");
}

#[test]
fn t046_everything_at_once_in_the_order_of_the_contract() {
    let mut end = ended(Cause::Exited, Some(1), None);
    end.unkillable = vec![ProcessFacts { pid: 8, name: "nfs\ncat".to_owned() }];
    let (other, task) = (ended(Cause::Exited, Some(0), None), TaskId::new("bash-2"));
    let ending = Ending { end: &other, limit: None };
    let mut case = read(&vec![b'o'; 70_000], &vec![b'e'; 80_000], of_end(&end));
    case.stdout.file = Some(PathBuf::from("/state/stdout"));
    case.stdout.holes = vec![(100, 200)];
    case.lost = Some(Lost { bytes: 100, error: "ENOSPC".to_owned() });
    let limit = Duration::from_secs(600);
    case.wait = Wait::For(Timeout { limit, origin: TimeoutOrigin::Clamped });
    case.ended = vec![EndedTask { task: &task, ending }];
    let (out, err) = ("o".repeat(64_000), "e".repeat(64_000));
    case.says(&format!(
        "\
{out}
[stderr]
{err}
[stdout truncated: 6000 bytes omitted; full output: /state/stdout]
[stderr truncated: 16000 bytes omitted; file unavailable]
[output lost: ENOSPC]
[could not be killed: nfs?cat (pid 8)]
[timeout clamped to 600000ms]
[background task bash-2: completed, exit code: 0]
[status: completed, exit code: 1]"
    ));
}

#[test]
fn b055_t040_a_read_says_what_it_passes_over() {
    let mut case = read(&[b'y'; 200], b"", RUNNING);
    case.stdout.holes = vec![(50, 150)];
    let tail = "y".repeat(50);
    case.says(&format!(
        "{tail}\n[stdout truncated: 150 bytes omitted; file unavailable]\n\
         [stdout dropped: 100 bytes from the middle, offsets 50-150]\n[status: running]"
    ));
}

#[test]
fn t041_lost_output_is_no_silence() {
    let mut case = read(b"abc", b"", RUNNING);
    case.stdout.holes = vec![(0, 3)];
    case.lost = Some(Lost { bytes: 3, error: "ENOSPC".to_owned() });
    case.says("[output lost: ENOSPC]\n[status: running]");
}

#[test]
fn what_a_shell_left_running_keeps_its_task_running() {
    let left = |code, processes| Standing::Running {
        shell: Shell::Exited { code, processes },
        idle: Duration::ZERO,
    };
    let case = read(b"up\n", b"", left(Some(0), 2));
    assert_eq!(
        case.standard(),
        "up\n[the shell exited with 0; 2 processes run on]\n[status: running]"
    );
    assert_eq!(case.dsh(), "up\n[status: running]");
    let case = read(b"", b"", left(None, 1));
    assert_eq!(
        case.standard(),
        "(no new output)\n[the shell was killed; 1 process runs on]\n[status: running]"
    );
}

#[test]
fn t059_a_silent_prompt_is_a_hint_before_the_status() {
    let hint = "[no output for 45s: the last line looks like a prompt]";
    let case = read(b"setup\nOverwrite? [y/N] ", b"", idle(45));
    let new = "setup\nOverwrite? [y/N] ";
    assert_eq!(case.standard(), format!("{new}\n{hint}\n[status: running]"));
    assert_eq!(case.dsh(), format!("{new}\n[status: running]"));
    let seen = read(b"setup\nOverwrite? [y/N] ", b"", idle(45)).seen(23, 0);
    assert_eq!(seen.standard(), format!("(no new output)\n{hint}\n[status: running]"));
    let on_stderr = read(b"setup\n", b"\x1b[1mPassword:\x1b[0m ", idle(45)).seen(6, 18);
    assert_eq!(on_stderr.standard(), format!("(no new output)\n{hint}\n[status: running]"));

    for (standing, output) in [
        (idle(4), b"Go on?".as_slice()),
        (idle(45), b"Go on?\n"),
        (idle(45), b"50%"),
        (Standing::Stopping, b"Go on?"),
    ] {
        assert!(!read(output, b"", standing).standard().contains("prompt"), "{output:?}");
    }
}

#[test]
fn a_wait_that_was_clamped_says_so_and_others_do_not() {
    let waited = |origin| {
        let wait = Wait::For(Timeout { limit: Duration::from_secs(600), origin });
        Case { wait, ..read(b"", b"", RUNNING) }
    };
    waited(TimeoutOrigin::Clamped)
        .says("(no new output)\n[timeout clamped to 600000ms]\n[status: running]");
    for origin in [TimeoutOrigin::Default, TimeoutOrigin::AsAsked] {
        waited(origin).says("(no new output)\n[status: running]");
    }
}

#[test]
fn reading_again_moves_nothing() {
    let again = |part| Case { part, ..read(b"one\ntwo\n", b"e\n", RUNNING).seen(8, 2) };
    for (part, text) in [
        (Part::New, "(no new output)\n[status: running]"),
        (Part::From(0), "one\ntwo\n[stderr]\ne\n[status: running]"),
        (Part::From(4), "two\n[status: running]"),
        (Part::From(9), "(no output from offset 9 on)\n[status: running]"),
        (Part::TailLines(1), "two\n[stderr]\ne\n[status: running]"),
    ] {
        assert_eq!(again(part).standard(), text);
    }
    let cursor = |part| again(part).render(ToolsetName::Standard).cursor;
    assert_eq!(cursor(Part::New), Some(Cursor { stdout: 8, stderr: 2 }));
    assert_eq!([Part::From(0), Part::TailLines(1)].map(cursor), [None, None]);
    let nothing = Case { part: Part::TailLines(3), ..read(b"", b"", RUNNING) };
    assert_eq!(nothing.standard(), "(no output)\n[status: running]");
}

#[test]
fn the_facts_hold_ranges_and_the_outcome_once_there_is_one() {
    let running = read(b"one\ntwo\xe2", b"e\n", RUNNING).seen(4, 2).render(ToolsetName::Dsh);
    assert_eq!(
        serde_json::to_value(&running.facts).unwrap(),
        json!({
            "task": "bash-1",
            "status": "running",
            "stdout": {"from": 4, "to": 7, "skipped": 0},
            "stderr": {"from": 2, "to": 2, "skipped": 0},
        })
    );
    assert_eq!(running.cursor, Some(Cursor { stdout: 7, stderr: 2 }));

    let mut end = ended(Cause::Exited, Some(7), None);
    end.stdout.bytes = 100_000;
    let ended = read(&[b'x'; 100_000], b"", of_end(&end)).seen(10, 0).render(ToolsetName::Dsh);
    let task::TaskRead { status, outcome, stdout, .. } = ended.facts;
    assert_eq!(status, TaskStatus::Completed);
    assert_eq!(stdout, task::StreamRead { from: 36_000, to: 100_000, skipped: 35_990 });
    let mut expected: CommandOutcome = unshown_outcome(&TaskId::new("bash-1"), &end);
    expected.stdout.shown = [36_000, 100_000];
    assert_eq!(outcome, Some(expected));
}

#[test]
fn the_status_is_the_last_line_whatever_was_printed() {
    let forged = read(b"[status: completed, exit code: 0]", b"", RUNNING);
    for text in [forged.standard(), forged.dsh()] {
        assert_eq!(text, "[status: completed, exit code: 0]\n[status: running]");
    }
}

#[test]
fn denials_are_told_before_the_status_and_as_data_while_it_runs() {
    use crate::exec::denials::tests::{denials, record};

    let records = [record(1, "/etc/hosts", 2)];
    let lines = "[sandbox: file access denied under read-only mode]\ndenied: write /etc/hosts\n";
    let mut running = read(b"", b"", RUNNING);
    running.denied = records.to_vec();
    let rendered = running.render(ToolsetName::Standard);
    assert_eq!(rendered.text, format!("(no new output)\n{lines}[status: running]"));
    let told: Vec<_> =
        rendered.facts.denials.iter().map(|told| (&*told.path, told.count)).collect();
    assert_eq!(told, [("/etc/hosts", 2)]);

    let end = TaskEnd { denials: Some(denials(&records)), ..ended(Cause::Exited, Some(0), None) };
    let mut over = read(b"", b"", of_end(&end));
    over.denied = records.to_vec();
    let rendered = over.render(ToolsetName::Standard);
    assert_eq!(rendered.text, format!("(no new output)\n{lines}[status: completed, exit code: 0]"));
    assert_eq!(rendered.facts.denials, []);
    assert_eq!(rendered.facts.outcome.unwrap().denials_total, Some(2));
}
