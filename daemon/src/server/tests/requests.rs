//! What a well-behaved client sees: hello, requests, their limit, and the shutdown.

use brattice_protocol::codec::{MAX_DEPTH, MAX_MESSAGE};
use serde_json::json;

use super::harness::{Client, Running, Supervisor, error, hello, limits, soon};
use crate::server::{HandedOver, Server};

#[tokio::test]
async fn hello_tells_the_role_of_the_socket_and_the_limits() {
    let server = Running::start();
    let expected = |role: &str| {
        json!({
            "protocol": 1,
            "daemon": {"name": "test", "version": "1"},
            "role": role,
            "sandbox": {"landlock_abi": 0, "layers": []},
            "limits": {
                "message_bytes": MAX_MESSAGE,
                "message_depth": MAX_DEPTH,
                "in_flight": 64,
                "inline_bytes": 262_144,
            },
        })
    };
    assert_eq!(server.connect().await.hello().await, expected("client"));
    let mut operator = Client::connect(&server.paths.control).await;
    assert_eq!(operator.hello().await, expected("operator"));
}

#[tokio::test]
async fn a_connection_knows_what_its_client_watches() {
    let server = Running::start();
    let mut client = server.connect().await;
    let mut params = hello();
    params["watch"] = json!(["output"]);
    client.call(0, "hello", params).await;
    assert_eq!(
        client.call(1, "whoami", json!({})).await["result"],
        json!({"id": 1, "role": "client", "output": true, "tasks": false})
    );
}

#[tokio::test]
async fn before_hello_requests_are_not_ready_and_the_connection_stays() {
    let server = Running::start();
    let mut client = server.connect().await;
    let answer = client.call(5, "tools.cancel", json!({})).await;
    assert_eq!(error(&answer), (-32000, "not_ready", "hello has not been said"));
    client.hello().await;
    assert_eq!(client.call(6, "echo", json!({"a": 1})).await["result"], json!({"a": 1}));
}

#[tokio::test]
async fn a_second_hello_is_invalid() {
    let server = Running::start();
    let mut client = server.greet().await;
    let answer = client.call(1, "hello", hello()).await;
    assert_eq!(error(&answer), (-32602, "invalid", "hello has already been said"));
    assert_eq!(*server.script.greeted.borrow(), 1);
}

#[tokio::test]
async fn another_protocol_is_invalid_with_the_version_that_is_spoken() {
    let server = Running::start();
    let mut client = server.connect().await;
    let answer = client.call(1, "hello", json!({"protocol": 2, "new_field": true})).await;
    assert_eq!(
        error(&answer),
        (-32602, "invalid", "params.protocol: version 2 is not spoken here")
    );
    assert_eq!(answer["error"]["data"]["hint"], "this daemon speaks protocol 1");
    client.hello().await;
}

#[tokio::test]
async fn a_bad_hello_names_the_field() {
    let server = Running::start();
    let mut client = server.connect().await;
    let answer = client.call(1, "hello", json!({"protocol": 1, "client": {"name": 7}})).await;
    assert_eq!(
        error(&answer),
        (-32602, "invalid", "params.client.name: invalid type: integer `7`, expected a string")
    );
}

#[tokio::test]
async fn a_client_with_a_long_name_is_not_taken_in() {
    let server = Running::start();
    let mut client = server.connect().await;
    for field in ["name", "version"] {
        let mut params = hello();
        params["client"][field] = json!("x".repeat(201));
        let answer = client.call(1, "hello", params).await;
        let expected = format!("params.client.{field}: expected at most 200 characters, got 201");
        assert_eq!(error(&answer), (-32602, "invalid", &*expected));
    }
    client.hello().await;
}

#[tokio::test]
async fn an_unknown_method_is_not_found() {
    let server = Running::start();
    let mut client = server.greet().await;
    let answer = client.call(1, "no.such", json!({})).await;
    assert_eq!(error(&answer), (-32601, "invalid", "unknown method \"no.such\""));
    let long = client.call(2, &"m".repeat(1 << 20), json!({})).await;
    assert_eq!(error(&long).2.len(), "unknown method \"\"".len() + 67);
}

#[tokio::test]
async fn a_handlers_error_arrives_whole() {
    let server = Running::start();
    let mut client = server.greet().await;
    assert_eq!(
        client.call(1, "refuse", json!({})).await,
        json!({"jsonrpc": "2.0", "id": 1, "error":
            {"code": -32002, "message": "no task 7", "data": {"code": "unknown_task"}}})
    );
}

#[tokio::test]
async fn requests_are_answered_out_of_order() {
    let server = Running::start();
    let mut client = server.greet().await;
    client.send(1, "wait", json!({})).await;
    client.call(2, "echo", json!({})).await;
    server.script.gate.add_permits(1);
    assert_eq!(client.next().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn the_65th_request_in_flight_is_busy_while_a_cancel_is_handled() {
    let server = Running::start();
    let mut client = server.greet().await;
    for id in 1..=64 {
        client.send(id, "wait", json!({})).await;
    }
    let answer = client.call(65, "echo", json!({})).await;
    assert_eq!(error(&answer), (-32004, "busy", "64 requests are already in flight"));
    let cancel = client.call(66, "tools.cancel", json!({"call": "c"})).await;
    assert_eq!(cancel["result"], json!({"cancelled": {"call": "c"}}));
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n").await;
    client.send_raw(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n").await;

    let mut neighbour = server.greet().await;
    neighbour.call(1, "echo", json!({})).await;

    server.script.gate.add_permits(64);
    let mut answered = Vec::new();
    for _ in 0..64 {
        answered.push(client.next().await.unwrap()["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, (1..=64).collect::<Vec<_>>());
    client.call(67, "echo", json!({})).await;
}

#[tokio::test]
async fn a_panic_in_a_handler_is_answered_and_hurts_nobody() {
    let server = Running::start();
    let mut client = server.greet().await;
    let answer = client.call(1, "panic", json!({})).await;
    assert_eq!(error(&answer), (-32005, "unavailable", "the daemon failed at this request"));
    client.call(2, "echo", json!({})).await;
}

#[tokio::test]
async fn a_result_longer_than_a_message_becomes_too_large() {
    let server = Running::start();
    let mut client = server.greet().await;
    let answer = client.call(1, "long", json!({})).await;
    assert_eq!(
        error(&answer),
        (-32006, "too_large", "the result is longer than a message may be (4194304 bytes)")
    );
    client.call(2, "echo", json!({})).await;
}

#[tokio::test]
async fn a_dropped_connection_cancels_nothing() {
    let server = Running::start();
    let mut client = server.greet().await;
    let number = client.number().await;
    client.send(2, "wait", json!({})).await;
    client.call(3, "echo", json!({})).await;
    drop(client);
    server.until_gone(number).await;
    let mut finished = server.script.finished.subscribe();
    server.script.gate.add_permits(1);
    soon("the call's end", finished.wait_for(|count| *count == 1)).await.unwrap();
}

#[tokio::test]
async fn a_shutdown_refuses_new_requests_and_waits_for_those_in_flight() {
    let server = Running::start();
    let mut idle = server.greet().await;
    let mut client = server.greet().await;
    client.send(1, "wait", json!({})).await;
    client.call(2, "echo", json!({})).await;

    server.shutdown.send_replace(true);
    let answer = client.call(3, "echo", json!({})).await;
    assert_eq!(error(&answer), (-32007, "shutting_down", "the daemon is shutting down"));
    client.call(4, "tools.cancel", json!({})).await;
    assert_eq!(idle.next().await, None, "nothing is in flight there");
    let removed = async {
        while server.paths.client.exists() || server.paths.control.exists() {
            tokio::task::yield_now().await;
        }
    };
    soon("the end of the names", removed).await;

    server.script.gate.add_permits(1);
    assert_eq!(client.next().await.unwrap()["result"], json!({"waited": {}, "open": true}));
    assert_eq!(client.next().await, None);

    let locks = soon("the server's end", server.served).await.unwrap();
    assert!(
        Server::bind(&server.paths, HandedOver::default()).is_err(),
        "the locks are still held"
    );
    drop(locks);
    drop(Server::bind(&server.paths, HandedOver::default()).unwrap());
    drop(server.folder);
}

#[tokio::test]
async fn a_dropped_shutdown_sender_ends_the_server() {
    let server = Running::with(limits(|_| ()), Supervisor(None));
    let mut client = server.greet().await;
    let Running { shutdown, served, folder, .. } = server;
    drop(shutdown);
    assert_eq!(client.next().await, None);
    drop(soon("the server's end", served).await.unwrap());
    drop(folder);
}
