//! The protocol on the socket: what the daemon takes, what it refuses, in which words, and that a refusal hurts
//! nobody else.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod calls;
mod config;
mod control;
mod events;
mod golden;
mod handshake;
mod messages;
mod sessions;
mod tasks;
mod workspaces;
