//! What an editor is shown of a call: in its result, and when it starts.

use brattice_client::Notice;
use brattice_protocol::editor::{EditorFacts, EditorKind, EditorStatus};
use brattice_protocol::tools::CallMeta;
use brattice_tests::{Session, World};
use serde_json::{Value, json};

fn facts(kind: EditorKind, title: &str, status: EditorStatus) -> EditorFacts {
    let title = title.to_owned();
    EditorFacts { kind, title, status, locations: Vec::new(), content: Vec::new() }
}

/// What a result shows, and what was shown when the call started.
fn shown(session: &Session, name: &str, arguments: Value) -> [EditorFacts; 2] {
    let reply = session.end(session.begin_call(json!({"name": name, "arguments": arguments})));
    let meta = serde_json::from_value(Value::Object(reply.result.meta.clone())).unwrap();
    let CallMeta { call, editor, .. } = meta;
    let started = session.notice("call.started", |notice| match notice {
        Notice::CallStarted(started) if started.call == call => Some(started),
        _ => None,
    });
    let brattice_protocol::tools::CallStarted { kind, title, status, locations, content, .. } =
        started;
    [editor.unwrap(), EditorFacts { kind, title, status, locations, content }]
}

#[test]
fn a_result_and_a_start_show_the_same_but_the_status() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let (execute, read) = (EditorKind::Execute, EditorKind::Read);
    let cases = [
        ("bash", json!({"command": "exit 3"}), execute, "exit 3", EditorStatus::Completed),
        (
            "bash",
            json!({"command": "sleep 300", "description": "Wait", "run_in_background": true}),
            execute,
            "Wait",
            EditorStatus::Completed,
        ),
        ("task_list", json!({}), read, "task_list", EditorStatus::Completed),
        ("task_output", json!({"task_id": "bash-2"}), read, "task_output", EditorStatus::Completed),
        (
            "task_kill",
            json!({"task_id": "bash-2"}),
            execute,
            "stop bash-2",
            EditorStatus::Completed,
        ),
        ("bash", json!({"command": 7}), execute, "bash", EditorStatus::Failed),
        ("nosuch", json!({}), EditorKind::Other, "nosuch", EditorStatus::Failed),
    ];
    for (name, arguments, kind, title, status) in cases {
        assert_eq!(
            shown(&session, name, arguments),
            [facts(kind, title, status), facts(kind, title, EditorStatus::InProgress)],
            "{name}"
        );
    }
    session.request("session.close", json!({})).unwrap();
    world.finish();
}
