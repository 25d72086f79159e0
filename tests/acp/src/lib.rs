//! What editors are shown of a call, read by the Agent Client Protocol's own types. Those pass over what they cannot read, so
//! that each part is asserted as what it became.
#![cfg(test)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::path::Path;

use agent_client_protocol_schema::v1::{
    ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolKind,
};
use brattice_protocol::editor::{EditorContent, EditorFacts, EditorKind, EditorStatus};
use brattice_protocol::tools::{CallMeta, CallResult, CallStarted, Location};
use serde_json::{Value, json};

const KINDS: [(EditorKind, ToolKind); 7] = [
    (EditorKind::Read, ToolKind::Read),
    (EditorKind::Edit, ToolKind::Edit),
    (EditorKind::Search, ToolKind::Search),
    (EditorKind::Execute, ToolKind::Execute),
    (EditorKind::Think, ToolKind::Think),
    (EditorKind::Fetch, ToolKind::Fetch),
    (EditorKind::Other, ToolKind::Other),
];

const STATUSES: [(EditorStatus, ToolCallStatus); 3] = [
    (EditorStatus::InProgress, ToolCallStatus::InProgress),
    (EditorStatus::Completed, ToolCallStatus::Completed),
    (EditorStatus::Failed, ToolCallStatus::Failed),
];

/// The facts as an agent forwards them: with the id that it gave the call.
fn forwarded(facts: &EditorFacts) -> Value {
    let mut value = serde_json::to_value(facts).unwrap();
    value["toolCallId"] = json!("call-1");
    value
}

fn facts(kind: EditorKind, status: EditorStatus) -> EditorFacts {
    EditorFacts {
        kind,
        title: "Change two files".to_owned(),
        status,
        locations: vec![
            Location { path: "/ws/a".to_owned(), line: Some(3) },
            Location { path: "/ws/b".to_owned(), line: None },
        ],
        content: vec![
            EditorContent::Diff {
                path: "/ws/a".to_owned(),
                old_text: Some("old\n".to_owned()),
                new_text: "new\n".to_owned(),
            },
            EditorContent::Diff {
                path: "/ws/b".to_owned(),
                old_text: None,
                new_text: "whole\n".to_owned(),
            },
        ],
    }
}

fn places(locations: &[ToolCallLocation]) -> Vec<(&Path, Option<u32>)> {
    locations.iter().map(|place| (place.path.as_path(), place.line)).collect()
}

fn diff(content: &ToolCallContent) -> (&Path, Option<&str>, &str) {
    match content {
        ToolCallContent::Diff(diff) => {
            (diff.path.as_path(), diff.old_text.as_deref(), diff.new_text.as_str())
        }
        other => panic!("no diff: {other:?}"),
    }
}

fn diffs(content: &[ToolCallContent]) -> Vec<(&Path, Option<&str>, &str)> {
    content.iter().map(diff).collect()
}

#[test]
fn every_part_is_read_in_a_call_and_in_its_update() {
    for (kind, acp_kind) in KINDS {
        for (status, acp_status) in STATUSES {
            let value = forwarded(&facts(kind, status));
            let call: ToolCall = serde_json::from_value(value.clone()).unwrap();
            assert_eq!((call.kind, call.status), (acp_kind, acp_status));
            assert_eq!(call.title, "Change two files");
            let (a, b) = (Path::new("/ws/a"), Path::new("/ws/b"));
            assert_eq!(places(&call.locations), [(a, Some(3)), (b, None)]);
            let expected = [(a, Some("old\n"), "new\n"), (b, None, "whole\n")];
            assert_eq!(diffs(&call.content), expected);
            let update: ToolCallUpdate = serde_json::from_value(value).unwrap();
            let fields = update.fields;
            assert_eq!((fields.kind, fields.status), (Some(acp_kind), Some(acp_status)));
            assert_eq!(fields.title.as_deref(), Some("Change two files"));
            assert_eq!(places(&fields.locations.unwrap()), [(a, Some(3)), (b, None)]);
            assert_eq!(diffs(&fields.content.unwrap()), expected);
        }
    }
}

fn recorded(text: &str, key: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap()[key].clone()
}

#[test]
fn what_a_daemon_said_is_read() {
    let started = include_str!("../../wire/golden/call.started.editor.params.json");
    let CallStarted { kind, title, status, locations, content, .. } =
        serde_json::from_value(recorded(started, "params")).unwrap();
    let value = forwarded(&EditorFacts { kind, title, status, locations, content });
    let call: ToolCall = serde_json::from_value(value).unwrap();
    assert_eq!(
        (call.kind, call.status, call.title.as_str()),
        (ToolKind::Execute, ToolCallStatus::InProgress, "echo hi; exit 3")
    );
    let result = include_str!("../../wire/golden/tools.call.editor.result.json");
    let result: CallResult<Value, CallMeta> =
        serde_json::from_value(recorded(result, "result")).unwrap();
    let call: ToolCall = serde_json::from_value(forwarded(&result.meta.editor.unwrap())).unwrap();
    assert_eq!(
        (call.kind, call.status, call.title.as_str()),
        (ToolKind::Execute, ToolCallStatus::Completed, "echo hi; exit 3")
    );
}

/// What a call of every tool of every toolset showed, compared with what a daemon says by `tests/toolsets`.
const RECORDED: &str = include_str!("recorded.json");

#[test]
fn every_tools_result_is_read_and_loses_nothing() {
    let recorded: Vec<Value> = serde_json::from_str(RECORDED).unwrap();
    // That every tool of every toolset is among them is asserted where they are recorded.
    let recorded_kinds =
        |kind: &EditorKind| recorded.iter().any(|told| told["result"]["kind"] == json!(kind));
    assert!(KINDS.iter().all(|(kind, _)| recorded_kinds(kind)), "every kind of a call");
    for told in &recorded {
        for stage in ["started", "result"] {
            let facts = &told[stage];
            let read: EditorFacts = serde_json::from_value(facts.clone()).unwrap();
            let call: ToolCall = serde_json::from_value(forwarded(&read)).unwrap();
            assert_eq!(call.title, facts["title"].as_str().unwrap(), "{told}");
            let kind = KINDS.iter().find(|(ours, _)| json!(ours) == facts["kind"]).unwrap();
            let status = STATUSES.iter().find(|(ours, _)| json!(ours) == facts["status"]).unwrap();
            assert_eq!((call.kind, call.status), (kind.1, status.1), "{told}");
            let locations = facts["locations"].as_array().unwrap();
            let expected: Vec<(&Path, Option<u32>)> = locations
                .iter()
                .map(|place| {
                    let line = place["line"].as_u64().map(|line| u32::try_from(line).unwrap());
                    (Path::new(place["path"].as_str().unwrap()), line)
                })
                .collect();
            assert_eq!(places(&call.locations), expected, "{told}");
            assert!(expected.iter().all(|(path, _)| path.is_absolute()), "{told}");
            let content = facts["content"].as_array().unwrap();
            let expected: Vec<_> = content
                .iter()
                .map(|shown| {
                    let path = Path::new(shown["path"].as_str().unwrap());
                    (path, shown["oldText"].as_str(), shown["newText"].as_str().unwrap())
                })
                .collect();
            assert_eq!(diffs(&call.content), expected, "{told}");
        }
    }
    let changes = |told: &&Value| told["result"]["content"] != json!([]);
    assert_eq!(recorded.iter().filter(changes).count(), 8, "an edit and a write of each toolset");
}

#[test]
fn what_a_person_is_asked_about_a_change_is_read() {
    let asked = include_str!("../../wire/golden/approval.request.change.params.json");
    let content: Vec<ToolCallContent> =
        serde_json::from_value(recorded(asked, "params")["diff"].clone()).unwrap();
    assert_eq!(
        diffs(&content),
        [(Path::new("/ws/a"), Some("one\n"), "1\n"), (Path::new("/ws/new"), None, "x\n"),]
    );
}
