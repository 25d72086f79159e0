//! `brattice attach` on a terminal: driven in tmux key by key, and compared by whole screens once they show what is waited for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod approvals;
mod daemon;
mod hostile;
mod lists;
mod output;
mod questions;
mod restored;
mod terminal;

use brattice_tests::{Session, World};
use serde_json::json;

use terminal::Terminal;

/// A session with a name, in `$WS`.
fn named(world: &World, label: &str) -> Session {
    world.session("workspace-write").with("label", json!(label)).open()
}

/// Starts a task in it, and gives its id.
fn start(session: &Session, command: &str) -> String {
    let started = session.request("task.start", json!({"command": command})).unwrap();
    started["task"].as_str().unwrap().to_owned()
}

/// The view of a world, 80 columns wide and 24 lines high.
fn attached(world: &World) -> Terminal {
    Terminal::showing(world, &[], 80, 24)
}
