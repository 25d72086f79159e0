//! `minimal` asks before it acts: who is asked and what about, what is never asked about, and how a rejection reads.

use std::fs;

use brattice_protocol::approval::{ApprovalChoice, ApprovalRequest};
use brattice_tests::{Opening, Pending, Reply, Session, World};
use serde_json::{Value, json};

fn opening(world: &World, ask: &str) -> Opening {
    world.session("workspace-write").of_minimal(ask)
}

fn begin(session: &Session, tool: &str, arguments: Value) -> Pending {
    session.begin_call(json!({"name": tool, "arguments": arguments}))
}

fn call(session: &Session, tool: &str, arguments: Value) -> Reply {
    session.call(tool, arguments)
}

/// Every tool that acts, with what it does and the word for it.
fn acts() -> [(&'static str, Value, &'static str); 3] {
    [
        ("bash", json!({"command": "echo ran > made"}), "command"),
        ("write_file", json!({"path": "made", "content": "x\n"}), "write"),
        ("edit_file", json!({"path": "f", "edits": [{"old": "one", "new": "1"}]}), "edit"),
    ]
}

#[test]
fn whoever_is_there_is_asked_before_a_command_and_a_change() {
    let world = World::new();
    world.file("f", "one\n");
    let session = opening(&world, "auto").answering().open();
    for (tool, arguments, word) in acts() {
        let pending = begin(&session, tool, arguments.clone());
        let question = session.question();
        let ApprovalRequest { from, to, justification, rule, denials, command, diff, kind, .. } =
            question.request().clone();
        assert_eq!((from, to), (session.opened().mode, session.opened().mode));
        assert_eq!((justification, rule, denials), (None, None, Vec::new()));
        let shown =
            |name: &str, old, new| vec![brattice_tests::diff(world.ws().join(name), old, new)];
        let expected = match tool {
            "bash" => ("execute", Some("echo ran > made".to_owned()), Vec::new()),
            "write_file" => ("edit", None, shown("made", None, "x\n")),
            _ => ("edit", None, shown("f", Some("one\n"), "1\n")),
        };
        assert_eq!((kind.as_str(), command, diff), expected);
        question.choose(ApprovalChoice::RejectOnce);
        let reply = session.end(pending);
        let words = format!("[{word} rejected by the user]");
        assert_eq!((reply.text(), reply.is_error()), (words.clone(), true));
        assert!(!world.ws().join("made").exists());
        // Not asked again before the user has spoken.
        let again = call(&session, tool, arguments.clone());
        assert_eq!((again.text(), again.is_error()), (words, true));
        session.is_asked_nothing();
        session.request("session.turn", json!({})).unwrap();
        let pending = begin(&session, tool, arguments);
        session.question().choose(ApprovalChoice::AllowOnce);
        let reply = session.end(pending);
        assert!(!reply.is_error(), "{}", reply.text());
        fs::remove_file(world.ws().join("made")).ok();
    }
    assert_eq!(fs::read_to_string(world.ws().join("f")).unwrap(), "1\n");
    world.finish();
}

#[test]
fn what_changes_nothing_and_what_is_wrong_asks_nobody() {
    let world = World::new();
    world.file("f", "one\n");
    let session = opening(&world, "always").answering().open();
    let edits = json!([{"old": "one", "new": "1"}]);
    let dry = json!({"path": "f", "edits": edits, "dry_run": true});
    call(&session, "edit_file", dry).holds("would edit f: 1 edit");
    call(&session, "write_file", json!({"path": "f", "content": "one\n"}))
        .says("f has this content already; nothing was written");
    assert!(call(&session, "write_file", json!({"path": 7, "content": "x"})).is_error());
    let none = json!({"path": "f", "edits": [{"old": "none", "new": "1"}]});
    assert!(call(&session, "edit_file", none).is_error());
    assert!(call(&session, "bash", json!({})).is_error());
    call(&session, "read_file", json!({"path": "f"})).says("one");
    session.is_asked_nothing();
    world.finish();
}

#[test]
fn the_option_says_who_must_be_there() {
    let world = World::new();
    world.file("f", "one\n");
    // Nobody is there: `auto` acts, within the sandbox, and `always` does not.
    for (tool, arguments, _) in acts() {
        world.file("f", "one\n");
        let alone = opening(&world, "always").open();
        let reply = call(&alone, tool, arguments.clone());
        assert!(reply.is_error());
        reply.holds("nobody is there to ask");
        let alone = opening(&world, "auto").open();
        let reply = call(&alone, tool, arguments.clone());
        assert!(!reply.is_error(), "{}", reply.text());
        fs::remove_file(world.ws().join("made")).ok();
        world.file("f", "one\n");
        let never = opening(&world, "never").answering().open();
        let reply = call(&never, tool, arguments);
        assert!(!reply.is_error(), "{}", reply.text());
        never.is_asked_nothing();
        fs::remove_file(world.ws().join("made")).ok();
    }
    // An operator is somebody, too; and that escalations are off says nothing of this.
    let operator = world.operator();
    let session = opening(&world, "auto").with("approval", json!("never")).open();
    let pending = begin(&session, "bash", json!({"command": "echo ran"}));
    let request = operator.pending();
    operator.reject(&request.id, "not now").unwrap();
    let reply = session.end(pending);
    assert_eq!(
        (reply.text(), reply.is_error()),
        ("[command rejected by the user]\nnot now".into(), true)
    );
    let pending = begin(&session, "bash", json!({"command": "echo more"}));
    let request = operator.pending();
    session.request("session.update", json!({"approval": "never"})).unwrap();
    operator.respond(&request.id, ApprovalChoice::AllowAlways).unwrap();
    session.end(pending).exits(0).says("more");
    call(&session, "bash", json!({"command": "echo more"})).exits(0).says("more");
    world.finish();
}

#[test]
fn a_swapped_folder_moves_no_change_that_was_asked_about() {
    let world = World::new();
    world.setup("mkdir d e; echo one > d/f; echo one > e/f");
    let session = opening(&world, "auto").answering().open();
    let other = opening(&world, "never").open();
    let edits = json!({"path": "d/f", "edits": [{"old": "one", "new": "1"}]});
    let pending = begin(&session, "edit_file", edits);
    let question = session.question();
    other.run("mv d away && ln -s e d").exits(0);
    question.choose(ApprovalChoice::AllowOnce);
    let reply = session.end(pending);
    assert!(reply.is_error());
    reply.holds("is no longer what it was when the change was shown");
    assert_eq!(fs::read_to_string(world.ws().join("e/f")).unwrap(), "one\n");
    world.finish();
}

#[test]
fn a_preview_is_told_to_clients_where_it_was_asked_for() {
    let world = World::new();
    let lines = |options: Value| {
        let opening = world.session("workspace-write").with("toolset", json!("minimal"));
        opening.with("options", options).open().opened().preview_lines
    };
    assert_eq!(lines(json!({"preview_lines": 3})), Some(3));
    assert_eq!(lines(json!({})), None);
    world.finish();
}
