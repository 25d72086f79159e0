//! The command line of the built `bratticed`: what it says of itself and what it refuses, before it
//! opens a socket or a folder. What it does when it runs is tested through the client.
#![allow(clippy::unwrap_used, reason = "a test that cannot run its program ends")]

use std::env;
use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use brattice_protocol::DaemonExit;

/// The built daemon; where the tests were archived and unpacked elsewhere, nextest says where it is now.
fn program() -> OsString {
    env::var_os("NEXTEST_BIN_EXE_bratticed").unwrap_or(env!("CARGO_BIN_EXE_bratticed").into())
}

/// Runs the daemon with an environment that leads it nowhere.
fn bratticed(words: &[&str]) -> Output {
    Command::new(program()).args(words).env_clear().stdin(Stdio::null()).output().unwrap()
}

#[test]
fn version_names_the_program_and_its_version() {
    let output = bratticed(&["--version"]);
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), output.stderr),
        (Some(0), format!("bratticed {}\n", env!("CARGO_PKG_VERSION")), Vec::new())
    );
}

#[test]
fn help_goes_to_stdout_and_names_every_flag() {
    let output = bratticed(&["--help"]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
    for flag in
        ["--socket", "--control-socket", "--state", "--log-format", "--allow-root", "--check"]
    {
        assert!(said.contains(flag), "{flag} is not in:\n{said}");
    }
}

#[test]
fn help_tells_what_each_signal_does() {
    let said = String::from_utf8(bratticed(&["--help"]).stdout).unwrap();
    let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for told in [
        "background tasks and sessions are left to the next daemon",
        "A second one stops the background tasks and closes the sessions, too",
        "a third ends the daemon at once, with status 1",
    ] {
        assert!(words.contains(told), "{told} is not in:\n{said}");
    }
}

#[test]
fn a_check_tells_what_a_start_would_and_starts_nothing() {
    let folder = std::env::temp_dir().join(format!("brattice-check-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let (state, config) = (folder.join("state"), folder.join("config.toml"));
    let check = |text: &str| {
        std::fs::write(&config, text).unwrap();
        let paths = [state.to_str().unwrap(), config.to_str().unwrap()];
        let output =
            bratticed(&["--check", "--allow-root", "--state", paths[0], "--config", paths[1]]);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let sound = check("[session]\nmode = \"read-only\"\n");
    let version = env!("CARGO_PKG_VERSION");
    let fit = format!("bratticed {version} could start: its configuration is in order\n");
    assert_eq!((sound.0, sound.1), (Some(0), fit), "{}", sound.2);
    let (status, stdout, stderr) = check("[session]\nmood = \"good\"\n");
    assert_eq!((status, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("bratticed: ") && stderr.contains("mood"), "{stderr}");
    assert!(!state.exists(), "nothing is made for a check");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_unknown_flag_is_a_usage_error() {
    let output = bratticed(&["--no-such-flag"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()));
    assert!(said.contains("--no-such-flag"), "{said}");
}

#[test]
fn a_word_that_is_no_flag_is_a_usage_error() {
    let output = bratticed(&["start"]);
    assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()));
}

#[test]
fn its_exit_status_tells_root_from_other_faults() {
    let nowhere = (
        DaemonExit::Failed,
        "bratticed: no state folder: none of BRATTICE_STATE, XDG_STATE_HOME and HOME holds an absolute path\n",
    );
    let as_root = (DaemonExit::Root, "bratticed: running as root needs --allow-root\n");
    let unasked = if rustix::process::geteuid().is_root() { as_root } else { nowhere };
    for (words, (exit, said)) in [(&["--allow-root"][..], nowhere), (&[], unasked)] {
        let output = bratticed(words);
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap()),
            (Some(exit.status().into()), said.to_owned()),
            "{words:?}"
        );
    }
}
