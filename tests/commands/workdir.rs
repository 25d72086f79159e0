//! Working directories that are gone, missing or no folders, and commands that are very long.

use std::fs;

use brattice_tests::World;
use serde_json::json;

#[test]
fn b046_t089_a_deleted_folder_fails_its_own_call_only() {
    let world = World::new();
    world.setup("mkdir -p sub/deep");
    let session = world.session("workspace-write").open();
    let at = |workdir: &str, command: &str| {
        session.bash(json!({"command": command, "workdir": workdir}))
    };
    at("sub/deep", "rm -rf ../deep; pwd").exits(0);
    at("sub/deep", "pwd").is_refused().holds("sub/deep").holds("does not exist").lacks("bash");
    session.run("pwd").exits(0).says(world.ws().to_str().unwrap());
    fs::remove_dir_all(world.ws()).unwrap();
    session
        .run("pwd")
        .is_refused()
        .holds(world.ws().to_str().unwrap())
        .holds("does not exist")
        .lacks("bash");
    fs::create_dir(world.ws()).unwrap();
    session.run("pwd; echo x > made").exits(0).says(world.ws().to_str().unwrap());
    assert!(world.ws().join("made").exists(), "the folder that came in its place is the workspace");
    world.finish();
}

#[test]
fn b047_a_folder_that_is_none_is_named() {
    let world = World::new();
    world.file("plainfile", "x\n");
    let session = world.session("workspace-write").open();
    let at = |workdir: &str| {
        session.bash(json!({"command": "touch ran; mkdir -p build", "workdir": workdir}))
    };
    at("build").is_refused().holds("build").holds("does not exist").lacks("bash");
    at("plainfile").is_refused().holds("plainfile").holds("is not a directory").lacks("bash");
    at("./a b/../").is_refused().holds("a b").holds("does not exist").lacks("bash");
    at("").is_refused();
    let entries: Vec<_> =
        fs::read_dir(world.ws()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert_eq!(entries, ["plainfile"], "nothing ran");
    world.finish();
}

#[test]
fn t089_the_daemon_stands_in_no_folder_of_its_callers() {
    let mut world = World::new();
    let cwd = fs::read_link(format!("/proc/{}/cwd", world.daemon().pid())).unwrap();
    assert_eq!(cwd.to_str(), Some("/"));
    world.finish();
}

#[test]
fn b048_t093_a_command_may_be_a_megabyte_long() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let heredoc = |lines: usize| {
        format!("cat > out.txt <<'EOF'\n{}EOF\nwc -l < out.txt\n", "data line\n".repeat(lines))
    };
    session.run(&heredoc(20_000)).exits(0).says("20000");
    let megabyte = heredoc(104_000);
    assert!(megabyte.len() > 1_000_000 && megabyte.len() < 1 << 20);
    session.run(&megabyte).exits(0).says("104000");
    world.finish();
}

#[test]
fn b048_a_command_beyond_the_limit_is_refused_before_anything_runs() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let command = format!("touch ran\n{}", ": padding\n".repeat(300_000));
    session
        .run(&command)
        .is_refused()
        .holds("command")
        .lacks("E2BIG")
        .lacks("rgument list too long");
    session.run("echo 'a\0b'").is_refused().holds("command").holds("NUL");
    assert!(!world.ws().join("ran").exists());
    world.finish();
}
