//! What a daemon and a supervisor cost while nothing happens: nothing.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use brattice_tests::{Process, Session, World, eventually};

/// How long nothing happens.
const QUIET: Duration = Duration::from_secs(10);

/// Processor time that each may use meanwhile.
const MOST: Duration = Duration::from_millis(10);

/// Starts ten tasks that sleep, and waits until they do.
fn ten_sleep(world: &World, session: &Session, seconds: u32) {
    for _ in 0..10 {
        session.start(&format!("exec sleep {seconds}"));
    }
    let arguments = format!("sleep {seconds}");
    eventually("they sleep", || {
        let strays = world.strays();
        let sleepers = strays.iter().filter(|process| process.arguments == arguments);
        (sleepers.count() == 10).then_some(())
    });
    // What the starts left to do is done by then.
    thread::sleep(Duration::from_millis(500));
}

/// What the threads of now have used since then; a thread of a pool may have ended.
fn used(before: &BTreeMap<u32, Duration>, now: &BTreeMap<u32, Duration>) -> Duration {
    let since = |(thread, spent): (&u32, &Duration)| {
        *spent - before.get(thread).copied().unwrap_or_default()
    };
    now.iter().map(since).sum()
}

#[test]
fn a_daemon_and_a_supervisor_with_ten_sleeping_tasks_use_no_processor() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    ten_sleep(&world, &session, 919);
    let watched = [
        ("daemon", Process::of(world.daemon().pid()).unwrap()),
        ("supervisor", world.supervisor(session.id())),
    ];
    let before = watched.each_ref().map(|(_, process)| process.cpu());
    thread::sleep(QUIET);
    for ((name, process), before) in watched.iter().zip(before) {
        let used = used(&before, &process.cpu());
        assert!(used < MOST, "the {name} used {used:?} in {QUIET:?}");
    }
    world.finish();
}

#[test]
fn a_supervisor_without_a_daemon_uses_no_processor_either() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    ten_sleep(&world, &session, 920);
    let supervisor = world.supervisor(session.id());
    world.kill_daemon();
    thread::sleep(Duration::from_millis(500));
    let before = supervisor.cpu();
    thread::sleep(QUIET);
    let used = used(&before, &supervisor.cpu());
    assert!(used < MOST, "the supervisor used {used:?} in {QUIET:?}");
    world.start();
    world.finish();
}
