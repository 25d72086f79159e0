//! What an editor is shown of a call: in its result, and when it starts.

use std::collections::BTreeSet;

use brattice_client::Notice;
use brattice_protocol::editor::{
    EditorContent, EditorFacts, EditorKind, EditorStatus, MOST_DIFF_BYTES,
};
use brattice_protocol::tools::{CallMeta, Location};
use brattice_tests::{Session, World, diff};
use serde_json::{Value, json};

fn facts(kind: EditorKind, title: &str, status: EditorStatus) -> EditorFacts {
    let title = title.to_owned();
    EditorFacts { kind, title, status, locations: Vec::new(), content: Vec::new() }
}

/// What a result shows, and what was shown when the call started.
fn shown(session: &Session, name: &str, arguments: Value) -> [EditorFacts; 2] {
    let reply = session.call(name, arguments);
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

#[test]
fn a_change_shows_its_diff_and_where_it_begins_in_every_toolset() {
    let world = World::new();
    let (path, new) = (world.ws().join("f"), world.ws().join("n"));
    let [path, new] = [path, new].map(|path| path.display().to_string());
    for toolset in ["standard", "dsh", "glrs", "minimal"] {
        world.setup("printf 'one\\ntwo\\n' > f; rm -f n");
        let session = world.session("workspace-write").of_toolset(toolset).open();
        let (suffix, key) = match toolset {
            "minimal" => ("_file", "path"),
            "glrs" => ("", "path"),
            _ => ("", "file_path"),
        };
        let name = |tool: &str| format!("{tool}{suffix}");
        let at = |path: &str, line| vec![Location { path: path.to_owned(), line }];
        let [read, _] = shown(&session, &name("read"), json!({key: "f"}));
        assert_eq!((read.kind, &read.locations), (EditorKind::Read, &at(&path, Some(1))));
        assert_eq!(read.content, []);
        let edit = match toolset {
            "glrs" => {
                json!({"files": [{"path": "f", "edits": [{"old_string": "two", "new_string": "2"}]}]})
            }
            "minimal" => json!({"path": "f", "edits": [{"old": "two", "new": "2"}]}),
            _ => json!({"file_path": "f", "old_string": "two", "new_string": "2"}),
        };
        let [edited, begun] = shown(&session, &name("edit"), edit);
        assert_eq!((edited.kind, edited.status), (EditorKind::Edit, EditorStatus::Completed));
        assert_eq!(edited.title, "edit f");
        assert_eq!((&edited.locations, &begun.locations), (&at(&path, Some(2)), &at(&path, None)));
        assert_eq!(
            (edited.content, begun.content),
            (vec![diff(&path, Some("one\ntwo\n"), "one\n2\n")], vec![])
        );
        let [written, _] = shown(&session, &name("write"), json!({key: "n", "content": "x\n"}));
        assert_eq!(written.content, [diff(&new, None, "x\n")]);
        let [same, _] = shown(&session, &name("write"), json!({key: "n", "content": "x\n"}));
        assert_eq!((same.kind, same.content), (EditorKind::Edit, vec![]));
    }
    world.finish();
}

#[test]
fn a_diff_is_bounded_and_what_is_not_done_shows_none() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let long: String = (1..=20_000).map(|number| format!("line {number}\n")).collect();
    world.file("long", &long);
    session.call("read", json!({"file_path": "long"}));
    let edit = |dry_run| {
        json!({"files": [{"path": "long", "edits": [{"old_string": "line 15000", "new_string": "here"}]}],
               "dry_run": dry_run})
    };
    let [dry, _] = shown(&session, "edit", edit(true));
    assert_eq!(dry.content, []);
    let [edited, _] = shown(&session, "edit", edit(false));
    let near = |middle: &str| {
        format!(
            "line 14997\nline 14998\nline 14999\n{middle}\nline 15001\nline 15002\nline 15003\n"
        )
    };
    let path = world.ws().join("long");
    assert_eq!(edited.content, [diff(path, Some(&near("line 15000")), &near("here"))]);
    let [whole, _] = shown(&session, "write", json!({"file_path": "made", "content": long}));
    let [EditorContent::Diff { old_text, new_text, .. }] = &whole.content[..] else {
        panic!("one diff: {whole:?}");
    };
    assert_eq!(old_text, &None);
    assert!(new_text.len() <= MOST_DIFF_BYTES && long.starts_with(new_text.as_str()));
    world.finish();
}

/// What editors are shown of a call of every tool in every toolset, as it was recorded for the types that they read it with.
const RECORDED: &str = include_str!("../acp/src/recorded.json");

/// The tools of each toolset with arguments, in an order in which all of them work.
fn every_tool() -> [(&'static str, Vec<(&'static str, Value)>); 4] {
    let files =
        json!({"files": [{"path": "f", "edits": [{"old_string": "one", "new_string": "1"}]}]});
    let bash = ("bash", json!({"command": "echo hi", "description": "Say hi"}));
    let read = json!({"file_path": "f", "offset": 2});
    let edit = json!({"file_path": "f", "old_string": "one", "new_string": "1"});
    let write = json!({"file_path": "n", "content": "x\n"});
    let search = [("grep", json!({"pattern": "two"})), ("glob", json!({"pattern": "*"}))];
    let task = |tool| (tool, json!({"task_id": "bash-2"}));
    let outside = json!({"file_path": "/nowhere", "content": ""});
    let waits =
        json!({"command": "cat", "description": "Wait", "run_in_background": true, "stdin": true});
    let standard = [
        bash.clone(),
        ("read", read.clone()),
        ("edit", edit.clone()),
        ("write", write.clone()),
        ("write", outside),
        ("bash", waits),
        ("task_input", json!({"task_id": "bash-2", "text": "x\n"})),
        task("task_output"),
        ("task_list", json!({})),
        task("task_kill"),
    ];
    let dsh = [
        bash.clone(),
        ("read", read),
        ("edit", edit),
        ("write", write),
        ("bash", json!({"command": "sleep 900", "description": "Wait", "run_in_background": true})),
        task("task_output"),
        ("task_list", json!({})),
        task("task_kill"),
    ];
    // Nobody is there to answer, no plan is under way, and what is to be fetched is refused: what is shown is the same.
    let questions = json!({"questions": [{"id": "db", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]});
    let people = [
        ("ask_user_question", questions),
        ("exit_plan_mode", json!({"plan": "# Rename"})),
        ("todo_write", json!({"todos": [{"content": "a", "status": "pending"}]})),
    ];
    let fetch = ("web_fetch", json!({"urls": ["http://10.0.0.1/"]}));
    let ask = ("ask_user", json!({"questions": [{"question": "Which?", "options": ["A", "B"]}]}));
    let in_glrs = [
        bash.clone(),
        ("read", json!({"path": "f"})),
        ("edit", files),
        ("write", json!({"path": "n", "content": "x\n"})),
    ];
    let minimal = [
        bash,
        ("read_file", json!({"path": "f", "start": 2})),
        ("edit_file", json!({"path": "f", "edits": [{"old": "one", "new": "1"}]})),
        ("write_file", json!({"path": "n", "content": "x\n"})),
    ];
    [
        (
            "standard",
            standard
                .into_iter()
                .chain(search.clone())
                .chain(people.clone())
                .chain([fetch.clone()])
                .collect(),
        ),
        ("dsh", dsh.into_iter().chain(people).collect()),
        ("glrs", in_glrs.into_iter().chain(search).chain([fetch, ask]).collect()),
        ("minimal", minimal.into()),
    ]
}

#[test]
fn what_editors_are_shown_of_every_tool_is_what_was_recorded() {
    let world = World::new();
    let mut told = Vec::new();
    for (toolset, calls) in every_tool() {
        world.setup("printf 'one\\ntwo\\n' > f; rm -f n");
        let session = world.session("workspace-write").of_toolset(toolset).open();
        // Those that the session's state withholds are told of, too.
        let listed = session.request("tools.list", json!({"withheld": true})).unwrap();
        let listed: BTreeSet<&str> = listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            calls.iter().map(|(tool, _)| *tool).collect::<BTreeSet<_>>(),
            listed,
            "{toolset}"
        );
        for (tool, arguments) in calls {
            let [result, started] = shown(&session, tool, arguments);
            told.push(
                json!({"toolset": toolset, "tool": tool, "started": started, "result": result}),
            );
        }
        session.request("session.close", json!({})).unwrap();
    }
    let ws = world.ws().display().to_string();
    let told = serde_json::to_string_pretty(&told).unwrap().replace(&ws, "/ws");
    assert_eq!(told.trim(), RECORDED.trim(), "record it anew where this is meant:\n{told}");
    world.finish();
}
