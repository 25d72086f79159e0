//! How many tasks run, and what hundreds of them leave behind: nothing.

use std::collections::BTreeSet;

use brattice_protocol::ErrorCode;
use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Process, Session, World, eventually};
use serde_json::json;

/// Running tasks that a session may have.
const MOST: usize = 64;

/// Asserts that one more task is refused in words, starts nothing, and ends none that runs.
fn is_full(world: &World, session: &Session) {
    let running: BTreeSet<String> = session
        .tasks()
        .iter()
        .filter(|task| task.status == TaskStatus::Running)
        .map(|task| task.task.as_str().to_owned())
        .collect();
    assert_eq!(running.len(), MOST);
    let refusal = session.try_start(json!({"command": "touch one-more"})).unwrap_err();
    assert_eq!(refusal.data.code, Some(ErrorCode::Busy), "{refusal:?}");
    assert!(refusal.message.contains("64 tasks are running"), "{refusal:?}");
    session.run("touch one-more").is_refused().holds("64 tasks are running");
    assert!(!world.ws().join("one-more").exists());
    assert!(session.tasks().iter().all(|task| task.status == TaskStatus::Running));
}

#[test]
fn t100_the_65th_is_refused_and_none_is_killed() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let tasks: Vec<String> = (0..MOST).map(|_| session.start("exec sleep 917")).collect();
    is_full(&world, &session);
    // Those that were taken over count as well.
    world.restart();
    let session = world.resume(&id).open();
    is_full(&world, &session);
    session.kill(&tasks[7]);
    assert_eq!(session.wait_for(&tasks[7]).cause, Cause::Killed);
    let next = session.start("echo hi");
    session.wait_for(&next);
    assert_eq!(session.printed(&next), "hi\n");
    let running = session.tasks().iter().filter(|task| !task.status.is_final()).count();
    assert_eq!(running, MOST - 1);
    world.finish();
}

#[test]
fn tasks_that_start_at_the_same_time_all_start_and_each_has_its_own_number() {
    let world = World::new();
    let mut wire = world.wire();
    let opened = wire.request("session.open", json!({"workspace": world.ws()})).unwrap();
    let session = &opened["session"];
    for _ in 0..5 {
        let starts: Vec<i64> = (0..MOST / 2)
            .map(|_| wire.begin("task.start", json!({"session": session, "command": "true"})))
            .collect();
        let tasks: BTreeSet<String> = starts
            .into_iter()
            .map(|start| wire.wait(start).unwrap_or_else(|error| panic!("task.start: {error:?}")))
            .map(|started| started["task"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(tasks.len(), MOST / 2);
        for task in tasks {
            let params = json!({"session": session, "tasks": [task], "timeout_ms": 60_000});
            let waited = wire.request("task.wait", params).unwrap();
            assert_eq!(waited["outcome"]["exit_code"], 0, "{waited}");
        }
    }
    world.finish();
}

/// Descriptors of the daemon and its supervisors, zombies and processes below those.
fn left(world: &mut World) -> (usize, usize, usize) {
    let daemon = world.daemon().pid();
    let roots: BTreeSet<u32> =
        world.supervisors().iter().map(|found| found.process.pid).chain([daemon]).collect();
    let below: Vec<Process> = roots.iter().flat_map(|root| Process::below(*root)).collect();
    let zombies = below.iter().filter(|process| process.state == 'Z').count();
    (roots.iter().filter_map(|pid| Process::descriptors(*pid)).sum(), zombies, below.len())
}

/// The same once it has not changed for a second: keepers are made ahead when nobody waits for them.
fn settled(world: &mut World) -> (usize, usize, usize) {
    let mut now = left(world);
    let mut same = 0;
    while same < 20 {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let next = left(world);
        same = if next == now { same + 1 } else { 0 };
        now = next;
    }
    now
}

/// Waits until what is left is about what it was.
fn settles(world: &mut World, before: (usize, usize, usize)) {
    let mut now = before;
    for _ in 0..600 {
        now = left(world);
        if now.0 <= before.0 + 2 && now.1 == 0 && now.2 <= before.2 + 2 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("descriptors, zombies, processes: {before:?} before, {now:?} after");
}

#[test]
fn t098_hundreds_of_background_tasks_leave_no_descriptor_and_no_zombie() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let rounds = |session: &Session, rounds: usize| {
        for _ in 0..rounds {
            let commands =
                ["true", "seq 20000", "(sleep 0.1 & exit 3)", "kill -9 $$", "echo x >&2"];
            let tasks: Vec<String> =
                (0..30).map(|number| session.start(commands[number % 5])).collect();
            for task in &tasks {
                session.wait_for(task);
            }
        }
    };
    rounds(&session, 1);
    let before = settled(&mut world);
    rounds(&session, 10);
    settles(&mut world, before);
    // Likewise for a daemon and a supervisor that did not start each other; that one is kept by a task.
    session.start("exec sleep 918");
    world.restart();
    let session = world.resume(&id).open();
    rounds(&session, 1);
    let before = settled(&mut world);
    rounds(&session, 10);
    settles(&mut world, before);
    assert_eq!(session.tasks().len(), 30 * 22 + 1);
    world.finish();
}

#[test]
fn restarts_leave_no_descriptor_and_no_process() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start_with(json!({"command": "seq 20000; cat", "stdin": true}));
    crate::survival::printed_so_far(&session, &task, 108_894);
    world.restart();
    let mut session = world.resume(&id).open();
    session.run("true").exits(0);
    eventually("it is taken over", || (session.task(&task).processes == 2).then_some(()));
    let before = settled(&mut world);
    for _ in 0..10 {
        world.restart();
        session = world.resume(&id).open();
        session.run("true").exits(0);
    }
    settles(&mut world, before);
    assert_eq!(session.task(&task).status, TaskStatus::Running);
    world.finish();
}
