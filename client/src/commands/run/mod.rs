//! `brattice run`: one command, its output streamed as it comes.
//!
//! ```text
//!  stdin ──▶ feed ──task.input──▶ ┌──────┐ ──task.output──▶ pump ──▶ stdout
//!                                 │ task │ ──task.output──▶ pump ──▶ stderr
//!  SIGINT, TERM, HUP ─task.kill─▶ └──────┘ ──task.wait────▶ notes ──▶ stderr, exit status
//! ```
//!
//! `command` opens the session and puts the parts together, `following` stays with its task to the end. The parts that
//! `brattice task` has as well, and what becomes of a daemon that goes away meanwhile, are in [`super::follow`].

mod command;
mod feed;
mod following;

pub(crate) use command::run;
