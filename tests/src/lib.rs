//! The end-to-end harness: a [`World`] is a throw-away folder with a `bratticed` of its own, a [`Session`] calls tools
//! in it, [`World::native`] runs the same shell text without any confinement.
//!
//! The tests know the daemon by its two binaries, its sockets and its contract, never by its inside. They pass as
//! root and as an ordinary user; a kernel feature that is missing fails them. What a test asserts is order and
//! outcome: limits on time are generous, since tests share the machine with each other.
//!
//! ```text
//! World ── root/ws ($WS)  root/out ($OUT)  root/home ($HOME)  root/state  root/run/b.sock
//!   ├─ Daemon     the process, waited for until READY, ended by its pid; killed and followed by another
//!   ├─ Supervisor one a session, outliving its daemon
//!   ├─ Session    one connection and one session: bash(…) -> Reply
//!   ├─ Kit        a session's tools for files by the names of its toolset
//!   ├─ Operator   one connection to the operators' socket, which is there to answer approvals, or questions and plans
//!   ├─ Wire       one bare connection: lines in, lines out
//!   └─ native(…)  the unconfined twin
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this library runs in tests only: a broken harness ends the test that uses it"
)]

mod binaries;
mod cli;
mod daemon;
mod diff;
mod inquiry;
mod kit;
mod native;
mod notices;
mod operator;
mod process;
mod reply;
mod root;
mod session;
mod supervisor;
mod tasks;
mod until;
mod wire;
mod world;

pub use binaries::{brattice, bratticed, mcp_bridge, mcp_bridge_over_http};
pub use cli::{brattice_in, client, on_a_terminal, pointed};
pub use daemon::Daemon;
pub use diff::diff;
pub use inquiry::{AskedPlan, AskedQuestions, chosen};
pub use kit::{Kit, error_prefix, kit, kits};
pub use native::Native;
pub use operator::{Operator, Question};
pub use process::Process;
pub use reply::Reply;
pub use session::{Opening, Pending, Session};
pub use supervisor::Supervisor;
pub use tasks::bytes;
pub use until::{PATIENCE, eventually, within};
pub use wire::Wire;
pub use world::{CONFINED, World, WorldBuilder};
