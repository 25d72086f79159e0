//! What becomes of the session when the client, the bridge or the daemon goes.

use std::fs;
use std::time::Instant;

use brattice_tests::{World, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::bash;
use crate::peer::{Peer, STATEFUL, command, text};

const WAIT: &str = "touch $WS/begun; sleep 300; touch $WS/over";

#[track_caller]
fn begin(world: &World, peer: &mut Peer) {
    peer.begin("tools/call", bash(WAIT));
    eventually("it runs", || world.ws().join("begun").exists().then_some(()));
}

#[test]
fn a_client_that_closes_its_end_in_the_middle_of_a_call_takes_call_and_session_with_it() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    begin(&world, &mut peer);
    let closed = Instant::now();
    assert_eq!(peer.leave(), crate::peer::Ended { code: Some(0), stderr: String::new() });
    assert!(closed.elapsed().as_secs() < 20);
    world.is_quiet();
    assert_eq!(world.sessions(), Vec::<Value>::new());
    assert!(!world.ws().join("over").exists());
    world.finish();
}

#[test]
fn results_that_come_at_once_are_written_to_a_client_that_closed_its_end() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let id = peer.begin("tools/call", bash("echo last"));
    peer.close();
    assert_eq!(text(&peer.end(id).unwrap()), "last\n");
    assert_eq!(peer.ended().code, Some(0));
    drop(peer);
    world.finish();
}

#[test]
fn a_signal_ends_it_as_the_end_of_its_input_does() {
    let world = World::new();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
        begin(&world, &mut peer);
        peer.signal(signal);
        assert_eq!(peer.ended().code, Some(0), "{signal:?}");
        world.is_quiet();
        assert_eq!(world.sessions(), Vec::<Value>::new());
        fs::remove_file(world.ws().join("begun")).unwrap();
    }
    world.finish();
}

#[test]
fn background_tasks_go_on_without_their_client() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let mut start = bash("while [ ! -e $WS/go ]; do sleep 0.05; done; touch $WS/over");
    start["arguments"]["run_in_background"] = json!(true);
    peer.call(start);
    let ended = peer.leave();
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("goes on without its client: 1 background task"), "{ended:?}");
    let sessions = world.sessions();
    assert_eq!((&sessions[0]["attached"], &sessions[0]["running"]), (&json!(false), &json!(1)));
    fs::write(world.ws().join("go"), "").unwrap();
    eventually("it goes on", || world.ws().join("over").exists().then_some(()));
    world.finish();
}

#[test]
fn the_next_daemon_is_found_and_the_session_taken_up_again() {
    let mut world = World::new();
    // The next daemon is the test's to start.
    let mut peer = Peer::with(&world, &["--no-start"]);
    peer.handshake(STATEFUL, json!({}));
    let mut start = bash("while [ ! -e $WS/go ]; do sleep 0.05; done");
    start["arguments"]["run_in_background"] = json!(true);
    peer.call(start);
    let session = world.sessions()[0]["session"].clone();
    let id = peer.begin("tools/call", bash(WAIT));
    eventually("it runs", || world.ws().join("begun").exists().then_some(()));
    world.restart();
    let lost = peer.end(id).unwrap();
    assert_eq!(lost["isError"], true, "{lost:#}");
    let next = peer.call(bash("echo next"));
    assert!(text(&next).starts_with("next\n"), "{next:#}");
    assert_eq!(world.sessions()[0]["session"], session);
    let listed = peer.call(json!({"name": "task_list", "arguments": {}}));
    assert!(text(&listed).starts_with("bash-1 [bash] running"), "{listed:#}");
    fs::write(world.ws().join("go"), "").unwrap();
    drop(peer);
    world.finish();
}

#[test]
fn without_a_daemon_it_says_so_and_ends() {
    let mut world = World::new();
    world.kill_daemon();
    let output = command(&world, &["--no-start"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(125), b"".as_slice()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("brattice mcp: cannot connect to the daemon at "), "{said}");
    assert!(said.contains("hint: "), "{said}");
    world.start();
    let output = command(&world, &["--workspace", "/nowhere"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.contains("/nowhere")), (Some(125), true), "{said}");
    world.finish();
}

#[test]
fn the_session_is_the_one_that_was_asked_for() {
    let world = World::new();
    let arguments =
        ["--mode", "read-only", "--toolset", "glrs", "--network", "none", "--workspace"];
    let out = world.out();
    let mut line = command(&world, &arguments);
    line.arg(&out).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = line.spawn().unwrap();
    let opened = eventually("it is there", || world.sessions().first().cloned());
    assert_eq!(
        (&opened["mode"], &opened["toolset"], &opened["network"], &opened["label"]),
        (&json!("read-only"), &json!("glrs"), &json!("none"), &json!("brattice mcp"))
    );
    assert_eq!(opened["workspace"], json!(out.canonicalize().unwrap()));
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    world.finish();
}
