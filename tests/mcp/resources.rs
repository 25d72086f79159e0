//! Output of tasks as resources.

use brattice_tests::{World, eventually};
use serde_json::{Value, json};

use crate::bash;
use crate::peer::{Peer, STATEFUL, text};

fn background(command: &str) -> Value {
    let mut start = bash(command);
    start["arguments"]["run_in_background"] = json!(true);
    start
}

fn read(peer: &mut Peer, uri: &str) -> Value {
    peer.request("resources/read", json!({"uri": uri})).unwrap()["contents"][0].clone()
}

#[test]
fn tasks_are_listed_and_read_in_pieces() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    peer.call(background("head -c 400000 /dev/zero | tr '\\0' x; echo €; printf '\\377' >&2"));
    eventually("it ends", || {
        let listed = peer.call(json!({"name": "task_list", "arguments": {}}));
        text(&listed).contains("completed").then_some(())
    });
    let listed = peer.request("resources/list", json!({})).unwrap();
    let uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["brattice://task/bash-1/stdout", "brattice://task/bash-1/stderr"]);
    assert!(
        listed["resources"][0]["description"].as_str().unwrap().starts_with("completed: head -c"),
        "{listed:#}"
    );
    let first = read(&mut peer, uris[0]);
    assert_eq!(first["text"].as_str().unwrap(), "x".repeat(256 << 10));
    let next = first["_meta"]["dev.brattice/next_offset"].as_u64().unwrap();
    assert_eq!(next, 256 << 10);
    let second = read(&mut peer, &format!("{}?offset={next}", uris[0]));
    assert_eq!(second["text"].as_str().unwrap(), "x".repeat(400_000 - (256 << 10)) + "€\n");
    assert_eq!(second["_meta"]["dev.brattice/status"], "completed");
    let stderr = read(&mut peer, uris[1]);
    assert_eq!(
        (&stderr["blob"], &stderr["mimeType"]),
        (&json!("/w=="), &json!("application/octet-stream"))
    );
    drop(peer);
    world.finish();
}

#[test]
fn what_is_none_is_told_as_each_revision_has_it() {
    let world = World::new();
    let unknown =
        ["brattice://task/bash-7/stdout", "brattice://task/bash-1/stdin", "file:///etc/passwd"];
    for (mut peer, code) in [
        (Peer::stateful(&world, STATEFUL, json!({})), -32002),
        (Peer::stateless(&world, json!({})), -32602),
    ] {
        for uri in unknown {
            let error = peer.request("resources/read", json!({"uri": uri})).unwrap_err();
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)));
        }
        let templates = peer.request("resources/templates/list", json!({})).unwrap();
        assert_eq!(
            templates["resourceTemplates"][0]["uriTemplate"],
            "brattice://task/{task}/{stream}{?offset}"
        );
    }
    world.finish();
}

#[test]
fn a_long_list_comes_in_pages() {
    let world = World::new();
    let mut peer = Peer::stateless(&world, json!({}));
    for _ in 0..51 {
        peer.call(background("true"));
    }
    let first = peer.request("resources/list", json!({})).unwrap();
    let count = |page: &Value| page["resources"].as_array().unwrap().len();
    assert_eq!((count(&first), &first["nextCursor"]), (100, &json!("100")));
    assert_eq!(first["resources"][0]["uri"], "brattice://task/bash-51/stdout", "the newest first");
    let second = peer.request("resources/list", json!({"cursor": "100"})).unwrap();
    assert_eq!((count(&second), second.get("nextCursor")), (2, None));
    assert!(peer.request("resources/list", json!({"cursor": "x"})).is_err());
    drop(peer);
    world.finish();
}
