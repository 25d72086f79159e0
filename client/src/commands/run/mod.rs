//! `brattice run`: one command, its output streamed as it comes.
//!
//! ```text
//!  stdin ──▶ feed ──task.input──▶ ┌──────┐ ──task.output──▶ pump ──▶ stdout
//!                                 │ task │ ──task.output──▶ pump ──▶ stderr
//!  SIGINT, TERM, HUP ─task.kill─▶ └──────┘ ──task.wait────▶ notes ──▶ stderr, exit status
//! ```
//!
//! `command` opens the session and puts the parts together, `task` follows one task to its end.

mod command;
mod feed;
mod notes;
mod pump;
mod status;
mod task;

pub(crate) use command::run;
