//! The truth matrix: what is refused is on record, and nothing else is; and every errno that is not the sandbox's is the
//! kernel's own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

mod cases;
mod matrix;
