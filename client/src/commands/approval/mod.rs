//! `brattice approvals`, `brattice approve` and `brattice reject`: what waits for a person, and a person's answers, by way of
//! the operators' socket.
//!
//! An answer names a whole id. A beginning of it would do for a task; here it could be another question's by the time it is
//! typed, and allow what nobody has read.

mod answer;
mod list;
mod prompt;
mod words;

pub(crate) use answer::{approve, reject};
pub(crate) use list::approvals;
pub(crate) use prompt::{Prompt, asker};
pub(super) use prompt::{clear_input, read_line};
pub(crate) use words::question;
