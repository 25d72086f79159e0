//! Processes that die in the middle of a change: afterwards each file is old or new, whole, and nothing is beside it.

use std::fs;

use brattice_protocol::approval::ApprovalChoice;
use brattice_tests::{Process, Session, World, eventually};
use serde_json::{Value, json};

use crate::{call, names, opening, read};

const FILES: usize = 6;

/// Bytes of each file: so many that a change of all of them takes a while.
const SIZE: usize = 8 << 20;

/// Files of which each begins with `old`.
fn prepare(world: &World, session: &Session) {
    for number in 0..FILES {
        world.file(&format!("f{number}"), &body("old"));
    }
    for number in 0..FILES {
        call(session, "read", json!({"file_path": format!("f{number}"), "limit": 1}));
    }
}

fn body(word: &str) -> String {
    format!("{word} {}", "line of text\n".repeat(SIZE / 13))
}

fn all_files() -> Value {
    let one = |number: usize| json!({"path": format!("f{number}"), "edits": [{"old_string": "old ", "new_string": "new "}]});
    json!({"files": (0..FILES).map(one).collect::<Vec<_>>()})
}

/// Waits until the change has begun: something stands beside the files.
fn begun(world: &World) {
    eventually("the change has begun", || (names(world).len() > FILES).then_some(()));
}

/// Asserts that all files are whole, and that all are old or all new.
fn is_whole(world: &World) {
    let expected: Vec<String> = (0..FILES).map(|number| format!("f{number}")).collect();
    assert_eq!(names(world), expected, "nothing is left beside the files");
    let (old, new) = (body("old"), body("new"));
    let words: Vec<&str> = expected
        .iter()
        .map(|name| match fs::read_to_string(world.ws().join(name)).unwrap() {
            text if text == old => "old",
            text if text == new => "new",
            text => panic!("{name} is torn: {} bytes", text.len()),
        })
        .collect();
    assert!(words.iter().all(|word| *word == words[0]), "{words:?}");
}

#[test]
fn b081_a_killed_worker_leaves_every_file_whole() {
    let world = World::new();
    let session = opening(&world).open();
    prepare(&world, &session);
    // On a busy machine an edit may be over before it is struck.
    let reply = eventually("an edit is struck", || {
        let pending = session.begin_call(json!({"name": "edit", "arguments": all_files()}));
        begun(&world);
        Process::in_role(world.supervisor(session.id()).pid, "files")
            .iter()
            .for_each(Process::kill);
        let reply = session.end(pending);
        if !reply.is_error() {
            is_whole(&world);
            prepare(&world, &session);
        }
        reply.is_error().then_some(reply)
    });
    reply.holds("whether the change was made is not known: read the file again");
    // The next call puts in order what was left before it does anything.
    read(&session, "f0").holds("1|");
    is_whole(&world);
    world.finish();
}

#[test]
fn b081_an_allowed_change_that_died_is_put_in_order_before_the_next_call() {
    let world = World::builder().configured("[session]\nescalation = \"any\"\n").start();
    let session = opening(&world).answering().open();
    prepare(&world, &session);
    let mut arguments = all_files();
    arguments["sandbox_permissions"] = json!("danger-full-access");
    arguments["justification"] = json!("the test wants it");
    let reply = eventually("an edit is struck", || {
        let pending = session.begin_call(json!({"name": "edit", "arguments": arguments}));
        session.question().choose(ApprovalChoice::AllowOnce);
        begun(&world);
        Process::in_role(world.supervisor(session.id()).pid, "files")
            .iter()
            .for_each(Process::kill);
        let reply = session.end(pending);
        if !reply.is_error() {
            is_whole(&world);
            prepare(&world, &session);
        }
        reply.is_error().then_some(reply)
    });
    reply.holds("whether the change was made is not known: read the file again");
    // Without another call in that mode.
    eventually("the files are in order", || (names(&world).len() == FILES).then_some(()));
    is_whole(&world);
    world.finish();
}

#[test]
fn b081_a_killed_daemon_leaves_every_file_whole() {
    let mut world = World::new();
    let session = opening(&world).open();
    let id = session.id().to_owned();
    prepare(&world, &session);
    let supervisor = world.supervisor(&id).pid;
    let pending = session.begin_call(json!({"name": "edit", "arguments": all_files()}));
    begun(&world);
    world.kill_daemon();
    drop(pending);
    eventually("the worker ends without its daemon", || {
        Process::in_role(supervisor, "files").is_empty().then_some(())
    });
    world.start();
    let session = world.resume(&id).open();
    call(&session, "glob", json!({"pattern": "*"})).holds("f0");
    is_whole(&world);
    world.finish();
}

#[test]
fn b081_what_a_dead_worker_left_is_put_in_order_at_the_next_start() {
    let mut world = World::new();
    let session = opening(&world).open();
    prepare(&world, &session);
    let supervisor = world.supervisor(session.id()).pid;
    let pending = session.begin_call(json!({"name": "edit", "arguments": all_files()}));
    begun(&world);
    // Both at once, as far as can be: nobody undoes anything.
    let found = Process::in_role(supervisor, "files");
    assert!(!found.is_empty());
    found.iter().for_each(Process::kill);
    world.kill_daemon();
    drop(pending);
    world.start();
    // Without any call.
    eventually("the files are in order", || (names(&world).len() == FILES).then_some(()));
    is_whole(&world);
    world.finish();
}

#[test]
fn b081_a_killed_supervisor_leaves_every_file_whole() {
    let world = World::new();
    let session = opening(&world).open();
    prepare(&world, &session);
    let supervisor = world.supervisor(session.id());
    let pending = session.begin_call(json!({"name": "edit", "arguments": all_files()}));
    begun(&world);
    supervisor.kill();
    assert!(session.end(pending).is_error());
    // The session is lost; its files are put in order all the same.
    eventually("the files are in order", || (names(&world).len() == FILES).then_some(()));
    is_whole(&world);
    session.request("session.close", json!({})).unwrap();
    world.finish();
}

#[test]
fn b081_when_all_processes_are_killed_the_next_daemon_leaves_every_file_whole() {
    let mut world = World::new();
    let session = opening(&world).open();
    prepare(&world, &session);
    let supervisor = world.supervisor(session.id());
    let pending = session.begin_call(json!({"name": "edit", "arguments": all_files()}));
    begun(&world);
    // The worker comes first: it would undo what it has begun.
    Process::in_role(supervisor.pid, "files").iter().for_each(Process::kill);
    world.kill_daemon();
    supervisor.kill();
    drop(pending);
    world.start();
    eventually("the files are in order", || (names(&world).len() == FILES).then_some(()));
    is_whole(&world);
    world.finish();
}
