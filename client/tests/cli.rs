//! The `brattice` binary where no daemon is needed, or none runs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The built client; where the tests were archived and unpacked elsewhere, nextest says where it is now.
fn program() -> OsString {
    std::env::var_os("NEXTEST_BIN_EXE_brattice").unwrap_or(env!("CARGO_BIN_EXE_brattice").into())
}

/// What the binary answers, in an environment where no daemon runs.
fn brattice(arguments: &[&str]) -> (Option<i32>, String, String) {
    let nowhere = Path::new("/proc/nowhere");
    let Output { status, stdout, stderr } = Command::new(program())
        .args(arguments)
        .env_clear()
        .env("BRATTICE_STATE", nowhere)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn help_names_every_command() {
    let (status, stdout, stderr) = brattice(&["--help"]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""));
    let commands = [
        "run",
        "task",
        "call",
        "tools",
        "session",
        "approvals",
        "approve",
        "reject",
        "policy",
        "doctor",
        "daemon",
        "completions",
    ];
    for command in commands {
        assert!(stdout.contains(&format!("\n  {command} ")), "{command} is missing in:\n{stdout}");
    }
}

#[test]
fn version_is_one_line() {
    let expected = format!("brattice {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(brattice(&["--version"]), (Some(0), expected, String::new()));
}

#[test]
fn completions_need_no_daemon_and_know_the_values() {
    for shell in ["bash", "zsh", "fish"] {
        let (status, stdout, stderr) = brattice(&["completions", shell]);
        assert_eq!((status, stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(stdout.contains("workspace-write"), "{shell}");
    }
}

#[test]
fn bad_arguments_are_brattices_own_failure() {
    let cases: [&[&str]; 5] = [
        &[],
        &["frobnicate"],
        &["run", "--mode", "rw", "--", "ls"],
        &["run", "--timeout", "0", "--", "ls"],
        &["run"],
    ];
    for arguments in cases {
        let (status, stdout, stderr) = brattice(arguments);
        assert_eq!((status, stdout.as_str()), (Some(125), ""), "{arguments:?}");
        assert!(stderr.starts_with("brattice: ") || arguments.is_empty(), "{stderr}");
    }
}

#[test]
fn with_json_a_fault_of_the_arguments_is_data_like_any_other() {
    let cases: [(&[&str], &str); 3] = [
        (&["--json", "frobnicate"], "unrecognized subcommand 'frobnicate'"),
        (&["task", "wait", "--json"], "the following required arguments were not provided: <TASK>"),
        (
            &["run", "--timeout", "0", "--json", "--", "ls"],
            "invalid value '0' for '--timeout <DURATION>': a duration must be longer than nothing",
        ),
    ];
    for (arguments, message) in cases {
        let (status, stdout, stderr) = brattice(arguments);
        assert_eq!((status, stdout.as_str()), (Some(125), ""), "{arguments:?}");
        let told: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        assert_eq!(told["error"]["message"], message);
        assert_eq!(told["error"]["causes"], serde_json::json!([]));
    }
    let (_, _, stderr) = brattice(&["--json"]);
    assert!(stderr.starts_with("{\"error\":{\"causes\":[],\"hint\":\"Usage: brattice"), "{stderr}");
    let (status, stdout, _) = brattice(&["run", "--help", "--json"]);
    assert!(
        status == Some(0) && stdout.starts_with("Run one command"),
        "help is no fault: {stdout}"
    );
    let (_, _, stderr) = brattice(&["run", "--mode", "rw", "--", "ls", "--json"]);
    assert!(stderr.starts_with("brattice: "), "the command's own flag: {stderr}");
    let (_, _, stderr) = brattice(&["\u{202e}x"]);
    assert!(stderr.starts_with("brattice: unrecognized subcommand '\\u{202e}x'\n"), "{stderr}");
}

#[test]
fn no_daemon_and_none_to_be_started_is_a_failure_with_a_hint() {
    let expected = "brattice: cannot connect to the daemon at /proc/nowhere/brattice.sock\n  \
         caused by: No such file or directory (os error 2)\n  \
         hint: no daemon runs there: start one with `brattice daemon start`\n";
    let answer = brattice(&["--no-start", "run", "--", "ls"]);
    assert_eq!(answer, (Some(125), String::new(), expected.to_owned()));
    let (status, _, stderr) = brattice(&["doctor", "--no-start", "--json"]);
    assert_eq!(status, Some(125));
    let told: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(
        told["error"]["message"],
        "cannot connect to the daemon at /proc/nowhere/brattice.sock"
    );
}

#[test]
fn a_relative_socket_starts_at_the_current_folder() {
    let (status, _, stderr) = brattice(&["--socket", "there.sock", "--no-start", "doctor"]);
    let here: PathBuf = std::env::current_dir().unwrap();
    assert_eq!(status, Some(125));
    assert!(stderr.contains(&format!("{}\n", here.join("there.sock").display())), "{stderr}");
}

#[test]
fn a_daemon_that_does_not_run_is_no_failure_of_its_status_or_stop() {
    let absent = "no daemon runs at /proc/nowhere/control.sock\n".to_owned();
    assert_eq!(brattice(&["daemon", "status"]), (Some(1), absent.clone(), String::new()));
    assert_eq!(brattice(&["daemon", "stop"]), (Some(0), absent, String::new()));
}

#[test]
fn a_restart_that_may_start_nothing_stops_nothing() {
    let told = "brattice: a restart starts a daemon, which --no-start refuses\n".to_owned();
    assert_eq!(brattice(&["daemon", "restart", "--no-start"]), (Some(125), String::new(), told));
}

#[test]
fn help_on_tasks_has_examples() {
    for command in ["start", "output", "input"] {
        let (status, stdout, _) = brattice(&["task", command, "--help"]);
        assert_eq!(status, Some(0));
        assert!(stdout.contains(&format!("Examples:\n  brattice task {command} ")), "{stdout}");
    }
}

#[test]
fn a_state_folder_that_cannot_be_made_is_named() {
    let (status, _, stderr) = brattice(&["doctor"]);
    assert_eq!(status, Some(125));
    assert!(
        stderr.starts_with("brattice: cannot write the daemon's log /proc/nowhere/daemon.log\n"),
        "{stderr}"
    );
}

#[test]
fn arguments_that_are_no_object_are_refused_before_anything_is_done() {
    let (status, stdout, stderr) = brattice(&["call", "bash", "[1]"]);
    assert_eq!((status, stdout.as_str()), (Some(125), ""));
    assert!(stderr.starts_with("brattice: the arguments of bash are no JSON object\n"), "{stderr}");
}
