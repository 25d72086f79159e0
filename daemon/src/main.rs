//! `bratticed`: the daemon, and under hidden roles the processes that it starts of itself.
//!
//! ```text
//!  bratticed             the control plane: sockets, sessions, tools          run
//!  bratticed supervise   a session's data plane: pipes, spools, timers        exec
//!  bratticed launch      sets up a mode once and starts its commands          exec
//!  bratticed files       works on files for a session, confined               files
//!  bratticed web         fetches pages for a session, confined                web
//!  bratticed page        fetches and reads one of them                        web
//! ```
//!
//! The hidden roles are told apart before anything else happens: they fork, and a launcher sets up its confinement while
//! it has one thread, so no runtime and no other thread may exist by then. What a command line means is `arguments`'
//! part.

mod approval;
mod arguments;
mod audit;
mod configuration;
mod exec;
mod fault;
mod files;
mod line;
mod lock;
mod logging;
mod methods;
mod question;
mod ready;
mod regular;
mod reload;
mod run;
mod server;
mod session;
mod signals;
mod socket;
mod state;
mod tools;
mod toolset;
mod web;
mod workers;

use std::process::ExitCode;

fn main() -> ExitCode {
    let role = std::env::args_os().nth(1);
    match role.as_ref().and_then(|role| role.to_str()) {
        Some("supervise") => exec::supervisor_main(),
        Some("launch") => exec::launcher_main(),
        Some("files") => files::worker_main(),
        Some("web") => web::worker_main(),
        Some("page") => web::page_main(),
        _ => run::main(),
    }
}
