//! The sandbox's cases that need no escalation: what a build may do inside, what nobody may do outside, and that an
//! ordinary failure is no denial: codes, untouched victims and absent files. What is told of denials is the target
//! `denials`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod builds;
mod explain;
mod failures;
mod git;
mod outside;
mod private;
mod shared;
