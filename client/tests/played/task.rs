//! `brattice task` against a daemon that the test plays: names, bytes, and daemons that die meanwhile.

use std::process::{Command, Stdio};

use brattice_protocol::outcome::Cause;
use serde_json::{Value, json};

use crate::daemon::{Dies, Ends, Played, Script, Successor};
use crate::script::{GONE, program, script};

/// A task that prints to both streams.
fn prints(ends: Ends) -> Script {
    Script {
        sessions: &["01995d2c-aaaa"],
        successor: Successor::Forgot,
        stdout: b"one\ntwo\n".to_vec(),
        stderr: b"oops\n".to_vec(),
        ..script(ends)
    }
}

fn task(daemon: &Played, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program())
        .arg("--no-start")
        .args(["--socket".as_ref(), daemon.socket.as_os_str()])
        .args(["--control-socket".as_ref(), daemon.socket.as_os_str()])
        .arg("task")
        .args(arguments)
        .env_clear()
        .env("HOME", "/proc/nowhere")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn succeeded(stdout: &str, stderr: &str) -> (Option<i32>, String, String) {
    (Some(0), stdout.to_owned(), stderr.to_owned())
}

#[test]
fn a_task_is_started_in_a_session_that_stays() {
    let daemon = Played::new("start", prints(Ends::WhenKilled));
    let arguments =
        ["start", "--timeout", "2h", "--idle-timeout", "5m", "--tty", "--", "make", "-j"];
    assert_eq!(task(&daemon, &arguments), succeeded("01995d2c-aaaa/bash-1\n", ""));
    let seen = daemon.seen();
    assert_eq!(
        seen.start,
        json!({
            "session": "01995d2c-aaaa", "argv": ["make", "-j"], "stdin": false, "tty": true,
            "timeout_ms": 7_200_000, "idle_timeout_ms": 300_000,
        })
    );
    assert!(!seen.closed);
}

#[test]
fn a_task_is_started_in_the_session_that_is_named() {
    let daemon =
        Played::new("start-in", Script { sessions: &["a1", "b1"], ..prints(Ends::AtOnce) });
    let (code, stdout, _) =
        task(&daemon, &["start", "--session", "b", "--stdin", "--json", "--", "cat"]);
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, told), (Some(0), json!({"session": "b1", "task": "bash-1"})));
    assert_eq!(
        daemon.seen().start,
        json!({"session": "b1", "command": "cat", "stdin": true, "tty": false})
    );
}

#[test]
fn what_names_one_task_is_enough_and_what_names_two_names_none() {
    const SESSIONS: &[&str] = &["01995d2c-aaaa", "01995d2c-bbbb", "01995d2d-aaaa"];
    let cases: [(&[&str], Result<&str, &str>); 8] = [
        (&["01995d2d/bash-1"], Ok(SESSIONS[2])),
        (&["01995d2c-b/bash-1"], Ok(SESSIONS[1])),
        (&["bash-1", "--session", "01995d2c-aaaa"], Ok(SESSIONS[0])),
        (
            &["01995d2c/bash-1"],
            Err("brattice: 01995d2c/bash-1 names several tasks: 01995d2c-a/bash-1 (running), \
                 01995d2c-b/bash-1 (running)\n  \
                 hint: name the task with its session, as they stand there\n"),
        ),
        (
            &["bash-2"],
            Err("brattice: no task bash-2; there are 01995d2d-a/bash-1 (running), \
                 01995d2c-b/bash-1 (running), 01995d2c-a/bash-1 (running)\n  \
                 hint: `brattice task list` tells more of them\n"),
        ),
        (
            &["bash-1", "--session", "f"],
            Err("brattice: no session f; there are 01995d2c-a, 01995d2c-b, 01995d2d-a\n  \
                 hint: `brattice session list` tells more of them\n"),
        ),
        (
            &["bash-1", "--session", "01995d2c"],
            Err("brattice: 01995d2c begins several sessions: 01995d2c-a, 01995d2c-b\n  \
                 hint: more of its id tells them apart\n"),
        ),
        // What a script says whose variable is empty names nothing.
        (
            &["/bash-1"],
            Err("brattice: no session ''; there are 01995d2c-a, 01995d2c-b, 01995d2d-a\n  \
                 hint: `brattice session list` tells more of them\n"),
        ),
    ];
    for (number, (words, expected)) in cases.into_iter().enumerate() {
        let script = Script { sessions: SESSIONS, ..prints(Ends::WhenKilled) };
        let daemon = Played::new(&format!("name-{number}"), script);
        let arguments: Vec<&str> = ["kill"].iter().chain(words).copied().collect();
        match (task(&daemon, &arguments), expected) {
            (told, Ok(session)) => {
                assert_eq!(told, succeeded("stopping bash-1\n", ""), "{words:?}");
                assert_eq!(daemon.seen().session, session, "{words:?}");
            }
            (told, Err(words)) => {
                assert_eq!(told, (Some(125), String::new(), words.to_owned()));
                assert_eq!(daemon.seen().kill, None);
            }
        }
    }
}

#[test]
fn a_kill_says_why_and_a_task_that_is_over_is_left_alone() {
    let daemon = Played::new("kill", prints(Ends::WhenKilled));
    let told = task(&daemon, &["kill", "bash-1", "--reason", "not needed"]);
    assert_eq!(told, succeeded("stopping bash-1\n", ""));
    assert_eq!(daemon.seen().kill, Some(json!("not needed")));
    let daemon = Played::new("killed", prints(Ends::AtOnce));
    let told = task(&daemon, &["kill", "bash-1"]);
    assert_eq!(told, succeeded("bash-1 has ended before: completed\n", ""));
    assert_eq!(daemon.seen().kill, None);
}

#[test]
fn output_is_shown_as_it_is_and_each_stream_where_it_was_asked_for() {
    let cases: [(&[&str], &str, &str); 7] = [
        (&[], "one\ntwo\n", "oops\n"),
        (&["-f"], "one\ntwo\n", "oops\n"),
        (&["--stdout"], "one\ntwo\n", ""),
        (&["--stderr"], "oops\n", ""),
        (&["--offset", "4"], "two\n", ""),
        (&["--stderr", "--offset", "2"], "ps\n", ""),
        (&["--tail-bytes", "3"], "wo\n", "ps\n"),
    ];
    for (number, (flags, stdout, stderr)) in cases.into_iter().enumerate() {
        let daemon = Played::new(&format!("output-{number}"), prints(Ends::AtOnce));
        let arguments: Vec<&str> = ["output", "bash-1"].iter().chain(flags).copied().collect();
        assert_eq!(task(&daemon, &arguments), succeeded(stdout, stderr), "{flags:?}");
    }
}

#[test]
fn output_of_a_running_task_is_what_there_is_and_as_data_where_it_goes_on() {
    let daemon = Played::new("so-far", prints(Ends::WhenKilled));
    let (code, stdout, stderr) = task(&daemon, &["output", "bash-1", "--json"]);
    let told: Value = serde_json::from_str(stderr.strip_prefix("oops\n").unwrap()).unwrap();
    let at = |offset: u64| json!({"next_offset": offset, "skipped": 0, "status": "running"});
    assert_eq!((code, stdout.as_str()), (Some(0), "one\ntwo\n"));
    assert_eq!(told, json!({"stdout": at(8), "stderr": at(5)}));
}

#[test]
fn t071_what_was_dropped_is_told_and_offsets_stay() {
    let daemon = Played::new("dropped", Script { dropped: 100, ..prints(Ends::AtOnce) });
    let told = task(&daemon, &["output", "-f", "--stdout", "bash-1"]);
    assert_eq!(told, succeeded("one\ntwo\n", "[stdout: 100 bytes dropped from the middle]\n"));
    let daemon = Played::new("dropped-later", Script { dropped: 100, ..prints(Ends::AtOnce) });
    let told = task(&daemon, &["output", "--offset", "104", "bash-1"]);
    assert_eq!(told, succeeded("two\n", ""));
}

#[test]
fn a_daemon_that_dies_while_output_is_followed_costs_no_byte() {
    let stdout = "0123456789abcde\n".repeat(500);
    let script = Script {
        stdout: stdout.clone().into_bytes(),
        stderr: Vec::new(),
        deaths: &[Dies::AtOutput(1_000), Dies::AtOutput(8_000)],
        ..prints(Ends::AtOnce)
    };
    let daemon = Played::new("follow", script);
    assert_eq!(task(&daemon, &["output", "bash-1", "-f"]), succeeded(&stdout, GONE));
    assert_eq!(daemon.seen().resumed, 0, "an operator holds no session");
}

#[test]
fn a_wait_has_the_commands_exit_status_whatever_becomes_of_the_daemon() {
    let cases = [
        (Cause::Exited, Some(3), None, 3, ""),
        (Cause::Signaled, None, Some("SIGSEGV"), 139, "[killed by signal: SIGSEGV]\n"),
        (Cause::TimedOut, Some(0), None, 124, "[timed out after 1500ms]\n"),
    ];
    for (number, (cause, exit_code, signal, status, notes)) in cases.into_iter().enumerate() {
        let script = Script {
            cause,
            exit_code,
            signal,
            deaths: &[Dies::AtWait],
            timeout_ms: Some(1_500),
            ..prints(Ends::AtOnce)
        };
        let daemon = Played::new(&format!("wait-{number}"), script);
        let told = task(&daemon, &["wait", "bash-1"]);
        let expected = (Some(status), "bash-1: completed\n".to_owned(), format!("{GONE}{notes}"));
        assert_eq!(told, expected, "{cause:?}");
    }
    let script = Script { cause: Cause::Lost, exit_code: None, ..prints(Ends::AtOnce) };
    let daemon = Played::new("wait-lost", script);
    let (code, _, stderr) = task(&daemon, &["wait", "bash-1"]);
    assert_eq!(code, Some(125));
    assert!(stderr.starts_with("brattice: how the command ended is not known\n"), "{stderr}");
}

#[test]
fn input_is_a_line_or_what_is_piped() {
    let cases: [(&[&str], &[u8]); 3] =
        [(&["yes"], b"yes\n"), (&["", "--eof"], b"\n"), (&["--eof"], b"")];
    for (number, (words, expected)) in cases.into_iter().enumerate() {
        let daemon = Played::new(&format!("typed-{number}"), prints(Ends::WithInput));
        let arguments: Vec<&str> = ["input", "bash-1"].iter().chain(words).copied().collect();
        assert_eq!(task(&daemon, &arguments), succeeded("", ""), "{words:?}");
        assert_eq!(daemon.seen().input, expected, "{words:?}");
    }
}

#[test]
fn tasks_are_listed_with_as_much_of_their_session_as_it_takes() {
    let sessions = &["01995d2c-aaaa", "01995d2c-bbbb"];
    let daemon = Played::new("list", Script { sessions, ..prints(Ends::WhenKilled) });
    let (code, stdout, stderr) = task(&daemon, &["list"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = stdout.lines().map(cells).collect();
    let head = "TASK SESSION LABEL STATUS ELAPSED CPU BYTES SILENT PROCESSES DENIED COMMAND";
    assert_eq!(rows[0].join(" "), head);
    for (row, session) in rows[1..].iter().zip(["01995d2c-a", "01995d2c-b"]) {
        assert_eq!(row[..4], ["bash-1", session, "-", "running"]);
        assert_eq!(row[row.len() - 7..], ["0.0s", "13B", "-", "1", "-", "make", "-j"]);
    }
    assert_eq!(rows.len(), 3);
}

#[test]
fn of_no_tasks_there_is_nothing_to_list() {
    let nothing = || Script { sessions: &[], ..prints(Ends::AtOnce) };
    let daemon = Played::new("none", nothing());
    assert_eq!(task(&daemon, &["list"]), succeeded("", "brattice: no tasks\n"));
    let daemon = Played::new("none-as-data", nothing());
    assert_eq!(task(&daemon, &["list", "--json"]), succeeded("[]\n", ""));
    let daemon = Played::new("no-session", nothing());
    assert_eq!(task(&daemon, &["list", "--session", "01"]).0, Some(125));
}
