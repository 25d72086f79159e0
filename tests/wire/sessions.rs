//! Sessions belong to their client: nobody else sees, calls, resumes or closes them while it is there.

use brattice_client::Notice;
use brattice_protocol::ErrorCode;
use brattice_protocol::outcome::Cause;
use brattice_tests::{Wire, World, eventually};
use serde_json::{Value, json};

fn open(world: &World, wire: &mut Wire) -> Value {
    wire.request("session.open", json!({"workspace": world.ws()})).unwrap()["session"].clone()
}

#[test]
fn another_clients_session_is_unknown() {
    let world = World::new();
    let (mut owner, mut other) = (world.wire(), world.wire());
    let session = open(&world, &mut owner);
    let bash = json!({"session": session, "name": "bash", "arguments": {"command": "touch ran"}});
    let cases = [
        ("tools.call", bash),
        ("tools.list", json!({"session": session})),
        ("tools.cancel", json!({"session": session, "call": "x"})),
        ("task.start", json!({"session": session, "command": "touch ran"})),
        ("task.output", json!({"session": session, "task": "bash-1"})),
        ("session.update", json!({"session": session, "mode": "read-only"})),
        ("session.turn", json!({"session": session})),
        ("session.close", json!({"session": session})),
        ("policy.explain", json!({"session": session, "path": "/", "operation": "read"})),
    ];
    for (method, params) in cases {
        let error = other.request(method, params).unwrap_err();
        assert!(error.is(ErrorCode::UnknownSession), "{method}: {error:?}");
    }
    let error = other.request("session.resume", json!({"session": session})).unwrap_err();
    assert!(error.is(ErrorCode::Refused) || error.is(ErrorCode::UnknownSession), "{error:?}");
    assert_eq!(other.request("session.list", json!({})).unwrap(), json!([]));
    assert_eq!(owner.request("session.list", json!({})).unwrap().as_array().unwrap().len(), 1);
    assert!(!world.ws().join("ran").exists());
    world.finish();
}

#[test]
fn a_client_is_told_when_its_session_stands_otherwise() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let told = || {
        session.notice("session.changed", |notice| match notice {
            Notice::SessionChanged(changed) => Some(serde_json::to_value(changed).unwrap()),
            _ => None,
        })
    };
    let stands = |approval: &str, lost: bool| {
        json!({
            "session": session.id(),
            "mode": "read-only",
            "plan": false,
            "approval": approval,
            "lost": lost,
        })
    };
    let update = |changes: Value| {
        let mut params = changes;
        params["session"] = json!(session.id());
        Wire::open(&world.control()).request("session.update", params).unwrap();
    };
    update(json!({"mode": "read-only"}));
    assert_eq!(told(), stands("ask", false));
    // What is no change is not told: the next one is the next that is.
    update(json!({"mode": "read-only"}));
    update(json!({"approval": "never"}));
    assert_eq!(told(), stands("never", false));
    world.supervisor(session.id()).kill();
    assert_eq!(told(), stands("never", true));
    world.finish();
}

#[test]
fn a_session_whose_client_went_away_is_resumed_and_its_call_went_on() {
    let world = World::new();
    let mut first = world.wire();
    let session = open(&world, &mut first);
    let command = "touch started; while [ ! -e go ]; do sleep 0.05; done; touch done";
    first.begin("tools.call", json!({"session": session, "call": "long", "name": "bash", "arguments": {"command": command}}));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    drop(first);
    let mut second = world.wire();
    let resumed = eventually("the session is free", || {
        second.request("session.resume", json!({"session": session})).ok()
    });
    assert_eq!(resumed["workspace"], json!(world.ws()));
    world.file("go", "");
    let same = json!({"session": session, "call": "long", "name": "bash", "arguments": {"command": command}});
    let result = second.request("tools.call", same).unwrap();
    assert_eq!(result["structuredContent"]["exit_code"], 0, "{result}");
    assert!(world.ws().join("done").exists());
    world.finish();
}

#[test]
fn an_operator_sees_and_resumes_every_session() {
    let world = World::new();
    let (mut owner, mut operator) = (world.wire(), Wire::open(&world.control()));
    let session = open(&world, &mut owner);
    let listed = operator.request("session.list", json!({})).unwrap();
    assert_eq!(listed[0]["session"], session);
    operator.request("session.resume", json!({"session": session})).unwrap();
    operator.request("session.close", json!({"session": session})).unwrap();
    let error = owner.request("tools.list", json!({"session": session})).unwrap_err();
    assert!(error.is(ErrorCode::UnknownSession), "{error:?}");
    world.finish();
}

#[test]
fn closing_a_session_stops_what_it_runs() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let call =
        session.begin(json!({"command": "touch started; sleep 900 & setsid sleep 900 & wait"}));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    session.request("session.close", json!({})).unwrap();
    assert_eq!(world.strays(), []);
    // The call is answered one way or the other; it does not hang.
    session.try_end(call).ok();
    let error = session.request("tools.list", json!({})).unwrap_err();
    assert!(error.is(ErrorCode::UnknownSession), "{error:?}");
    world.finish();
}

#[test]
fn a_command_of_a_session_that_closes_is_still_no_client() {
    let world = World::new();
    let ask = r#"
import socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    print(s.makefile().readline(), end="")
"#;
    world.file("ask.py", ask);
    let session = world.session("danger-full-access").open();
    let ask = format!("python3 ask.py {} > answer; mv answer answered", world.socket().display());
    let wait = "trap '' TERM; touch started; while [ ! -e go ]; do sleep 0.02; done";
    let call = session.begin(json!({"command": format!("{wait}; {ask}")}));
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    let mut operator = Wire::open(&world.control());
    let closing = operator.begin("session.close", json!({"session": session.id()}));
    eventually("the session is closing", || world.sessions().is_empty().then_some(()));
    world.file("go", "");
    let answered = world.ws().join("answered");
    let answer = eventually("the command has asked", || std::fs::read_to_string(&answered).ok());
    assert!(answer.contains("belongs to a task"), "{answer}");
    operator.wait(closing).unwrap();
    session.try_end(call).ok();
    world.finish();
}

#[test]
fn commands_that_start_while_their_session_closes_do_not_survive_it() {
    let world = World::new();
    for _ in 0..10 {
        let session = world.session("workspace-write").open();
        let calls: Vec<_> =
            (0..8).map(|_| session.begin(json!({"command": "sleep 900"}))).collect();
        session.request("session.close", json!({})).unwrap();
        assert_eq!(world.strays(), []);
        for call in calls {
            // Stopped, refused, or too late for the session: each is an answer.
            if let Ok(reply) = session.try_end(call) {
                assert!(reply.is_error() || reply.cause() == Cause::Killed, "{reply:?}");
            }
        }
    }
    world.finish();
}

#[test]
fn what_is_out_of_bounds_is_named() {
    let world = World::new();
    let long = "x".repeat(5_000);
    let cases = [
        (json!({"label": long}), "params.label"),
        (json!({"cwd": long}), "params.cwd"),
        (json!({"writable": ["/tmp", "/a\0"]}), "params.writable[1]"),
        (json!({"options": {"dsh_home": long}}), "params.options.dsh_home"),
        (json!({"options": {"disable": [long]}}), "params.options.disable[0]"),
    ];
    let mut wire = world.wire();
    for (mut params, field) in cases {
        params["workspace"] = json!(world.ws());
        let error = wire.request("session.open", params).unwrap_err();
        let is_named = error.message.starts_with(&format!("{field}: expected"));
        assert!(error.is(ErrorCode::Invalid) && is_named, "{error:?}");
    }
    let session = open(&world, &mut wire);
    let workdir = json!({"session": session, "command": "true", "workdir": long});
    let path = json!({"session": session, "path": long, "operation": "read"});
    for (method, params, field) in
        [("task.start", workdir, "params.workdir"), ("policy.explain", path, "params.path")]
    {
        let error = wire.request(method, params).unwrap_err();
        assert!(error.is(ErrorCode::Invalid) && error.message.starts_with(field), "{error:?}");
    }
    world.finish();
}

#[test]
fn c6_a_mode_changes_at_once_and_running_commands_keep_theirs() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let call = session.begin(
        json!({"command": "touch started; while [ ! -e go ]; do sleep 0.05; done; echo x > kept"}),
    );
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    session.request("session.update", json!({"mode": "read-only"})).unwrap();
    session.run("touch refused").exits(1);
    world.file("go", "");
    session.end(call).exits(0);
    assert!(world.ws().join("kept").exists() && !world.ws().join("refused").exists());
    world.finish();
}
