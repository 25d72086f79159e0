//! One task followed to its end, whatever becomes of the daemon meanwhile.
//!
//! ```text
//!             ┌──────┐ ──task.output by offset──▶ pump ──▶ stdout, stderr
//!  link ────▶ │ task │ ──task.wait──────────────▶ notes ──▶ stderr
//!   │         └──────┘                            status ─▶ exit status
//!   ├─ input ─task.input─▶ the command
//!   └─ the connection ends ──▶ the next one, to the daemon that serves by then (started where none does)
//! ```
//!
//! Reads are by offset and waits can be asked again, so both go on over a new connection as if nothing had happened.
//! `run` and `task` decide what is followed and what a signal means.

mod denied;
mod input;
mod link;
mod notes;
mod pump;
mod status;
mod task;

pub(super) use denied::denied;
pub(super) use input::{InputEnd, PIECE, Passed, read_stdin};
pub(super) use link::{Door, Link};
pub(super) use notes::{Skipped, notes, timed_out};
pub(super) use pump::{Pumped, Reader, Until, pump};
pub(super) use status::exit_status;
pub(super) use task::{Task, Urgency};
