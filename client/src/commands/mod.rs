//! What each command does: a file per command, named as it is typed.
//!
//! [`temporary`] opens sessions that end with their command, [`interrupt`] knows what a Ctrl-C means. Arguments and
//! words for failures are [`crate::cli`]'s part.

mod call;
mod completions;
mod daemon;
mod dispatch;
mod doctor;
pub(crate) mod interrupt;
mod policy;
mod run;
mod session;
mod temporary;
mod tools;

pub(crate) use dispatch::perform;
