//! The tools that read, change and search files, as a client uses them.
//!
//! What the engines do with contents is tested beside them; here it is what a session shows of it, what must have been read, what the
//! sandbox refuses, and what is left when a process dies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod calls;
mod changed;
mod denied;
mod dsh;
mod edits;
mod escalated;
mod kit_edits;
mod kit_reads;
mod links;
mod reads;
mod recovery;
mod search;
mod writes;

use brattice_tests::{Opening, Reply, Session, World};
use serde_json::{Value, json};

/// What is said of a way out to this mode.
fn hint(mode: &str) -> String {
    format!(
        "[sandbox: to ask, repeat this call once with sandbox_permissions \"{mode}\" and justification]"
    )
}

/// Calls a tool.
#[track_caller]
fn call(session: &Session, tool: &str, arguments: Value) -> Reply {
    session.call(tool, arguments)
}

/// Reads a file and asserts that it could be.
#[track_caller]
fn read(session: &Session, path: &str) -> Reply {
    let reply = call(session, "read", json!({"file_path": path}));
    assert!(!reply.is_error(), "{}", reply.text());
    reply
}

#[track_caller]
fn edit(session: &Session, path: &str, old: &str, new: &str) -> Reply {
    call(session, "edit", json!({"file_path": path, "old_string": old, "new_string": new}))
}

#[track_caller]
fn write(session: &Session, path: &str, content: &str) -> Reply {
    call(session, "write", json!({"file_path": path, "content": content}))
}

/// Asserts that a call failed as one, with this text.
#[track_caller]
fn fails(reply: &Reply, text: &str) {
    assert_eq!((reply.text().as_str(), reply.is_error()), (text, true));
}

/// A session that may write to the workspace.
fn opening(world: &World) -> Opening {
    world.session("workspace-write")
}

/// A file of the workspace.
fn content(world: &World, name: &str) -> Vec<u8> {
    std::fs::read(world.ws().join(name)).unwrap()
}

/// The names in the workspace, sorted.
fn names(world: &World) -> Vec<String> {
    let entries = std::fs::read_dir(world.ws()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
