//! The revisions with a handshake, and the one without.

use brattice_tests::World;
use serde_json::{Value, json};

use crate::bash;
use crate::peer::{Peer, STATEFUL, STATELESS, text};

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn each_revision_with_a_handshake_is_spoken_as_it_was_asked_for() {
    let world = World::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", STATEFUL] {
        let mut peer = Peer::stateful(&world, version, json!({}));
        assert_eq!(peer.request("ping", json!({})).unwrap(), json!({}));
        let result = peer.call(bash("echo it runs"));
        assert_eq!((text(&result), &result["isError"]), ("it runs\n", &json!(false)), "{version}");
        assert_eq!(result.get("resultType"), None, "{version} has none");
        assert_eq!(peer.leave().code, Some(0), "{version}");
    }
    world.finish();
}

#[test]
fn a_revision_that_is_not_known_is_answered_with_the_newest_that_has_a_handshake() {
    let world = World::new();
    for version in ["2023-01-01", STATELESS, "2030-01-01"] {
        let mut peer = Peer::silent(&world);
        assert_eq!(peer.handshake(version, json!({}))["protocolVersion"], STATEFUL, "{version}");
    }
    world.finish();
}

#[test]
fn without_a_handshake_each_request_says_who_asks() {
    let world = World::new();
    let mut peer = Peer::stateless(&world, json!({}));
    let told = peer.request("server/discover", json!({})).unwrap();
    assert_eq!(
        told["supportedVersions"],
        json!(["2024-11-05", "2025-03-26", "2025-06-18", STATEFUL, STATELESS])
    );
    assert_eq!(told["capabilities"], json!({"tools": {}, "resources": {}}));
    assert_eq!(
        told["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({"name": "brattice", "title": "Brattice", "version": env!("CARGO_PKG_VERSION")})
    );
    let listed = peer.request("tools/list", json!({})).unwrap();
    assert_eq!(
        (&listed["resultType"], &listed["ttlMs"], &listed["cacheScope"]),
        (&json!("complete"), &json!(0), &json!("private"))
    );
    let result = peer.call(bash("echo it runs"));
    assert_eq!((text(&result), &result["resultType"]), ("it runs\n", &json!("complete")));
    assert_eq!(peer.request("ping", json!({})).unwrap_err()["code"], -32601, "it has no ping");
    assert_eq!(peer.leave().code, Some(0));
    drop(peer);
    world.finish();
}

#[test]
fn a_request_that_does_not_say_it_is_refused_and_the_next_one_is_not() {
    let world = World::new();
    let mut peer = Peer::silent(&world);
    let error = peer.request("tools/list", json!({})).unwrap_err();
    assert_eq!(error["code"], -32602);
    let other = json!({
        "io.modelcontextprotocol/protocolVersion": "2030-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let error = peer.request("tools/list", json!({"_meta": other})).unwrap_err();
    assert_eq!(error["code"], -32022);
    peer.declares(json!({}));
    assert_eq!(text(&peer.call(bash("echo it runs"))), "it runs\n");
    drop(peer);
    world.finish();
}

#[test]
fn both_eras_are_offered_the_same_tools_as_the_socket() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let declared = session.request("tools.list", json!({"withheld": true})).unwrap();
    let mut stateful = Peer::stateful(&world, STATEFUL, json!({}));
    let mut stateless = Peer::stateless(&world, json!({}));
    let first = stateful.request("tools/list", json!({})).unwrap();
    assert_eq!(first["tools"], stateless.request("tools/list", json!({})).unwrap()["tools"]);
    assert_eq!(names(&first), names(&declared));
    // Hints on risk, titles and schemas are the same, word for word; the escalation's wording is, too.
    assert_eq!(first["tools"], declared["tools"]);
    drop(stateful);
    drop(stateless);
    world.finish();
}

#[test]
fn the_list_of_tools_stays_as_it_was_first_told() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let first = peer.request("tools/list", json!({})).unwrap();
    let session = world.sessions()[0]["session"].clone();
    let mut operator = brattice_tests::Wire::open(&world.control());
    let silenced = json!({"session": session, "approval": "never"});
    operator.request("session.update", silenced).unwrap();
    let now = operator.request("tools.list", json!({"session": session})).unwrap();
    assert_ne!(now["tools"], first["tools"], "the session's own list has changed");
    assert_eq!(peer.request("tools/list", json!({})).unwrap(), first);
    let forbidden = peer.call(crate::asking("true"));
    assert_eq!(forbidden["isError"], true, "what the state forbids is refused at the call");
    assert!(text(&forbidden).contains("approval prompts are disabled"), "{forbidden:#}");
    assert!(peer.request("tools/list", json!({"cursor": "2"})).is_err(), "there is one page");
    drop(peer);
    world.finish();
}

#[test]
fn messages_of_a_batch_are_answered_one_by_one() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, "2025-03-26", json!({}));
    let ping = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    peer.send(&json!([ping("a"), {"jsonrpc": "2.0", "method": "notifications/none"}, ping("b")]));
    for id in ["a", "b"] {
        let answer = peer.wait(id, |message| message["id"] == id);
        assert_eq!(answer["result"], json!({}));
    }
    peer.send(&json!([]));
    let refused = peer.wait("its refusal", |message| message.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32600);
    peer.request("ping", json!({})).unwrap();
    drop(peer);
    world.finish();
}
