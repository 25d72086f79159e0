//! `brattice run` against a daemon that the test plays: bytes, signals and exit statuses.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod played;

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use brattice_protocol::outcome::Cause;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use played::{Ends, Opens, Played, Script};

fn script(ends: Ends) -> Script {
    Script {
        opens: Opens::AtOnce,
        stdout: Vec::new(),
        stderr: Vec::new(),
        ends,
        cause: Cause::Exited,
        exit_code: Some(0),
        signal: None,
    }
}

/// The built client; where the tests were archived and unpacked elsewhere, nextest says where it is now.
fn program() -> OsString {
    std::env::var_os("NEXTEST_BIN_EXE_brattice").unwrap_or(env!("CARGO_BIN_EXE_brattice").into())
}

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
        json!({"session": "s", "command": "the command", "stdin": false, "timeout_ms": 90_000})
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
fn a_second_ctrl_c_closes_the_session_at_once() {
    let daemon = Played::new("insist", script(Ends::WithSession));
    let child = brattice(&daemon, &[], Stdio::null());
    daemon.wait_for("task.wait");
    interrupt(&child);
    daemon.wait_for("task.kill");
    interrupt(&child);
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
