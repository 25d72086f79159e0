//! Something else in the place of a file of the state folder: it costs what the file said, and holds nothing up.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use brattice_tests::{Session, World, eventually};
use serde_json::Value;

use crate::ends::ended;

/// Puts a FIFO in the place of a file, or where none is.
fn replace_by_fifo(world: &World, path: &Path) {
    world.setup(&format!("rm -rf '{0}'; mkfifo -m 600 '{0}'", path.display()));
    assert!(path.symlink_metadata().unwrap().file_type().is_fifo());
}

#[test]
fn a_fifo_in_place_of_any_file_holds_up_neither_the_start_nor_other_sessions() {
    let mut world = World::new();
    let names = [
        "session.json",
        "session.json.new",
        "closed",
        "lock",
        "socket",
        "retired",
        "reads",
        "reads.new",
        "calls",
        "calls.new",
        "tasks/bash-1.ended",
        "tasks/bash-2.running",
        "tasks/bash-1.stdout",
    ];
    let sessions: Vec<Session> =
        names.iter().map(|_| world.session("workspace-write").open()).collect();
    let whole = world.session("workspace-write").open();
    let mut folders = Vec::new();
    for session in sessions.iter().chain([&whole]) {
        let task = session.start("echo kept");
        ended(session, &task);
        session.run("true").exits(0);
        folders.push(world.folder(session.id()));
    }
    let id = whole.id().to_owned();
    drop((sessions, whole));
    let supervisors = world.supervisors();
    world.kill_daemon();
    // With nothing to keep they end by themselves, in order.
    for supervisor in &supervisors {
        let ends = || (!supervisor.process.is_alive()).then_some(());
        eventually("a supervisor ends that has nothing to keep", ends);
    }
    world.is_quiet();
    for (name, folder) in names.iter().zip(&folders) {
        replace_by_fifo(&world, &folder.join(name));
    }
    world.start();
    let whole = world.resume(&id).open();
    assert_eq!(whole.printed("bash-1"), "kept\n");
    let fresh = world.session("workspace-write").open();
    fresh.run("echo on").exits(0).says("on");
    // Without these nobody knows whose the folder is, or whether its supervisor lives: it is left to the user.
    for (name, folder) in names.iter().zip(&folders) {
        let is_left = ["session.json", "lock"].contains(name);
        eventually(&format!("what is to become of {name}"), || {
            let is_known = world.sessions().iter().any(|session| folder.ends_with(id_of(session)));
            (is_known != is_left && folder.exists()).then_some(())
        });
        if is_left {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    world.finish();
}

fn id_of(session: &Value) -> &str {
    session["session"].as_str().unwrap()
}

#[test]
fn a_fifo_in_place_of_the_audit_log_is_told_and_nothing_starts_until_it_is_gone() {
    let mut world = World::new();
    let audit = world.state().join("audit");
    let mut files: Vec<_> =
        fs::read_dir(&audit).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let newest = files.pop().unwrap();
    world.kill_daemon();
    replace_by_fifo(&world, &newest);
    world.start();
    let refusal = world.session("read-only").try_open().err().unwrap();
    assert!(refusal.message.contains("audit log"), "{refusal:?}");
    fs::remove_file(&newest).unwrap();
    world.session("read-only").open().run("echo on").exits(0).says("on");
    world.finish();
}
