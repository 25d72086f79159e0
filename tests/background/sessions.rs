//! Sessions and their tasks: over the end of a client, over the end of a daemon, and once they are closed.

use std::fs;

use brattice_client::Notice;
use brattice_protocol::ErrorCode;
use brattice_protocol::hello::Watch;
use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Session, Wire, World, eventually};
use serde_json::{Value, json};

use crate::ends::ended;

/// The number in a task's id.
fn number(task: &str) -> u64 {
    task.rsplit('-').next().unwrap().parse().unwrap()
}

#[test]
fn t016_a_client_that_goes_kills_nothing() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("until [ -e go ]; do sleep 0.02; done; echo on");
    drop(session);
    eventually("the daemon has noticed", || {
        (world.sessions()[0]["attached"] == json!(false)).then_some(())
    });
    let session = world.resume(&id).open();
    assert_eq!(session.task(&task).status, TaskStatus::Running);
    world.file("go", "");
    assert_eq!(ended(&session, &task), (Cause::Exited, Some(0), None));
    assert_eq!(session.printed(&task), "on\n");
    world.finish();
}

#[test]
fn a_closed_session_is_gone_for_the_next_daemon_too() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let (id, other) = (session.id().to_owned(), world.session("read-only").open());
    session.start("trap '' TERM; sleep 900 & while :; do sleep 0.1; done");
    let kept = other.start("sleep 905");
    session.request("session.close", json!({})).unwrap();
    assert!(world.strays().iter().all(|process| process.arguments != "sleep 900"));
    assert!(!world.folder(&id).exists());
    world.restart();
    let error = world.resume(&id).try_open().err().expect("there is none");
    assert_eq!(error.data.code, Some(ErrorCode::UnknownSession));
    let other = world.resume(other.id()).open();
    assert_eq!(other.task(&kept).status, TaskStatus::Running);
    world.finish();
}

#[test]
fn b062_a_session_whose_closing_was_begun_never_comes_back() {
    let mut world = World::new();
    let mut wire = world.wire();
    let opened = wire.request("session.open", json!({"workspace": world.ws()})).unwrap();
    let id = opened["session"].as_str().unwrap().to_owned();
    // What holds up its end: it takes the grace, and this daemon does not live to see it.
    let start = json!({"session": id, "command": "trap '' TERM; touch runs; sleep 906; sleep 907"});
    wire.request("task.start", start).unwrap();
    eventually("it runs", || world.ws().join("runs").exists().then_some(()));
    let saved = world.folder(&id).join("session.json");
    wire.begin("session.close", json!({"session": id}));
    eventually("the closing is written down", || (!saved.exists()).then_some(()));
    world.restart();
    assert_eq!(world.sessions(), Vec::<Value>::new());
    let error = world.resume(&id).try_open().err().expect("there is none");
    assert_eq!(error.data.code, Some(ErrorCode::UnknownSession));
    eventually("its folder is removed", || (!world.folder(&id).exists()).then_some(()));
    world.is_quiet();
    let log = Wire::open(&world.control()).request("audit.tail", json!({"lines": 50})).unwrap();
    let closed = log.to_string();
    assert!(closed.contains("it was being closed when the daemon ended"), "{closed}");
    world.finish();
}

#[test]
fn a_session_is_resumed_as_it_was() {
    let mut world = World::new();
    fs::create_dir(world.ws().join("sub")).unwrap();
    let session = world
        .session("read-only")
        .with("cwd", json!(world.ws().join("sub")))
        .with("toolset", json!("dsh"))
        .with("label", json!("build"))
        .open();
    session.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    let (id, task) = (session.id().to_owned(), session.start("sleep 906"));
    let listed = world.sessions();
    world.restart();
    let again = world.resume(&id).open();
    let before = session.opened();
    let mut expected = serde_json::to_value(before).unwrap();
    let now = serde_json::to_value(again.opened()).unwrap();
    expected["mode"] = json!("workspace-write");
    expected["sandbox"] = now["sandbox"].clone();
    assert_eq!(now, expected);
    assert_eq!(world.sessions(), listed);
    again.run("pwd; touch file").exits(0).says(world.ws().join("sub").to_str().unwrap());
    assert_eq!(again.task(&task).status, TaskStatus::Running);
    world.finish();
}

#[test]
fn what_is_told_of_a_task_that_ended_is_the_same_for_every_later_daemon() {
    let mut world = World::new();
    let mut session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let tasks = [
        session.start("echo out; echo err >&2; exit 3"),
        session.start("seq 50000; kill -9 $$"),
        session.start_with(json!({"argv": ["sh", "-c", "exit 4"]})),
        session.start_with(json!({"command": "sleep 90", "timeout_ms": 200})),
        session.start("sleep 90"),
        session.start("sleep 0.2 & exit 5"),
    ];
    session.request("task.kill", json!({"task": tasks[4], "reason": "enough"})).unwrap();
    let told = |session: &Session| {
        let outcomes: Vec<_> = tasks.iter().map(|task| session.wait_for(task)).collect();
        (outcomes, session.tasks())
    };
    let before = told(&session);
    for _ in 0..2 {
        world.restart();
        session = world.resume(&id).open();
        assert_eq!(told(&session), before);
    }
    world.finish();
}

#[test]
fn a_session_is_resumed_by_one_client_at_a_time() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    session.start("sleep 907");
    let id = session.id().to_owned();
    world.restart();
    let held = world.resume(&id).open();
    let error = world.resume(&id).try_open().err().expect("it is held");
    assert!(!error.message.is_empty());
    drop(held);
    eventually("it is free", || world.resume(&id).try_open().ok());
    world.finish();
}

#[test]
fn t097_numbers_only_grow_over_restarts() {
    let mut world = World::new();
    let mut session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let mut highest = 0;
    for round in 0..4 {
        let refused = session.bash(json!({"command": "true", "workdir": "nowhere"}));
        let told = refused.outcome.and_then(|outcome| outcome.task);
        let numbers = [
            told.map(|task| number(task.as_str())),
            session.run("true").outcome().task.as_ref().map(|task| number(task.as_str())),
            Some(number(&session.start("echo hi"))),
        ];
        for number in numbers.into_iter().flatten() {
            assert!(number > highest, "{number} after {highest} in round {round}");
            highest = number;
        }
        let last = session.start(if round % 2 == 0 { "sleep 908" } else { "true" });
        highest = number(&last);
        match round {
            // Something runs: the supervisor is adopted.
            0 | 2 => world.restart(),
            // Nothing runs: the supervisor ends before the next daemon starts.
            _ => {
                for task in session.tasks().iter().filter(|task| !task.status.is_final()) {
                    session.kill(task.task.as_str());
                    session.wait_for(task.task.as_str());
                }
                world.kill_daemon();
                eventually("the supervisor ends", || world.supervisors().is_empty().then_some(()));
                world.start();
            }
        }
        session = world.resume(&id).open();
    }
    world.finish();
}

#[test]
fn t103_fields_of_a_newer_version_survive_and_are_passed_over() {
    let mut world = World::new();
    let session = world.session("read-only").open();
    let id = session.id().to_owned();
    let done = session.start("echo hi; exit 6");
    session.wait_for(&done);
    let runs = session.start("sleep 909");
    world.kill_daemon();
    let path = world.folder(&id).join("session.json");
    let mut saved: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    saved["newer"] = json!({"a": [1, 2]});
    fs::write(&path, saved.to_string()).unwrap();
    let record = world.folder(&id).join(format!("tasks/{done}.ended"));
    let newer = fs::read_to_string(&record).unwrap().replace("{\"task\"", "{\"newer\":7,\"task\"");
    assert!(newer.contains("newer"), "{newer}");
    fs::write(&record, &newer).unwrap();
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(ended(&session, &done), (Cause::Exited, Some(6), None));
    assert_eq!(session.printed(&done), "hi\n");
    assert_eq!(session.task(&runs).status, TaskStatus::Running);
    session.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    let after: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    saved["profile"]["mode"] = json!("workspace-write");
    assert_eq!(after, saved);
    assert_eq!(fs::read_to_string(&record).unwrap(), newer);
    world.finish();
}

#[test]
fn t087_each_end_is_delivered_once_over_a_restart() {
    let mut world = World::new();
    let mut session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let mut left: Vec<String> = (0..5)
        .map(|n| session.start(&format!("until [ -e go{n} ]; do sleep 0.02; done; exit {n}")))
        .collect();
    let tasks = left.clone();
    for (step, n) in [3, 1, 4, 0, 2].into_iter().enumerate() {
        if step == 2 {
            world.restart();
            session = world.resume(&id).open();
        }
        world.file(&format!("go{n}"), "");
        let waiting: Vec<&str> = left.iter().map(String::as_str).collect();
        let (task, outcome) = session.wait_for_one(&waiting);
        assert_eq!((&task, outcome.exit_code), (&tasks[n], i32::try_from(n).ok()));
        left.retain(|other| *other != task);
    }
    assert_eq!(left, Vec::<String>::new());
    world.finish();
}

#[test]
fn t087_watchers_are_told_of_each_start_and_each_end_once() {
    let mut world = World::new();
    let session = world.session("workspace-write").watching(&[Watch::Tasks]).open();
    let id = session.id().to_owned();
    let told = |session: &Session, until: &str| {
        let mut told = Vec::new();
        session.notice(until, |notice| match notice {
            Notice::TaskStarted(notice) => {
                told.push((notice.task.as_str().to_owned(), None));
                None
            }
            Notice::TaskFinished(notice) => {
                told.push((notice.task.as_str().to_owned(), notice.outcome.exit_code));
                (notice.task.as_str() == until).then_some(())
            }
            _ => None,
        });
        told
    };
    let started = |task: &str| (task.to_owned(), None);
    let finished = |task: &str, code: i32| (task.to_owned(), Some(code));
    let first = session.start("exit 1");
    session.wait_for(&first);
    let gated = session.start("until [ -e go ]; do sleep 0.02; done; exit 2");
    let last = session.start("exit 3");
    assert_eq!(
        told(&session, &last),
        [started(&first), finished(&first, 1), started(&gated), started(&last), finished(&last, 3)]
    );
    world.restart();
    let session = world.resume(&id).watching(&[Watch::Tasks]).open();
    world.file("go", "");
    assert_eq!(told(&session, &gated), [finished(&gated, 2)]);
    world.finish();
}

#[test]
fn an_operator_reads_and_stops_the_tasks_of_a_session_that_nobody_holds() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let (id, task) = (session.id().to_owned(), session.start("echo hi; sleep 910"));
    world.restart();
    let mut operator = Wire::open(&world.control());
    let listed = operator.request("task.list", json!({"session": id})).unwrap();
    assert_eq!((&listed[0]["task"], &listed[0]["status"]), (&json!(task), &json!("running")));
    let params = json!({"session": id, "task": task, "wait_ms": 10_000});
    assert_eq!(operator.request("task.output", params).unwrap()["data"], "hi\n");
    operator.request("task.kill", json!({"session": id, "task": task})).unwrap();
    world.is_quiet();
    let error = world.wire().request("task.list", json!({"session": id})).unwrap_err();
    assert_eq!(error.data.code, Some(ErrorCode::UnknownSession));
    world.finish();
}
