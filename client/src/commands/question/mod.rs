//! `brattice questions` and `brattice answer`: the model's questions and plans that wait for a person, and a person's answers, by
//! way of the operators' socket; and putting them to the person at the terminal.
//!
//! An answer names a whole id, as that of an approval does. Only `--approve`, or a plain yes at the terminal, approves a plan.

mod answer;
mod list;
mod prompt;
mod words;

pub(crate) use answer::answer;
pub(crate) use list::questions as list;
pub(super) use prompt::put;
pub(crate) use words::{plan, questions};
