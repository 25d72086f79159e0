//! A supervisor is killed: its tasks end as lost, once and for ever, and no other session notices.

use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::{TaskStatus, TaskSummary};
use brattice_tests::{Session, World, eventually};
use serde_json::json;

use crate::ends::ended;
use crate::survival::{numbers, printed_so_far};

/// What is told of a task that is over, but for what only running ones have.
fn last_words(session: &Session, task: &str) -> TaskSummary {
    let summary = session.task(task);
    assert!(summary.status.is_final(), "{summary:?}");
    summary
}

#[test]
fn t076_a_killed_supervisor_loses_its_tasks_within_a_second_and_no_other() {
    let world = World::new();
    let (hit, other) =
        (world.session("workspace-write").open(), world.session("workspace-write").open());
    let done = hit.start("seq 100; exit 7");
    assert_eq!(ended(&hit, &done), (Cause::Exited, Some(7), None));
    let large = hit.start("seq 100000; sleep 911");
    let silent = hit.start("setsid sleep 912");
    let kept = other.start("until [ -e go ]; do sleep 0.02; done; exit 8");
    printed_so_far(&hit, &large, 588_895);
    let killed = Instant::now();
    world.supervisor(hit.id()).kill();
    for task in [&large, &silent] {
        assert_eq!(ended(&hit, task), (Cause::Lost, None, None));
        assert_eq!(hit.task(task).status, TaskStatus::Failed);
    }
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    eventually("its commands are gone", || {
        let strays = world.strays();
        strays.iter().all(|process| !process.arguments.contains("91")).then_some(())
    });
    assert_eq!(ended(&hit, &done), (Cause::Exited, Some(7), None));
    assert!(hit.output(&large) == numbers(100_000), "spilled output can still be read");
    let refusal = hit.try_start(json!({"command": "touch never"})).unwrap_err();
    assert!(refusal.message.contains("supervisor"), "{refusal:?}");
    world.file("go", "");
    assert_eq!(ended(&other, &kept), (Cause::Exited, Some(8), None));
    other.run("ls never").exits(2);
    hit.request("session.close", json!({})).unwrap();
    world.finish();
}

#[test]
fn t096_what_nobody_saw_end_is_lost_at_the_next_start_and_ended_once() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let done = session.start("exit 7");
    session.wait_for(&done);
    let large = session.start("seq 100000; sleep 913");
    printed_so_far(&session, &large, 588_895);
    let supervisor = world.supervisor(&id);
    world.kill_daemon();
    supervisor.kill();
    world.is_quiet();
    world.start();
    let mut session = world.resume(&id).open();
    assert_eq!(ended(&session, &done), (Cause::Exited, Some(7), None));
    assert_eq!(ended(&session, &large), (Cause::Lost, None, None));
    assert!(session.output(&large) == numbers(100_000), "spilled output can still be read");
    let known = [&done, &large].map(|task| last_words(&session, task));
    for _ in 0..2 {
        world.restart();
        session = world.resume(&id).open();
        assert_eq!([&done, &large].map(|task| last_words(&session, task)), known);
        let refusal = session.try_start(json!({"command": "true"})).unwrap_err();
        assert!(refusal.message.contains("supervisor"), "{refusal:?}");
    }
    session.request("session.close", json!({})).unwrap();
    world.finish();
}

#[test]
fn t096_an_end_as_lost_is_the_same_for_every_later_daemon() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("seq 100000; sleep 914");
    printed_so_far(&session, &task, 588_895);
    world.supervisor(&id).kill();
    assert_eq!(ended(&session, &task), (Cause::Lost, None, None));
    let known = last_words(&session, &task);
    world.restart();
    let session = world.resume(&id).open();
    assert_eq!(last_words(&session, &task), known);
    assert!(session.output(&task) == numbers(100_000), "spilled output can still be read");
    world.finish();
}

#[test]
fn t094_a_held_lock_is_a_task_that_runs() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let (id, task) = (session.id().to_owned(), session.start("sleep 915"));
    let supervisor = world.supervisor(&id);
    world.restart();
    let session = world.resume(&id).open();
    let now = world.supervisor(&id);
    assert_eq!((now.pid, now.started), (supervisor.pid, supervisor.started));
    assert_eq!(session.task(&task).status, TaskStatus::Running);
    // The next daemon learns of its end although it is no child of it.
    world.supervisor(&id).kill();
    assert_eq!(ended(&session, &task), (Cause::Lost, None, None));
    world.is_quiet();
    world.finish();
}
