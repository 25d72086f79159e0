//! From what is known of a command or a task to the text that a model reads and the facts beside it.
//!
//! ```text
//!            UTF-8,      redrawn lines,
//!            the cap     escapes
//!  Chunk ──▶ decode ──▶ terminal ──▶ body ──┬──▶ command ──────▶ text       status: how a task stands or ended
//!     │                                     │      ▲ closing, denied       outcome, facts: structuredContent
//!     └────▶ stream: which part ────────────┴──▶ task_output ──▶ text
//!  TaskSummary ──▶ task_list ──▶ text              task_words ──▶ text
//! ```
//!
//! Caps are applied by `decode`, before anything else; closing lines are added last, so that they always survive.
//! Every function is pure: reading the spool is left to the session.

mod body;
mod closing;
mod command;
mod decode;
mod denied;
mod escape;
mod facts;
mod lines;
mod outcome;
mod prompt;
#[cfg(test)]
#[path = "tests/samples.rs"]
mod samples;
mod status;
mod stream;
mod task_list;
mod task_output;
mod task_words;
mod terminal;

pub(crate) use command::{CallFate, CommandText, Rendered, render_command, render_not_run};
pub(crate) use denied::{DeniedText, Escalation, Refusal};
pub(crate) use facts::Facts;
pub(crate) use outcome::unshown_outcome;
pub(crate) use status::{EndedTask, Ending, append_ended, task_kill_reason};
pub(crate) use stream::StreamReading;
pub(crate) use task_list::render_task_list;
pub(crate) use task_output::{RenderedReading, Shell, Standing, TaskReading, render_task_output};
pub(crate) use task_words::{
    KillEffect, Said, UnknownTask, render_started, render_task_input, render_task_kill,
};
