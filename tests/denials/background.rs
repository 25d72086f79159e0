//! Denials of tasks in the background: while they run, at their end, and over the death of a daemon.

use brattice_protocol::TaskId;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Session, World, eventually};
use serde_json::{Value, json};

use crate::{HINT_OF_TASK, kinds};

/// Writes outside, waits for `go`, writes outside again.
const TWICE: &str = "echo x 2>/dev/null >> \"$OUT/a\"; touch started; until [ -e go ]; do sleep 0.02; done; \
                     for i in 1 2; do echo x 2>/dev/null >> \"$OUT/b\"; done; exit 3";

fn world() -> World {
    let world = World::new();
    world.setup("touch \"$OUT/a\" \"$OUT/b\"");
    world
}

fn background(session: &Session, command: &str) -> TaskId {
    let reply = session.bash(json!({"command": command, "run_in_background": true}));
    TaskId::new(reply.text().strip_prefix("started background task ").unwrap().to_owned())
}

fn started(world: &World) {
    eventually("it runs", || world.ws().join("started").exists().then_some(()));
}

fn read(session: &Session, arguments: Value) -> (String, Value) {
    let reply =
        session.end(session.begin_call(json!({"name": "task_output", "arguments": arguments})));
    (reply.text(), reply.result.structured_content.clone())
}

#[test]
fn a_running_task_tells_each_kind_once_and_an_ended_one_all() {
    let world = world();
    let session = world.session("workspace-write").open();
    let task = background(&session, TWICE);
    started(&world);
    let (a, b) = (world.out().join("a"), world.out().join("b"));
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    let head = "(no new output)\n[sandbox: file access denied under workspace-write mode]";
    let (text, facts) = read(&session, json!({"task_id": task}));
    assert_eq!(text, format!("{head}\ndenied: write {a}\n{HINT_OF_TASK}\n[status: running]"));
    assert_eq!(
        (&facts["denials"][0]["path"], &facts["denials"][0]["count"]),
        (&json!(a), &json!(1))
    );
    let (text, facts) = read(&session, json!({"task_id": task}));
    assert_eq!(text, "(no new output)\n[status: running]");
    assert_eq!(facts.get("denials"), None);
    assert_eq!(session.task(task.as_str()).denials_total, Some(1));
    world.file("go", "");
    let end = format!(
        "{head}\ndenied: write {a}\ndenied: write {b}\n{HINT_OF_TASK}\n[status: completed, exit code: 3]"
    );
    let (text, facts) = read(&session, json!({"task_id": task, "wait": true}));
    assert_eq!(text, end);
    assert_eq!(facts["outcome"]["denials_total"], 3);
    assert_eq!(read(&session, json!({"task_id": task})).0, end, "how it ended is told again");
    assert_eq!(session.task(task.as_str()).denials_total, Some(3));
    world.finish();
}

#[test]
fn what_was_denied_with_a_daemon_and_without_one_is_told_by_the_next() {
    let mut world = world();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start(TWICE);
    started(&world);
    eventually("its denial is told", || {
        session.task(&task).denials_total.filter(|total| *total == 1)
    });
    world.kill_daemon();
    world.file("go", "");
    let ended = world.folder(&id).join(format!("tasks/{task}.ended"));
    eventually("it ends without a daemon", || ended.exists().then_some(()));
    world.start();
    let session = world.resume(&id).open();
    let outcome = session.wait_for(&task);
    let (a, b) = (world.out().join("a"), world.out().join("b"));
    let expected = [("write", a.to_str().unwrap(), 1), ("write", b.to_str().unwrap(), 2)];
    assert_eq!((kinds(&outcome), outcome.denials_total), (expected.to_vec(), Some(3)));
    assert_eq!(crate::audit::denied(&world), [(1, a.clone()), (2, b.clone())], "each is one line");
    world.restart();
    assert_eq!(crate::audit::denied(&world), [(1, a), (2, b)]);
    world.finish();
}

#[test]
fn a_task_that_runs_on_is_handed_over_with_what_it_was_denied() {
    let mut world = world();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start(TWICE);
    started(&world);
    eventually("its denial is told", || {
        session.task(&task).denials_total.filter(|total| *total == 1)
    });
    world.restart();
    let session = world.resume(&id).open();
    let (text, _) = read(&session, json!({"task_id": task}));
    assert!(text.contains(&format!("denied: write {}", world.out().join("a").display())), "{text}");
    world.file("go", "");
    assert_eq!(session.wait_for(&task).denials_total, Some(3));
    assert_eq!(session.task(&task).status, TaskStatus::Completed);
    world.finish();
}

#[test]
fn what_a_calls_leftovers_are_denied_is_their_tasks() {
    let world = world();
    let session = world.session("workspace-write").open();
    let later = "until [ -e go ]; do sleep 0.02; done; echo x >> \"$OUT/b\"";
    let reply =
        session.run(&format!("echo x 2>/dev/null >> \"$OUT/a\"; ({later}) >/dev/null 2>&1 &"));
    let a = world.out().join("a");
    assert_eq!(kinds(reply.outcome()), [("write", a.to_str().unwrap(), 1)]);
    let task = reply.outcome().task.clone().unwrap();
    let again = read(&session, json!({"task_id": task})).0;
    let (first, last) = ("(no new output)\n[the shell exited with 0; ", "]\n[status: running]");
    // How many processes run on just then is the shell's business.
    let between = again.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    assert!(between.is_some_and(|text| text.ends_with("on") && !text.contains('\n')), "{again}");
    world.file("go", "");
    assert_eq!(session.wait_for(task.as_str()).denials_total, Some(2));
    world.finish();
}
