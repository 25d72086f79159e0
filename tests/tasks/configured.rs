//! What the configuration says of tasks: how long those of a session without a client are kept, how much disk all of them
//! may take, what becomes of leftovers. B062, T016, T034.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use brattice_protocol::{ErrorCode, TaskId};
use brattice_tests::{World, WorldBuilder, eventually};
use serde_json::json;

use crate::{read_end, start, tool};

/// A world to be started whose user has this configuration.
pub(crate) fn configured(text: &str) -> WorldBuilder {
    let builder = World::builder();
    let path = builder.root().join("home/.config/brattice/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    builder
}

#[test]
fn b062_t016_a_session_without_a_client_keeps_its_tasks_for_a_time() {
    let world = configured("[session]\ndetached_ttl = \"3s\"\n").start();
    let session = world.session("danger-full-access").open();
    let (id, out) = (session.id().to_owned(), world.out().join("alive"));
    start(&session, &format!("while :; do date >> {}; sleep 0.1; done", out.display()));
    drop(session);
    // A client that is gone ends nothing by that.
    let size = || fs::metadata(&out).map_or(0, |file| file.len());
    let before = eventually("it writes", || Some(size()).filter(|size| *size > 0));
    eventually("it goes on", || (size() > before).then_some(()));
    // Resumed in time, it stays.
    let session = world.resume(&id).open();
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(!world.strays().is_empty());
    drop(session);
    eventually("it is closed once nobody has resumed it", || {
        world.sessions().is_empty().then_some(())
    });
    eventually("nothing of it is left", || world.strays().is_empty().then_some(()));
    eventually("its folder is removed", || (!world.folder(&id).exists()).then_some(()));
    assert!(world.resume(&id).try_open().err().unwrap().is(ErrorCode::UnknownSession));
    world.finish();
}

#[test]
fn b062_t016_a_session_without_a_client_stays_while_somebody_waits_in_it() {
    let world = configured("[session]\ndetached_ttl = \"1s\"\n").start();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = start(&session, "sleep 900");
    drop(session);
    let ask = |method: &str, mut params: serde_json::Value| {
        params["session"] = json!(id);
        brattice_tests::Wire::open(&world.control()).request(method, params).unwrap()
    };
    // Three times as long as it would be kept, so that it would be gone by the end of each.
    assert_eq!(ask("task.wait", json!({"tasks": [task], "timeout_ms": 3_000})), json!({}));
    let read = ask("task.output", json!({"task": task, "wait_ms": 3_000}));
    assert_eq!(read["status"], "running");
    assert_eq!(world.sessions().len(), 1);
    // Nor is it kept by a request whose client is gone, or by somebody who looks again and again.
    let mut wire = brattice_tests::Wire::open(&world.control());
    wire.begin("task.wait", json!({"session": id, "tasks": [task], "timeout_ms": 600_000}));
    drop(wire);
    eventually("it is closed once nobody waits", || world.sessions().is_empty().then_some(()));
    eventually("its folder is removed", || (!world.folder(&id).exists()).then_some(()));
    world.is_quiet();
    world.finish();
}

#[test]
fn b062_without_a_daemon_a_supervisor_ends_what_nobody_takes_over() {
    let mut world = configured("[session]\ndetached_ttl = \"2s\"\n").start();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    start(&session, "sleep 900");
    let supervisor = world.supervisor(&id);
    drop(session);
    world.kill_daemon();
    eventually("its supervisor has ended", || (!supervisor.is_alive()).then_some(()));
    assert_eq!(world.strays(), []);
    world.start();
    assert!(world.resume(&id).try_open().err().unwrap().is(ErrorCode::UnknownSession));
    assert!(!world.folder(&id).exists());
    world.finish();
}

#[test]
fn the_oldest_finished_output_goes_first_and_facts_stay() {
    let world = configured("[limits]\nstate = \"64MiB\"\n").start();
    let session = world.session("workspace-write").open();
    let print = "head -c 20000000 /dev/zero | tr '\\0' x";
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let task = start(&session, print);
            read_end(&session, &task);
            task
        })
        .collect();
    let file = |task: &brattice_protocol::TaskId| {
        world.folder(session.id()).join("tasks").join(format!("{task}.stdout"))
    };
    eventually("the oldest one's output is removed", || (!file(&tasks[0]).exists()).then_some(()));
    assert!(tasks[1..].iter().all(|task| file(task).exists()));
    let read = tool(&session, "task_output", json!({"task_id": tasks[0], "offset": 0}));
    read.holds("[status: completed, exit code: 0]");
    let output = session.request("task.output", json!({"task": tasks[0]})).unwrap();
    assert_eq!((&output["skipped"], &output["data"]), (&json!(20_000_000), &json!("")));
    world.finish();
}

#[test]
fn t034_what_runs_counts_and_what_is_finished_goes_for_it() {
    let world = configured("[limits]\nstate = \"64MiB\"\n").start();
    let session = world.session("workspace-write").open();
    let finished: Vec<_> = (0..2)
        .map(|_| {
            let task = start(&session, "head -c 20000000 /dev/zero | tr '\\0' x");
            read_end(&session, &task);
            task
        })
        .collect();
    let running = start(&session, "head -c 40000000 /dev/zero | tr '\\0' x; sleep 900");
    let read = |task: &TaskId| {
        let output = session.request("task.output", json!({"task": task})).unwrap();
        (output["skipped"].as_u64().unwrap(), output["data"].as_str().unwrap().is_empty())
    };
    // 80 MB are more than there may be, and nobody starts anything.
    eventually("the oldest is gone", || (read(&finished[0]) == (20_000_000, true)).then_some(()));
    assert_eq!(read(&finished[1]), (0, false));
    assert_eq!(read(&running), (0, false));
    let list = session.request("task.list", json!({})).unwrap();
    assert_eq!((&list[2]["task"], &list[2]["status"]), (&json!(running), &json!("running")));
    world.finish();
}

#[test]
fn t034_what_runs_is_never_sacrificed_and_the_next_one_is_refused() {
    let world = configured("[limits]\nstate = \"32MiB\"\n").start();
    let session = world.session("workspace-write").open();
    let running = start(&session, "head -c 40000000 /dev/zero | tr '\\0' x; sleep 900");
    eventually("it has printed", || {
        let list = session.request("task.list", json!({})).unwrap();
        (list[0]["bytes"].as_u64()? == 40_000_000).then_some(())
    });
    let reply = session.bash(json!({"command": "echo more", "run_in_background": true}));
    reply.is_refused().holds("the output of running tasks takes");
    let list = session.request("task.list", json!({})).unwrap();
    assert_eq!((&list[0]["task"], &list[0]["status"]), (&json!(running), &json!("running")));
    tool(&session, "task_kill", json!({"task_id": running}));
    read_end(&session, &running);
    session.run("echo more").exits(0).says("more");
    world.finish();
}

#[test]
fn leftovers_are_stopped_where_the_configuration_says_so() {
    let world = configured("[session]\nleftovers = \"stop\"\n").start();
    let session = world.session("workspace-write").open();
    session.run("sleep 900 & echo hi").exits(0).says("hi\n[stopped 1 process left running]");
    assert_eq!(world.strays(), []);
    world.finish();
}
