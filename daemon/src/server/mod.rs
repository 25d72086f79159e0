//! The daemon's sockets: who is let in, what a conversation may look like, and who answers.
//!
//! ```text
//!  brattice.sock  (Role::Client) ──┐                     ┌── LineReader ──▶ Conversation ──┐
//!  control.sock (Role::Operator) ──┤                     │   4 MiB a line    hello first   │
//!      ▲ names: socket             ▼                     │                                 ▼
//!      │ folders: lock          accept ──▶ peer ──▶ one task a connection        Ticket: one task
//!      │                       256 each    own uid,      │                        a request, 64
//!      │                                   unconfined,   │                                 │
//!      │                                   of no task    └── write_out ◀── Outbox ◀── Handler
//!   Server                                                     30 s      bounded   (notify never waits)
//! ```
//!
//! Who owns what, and what happens when a neighbour dies:
//!
//! | thing | owner | at the end |
//! |---|---|---|
//! | folder locks | `Server`, then whoever called `serve` | let go with the process, however it ends |
//! | socket names | their accept loop | removed if still the own ones; a stale one is replaced by the next daemon; systemd's stay |
//! | a connection | its `Conversation` | `Handler::closed` is told once; calls run on, their answers are dropped |
//! | the queue to a client | the connection's writer | a client that does not read is dropped, its neighbours notice nothing |
//! | a request | its `Ticket` | answered exactly once, `unavailable` when the handler panics |
//!
//! A connection goes connected → ready (`hello`) → closed, with draining between the last two when
//! the daemon shuts down; `conversation` has the drawing. Sessions, tasks and what methods mean
//! are the [`Handler`]'s; which processes are supervisors is the [`Descent`]'s.

mod accept;
mod asked;
mod body;
mod bounds;
mod connection;
mod conversation;
mod handed;
mod handler;
mod limits;
mod lines;
mod lock;
mod outbox;
mod peer;
mod process;
mod serve;
mod socket;
#[cfg(test)]
mod tests;
mod ticket;

pub(crate) use asked::Reply;
pub(crate) use body::Body;
pub(crate) use bounds::{check_opening, check_path};
pub(crate) use connection::{Connection, ConnectionId};
pub(crate) use handed::{HandedError, HandedOver};
pub(crate) use handler::{BoxFuture, Handler, Refused, method_not_found};
pub(crate) use limits::ConnectionLimits;
pub(crate) use outbox::Delivery;
pub(crate) use peer::{Descent, judge_process};
pub(crate) use process::Process;
pub(crate) use serve::{Server, ServerError};
pub(crate) use socket::SocketPaths;
