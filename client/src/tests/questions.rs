//! Questions and plans that the daemon asks: answered, dropped, and declined where nobody declared to answer.

use brattice_protocol::plan::{PlanAnswer, PlanDecision};
use brattice_protocol::question::{Answer, QuestionAnswer};
use brattice_protocol::{ErrorCode, Message, Response, RpcError};
use serde_json::{Value, json};

use super::peer::{Daemon, Folder};
use crate::{Client, ConnectOptions, Inquiry};

async fn connected(options: ConnectOptions) -> (Folder, Client, Daemon) {
    let folder = Folder::new();
    let socket = folder.join("s");
    let listener = Daemon::listen(&socket);
    let (client, daemon) =
        tokio::join!(Client::connect(&socket, options), Daemon::greet(&listener));
    (folder, client.unwrap(), daemon)
}

fn options() -> ConnectOptions {
    ConnectOptions::new("test", "1")
}

async fn ask(daemon: &mut Daemon, id: i64, method: &str, params: Value) {
    let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    daemon.say(&line.to_string()).await;
}

async fn outcome(daemon: &mut Daemon) -> Result<Value, RpcError> {
    match daemon.message().await {
        Message::Response(Response { outcome, .. }) => outcome,
        other => panic!("expected a response, got {other:?}"),
    }
}

fn questions() -> Value {
    let asked = json!([{"id": "db", "question": "Which?"}]);
    json!({"id": "q", "session": "s", "call": "c", "questions": asked})
}

fn plan() -> Value {
    json!({"id": "p", "session": "s", "call": "c", "plan": "# Plan"})
}

#[tokio::test]
async fn both_are_answered_once_and_a_dropped_one_is_declined() {
    let (_folder, client, mut daemon) = connected(options().answering_questions()).await;
    let mut asked = client.questions().unwrap();
    assert!(client.questions().is_none(), "each has one answer");
    ask(&mut daemon, 1, "question.request", questions()).await;
    let Some(Inquiry::Questions(pending)) = asked.next().await else { panic!("questions") };
    let own = Some("SQLite".to_owned());
    let answer = Answer { id: "db".to_owned(), selected: Vec::new(), custom: own };
    pending.answer(&QuestionAnswer::Answered(vec![answer])).await;
    let told = json!({"answers": [{"id": "db", "selected": [], "custom": "SQLite"}]});
    assert_eq!(outcome(&mut daemon).await, Ok(told));
    ask(&mut daemon, 2, "plan.request", plan()).await;
    let Some(Inquiry::Plan(pending)) = asked.next().await else { panic!("a plan") };
    let feedback = Some("use y".to_owned());
    pending.answer(&PlanAnswer { decision: PlanDecision::KeepPlanning, feedback }).await;
    let told = json!({"decision": "keep_planning", "feedback": "use y"});
    assert_eq!(outcome(&mut daemon).await, Ok(told));
    ask(&mut daemon, 3, "plan.request", plan()).await;
    drop(asked.next().await);
    assert!(outcome(&mut daemon).await.unwrap_err().is(ErrorCode::Unavailable));
}

#[tokio::test]
async fn what_nobody_takes_or_nobody_can_read_is_declined() {
    let (_folder, client, mut daemon) = connected(options().answering_approvals()).await;
    assert!(client.questions().is_none());
    ask(&mut daemon, 1, "question.request", questions()).await;
    assert!(outcome(&mut daemon).await.unwrap_err().is(ErrorCode::Unavailable));
    ask(&mut daemon, 2, "plan.request", json!({"id": "p"})).await;
    assert!(outcome(&mut daemon).await.unwrap_err().is(ErrorCode::Invalid));
}
