//! Clients that are slow, dead, lie or flood cost their own connection and nothing else.

use std::fs;
use std::time::Duration;

use brattice_tests::{Process, World, eventually};
use serde_json::{Value, json};

use crate::bash;
use crate::peer::{Peer, STATEFUL, text};

/// Another client of the same daemon goes on as if nothing were.
#[track_caller]
fn others_are_served(world: &World) {
    let session = world.session("workspace-write").open();
    session.run("echo fine").says("fine");
}

/// The bridges' sessions are closed.
#[track_caller]
fn no_session_is_left(world: &World) {
    eventually("no bridge has a session", || {
        let sessions = world.sessions();
        sessions.iter().all(|session| session["label"] != "brattice mcp").then_some(())
    });
}

#[track_caller]
fn last_error(peer: &mut Peer, code: i64) {
    let told = peer.last();
    let last = told.last().unwrap_or_else(|| panic!("nothing was said"));
    assert_eq!((&last["error"]["code"], last.get("id")), (&json!(code), None), "{last:#}");
}

#[test]
fn garbage_ends_the_connection_with_what_was_wrong() {
    let world = World::new();
    let deep = format!("{}{}\n", "[".repeat(65), "]".repeat(65));
    let cases: [(&[u8], i64, &str); 4] = [
        (b"this is no JSON\n", -32700, "message is not JSON"),
        (b"\xff\xfe\x00\n", -32700, "message is not JSON"),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 1\n", -32700, "message is not JSON"),
        (deep.as_bytes(), -32600, "message is nested deeper than 64 levels"),
    ];
    for (bytes, code, words) in cases {
        let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
        peer.send_bytes(bytes);
        last_error(&mut peer, code);
        let ended = peer.ended();
        assert_eq!(ended.code, Some(125));
        assert!(ended.stderr.contains(words), "{ended:?}");
    }
    no_session_is_left(&world);
    others_are_served(&world);
    world.finish();
}

#[test]
fn a_frame_that_never_ends_is_cut_off() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let before = Process::kib(peer.pid(), "VmHWM");
    let piece = vec![b'x'; 1 << 20];
    // It is cut off after 4 MiB; what is written until that is noticed goes nowhere.
    while peer.send_bytes(&piece) {}
    last_error(&mut peer, -32600);
    assert_eq!(peer.ended().code, Some(125));
    assert!(before > 0);
    others_are_served(&world);
    drop(peer);
    world.finish();
}

#[test]
fn what_is_json_and_no_message_is_refused_and_the_next_is_served() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    for sent in
        [json!(1), json!("x"), json!({}), json!({"jsonrpc": "1.0", "id": 7, "method": "ping"})]
    {
        peer.send(&sent);
        let refused = peer.wait("its refusal", |message| message.get("error").is_some());
        assert_eq!(refused["error"]["code"], -32600, "{sent}");
    }
    // An answer to nothing, a cancel of nothing, notifications that nobody knows.
    peer.send(&json!({"jsonrpc": "2.0", "id": 999, "result": {}}));
    peer.notify("notifications/cancelled", json!({"requestId": 999}));
    peer.notify("notifications/none", json!({}));
    peer.notify("notifications/cancelled", json!("x"));
    assert_eq!(text(&peer.call(bash("echo fine"))), "fine\n");
    drop(peer);
    world.finish();
}

#[test]
fn requests_beyond_the_limit_are_refused_at_once_and_cancels_still_read() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let wait = "while [ ! -e $WS/go ]; do sleep 0.1; done";
    let running: Vec<i64> = (0..64).map(|_| peer.begin("tools/call", bash(wait))).collect();
    let one_more = peer.request("tools/list", json!({})).unwrap_err();
    assert_eq!(one_more["data"]["code"], "busy");
    peer.notify("notifications/cancelled", json!({"requestId": running[0]}));
    // Once that one is over there is room for another.
    eventually("there is room", || peer.request("tools/list", json!({})).ok());
    fs::write(world.ws().join("go"), "").unwrap();
    for id in &running[1..] {
        peer.end(*id).unwrap();
    }
    drop(peer);
    world.finish();
}

#[test]
fn endless_requests_of_a_client_that_never_reads_end_its_connection_alone() {
    let world = World::new();
    let mut peer = Peer::deaf(&world);
    peer.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": STATEFUL, "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    }}));
    let pid = peer.pid();
    let flood = std::thread::spawn(move || {
        let mut id = 0;
        loop {
            id += 1;
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
            if !peer.send_bytes(format!("{request}\n").as_bytes()) {
                return (peer, id);
            }
        }
    });
    others_are_served(&world);
    eventually("the bridge stops reading", || (Process::kib(pid, "VmRSS") > 0).then_some(()));
    std::thread::sleep(Duration::from_secs(2));
    let grown = Process::kib(pid, "VmHWM");
    assert!(grown < 64 << 10, "its memory is bounded: {grown} KiB");
    let (mut peer, _) = flood.join().unwrap();
    let ended = peer.ended();
    assert_eq!(
        (ended.code, ended.stderr.contains("did not read for 30 s")),
        (Some(125), true),
        "{ended:?}"
    );
    no_session_is_left(&world);
    others_are_served(&world);
    drop(peer);
    world.finish();
}

#[test]
fn an_endless_output_that_nobody_reads_grows_nothing() {
    let world = World::new();
    let mut peer = Peer::deaf(&world);
    peer.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": STATEFUL, "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    }}));
    let mut params = bash("yes");
    params["_meta"] = json!({"progressToken": 1});
    peer.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
    // A client that does not read, and says nothing either, may be busy; what it is told waits in the pipe.
    assert!(!peer.has_ended_within(Duration::from_secs(3)));
    let grown = Process::kib(peer.pid(), "VmHWM");
    assert!(grown < 64 << 10, "its memory is bounded: {grown} KiB");
    peer.close();
    peer.ended();
    world.is_quiet();
    drop(peer);
    world.finish();
}

#[test]
fn a_first_message_that_is_no_request_ends_it() {
    let world = World::new();
    let mut peer = Peer::silent(&world);
    peer.send(&json!({"jsonrpc": "2.0", "id": 5, "result": {}}));
    let ended = peer.ended();
    assert_eq!(ended.code, Some(125), "{ended:?}");
    let mut peer = Peer::silent(&world);
    assert_eq!(peer.leave(), crate::peer::Ended { code: Some(0), stderr: String::new() });
    assert_eq!(world.sessions(), Vec::<Value>::new());
    drop(peer);
    world.finish();
}
