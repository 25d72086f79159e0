//! What a read shows: B055, B057, B060, T047, T059, T062, T063, T071, and the ends that are told once.

use std::time::{Duration, Instant};

use brattice_tests::{World, eventually};
use serde_json::json;

use crate::{read, read_end, start, tool};

#[test]
fn b057_a_poll_returns_what_is_new() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let command = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; printf three";
    let task = start(&session, command);
    let first = eventually("the first line comes", || {
        Some(read(&session, &task)).filter(|text| text.contains("one"))
    });
    assert_eq!(first, "one\n[status: running]");
    assert_eq!(read(&session, &task), "(no new output)\n[status: running]");
    world.file("go", "");
    assert_eq!(read_end(&session, &task), "two\nthree\n[status: completed, exit code: 0]");
    assert_eq!(read(&session, &task), "(no new output)\n[status: completed, exit code: 0]");
    // Again, from where one likes; that moves nothing.
    let arguments = json!({"task_id": task, "offset": 4});
    tool(&session, "task_output", arguments).says("two\nthree\n[status: completed, exit code: 0]");
    let arguments = json!({"task_id": task, "tail_lines": 1});
    tool(&session, "task_output", arguments).says("three\n[status: completed, exit code: 0]");
    world.finish();
}

#[test]
fn b060_a_waiting_read_is_bounded_and_blames_nobody() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, "while [ ! -e go ]; do sleep 0.05; done; echo late");
    let begun = Instant::now();
    let arguments = json!({"task_id": task, "wait": true, "timeout_ms": 500});
    tool(&session, "task_output", arguments).says("(no new output)\n[status: running]");
    assert!(begun.elapsed() >= Duration::from_millis(500));
    let huge = json!({"task_id": task, "wait": true, "timeout_ms": 99_999_999_999_u64});
    let waiting = session.begin_call(json!({"name": "task_output", "arguments": huge}));
    session.run("echo free; touch go").exits(0).says("free");
    let end = session.end(waiting);
    end.says("late\n[timeout clamped to 600000ms]\n[status: completed, exit code: 0]");
    let negative = json!({"task_id": task, "wait": true, "timeout_ms": -5});
    tool(&session, "task_output", negative).is_refused().holds("`timeout_ms`");
    world.finish();
}

#[test]
fn a_withdrawn_wait_leaves_the_task_alone() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, "sleep 900");
    let arguments = json!({"task_id": task, "wait": true});
    let waiting =
        session.begin_call(json!({"call": "w", "name": "task_output", "arguments": arguments}));
    eventually("the wait is withdrawn", || {
        session.request("tools.cancel", json!({"call": "w"})).ok()
    });
    session.end(waiting).says("(no new output)\n[status: running]");
    world.finish();
}

#[test]
fn b055_t035_a_looping_task_is_capped_and_its_reads_say_so() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, "yes 'invalid input!'");
    let full = 80 << 20;
    eventually("more is printed than is kept", || {
        let list = session.request("task.list", json!({})).unwrap();
        (list[0]["bytes"].as_u64()? > full).then_some(())
    });
    // Half of what is kept is printed in some milliseconds: what was the end when a read began may be gone when it reads.
    let text = eventually("the end is shown", || {
        let begun = Instant::now();
        let text = read(&session, &task);
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        let is_shown = text.contains("\ninvalid input!\n");
        (is_shown && text.contains("\n[stdout truncated: ")).then_some(text)
    });
    assert!(text.ends_with("\n[status: running]"));
    tool(&session, "task_kill", json!({"task_id": task}));
    let end = read_end(&session, &task);
    assert!(
        end.ends_with("[status: killed, signal: SIGTERM, by task_kill]"),
        "{}",
        &end[end.len() - 200..]
    );
    let early = tool(&session, "task_output", json!({"task_id": task, "offset": 0}));
    early.holds("; go on with offset ");
    world.finish();
}

#[test]
fn t047_a_character_that_is_not_whole_yet_waits_for_the_next_read() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(
        &session,
        r"printf 'a\xe2'; touch half; while [ ! -e go ]; do sleep 0.05; done; printf '\x82\xac\n'",
    );
    eventually("the first half is printed", || world.ws().join("half").exists().then_some(()));
    let first = read(&session, &task);
    assert_eq!(first, "a\n[status: running]");
    world.file("go", "");
    assert_eq!(read_end(&session, &task), "€\n[status: completed, exit code: 0]");
    world.finish();
}

#[test]
fn t059_a_silent_task_that_seems_to_ask_is_hinted_at() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, "printf 'Overwrite? [y/N] '; sleep 900");
    let hint = eventually("it has been silent long enough", || {
        Some(read(&session, &task)).filter(|text| text.contains("prompt"))
    });
    assert!(
        hint.ends_with("[status: running]") && hint.contains("the last line looks like a prompt"),
        "{hint}"
    );
    let quiet = start(&session, "echo done; sleep 900");
    std::thread::sleep(Duration::from_secs(6));
    assert!(!read(&session, &quiet).contains("prompt"));
    world.finish();
}

#[test]
fn an_end_is_told_once_with_the_next_result() {
    let world = World::new();
    let session =
        world.session("workspace-write").with("options", json!({"loop_detector": false})).open();
    let task = start(&session, "exit 3");
    let told = eventually("it is told", || {
        let text = session.run("echo next").exits(0).text();
        (text != "next").then_some(text)
    });
    assert_eq!(told, format!("next\n[background task {task}: completed, exit code: 3]"));
    session.run("echo next").exits(0).says("next");
    // What was waited for is no news.
    let waited = start(&session, "exit 4");
    session.request("task.wait", json!({"tasks": [waited], "timeout_ms": 600_000})).unwrap();
    session.run("echo next").exits(0).says("next");
    // Nor is what was read.
    let seen = start(&session, "exit 5");
    read_end(&session, &seen);
    session.run("echo next").exits(0).says("next");
    world.finish();
}

#[test]
fn two_sessions_know_nothing_of_each_others_tasks() {
    let world = World::new();
    let (one, other) =
        (world.session("workspace-write").open(), world.session("workspace-write").open());
    let task = start(&one, "echo mine");
    read_end(&one, &task);
    for name in ["task_output", "task_kill"] {
        let reply = tool(&other, name, json!({"task_id": task}));
        reply.is_refused().holds(&format!("no task `{task}` in this session"));
    }
    assert_eq!(tool(&other, "task_list", json!({})).text(), "(no background tasks)");
    world.finish();
}
