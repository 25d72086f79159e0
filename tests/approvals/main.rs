//! Escalation and approvals: who is asked, what an answer allows, and how a question ends without one.
//!
//! Sessions of these tests may ask without a ground, unless a test is about grounds.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod answers;
mod bounds;
mod cli;
mod endings;
mod grounds;
mod lasting;
mod operators;
mod permits;
mod refusals;

use brattice_tests::{Pending, Session, World, WorldBuilder};
use serde_json::{Value, json};

/// A world whose user has this `[session]` section.
fn configured(session: &str) -> WorldBuilder {
    World::builder().configured(&format!("[session]\n{session}"))
}

/// A world in which calls may ask without a ground.
fn world() -> World {
    configured("escalation = \"any\"\n").start()
}

/// The arguments of a call that asks for a mode.
fn asking(command: &str, mode: &str) -> Value {
    json!({
        "command": command, "description": "A test's command", "sandbox_permissions": mode,
        "justification": "the test wants it",
    })
}

/// Makes such a call and does not wait.
fn ask(session: &Session, command: &str, mode: &str) -> Pending {
    session.begin(asking(command, mode))
}

const DANGER: &str = "danger-full-access";
