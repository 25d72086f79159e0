//! `events.watch`: what happens is told to operators as it is written into the audit log.

use brattice_protocol::events::EventNotice;
use brattice_protocol::{ErrorCode, Message};
use brattice_tests::{Wire, World};
use serde_json::{Value, json};

/// The next event that is told.
fn next(operator: &mut Wire) -> EventNotice {
    match operator.read() {
        Some(Message::Notification(told)) if told.method == "event" => {
            serde_json::from_value(told.params).unwrap()
        }
        other => panic!("no event: {other:?}"),
    }
}

fn name(notice: &EventNotice) -> &str {
    notice.event["event"].as_str().unwrap()
}

#[test]
fn a_watcher_is_told_every_line_from_where_it_asked_on() {
    let world = World::new();
    let mut operator = Wire::open(&world.control());
    assert_eq!(operator.request("events.watch", json!({"after": 0})).unwrap(), json!({"after": 0}));
    let first = next(&mut operator);
    assert_eq!(
        (name(&first), &first.event["seq"], first.skipped),
        ("daemon_started", &json!(1), 0)
    );
    let session = world.session("workspace-write").open();
    session.run("exit 3").exits(3);
    let mut told = Vec::new();
    while told.last().is_none_or(|last| last != "call_finished") {
        let notice = next(&mut operator);
        assert_eq!(notice.skipped, 0);
        told.push(name(&notice).to_owned());
    }
    let expected = ["session_opened", "call", "task_started", "task_finished", "call_finished"];
    assert_eq!(told, expected);
    world.finish();
}

#[test]
fn a_watcher_is_told_what_it_asked_for() {
    let world = World::new();
    let (one, other) = (world.session("read-only").open(), world.session("read-only").open());
    let mut operator = Wire::open(&world.control());
    let params = json!({"events": ["task_finished"], "session": one.id()});
    operator.request("events.watch", params).unwrap();
    other.run("exit 1").exits(1);
    one.run("exit 2").exits(2);
    other.run("exit 3").exits(3);
    one.run("exit 4").exits(4);
    let told = [next(&mut operator), next(&mut operator)];
    let codes = told.map(|notice| notice.event["exit_code"].clone());
    assert_eq!(codes, [json!(2), json!(4)]);
    world.finish();
}

#[test]
fn a_watcher_that_is_too_far_behind_is_told_how_far() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    for _ in 0..300 {
        session.run("true").exits(0);
    }
    let mut operator = Wire::open(&world.control());
    operator.request("events.watch", json!({"after": 0})).unwrap();
    let first = next(&mut operator);
    let seq = first.event["seq"].as_u64().unwrap();
    assert!(first.skipped > 0, "{first:?}");
    assert_eq!(seq, first.skipped + 1, "what was passed over is all that is missing");
    let second = next(&mut operator);
    assert_eq!((&second.event["seq"], second.skipped), (&json!(seq + 1), 0));
    world.finish();
}

#[test]
fn only_operators_watch_and_only_once_a_connection() {
    let world = World::new();
    let refused =
        |wire: &mut Wire, params: Value| wire.request("events.watch", params).unwrap_err();
    let error = refused(&mut world.wire(), json!({}));
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    let mut operator = Wire::open(&world.control());
    for params in [json!({"events": []}), json!({"events": vec!["call"; 65]})] {
        let error = refused(&mut operator, params);
        assert!(error.is(ErrorCode::Invalid), "{error:?}");
    }
    operator.request("events.watch", json!({})).unwrap();
    let error = refused(&mut operator, json!({}));
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    assert_eq!(error.message, "this connection watches events already");
    Wire::open(&world.control()).request("events.watch", json!({})).unwrap();
    world.finish();
}
