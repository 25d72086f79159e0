//! The to-do list: replaced as a whole or not at all, the session's own, and seen by its client.

use brattice_client::Notice;
use brattice_protocol::todo::TodoChanged;
use brattice_tests::{Reply, Session, World, error_prefix};
use serde_json::{Value, json};

use crate::{call, opening, tools};

/// The toolsets that have it.
const BOTH: [&str; 2] = ["standard", "dsh"];

fn item(content: &str, status: &str) -> Value {
    json!({"content": content, "status": status})
}

fn write(session: &Session, todos: &Value) -> Reply {
    call(session, "todo_write", json!({ "todos": todos }))
}

fn list(session: &Session) -> Value {
    session.request("todo.list", json!({})).unwrap()["todos"].clone()
}

fn changed(session: &Session) -> TodoChanged {
    session.notice("todo.changed", |notice| match notice {
        Notice::TodoChanged(changed) => Some(changed),
        _ => None,
    })
}

#[test]
fn b121_the_list_gets_out_of_every_state() {
    for toolset in BOTH {
        let (world, prefix) = (World::new(), error_prefix(toolset));
        let session = opening(&world, toolset).open();
        let first = json!([item("a", "in_progress"), item("b", "pending")]);
        let written = write(&session, &first);
        written.says("to-do list: 2 items, 1 pending, 1 in progress, 0 completed");
        let facts = &written.result.structured_content;
        assert_eq!(*facts, json!({"pending": 1, "in_progress": 1, "completed": 0}));
        assert_eq!(list(&session), first);

        let two = json!([item("a", "in_progress"), item("b", "in_progress")]);
        let refused = write(&session, &two);
        refused.says(&format!(
            "{prefix}argument `todos`: expected at most one item in progress, got \"a\" and \"b\""
        ));
        assert!(refused.is_error());
        assert_eq!(list(&session), first);

        let third = json!([item("b", "in_progress"), item("a", "completed")]);
        write(&session, &third).says("to-do list: 2 items, 0 pending, 1 in progress, 1 completed");
        assert_eq!(list(&session), third);
        write(&session, &json!([])).says("the to-do list is empty");
        assert_eq!(list(&session), json!([]));

        write(&session, &first);
        for (bad, fault) in [
            (
                json!([item("", "pending")]),
                "argument `todos[0].content`: expected text that is not blank, got \"\"",
            ),
            (
                json!([item("x", "done")]),
                "argument `todos[0].status`: expected one of \"pending\", \"in_progress\", \"completed\", got \"done\"",
            ),
        ] {
            let refused = write(&session, &bad);
            refused.says(&format!("{prefix}{fault}"));
            assert!(refused.is_error());
            assert_eq!(list(&session), first);
        }
        let other = opening(&world, toolset).open();
        assert_eq!(list(&other), json!([]), "lists are per session");
        world.finish();
    }
}

#[test]
fn a_list_is_told_to_the_client_and_outlives_the_daemon() {
    let mut world = World::new();
    let session = opening(&world, "standard").open();
    let id = session.id().to_owned();
    let todos = json!([item("größe", "pending"), item("b", "completed")]);
    write(&session, &todos);
    let told = changed(&session);
    assert_eq!((told.session.as_str(), json!(told.todos)), (id.as_str(), todos.clone()));
    world.restart();
    let session = world.resume(&id).open();
    assert_eq!(list(&session), todos);
    write(&session, &json!([]));
    assert_eq!(changed(&session).todos, []);
    world.finish();
}

#[test]
fn a_list_that_cannot_be_kept_stays_as_it_was() {
    let world = World::new();
    let session = opening(&world, "standard").open();
    let first = json!([item("a", "pending")]);
    write(&session, &first);
    let file = world.folder(session.id()).join("todos");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let refused = write(&session, &json!([]));
    refused.holds(
        "the to-do list cannot be written down in the session's folder, and stays as it was",
    );
    assert!(refused.is_error());
    assert_eq!(list(&session), first);
    world.finish();
}

#[test]
fn small_toolsets_have_none_and_every_client_may_look() {
    let world = World::new();
    for toolset in ["glrs", "minimal"] {
        let session = opening(&world, toolset).open();
        assert!(!tools(&session).contains(&"todo_write".to_owned()));
        assert_eq!(list(&session), json!([]));
        let refused = write(&session, &json!([]));
        assert!(refused.is_error());
        refused.holds("unknown tool `todo_write`");
    }
    world.finish();
}
