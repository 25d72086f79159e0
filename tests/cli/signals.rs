//! Ctrl-C stops the command's tree, and a reader that goes away ends the client.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

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
