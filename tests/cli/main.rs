//! The command line: exit statuses, streams, signals, and a daemon that starts by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod calls;
mod cli_world;
mod daemon;
mod denials;
mod listings;
mod manual;
mod names;
mod policy;
mod restart;
mod run;
mod signals;
mod systemd;
mod tasks;
