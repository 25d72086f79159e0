//! `brattice daemon`, and a client that starts a daemon where none answers.

use brattice_tests::World;
use rustix::process::Signal;

use crate::cli_world::{brattice_in, ended};

/// A world whose daemon has ended.
fn without_daemon() -> World {
    let mut world = World::new();
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    world
}

#[test]
fn a_client_starts_a_daemon_where_none_answers() {
    let world = without_daemon();
    let first = brattice_in(&world, &["run", "--", "echo hi"]);
    assert_eq!((first.code, first.stdout.as_str()), (Some(0), "hi\n"), "{first:?}");
    assert_eq!(
        brattice_in(&world, &["--no-start", "run", "--", "echo again"]),
        ended(0, "again\n", "")
    );
    let status = brattice_in(&world, &["daemon", "status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    brattice_in(&world, &["daemon", "stop"]).succeeded();
    assert_ne!(brattice_in(&world, &["daemon", "status"]).code, Some(0));
    assert_ne!(brattice_in(&world, &["--no-start", "run", "--", "true"]).code, Some(0));
}

#[test]
fn start_is_said_once_and_stop_stops() {
    let world = without_daemon();
    brattice_in(&world, &["daemon", "start"]).succeeded();
    brattice_in(&world, &["daemon", "start"]).succeeded();
    let status = brattice_in(&world, &["daemon", "status", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&status.succeeded().stdout).unwrap();
    assert!(value.to_string().contains(world.socket().to_str().unwrap()), "{value}");
    brattice_in(&world, &["daemon", "stop"]).succeeded();
    assert!(!world.socket().exists());
    world.is_quiet();
}
