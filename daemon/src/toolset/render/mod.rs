//! From a command's end and the tails of its streams to the text that a model reads and the facts beside it.
//!
//! ```text
//!  Chunk ──▶ decode ──▶ terminal ──▶ command ──▶ text
//!            UTF-8,      redrawn      │  ▲
//!            the cap     lines,       │  └── closing: the lines after the output
//!                        escapes      └────▶ outcome: structuredContent
//! ```
//!
//! Caps are applied by `decode`, before anything else; closing lines are added last, so that they always survive.
//! Every function is pure: reading the spool is left to the session.

mod closing;
mod command;
mod decode;
mod escape;
mod outcome;
mod terminal;

pub(crate) use command::{CallFate, CommandText, Rendered, render_command};
pub(crate) use outcome::unshown_outcome;
