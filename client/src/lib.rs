//! The async client of Brattice: connects to a daemon, starts one where none answers, and has a typed method for
//! each method on the wire.
//!
//! ```text
//!  Client ──request──▶ queue ──▶ writer task ──▶ socket ──▶ daemon
//!    ▲                                                        │
//!    └── answer by id ◀── reader task ◀──────── socket ◀──────┘
//!                              ├── requests to this client ──▶ Approvals, Questions (bounded; declined where nobody takes them)
//!                              └── notifications ──▶ every Notifications (bounded; the oldest are dropped)
//! ```
//!
//! The shapes are those of `brattice_protocol`, re-exported as [`protocol`]. Policy, words for people and exit
//! statuses are the `brattice` command's business, not this library's.

mod approvals;
mod client;
mod connection;
mod error;
mod methods;
mod notifications;
mod questions;
pub mod start;

#[cfg(test)]
mod tests;

pub use approvals::{ApprovalQuestion, Approvals};
pub use brattice_protocol as protocol;
pub use brattice_protocol::location::{LocationError, Locations};
pub use client::{Client, ConnectOptions};
pub use error::ClientError;
pub use notifications::{Notice, Notifications};
pub use questions::{Inquiry, Pending, Questions};
