//! What is shown of a task's output: bytes by offset on one side, rows of a pane on the other. Pure, and bounded however much
//! a command prints.
//!
//! ```text
//!  bytes by offset ──▶ window (lines of some 512 KiB of a stream) ──▶ pane (where in it, what to read next) ──▶ rows
//!                        └── line: escape sequences to styles; nothing else of them is left
//! ```
//!
//! A read near the edge of the window moves it; what falls out at the other edge is read again when it is scrolled to.
//! Nothing here asks the daemon: [`Pane::wants`] says what is missing, and [`crate::attach::watch`] reads it.

mod colours;
mod glyphs;
mod line;
mod pane;
mod rows;
mod window;

pub(super) use pane::{PIECE, Pane, Piece, Read, Side, Sought, Which};
