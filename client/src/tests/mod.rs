//! The library against a daemon that the test plays itself, line by line.

mod approvals;
mod connection;
mod peer;
mod questions;
mod start;
