//! Whole texts of commands, and the facts beside them.

use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::layer::{Layer, LayerName, LayerReport};
use brattice_policy::{Limits, Mode};
use brattice_protocol::outcome::{LeftRunning, Lost, ProcessFacts, SandboxFacts, StreamOutcome};
use brattice_protocol::session::{Options, ToolsetName};
use brattice_protocol::tools::Stream;
use proptest::prelude::*;

use super::super::characters::CharacterCount;
use super::*;
use crate::exec::spec::{LeftoverFate, Leftovers, StreamEnd};
use crate::toolset::arguments::TimeoutOrigin;
use crate::toolset::window::Reading;
use crate::toolset::wording::Kept;

/// A command that printed something and ended in some way.
struct Case {
    end: TaskEnd,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    timeout: Timeout,
    fate: CallFate,
    escalation: Option<Escalation>,
}

fn layers() -> LayerReport {
    LayerReport { landlock_abi: 6, layers: vec![Layer::on(LayerName::Landlock)] }
}

fn stream(bytes: usize) -> StreamEnd {
    StreamEnd { bytes: bytes as u64, ..StreamEnd::default() }
}

fn printed(stdout: &[u8], stderr: &[u8]) -> Case {
    Case {
        end: TaskEnd {
            cause: Cause::Exited,
            exit_code: Some(0),
            signal: None,
            reason: None,
            duration: Duration::from_millis(7),
            user: Duration::from_millis(2),
            sys: Duration::from_millis(1),
            max_rss: 4096,
            stdout: stream(stdout.len()),
            stderr: Some(stream(stderr.len())),
            leftovers: None,
            unkillable: Vec::new(),
            denials: None,
            git_changes: Vec::new(),
            mode: Mode::WorkspaceWrite,
            layers: layers().into(),
        },
        stdout: stdout.to_vec(),
        stderr: stderr.to_vec(),
        timeout: Timeout { limit: Duration::from_millis(1500), origin: TimeoutOrigin::AsAsked },
        fate: CallFate::Finished,
        escalation: None,
    }
}

impl Case {
    fn ended(mut self, change: impl FnOnce(&mut TaskEnd)) -> Self {
        change(&mut self.end);
        self
    }

    fn exited(self, code: i32) -> Self {
        self.ended(|end| end.exit_code = Some(code))
    }

    fn signaled(self, cause: Cause, signal: i32) -> Self {
        self.ended(|end| (end.cause, end.exit_code, end.signal) = (cause, None, Some(signal)))
    }

    fn cancelled(mut self) -> Self {
        self.fate = CallFate::Cancelled;
        self
    }

    fn clamped(mut self) -> Self {
        self.timeout = Timeout { limit: Duration::from_secs(600), origin: TimeoutOrigin::Clamped };
        self
    }

    fn render(&self, name: ToolsetName) -> Rendered {
        self.render_with(name, &Options::default())
    }

    fn render_with(&self, name: ToolsetName, options: &Options) -> Rendered {
        let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
        let tools = tools.opened_with(options);
        let read = |stream, data: &[u8]| {
            let Reading { offset, bytes } = tools.window(stream).reading(data.len() as u64);
            let from = offset as usize;
            let to = data.len().min(from + bytes);
            Chunk { data: data[from..to].to_vec(), offset, skipped: 0 }
        };
        let (task, stdout) = (TaskId::new("bash-1"), read(Stream::Stdout, &self.stdout));
        let mut count = CharacterCount::default();
        count.add(&Chunk { data: self.stdout.clone(), ..Chunk::default() });
        let is_result = tools.toolset().command.kept == Kept::Result;
        let length = if is_result && stdout.data.len() < self.stdout.len() {
            count.finish(self.stdout.len() as u64)
        } else {
            StreamLength::AsRead
        };
        render_command(
            tools,
            &CommandText {
                task: &task,
                end: &self.end,
                stdout: &stdout,
                stderr: &read(Stream::Stderr, &self.stderr),
                length,
                timeout: self.timeout,
                fate: self.fate,
                escalation: self.escalation,
            },
        )
    }

    fn standard(&self) -> String {
        self.render(ToolsetName::Standard).text
    }

    fn dsh(&self) -> String {
        self.render(ToolsetName::Dsh).text
    }
}

fn process(pid: u32, name: &str) -> ProcessFacts {
    ProcessFacts { pid, name: name.to_owned() }
}

#[test]
fn output_stands_as_it_was_printed() {
    assert_eq!(printed(b"hi\n", b"").standard(), "hi\n");
    assert_eq!(printed(b"hi", b"").standard(), "hi");
    assert_eq!(printed(b"\n\nhi\n\n", b"").standard(), "\n\nhi\n\n");
}

#[test]
fn stderr_follows_under_a_line_of_its_own() {
    assert_eq!(printed(b"out\n", b"err\n").standard(), "out\n[stderr]\nerr\n");
    assert_eq!(printed(b"out", b"err").standard(), "out\n[stderr]\nerr");
    assert_eq!(printed(b"", b"err\n").standard(), "[stderr]\nerr\n");
}

#[test]
fn merged_streams_have_no_stderr() {
    let rendered = printed(b"both\n", b"").ended(|end| end.stderr = None).render(ToolsetName::Dsh);
    assert_eq!(rendered.text, "both\n");
    assert_eq!(rendered.outcome.stderr, None);
}

#[test]
fn silence_is_told() {
    assert_eq!(printed(b"", b"").standard(), "(no output)");
    assert_eq!(printed(b"", b"").exited(1).standard(), "(no output)\n[exit code: 1]");
    assert_eq!(printed(b"\x1b[0m", b"\r").standard(), "(no output)");
    assert_eq!(printed(b"\x1b[0m", b"").dsh(), "\x1b[0m");
}

#[test]
fn only_codes_other_than_0_are_told() {
    assert_eq!(printed(b"a", b"").exited(137).standard(), "a\n[exit code: 137]");
    assert_eq!(printed(b"a\n", b"b\n").exited(7).dsh(), "a\n[stderr]\nb\n[exit code: 7]");
}

#[test]
fn b035_a_signal_is_no_exit_code() {
    let rendered =
        printed(b"part-one\n", b"").signaled(Cause::Signaled, 9).render(ToolsetName::Standard);
    assert_eq!(rendered.text, "part-one\n[killed by signal: SIGKILL]");
    assert!(!rendered.is_error);
    assert_eq!(rendered.outcome.exit_code, None);
    assert_eq!(rendered.outcome.signal.as_deref(), Some("SIGKILL"));
}

#[test]
fn b033_output_before_the_limit_is_kept() {
    let case = printed(b"step-1\nstep-2\n", b"oops\n").signaled(Cause::TimedOut, 15);
    assert_eq!(
        case.standard(),
        "step-1\nstep-2\n[stderr]\noops\n[timed out after 1500ms]\n[killed by signal: SIGTERM]"
    );
    assert!(!case.render(ToolsetName::Standard).is_error);
}

#[test]
fn t073_a_limit_or_a_kill_never_looks_like_success() {
    let timed_out = printed(b"", b"").ended(|end| end.cause = Cause::TimedOut);
    assert_eq!(timed_out.standard(), "(no output)\n[timed out after 1500ms]");
    let killed = printed(b"", b"").ended(|end| end.cause = Cause::Killed);
    assert_eq!(killed.standard(), "(no output)\n[killed]");
    let killed = killed.ended(|end| end.reason = Some("session\nclosed".to_owned()));
    assert_eq!(killed.standard(), "(no output)\n[killed: session?closed]");
    let out_of_memory = printed(b"", b"").signaled(Cause::OomKilled, 9);
    assert_eq!(
        out_of_memory.standard(),
        "(no output)\n[out of memory]\n[killed by signal: SIGKILL]"
    );
}

#[test]
fn b041_b042_t049_bytes_that_are_no_text() {
    let latin = printed(b"caf\xe9\nend\n", b"").exited(3).render(ToolsetName::Standard);
    assert_eq!(latin.text, "caf\u{fffd}\nend\n[exit code: 3]");
    assert_eq!(latin.outcome.stdout.invalid_utf8, 1);
    let nul = printed(b"a\0b\n", b"");
    assert_eq!(nul.standard(), "a␀b\n");
    assert_eq!(nul.dsh(), "a\0b\n");
    let redrawn = printed(b"Fetching\rFetched!\nnext step\r\n", b"\x1b[31mred\x1b[0m\n");
    assert_eq!(redrawn.standard(), "Fetched!\nnext step\n[stderr]\nred\n");
    assert_eq!(redrawn.dsh(), "Fetching\rFetched!\nnext step\r\n[stderr]\n\x1b[31mred\x1b[0m\n");
}

#[test]
fn b043_the_end_is_shown_and_the_file_named() {
    let mut suite = String::new();
    for test in 0..60_000 {
        suite.push_str(&format!("test_{test:05} ... ok\n"));
    }
    suite.push_str("FAILED: 1 failed, 59999 passed\n");
    let omitted = suite.len() - 64_000;
    let case = printed(suite.as_bytes(), b"")
        .exited(1)
        .ended(|end| end.stdout.file = Some(PathBuf::from("/state/stdout")));
    let tail = &suite[omitted..];
    assert_eq!(
        case.standard(),
        format!(
            "{tail}[stdout truncated: {omitted} bytes omitted; full output: /state/stdout]\n[exit code: 1]"
        )
    );
    assert_eq!(
        case.render(ToolsetName::Standard).outcome.stdout,
        StreamOutcome {
            bytes: suite.len() as u64,
            shown: [omitted as u64, suite.len() as u64],
            file: Some("/state/stdout".to_owned()),
            dropped: 0,
            lost: None,
            invalid_utf8: 0,
        }
    );
}

#[test]
fn t045_one_long_line_is_cut_to_the_cap() {
    let line = format!("{}\n", "A".repeat(500_000));
    let text = printed(line.as_bytes(), b"").standard();
    let (shown, notice) = text.split_once('\n').expect("a notice");
    assert_eq!(shown.len(), 63_999);
    assert_eq!(notice, "[stdout truncated: 436001 bytes omitted; file unavailable]");

    let euros = "€".repeat(100_000);
    let rendered = printed(b"", euros.as_bytes()).render(ToolsetName::Dsh);
    assert_eq!(
        rendered.text,
        format!(
            "[stderr]\n{}\n[stderr truncated: 236001 bytes omitted; file unavailable]",
            "€".repeat(21_333)
        )
    );
    assert_eq!(rendered.outcome.stderr.map(|stderr| stderr.shown), Some([236_001, 300_000]));
}

fn left(count: u64, fate: LeftoverFate) -> Option<Leftovers> {
    Some(Leftovers { count, processes: vec![process(7, "sleep")], fate })
}

#[test]
fn t046_everything_at_once_in_the_order_of_the_contract() {
    let lost = |error: &str| Some(Lost { bytes: 10, error: error.to_owned() });
    let case = printed(&vec![b'o'; 70_000], &vec![b'e'; 80_000])
        .signaled(Cause::TimedOut, 9)
        .clamped()
        .ended(|end| {
            end.stdout = StreamEnd {
                bytes: 1_070_010,
                dropped: (1000, 1_001_000),
                file: Some(PathBuf::from("/state/stdout")),
                lost: lost("ENOSPC"),
            };
            end.stderr =
                Some(StreamEnd { bytes: 80_010, lost: lost("ENOSPC"), ..StreamEnd::default() });
            end.leftovers = left(3, LeftoverFate::Stopped);
            end.unkillable = vec![process(8, "nfs\ncat")];
        });
    let closing = "\
[stdout truncated: 1006000 bytes omitted; full output: /state/stdout]
[stdout dropped: 1000000 bytes from the middle, offsets 1000-1001000]
[stderr truncated: 16000 bytes omitted; file unavailable]
[output lost: ENOSPC]
[stopped 2 processes left running]
[could not be killed: nfs?cat (pid 8)]
[timeout clamped to 600000ms]
[timed out after 600000ms]
[killed by signal: SIGKILL]";
    let (out, err) = ("o".repeat(64_000), "e".repeat(64_000));
    assert_eq!(case.standard(), format!("{out}\n[stderr]\n{err}\n{closing}"));
}

#[test]
fn t041_lost_output_is_said_and_the_code_kept() {
    let lost = Some(Lost { bytes: 3, error: "ENOSPC".to_owned() });
    let rendered = printed(b"", b"")
        .ended(|end| end.stdout = StreamEnd { bytes: 3, lost: lost.clone(), ..stream(0) })
        .render(ToolsetName::Standard);
    assert_eq!(rendered.text, "[output lost: ENOSPC]");
    assert_eq!(rendered.outcome.exit_code, Some(0));
    assert_eq!(rendered.outcome.stdout.lost, lost);
}

#[test]
fn output_that_cannot_be_read_is_no_silence() {
    let case = printed(b"", b"").ended(|end| end.stdout.bytes = 5);
    assert_eq!(case.standard(), "[stdout truncated: 5 bytes omitted; file unavailable]");
}

#[test]
fn left_overs_are_counted_and_named() {
    let left = |count| left(count, LeftoverFate::Stopped);
    let one = printed(b"started\n", b"").ended(|end| end.leftovers = left(1));
    assert_eq!(one.standard(), "started\n[stopped 1 process left running]");
    let two = printed(b"started\n", b"").exited(2).ended(|end| end.leftovers = left(2));
    assert_eq!(two.standard(), "started\n[stopped 2 processes left running]\n[exit code: 2]");
    assert_eq!(
        two.render(ToolsetName::Dsh).outcome.left_running,
        Some(LeftRunning {
            task: None,
            stopped: Some(true),
            processes: vec![process(7, "sleep")],
            count: 2,
        })
    );
    let none = printed(b"started\n", b"").ended(|end| end.leftovers = left(0));
    assert_eq!(none.standard(), "started\n");
    assert_eq!(none.render(ToolsetName::Dsh).outcome.left_running, None);
}

#[test]
fn b063_t001_t017_left_overs_that_go_on_are_counted_and_name_their_task() {
    let adopted = |count| {
        printed(b"hi\n", b"").ended(|end| end.leftovers = left(count, LeftoverFate::Adopted))
    };
    let one = "hi\n[1 process still running: now task bash-1]";
    assert_eq!([adopted(1).standard(), adopted(1).dsh()], [one, one]);
    let two = adopted(2).exited(2);
    assert_eq!(two.dsh(), "hi\n[2 processes still running: now task bash-1]\n[exit code: 2]");
    let rendered = two.render(ToolsetName::Dsh);
    assert!(!rendered.is_error);
    assert_eq!(
        rendered.outcome.left_running,
        Some(LeftRunning {
            task: Some(TaskId::new("bash-1")),
            stopped: None,
            processes: vec![process(7, "sleep")],
            count: 2,
        })
    );
    assert_eq!(adopted(0).standard(), "hi\n");
    assert_eq!(adopted(0).render(ToolsetName::Dsh).outcome.left_running, None);
}

#[test]
fn what_survived_sigkill_is_named() {
    let stuck: Vec<ProcessFacts> = (1..=18).map(|pid| process(pid, "d")).collect();
    let case = printed(b"", b"").ended(|end| end.unkillable = stuck.clone());
    let names: Vec<String> = (1..=16).map(|pid| format!("d (pid {pid})")).collect();
    assert_eq!(
        case.standard(),
        format!("(no output)\n[could not be killed: {}, and 2 more]", names.join(", "))
    );
    assert_eq!(
        case.render(ToolsetName::Standard).outcome.left_running,
        Some(LeftRunning {
            task: None,
            stopped: Some(false),
            processes: stuck[..16].to_vec(),
            count: 18,
        })
    );
}

#[test]
fn b034_a_clamped_limit_is_said_where_it_did_not_pass() {
    assert_eq!(
        printed(b"", b"").clamped().standard(),
        "(no output)\n[timeout clamped to 600000ms]"
    );
}

#[test]
fn a_cancelled_call_keeps_the_text_so_far() {
    let case = printed(b"step-1\n", b"").signaled(Cause::Killed, 15).cancelled();
    let closing = "[killed by signal: SIGTERM]\n[cancelled]";
    assert_eq!(case.standard(), format!("step-1\n{closing}"));
    assert_eq!(case.dsh(), format!("Error: the call was cancelled\nstep-1\n{closing}"));
    assert!(case.render(ToolsetName::Standard).is_error);
    assert!(case.render(ToolsetName::Dsh).is_error);
}

#[test]
fn t076_a_lost_command_is_no_success() {
    let case =
        printed(b"step-1\n", b"").ended(|end| (end.cause, end.exit_code) = (Cause::Lost, None));
    let closing = "[lost: its supervisor died, so how it ended is not known]";
    assert_eq!(case.standard(), format!("step-1\n{closing}"));
    assert_eq!(case.dsh(), format!("Error: the command was lost\nstep-1\n{closing}"));
    assert!(case.render(ToolsetName::Standard).is_error);
}

#[test]
fn b047_what_did_not_start_says_why_and_nothing_else() {
    let reason = "working directory /w/build does not exist";
    let case = printed(b"", b"").clamped().ended(|end| {
        (end.cause, end.exit_code) = (Cause::FailedToStart, None);
        end.reason = Some(reason.to_owned());
    });
    assert_eq!(case.standard(), reason);
    assert_eq!(case.dsh(), format!("Error: {reason}"));
    let rendered = case.render(ToolsetName::Standard);
    assert!(rendered.is_error);
    assert_eq!(rendered.outcome.reason.as_deref(), Some(reason));

    let task = TaskId::new("bash-1");
    assert_eq!(render_not_run(Toolset::of(ToolsetName::Standard), &task, &case.end), rendered);

    let silent = case.ended(|end| end.reason = None);
    assert_eq!(silent.dsh(), "Error: the command did not start");
    let rejected = silent.ended(|end| end.cause = Cause::Rejected);
    assert_eq!(rejected.dsh(), "Error: the command was rejected");
}

#[test]
fn the_outcome_holds_every_fact() {
    let whole = |bytes| StreamOutcome {
        bytes,
        shown: [0, bytes],
        file: None,
        dropped: 0,
        lost: None,
        invalid_utf8: 0,
    };
    let case = printed(b"a\n", b"").exited(1);
    let expected = CommandOutcome {
        cause: Cause::Exited,
        exit_code: Some(1),
        signal: None,
        reason: None,
        duration_ms: 7,
        user_ms: 2,
        sys_ms: 1,
        max_rss_bytes: 4096,
        stdout: whole(2),
        stderr: Some(whole(0)),
        denials: Vec::new(),
        git_changes: Vec::new(),
        denials_total: None,
        denials_ambient: 0,
        unobserved: None,
        sandbox: SandboxFacts {
            mode: Mode::WorkspaceWrite,
            landlock_abi: 6,
            layers: layers().layers,
        },
        task: Some(TaskId::new("bash-1")),
        left_running: None,
        escalated_from: None,
        approval_required: None,
    };
    assert_eq!(case.render(ToolsetName::Standard).outcome, expected);

    let unshown = super::super::unshown_outcome(&TaskId::new("bash-1"), &case.end);
    let stdout = StreamOutcome { shown: [0, 0], ..whole(2) };
    assert_eq!(unshown, CommandOutcome { stdout, ..expected });
}

proptest! {
    #[test]
    fn any_output_is_text_within_the_caps_and_its_closing_line_is_last(
        stdout in proptest::collection::vec(any::<u8>(), 0..400),
        stderr in proptest::collection::vec(any::<u8>(), 0..400),
        code in 1i32..256,
    ) {
        let case = printed(&stdout, &stderr).exited(code);
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            let text = case.render(name).text;
            let closing = format!("[exit code: {code}]");
            prop_assert_eq!(text.rsplit('\n').next(), Some(closing.as_str()));
        }
        let text = case.standard();
        prop_assert!(text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()), "{:?}", text);
    }
}

#[test]
fn denials_stand_between_what_is_left_and_the_limit() {
    use super::super::denied::Refusal;
    use crate::exec::denials::tests::{denials, record};

    let mut case = printed(b"out\n", b"").signaled(Cause::TimedOut, 9).clamped();
    case.end.leftovers =
        Some(Leftovers { count: 2, processes: Vec::new(), fate: LeftoverFate::Stopped });
    case.end.denials = Some(denials(&[record(1, "/etc/hosts", 3), record(2, "/etc/a", 1)]));
    case.end.git_changes = vec!["alias.x in /a\tb".to_owned(), "/h".to_owned()];
    case.escalation = Some(Escalation::Final(Refusal::Disabled));
    let rest = "[sandbox: final: approval prompts are disabled]\n\
                [git runs later what was changed: alias.x in /a b; /h]\n[timeout clamped to 600000ms]\n\
                [timed out after 600000ms]\n[killed by signal: SIGKILL]";
    let head = "out\n[stopped 2 processes left running]\n\
                [sandbox: file access denied under workspace-write mode]\n";
    assert_eq!(
        case.standard(),
        format!("{head}denied: write /etc/hosts\ndenied: write /etc/a\n{rest}")
    );
    assert_eq!(case.dsh(), format!("{head}{rest}"));
    let outcome = case.render(ToolsetName::Standard).outcome;
    assert_eq!((outcome.denials.len(), outcome.denials_total), (2, Some(4)));
    assert_eq!((outcome.denials_ambient, outcome.unobserved), (0, Some(0)));
}

#[test]
fn a_success_can_have_denials_and_ambient_ones_are_only_counted() {
    use crate::exec::denials::Denials;
    use crate::exec::denials::tests::{denials, record};

    let with = |denials| printed(b"", b"").ended(|end| end.denials = Some(denials));
    assert_eq!(
        with(denials(&[record(1, "/etc/hosts", 1)])).standard(),
        "(no output)\n[sandbox: file access denied under workspace-write mode]\ndenied: write /etc/hosts"
    );
    let ambient = with(Denials { ambient: 3, unobserved: 2, ..Denials::default() });
    let Rendered { text, outcome, .. } = ambient.render(ToolsetName::Standard);
    assert_eq!(text, "(no output)");
    assert_eq!((outcome.denials.len(), outcome.denials_total), (0, Some(0)));
    assert_eq!((outcome.denials_ambient, outcome.unobserved), (3, Some(2)));
    let unknown = printed(b"", b"").render(ToolsetName::Standard).outcome;
    assert_eq!((unknown.denials_total, unknown.unobserved), (None, None));
}

#[path = "toolsets.rs"]
mod toolsets;
