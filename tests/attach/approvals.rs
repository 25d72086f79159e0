//! Whoever is attached is there to be asked, and answers by key.

use std::fs;

use brattice_tests::{Pending, Session, World, eventually};
use serde_json::json;

use crate::attached;

/// A world in which calls may ask without a ground.
fn world() -> World {
    World::builder().configured("[session]\nescalation = \"any\"\n").start()
}

/// Asks for `danger-full-access` in a session whose client answers nothing.
fn ask(session: &Session, command: &str) -> Pending {
    session.begin(json!({
        "command": command, "description": "Changes something", "justification": "it is needed",
        "sandbox_permissions": "danger-full-access",
    }))
}

#[test]
fn an_approval_is_answered_by_key_and_the_command_runs() {
    let world = world();
    let session = world.session("workspace-write").open();
    let terminal = attached(&world);
    terminal.shows("1 session, 0 tasks run");
    let call = ask(&session, "echo ran > $OUT/log\n# a second line");
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    let ws = world.ws();
    let folder: String = ws.to_str().unwrap().to_owned();
    let screen = terminal.shows("it is needed");
    for part in [
        "─ Waiting 1 ",
        "▸DANGER echo ran > $OUT/log …",
        "─ bash 1 of 1 ─",
        "workspace-write → danger-full-access",
        "  command  │ echo ran > $OUT/log\n",
        "           │ # a second line\n",
        "           (2 lines, 35 bytes)\n",
        "  because  it is needed\n",
        "  denied   nothing that was recorded\n",
        " y allow once  a for the session  n reject  Esc back  ? help  q quit\n",
    ] {
        assert!(screen.contains(part), "{part:?} in\n{screen}");
    }
    terminal.press(&["y"]);
    let screen = terminal.shows("Allow this once?");
    for part in
        ["│ │ echo ran > $OUT/log ", "│ │ # a second line ", &format!("bash in {}", &folder)]
    {
        assert!(screen.contains(part), "{part:?} in\n{screen}");
    }
    assert!(!world.out().join("log").exists());
    terminal.press(&["Enter"]);
    session.end(call).exits(0);
    assert_eq!(fs::read_to_string(world.out().join("log")).unwrap(), "ran\n");
    terminal.shows("allowed once by the operator: echo ran > $OUT/log …");
    drop(terminal);
    world.finish();
}

#[test]
fn what_is_typed_ahead_of_a_question_is_no_answer_to_it() {
    let world = world();
    let session = world.session("workspace-write").open();
    let terminal = attached(&world);
    terminal.shows("1 session, 0 tasks run");
    let call = ask(&session, "echo ran > $OUT/log");
    terminal.shows("1 question waits: w");
    // In one piece, as from somebody who holds the keys down, or a script.
    terminal.press(&["w", "y", "Enter"]);
    terminal.shows("Allow this once?");
    terminal.press(&["Escape"]);
    terminal.hides("Allow this once?");
    terminal.tmux(&["set-buffer", "y"]);
    terminal.tmux(&["paste-buffer", "-p", "-t", "0"]);
    terminal.press(&["n"]);
    terminal.shows("Why? The model is told.");
    terminal.type_in("not today");
    terminal.tmux(&["set-buffer", ", thank you\n"]);
    terminal.tmux(&["paste-buffer", "-p", "-t", "0"]);
    terminal.shows("> not today, thank you");
    terminal.press(&["Enter"]);
    session
        .end(call)
        .is_refused()
        .says("the user rejected this command (not today, thank you); nothing ran");
    assert!(!world.out().join("log").exists());
    drop(terminal);
    world.finish();
}

#[test]
fn for_the_session_means_that_nobody_is_asked_again() {
    let world = world();
    let session = world.session("workspace-write").open();
    let terminal = attached(&world);
    terminal.shows("1 session, 0 tasks run");
    let call = ask(&session, "echo yes");
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    terminal.shows("it is needed");
    terminal.press(&["a"]);
    terminal.shows("Allow exactly this for the rest of the session?");
    terminal.press(&["Enter"]);
    session.end(call).exits(0).says("yes");
    session.end(ask(&session, "echo yes")).exits(0).says("yes");
    drop(terminal);
    world.finish();
}

#[test]
fn what_somebody_else_answers_is_gone_from_the_screen() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let terminal = attached(&world);
    terminal.shows("1 session, 0 tasks run");
    let call = ask(&session, "echo yes");
    terminal.shows("1 question waits: w");
    terminal.press(&["w"]);
    terminal.shows("it is needed");
    terminal.press(&["y"]);
    terminal.shows("Allow this once?");
    session.question().choose(brattice_protocol::approval::ApprovalChoice::RejectOnce);
    let screen = terminal.shows("rejected by the client: echo yes");
    assert!(!screen.contains("Allow this once?") && !screen.contains("Waiting"), "{screen}");
    session.end(call).is_refused();
    drop(terminal);
    world.finish();
}

#[test]
fn nobody_is_there_once_the_view_is_left() {
    let world = world();
    let session = world.session("workspace-write").open();
    session.end(ask(&session, "echo 1")).is_refused().holds("nobody is there to ask");
    let terminal = attached(&world);
    terminal.shows("1 session, 0 tasks run");
    let call = ask(&session, "echo 2");
    terminal.shows("1 question waits: w");
    drop(terminal);
    session.end(call).is_refused();
    eventually("the daemon knows that nobody is there", || {
        let call = ask(&session, "echo 3");
        session.end(call).text().contains("nobody is there to ask").then_some(())
    });
    world.finish();
}
