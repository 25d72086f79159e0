//! The MCP bridge: one MCP client on one side, one session of the daemon's on the other.
//!
//! ```text
//!  MCP client ─lines─► transport ──► rmcp ──► server ──► call ────tools.call──────► client library ──► daemon
//!      ▲        bounds on frames,       │        │        ▲ ▲                             │
//!      │        requests, writes        │        │        │ └── routes ◄── output, questions ┘
//!      └────────────────────────────────┘        │        └── question, elicit: a question as a form, a form as an answer
//!                                                └──► resources: output of tasks
//! ```
//!
//! The bridge decides nothing about what may run, and none of its tools grants anything: approvals are the daemon's, which takes
//! an MCP client's word for a person's only where its configuration says so.
//!
//! | dies | then |
//! |---|---|
//! | the MCP client, or it closes its end | calls that run are cancelled; the session is closed, unless background tasks run in it: those go on for `detached_ttl` |
//! | the bridge, killed | the same, less the cancelling: a call's command goes on to its end |
//! | the daemon | calls that run are answered so; the next one finds, or starts, the next daemon and takes the session up again |

mod bridge;
mod call;
mod elicit;
mod link;
mod progress;
mod question;
mod resources;
mod routes;
mod server;
mod suspended;
mod tail;
mod transport;

pub use bridge::{Bridge, Opened};
pub use link::{Absent, BridgeError, Place};
pub use server::Handler;
pub use transport::{Ended, Transport};
