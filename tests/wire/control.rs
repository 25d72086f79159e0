//! The daemon itself: its status and its end, its sockets and who owns them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use brattice_protocol::DaemonExit;
use brattice_protocol::status::DaemonStatus;
use brattice_tests::{Native, Wire, World, eventually};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn the_daemon_itself_is_the_operators_business_only() {
    let mut world = World::new();
    let mut agent = world.wire();
    for (method, params) in
        [("daemon.status", json!({})), ("daemon.shutdown", json!({"drain": false}))]
    {
        agent.request(method, params).unwrap_err();
    }
    let session = world.session("workspace-write").open();
    let answer = Wire::open(&world.control()).request("daemon.status", json!({})).unwrap();
    let status: DaemonStatus = serde_json::from_value(answer).unwrap();
    assert_eq!((status.pid, status.sessions), (world.daemon().pid(), 1));
    assert_eq!(
        (status.socket.as_str(), status.control_socket.as_str(), status.state.as_str()),
        (
            world.socket().to_str().unwrap(),
            world.control().to_str().unwrap(),
            world.state().to_str().unwrap()
        )
    );
    drop(session);
    world.finish();
}

#[test]
fn a_shutdown_stops_calls_and_removes_the_sockets() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let call = session.begin(json!({"command": "touch started; sleep 900 & wait"}));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    Wire::open(&world.control()).request("daemon.shutdown", json!({"drain": false})).unwrap();
    world.daemon().wait();
    drop(call);
    world.is_quiet();
    assert!(!world.socket().exists() && !world.control().exists());
}

#[test]
fn sockets_and_their_folder_are_private() {
    let world = World::new();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&world.socket()), mode(&world.control())), (0o600, 0o600));
    assert_eq!((mode(world.socket().parent().unwrap()), mode(&world.state())), (0o700, 0o700));
    world.finish();
}

#[test]
fn t094_t102_a_second_daemon_is_refused_and_leaves_the_first_ones_socket() {
    let world = World::new();
    for (mut command, named) in
        [(world.daemon_command(), world.state()), (world.daemon_on(&world.out()), world.socket())]
    {
        let second = Native::run(&mut command);
        assert_eq!(second.code, Some(DaemonExit::Taken.status().into()), "{second:?}");
        assert!(second.stderr.contains(named.to_str().unwrap()), "{second:?}");
        assert!(!second.stdout.contains("READY"), "{second:?}");
    }
    world.session("workspace-write").open().run("echo on").exits(0).says("on");
    world.finish();
}

#[test]
fn a_stale_socket_is_replaced() {
    let mut world = World::new();
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    assert!(world.socket().exists(), "SIGKILL leaves the socket");
    world.start();
    world.session("workspace-write").open().run("echo on").exits(0).says("on");
    world.finish();
}

#[test]
fn a_socket_that_somebody_else_serves_is_not_taken() {
    let mut world = World::new();
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    let other = UnixListener::bind(world.socket()).unwrap();
    let second = Native::run(&mut world.daemon_command());
    assert!(second.code.is_some_and(|code| code != 0), "{second:?}");
    assert!(
        std::os::unix::net::UnixStream::connect(world.socket()).is_ok(),
        "the other's socket still works"
    );
    drop(other);
}

#[test]
fn c8_the_end_of_a_daemon_stops_foreground_calls_and_the_next_one_serves() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let call = session.begin(json!({"command": "touch started; setsid sleep 900 & sleep 900"}));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    drop((call, session));
    world.is_quiet();
    world.start();
    world.session("workspace-write").open().run("echo on").exits(0).says("on");
    world.finish();
}

#[test]
fn sigterm_ends_the_daemon_and_all_its_foreground_calls() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let call = session.begin(json!({"command": "touch started; trap '' TERM; setsid sleep 900 & while :; do sleep 1; done"}));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    drop((call, session));
    world.is_quiet();
}
