//! `task.*`: output by offset, exact and repeatable; input; ends.

use brattice_protocol::ErrorCode;
use brattice_protocol::bytes::decode;
use brattice_protocol::task::{Output, TaskStatus};
use brattice_tests::{Session, World};
use serde_json::{Value, json};

fn start(session: &Session, params: Value) -> Value {
    session.request("task.start", params).unwrap()["task"].clone()
}

fn output(session: &Session, task: &Value, mut params: Value) -> Output {
    params["task"] = task.clone();
    serde_json::from_value(session.request("task.output", params).unwrap()).unwrap()
}

fn bytes(output: &Output) -> Vec<u8> {
    decode(&output.data, output.encoding).unwrap()
}

fn wait(session: &Session, task: &Value) -> Value {
    let waited =
        session.request("task.wait", json!({"tasks": [task], "timeout_ms": 300_000})).unwrap();
    assert_eq!(&waited["task"], task, "{waited}");
    waited["outcome"].clone()
}

#[test]
fn output_is_read_by_offset_exactly_and_as_often_as_one_likes() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, json!({"command": "seq 200000; echo err >&2"}));
    assert_eq!(wait(&session, &task)["exit_code"], 0);
    let expected = world.native("seq 200000").stdout.into_bytes();
    let (mut all, mut offset) = (Vec::new(), 0);
    loop {
        let piece = output(&session, &task, json!({"offset": offset}));
        assert_eq!((piece.offset, piece.skipped, piece.status), (offset, 0, TaskStatus::Completed));
        if piece.data.is_empty() {
            break;
        }
        assert!(bytes(&piece).len() <= 256 << 10);
        all.extend(bytes(&piece));
        offset = piece.next_offset;
    }
    assert!(all == expected, "{} bytes, {} expected", all.len(), expected.len());
    let twice = [(); 2].map(|()| output(&session, &task, json!({"offset": 10, "limit": 6})));
    assert_eq!(
        (twice[0].data.as_str(), twice[0].next_offset, &twice[0]),
        ("6\n7\n8\n", 16, &twice[1])
    );
    assert_eq!(output(&session, &task, json!({"stream": "stderr"})).data, "err\n");
    world.finish();
}

#[test]
fn bytes_that_are_no_text_come_in_base64() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, json!({"command": r"printf '\xff\x00\xfe'"}));
    wait(&session, &task);
    let piece = output(&session, &task, json!({}));
    assert_eq!((bytes(&piece), piece.next_offset), (vec![0xff, 0, 0xfe], 3));
    assert_eq!(serde_json::to_value(piece.encoding).unwrap(), "base64");
    world.finish();
}

#[test]
fn what_was_dropped_is_skipped_and_said() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(
        &session,
        json!({"command": "echo FIRST; head -c 100M /dev/zero | tr '\\0' x; echo LAST"}),
    );
    let outcome = wait(&session, &task);
    let total = outcome["stdout"]["bytes"].as_u64().unwrap();
    assert_eq!(output(&session, &task, json!({"limit": 6})).data, "FIRST\n");
    let middle = output(&session, &task, json!({"offset": total / 2, "limit": 10}));
    assert!(middle.skipped > 0 && middle.offset == total / 2 + middle.skipped, "{middle:?}");
    assert_eq!(output(&session, &task, json!({"offset": total - 5})).data, "LAST\n");
    world.finish();
}

#[test]
fn a_read_waits_for_the_first_byte_or_the_end() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task =
        start(&session, json!({"command": "while [ ! -e go ]; do sleep 0.05; done; echo late"}));
    assert_eq!(output(&session, &task, json!({})).status, TaskStatus::Running);
    world.file("go", "");
    assert_eq!(output(&session, &task, json!({"wait_ms": 60_000})).data, "late\n");
    wait(&session, &task);
    assert_eq!(output(&session, &task, json!({"offset": 5, "wait_ms": 60_000})).data, "");
    world.finish();
}

#[test]
fn input_reaches_the_command_and_ends() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, json!({"argv": ["wc", "-c"], "stdin": true}));
    for _ in 0..8 {
        session.request("task.input", json!({"task": task, "data": "x".repeat(60_000)})).unwrap();
    }
    session
        .request(
            "task.input",
            json!({"task": task, "data": "/w==", "encoding": "base64", "eof": true}),
        )
        .unwrap();
    assert_eq!(wait(&session, &task)["exit_code"], 0);
    assert_eq!(output(&session, &task, json!({})).data, "480001\n");
    let closed = start(&session, json!({"command": "sleep 900"}));
    let error = session.request("task.input", json!({"task": closed, "data": "x"})).unwrap_err();
    assert!(error.is(ErrorCode::Refused) && error.message.contains("stdin"), "{error:?}");
    world.finish();
}

#[test]
fn a_task_is_killed_with_its_tree_and_the_reason_is_kept() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, json!({"command": "setsid sleep 900 & sleep 900"}));
    session.request("task.kill", json!({"task": task, "reason": "enough"})).unwrap();
    let outcome = wait(&session, &task);
    assert_eq!(outcome["cause"], "killed");
    assert_eq!(outcome["reason"], "by the client: enough");
    assert_eq!(world.strays(), []);
    assert_eq!(output(&session, &task, json!({})).status, TaskStatus::Killed);
    world.finish();
}

#[test]
fn a_task_that_cannot_be_is_refused() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    for params in [
        json!({}),
        json!({"command": "true", "argv": ["true"]}),
        json!({"argv": []}),
        json!({"argv": ["a\u{0}b"]}),
        json!({"command": "true", "workdir": "nowhere"}),
        json!({"command": "true", "tty": "yes"}),
    ] {
        let error = session.request("task.start", params.clone()).unwrap_err();
        assert!(error.is(ErrorCode::Invalid), "{params}: {error:?}");
    }
    for method in ["task.output", "task.kill", "task.input"] {
        let error = session.request(method, json!({"task": "bash-999"})).unwrap_err();
        assert!(error.is(ErrorCode::UnknownTask), "{method}: {error:?}");
    }
    let error =
        session.request("task.wait", json!({"tasks": ["bash-999"], "timeout_ms": 1})).unwrap_err();
    assert!(error.is(ErrorCode::UnknownTask), "{error:?}");
    world.finish();
}

#[test]
fn t062_t097_tasks_stay_known_and_their_numbers_grow() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let tasks: Vec<Value> =
        (0..3).map(|_| start(&session, json!({"command": "echo hi"}))).collect();
    for task in &tasks {
        assert_eq!(wait(&session, task)["cause"], "exited");
        assert_eq!(output(&session, task, json!({})).data, "hi\n");
    }
    let numbers: Vec<u64> = tasks
        .iter()
        .map(|task| task.as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap())
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    world.finish();
}
