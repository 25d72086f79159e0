//! The `brattice` binary against a daemon that the test plays, so that each of its answers, and its death, comes when the
//! test wants it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod daemon;
mod run;
mod script;
mod task;
