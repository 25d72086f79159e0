//! From what is known of a command or a task to the text that a model reads and the facts beside it.
//!
//! ```text
//!            UTF-8,      redrawn lines,
//!            the cap     escapes
//!  Chunk ──▶ decode ──▶ terminal ──▶ body ──┬──▶ command ──────▶ text       status: how a task stands or ended
//!     │                                     │      ▲ closing, denied       outcome, facts: structuredContent
//!     └────▶ stream: which part ────────────┴──▶ task_output ──▶ text
//!  TaskSummary ──▶ task_list ──▶ text              task_words ──▶ text
//!  Reading ──▶ reading ──▶ text       Written, Edited ──▶ files ──▶ text, diffs ──▶ editors and people who are asked
//!  Found, Listed ──▶ search ──▶ text  faults ──▶ refused ──▶ text
//!  Question, Answer, Todo ──▶ people ──▶ text        SkillText ──▶ skill ──▶ text
//!  Fetched ──▶ web ──▶ text
//! ```
//!
//! Caps are applied by `decode` and `capped`, before anything else; closing lines are added last, so that they always survive.
//! Every function is pure: reading the spool is left to the session.

mod body;
mod capped;
mod characters;
mod closing;
mod command;
mod cut;
mod decode;
mod denied;
mod diffs;
mod escape;
mod facts;
mod files;
mod lines;
mod outcome;
mod people;
mod prompt;
mod reading;
mod refused;
#[cfg(test)]
#[path = "tests/samples.rs"]
mod samples;
mod search;
mod skill;
mod status;
mod stream;
mod task_list;
mod task_output;
mod task_words;
mod terminal;
mod web;

pub(crate) use capped::capped;
pub(crate) use characters::{CharacterCount, StreamLength};
pub(crate) use command::{
    CallFate, CommandText, Rendered, render_command, render_not_run, render_rejected,
};
pub(crate) use denied::{DeniedText, Escalation, Refusal, facts, hint};
pub(crate) use diffs::{Before, ChangedFile, editor_diffs, whole_diffs};
pub(crate) use facts::Facts;
pub(crate) use files::{render_edited, render_written, shown_path};
pub(crate) use outcome::unshown_outcome;
pub(crate) use people::{
    Unheard, approved, not_approved, question_facts, render_answers, render_todos, unanswered,
};
pub(crate) use reading::{caps, render_read};
pub(crate) use refused::{Unread, edit_fault_words, fault_words, render_refused, unread_words};
pub(crate) use search::{Searched, render_found, render_listed};
pub(crate) use skill::{render_skill, unknown_skill};
pub(crate) use status::{EndedTask, Ending, append_ended, append_loop, task_kill_reason};
pub(crate) use stream::StreamReading;
pub(crate) use task_list::render_task_list;
pub(crate) use task_output::{RenderedReading, Shell, Standing, TaskReading, render_task_output};
pub(crate) use task_words::{
    KillEffect, Said, UnknownTask, render_started, render_task_input, render_task_kill,
};
pub(crate) use web::{Success, render_fetched};
