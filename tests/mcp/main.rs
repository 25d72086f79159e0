//! The MCP bridge: raw frames of both eras, approvals, questions and plans by way of MCP, clients that are slow, dead or lie, and real clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod approvals;
mod calls;
mod clients;
mod conformance;
mod eras;
mod forms;
mod hostile;
mod lives;
mod peer;
mod resources;

use brattice_tests::{World, WorldBuilder};
use serde_json::{Value, json};

/// A world in which calls may ask without a ground, and this is said of MCP clients.
fn trusting(trust: bool) -> WorldBuilder {
    World::builder().configured(&format!(
        "[session]\nescalation = \"any\"\n[mcp]\ntrust_elicitation = {trust}\n"
    ))
}

/// A call of `bash`.
fn bash(command: &str) -> Value {
    json!({"name": "bash", "arguments": {"command": command, "description": "A test's command"}})
}

/// The same that asks for full access.
fn asking(command: &str) -> Value {
    json!({"name": "bash", "arguments": {
        "command": command, "description": "A test's command",
        "sandbox_permissions": "danger-full-access", "justification": "the test wants it",
    }})
}
