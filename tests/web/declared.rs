//! Where the tool is declared.

use brattice_tests::{Session, World};
use serde_json::json;

/// Whether a session declares the tool.
fn declares(session: &Session) -> bool {
    let listed = session.request("tools.list", json!({})).unwrap();
    let mut tools = listed["tools"].as_array().unwrap().iter();
    tools.any(|tool| tool["name"] == "web_fetch")
}

#[test]
fn it_is_declared_where_the_network_is_full_and_unknown_elsewhere() {
    let world = World::new();
    for (toolset, expected) in
        [("standard", true), ("glrs", true), ("dsh", false), ("minimal", false)]
    {
        let session = world.session("workspace-write").with("toolset", json!(toolset)).open();
        assert_eq!(declares(&session), expected, "{toolset}");
    }
    for network in ["none", "loopback"] {
        let opening = world.session("workspace-write").with("network", json!(network));
        let session = opening.open();
        assert!(!declares(&session), "{network}");
        let arguments = json!({"urls": ["http://a.example/"]});
        let reply = session.call("web_fetch", arguments);
        assert!(reply.is_error());
        reply.holds("unknown tool `web_fetch`");
    }
    world.finish();
}

#[test]
fn a_disabled_one_is_not_declared() {
    let world = World::builder().configured("[tools]\ndisable = [\"web_fetch\"]\n").start();
    assert!(!declares(&world.session("workspace-write").open()));
    world.finish();
}
