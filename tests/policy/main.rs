//! What configuration does to sessions: command rules, presets and folders, devices and sockets, the environment, tools,
//! the ceiling, and reading it again. How a file is found and refused is tested with the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod ceiling;
mod environment;
mod folders;
mod limits;
mod opened;
mod reload;
mod rules;
mod tools;
mod worlds;
