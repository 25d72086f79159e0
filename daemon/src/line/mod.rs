//! The line between the daemon and a worker process of a session: calls by number over a socket, answered in any order.
//!
//! ```text
//! bratticed ── Client<Q, A> ══ socket (the worker's standard input) ══ serve ── Work: a request becomes an answer
//! ```
//!
//! What is asked and answered is the worker's own (`files`, `web`); starting it, and what becomes of it, is the session's.
//!
//! | dies | then |
//! |---|---|
//! | the worker | its socket closes: calls fail with [`WorkerGone`] |
//! | the daemon | the socket closes: all calls are withdrawn, and the worker ends |

mod client;
mod frame;
mod message;
mod outgoing;
mod serve;

pub(crate) use client::{Client, WorkerGone};
pub(crate) use frame::{frame, receive};
pub(crate) use serve::{Flag, Work, serve};
