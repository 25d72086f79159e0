//! What each command does: a file per command, named as it is typed.
//!
//! [`temporary`] opens sessions that end with their command, [`sessions`] finds the one that somebody means, [`interrupt`]
//! knows what a Ctrl-C means, [`shown`] puts a tool's result before people, [`follow`] stays with a task over whatever becomes
//! of the daemon. Arguments and words for failures are [`crate::cli`]'s part.

pub(crate) mod approval;
mod audit;
mod call;
mod completions;
mod daemon;
mod dispatch;
mod doctor;
mod follow;
pub(crate) mod interrupt;
mod man;
mod mcp;
mod policy;
pub(crate) mod question;
mod run;
pub(crate) mod session;
pub(crate) mod sessions;
mod shown;
pub(crate) mod task;
mod temporary;
mod tools;

pub(crate) use audit::LogError;
pub(crate) use dispatch::perform;
