//! `hello` comes first, on time, and says what the client must know.

use std::time::Instant;

use brattice_protocol::hello::{Role, WireLimits};
use brattice_protocol::{ErrorCode, PROTOCOL};
use brattice_tests::{PATIENCE, Wire, World};
use serde_json::json;

#[test]
fn a_socket_of_systemd_where_nobody_listens_does_not_stop_the_start() {
    let world = World::builder().variable("NOTIFY_SOCKET", "/nonexistent/notify").start();
    world.session("workspace-write").open().run("echo hi").exits(0).says("hi");
    assert!(world.log().contains("/nonexistent/notify"), "{}", world.log());
    world.finish();
}

#[test]
fn hello_tells_role_limits_and_layers() {
    let world = World::new();
    let hello = world.hello();
    assert_eq!(
        (hello.protocol, hello.daemon.name.as_str(), hello.role),
        (PROTOCOL, "bratticed", Role::Client)
    );
    let limits = WireLimits {
        message_bytes: 4 << 20,
        message_depth: 64,
        in_flight: 64,
        inline_bytes: 256 << 10,
    };
    assert_eq!(hello.limits, limits);
    assert!(
        hello.sandbox.landlock_abi >= 3 && hello.sandbox.missing().is_none(),
        "{:?}",
        hello.sandbox
    );
    assert_eq!(Wire::connect(&world.control()).hello().role, Role::Operator);
    world.finish();
}

#[test]
fn nothing_is_served_before_hello() {
    let world = World::new();
    for method in ["session.list", "session.open", "daemon.status", "no.such.method"] {
        let error = Wire::connect(&world.socket()).request(method, json!({})).unwrap_err();
        assert!(error.is(ErrorCode::NotReady), "{method}: {error:?}");
    }
    world.finish();
}

#[test]
fn hello_in_another_version_is_refused() {
    let world = World::new();
    let client = json!({"name": "x", "version": "1"});
    for protocol in [0, 2, 99] {
        let hello = json!({"protocol": protocol, "client": client});
        let error = Wire::connect(&world.socket()).request("hello", hello).unwrap_err();
        assert!(error.is(ErrorCode::Invalid) && error.message.contains("protocol"), "{error:?}");
    }
    let more = json!({"protocol": 1, "client": client, "extra": 1});
    let error = Wire::connect(&world.socket()).request("hello", more).unwrap_err();
    assert!(error.code == -32602 && error.message.contains("extra"), "{error:?}");
    world.finish();
}

#[test]
fn who_says_nothing_is_hung_up_on() {
    let world = World::new();
    let start = Instant::now();
    let error = Wire::connect(&world.socket()).last_words();
    assert!(error.is(ErrorCode::NotReady), "{error:?}");
    assert!(start.elapsed().as_secs() >= 9 && start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    world.wire();
    world.finish();
}
