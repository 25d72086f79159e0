//! What ten thousand finished tasks cost those that come after, and a daemon that comes to know them.

use std::time::Duration;

use brattice_tests::{Process, World};
use serde_json::json;

use super::connection::Connection;
use super::row;
use super::scale::Scale;
use super::spread::{Spread, pause, timed};

/// Background tasks that have ended: as many as a session remembers.
const TASKS: usize = 10_000;

/// Runs of each side of the interleaved comparison of calls.
const RUNS: usize = 600;

/// Restarts of each of two daemons.
const RESTARTS: usize = 10;

pub(crate) fn measure(scale: Scale) {
    let tasks = scale.of(TASKS);
    let mut full = Side::new();
    let mut empty = Side::new();
    let daemon = full.world.daemon().pid();
    let before = Process::kib(daemon, "VmRSS");
    fill(&mut full.sessions[0], tasks);
    let after = Process::kib(daemon, "VmRSS");
    row(
        &format!("daemon's memory grew over {tasks} finished tasks by"),
        format!("{} KiB", after - before),
    );
    calls(scale, &mut full, tasks);
    restarts(scale, &mut full, &mut empty, tasks);
    full.world.finish();
    empty.world.finish();
}

/// Runs so many tasks in the background to their ends.
fn fill(session: &mut Connection, tasks: usize) {
    /// Started before the first of them is waited for: fewer than may run at once.
    const FEW: usize = 32;
    for at in (0..tasks).step_by(FEW) {
        let few = FEW.min(tasks - at);
        let few: Vec<String> =
            (0..few).map(|_| session.start(json!({"command": "echo done"}))).collect();
        session.wait_for(&few);
    }
}

/// A world with two sessions.
struct Side {
    world: World,
    sessions: [Connection; 2],
}

impl Side {
    fn new() -> Side {
        let world = World::new();
        let sessions = [(), ()].map(|()| Connection::open(&world, "workspace-write"));
        let mut side = Side { world, sessions };
        side.sessions.iter_mut().for_each(|session| drop(session.bash("true")));
        side
    }

    /// Kills the daemon and starts another. How long that took until it was ready, and from there until the session that
    /// is looked at was taken up and had run `true`.
    fn restart(&mut self) -> [Duration; 2] {
        self.world.kill_daemon();
        let ready = timed(|| self.world.start());
        let looked_at = self.sessions[0].id().to_owned();
        let resumed = timed(|| {
            self.sessions[0] = Connection::resume(&self.world, &looked_at);
            self.sessions[0].bash("true");
        });
        [ready, resumed]
    }
}

/// Calls of a session with finished tasks, over those of one without, in turns with the same daemon. One task runs in each.
fn calls(scale: Scale, side: &mut Side, tasks: usize) {
    let mut waited_for: [Vec<_>; 2] = Default::default();
    let mut started: [Vec<_>; 2] = Default::default();
    let mut read: [Vec<_>; 2] = Default::default();
    let mut listed = Vec::new();
    let running: Vec<String> = side
        .sessions
        .iter_mut()
        .map(|session| session.start(json!({"command": "exec sleep 900"})))
        .collect();
    for _ in 0..scale.of(RUNS) {
        for (session, times) in side.sessions.iter_mut().zip(&mut waited_for) {
            times.push(timed(|| session.bash("true")));
            pause();
        }
        for (session, times) in side.sessions.iter_mut().zip(&mut started) {
            let mut task = String::new();
            times.push(timed(|| task = session.start(json!({"command": "true"}))));
            session.wait_for(&[task]);
            pause();
        }
        for ((session, task), times) in side.sessions.iter_mut().zip(&running).zip(&mut read) {
            times.push(timed(|| session.tool("task_output", json!({"task_id": task}))));
            pause();
        }
        listed.push(timed(|| side.sessions[0].tool("task_list", json!({}))));
        pause();
    }
    for (session, task) in side.sessions.iter_mut().zip(running) {
        session.request("task.kill", json!({"task": task}));
        session.wait_for(&[task]);
    }
    compare("`true` until its result", waited_for, tasks);
    compare("`true` in the background, until it is started", started, tasks);
    compare("`task_output`", read, tasks);
    row(&format!("`task_list` with {tasks} finished tasks"), Spread::of(listed));
}

/// A daemon that finds finished tasks, over one that finds none, in turns.
fn restarts(scale: Scale, full: &mut Side, empty: &mut Side, tasks: usize) {
    let mut ready: [Vec<_>; 2] = Default::default();
    let mut resumed: [Vec<_>; 2] = Default::default();
    for _ in 0..scale.of(RESTARTS) {
        for (side, at) in [&mut *full, &mut *empty].into_iter().zip(0..) {
            let [until_ready, until_resumed] = side.restart();
            ready[at].push(until_ready);
            resumed[at].push(until_resumed);
        }
    }
    compare("the next daemon, until it is ready", ready, tasks);
    compare("from there until a session is resumed and has run `true`", resumed, tasks);
}

fn compare(what: &str, [full, empty]: [Vec<Duration>; 2], tasks: usize) {
    let (full, empty) = (Spread::of(full), Spread::of(empty));
    row(&format!("{what}: no finished tasks"), &empty);
    row(
        &format!("{what}: {tasks} finished tasks"),
        format!("{full}, **{:.2}x**", full.over(&empty)),
    );
}
