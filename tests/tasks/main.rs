//! The tools for background tasks: `run_in_background`, `task_output`, `task_kill`, `task_list`, `task_input`, and what
//! becomes of processes that a call leaves running. What survives whom is the target `background`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configured;
mod hostile;
mod input;
mod leftovers;
mod reads;
mod states;
mod terminals;

use brattice_protocol::TaskId;
use brattice_tests::{Reply, Session};
use serde_json::{Value, json};

/// Calls a tool.
#[track_caller]
fn tool(session: &Session, name: &str, arguments: Value) -> Reply {
    session.end(session.begin_call(json!({"name": name, "arguments": arguments})))
}

/// Starts a background task, given whole arguments of `bash`.
#[track_caller]
fn start_with(session: &Session, mut arguments: Value) -> TaskId {
    arguments["run_in_background"] = json!(true);
    let reply = session.bash(arguments);
    assert!(!reply.is_error(), "{}", reply.text());
    // Ends of other tasks may be told after it.
    let text = reply.text();
    let line = text.lines().next().unwrap_or_default();
    TaskId::new(line.strip_prefix("started background task ").expect("it says which task it is"))
}

/// Starts a background task.
#[track_caller]
fn start(session: &Session, command: &str) -> TaskId {
    start_with(session, json!({"command": command}))
}

/// What is new of a task.
#[track_caller]
fn read(session: &Session, task: &TaskId) -> String {
    tool(session, "task_output", json!({"task_id": task})).text()
}

/// The same, once it has ended.
#[track_caller]
fn read_end(session: &Session, task: &TaskId) -> String {
    let arguments = json!({"task_id": task, "wait": true, "timeout_ms": 600_000});
    tool(session, "task_output", arguments).text()
}

/// A task's line of `task_list`.
#[track_caller]
fn line(session: &Session, task: &TaskId) -> String {
    let list = tool(session, "task_list", json!({})).text();
    let start = format!("{task} [bash] ");
    let found = list.lines().find_map(|line| line.strip_prefix(&start));
    found.unwrap_or_else(|| panic!("{task} is in no line of {list:?}")).to_owned()
}
