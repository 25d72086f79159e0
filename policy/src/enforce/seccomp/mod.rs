//! The seccomp layer: a table of refused calls, compiled to BPF.
//!
//! `table` holds the calls as data, with a reason each; `compile` turns a list of rules into a filter: the
//! architecture first, x32 numbers next, then a binary search for the call's number, so that a call that no rule
//! names costs a handful of instructions (and nothing at all once the kernel has cached its verdict). What is not
//! refused is allowed. Arguments are compared in 32 bits where the kernel takes an `int`: its upper half is noise
//! that an attacker chooses.

mod compile;
pub mod table;

pub use compile::{Action, Rule, Test, compile, is_supported};

use crate::Network;
use crate::sys::seccomp::Instruction;

/// What decides which rows of the table apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The session's network setting.
    pub network: Network,
    /// Whether commands are a Landlock domain below all that must survive them (ABI 6); else `ptrace` and its kin
    /// are refused, for they would reach a keeper.
    pub scoped: bool,
}

/// The rules that apply, in the order in which they are tried.
pub fn rules(selection: Selection) -> Vec<Rule> {
    let network = match selection.network {
        Network::Full => table::NETWORK_FULL,
        Network::Loopback | Network::None => table::NETWORK_NONE,
    };
    let mut rules = [table::ALWAYS, table::SOCKET_PAIRS, network].concat();
    if !selection.scoped {
        rules.extend_from_slice(table::UNSCOPED);
    }
    rules
}

/// The filter of a mode.
pub fn filter(selection: Selection) -> Vec<Instruction> {
    compile(&rules(selection))
}

#[cfg(test)]
mod tests;
