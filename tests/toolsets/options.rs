//! Options of `session.open` that only some toolsets have.

use brattice_protocol::ErrorCode;
use brattice_tests::World;
use serde_json::{Value, json};

#[test]
fn an_option_that_a_toolset_lacks_is_refused_by_name() {
    let world = World::new();
    let refused = |toolset: &str, options: Value| {
        let opening = world.session("workspace-write").with("toolset", json!(toolset));
        let error = opening.with("options", options).try_open().err().expect("it is refused");
        assert!(error.is(ErrorCode::Invalid), "{error:?}");
        error.message
    };
    assert_eq!(
        refused("standard", json!({"tool_timeout_ms": 1000})),
        "params.options.tool_timeout_ms: the toolset `standard` has no such option, only `disable`, `skills`, `loop_detector`"
    );
    assert_eq!(
        refused("glrs", json!({"max_output": 10})),
        "params.options.max_output: the toolset `glrs` has no such option, only `disable`, `skills`, `loop_detector`, \
         `tool_timeout_ms`"
    );
    assert_eq!(
        refused("minimal", json!({"max_output": 0})),
        "params.options.max_output: expected a whole number from 1 to 65536, got 0"
    );
    world.finish();
}

#[test]
fn options_of_later_versions_are_refused_by_name() {
    let world = World::new();
    let mut wire = world.wire();
    for name in ["ask", "edit_tools", "preview_lines"] {
        let params = json!({
            "workspace": world.ws(), "toolset": "minimal", "options": {name: "auto"},
        });
        let error = wire.request("session.open", params).unwrap_err();
        assert!(error.message.contains(&format!("`{name}`")), "{error:?}");
    }
    world.finish();
}

#[test]
fn a_session_of_an_earlier_daemon_keeps_its_toolset_and_options() {
    let mut world = World::new();
    let opening = world.session("workspace-write").with("toolset", json!("minimal"));
    let session = opening.with("options", json!({"max_output": 4})).open();
    let id = session.id().to_owned();
    session.run("echo abcdef").exits(0).says("abcd\n[output truncated: 3 characters omitted]");
    drop(session);
    world.restart();
    let session = world.resume(&id).open();
    assert_eq!(session.opened().toolset.as_str(), "minimal");
    session.run("echo abcdef").exits(0).says("abcd\n[output truncated: 3 characters omitted]");
    session.request("session.close", json!({})).unwrap();
    world.finish();
}
