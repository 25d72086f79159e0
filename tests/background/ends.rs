//! The daemon ends in order: calls are stopped and answered, the background goes on, unless somebody insists.

use std::path::Path;

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Session, Wire, World, eventually};
use rustix::process::Signal;
use serde_json::json;

/// How a task ended: the cause, the exit code and the signal.
pub(crate) fn ended(session: &Session, task: &str) -> (Cause, Option<i32>, Option<String>) {
    let outcome = session.wait_for(task);
    let summary = session.task(task);
    let known = (summary.cause, summary.exit_code, summary.signal.clone());
    assert_eq!(known, (Some(outcome.cause), outcome.exit_code, outcome.signal.clone()));
    (outcome.cause, outcome.exit_code, outcome.signal)
}

fn appears(path: &Path) {
    eventually("the command runs", || path.exists().then_some(()));
}

#[test]
fn sigterm_stops_calls_answers_them_and_leaves_the_background() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("until [ -e go ]; do sleep 0.02; done; echo on; exit 9");
    let call = session.begin(json!({"command": "echo so far; touch started; sleep 900"}));
    appears(&world.ws().join("started"));
    world.daemon().signal(Signal::TERM);
    let reply = session.end(call);
    assert_eq!((reply.cause(), reply.code()), (Cause::Killed, None));
    reply.holds("so far");
    world.daemon().wait();
    assert!(world.strays().iter().all(|process| !process.arguments.contains("900")));
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(session.task(&task).status, TaskStatus::Running);
    world.file("go", "");
    assert_eq!(ended(&session, &task), (Cause::Exited, Some(9), None));
    assert_eq!(session.printed(&task), "on\n");
    world.finish();
}

#[test]
fn a_shutdown_by_an_operator_leaves_the_background_too() {
    for drain in [false, true] {
        let mut world = World::new();
        let session = world.session("workspace-write").open();
        let id = session.id().to_owned();
        let task = session.start("until [ -e go ]; do sleep 0.02; done; exit 9");
        Wire::open(&world.control()).request("daemon.shutdown", json!({"drain": drain})).unwrap();
        world.daemon().wait();
        assert!(!world.strays().is_empty());
        world.start();
        let session = world.resume(&id).open();
        assert_eq!(session.task(&task).status, TaskStatus::Running);
        world.file("go", "");
        assert_eq!(ended(&session, &task), (Cause::Exited, Some(9), None));
        world.finish();
    }
}

#[test]
fn a_second_sigterm_stops_the_background_too() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    session.start("sleep 901");
    // It outlives SIGTERM, so that the daemon is still about to end when the second one comes.
    let call = session
        .begin(json!({"command": "trap '' TERM; touch started; while :; do sleep 0.1; done"}));
    appears(&world.ws().join("started"));
    world.daemon().signal(Signal::TERM);
    eventually("the daemon takes nothing more", || {
        session.try_start(json!({"command": "true"})).err()
    });
    assert!(world.strays().iter().any(|process| process.arguments == "sleep 901"));
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    drop(call);
    assert_eq!(world.strays(), []);
    assert_eq!(world.supervisors(), []);
    world.start();
    world.finish();
}

#[test]
fn an_end_with_nothing_running_leaves_no_process_and_the_session_goes_on_later() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("echo kept; exit 4");
    assert_eq!(ended(&session, &task), (Cause::Exited, Some(4), None));
    session.run("echo hi > $TMPDIR/file").exits(0);
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    assert_eq!((world.strays(), world.supervisors()), (vec![], vec![]));
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(world.supervisors(), [], "none is needed yet");
    assert_eq!(ended(&session, &task), (Cause::Exited, Some(4), None));
    assert_eq!(session.printed(&task), "kept\n");
    let next = session.start("cat $TMPDIR/file; exit 5");
    assert_ne!(next, task);
    assert_eq!(ended(&session, &next), (Cause::Exited, Some(5), None));
    assert_eq!(session.printed(&next), "hi\n");
    world.finish();
}
