//! The threat model, row by row: each attempt in both confined modes, its errno and the untouched victim, and a twin
//! without confinement that succeeds, which proves that the test can fail. Denial records come with the observer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod attack;
mod attributes;
mod control;
mod devices;
mod documented;
mod files;
mod kernel;
mod names;
mod namespaces;
mod peers;
mod processes;
mod protected;
mod resources;
mod sockets;
mod terminals;
mod workspaces;
