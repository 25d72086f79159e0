//! What it costs to start a task in the background, and to read what one printed.

use brattice_tests::World;
use serde_json::{Value, json};

use super::connection::Connection;
use super::row;
use super::scale::Scale;
use super::spread::{Spread, pause, timed};

/// Runs of each side.
const RUNS: usize = 600;

/// Tasks that are started in a row, each while those before it run.
const ROW: usize = 10;

/// Prints as many blanks as it is told, and a line's end.
const PRINTER: &str = "while read -r count; do printf '%*s\\n' \"$count\" ''; done";

pub(crate) fn measure(scale: Scale) {
    let world = World::new();
    start(scale, &world);
    start_beside_others(scale, &world);
    read(scale, &world);
    world.finish();
}

/// A start in the background until it is answered, over a call of `true` until its result, in turns.
fn start(scale: Scale, world: &World) {
    let mut session = Connection::open(world, "workspace-write");
    session.bash("true");
    let (mut waited_for, mut started) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(RUNS) {
        waited_for.push(timed(|| session.bash("true")));
        pause();
        let mut task = String::new();
        started.push(timed(|| task = session.start(json!({"command": "true"}))));
        session.wait_for(&[task]);
        pause();
    }
    session.close();
    let (waited_for, started) = (Spread::of(waited_for), Spread::of(started));
    row("`true` until its result", &waited_for);
    row(
        "`true` in the background, until it is started",
        format!("{started}, **{:.2}x**", started.over(&waited_for)),
    );
}

/// Starts of tasks that go on, over as many calls of `true`: ten and ten in turns.
fn start_beside_others(scale: Scale, world: &World) {
    let mut session = Connection::open(world, "workspace-write");
    session.bash("true");
    let (mut waited_for, mut started) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(RUNS / ROW) {
        for _ in 0..ROW {
            waited_for.push(timed(|| session.bash("true")));
            pause();
        }
        let mut tasks = Vec::new();
        for _ in 0..ROW {
            let start = || tasks.push(session.start(json!({"command": "exec sleep 900"})));
            started.push(timed(start));
            pause();
        }
        for task in &tasks {
            session.request("task.kill", json!({"task": task}));
        }
        session.wait_for(&tasks);
    }
    session.close();
    let (waited_for, started) = (Spread::of(waited_for), Spread::of(started));
    row(
        &format!("a task that goes on, until it is started, {ROW} in a row"),
        format!("{started}, **{:.2}x**", started.over(&waited_for)),
    );
}

/// `task_output` of a task that runs: with nothing new, with a new line, and with a result's fill.
fn read(scale: Scale, world: &World) {
    let mut session = Connection::open(world, "workspace-write");
    let task = session.start(json!({"command": PRINTER, "stdin": true}));
    let mut printed = 0;
    let mut times: [Vec<_>; 3] = Default::default();
    for _ in 0..scale.of(RUNS) {
        for (blanks, times) in [None, Some(79), Some(63_999)].into_iter().zip(&mut times) {
            if let Some(blanks) = blanks {
                let data = format!("{blanks}\n");
                session.request("task.input", json!({"task": task, "data": data}));
                printed += blanks + 1;
                session.has_printed(&task, printed);
            }
            pause();
            let mut told = Value::Null;
            times.push(timed(|| told = output(&mut session, &task)));
            let expected = match blanks {
                Some(blanks) => " ".repeat(blanks as usize) + "\n[status: running]",
                None => "(no new output)\n[status: running]".to_owned(),
            };
            assert_eq!(told["content"][0]["text"], expected);
        }
    }
    session.close();
    for (what, times) in ["nothing", "a line", "64,000 bytes"].iter().zip(times) {
        row(&format!("`task_output` with {what} new"), Spread::of(times));
    }
}

fn output(session: &mut Connection, task: &str) -> Value {
    let arguments = json!({"task_id": task});
    session.request("tools.call", json!({"name": "task_output", "arguments": arguments}))
}
