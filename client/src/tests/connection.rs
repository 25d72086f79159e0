//! Requests, answers, ends and notifications of one connection.

use brattice_protocol::hello::Watch;
use brattice_protocol::task::{TaskFinished, TaskKind, TaskStarted};
use brattice_protocol::tools::{CallFinished, CallStatus};
use brattice_protocol::{
    CallId, ErrorCode, Message, Notification, Response, RpcError, SessionId, TaskId,
};
use serde_json::{Value, json};
use tokio::net::UnixListener;

use super::peer::{Daemon, Folder, hello};
use crate::notifications::CAPACITY;
use crate::{Client, ClientError, ConnectOptions, Notice};

fn options() -> ConnectOptions {
    ConnectOptions::new("test", "1")
}

async fn connected() -> (Folder, Client, Daemon) {
    let folder = Folder::new();
    let socket = folder.join("s");
    let listener: UnixListener = Daemon::listen(&socket);
    let (client, daemon) =
        tokio::join!(Client::connect(&socket, options()), Daemon::greet(&listener));
    (folder, client.unwrap(), daemon)
}

async fn echo(client: &Client, value: i64) -> Result<Value, ClientError> {
    client.request("echo", &json!({"value": value})).await
}

#[tokio::test]
async fn hello_says_who_connects_and_keeps_the_answer() {
    let folder = Folder::new();
    let socket = folder.join("s");
    let listener = Daemon::listen(&socket);
    let serve = async {
        let mut daemon = Daemon::accept(&listener).await;
        let request = daemon.request().await;
        daemon.answer(&request, serde_json::to_value(hello()).unwrap()).await;
        request
    };
    let (client, request) =
        tokio::join!(Client::connect(&socket, options().watching([Watch::Output])), serve);
    assert_eq!(*client.unwrap().hello(), hello());
    assert_eq!(request.method, "hello");
    assert_eq!(
        request.params,
        json!({"protocol": 1, "client": {"name": "test", "version": "1"}, "watch": ["output"]})
    );
}

#[tokio::test]
async fn answers_find_their_requests_in_any_order() {
    let (_folder, client, mut daemon) = connected().await;
    let serve = async {
        let (first, second) = (daemon.request().await, daemon.request().await);
        daemon.answer(&second, second.params.clone()).await;
        daemon.answer(&first, first.params.clone()).await;
    };
    let (first, second, ()) = tokio::join!(echo(&client, 1), echo(&client, 2), serve);
    assert_eq!((first.unwrap(), second.unwrap()), (json!({"value": 1}), json!({"value": 2})));
}

#[tokio::test]
async fn an_error_keeps_its_code_and_hint_and_the_connection_goes_on() {
    let (_folder, client, mut daemon) = connected().await;
    let refusal = RpcError::new(ErrorCode::Refused, "no such mode").hint("use read-only");
    let serve = async {
        let request = daemon.request().await;
        let line = json!({"jsonrpc": "2.0", "id": request.id, "error": refusal}).to_string();
        daemon.say(&line).await;
        let request = daemon.request().await;
        daemon.answer(&request, json!(true)).await;
    };
    let (outcomes, ()) =
        tokio::join!(async { (echo(&client, 1).await, echo(&client, 2).await) }, serve);
    let error = outcomes.0.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.hint()), ("no such mode", Some("use read-only")));
    assert!(matches!(error, ClientError::Rpc(error) if error == refusal));
    assert_eq!(outcomes.1.unwrap(), json!(true));
}

#[tokio::test]
async fn a_closed_connection_fails_the_requests_that_wait_and_all_later_ones() {
    let (_folder, client, mut daemon) = connected().await;
    let serve = async {
        daemon.request().await;
        drop(daemon);
    };
    let (outcome, ()) = tokio::join!(echo(&client, 1), serve);
    assert!(matches!(outcome, Err(ClientError::Closed)), "{outcome:?}");
    let outcome = echo(&client, 2).await;
    assert!(matches!(outcome, Err(ClientError::Closed)), "{outcome:?}");
    assert_eq!(client.notifications().next().await, None);
}

#[tokio::test]
async fn a_refused_connection_says_why() {
    let folder = Folder::new();
    let socket = folder.join("s");
    let listener = Daemon::listen(&socket);
    let refusal = RpcError::new(ErrorCode::Refused, "peer is inside a sandbox");
    let serve = async {
        let mut daemon = Daemon::accept(&listener).await;
        daemon.say(&json!({"jsonrpc": "2.0", "id": null, "error": refusal}).to_string()).await;
    };
    let (outcome, ()) = tokio::join!(Client::connect(&socket, options()), serve);
    assert!(
        matches!(&outcome, Err(ClientError::Refused(error)) if *error == refusal),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_line_that_is_no_message_ends_the_connection() {
    let (_folder, client, mut daemon) = connected().await;
    let (outcome, ()) = tokio::join!(echo(&client, 1), daemon.say("{"));
    assert!(matches!(outcome, Err(ClientError::Undecodable(_))), "{outcome:?}");
}

#[tokio::test]
async fn nobody_at_the_socket_is_an_absent_daemon() {
    let folder = Folder::new();
    let error = Client::connect(&folder.join("s"), options()).await.unwrap_err();
    assert!(error.is_absent_daemon());
    let stale = folder.join("stale");
    drop(Daemon::listen(&stale));
    assert!(Client::connect(&stale, options()).await.unwrap_err().is_absent_daemon());
}

#[tokio::test]
async fn a_request_that_no_daemon_would_read_is_not_sent() {
    let (_folder, client, _daemon) = connected().await;
    let outcome: Result<Value, _> = client.request("echo", &"x".repeat(4 << 20)).await;
    assert!(matches!(outcome, Err(ClientError::TooLarge { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_slow_subscriber_loses_the_oldest_and_learns_how_many() {
    let (_folder, client, mut daemon) = connected().await;
    let mut notices = client.notifications();
    let sent = CAPACITY as u64 + 3;
    let serve = async {
        for number in 0..sent {
            let told = json!({"jsonrpc": "2.0", "method": "tick", "params": {"number": number}});
            daemon.say(&told.to_string()).await;
        }
        let request = daemon.request().await;
        daemon.answer(&request, json!(true)).await;
    };
    // The answer comes although nobody reads the notices, and after it all of them have arrived.
    let (answer, ()) = tokio::join!(echo(&client, 1), serve);
    assert_eq!(answer.unwrap(), json!(true));
    assert_eq!(notices.next().await, Some(Notice::Skipped(3)));
    for number in 3..sent {
        let told = Notification { method: "tick".into(), params: json!({"number": number}) };
        assert_eq!(notices.next().await, Some(Notice::Other(told)));
    }
}

#[tokio::test]
async fn known_notifications_are_typed() {
    let (_folder, client, mut daemon) = connected().await;
    let mut notices = client.notifications();
    let call = CallFinished {
        session: SessionId::new("s"),
        call: CallId::new("c"),
        status: CallStatus::Completed,
    };
    let started = TaskStarted {
        session: SessionId::new("s"),
        task: TaskId::new("bash-1"),
        kind: TaskKind::Bash,
        command: "make".into(),
    };
    let finished: TaskFinished = serde_json::from_value(json!({
        "session": "s", "task": "bash-1", "status": "completed",
        "outcome": {
            "cause": "exited", "exit_code": 0, "signal": null, "duration_ms": 1, "user_ms": 0,
            "sys_ms": 0, "max_rss_bytes": 0, "stdout": {"bytes": 0, "shown": [0, 0]}, "stderr": null,
            "sandbox": {"mode": "read-only", "landlock_abi": 7, "layers": []},
        },
    }))
    .unwrap();
    let told = [
        ("call.finished", json!(call), Notice::CallFinished(call)),
        ("task.started", json!(started), Notice::TaskStarted(started)),
        ("task.finished", json!(finished), Notice::TaskFinished(Box::new(finished))),
    ];
    for (method, params, notice) in told {
        let line = json!({"jsonrpc": "2.0", "method": method, "params": params});
        daemon.say(&line.to_string()).await;
        assert_eq!(notices.next().await, Some(notice));
    }
}

#[test]
fn a_connection_is_lost_with_its_daemon_and_not_with_a_refusal() {
    let rpc = |code| RpcError::new(code, "");
    let cases = [
        (ClientError::Closed, true),
        (ClientError::Rpc(rpc(ErrorCode::ShuttingDown)), true),
        (ClientError::Refused(rpc(ErrorCode::ShuttingDown)), true),
        (ClientError::Rpc(rpc(ErrorCode::UnknownTask)), false),
        (ClientError::Refused(rpc(ErrorCode::Refused)), false),
        (ClientError::Protocol { theirs: 2 }, false),
    ];
    for (error, expected) in cases {
        assert_eq!(error.is_lost(), expected, "{error:?}");
    }
}

#[tokio::test]
async fn a_question_is_declined() {
    let (_folder, _client, mut daemon) = connected().await;
    daemon.say(r#"{"jsonrpc":"2.0","id":"q","method":"dialog.request"}"#).await;
    match daemon.message().await {
        Message::Response(Response { outcome: Err(error), .. }) => {
            assert_eq!(error.code, RpcError::METHOD_NOT_FOUND);
            assert_eq!(error.message, "this client answers no dialog.request");
        }
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[tokio::test]
async fn dropping_the_last_client_closes_the_connection() {
    let (_folder, client, mut daemon) = connected().await;
    let clone = client.clone();
    drop(client);
    let (answer, ()) = tokio::join!(echo(&clone, 1), async {
        let request = daemon.request().await;
        daemon.answer(&request, json!(true)).await;
    });
    answer.unwrap();
    drop(clone);
    daemon.ends().await;
}
