//! The command line: exit statuses, streams, signals, and a daemon that starts by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod cli_world;
mod daemon;
mod listings;
mod restart;
mod run;
mod signals;
mod systemd;
mod tasks;
