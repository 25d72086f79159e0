//! Control groups: one for each command, where a cgroup v2 subtree is the daemon's (`policy`'s `enforce::cgroup` says
//! when, and draws the tree).
//!
//! ```text
//! daemon      claim()          once, before its first supervisor: goes into a leaf, hands controllers on, sweeps
//! supervisor  Tree::open()     once: the session's folder, locked for life
//!             tree.group()     ahead of each command: its leaf, with its limits
//! keeper      procs, kill      the leaf's files, opened by the supervisor: the command enters, the keeper kills
//! ```
//!
//! A group is entered by the command's own process before its exec, so that nothing of the command is ever outside;
//! everything else (daemon, supervisors, launchers, keepers) stays out, and is neither limited nor killed with it. Below
//! Landlock no file of a group can be opened. In `danger-full-access` it can: a command of that mode is held by its limits
//! only for as long as it likes.
//!
//! Nobody else's group is touched: everything is made in the delegated one, and the only process that is ever moved is
//! this one.

mod claim;
mod file;
mod group;
mod tree;

pub(crate) use claim::claim;
pub(crate) use group::Group;
pub(crate) use tree::{Tree, TreeError};

#[cfg(test)]
mod tests;
