//! Tasks in the background: what outlives clients, daemons and supervisors, what is told of it, and what is left of it
//! in the end. Tests are named by the numbers of the cases; `CASES.md` maps every case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod ends;
mod idle;
mod kill;
mod limits;
mod output;
mod sessions;
mod storage;
mod strange;
mod supervisors;
mod survival;
mod threads;
mod volume;
