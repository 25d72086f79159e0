//! Questions and plans of the model's, answered by key.

use brattice_tests::World;
use serde_json::json;

use crate::attached;

#[test]
fn questions_are_answered_by_key() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let terminal = attached(&world);
    terminal.shows("1 session, 0 tasks run");
    let options = json!([{"label": "SQLite", "description": "a file"}, {"label": "PostgreSQL"}]);
    let questions = json!([
        {"id": "db", "question": "Which data base?", "options": options},
        {"id": "name", "question": "What name?\u{1b}[2J"},
    ]);
    let call = session
        .begin_call(json!({"name": "ask_user_question", "arguments": {"questions": questions}}));
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    let screen = terminal.shows("  name  What name?\\u{1b}[2J");
    for part in ["▸question Which data base?", "    1. SQLite  a file\n", "    2. PostgreSQL\n"] {
        assert!(screen.contains(part), "{part:?} in\n{screen}");
    }
    terminal.press(&["Enter"]);
    terminal.shows("Question 1 of 2");
    terminal.press(&["Down", "Enter"]);
    terminal.shows("Question 2 of 2");
    terminal.type_in("store, q");
    terminal.shows("> store, q");
    terminal.press(&["Enter"]);
    let screen = terminal.shows("Answer so?");
    for part in ["│ Which data base? ", "│   PostgreSQL ", "│   store, q "] {
        assert!(screen.contains(part), "{part:?} in\n{screen}");
    }
    terminal.press(&["Enter"]);
    session.end(call).says(
        r#"{"answers":[{"id":"db","selected":["PostgreSQL"]},{"id":"name","selected":[],"custom":"store, q"}]}"#,
    );
    terminal.shows("answered by the operator: Which data base?");
    let call = session
        .begin_call(json!({"name": "ask_user_question", "arguments": {"questions": questions}}));
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    terminal.shows("Which data base?");
    terminal.press(&["n"]);
    terminal.shows("Leave it without an answer?");
    terminal.press(&["Enter"]);
    terminal.shows("dismissed by the operator");
    session.end(call).holds("dismissed");
    drop(terminal);
    world.finish();
}

#[test]
fn a_plan_is_sent_back_and_then_approved() {
    let world = World::new();
    let session = world.session("workspace-write").with("plan", json!(true)).open();
    let terminal = attached(&world);
    terminal.shows(" plan ");
    let show = |plan: &str| {
        session.begin_call(json!({"name": "exit_plan_mode", "arguments": {"plan": plan}}))
    };
    let call = show("# Clean up\n\n1. Remove the old files");
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    let screen = terminal.shows("  │ 1. Remove the old files");
    assert!(screen.contains("▸plan Clean up"), "{screen}");
    terminal.press(&["n"]);
    terminal.shows("What is to be different?");
    terminal.type_in("keep them");
    terminal.press(&["Enter"]);
    session.end(call).holds("keep them");
    let call = show("# Clean up\n\n1. Move the old files");
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    terminal.shows("  │ 1. Move the old files");
    terminal.press(&["y"]);
    terminal.shows("Approve this plan?");
    terminal.press(&["Enter"]);
    terminal.shows("approved by the operator: Clean up");
    assert!(!session.end(call).is_error());
    terminal.hides(" plan ");
    drop(terminal);
    world.finish();
}
