//! What the toolsets do differently: `glrs` and `minimal` word for word, their options, the loop detector, and what editors
//! are shown. Tests are named by the numbers of the cases; `CASES.md` maps every case.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod editor;
mod glrs;
mod golden;
mod loops;
mod minimal;
mod options;
