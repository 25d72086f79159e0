//! Recorded messages that must parse for ever: each file in `golden/` holds one request, or one result with the method
//! that it answers.

use std::fs;
use std::path::Path;

use brattice_protocol::approval::{
    ApprovalAnswer, ApprovalList, ApprovalRequest, ApprovalSettled, RespondParams,
};
use brattice_protocol::audit::{Line, Tail, TailParams};
use brattice_protocol::codec::decode;
use brattice_protocol::events::{EventNotice, WatchParams, Watching};
use brattice_protocol::files::{FileRead, FilesChanged, FilesRefused, Matches};
use brattice_protocol::hello::{Hello, HelloParams};
use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::plan::{PlanAnswer, PlanRequest};
use brattice_protocol::policy::{ExplainParams, Explanation, Policy, ShowParams};
use brattice_protocol::question::{
    QuestionAnswer, QuestionFacts, QuestionList, QuestionRequest, QuestionRespond, QuestionSettled,
};
use brattice_protocol::session::{
    OpenParams, Session, SessionChanged, SessionParams, SessionSummary, Turn, UpdateParams,
};
use brattice_protocol::skill::SkillRead;
use brattice_protocol::status::{DaemonStatus, Reloaded, ShutdownParams};
use brattice_protocol::task::{
    Empty, InputParams, KillParams, Output, OutputParams, ResizeParams, StartParams, Started,
    TaskFinished, TaskListParams, TaskStarted, TaskSummary, WaitParams, Waited,
};
use brattice_protocol::todo::{TodoChanged, TodoCounts, TodoList};
use brattice_protocol::tools::{
    CallFinished, CallOutput, CallParams, CallResult, CallStarted, CancelParams, ListParams,
    ToolList, ToolsChanged,
};
use brattice_protocol::{Message, Request, RpcError};
use serde_json::{Value, json};

/// Reads a value as a type and writes it again.
fn through<T: serde::Serialize + serde::de::DeserializeOwned>(
    value: Value,
) -> Result<Value, serde_json::Error> {
    serde_json::to_value(serde_json::from_value::<T>(value)?)
}

fn params(method: &str, value: Value) -> Result<Value, serde_json::Error> {
    match method {
        "hello" => through::<HelloParams>(value),
        "session.open" => through::<OpenParams>(value),
        "session.resume" | "session.close" | "session.turn" | "todo.list" => {
            through::<SessionParams>(value)
        }
        "session.update" => through::<UpdateParams>(value),
        "session.list" | "daemon.status" | "daemon.reload" | "approval.list" | "question.list" => {
            through::<Empty>(value)
        }
        "tools.list" => through::<ListParams>(value),
        "tools.call" => through::<CallParams>(value),
        "tools.cancel" => through::<CancelParams>(value),
        "task.start" => through::<StartParams>(value),
        "task.output" => through::<OutputParams>(value),
        "task.wait" => through::<WaitParams>(value),
        "task.kill" => through::<KillParams>(value),
        "task.input" => through::<InputParams>(value),
        "task.list" => through::<TaskListParams>(value),
        "task.resize" => through::<ResizeParams>(value),
        "task.started" => through::<TaskStarted>(value),
        "task.finished" => through::<TaskFinished>(value),
        "policy.explain" => through::<ExplainParams>(value),
        "policy.show" => through::<ShowParams>(value),
        "audit.tail" => through::<TailParams>(value),
        "approval.request" | "approval.pending" => through::<ApprovalRequest>(value),
        "approval.respond" => through::<RespondParams>(value),
        "approval.settled" => through::<ApprovalSettled>(value),
        "question.request" | "question.pending" => through::<QuestionRequest>(value),
        "question.respond" => through::<QuestionRespond>(value),
        "question.settled" => through::<QuestionSettled>(value),
        "plan.request" | "plan.pending" => through::<PlanRequest>(value),
        "todo.changed" => through::<TodoChanged>(value),
        "tools.changed" => through::<ToolsChanged>(value),
        "session.changed" => through::<SessionChanged>(value),
        "events.watch" => through::<WatchParams>(value),
        "event" => through::<EventNotice>(value),
        "daemon.shutdown" => through::<ShutdownParams>(value),
        "call.started" => through::<CallStarted>(value),
        "call.output" => through::<CallOutput>(value),
        "call.finished" => through::<CallFinished>(value),
        other => panic!("a golden message of an unknown method {other:?}"),
    }
}

fn result(method: &str, value: Value) -> Result<Value, serde_json::Error> {
    match method {
        "hello" => through::<Hello>(value),
        "session.open" | "session.resume" | "session.update" => through::<Session>(value),
        "session.list" => through::<Vec<SessionSummary>>(value),
        "session.turn" => through::<Turn>(value),
        "tools.list" => through::<ToolList>(value),
        "tools.call" => {
            structured(value["structuredContent"].clone())?;
            through::<CallResult>(value)
        }
        "task.start" => through::<Started>(value),
        "task.output" => through::<Output>(value),
        "task.wait" => through::<Waited>(value),
        "task.list" => through::<Vec<TaskSummary>>(value),
        "policy.explain" => through::<Explanation>(value),
        "policy.show" => through::<Policy>(value),
        "audit.tail" => {
            through::<Vec<Line>>(value["lines"].clone())?;
            through::<Tail>(value)
        }
        "approval.request" => through::<ApprovalAnswer>(value),
        "approval.list" => through::<ApprovalList>(value),
        "approval.respond" => through::<ApprovalSettled>(value),
        "question.request" => through::<QuestionAnswer>(value),
        "question.list" => through::<QuestionList>(value),
        "question.respond" => through::<QuestionSettled>(value),
        "plan.request" => through::<PlanAnswer>(value),
        "todo.list" => through::<TodoList>(value),
        "events.watch" => through::<Watching>(value),
        "daemon.status" => through::<DaemonStatus>(value),
        "daemon.reload" => through::<Reloaded>(value),
        "error" => through::<RpcError>(value),
        other => panic!("a golden result of an unknown method {other:?}"),
    }
}

/// The facts of a tool's result, told apart by what only one kind of them has.
fn structured(facts: Value) -> Result<Value, serde_json::Error> {
    let has = |key: &str| facts.get(key).is_some();
    let read = if has("cause") {
        through::<CommandOutcome>(facts.clone())
    } else if has("files") {
        through::<FilesChanged>(facts.clone())
    } else if has("matches") {
        through::<Matches>(facts.clone())
    } else if has("question") {
        through::<QuestionFacts>(facts.clone())
    } else if has("folder") {
        through::<SkillRead>(facts.clone())
    } else if has("in_progress") {
        through::<TodoCounts>(facts.clone())
    } else if has("denials") {
        through::<FilesRefused>(facts.clone())
    } else {
        through::<FileRead>(facts.clone())
    }?;
    assert!(holds(&read, &facts), "the facts lost something: {read}");
    Ok(read)
}

#[test]
fn recorded_messages_parse_and_lose_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/golden");
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let recorded: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let method = recorded["method"].as_str().unwrap();
        let (read, value) = match recorded.get("result") {
            Some(value) => (result(method, value.clone()), value.clone()),
            None => {
                let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": recorded["params"]}).to_string();
                let decoded = decode(line.as_bytes()).unwrap();
                let Message::Request(Request { params: value, .. }) = decoded else {
                    panic!("{decoded:?}")
                };
                (params(method, value.clone()), value)
            }
        };
        let again = read.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(holds(&again, &value), "{} lost something: {again}", path.display());
        seen += 1;
    }
    assert!(seen >= 40, "only {seen} golden messages were found");
}

/// Whether all that is in the second is in the first, too, which may have defaults besides.
fn holds(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            part.iter().all(|(key, value)| whole.get(key).is_some_and(|other| holds(other, value)))
        }
        (Value::Array(whole), Value::Array(part)) => {
            whole.len() == part.len()
                && whole.iter().zip(part).all(|(whole, part)| holds(whole, part))
        }
        (whole, part) => whole == part,
    }
}
