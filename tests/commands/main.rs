//! Commands in the foreground: how a call ends, what is left, what is shown. Tests are named by the numbers of the
//! cases; `CASES.md` maps every case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod ahead;
mod deaths;
mod ends;
mod environment;
mod forks;
mod held;
mod leaks;
mod limits;
mod output;
mod stdin;
mod text;
mod workdir;
