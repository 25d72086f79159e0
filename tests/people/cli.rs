//! `brattice questions`, `answer`, what `session show` tells, and `brattice call` on a terminal.

use brattice_protocol::question::QuestionList;
use brattice_tests::{Session, World, brattice_in, on_a_terminal};
use serde_json::{Value, json};

use crate::{call, opening};

fn questions() -> Value {
    json!({"questions": [
        {"id": "db", "question": "Which?", "options": [{"label": "A", "description": "a file"}, {"label": "B"}]},
        {"id": "name", "question": "What name?"},
    ]})
}

fn ask(session: &Session) -> brattice_tests::Pending {
    session.begin_call(json!({"name": "ask_user_question", "arguments": questions()}))
}

#[test]
fn questions_are_listed_and_answered() {
    let world = World::new();
    let nothing = brattice_in(&world, &["questions"]);
    assert_eq!(
        (nothing.stdout.as_str(), nothing.stderr.as_str()),
        ("", "brattice: no questions wait\n")
    );
    let session = opening(&world, "standard").judging().open();
    let pending = ask(&session);
    let asked = session.asked();
    let id = asked.request().id.to_string();
    let told = brattice_in(&world, &["questions"]);
    assert_eq!(
        told.succeeded().stdout,
        format!(
            "{id}  asks\n  session  {}\n  db  Which?\n    1. A  a file\n    2. B\n  name  What name?\n",
            session.id()
        )
    );
    let data = brattice_in(&world, &["questions", "--json"]);
    let data: QuestionList = serde_json::from_str(&data.succeeded().stdout).unwrap();
    assert_eq!(data.questions, [asked.request().clone()]);
    let missing = brattice_in(&world, &["answer", &id, "--choose", "db=B"]);
    assert_eq!(missing.code, Some(125));
    assert!(missing.stderr.contains("expected one for each of \"db\", \"name\""), "{missing:?}");
    let unaddressed = brattice_in(&world, &["answer", &id, "--choose", "B"]);
    assert!(unaddressed.stderr.contains("\"B\" names none of the questions db, name"));
    let said = ["answer", &id, "--choose", "db=B", "--text", "name=store"];
    let answered = brattice_in(&world, &said);
    assert_eq!(answered.succeeded().stdout, format!("{id}  answered by the operator\n"));
    session.end(pending).says(
        r#"{"answers":[{"id":"db","selected":["B"]},{"id":"name","selected":[],"custom":"store"}]}"#,
    );
    let late = brattice_in(&world, &["answer", &id, "--dismiss"]);
    assert!(late.stderr.contains("was answered already, by the operator"), "{late:?}");
    world.finish();
}

#[test]
fn a_plan_is_listed_sent_back_and_approved() {
    let world = World::new();
    let session = opening(&world, "standard").with("plan", json!(true)).judging().open();
    let show = || {
        session.begin_call(
            json!({"name": "exit_plan_mode", "arguments": {"plan": "# Rename\n\n1. do x"}}),
        )
    };
    let pending = show();
    let asked = session.planned();
    let id = asked.request().id.to_string();
    let told = brattice_in(&world, &["questions"]);
    assert_eq!(
        told.succeeded().stdout,
        format!(
            "{id}  shows a plan\n  session  {}\n  │ # Rename\n  │ \n  │ 1. do x\n",
            session.id()
        )
    );
    for refused in [&["answer", &id][..], &["answer", &id, "--feedback", "yes"]] {
        assert_eq!(brattice_in(&world, refused).code, Some(125), "{refused:?}");
    }
    let wrong = brattice_in(&world, &["answer", &id, "--text", "approved"]);
    assert_eq!(wrong.code, Some(125), "a text approves nothing");
    let kept = brattice_in(&world, &["answer", &id, "--keep-planning", "--feedback", "use y"]);
    assert_eq!(kept.succeeded().stdout, format!("{id}  kept for planning by the operator\n"));
    session.end(pending).holds("The user says: use y");
    let listed = brattice_in(&world, &["session", "list"]);
    assert!(listed.stdout.contains("read-only (plan)"), "{listed:?}");

    let pending = show();
    let asked = session.planned();
    let id = asked.request().id.to_string();
    let approved = brattice_in(&world, &["answer", &id, "--approve"]);
    assert_eq!(approved.succeeded().stdout, format!("{id}  approved by the operator\n"));
    assert!(!session.end(pending).is_error());
    world.finish();
}

#[test]
fn whoever_calls_on_a_terminal_is_asked_there() {
    let world = World::builder().variable("NO_COLOR", "1").start();
    let arguments = questions().to_string();
    let words = ["call", "ask_user_question", &arguments];
    let shown = on_a_terminal(&world, &["2", "the store"], &words);
    assert!(shown.contains("  db  Which?\n    1. A  a file\n    2. B\nAnswer"), "{shown}");
    let answers = r#"{"answers":[{"id":"db","selected":["B"]},{"id":"name","selected":[],"custom":"the store"}]}"#;
    assert!(shown.contains(answers) && shown.ends_with("status 0\n"), "{shown}");
    let closed = on_a_terminal(&world, &[""], &words);
    assert!(closed.contains("[the user dismissed the questions without an answer]"), "{closed}");

    let session = opening(&world, "standard").with("plan", json!(true)).open();
    let plan = json!({"plan": "# Rename"}).to_string();
    let words = ["call", "--session", session.id(), "exit_plan_mode", &plan];
    let kept = on_a_terminal(&world, &["yes, but do y"], &words);
    assert!(
        kept.contains("The user says: yes, but do y") && kept.ends_with("status 1\n"),
        "{kept}"
    );
    assert_eq!(world.sessions()[0]["plan"], true);
    let approved = on_a_terminal(&world, &["y"], &words);
    assert!(approved.contains("the user approved the plan"), "{approved}");
    assert_eq!(world.sessions()[0]["plan"], false);
    world.finish();
}

#[test]
fn a_session_is_shown_with_its_to_do_list() {
    let world = World::new();
    let session = opening(&world, "standard").open();
    let todos =
        json!([{"content": "a", "status": "completed"}, {"content": "b", "status": "in_progress"}]);
    call(&session, "todo_write", json!({ "todos": todos }));
    let shown = brattice_in(&world, &["session", "show", session.id()]);
    assert!(shown.succeeded().stdout.ends_with("to-do list\n  [x] a\n  [>] b\n"), "{shown:?}");
    let data = brattice_in(&world, &["session", "show", session.id(), "--json"]);
    let data: Value = serde_json::from_str(&data.succeeded().stdout).unwrap();
    assert_eq!((&data["todos"], &data["plan"]), (&todos, &json!(false)));
    world.finish();
}
