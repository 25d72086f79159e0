//! Whole lists, and what is left out of long ones.

use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use brattice_protocol::session::ToolsetName;
use brattice_protocol::task::TaskKind;

use super::*;

/// When the lists are made: a million seconds after 1970.
const NOW: u64 = 1_000_000_000;

fn running(number: u64, command: &str) -> TaskSummary {
    TaskSummary {
        task: TaskId::new(format!("bash-{number}")),
        kind: TaskKind::Bash,
        status: TaskStatus::Running,
        cause: None,
        exit_code: None,
        signal: None,
        reason: None,
        background: true,
        command: command.to_owned(),
        started: NOW - 5_250,
        ended: None,
        timeout_ms: None,
        bytes: 0,
        last_output: None,
        cpu_ms: 0,
        processes: 1,
        denials_total: None,
    }
}

fn ended(number: u64, cause: Cause, code: Option<i32>, signal: Option<&str>) -> TaskSummary {
    TaskSummary {
        status: TaskStatus::after(cause),
        cause: Some(cause),
        exit_code: code,
        signal: signal.map(str::to_owned),
        ended: Some(NOW - 5_000),
        processes: 0,
        ..running(number, "sleep 300")
    }
}

fn list(name: ToolsetName, tasks: &[TaskSummary]) -> RenderedList {
    let now = UNIX_EPOCH + Duration::from_millis(NOW);
    render_task_list(Toolset::of(name), tasks.to_vec(), now)
}

fn standard(tasks: &[TaskSummary]) -> String {
    list(ToolsetName::Standard, tasks).text
}

fn dsh(tasks: &[TaskSummary]) -> String {
    list(ToolsetName::Dsh, tasks).text
}

#[test]
fn no_tasks_are_said() {
    assert_eq!([standard(&[]), dsh(&[])], ["(no background tasks)"; 2]);
}

#[test]
fn t018_a_line_has_the_commands_first_line_and_in_standard_its_figures() {
    let busy = TaskSummary {
        started: NOW - 192_000,
        bytes: 1_234_567,
        last_output: Some(NOW - 4_999),
        cpu_ms: 2_190,
        processes: 3,
        ..running(2, "\n  make -j8\t all \nmake test")
    };
    let waited_for = TaskSummary {
        background: false,
        kind: TaskKind::Argv,
        bytes: 1,
        last_output: Some(NOW),
        ..running(3, "sleep 300")
    };
    let stopping = TaskSummary { status: TaskStatus::Stopping, ..running(4, "top") };
    let tasks = [running(1, "sleep 300"), busy, waited_for, stopping];
    assert_eq!(
        dsh(&tasks),
        "\
bash-1 [bash] running — sleep 300
bash-2 [bash] running — make -j8  all
bash-3 [argv] running — sleep 300
bash-4 [bash] stopping — top"
    );
    assert_eq!(
        standard(&tasks),
        "\
bash-1 [bash] running — sleep 300 (5.2s, CPU 0.0s, 0 bytes, no output yet, 1 process)
bash-2 [bash] running — make -j8  all (3m12s, CPU 2.1s, 1234567 bytes, last output 4s ago, 3 processes)
bash-3 [argv] running — sleep 300 (foreground, 5.2s, CPU 0.0s, 1 byte, last output 0s ago, 1 process)
bash-4 [bash] stopping — top (5.2s, CPU 0.0s, 0 bytes, no output yet, 1 process)"
    );
}

#[test]
fn what_a_shell_left_running_is_told_in_standard() {
    let left = TaskSummary { exit_code: Some(0), processes: 2, ..running(1, "server &") };
    assert_eq!(dsh(std::slice::from_ref(&left)), "bash-1 [bash] running — server &");
    assert_eq!(
        standard(&[left]),
        "bash-1 [bash] running — server & \
         (5.2s, CPU 0.0s, 0 bytes, no output yet, the shell exited with 0, 2 processes)"
    );
}

#[test]
fn b051_three_ends_stay_three() {
    let killed = |signal| TaskSummary {
        reason: Some("by task_kill: not needed".to_owned()),
        ..ended(1, Cause::Killed, None, Some(signal))
    };
    let tasks = [
        killed("SIGTERM"),
        ended(2, Cause::Exited, Some(137), None),
        ended(3, Cause::Signaled, None, Some("SIGKILL")),
        killed("SIGKILL"),
    ];
    assert_eq!(
        dsh(&tasks),
        "\
bash-1 [bash] killed — sleep 300
bash-2 [bash] completed, exit code: 137 — sleep 300
bash-3 [bash] killed, signal: SIGKILL — sleep 300
bash-1 [bash] killed — sleep 300"
    );
    let figures = "(0.2s, CPU 0.0s, 0 bytes, ended 5s ago)";
    assert_eq!(
        standard(&tasks),
        format!(
            "\
bash-1 [bash] killed, signal: SIGTERM, by task_kill: not needed — sleep 300 {figures}
bash-2 [bash] completed, exit code: 137 — sleep 300 {figures}
bash-3 [bash] killed, signal: SIGKILL — sleep 300 {figures}
bash-1 [bash] killed, signal: SIGKILL, by task_kill: not needed — sleep 300 {figures}"
        )
    );
}

#[test]
fn other_ends_have_their_words_too() {
    let lost = TaskSummary {
        reason: Some("the session's supervisor died".to_owned()),
        ..ended(2, Cause::Lost, None, None)
    };
    let unknown = TaskSummary { cause: None, ..ended(3, Cause::Exited, None, None) };
    let limited =
        TaskSummary { timeout_ms: Some(1_500), ..ended(1, Cause::TimedOut, None, Some("SIGTERM")) };
    assert_eq!(
        dsh(&[limited, lost, unknown]),
        "\
bash-1 [bash] killed, timed out after 1500ms — sleep 300
bash-2 [bash] failed, lost: the session's supervisor died — sleep 300
bash-3 [bash] completed — sleep 300"
    );
}

#[test]
fn a_command_is_cut_and_forges_no_line() {
    let long = running(1, &"é".repeat(1000));
    assert_eq!(dsh(&[long]), format!("bash-1 [bash] running — {}…", "é".repeat(200)));
    let forged = running(1, "a\u{1b}[2K\rbash-2 [bash] completed, exit code: 0 — b");
    assert_eq!(
        dsh(&[forged]),
        "bash-1 [bash] running — a?[2K?bash-2 [bash] completed, exit code: 0 — b"
    );
}

#[test]
fn of_too_many_finished_tasks_the_oldest_are_left_out() {
    let mut tasks = vec![running(1, "server")];
    tasks.extend((2..=104).map(|number| ended(number, Cause::Exited, Some(0), None)));
    let RenderedList { text, facts } = list(ToolsetName::Dsh, &tasks);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 102);
    assert_eq!(lines[0], "(3 older finished tasks not shown)");
    assert_eq!(lines[1], "bash-1 [bash] running — server");
    assert_eq!(lines[2], "bash-5 [bash] completed, exit code: 0 — sleep 300");
    assert_eq!(facts.omitted, 3);
    tasks.drain(1..4);
    assert_eq!(facts.tasks, tasks);
}

#[test]
fn times_are_as_exact_as_a_reader_wants_them() {
    let milliseconds = [0, 999, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_000, 273_600_000];
    assert_eq!(
        milliseconds.map(|at| time(Duration::from_millis(at))),
        ["0.0s", "0.9s", "59.9s", "1m00s", "59m59s", "1h00m", "23h59m", "3d04h"]
    );
    assert_eq!(age(Duration::from_millis(4_999)), "4s");
    let from_the_future =
        TaskSummary { started: NOW + 5, last_output: Some(NOW + 5), ..running(1, "a") };
    assert_eq!(
        standard(&[from_the_future]),
        "bash-1 [bash] running — a (0.0s, CPU 0.0s, 0 bytes, last output 0s ago, 1 process)"
    );
}
