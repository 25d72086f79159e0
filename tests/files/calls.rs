//! The tools as calls: faults in their arguments, what a client is told, cancelling, and counting.

use brattice_client::Notice;
use brattice_protocol::tools::CallStatus;
use brattice_tests::{Process, World, eventually};
use serde_json::{Value, json};

use crate::{call, fails, names, opening, read, write};

#[test]
fn faults_in_arguments_name_the_argument_what_was_expected_and_what_came() {
    let world = World::new();
    world.file("f", "x\n");
    let session = opening(&world).open();
    let edit = |arguments: Value| call(&session, "edit", arguments);
    let cases = [
        (json!({}), "argument `file_path`: expected it or `files`, got neither"),
        (json!({"file_path": "f"}), "argument `old_string`: expected text, got nothing"),
        (
            json!({"file_path": "f", "files": [{"path": "f", "edits": [{"old_string": "x", "new_string": "y"}]}]}),
            "argument `file_path`: expected to be left out beside `files`, got \"f\"",
        ),
        (
            json!({"files": []}),
            "argument `files`: expected an array that is not empty, got an array",
        ),
        (
            json!({"files": [{"path": "f", "edits": [{"old_string": "x", "new_string": 1}]}]}),
            "argument `files[0].edits[0].new_string`: expected text, got 1",
        ),
        (
            json!({"files": [{"path": "f"}]}),
            "argument `files[0].edits`: expected an array that is not empty, got nothing",
        ),
        (
            json!({"files": [{"path": "f", "file": 1, "edits": []}]}),
            "argument `files[0].file`: expected no such key, got 1",
        ),
    ];
    let many: Vec<Value> = (0..201).map(|_| json!({"path": "f", "edits": []})).collect();
    fails(
        &edit(json!({"files": many})),
        "argument `files`: expected an array of at most 200 entries, got 201",
    );
    for (arguments, text) in cases {
        fails(&edit(arguments), text);
    }
    fails(
        &call(&session, "read", json!({"path": "f"})),
        "argument `path`: unknown to this tool, expected only `file_path`, `offset`, `limit`, got \"f\"",
    );
    let twice = json!({"files": [
        {"path": "f", "edits": [{"old_string": "x", "new_string": "y"}]},
        {"path": "./f", "edits": [{"old_string": "x", "new_string": "z"}]},
    ]});
    read(&session, "f");
    fails(
        &edit(twice),
        &format!("{} is named twice\nnothing was written", world.ws().join("./f").display()),
    );
    world.finish();
}

#[test]
fn a_client_is_told_of_a_call_and_its_files() {
    let world = World::new();
    world.file("f", "x\ny\n");
    let session = opening(&world).open();
    let told = |wanted: &str| {
        session.notice(wanted, |notice| match notice {
            Notice::CallStarted(started) => Some(serde_json::to_value(started).unwrap()),
            _ => None,
        })
    };
    call(&session, "read", json!({"file_path": "f", "offset": 2}));
    let started = told("the read");
    let path = world.ws().join("f");
    assert_eq!(
        (&started["title"], &started["kind"], &started["locations"]),
        (&json!("read f"), &json!("read"), &json!([{"path": path, "line": 2}]))
    );
    crate::edit(&session, "f", "x", "z");
    let started = told("the edit");
    assert_eq!(
        (&started["kind"], &started["locations"]),
        (&json!("edit"), &json!([{"path": path}]))
    );
    call(&session, "glob", json!({"pattern": "*"}));
    assert_eq!(told("the search")["kind"], "search");
    fails(
        &write(&session, "/proc/1/x", "x"),
        "/proc/1/x: cannot create: No such file or directory (os error 2)",
    );
    let status = session.notice("the failure", |notice| match notice {
        Notice::CallFinished(finished) if finished.status == CallStatus::Failed => {
            Some(finished.status)
        }
        _ => None,
    });
    assert_eq!(status, CallStatus::Failed);
    // A read, an edit and a write, failed or not; a search is none.
    let counters = session.request("session.turn", json!({})).unwrap();
    assert_eq!(counters, json!({"counters": {"commands": 0, "file_ops": 3, "skills": 0}}));
    world.finish();
}

#[test]
fn a_search_that_is_cancelled_ends_and_others_go_on() {
    let world = World::new();
    world.setup("mkdir t; head -c 64M /dev/zero | tr '\\0' x | fold -w 100 > t/0; for i in $(seq 60); do ln t/0 t/$i; done");
    let session = opening(&world).open();
    read(&session, "/dev/../etc/hostname");
    let slow = json!({"name": "grep", "call": "slow", "arguments": {"pattern": "(x+x+)+y"}});
    let pending = session.begin_call(slow);
    session.notice("it runs", |notice| match notice {
        Notice::CallStarted(started) if started.call.as_str() == "slow" => Some(()),
        _ => None,
    });
    session.request("tools.cancel", json!({"call": "slow"})).unwrap();
    fails(&session.end(pending), "[cancelled]");
    call(&session, "glob", json!({"pattern": "t/1"})).says("t/1");
    world.finish();
}

#[test]
fn no_task_is_shown_and_nothing_is_left_beside_the_files() {
    let world = World::new();
    let session = opening(&world).open();
    write(&session, "f", "x\n").holds("created");
    call(&session, "task_list", json!({})).says("(no background tasks)");
    assert_eq!(session.request("task.list", json!({})).unwrap(), json!([]));
    assert_eq!(names(&world), ["f"]);
    // The worker is held as a command is: it ends with its session.
    let supervisor = world.supervisor(session.id());
    let workers = Process::in_role(supervisor.pid, "files");
    assert!(!workers.is_empty());
    session.request("session.close", json!({})).unwrap();
    eventually("its processes are gone", || {
        let mut processes = workers.iter().chain([&supervisor]);
        processes.all(|process| !process.is_alive()).then_some(())
    });
    world.finish();
}
