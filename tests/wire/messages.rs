//! Lines that are no message, or too large a one: told, hung up on, and nobody else is hurt.

use std::io::ErrorKind;

use brattice_protocol::{ErrorCode, RpcError};
use brattice_tests::{Wire, World};
use serde_json::json;

/// What the daemon says to a line on a connection of its own, and then hangs up.
fn told(world: &World, line: &[u8]) -> RpcError {
    let mut wire = world.wire();
    // The daemon may hang up before it has read all of a very long line.
    wire.send(line).ok();
    wire.send(b"\n").ok();
    wire.last_words()
}

#[test]
fn what_is_no_message_is_told_and_hung_up_on() {
    let world = World::new();
    let mut bystander = world.wire();
    let cases: [(&[u8], i64, &str); 8] = [
        (b"{", -32700, "not JSON"),
        (b"\xff\xfe", -32700, "not JSON"),
        (br#"{"jsonrpc":"2.0","id":1,"method":"hello"#, -32700, "not JSON"),
        (b"[]", -32600, "batches"),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"session.list"}]"#, -32600, "batches"),
        (b"7", -32600, "expected an object"),
        (br#"{"id":1,"method":"session.list"}"#, -32600, "jsonrpc"),
        (br#"{"jsonrpc":"2.0","id":{},"method":"session.list"}"#, -32600, "id"),
    ];
    for (line, code, piece) in cases {
        let error = told(&world, line);
        assert_eq!(error.code, code, "{error:?}");
        assert!(error.message.contains(piece), "{error:?}");
        bystander.request("session.list", json!({})).unwrap();
    }
    world.finish();
}

#[test]
fn what_is_too_long_or_too_deep_is_told_and_hung_up_on() {
    let world = World::new();
    let mut bystander = world.wire();
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"session.list","params":{{"x":"{}"}}}}"#,
        "x".repeat(4 << 20)
    );
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"session.list","params":{{"x":{}1{}}}}}"#,
        "[".repeat(80),
        "]".repeat(80)
    );
    for line in [long, deep] {
        let error = told(&world, line.as_bytes());
        assert!(error.is(ErrorCode::TooLarge), "{error:?}");
        bystander.request("session.list", json!({})).unwrap();
    }
    world.finish();
}

#[test]
fn a_line_without_end_is_not_gathered_for_ever() {
    let world = World::new();
    let mut wire = world.wire();
    let block = vec![b'x'; 1 << 20];
    let mut sent = 0;
    while sent < 64 && wire.send(&block).is_ok() {
        sent += 1;
    }
    assert!(sent < 64, "64 MiB without a line end were taken");
    world.wire().request("session.list", json!({})).unwrap();
    world.finish();
}

#[test]
fn an_unknown_method_is_told_and_the_connection_goes_on() {
    let world = World::new();
    let mut wire = world.wire();
    let error = wire.request("session.destroy", json!({})).unwrap_err();
    assert_eq!(error.code, RpcError::METHOD_NOT_FOUND);
    assert!(error.message.contains("session.destroy"), "{error:?}");
    wire.request("session.list", json!({})).unwrap();
    world.finish();
}

#[test]
fn bad_params_are_told_with_the_path_of_the_field() {
    let world = World::new();
    let ws = world.ws();
    let mut wire = world.wire();
    let cases = [
        ("session.open", json!({"workspace": ws, "unknown": 1}), "unknown"),
        ("session.open", json!({"workspace": 7}), "params.workspace"),
        ("session.open", json!({}), "workspace"),
        ("session.open", json!({"workspace": ws, "mode": "rw"}), "params.mode"),
        ("session.open", json!({"workspace": ws, "network": "some"}), "params.network"),
        ("session.open", json!({"workspace": ws, "toolset": "nosuch"}), "params.toolset"),
        ("session.open", json!({"workspace": ws, "writable": "x"}), "params.writable"),
        (
            "session.open",
            json!({"workspace": ws, "options": {"disable": [1]}}),
            "params.options.disable[0]",
        ),
        ("session.open", json!({"workspace": ws, "options": {"more": 1}}), "params.options.more"),
        ("session.close", json!({}), "session"),
        ("tools.call", json!({"session": "x", "name": 7}), "params.name"),
    ];
    for (method, params, path) in cases {
        let error = wire.request(method, params.clone()).unwrap_err();
        assert_eq!(error.code, -32602, "{method} {params}: {error:?}");
        assert!(
            error.is(ErrorCode::Invalid) && error.message.contains(path),
            "{method} {params}: {error:?}"
        );
    }
    assert_eq!(world.sessions().len(), 0, "nothing was opened");
    world.finish();
}

#[test]
fn more_requests_in_flight_than_the_limit_are_refused_and_cancels_still_read() {
    let world = World::new();
    let mut wire = world.wire();
    let session =
        wire.request("session.open", json!({"workspace": world.ws()})).unwrap()["session"].clone();
    let call = |name: String| json!({"session": session, "call": name, "name": "bash", "arguments": {"command": "sleep 900", "timeoutMs": 600_000}});
    let calls: Vec<i64> =
        (0..64).map(|number| wire.begin("tools.call", call(format!("c{number}")))).collect();
    let refused = wire.begin("tools.call", call("one-too-many".to_owned()));
    let error = wire.wait(refused).unwrap_err();
    assert!(error.is(ErrorCode::Busy), "{error:?}");
    for number in 0..64 {
        let cancel =
            wire.begin("tools.cancel", json!({"session": session, "call": format!("c{number}")}));
        wire.wait(cancel).unwrap();
    }
    for call in calls {
        let result = wire.wait(call).unwrap();
        assert_eq!(result["isError"], true, "{result}");
    }
    wire.request("session.close", json!({"session": session})).unwrap();
    world.finish();
}

#[test]
fn a_client_that_does_not_read_is_dropped_and_its_session_stays() {
    let world = World::new();
    let mut deaf = world.wire();
    let session =
        deaf.request("session.open", json!({"workspace": world.ws()})).unwrap()["session"].clone();
    // Answers of 4 KiB and more each, never read, until the daemon stops reading and then drops the connection.
    let padding = "x".repeat(4000);
    let mut end = None;
    for _ in 0..20_000 {
        let params =
            json!({"session": session, "path": format!("/{padding}"), "operation": "read"});
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": "policy.explain", "params": params})
            .to_string()
            + "\n";
        if let Err(error) = deaf.send(line.as_bytes()) {
            end = Some(error.kind());
            break;
        }
    }
    let dropped = [Some(ErrorKind::BrokenPipe), Some(ErrorKind::ConnectionReset)];
    assert!(dropped.contains(&end), "a client that does not read must be dropped: {end:?}");
    let mut operator = Wire::open(&world.control());
    operator.request("session.resume", json!({"session": session})).unwrap();
    operator.request("session.close", json!({"session": session})).unwrap();
    world.finish();
}
