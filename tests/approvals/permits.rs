//! What an approval is bound to, and what an allowed command may leave.

use std::fs;

use brattice_protocol::approval::ApprovalChoice;
use brattice_protocol::outcome::LeftRunning;
use serde_json::json;

use crate::{DANGER, ask, asking, world};

const CHANGED: &str =
    "what was to run is no longer what was approved: it was allowed for something else";

#[test]
fn c1_a_folder_that_was_replaced_meanwhile_is_another_one() {
    let world = world();
    world.setup("mkdir real other");
    let session = world.session("workspace-write").answering().open();
    let mut arguments = asking("touch here", DANGER);
    arguments["workdir"] = json!("real");
    let call = session.begin(arguments.clone());
    let question = session.question();
    session.run("mv real old && ln -s other real").exits(0);
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).is_refused().holds(CHANGED);
    assert!(!world.ws().join("old/here").exists() && !world.ws().join("other/here").exists());
    world.finish();
}

#[test]
fn c1_a_link_that_was_turned_meanwhile_leads_where_it_led() {
    let world = world();
    world.setup("mkdir real other; ln -s real link");
    let session = world.session("workspace-write").answering().open();
    let mut arguments = asking("touch here; pwd", DANGER);
    arguments["workdir"] = json!("link");
    let call = session.begin(arguments);
    let question = session.question();
    session.run("ln -sfn other link").exits(0);
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0).says(world.ws().join("real").to_str().unwrap());
    assert!(world.ws().join("real/here").exists() && !world.ws().join("other/here").exists());
    world.finish();
}

#[test]
fn a_session_whose_mode_changed_meanwhile_asks_anew() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, "touch $OUT/ran", DANGER);
    let question = session.question();
    session.request("session.update", json!({"mode": "read-only"})).unwrap();
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).is_refused().holds(CHANGED);
    assert!(!world.out().join("ran").exists());
    let call = ask(&session, "touch $OUT/ran", DANGER);
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0);
    world.finish();
}

#[test]
fn what_an_allowed_command_leaves_is_stopped_and_never_adopted() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let command = "setsid sleep 900 & sleep 901 & echo left";
    let call = ask(&session, command, DANGER);
    session.question().choose(ApprovalChoice::AllowOnce);
    let reply = session.end(call);
    reply.exits(0).says("left\n[stopped 2 processes left running]");
    let LeftRunning { task, stopped, count, .. } = reply.outcome().left_running.clone().unwrap();
    assert_eq!((task, stopped, count), (None, Some(true), 2));
    world.is_quiet();
    // The twin: without an approval it becomes a task.
    session.run(command).exits(0).holds("now task");
    world.finish();
}

#[test]
fn what_a_person_did_not_see_is_neither_fed_nor_left_running() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    for name in ["stdin", "tty", "run_in_background"] {
        let mut arguments = asking("bash", DANGER);
        arguments[name] = json!(true);
        session.bash(arguments).is_refused().holds(&format!("argument `{name}`"));
    }
    session.is_asked_nothing();
    world.finish();
}

#[test]
fn other_calls_go_on_while_a_question_is_open() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, "cat $OUT/late", DANGER);
    let question = session.question();
    session.run("echo on").exits(0).says("on");
    fs::write(world.out().join("late"), "late\n").unwrap();
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0).says("late");
    world.finish();
}
