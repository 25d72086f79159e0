//! `tools.call` from its admission to its result.
//!
//! ```text
//!  call ──admit──► known: wait for the first one's result
//!    │ new
//!    ├─ read, write, edit, grep, glob, skills ── arguments ─ the session's file worker ─ render
//!    ├─ questions, a plan ── arguments ─ a person answers ─ render       the to-do list ── arguments ─ render
//!    ├─ bash ── arguments ─ (escalate: a person may be asked) ─ start ─ follow ─ tails ─ render
//!    │             └──── a fault is a result ────────┘
//!    │                              │ cancel ► the whole tree is stopped
//!    │                              └ watch  ► call.output
//!    ├──► call.started … call.finished
//!    └──► the ledger, and the answer
//! ```
//!
//! A call runs to its end whether or not its client is still there; the ledger keeps its result. Words and declarations
//! are the toolset's; what runs and how it ends is the session's and its supervisor's. A supervisor that dies ends the
//! command as `lost`, which is a result like any other; so is a session that cannot take a command just then, but such a
//! call is not kept: sent again, it may run.

mod bash;
mod call;
mod escalate;
mod files;
mod news;
mod people;
mod search;
mod skills;
mod tasks;
mod watch;
mod work;

pub(crate) use call::call;
