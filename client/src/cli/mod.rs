//! The edge of the command: arguments parsed without doing work, and everything that people read.
//!
//! ```text
//!  arguments ──▶ context (where, and whether to start a daemon) ──▶ commands::perform ──▶ exit status
//!      └─ fault ──▶ usage ──▶ stderr, 125                                   └── failure ──▶ stderr, 125
//! ```

pub(crate) mod arguments;
pub(crate) mod asked;
pub(crate) mod audit;
pub(crate) mod confinement;
pub(crate) mod context;
pub(crate) mod duration;
pub(crate) mod failure;
mod launch;
pub(crate) mod plain;
pub(crate) mod program;
pub(crate) mod task;
pub(crate) mod terminal;
mod usage;

pub(crate) use context::Context;
pub(crate) use failure::Failure;
pub(crate) use launch::main;
