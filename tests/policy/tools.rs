//! `[tools] disable`: what no session declares, and what nobody calls then.

use brattice_tests::Session;
use serde_json::{Value, json};

use crate::worlds::{configured, root, users, write};

/// The tools that a session declares.
fn names(session: &Session) -> Vec<String> {
    let listed = session.request("tools.list", json!({})).unwrap();
    let tools = listed["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_disabled_tool_is_neither_declared_nor_called() {
    let world = configured("[tools]\ndisable = [\"task_list\"]\n").start();
    let declared =
        |options: Value| names(&world.session("workspace-write").with("options", options).open());
    let names = declared(json!({}));
    assert!(names.contains(&"bash".to_owned()), "{names:?}");
    assert!(!names.contains(&"task_list".to_owned()), "{names:?}");
    let names = declared(json!({"disable": ["task_kill"]}));
    assert!(!names.iter().any(|name| name == "task_list" || name == "task_kill"), "{names:?}");
    let session = world.session("workspace-write").open();
    let call = session.begin_call(json!({"name": "task_list", "arguments": {}}));
    let reply = session.end(call);
    assert!(reply.is_error(), "{reply:?}");
    reply.holds("task_list").holds("bash");
    world.finish();
}

#[test]
fn a_tool_that_is_disabled_later_is_gone_from_sessions_that_the_next_daemon_takes_over() {
    let mut world = configured("").start();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    assert!(names(&session).contains(&"task_list".to_owned()));
    drop(session);
    write(&users(&root(&world)), "[tools]\ndisable = [\"task_list\"]\n");
    world.restart();
    let names = names(&world.resume(&id).open());
    assert!(names.contains(&"bash".to_owned()), "{names:?}");
    assert!(!names.contains(&"task_list".to_owned()), "{names:?}");
    world.finish();
}
