//! `tools.call` from its admission to its result.
//!
//! ```text
//!  call ──admit──► known: wait for the first one's result
//!    │ new
//!    ├─ bash ── arguments ─ start ─ follow ─ tails ─ render
//!    │             └──── a fault is a result ────────┘
//!    │                              │ cancel ► the whole tree is stopped
//!    │                              └ watch  ► call.output
//!    ├──► call.started … call.finished
//!    └──► the ledger, and the answer
//! ```
//!
//! A call runs to its end whether or not its client is still there; the ledger keeps its result. Words and declarations
//! are the toolset's; what runs and how it ends is the session's and its supervisor's. A supervisor that dies ends the
//! command as `lost`, which is a result like any other.

mod bash;
mod call;
mod watch;

use serde::Serialize;

use crate::server::{Connection, Delivery};

pub(crate) use call::call;

/// Tells a client something about a call.
fn notify(client: &Connection, method: &str, params: &impl Serialize) -> Delivery {
    match serde_json::to_value(params) {
        Ok(params) => client.notify(method, params),
        Err(error) => {
            tracing::error!(method, %error, "a notification cannot be written");
            Delivery::Dropped
        }
    }
}
