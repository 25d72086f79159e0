//! The seccomp layer: a table of refused calls, compiled to BPF.
//!
//! `table` holds the calls as data, with a reason each; `compile` turns a list of rules into a filter: the
//! architecture first, x32 numbers next, then a binary search for the call's number, so that a call that no rule
//! names costs a handful of instructions (and nothing at all once the kernel has cached its verdict). What is not
//! refused is allowed. Arguments are compared in 32 bits where the kernel takes an `int`: its upper half is noise
//! that an attacker chooses.

mod compile;
pub mod observed;
pub mod table;
pub mod trap;

pub use compile::{Action, Rule, Test, compile, is_supported};

use crate::Network;
use crate::sys::listener::TrappedCall;
use crate::sys::seccomp::Instruction;

/// Whether somebody listens to the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observer {
    /// Calls are looked into.
    On,
    /// Likewise, but nobody can take a caller's sockets (`pidfd_getfd`): those of the Unix family are refused.
    WithoutSockets,
    /// Nobody answers: what would have to be looked into is refused, or left to the other layers.
    Off,
}

/// What decides which rows of the table apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The session's network setting.
    pub network: Network,
    /// Whether commands are a Landlock domain below all that must survive them (ABI 6); else `ptrace` and its kin
    /// are refused, for they would reach a keeper.
    pub scoped: bool,
    /// Whether somebody listens.
    pub observer: Observer,
}

/// The rules that apply, in the order in which they are tried.
pub fn rules(selection: Selection) -> Vec<Rule> {
    let network = match selection.network {
        // The loopback has a network namespace of its own, in which every family is harmless that the whole network has.
        Network::Full | Network::Loopback => table::NETWORK_FULL,
        Network::None => table::NETWORK_NONE,
    };
    let mut rules = match selection.observer {
        Observer::Off => [table::ALWAYS, table::UNOBSERVED, table::SOCKET_PAIRS, network].concat(),
        Observer::On | Observer::WithoutSockets => {
            let sockets = match selection.observer {
                Observer::On => observed::SOCKETS,
                Observer::WithoutSockets | Observer::Off => &[],
            };
            let observed = [sockets, observed::PROCESSES].concat();
            let refused = [table::ALWAYS, table::SOCKET_PAIRS, network].concat();
            let refused = refused.into_iter().filter(|rule| !is_answered(&observed, rule));
            let refused: Vec<Rule> = refused.map(told).collect();
            [&observed[..], &refused, observed::FILES, observed::METADATA].concat()
        }
    };
    if !selection.scoped {
        rules.extend_from_slice(table::UNSCOPED);
    }
    rules
}

/// Whether a rule with the same tests stands before.
fn is_answered(before: &[Rule], rule: &Rule) -> bool {
    before.iter().any(|other| other.number == rule.number && other.tests == rule.tests)
}

/// With an observer a refusal is recorded, unless it is one that programs take for a kernel without the call, and that
/// every program would have on record.
fn told(rule: Rule) -> Rule {
    match rule.action {
        Action::Errno(errno)
            if errno != libc::ENOSYS || rule.number == libc::SYS_io_uring_setup =>
        {
            Rule { action: Action::Observe(trap::Trap::Refused(errno)), ..rule }
        }
        _ => rule,
    }
}

/// The filter of a mode.
pub fn filter(selection: Selection) -> Vec<Instruction> {
    compile(&rules(selection))
}

/// The rule that a filter answered a call by; `None` for a call that it let through by default.
pub fn decide<'a>(rules: &'a [Rule], call: &TrappedCall) -> Option<&'a Rule> {
    rules.iter().find(|rule| {
        rule.number == i64::from(call.number)
            && rule.tests.iter().all(|test| test.holds(&call.arguments))
    })
}

#[cfg(test)]
mod tests;
