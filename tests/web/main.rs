//! The tool that fetches pages, against servers on this machine that the configuration allows by their ports.
//!
//! Which addresses are refused and what becomes of a page is tested beside the engine, in `web/`; here it is what a session
//! tells, what it refuses to connect to, what it costs, and what is left when a process dies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bodies;
mod charsets;
mod declared;
mod ends;
mod redirects;
mod results;
mod server;
mod tls;
mod worker;

use brattice_tests::{Pending, Process, Reply, Session, World, eventually};
use serde_json::{Value, json};

use server::Server;

/// A world whose sessions may fetch from these servers.
fn world(servers: &[&Server]) -> World {
    let pairs: Vec<String> =
        servers.iter().map(|server| format!("\"127.0.0.1:{}\"", server.port)).collect();
    let text = format!("[tools]\nweb_allow = [{}]\n", pairs.join(", "));
    World::builder().configured(&text).start()
}

fn begin(session: &Session, call: &str, urls: &[String]) -> Pending {
    session.begin_call(json!({"name": "web_fetch", "call": call, "arguments": {"urls": urls}}))
}

/// Fetches pages.
#[track_caller]
fn fetch(session: &Session, urls: &[String]) -> Reply {
    let arguments = json!({"urls": urls});
    session.call("web_fetch", arguments)
}

/// The pages of a result as data.
fn pages(reply: &Reply) -> Vec<Value> {
    reply.result.structured_content["pages"].as_array().unwrap().clone()
}

/// The processes of a role below a session's supervisor.
fn processes(world: &World, session: &Session, role: &str) -> Vec<Process> {
    Process::in_role(world.supervisor(session.id()).pid, role)
}

/// The process of a page, once one is being fetched.
#[track_caller]
fn fetching(world: &World, session: &Session) -> Process {
    eventually("the page is being fetched", || processes(world, session, "page").into_iter().next())
}
