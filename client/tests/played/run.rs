//! `brattice run` against a daemon that the test plays: bytes, signals and exit statuses.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use brattice_protocol::outcome::Cause;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::daemon::{Dies, Ends, Opens, Played, Script, Successor};
use crate::script::{GONE, program, script};

fn brattice(daemon: &Played, flags: &[&str], stdin: Stdio) -> Child {
    Command::new(program())
        .args(["--no-start", "--socket"])
        .arg(&daemon.socket)
        .arg("run")
        .args(flags)
        .args(["--", "the command"])
        .env_clear()
        .env("HOME", "/proc/nowhere")
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A person's next Ctrl-C. What comes sooner after one that was taken counts as that one.
fn interrupt_again(child: &Child) {
    std::thread::sleep(std::time::Duration::from_millis(250));
    interrupt(child);
}

fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).unwrap();
}

#[test]
fn output_is_byte_exact_and_the_exit_code_is_the_commands() {
    let stdout: Vec<u8> = "äß€𝄞\n".bytes().cycle().take(70_001).chain([0, 0xff, b'\r']).collect();
    let stderr = b"\xffoops".to_vec();
    let script = Script {
        stdout: stdout.clone(),
        stderr: stderr.clone(),
        exit_code: Some(3),
        ..script(Ends::AtOnce)
    };
    let daemon = Played::new("exact", script);
    let output =
        brattice(&daemon, &["--timeout", "90s"], Stdio::null()).wait_with_output().unwrap();
    assert!(output.stdout == stdout, "{} bytes differ", output.stdout.len());
    assert_eq!((output.status.code(), output.stderr), (Some(3), stderr));
    let seen = daemon.seen();
    assert_eq!(
        seen.start,
        json!({
            "session": "s", "command": "the command", "stdin": false, "tty": false,
            "timeout_ms": 90_000,
        })
    );
    assert_eq!((seen.kill, seen.closed), (None, true));
}

#[test]
fn piped_input_is_passed_on_to_its_last_byte() {
    let daemon = Played::new("input", script(Ends::WithInput));
    let mut child = brattice(&daemon, &[], Stdio::piped());
    let input: Vec<u8> = (0..=255).cycle().take(200_000).collect();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&input).unwrap();
    drop(stdin);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0));
    let seen = daemon.seen();
    assert_eq!(seen.start["stdin"], true);
    assert!(seen.input == input, "{} bytes differ", seen.input.len());
}

#[test]
fn a_command_past_its_limit_is_told_with_status_124() {
    let script = Script {
        cause: Cause::TimedOut,
        exit_code: None,
        signal: Some("SIGTERM"),
        ..script(Ends::AtOnce)
    };
    let daemon = Played::new("limit", script);
    let output =
        brattice(&daemon, &["--timeout", "1500ms"], Stdio::null()).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(124));
    let told = "[timed out after 1500ms]\n[killed by signal: SIGTERM]\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
}

#[test]
fn the_outcome_is_data_on_request() {
    let daemon = Played::new("data", Script { exit_code: Some(7), ..script(Ends::AtOnce) });
    let output = brattice(&daemon, &["--json"], Stdio::null()).wait_with_output().unwrap();
    let outcome: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!((&outcome["cause"], &outcome["exit_code"]), (&json!("exited"), &json!(7)));
    let stream = json!({"bytes": 0, "shown": [0, 0]});
    assert_eq!((&outcome["stdout"], &outcome["stderr"]), (&stream, &stream), "no file is left");
}

#[test]
fn ctrl_c_stops_the_command_and_waits_for_its_end() {
    let script = Script {
        stdout: b"so far\n".to_vec(),
        cause: Cause::Killed,
        exit_code: None,
        signal: Some("SIGTERM"),
        ..script(Ends::WhenKilled)
    };
    let daemon = Played::new("ctrl-c", script);
    let child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("task.wait");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b"so far\n"[..]));
    let seen = daemon.seen();
    assert_eq!((seen.kill, seen.closed), (Some(json!("SIGINT")), true));
}

#[test]
fn ctrl_c_while_the_session_opens_leaves_no_session() {
    let daemon =
        Played::new("opening", Script { opens: Opens::OnWord, ..script(Ends::WhenKilled) });
    let child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("session.open");
    interrupt(&child);
    daemon.open();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b""[..]));
    assert!(daemon.seen().closed);
}

#[test]
fn a_second_ctrl_c_while_the_session_opens_waits_for_nothing() {
    let daemon = Played::new("stuck", Script { opens: Opens::OnWord, ..script(Ends::WhenKilled) });
    let mut child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("session.open");
    // Signals that come together may be taken as one.
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
        std::thread::yield_now();
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    daemon.open();
    assert!(!daemon.seen().closed);
}

#[test]
fn a_second_ctrl_c_kills_the_command_and_waits_for_its_end() {
    let script = Script {
        stdout: b"so far\n".to_vec(),
        cause: Cause::Killed,
        exit_code: None,
        signal: Some("SIGKILL"),
        ..script(Ends::WhenForced)
    };
    let daemon = Played::new("kill-at-once", script);
    let child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("task.wait");
    interrupt(&child);
    daemon.wait_for("task.kill");
    interrupt_again(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(130), &b"so far\n"[..]));
    let told = "[killed]\n[killed by signal: SIGKILL]\n";
    assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
    assert!(daemon.seen().closed);
}

#[test]
fn a_third_ctrl_c_closes_the_session_at_once() {
    let daemon = Played::new("insist", script(Ends::WithSession));
    let child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("task.wait");
    for _ in 0..2 {
        interrupt_again(&child);
        daemon.wait_for("task.kill");
    }
    interrupt_again(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(daemon.seen().closed);
}

#[test]
fn a_command_whose_output_nobody_reads_is_stopped() {
    let script = Script {
        stdout: vec![b'y'; 1 << 20],
        cause: Cause::Killed,
        exit_code: None,
        signal: Some("SIGTERM"),
        ..script(Ends::WhenKilled)
    };
    let daemon = Played::new("unread", script);
    let mut child = brattice(&daemon, &[], Stdio::null());
    let mut head = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut head).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &head), (Some(141), b"yyyyyyyyyy"));
    assert_eq!(daemon.seen().kill, Some(json!("nobody reads its output")));
}

#[test]
fn a_daemon_that_dies_between_two_reads_costs_no_byte_and_no_exit_code() {
    let stdout: Vec<u8> = "äß€𝄞\n".bytes().cycle().take(5_000).collect();
    let script = Script {
        stdout: stdout.clone(),
        stderr: b"oops\n".to_vec(),
        exit_code: Some(3),
        deaths: &[Dies::AtOutput(0), Dies::AtOutput(2_000), Dies::AtOutput(5_000)],
        ..script(Ends::AtOnce)
    };
    let daemon = Played::new("dies", script);
    let output = brattice(&daemon, &[], Stdio::null()).wait_with_output().unwrap();
    assert!(output.stdout == stdout, "{} bytes differ", output.stdout.len());
    let told = String::from_utf8(output.stderr).unwrap();
    // The command's own words come when they come.
    assert_eq!(told.replacen("oops\n", "", 1), GONE);
    assert_eq!(output.status.code(), Some(3));
    let seen = daemon.seen();
    assert_eq!((seen.resumed, seen.closed), (3, true));
}

#[test]
fn a_command_is_started_once_although_its_daemon_died_before_it_said_so() {
    let script = Script { deaths: &[Dies::AtStart], ..script(Ends::AtOnce) };
    let daemon = Played::new("started", script);
    let output = brattice(&daemon, &[], Stdio::null()).wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stderr).unwrap()),
        (Some(0), GONE.into())
    );
    assert_eq!(daemon.methods().iter().filter(|method| *method == "task.start").count(), 1);
}

#[test]
fn a_successor_that_does_not_know_the_command_is_a_failure() {
    let script = Script {
        deaths: &[Dies::AtWait],
        successor: Successor::Forgot,
        ..script(Ends::WhenKilled)
    };
    let daemon = Played::new("forgot", script);
    let output = brattice(&daemon, &[], Stdio::null()).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(125));
    let told = format!(
        "{GONE}brattice: the daemon went away, and its task was lost from sight\n  \
         caused by: no session s, or it is not yours\n  \
         hint: `brattice task list` shows what still runs\n"
    );
    assert_eq!(String::from_utf8(output.stderr).unwrap(), told);
}

#[test]
fn ctrl_c_stops_the_command_by_way_of_the_next_daemon() {
    let script = Script {
        deaths: &[Dies::AtWait],
        cause: Cause::Killed,
        exit_code: None,
        signal: Some("SIGTERM"),
        ..script(Ends::WhenKilled)
    };
    let daemon = Played::new("ctrl-c-later", script);
    let child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("session.resume");
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let seen = daemon.seen();
    assert_eq!((seen.kill, seen.closed), (Some(json!("SIGINT")), true));
}

/// Feeds 20,000 bytes to a command whose daemon dies so.
fn fed(name: &str, deaths: &'static [Dies]) -> (Vec<u8>, Vec<u8>, Option<i32>, String) {
    let daemon = Played::new(name, Script { deaths, ..script(Ends::WithInput) });
    let mut child = brattice(&daemon, &[], Stdio::piped());
    let input: Vec<u8> = (0..=255).cycle().take(20_000).collect();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&input).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    (input, daemon.seen().input, output.status.code(), told)
}

#[test]
fn input_that_an_ending_daemon_turned_away_goes_to_the_next_one() {
    let (input, taken, code, told) =
        fed("turned-away", &[Dies::TurningInputAway(0), Dies::TurningInputAway(9_000)]);
    assert!(taken == input, "{} bytes differ", taken.len());
    assert_eq!((code, told.as_str()), (Some(0), GONE));
}

#[test]
fn input_that_nobody_answered_for_comes_again_and_is_told() {
    let doubt = "brattice: the daemon went away while it passed input on, and a piece of it may have reached the \
                 command twice\n  hint: run the command again if it matters\n";
    let (input, taken, code, told) = fed("before", &[Dies::BeforeInput(9_000)]);
    assert!(taken == input, "{} bytes differ", taken.len());
    assert_eq!((code, told), (Some(125), format!("{GONE}{doubt}")));
    let (input, taken, code, told) = fed("after", &[Dies::AfterInput(9_000)]);
    assert!(taken.len() > input.len() && taken.len() <= input.len() + 4096, "{}", taken.len());
    assert_eq!((code, told), (Some(125), format!("{GONE}{doubt}")));
}
