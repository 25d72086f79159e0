//! The Brattice wire protocol, version 1: JSON-RPC 2.0, one message a line, over a Unix stream socket.
//!
//! This crate holds the shapes and the line codec and does no I/O. A type stands for one thing on the wire and is
//! used by the daemon and the client alike. Parameters are decoded strictly (an unknown key is an error that names
//! it), results leniently (a newer daemon may say more).

pub mod approval;
pub mod audit;
pub mod bytes;
pub mod codec;
pub mod editor;
pub mod events;
pub mod exit;
pub mod files;
pub mod hello;
pub mod ids;
pub mod location;
pub mod outcome;
pub mod plan;
pub mod policy;
pub mod question;
pub mod rpc;
pub mod session;
pub mod signal;
pub mod skill;
pub mod status;
pub mod task;
pub mod todo;
pub mod tools;

pub use brattice_policy::config;
pub use brattice_policy::layer::LayerReport;
pub use brattice_policy::{
    Access, Approval, Grant, Layer, LayerName, LayerState, Mode, Network, Operation, Verdict,
};
pub use exit::DaemonExit;
pub use ids::{ApprovalId, CallId, QuestionId, SessionId, TaskId};
pub use rpc::{ErrorCode, Message, Notification, Request, RequestId, Response, RpcError};

/// The protocol's version, told in `hello`.
pub const PROTOCOL: u32 = 1;
