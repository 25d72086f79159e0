//! What a session has to do with people: plan mode, questions, plans, and the to-do list.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod cli;
mod planning;
mod plans;
mod questions;
mod skills;
mod todos;
mod wire;

use brattice_tests::{Opening, Reply, Session, World};
use serde_json::{Value, json};

/// The toolsets.
const TOOLSETS: [&str; 4] = ["standard", "dsh", "glrs", "minimal"];

/// A session of a toolset that is to be opened.
fn opening(world: &World, toolset: &str) -> Opening {
    world.session("workspace-write").with("toolset", json!(toolset))
}

/// Calls a tool.
#[track_caller]
fn call(session: &Session, tool: &str, arguments: Value) -> Reply {
    session.call(tool, arguments)
}

/// The tools that a session declares, by name.
fn tools(session: &Session) -> Vec<String> {
    let listed = session.request("tools.list", json!({})).unwrap();
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    listed["tools"].as_array().unwrap().iter().map(name).collect()
}

/// Whether it declares this one.
fn declares(session: &Session, tool: &str) -> bool {
    tools(session).iter().any(|name| name == tool)
}
