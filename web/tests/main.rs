//! The corpus: pages of the kinds that matter, each with the Markdown that it must become, compared whole; and pages that are made to
//! hurt.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod corpus;
mod hostile;
