//! What background tasks print, read by offset: early, late, twice, by several, beyond the cap.

use std::collections::BTreeSet;

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Session, Wire, World};
use serde_json::json;

use crate::survival::printed_so_far;

/// Bytes of one of the lines that [`FIXED_LINES`] prints.
const LINE: u64 = 8;

/// Lines of equal length, more than a spool keeps: 80 MB.
const FIXED_LINES: &str = "seq -w 9999999";

#[test]
fn t062_a_task_of_a_millisecond_can_be_read_then_and_later() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let read = |session: &Session, task: &str| {
        let piece = session.read(task, json!({"wait_ms": 60_000}));
        assert_eq!((piece.data.as_str(), piece.offset), ("hi\n", 0));
        assert_eq!(session.wait_for(task).cause, Cause::Exited);
        assert_eq!(session.printed(task), "hi\n");
    };
    let tasks: Vec<String> = (0..20).map(|_| session.start("echo hi")).collect();
    tasks.iter().for_each(|task| read(&session, task));
    world.restart();
    let session = world.resume(&id).open();
    tasks.iter().for_each(|task| read(&session, task));
    world.finish();
}

#[test]
fn t066_t067_two_clients_read_from_the_first_line_on_whatever_the_other_has_read() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("seq 5000; until [ -e go ]; do sleep 0.02; done; echo last");
    printed_so_far(&session, &task, 23_893);
    let operator = |world: &World, offset: u64| {
        let params = json!({"session": id, "task": task, "offset": offset, "limit": 100});
        Wire::open(&world.control()).request("task.output", params).unwrap()
    };
    for offset in [0, 7, 20_000] {
        let own = session.read(&task, json!({"offset": offset, "limit": 100}));
        assert_eq!(serde_json::to_value(&own).unwrap(), operator(&world, offset));
        assert_eq!((own.data.len(), own.next_offset), (100, offset + 100));
    }
    let first = session.read(&task, json!({"limit": 100}));
    assert!(first.data.starts_with("1\n2\n3\n"), "{first:?}");
    world.file("go", "");
    session.wait_for(&task);
    world.restart();
    let session = world.resume(&id).open();
    let expected: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    assert_eq!(session.printed(&task), expected.clone() + "last\n");
    let again = session.read(&task, json!({"limit": 100}));
    assert_eq!((again.data, again.status), (first.data, TaskStatus::Completed));
    world.finish();
}

/// Reads at an offset and asserts that what comes is what was printed there.
fn read_lines(session: &Session, task: &str, offset: u64) -> (u64, u64) {
    let piece = session.read(task, json!({"offset": offset, "limit": 8 * LINE}));
    assert_eq!(piece.offset, offset + piece.skipped);
    let mut at = piece.offset;
    // A piece may begin in the middle of a line.
    for line in piece.data.split_inclusive('\n') {
        let printed = format!("{:07}\n", at / LINE + 1);
        let rest = &printed[usize::try_from(at % LINE).unwrap()..];
        assert!(rest.starts_with(line), "{line:?} at {at}, where {printed:?} was printed");
        at += line.len() as u64;
    }
    assert_eq!(at, piece.next_offset);
    (piece.offset, piece.skipped)
}

#[test]
fn t071_offsets_stay_what_they_were_beyond_the_cap() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let gate = "until [ -e go ]; do sleep 0.02; done; echo end";
    let task = session.start(&format!("{FIXED_LINES}; {gate}"));
    let total = 9_999_999 * LINE;
    printed_so_far(&session, &task, total);
    let offsets = [0, 12_345, 30_000_001, total / 2 + 3, total - 20_000_000, total - 65];
    let check = |session: &Session| {
        let found: Vec<(u64, u64)> =
            offsets.iter().map(|offset| read_lines(session, &task, *offset)).collect();
        let skips: BTreeSet<bool> = found.iter().map(|(_, skipped)| *skipped > 0).collect();
        assert_eq!(skips, BTreeSet::from([false, true]), "{found:?}");
        found
    };
    let while_it_runs = check(&session);
    world.restart();
    let session = world.resume(&id).open();
    assert_eq!(check(&session), while_it_runs);
    world.file("go", "");
    let outcome = session.wait_for(&task);
    assert_eq!(outcome.stdout.bytes, total + 4);
    assert!(outcome.stdout.dropped > 0, "{outcome:?}");
    assert_eq!(check(&session), while_it_runs);
    world.restart();
    let session = world.resume(&id).open();
    assert_eq!(check(&session), while_it_runs);
    assert_eq!(session.read(&task, json!({"offset": total})).data, "end\n");
    world.finish();
}

#[test]
fn t104_tasks_at_the_same_time_do_not_mix_over_a_restart() {
    let mut world = World::new();
    let sessions: Vec<Session> = (0..2).map(|_| world.session("workspace-write").open()).collect();
    let gate = "until [ -e go ]; do sleep 0.02; done";
    let tasks: Vec<(usize, String, String)> = (0..50)
        .map(|number| {
            let name = format!("task-{number}");
            // Half at once, half once the next daemon is there.
            let lines = format!("for i in $(seq 5000); do echo {name}; done");
            let task = sessions[number % 2].start(&format!("{lines}; {gate}; {lines}"));
            (number % 2, task, name)
        })
        .collect();
    let ids: Vec<String> = sessions.iter().map(|session| session.id().to_owned()).collect();
    world.restart();
    let sessions: Vec<Session> = ids.iter().map(|id| world.resume(id).open()).collect();
    world.file("go", "");
    for (session, task, name) in &tasks {
        let session = &sessions[*session];
        assert_eq!(session.wait_for(task).exit_code, Some(0));
        assert!(session.printed(task) == format!("{name}\n").repeat(10_000), "{task} of {name}");
    }
    world.finish();
}
