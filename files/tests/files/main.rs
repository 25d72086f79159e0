//! The engine of the file tools on real files: cases by their number, replacing, several writers, and death at any point.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod crash;
mod edits;
mod exact;
mod folder;
mod reads;
mod recovery;
mod replaces;
mod writers;
