//! Ctrl-C stops the command's tree, and a reader that goes away ends the client.

use std::io::Read as _;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use brattice_tests::{Native, World, eventually};
use rustix::process::{Pid, Signal, kill_process};

use crate::cli_world::client;

fn start(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap()
}

/// Returns once the client has printed a line: it follows the command by then.
fn wait_for_line(child: &mut Child) {
    let stdout = child.stdout.as_mut().unwrap();
    let mut byte = [0];
    // One at a time: what comes after the line is for whoever gathers the rest.
    while byte != *b"\n" {
        stdout.read_exact(&mut byte).unwrap();
    }
}

#[test]
fn ctrl_c_stops_the_tree_and_the_client_says_so() {
    let world = World::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let child = start(&mut client(
            &world,
            &["run", "--", "touch started; setsid sleep 900 & sleep 900"],
        ));
        eventually("the command runs", || world.ws().join("started").exists().then_some(()));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let ended = Native::gather(child);
        assert!(
            ended.code == Some(code) || ended.signal == Some(code - 128),
            "{signal:?}: {ended:?}"
        );
        world.is_quiet();
        std::fs::remove_file(world.ws().join("started")).unwrap();
    }
    world.finish();
}

#[test]
fn signals_that_come_together_are_one_and_leave_the_grace() {
    let world = World::new();
    let command = "trap 'sleep 0.5; echo cleaned; exit' TERM; echo up; while :; do sleep 0.1; done";
    let mut child = start(&mut client(&world, &["run", "--", command]));
    wait_for_line(&mut child);
    // Two of one kind might be taken as one by the kernel already.
    for signal in [Signal::INT, Signal::TERM] {
        kill_process(Pid::from_child(&child), signal).unwrap();
    }
    let ended = Native::gather(child);
    assert_eq!(ended.stdout, "cleaned\n", "{ended:?}");
    assert!(matches!(ended.code, Some(130 | 143)), "{ended:?}");
    world.finish();
}

/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// Interrupts a command that takes no notice of SIGTERM twice, and tells how long it took to end from then on.
fn insist(world: &World, arguments: &[&str]) -> Duration {
    let child = start(&mut client(world, arguments));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    let interrupt = || kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    interrupt();
    eventually("the command is asked to end", || world.ws().join("asked").exists().then_some(()));
    // What comes sooner is the first one again.
    std::thread::sleep(Duration::from_millis(250));
    interrupt();
    let begun = Instant::now();
    let ended = Native::gather(child);
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stderr.contains("SIGKILL") || ended.stdout.contains("SIGKILL"), "{ended:?}");
    world.is_quiet();
    for file in ["started", "asked"] {
        std::fs::remove_file(world.ws().join(file)).unwrap();
    }
    begun.elapsed()
}

#[test]
fn t025_a_second_ctrl_c_waits_for_no_grace() {
    let world = World::new();
    let stubborn = "(trap '' TERM; exec setsid sleep 900) & trap 'touch asked' TERM; echo up; touch started; \
                    while :; do sleep 0.1; done";
    let call = serde_json::json!({"command": stubborn}).to_string();
    for arguments in [["run", "--", stubborn], ["call", "bash", &call]] {
        // A machine that is busy with other tests may take long once.
        let is_soon = |_| insist(&world, &arguments) < GRACE - Duration::from_secs(1);
        assert!((0..3).any(is_soon), "{arguments:?}");
    }
    world.finish();
}

#[test]
fn a_client_that_is_killed_leaves_nothing_running_at_the_end() {
    let world = World::new();
    let mut child = start(&mut client(&world, &["run", "--", "touch started; sleep 900"]));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    // Its session stays for a while and can be resumed; an operator closes it, and with it the command.
    world.finish();
}

#[test]
fn a_reader_that_goes_away_ends_the_client_and_the_command() {
    let world = World::new();
    let mut child = start(&mut client(&world, &["run", "--", "yes"]));
    drop(child.stdout.take());
    eventually("the client ends", || child.try_wait().unwrap());
    world.is_quiet();
    world.finish();
}
