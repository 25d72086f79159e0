//! Input for tasks: `stdin: true` and `task_input`.

use brattice_tests::{World, eventually};
use serde_json::json;

use crate::{read_end, start, start_with, tool};

#[test]
fn a_task_with_stdin_reads_what_is_sent_until_its_end() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start_with(&session, json!({"command": "cat; echo end", "stdin": true}));
    tool(&session, "task_input", json!({"task_id": task, "text": "one\n"}))
        .says(&format!("sent 4 bytes to {task}"));
    tool(&session, "task_input", json!({"task_id": task, "text": "two\n", "eof": true}))
        .says(&format!("sent 4 bytes to {task}, and its input ended"));
    assert_eq!(read_end(&session, &task), "one\ntwo\nend\n[status: completed, exit code: 0]");
    tool(&session, "task_input", json!({"task_id": task, "text": "x"})).is_refused();
    world.finish();
}

#[test]
fn a_call_that_waits_can_be_fed() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let call = session.begin(json!({"command": "read x; echo got $x", "stdin": true}));
    eventually("its task is there", || {
        let reply = tool(&session, "task_input", json!({"task_id": "bash-1", "text": "this\n"}));
        (!reply.is_error()).then_some(())
    });
    session.end(call).exits(0).says("got this");
    world.finish();
}

#[test]
fn a_task_without_stdin_takes_no_input() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, "sleep 900");
    tool(&session, "task_input", json!({"task_id": task, "text": "x"}))
        .is_refused()
        .holds("without stdin or tty");
    world.finish();
}

#[test]
fn a_task_that_does_not_read_holds_up_nobody_for_ever() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start_with(&session, json!({"command": "sleep 900", "stdin": true}));
    let text = "x".repeat(60_000);
    tool(&session, "task_input", json!({"task_id": task, "text": text})).holds("sent 60000 bytes");
    tool(&session, "task_input", json!({"task_id": task, "text": text}))
        .is_refused()
        .holds("has not read its input");
    world.finish();
}
