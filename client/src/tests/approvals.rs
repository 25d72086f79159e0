//! Questions of the daemon: taken and answered, dropped, and declined where nobody declared to answer.

use brattice_protocol::approval::{ApprovalAnswer, ApprovalChoice, ApprovalRequest};
use brattice_protocol::{ApprovalId, CallId, Message, Mode, Response, RpcError, SessionId};
use serde_json::{Value, json};

use super::peer::{Daemon, Folder};
use crate::approvals::CAPACITY;
use crate::{Client, ConnectOptions};

fn request(id: &str) -> ApprovalRequest {
    ApprovalRequest {
        id: ApprovalId::new(id),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        tool: "bash".to_owned(),
        title: "make".to_owned(),
        kind: "execute".to_owned(),
        command: Some("make".to_owned()),
        diff: Vec::new(),
        workdir: "/ws".to_owned(),
        from: Mode::ReadOnly,
        to: Mode::WorkspaceWrite,
        rule: None,
        justification: None,
        denials: Vec::new(),
        options: Vec::new(),
        expires: 1,
    }
}

async fn connected(options: ConnectOptions) -> (Folder, Client, Daemon) {
    let folder = Folder::new();
    let socket = folder.join("s");
    let listener = Daemon::listen(&socket);
    let (client, daemon) =
        tokio::join!(Client::connect(&socket, options), Daemon::greet(&listener));
    (folder, client.unwrap(), daemon)
}

async fn ask(daemon: &mut Daemon, id: i64, params: Value) {
    let line = json!({"jsonrpc": "2.0", "id": id, "method": "approval.request", "params": params});
    daemon.say(&line.to_string()).await;
}

async fn outcome(daemon: &mut Daemon) -> Result<Value, RpcError> {
    match daemon.message().await {
        Message::Response(Response { outcome, .. }) => outcome,
        other => panic!("expected a response, got {other:?}"),
    }
}

fn options() -> ConnectOptions {
    ConnectOptions::new("test", "1")
}

#[tokio::test]
async fn a_question_is_answered_once_and_a_dropped_one_is_cancelled() {
    let (_folder, client, mut daemon) = connected(options().answering_approvals()).await;
    let mut approvals = client.approvals().unwrap();
    assert!(client.approvals().is_none(), "each question has one answer");
    ask(&mut daemon, 7, json!(request("one"))).await;
    let question = approvals.next().await.unwrap();
    assert_eq!(question.request, request("one"));
    let option = ApprovalChoice::RejectOnce;
    question.answer(&ApprovalAnswer::Selected { option, reason: Some("no".to_owned()) }).await;
    assert_eq!(
        outcome(&mut daemon).await,
        Ok(json!({"outcome": "selected", "option": "reject_once", "reason": "no"}))
    );
    ask(&mut daemon, 8, json!(request("two"))).await;
    drop(approvals.next().await.unwrap());
    assert_eq!(outcome(&mut daemon).await, Ok(json!({"outcome": "cancelled"})));
}

#[tokio::test]
async fn what_nobody_takes_or_can_be_read_is_declined() {
    let (_folder, _client, mut daemon) = connected(options()).await;
    ask(&mut daemon, 1, json!(request("one"))).await;
    let error = outcome(&mut daemon).await.unwrap_err();
    assert_eq!(error.message, "nobody takes this client's questions");
    let (_folder, client, mut daemon) = connected(options().answering_approvals()).await;
    ask(&mut daemon, 1, json!({"id": 7})).await;
    assert!(outcome(&mut daemon).await.is_err());
    for id in 0..=CAPACITY {
        ask(&mut daemon, i64::try_from(id).unwrap(), json!(request("more"))).await;
    }
    let error = outcome(&mut daemon).await.unwrap_err();
    assert_eq!(error.message, "nobody takes this client's questions");
    drop(client);
}
